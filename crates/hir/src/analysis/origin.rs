//! The reason for ephemerality: the chain from the use of a value back to the declaration that makes it ephemeral.

use std::sync::Arc;

use crate::{expr::At, item_name::ItemKey};

/// A link of the chain. It holds ids of places, not ranges, so that it stays equal while the text above it moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The item that the place belongs to.
    pub item: ItemKey,
    /// The place in the item.
    pub at: At,
    /// The text about this place, such as `local.a is ephemeral`.
    pub message: Arc<str>,
    /// The next link, nearer to the declaration.
    pub from: Option<Arc<Origin>>,
    /// Set if OpenTofu drops the ephemeral mark at this link although Mayfly keeps it.
    pub dropped_mark: Option<DroppedMark>,
}

/// A form of expression whose result is ephemeral here but not in OpenTofu. Each has a section in
/// `docs/stricter.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DroppedMark {
    /// `can(e)`.
    Can,
    /// An argument after `e` in `try(e, …)`.
    Fallback,
    /// `object[e]`.
    ObjectIndex,
    /// `{ (e) = … }`.
    ObjectKey,
}

impl DroppedMark {
    /// The note for messages: OpenTofu accepts the form, what leaks there, and what to write instead.
    pub fn note(self) -> &'static str {
        match self {
            DroppedMark::Can => {
                "OpenTofu accepts this, because it does not treat the result of can() as \
                 ephemeral. However, each result reveals something about the secret. Use can() in \
                 a condition, where ephemeral values are allowed."
            }
            DroppedMark::Fallback => {
                "OpenTofu accepts this, because it does not treat a fallback of try() as \
                 ephemeral. However, choosing the fallback reveals something about the secret in \
                 the earlier argument. Use try() only with values that are not ephemeral."
            }
            DroppedMark::ObjectIndex => {
                "OpenTofu accepts this, because it does not treat an attribute that an ephemeral \
                 key selects as ephemeral. However, the attribute reveals the key. Use a key that \
                 is not ephemeral."
            }
            DroppedMark::ObjectKey => {
                "OpenTofu accepts this as long as the key is not known, and may keep it then. Use \
                 a list of objects in place of ephemeral keys."
            }
        }
    }
}

impl Origin {
    /// A link at a place of an item, with the rest of the chain.
    pub fn new(item: ItemKey, at: At, message: &str, from: Option<Arc<Origin>>) -> Arc<Origin> {
        Arc::new(Origin { item, at, message: message.into(), from, dropped_mark: None })
    }

    /// The links, from the use to the declaration.
    pub fn chain(self: &Arc<Origin>) -> impl Iterator<Item = &Origin> {
        std::iter::successors(Some(&**self), |link| link.from.as_deref())
    }

    /// Returns the chain with its first link marked: at this form, OpenTofu drops the ephemeral mark.
    pub fn dropping(self: &Arc<Origin>, form: DroppedMark) -> Arc<Origin> {
        Arc::new(Origin { dropped_mark: Some(form), ..Origin::clone(self) })
    }
}
