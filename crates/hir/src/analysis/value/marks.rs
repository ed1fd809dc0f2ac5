//! What is known of marks: for each of them *no*, *maybe* or *yes*.

use values::{MarkKind, Marks};

/// Whether something holds: a lattice of three, ordered so that joining what may be together is `max`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tri {
    /// Never.
    #[default]
    No,
    /// In some runs.
    Maybe,
    /// Whenever it is evaluated.
    Yes,
}

impl Tri {
    /// What holds of one of two values, of which we do not know which it will be.
    pub fn either(self, other: Tri) -> Tri {
        if self == other { self } else { Tri::Maybe }
    }

    /// The same, but only perhaps.
    pub fn weakened(self) -> Tri {
        self.min(Tri::Maybe)
    }
}

/// The marks of one place of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TriMarks {
    /// `sensitive`
    pub sensitive: Tri,
    /// `ephemeral`
    pub ephemeral: Tri,
    /// `deprecated`
    pub deprecated: Tri,
}

impl TriMarks {
    /// No mark at all.
    pub const NONE: TriMarks =
        TriMarks { sensitive: Tri::No, ephemeral: Tri::No, deprecated: Tri::No };

    /// The marks of a runtime value, all of them sure.
    pub fn sure(marks: &Marks) -> TriMarks {
        MarkKind::ALL.into_iter().fold(TriMarks::NONE, |all, kind| {
            all.with(kind, if marks.has(kind) { Tri::Yes } else { Tri::No })
        })
    }

    /// Marks of two things that both flow into one.
    pub fn union(&self, other: &TriMarks) -> TriMarks {
        self.zip(other, Tri::max)
    }

    /// Marks of one of two things.
    pub fn either(&self, other: &TriMarks) -> TriMarks {
        self.zip(other, Tri::either)
    }

    /// The same, but only perhaps.
    pub fn weakened(&self) -> TriMarks {
        self.zip(self, |mark, _| mark.weakened())
    }

    /// Only the marks of one kind.
    pub fn only(&self, kind: MarkKind) -> TriMarks {
        TriMarks::NONE.with(kind, self.get(kind))
    }

    /// One mark.
    pub fn get(&self, kind: MarkKind) -> Tri {
        match kind {
            MarkKind::Sensitive => self.sensitive,
            MarkKind::Ephemeral => self.ephemeral,
            MarkKind::Deprecated => self.deprecated,
        }
    }

    /// The same with one mark set.
    pub fn with(mut self, kind: MarkKind, value: Tri) -> TriMarks {
        match kind {
            MarkKind::Sensitive => self.sensitive = value,
            MarkKind::Ephemeral => self.ephemeral = value,
            MarkKind::Deprecated => self.deprecated = value,
        }
        self
    }

    fn zip(&self, other: &TriMarks, f: impl Fn(Tri, Tri) -> Tri) -> TriMarks {
        TriMarks {
            sensitive: f(self.sensitive, other.sensitive),
            ephemeral: f(self.ephemeral, other.ephemeral),
            deprecated: f(self.deprecated, other.deprecated),
        }
    }
}
