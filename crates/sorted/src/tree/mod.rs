//! Maps and sets for any number of entries in any order.

mod entry;
mod iter;
mod map;
mod order;
mod serde;
mod set;
#[cfg(test)]
mod tests;

pub use self::{
    entry::{Entry, OccupiedEntry, VacantEntry},
    iter::{IntoIter, Iter, IterMut, Range},
    map::TreeMap,
    set::{SetIntoIter, SetIter, TreeSet},
};
