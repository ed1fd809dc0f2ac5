//! Marks: what must be said of a value beside the value itself.

use std::{collections::BTreeSet, fmt, sync::Arc};

use crate::Str;

/// The kinds of marks. [`Mark::Deprecated`] comes in many marks of one kind, the others are one mark each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum MarkKind {
    /// Not to be shown.
    Sensitive,
    /// Not to be kept or shown.
    Ephemeral,
    /// Its use deserves a warning.
    Deprecated,
}

impl MarkKind {
    /// All kinds.
    pub const ALL: [MarkKind; 3] = [MarkKind::Sensitive, MarkKind::Ephemeral, MarkKind::Deprecated];
}

/// One mark.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Mark {
    /// Not to be shown.
    Sensitive,
    /// Not to be kept or shown.
    Ephemeral,
    /// Its use deserves a warning.
    Deprecated(Deprecation),
}

impl Mark {
    /// The kind of the mark.
    #[must_use]
    pub fn kind(&self) -> MarkKind {
        match self {
            Mark::Sensitive => MarkKind::Sensitive,
            Mark::Ephemeral => MarkKind::Ephemeral,
            Mark::Deprecated(_) => MarkKind::Deprecated,
        }
    }
}

/// What is deprecated, and what its author says about it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Deprecation {
    /// The address of what is deprecated, such as `module.a.old_output`.
    pub what: Str,
    /// The author's advice.
    pub message: Str,
}

/// A set of marks. Cloning is cheap, and so is the union with no marks.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Marks {
    sensitive: bool,
    ephemeral: bool,
    /// **Invariant:** never an empty set.
    deprecations: Option<Arc<BTreeSet<Deprecation>>>,
}

impl Marks {
    /// No marks.
    pub const NONE: Marks = Marks { sensitive: false, ephemeral: false, deprecations: None };

    /// Whether there are no marks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.sensitive && !self.ephemeral && self.deprecations.is_none()
    }

    /// Whether a mark of the kind is there.
    #[must_use]
    pub fn has(&self, kind: MarkKind) -> bool {
        match kind {
            MarkKind::Sensitive => self.sensitive,
            MarkKind::Ephemeral => self.ephemeral,
            MarkKind::Deprecated => self.deprecations.is_some(),
        }
    }

    /// These marks and one more.
    #[must_use]
    pub fn with(mut self, mark: Mark) -> Marks {
        match mark {
            Mark::Sensitive => self.sensitive = true,
            Mark::Ephemeral => self.ephemeral = true,
            Mark::Deprecated(deprecation) => {
                Arc::make_mut(self.deprecations.get_or_insert_default()).insert(deprecation);
            }
        }
        self
    }

    /// These marks without those of one kind.
    #[must_use]
    pub fn without(mut self, kind: MarkKind) -> Marks {
        match kind {
            MarkKind::Sensitive => self.sensitive = false,
            MarkKind::Ephemeral => self.ephemeral = false,
            MarkKind::Deprecated => self.deprecations = None,
        }
        self
    }

    /// Only the marks of one kind.
    #[must_use]
    pub fn only(&self, kind: MarkKind) -> Marks {
        match kind {
            MarkKind::Sensitive => Marks { sensitive: self.sensitive, ..Marks::NONE },
            MarkKind::Ephemeral => Marks { ephemeral: self.ephemeral, ..Marks::NONE },
            MarkKind::Deprecated => {
                Marks { deprecations: self.deprecations.clone(), ..Marks::NONE }
            }
        }
    }

    /// The marks of both.
    #[must_use]
    pub fn union(&self, other: &Marks) -> Marks {
        let mut all = self.clone();
        all.add(other);
        all
    }

    /// Adds the marks of `other`.
    pub fn add(&mut self, other: &Marks) {
        self.sensitive |= other.sensitive;
        self.ephemeral |= other.ephemeral;
        match (&mut self.deprecations, &other.deprecations) {
            (_, None) => {}
            (None, Some(theirs)) => self.deprecations = Some(Arc::clone(theirs)),
            (Some(ours), Some(theirs)) if Arc::ptr_eq(ours, theirs) => {}
            (Some(ours), Some(theirs)) => Arc::make_mut(ours).extend(theirs.iter().cloned()),
        }
    }

    /// The marks one by one.
    pub fn iter(&self) -> impl Iterator<Item = Mark> + '_ {
        let sensitive = self.sensitive.then_some(Mark::Sensitive);
        let ephemeral = self.ephemeral.then_some(Mark::Ephemeral);
        let deprecated = self.deprecations().cloned().map(Mark::Deprecated);
        sensitive.into_iter().chain(ephemeral).chain(deprecated)
    }

    /// The deprecations among the marks.
    pub fn deprecations(&self) -> impl Iterator<Item = &Deprecation> {
        self.deprecations.iter().flat_map(|set| set.iter())
    }
}

impl From<Mark> for Marks {
    fn from(mark: Mark) -> Marks {
        Marks::NONE.with(mark)
    }
}

impl FromIterator<Mark> for Marks {
    fn from_iter<I: IntoIterator<Item = Mark>>(marks: I) -> Marks {
        marks.into_iter().fold(Marks::NONE, Marks::with)
    }
}

impl fmt::Debug for Marks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
