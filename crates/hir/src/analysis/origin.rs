//! Why a value is ephemeral: the chain from a use back to where ephemerality was declared.

use std::sync::Arc;

use crate::{expr::At, names::ItemKey};

/// A link of the chain. It holds places, not ranges, so that it stays equal while text above it moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The item.
    pub item: ItemKey,
    /// The place in the item.
    pub at: At,
    /// What is there: `local.a is ephemeral, because …`.
    pub message: Arc<str>,
    /// The next link, nearer to the declaration.
    pub from: Option<Arc<Origin>>,
}

impl Origin {
    /// The links, from the use to the declaration.
    pub fn chain(self: &Arc<Origin>) -> impl Iterator<Item = &Origin> {
        std::iter::successors(Some(&**self), |link| link.from.as_deref())
    }
}
