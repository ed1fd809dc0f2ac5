//! Sorting, and maps as sorted lists, with little machine code for each type.
//!
//! Start reading at [`SortedMap`], then at [`sort`], [`sort_by`] and [`sort_by_key`]. The sorts of the standard library
//! and its `BTreeMap` are compiled once for each type of entries, and once more for each iterator or closure, in each
//! crate: 1,800 and 6,000 lines of LLVM code each time, a quarter of all that was compiled here. These have fifty to a
//! hundred lines for each type, because one function for the whole program sorts the positions of the entries.
//!
//! **Invariant:** the orders are those of the standard library: sorts are stable, and the last of several values of a
//! key remains.
//! **Absent on purpose:** a map for many keys that are inserted in no order, which is `BTreeMap`: an insertion takes
//! O(n) steps here.

mod map;
mod sort;

pub use crate::{
    map::SortedMap,
    sort::{sort, sort_by, sort_by_key},
};
