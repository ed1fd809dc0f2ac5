//! The facts about the parts of a value.

use std::{ops::Deref, sync::Arc};

use sorted::SortedMap;
use values::Str;

use crate::analysis::value::{Abstract, marks::TriMarks, when::When};

/// The certainty that a value is not null and not unknown, in increasing order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Presence {
    /// The value may be null, and may be unknown during a plan.
    Open,
    /// The value is never null, but may be unknown during a plan.
    NotNull,
    /// The value is never null and always known; parts of it may be unknown.
    Known,
}

/// The facts about the attributes of an object, by name.
pub type Attrs = SortedMap<Str, Abstract>;

/// The facts about the parts of a value, which apply if the value is known and not null.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inside {
    /// Only the marks that may occur somewhere inside are known.
    Opaque(TriMarks),
    /// All attributes of an object, or all elements of a map.
    Attrs(Arc<Parts<Attrs>>),
    /// All elements of a tuple or list.
    Items(Arc<Parts<Vec<Abstract>>>),
    /// An unknown number of elements, each like this one.
    Each(Arc<Abstract>),
}

/// Parts with their joined marks, so that reading the marks does not walk the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts<T> {
    parts: T,
    marks: TriMarks,
    /// The number of values inside, at every depth. A shared value counts as often as it occurs.
    size: u64,
}

impl<T> Deref for Parts<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.parts
    }
}

impl Inside {
    /// A value without marks inside.
    pub const PLAIN: Inside = Inside::Opaque(TriMarks::NONE);

    /// All attributes of an object, or all elements of a map.
    pub fn attrs(parts: Attrs) -> Inside {
        let marks = all_marks(parts.values());
        let size = all_sizes(parts.values());
        Inside::Attrs(Arc::new(Parts { parts, marks, size }))
    }

    /// All elements of a tuple or list.
    pub fn items(parts: Vec<Abstract>) -> Inside {
        let marks = all_marks(parts.iter());
        let size = all_sizes(parts.iter());
        Inside::Items(Arc::new(Parts { parts, marks, size }))
    }

    /// The number of values inside that a walk visits. O(1), except for nested collections of an unknown number of
    /// elements.
    pub(super) fn size(&self) -> u64 {
        match self {
            Inside::Opaque(_) => 0,
            Inside::Attrs(attrs) => attrs.size,
            Inside::Items(items) => items.size,
            Inside::Each(element) => element.inside.size().saturating_add(1),
        }
    }

    /// The marks inside, if the value is known and not null: *yes* if some part is certainly marked. O(1).
    #[inline]
    pub fn marks(&self) -> TriMarks {
        match self {
            Inside::Opaque(marks) => *marks,
            Inside::Attrs(attrs) => attrs.marks,
            Inside::Items(items) => items.marks,
            // There may be no element at all.
            Inside::Each(element) => element.deep_marks().weakened(),
        }
    }

    /// When some part is ephemeral, if the value is known and not null. The result is never exact for elements of
    /// an unknown number, and `Never` where only the marks inside are known.
    pub(in crate::analysis) fn ephemeral(&self) -> When {
        match self {
            Inside::Opaque(_) => When::Never,
            Inside::Attrs(attrs) => any_ephemeral(attrs.values()),
            Inside::Items(items) => any_ephemeral(items.iter()),
            Inside::Each(element) => element.ephemeral.somewhere().weakened(),
        }
    }

    /// Returns the same parts, each changed by `change`.
    pub(in crate::analysis) fn map(
        &self,
        change: &mut impl FnMut(&Abstract) -> Abstract,
    ) -> Inside {
        match self {
            Inside::Opaque(marks) => Inside::Opaque(*marks),
            Inside::Attrs(attrs) => Inside::attrs(
                attrs.iter().map(|(name, attr)| (name.clone(), change(attr))).collect(),
            ),
            Inside::Items(items) => Inside::items(items.iter().map(change).collect()),
            Inside::Each(element) => Inside::Each(Arc::new(change(element))),
        }
    }
}

fn any_ephemeral<'a>(parts: impl Iterator<Item = &'a Abstract>) -> When {
    let parts = parts.filter(|it| !it.ephemeral.is_never());
    parts.fold(When::Never, |when, part| when.or(&part.ephemeral.somewhere()))
}

fn all_sizes<'a>(parts: impl Iterator<Item = &'a Abstract>) -> u64 {
    parts.fold(0, |size, part| size.saturating_add(part.inside.size()).saturating_add(1))
}

fn all_marks<'a>(parts: impl Iterator<Item = &'a Abstract>) -> TriMarks {
    parts.fold(TriMarks::NONE, |marks, part| marks.union(&part.deep_marks()))
}
