//! The facts about marks: each mark is *no*, *maybe* or *yes*.

use values::{MarkKind, Marks};

/// The presence of a mark: a lattice of three values. The order makes `max` the join of marks that flow into one
/// value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tri {
    /// In no run.
    #[default]
    No,
    /// In some runs.
    Maybe,
    /// In every run that evaluates the value.
    Yes,
}

impl Tri {
    /// Joins the facts about two values if it is not known which of them it is.
    pub fn either(self, other: Tri) -> Tri {
        if self == other { self } else { Tri::Maybe }
    }

    /// Lowers *yes* to *maybe*.
    pub fn weakened(self) -> Tri {
        self.min(Tri::Maybe)
    }
}

/// The marks of one place of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TriMarks {
    /// The `sensitive` mark.
    pub sensitive: Tri,
    /// The `ephemeral` mark.
    pub ephemeral: Tri,
    /// The `deprecated` mark.
    pub deprecated: Tri,
}

impl TriMarks {
    /// No mark at all.
    pub const NONE: TriMarks =
        TriMarks { sensitive: Tri::No, ephemeral: Tri::No, deprecated: Tri::No };

    /// The marks of a runtime value, all of them certain.
    pub fn sure(marks: &Marks) -> TriMarks {
        MarkKind::ALL.into_iter().fold(TriMarks::NONE, |all, kind| {
            all.with(kind, if marks.has(kind) { Tri::Yes } else { Tri::No })
        })
    }

    /// The marks of a value that two others both flow into.
    pub fn union(&self, other: &TriMarks) -> TriMarks {
        self.zip(other, Tri::max)
    }

    /// The marks of one of two values if it is not known which of them it is.
    pub fn either(&self, other: &TriMarks) -> TriMarks {
        self.zip(other, Tri::either)
    }

    /// Lowers every *yes* to *maybe*.
    pub fn weakened(&self) -> TriMarks {
        self.zip(self, |mark, _| mark.weakened())
    }

    /// Keeps only the mark of one kind.
    pub fn only(&self, kind: MarkKind) -> TriMarks {
        TriMarks::NONE.with(kind, self.get(kind))
    }

    /// The state of one mark.
    pub fn get(&self, kind: MarkKind) -> Tri {
        match kind {
            MarkKind::Sensitive => self.sensitive,
            MarkKind::Ephemeral => self.ephemeral,
            MarkKind::Deprecated => self.deprecated,
        }
    }

    /// Returns the marks with one of them replaced.
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
