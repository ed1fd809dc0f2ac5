//! What is known of the parts of a value.

use std::{ops::Deref, sync::Arc};

use litemap::LiteMap;
use values::Str;

use super::{Abstract, TriMarks, When};

/// Whether a value is there, in growing order of what is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Presence {
    /// It may be null, and while planning it may be unknown.
    Open,
    /// It is never null, but while planning it may be unknown.
    NotNull,
    /// It is never null and always known; parts of it may be unknown.
    Known,
}

/// What is known of the attributes of an object, by name.
pub type Attrs = LiteMap<Str, Abstract>;

/// What is known of the parts of a value, should it be known and not null.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inside {
    /// Nothing but which marks may be somewhere inside.
    Opaque(TriMarks),
    /// The attributes of an object, or the elements of a map: all of them.
    Attrs(Arc<Parts<Attrs>>),
    /// The elements of a tuple or list: all of them.
    Items(Arc<Parts<Vec<Abstract>>>),
    /// Every element is like this one; how many there are is not known.
    Each(Arc<Abstract>),
}

/// Parts, and the marks of all of them together, so that asking for those does not walk the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts<T> {
    parts: T,
    marks: TriMarks,
    /// Values in here, at every depth. A shared one counts as often as it occurs.
    size: u64,
}

impl<T> Deref for Parts<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.parts
    }
}

impl Inside {
    /// No marks inside.
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

    /// The number of values inside that a walk comes by. O(1) but for elements in elements of unknown number.
    pub(super) fn size(&self) -> u64 {
        match self {
            Inside::Opaque(_) => 0,
            Inside::Attrs(attrs) => attrs.size,
            Inside::Items(items) => items.size,
            Inside::Each(element) => element.inside.size().saturating_add(1),
        }
    }

    /// The marks inside, if the value is known and not null: *yes* if some part is surely marked. O(1).
    pub fn marks(&self) -> TriMarks {
        match self {
            Inside::Opaque(marks) => *marks,
            Inside::Attrs(attrs) => attrs.marks,
            Inside::Items(items) => items.marks,
            // There may be no element at all.
            Inside::Each(element) => element.deep_marks().weakened(),
        }
    }

    /// When some part is ephemeral, if the value is known and not null. How many elements there are of one kind is not known
    /// here, nor anything but marks where there are no parts.
    pub(in crate::analysis) fn ephemeral(&self) -> When {
        match self {
            Inside::Opaque(_) => When::Never,
            Inside::Attrs(attrs) => any_ephemeral(attrs.values()),
            Inside::Items(items) => any_ephemeral(items.iter()),
            Inside::Each(element) => element.ephemeral.somewhere().weakened(),
        }
    }

    /// The same parts, each changed.
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
