use std::{borrow::Borrow, fmt, ops::RangeBounds};

use super::{
    iter::{IntoIter, Iter},
    map::TreeMap,
};

/// A set in the order of `Ord`, for any number of entries in any order, with the interface of
/// [`std::collections::BTreeSet`]: the keys of a [`TreeMap`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeSet<T>(TreeMap<T, ()>);

impl<T> TreeSet<T> {
    /// Creates an empty set.
    #[must_use]
    pub fn new() -> TreeSet<T> {
        TreeSet::default()
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The entries in order.
    #[must_use]
    pub fn iter(&self) -> SetIter<'_, T> {
        SetIter(self.0.iter())
    }

    /// The smallest entry.
    #[must_use]
    pub fn first(&self) -> Option<&T> {
        self.iter().next()
    }

    /// The largest entry.
    #[must_use]
    pub fn last(&self) -> Option<&T> {
        self.iter().next_back()
    }

    /// Removes the smallest entry.
    pub fn pop_first(&mut self) -> Option<T> {
        self.0.pop_first().map(|it| it.0)
    }

    /// Removes the largest entry.
    pub fn pop_last(&mut self) -> Option<T> {
        self.0.pop_last().map(|it| it.0)
    }

    /// Keeps the entries for which `keep` returns true.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.0.retain(|it, ()| keep(it));
    }
}

impl<T: Ord> TreeSet<T> {
    /// Returns true if the entry is in the set.
    #[must_use]
    pub fn contains<Q: Ord + ?Sized>(&self, entry: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.0.contains_key(entry)
    }

    /// Returns the entry of the set that equals `entry`.
    #[must_use]
    pub fn get<Q: Ord + ?Sized>(&self, entry: &Q) -> Option<&T>
    where
        T: Borrow<Q>,
    {
        self.0.get_key_value(entry).map(|it| it.0)
    }

    /// Inserts an entry. Returns true if it is new.
    pub fn insert(&mut self, entry: T) -> bool {
        self.0.insert(entry, ()).is_none()
    }

    /// Removes an entry. Returns true if it was there.
    pub fn remove<Q: Ord + ?Sized>(&mut self, entry: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.0.remove_entry(entry).is_some()
    }

    /// Removes an entry, and returns it.
    pub fn take<Q: Ord + ?Sized>(&mut self, entry: &Q) -> Option<T>
    where
        T: Borrow<Q>,
    {
        self.0.remove_entry(entry).map(|it| it.0)
    }

    /// The entries in a range, in order.
    pub fn range<Q: Ord + ?Sized>(
        &self,
        range: impl RangeBounds<Q>,
    ) -> impl DoubleEndedIterator<Item = &T>
    where
        T: Borrow<Q>,
    {
        self.0.range(range).map(|it| it.0)
    }

    /// The entries that `other` does not have, in order.
    pub fn difference<'s>(
        &'s self,
        other: &'s TreeSet<T>,
    ) -> impl DoubleEndedIterator<Item = &'s T> {
        self.iter().filter(|it| !other.contains(*it))
    }

    /// The entries that `other` has too, in order.
    pub fn intersection<'s>(
        &'s self,
        other: &'s TreeSet<T>,
    ) -> impl DoubleEndedIterator<Item = &'s T> {
        self.iter().filter(|it| other.contains(*it))
    }

    /// The entries of both sets, in order.
    pub fn union<'s>(&'s self, other: &'s TreeSet<T>) -> impl DoubleEndedIterator<Item = &'s T> {
        let all: TreeSet<&T> = self.iter().chain(other).collect();
        all.into_iter()
    }

    /// Returns true if `other` has all entries of this set.
    #[must_use]
    pub fn is_subset(&self, other: &TreeSet<T>) -> bool {
        self.iter().all(|it| other.contains(it))
    }

    /// Returns true if this set has all entries of `other`.
    #[must_use]
    pub fn is_superset(&self, other: &TreeSet<T>) -> bool {
        other.is_subset(self)
    }

    /// Returns true if the sets have no common entry.
    #[must_use]
    pub fn is_disjoint(&self, other: &TreeSet<T>) -> bool {
        !self.iter().any(|it| other.contains(it))
    }
}

impl<T> Default for TreeSet<T> {
    fn default() -> Self {
        TreeSet(TreeMap::default())
    }
}

impl<T: fmt::Debug> fmt::Debug for TreeSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self).finish()
    }
}

impl<T: Ord> FromIterator<T> for TreeSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Self {
        TreeSet(entries.into_iter().map(|it| (it, ())).collect())
    }
}

impl<T: Ord, const N: usize> From<[T; N]> for TreeSet<T> {
    fn from(entries: [T; N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<T: Ord> Extend<T> for TreeSet<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, entries: I) {
        for entry in entries {
            self.insert(entry);
        }
    }
}

impl<'s, T: Ord + Copy + 's> Extend<&'s T> for TreeSet<T> {
    fn extend<I: IntoIterator<Item = &'s T>>(&mut self, entries: I) {
        self.extend(entries.into_iter().copied());
    }
}

impl<T> IntoIterator for TreeSet<T> {
    type Item = T;
    type IntoIter = SetIntoIter<T>;

    fn into_iter(self) -> SetIntoIter<T> {
        SetIntoIter(self.0.into_iter())
    }
}

impl<'s, T> IntoIterator for &'s TreeSet<T> {
    type Item = &'s T;
    type IntoIter = SetIter<'s, T>;

    fn into_iter(self) -> SetIter<'s, T> {
        self.iter()
    }
}

/// The entries of a set, in order.
pub struct SetIter<'s, T>(Iter<'s, T, ()>);

impl<T> Clone for SetIter<'_, T> {
    fn clone(&self) -> Self {
        SetIter(self.0.clone())
    }
}

impl<'s, T> Iterator for SetIter<'s, T> {
    type Item = &'s T;

    fn next(&mut self) -> Option<&'s T> {
        self.0.next().map(|it| it.0)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> ExactSizeIterator for SetIter<'_, T> {}

impl<T> DoubleEndedIterator for SetIter<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|it| it.0)
    }
}

/// The entries of a set, in order.
pub struct SetIntoIter<T>(IntoIter<T, ()>);

impl<T> Iterator for SetIntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.next().map(|it| it.0)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> DoubleEndedIterator for SetIntoIter<T> {
    fn next_back(&mut self) -> Option<T> {
        self.0.next_back().map(|it| it.0)
    }
}
