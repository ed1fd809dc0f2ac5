use std::{
    borrow::Borrow,
    fmt, mem,
    ops::{Deref, DerefMut, Index},
};

use litemap::LiteMap;

use crate::sort::{sort_by, sort_unsorted_by};

/// A map as a list that is sorted by keys, for few entries, or for many that arrive at once or in order. It reads and
/// changes like a [`LiteMap`]. Collecting takes O(n log n) steps, O(n) if the keys are in order, and finding a key
/// O(log n). Inserting or removing one key takes O(n) steps, so code that inserts many keys in no order uses another
/// map and collects it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct SortedMap<K, V> {
    entries: LiteMap<K, V>,
}

impl<K, V> SortedMap<K, V> {
    /// Creates an empty map.
    #[must_use]
    pub const fn new() -> SortedMap<K, V> {
        SortedMap { entries: LiteMap::new_vec() }
    }

    /// Creates an empty map with room for `capacity` entries.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> SortedMap<K, V> {
        SortedMap { entries: LiteMap::with_capacity(capacity) }
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    /// Returns the value of a key.
    #[must_use]
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        // Unequal texts mostly differ in length, so a few of them are compared faster one by one.
        const FEW: usize = 8;
        match self.entries.len() {
            0..=FEW => {
                self.entries.iter().find(|(it, _)| (*it).borrow() == key).map(|(_, value)| value)
            }
            _ => self.entries.get(key),
        }
    }

    /// Returns true if the map has a key.
    #[must_use]
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.get(key).is_some()
    }

    /// Returns the key of the map that equals `key`, and its value.
    #[must_use]
    pub fn get_key_value<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        self.entries.get_indexed(self.entries.find_index(key).ok()?)
    }

    /// Returns the value of a key, for callers that know `position`, where a map with exactly the expected keys has it.
    #[must_use]
    #[inline]
    pub fn get_near<Q: Ord + ?Sized>(&self, position: usize, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        match self.entries.get_indexed(position) {
            Some((found, value)) if found.borrow() == key => Some(value),
            _ => self.get(key),
        }
    }

    /// Creates a map of entries in any order. The last of several values of a key remains.
    #[must_use]
    pub fn from_entries(mut entries: Vec<(K, V)>) -> SortedMap<K, V> {
        if !entries.is_sorted_by(|a, b| a.0 < b.0) {
            sort_unsorted_by(&mut entries, |a, b| a.0.cmp(&b.0));
            keep_last(&mut entries);
        }
        SortedMap { entries: LiteMap::from_sorted_store_unchecked(entries) }
    }

    /// Creates a map of the entries of two maps, in O(n) steps. A key of both has the value of the second one.
    #[must_use]
    pub fn merged([first, second]: [SortedMap<K, V>; 2]) -> SortedMap<K, V> {
        if first.is_empty() || second.is_empty() {
            return if first.is_empty() { second } else { first };
        }
        let mut all = Vec::with_capacity(first.len() + second.len());
        let mut second = second.into_iter().peekable();
        for entry in first {
            while let Some(smaller) = second.next_if(|it| it.0 < entry.0) {
                all.push(smaller);
            }
            if second.peek().is_none_or(|it| it.0 != entry.0) {
                all.push(entry);
            }
        }
        all.extend(second);
        SortedMap { entries: LiteMap::from_sorted_store_unchecked(all) }
    }

    /// Creates a map of entries in any order, each with a key of its own.
    ///
    /// # Errors
    ///
    /// Returns a key that occurs twice, the smallest one.
    pub fn from_unique(mut entries: Vec<(K, V)>) -> Result<SortedMap<K, V>, K> {
        sort_by(&mut entries, |a, b| a.0.cmp(&b.0));
        match entries.windows(2).position(|it| it[0].0 == it[1].0) {
            Some(twice) => Err(entries.swap_remove(twice).0),
            None => Ok(SortedMap { entries: LiteMap::from_sorted_store_unchecked(entries) }),
        }
    }
}

/// Removes all but the last of entries with the same key, which are neighbours.
fn keep_last<K: Ord, V>(entries: &mut Vec<(K, V)>) {
    entries.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            mem::swap(later, kept);
        }
        same
    });
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for SortedMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        SortedMap::new()
    }
}

impl<K, V> Deref for SortedMap<K, V> {
    type Target = LiteMap<K, V>;

    fn deref(&self) -> &LiteMap<K, V> {
        &self.entries
    }
}

impl<K, V> DerefMut for SortedMap<K, V> {
    fn deref_mut(&mut self) -> &mut LiteMap<K, V> {
        &mut self.entries
    }
}

impl<K: Ord + Borrow<Q>, V, Q: Ord + ?Sized> Index<&Q> for SortedMap<K, V> {
    type Output = V;

    /// # Panics
    ///
    /// Panics if there is no such key.
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("a key of the map")
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        SortedMap::from_entries(entries.into_iter().collect())
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for SortedMap<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        SortedMap::from_entries(Vec::from(entries))
    }
}

impl<K: Ord, V> Extend<(K, V)> for SortedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        let mut all = mem::take(self).entries.into_tuple_vec();
        let last = all.len().saturating_sub(1);
        all.extend(entries);
        *self = match all[last..].is_sorted_by(|a, b| a.0 < b.0) {
            true => SortedMap { entries: LiteMap::from_sorted_store_unchecked(all) },
            false => SortedMap::from_entries(all),
        };
    }
}

impl<K, V> IntoIterator for SortedMap<K, V> {
    type Item = <Self::IntoIter as Iterator>::Item;
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_tuple_vec().into_iter()
    }
}

impl<'a, K, V> IntoIterator for &'a SortedMap<K, V> {
    type Item = <Self::IntoIter as Iterator>::Item;
    type IntoIter = <&'a LiteMap<K, V> as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

impl<'a, K, V> IntoIterator for &'a mut SortedMap<K, V> {
    type Item = <Self::IntoIter as Iterator>::Item;
    type IntoIter = <&'a mut LiteMap<K, V> as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::SortedMap;

    proptest! {
        #[test]
        fn a_map_has_the_entries_of_a_tree(
            first in prop::collection::vec((0u8..16, any::<u16>()), 0..40),
            more in prop::collection::vec((0u8..16, any::<u16>()), 0..40),
        ) {
            let mut expected: BTreeMap<u8, u16> = first.iter().copied().collect();
            let mut found: SortedMap<u8, u16> = first.into_iter().collect();
            prop_assert!(found.iter().eq(expected.iter()));
            for key in 0..16 {
                prop_assert_eq!(found.get_key_value(&key), expected.get_key_value(&key));
                prop_assert_eq!(found.get(&key), expected.get(&key));
                prop_assert_eq!(found.contains_key(&key), expected.contains_key(&key));
                for position in 0..found.len() + 2 {
                    prop_assert_eq!(found.get_near(position, &key), expected.get(&key));
                }
            }
            prop_assert_eq!(format!("{found:?}"), format!("{expected:?}"));
            expected.extend(more.iter().copied());
            let both = [found.clone(), more.iter().copied().collect()];
            prop_assert!(SortedMap::merged(both).into_iter().eq(expected.clone()));
            found.extend(more);
            prop_assert!(found.into_iter().eq(expected));
        }

        #[test]
        fn the_smallest_key_that_occurs_twice_is_found(
            entries in prop::collection::vec((0u8..100, any::<u16>()), 0..12),
        ) {
            let twice = |key: u8| entries.iter().filter(|it| it.0 == key).count() > 1;
            let expected = (0..100).find(|it| twice(*it));
            match SortedMap::from_unique(entries.clone()) {
                Ok(map) => prop_assert!(expected.is_none() && map.len() == entries.len()),
                Err(key) => prop_assert_eq!(Some(key), expected),
            }
        }
    }
}
