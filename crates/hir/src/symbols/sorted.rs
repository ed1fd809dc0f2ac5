//! A list of names in order, which finds the names near another one.

use std::sync::Arc;

use sorted::TreeMap;

use crate::{item_name::ItemName, symbols::Symbol};

/// Sorted names with their symbols.
#[derive(Clone)]
pub(super) enum Sorted {
    /// The initial form, built when the module was read.
    List(Arc<Vec<(ItemName, Symbol)>>),
    /// The form after the first name was added or removed.
    Tree(TreeMap<ItemName, Symbol>),
}

impl Sorted {
    pub(super) fn tree(&mut self) -> &mut TreeMap<ItemName, Symbol> {
        if let Sorted::List(list) = self {
            *self = Sorted::Tree(list.iter().cloned().collect());
        }
        match self {
            Sorted::Tree(tree) => tree,
            Sorted::List(_) => unreachable!("it is a tree now"),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&ItemName, Symbol)> {
        let (list, tree) = match self {
            Sorted::List(list) => (Some(list), None),
            Sorted::Tree(tree) => (None, Some(tree)),
        };
        let listed = list.into_iter().flat_map(|it| it.iter().map(|(name, it)| (name, *it)));
        listed.chain(tree.into_iter().flat_map(|it| it.iter().map(|(name, it)| (name, *it))))
    }

    /// Visits up to `most` names around `name` in sort order, half of them before it.
    pub(super) fn for_each_near(
        &self,
        name: &ItemName,
        most: usize,
        mut visit: impl FnMut(&ItemName),
    ) {
        match self {
            Sorted::List(list) => {
                let at = list.partition_point(|(it, _)| it < name);
                let near = &list[at.saturating_sub(most / 2)..];
                near.iter().take(most).for_each(|(name, _)| visit(name));
            }
            Sorted::Tree(tree) => {
                let before = tree.range(..name).rev().take(most / 2).last();
                let from = before.map_or(name, |(first, _)| first);
                tree.range(from..).take(most).for_each(|(name, _)| visit(name));
            }
        }
    }
}
