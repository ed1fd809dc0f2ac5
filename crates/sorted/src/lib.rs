//! Sorting, and ordered maps and sets, with little machine code for each type.
//!
//! Start reading at [`SortedMap`], [`TreeMap`] and [`TreeSet`], then at [`sort`], [`sort_by`] and [`sort_by_key`].
//! The compiler generates the sort of the standard library, 1,800 lines of LLVM code, in each crate for each type of
//! entries and for each closure or iterator, and a `BTreeMap`, 6,000 lines, for each pair of types. These have fifty to
//! a few hundred lines for each type, because one function of the whole program sorts the positions of the entries, and
//! another finds the place of a key.
//!
//! A [`SortedMap`] is a list, for the attributes of an object; a [`TreeMap`] takes any number of entries in any order.
//!
//! **Invariant:** the orders are those of the standard library: sorts are stable, and the last of several values of a
//! key remains.

mod map;
mod sort;
mod tree;

pub use crate::{
    map::SortedMap,
    sort::{sort, sort_by, sort_by_key},
    tree::{
        Entry, IntoIter, Iter, IterMut, OccupiedEntry, Range, SetIntoIter, SetIter, TreeMap,
        TreeSet, VacantEntry,
    },
};
