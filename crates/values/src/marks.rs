//! Marks: properties of a value besides its content, such as sensitivity.

use std::{collections::BTreeSet, fmt, sync::Arc};

use crate::Str;

/// The kinds of marks. A value can have many [`Mark::Deprecated`] marks, but only one of each other kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum MarkKind {
    /// The value must not be shown.
    Sensitive,
    /// The value must be neither stored nor shown.
    Ephemeral,
    /// The use of the value causes a warning.
    Deprecated,
}

impl MarkKind {
    /// All kinds.
    pub const ALL: [MarkKind; 3] = [MarkKind::Sensitive, MarkKind::Ephemeral, MarkKind::Deprecated];
}

/// One mark.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Mark {
    /// The value must not be shown.
    Sensitive,
    /// The value must be neither stored nor shown.
    Ephemeral,
    /// The use of the value causes a warning.
    Deprecated(Deprecation),
}

impl Mark {
    /// Returns the kind of the mark.
    #[must_use]
    pub fn kind(&self) -> MarkKind {
        match self {
            Mark::Sensitive => MarkKind::Sensitive,
            Mark::Ephemeral => MarkKind::Ephemeral,
            Mark::Deprecated(_) => MarkKind::Deprecated,
        }
    }
}

/// A deprecated object with the author's advice.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Deprecation {
    /// The address of the deprecated object, such as `module.a.old_output`.
    pub what: Str,
    /// The author's advice.
    pub message: Str,
}

/// A set of marks. Cloning is cheap, and so is the union with an empty set.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Marks {
    sensitive: bool,
    ephemeral: bool,
    /// **Invariant:** the set is never empty.
    deprecations: Option<Arc<BTreeSet<Deprecation>>>,
}

impl Marks {
    /// The empty set.
    pub const NONE: Marks = Marks { sensitive: false, ephemeral: false, deprecations: None };

    /// Returns true if there are no marks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.sensitive && !self.ephemeral && self.deprecations.is_none()
    }

    /// Returns true if there is a mark of this kind.
    #[must_use]
    pub fn has(&self, kind: MarkKind) -> bool {
        match kind {
            MarkKind::Sensitive => self.sensitive,
            MarkKind::Ephemeral => self.ephemeral,
            MarkKind::Deprecated => self.deprecations.is_some(),
        }
    }

    /// Returns these marks and one more.
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

    /// Returns these marks without those of one kind.
    #[must_use]
    pub fn without(mut self, kind: MarkKind) -> Marks {
        match kind {
            MarkKind::Sensitive => self.sensitive = false,
            MarkKind::Ephemeral => self.ephemeral = false,
            MarkKind::Deprecated => self.deprecations = None,
        }
        self
    }

    /// Returns only the marks of one kind.
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

    /// Returns the union of both sets.
    #[must_use]
    pub fn union(&self, other: &Marks) -> Marks {
        let mut all = self.clone();
        all.add(other);
        all
    }

    /// Adds the marks of `other`.
    #[inline]
    pub fn add(&mut self, other: &Marks) {
        self.sensitive |= other.sensitive;
        self.ephemeral |= other.ephemeral;
        if let Some(deprecations) = &other.deprecations {
            self.add_deprecations(deprecations);
        }
    }

    fn add_deprecations(&mut self, theirs: &Arc<BTreeSet<Deprecation>>) {
        match &mut self.deprecations {
            None => self.deprecations = Some(Arc::clone(theirs)),
            Some(ours) if Arc::ptr_eq(ours, theirs) => {}
            Some(ours) => Arc::make_mut(ours).extend(theirs.iter().cloned()),
        }
    }

    /// Returns the marks one by one.
    pub fn iter(&self) -> impl Iterator<Item = Mark> + '_ {
        let sensitive = self.sensitive.then_some(Mark::Sensitive);
        let ephemeral = self.ephemeral.then_some(Mark::Ephemeral);
        let deprecated = self.deprecations().cloned().map(Mark::Deprecated);
        sensitive.into_iter().chain(ephemeral).chain(deprecated)
    }

    /// Returns the deprecations among the marks.
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
