//! Places in items, which a source map turns into ranges of the text.

use crate::{expr::At, item_name::ItemKey};

/// A place in an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ItemPlace {
    /// The item.
    pub item: ItemKey,
    /// The place in the item.
    pub at: At,
}

/// A place that explains a problem, with the text to show there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelatedPlace {
    /// The place.
    pub place: ItemPlace,
    /// The text.
    pub message: String,
}

impl ItemPlace {
    /// A place in an item.
    pub fn new(item: ItemKey, at: impl Into<At>) -> ItemPlace {
        ItemPlace { item, at: at.into() }
    }

    /// The place with a text about it.
    pub(crate) fn with_message(self, message: impl Into<String>) -> RelatedPlace {
        RelatedPlace { place: self, message: message.into() }
    }
}
