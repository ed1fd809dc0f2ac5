use std::{
    borrow::Borrow,
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    mem,
    ops::{Bound, Index, RangeBounds},
};

use super::{
    entry::{Entry, OccupiedEntry, VacantEntry},
    iter::{IntoIter, Iter, IterMut, Range},
    order::{FEW, Order, Place},
};
use crate::sort::sort_unsorted_by;

/// A map in the order of keys, for any number of entries in any order, with the interface of
/// [`std::collections::BTreeMap`]. Finding, inserting and removing take O(log n) comparisons, and move a bounded number
/// of entries and positions.
///
/// Entries that arrive in order, and few entries, are a sorted list. If a key comes between many others, the map writes
/// down the order of the entries, and appends. Functions that reach all entries by `&mut` sort the list again.
#[derive(Clone)]
pub struct TreeMap<K, V> {
    /// `None` for removed entries.
    entries: Vec<Option<(K, V)>>,
    order: Order,
    /// The number of entries that are not removed.
    len: usize,
}

const LISTED: &str = "the order lists no removed entries";

impl<K, V> TreeMap<K, V> {
    /// Creates an empty map.
    #[must_use]
    pub fn new() -> TreeMap<K, V> {
        TreeMap::default()
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        *self = TreeMap::default();
    }

    /// The entries in order.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, K, V> {
        let end = self.order.end(self.entries.len());
        Iter::new(&self.entries, &self.order, self.order.begin(), end, self.len)
    }

    /// The entries in order.
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        self.settle();
        IterMut(self.entries.iter_mut())
    }

    /// The keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator + Clone {
        self.iter().map(|it| it.0)
    }

    /// The values in the order of keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator + Clone {
        self.iter().map(|it| it.1)
    }

    /// The values in the order of keys.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> {
        self.iter_mut().map(|it| it.1)
    }

    /// The keys in order.
    pub fn into_keys(self) -> impl DoubleEndedIterator<Item = K> {
        self.into_iter().map(|it| it.0)
    }

    /// The values in the order of keys.
    pub fn into_values(self) -> impl DoubleEndedIterator<Item = V> {
        self.into_iter().map(|it| it.1)
    }

    /// The entry with the smallest key.
    #[must_use]
    pub fn first_key_value(&self) -> Option<(&K, &V)> {
        self.iter().next()
    }

    /// The entry with the largest key.
    #[must_use]
    pub fn last_key_value(&self) -> Option<(&K, &V)> {
        self.iter().next_back()
    }

    /// Removes the entry with the smallest key.
    pub fn pop_first(&mut self) -> Option<(K, V)> {
        (self.len > 0).then(|| self.remove_at(self.order.begin()))
    }

    /// Removes the entry with the largest key.
    pub fn pop_last(&mut self) -> Option<(K, V)> {
        let end = self.order.end(self.entries.len());
        (self.len > 0).then(|| self.remove_at(self.order.before(end)))
    }

    /// Keeps the entries for which `keep` returns true.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.settle();
        self.entries.retain_mut(|it| it.as_mut().is_some_and(|(key, value)| keep(key, value)));
        self.len = self.entries.len();
    }

    /// The room that entries have, removed ones included.
    #[cfg(test)]
    pub(super) fn slots(&self) -> usize {
        self.entries.len()
    }

    /// Brings the entries themselves in order, and forgets removed ones.
    fn settle(&mut self) {
        if !self.order.is_plain() {
            let mut entries = Vec::with_capacity(self.len);
            let (mut place, end) = (self.order.begin(), self.order.end(0));
            while place != end {
                entries.push(self.entries[self.order.position(place)].take());
                place = self.order.next(place);
            }
            self.entries = entries;
            self.order = Order::default();
        }
    }

    /// Inserts an entry at its place. Returns its position.
    pub(super) fn insert_at(&mut self, place: Place, key: K, value: V) -> usize {
        self.len += 1;
        let count = self.entries.len();
        if self.order.is_plain() && (place.index == count || count < FEW) {
            self.entries.insert(place.index, Some((key, value)));
            return place.index;
        }
        let place = self.written_down(place);
        self.order.insert(place, count);
        self.entries.push(Some((key, value)));
        count
    }

    /// Removes the entry at a place.
    pub(super) fn remove_at(&mut self, place: Place) -> (K, V) {
        self.len -= 1;
        let count = self.entries.len();
        if self.order.is_plain() && (place.index + 1 == count || count < FEW) {
            return self.entries.remove(place.index).expect(LISTED);
        }
        let place = self.written_down(place);
        let removed = self.entries[self.order.position(place)].take().expect(LISTED);
        self.order.remove(place);
        // Without chunks, the remaining entries would count.
        if self.len == 0 {
            self.entries.clear();
        } else if self.len < count / 4 {
            self.settle();
        }
        removed
    }

    /// Writes down the order, unless it is written down.
    fn written_down(&mut self, place: Place) -> Place {
        match self.order.is_plain() {
            true => self.order.write_down(self.entries.len(), place),
            false => place,
        }
    }

    pub(super) fn key_at(&self, place: Place) -> &K {
        &self.entries[self.order.position(place)].as_ref().expect(LISTED).0
    }

    pub(super) fn value_at(&self, place: Place) -> &V {
        &self.entries[self.order.position(place)].as_ref().expect(LISTED).1
    }

    pub(super) fn value_at_mut(&mut self, place: Place) -> &mut V {
        self.value_of_position(self.order.position(place))
    }

    pub(super) fn value_of_position(&mut self, position: usize) -> &mut V {
        &mut self.entries[position].as_mut().expect(LISTED).1
    }

    #[inline]
    fn find_by(&self, mut compare: impl FnMut(&K) -> Ordering) -> Result<Place, Place> {
        let mut compare =
            |position: usize| compare(&self.entries[position].as_ref().expect(LISTED).0);
        self.order.find(self.entries.len(), &mut compare)
    }
}

impl<K: Ord, V> TreeMap<K, V> {
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<Place, Place>
    where
        K: Borrow<Q>,
    {
        self.find_by(|it| it.borrow().cmp(key))
    }

    /// Returns the value of a key.
    #[must_use]
    #[inline]
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.find(key).ok().map(|place| self.value_at(place))
    }

    /// Returns the value of a key.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.find(key).ok().map(|place| self.value_at_mut(place))
    }

    /// Returns the key of the map that equals `key`, and its value.
    #[must_use]
    pub fn get_key_value<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        let place = self.find(key).ok()?;
        let (key, value) = self.entries[self.order.position(place)].as_ref()?;
        Some((key, value))
    }

    /// Returns true if the key is in the map.
    #[must_use]
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_ok()
    }

    /// Inserts an entry. Returns the value that the key had.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(place) => Some(mem::replace(self.value_at_mut(place), value)),
            Err(place) => {
                self.insert_at(place, key, value);
                None
            }
        }
    }

    /// Removes an entry. Returns its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.remove_entry(key).map(|it| it.1)
    }

    /// Removes an entry.
    pub fn remove_entry<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<(K, V)>
    where
        K: Borrow<Q>,
    {
        let place = self.find(key).ok()?;
        Some(self.remove_at(place))
    }

    /// Returns the entry of a key, to read, change or insert it.
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        match self.find(&key) {
            Ok(place) => Entry::Occupied(OccupiedEntry { map: self, place }),
            Err(place) => Entry::Vacant(VacantEntry { map: self, place, key }),
        }
    }

    /// The entries between two keys, in order.
    pub fn range<Q: Ord + ?Sized>(&self, keys: impl RangeBounds<Q>) -> Range<'_, K, V>
    where
        K: Borrow<Q>,
    {
        // The place of the first entry that is larger, or equal if equal ones count as larger.
        let after = |key: &Q, equal: Ordering| {
            let place = self.find_by(|it| it.borrow().cmp(key).then(equal));
            self.order.begin_of_chunk(place.unwrap_or_else(|place| place))
        };
        let begin = match keys.start_bound() {
            Bound::Included(key) => after(key, Ordering::Greater),
            Bound::Excluded(key) => after(key, Ordering::Less),
            Bound::Unbounded => self.order.begin(),
        };
        let end = match keys.end_bound() {
            Bound::Included(key) => after(key, Ordering::Less),
            Bound::Excluded(key) => after(key, Ordering::Greater),
            Bound::Unbounded => self.order.end(self.entries.len()),
        };
        Range(Iter::new(&self.entries, &self.order, begin, end.max(begin), 0))
    }
}

impl<K, V> Default for TreeMap<K, V> {
    fn default() -> Self {
        TreeMap { entries: Vec::new(), order: Order::default(), len: 0 }
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for TreeMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for TreeMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other)
    }
}

impl<K: Eq, V: Eq> Eq for TreeMap<K, V> {}

impl<K: PartialOrd, V: PartialOrd> PartialOrd for TreeMap<K, V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.iter().partial_cmp(other)
    }
}

impl<K: Ord, V: Ord> Ord for TreeMap<K, V> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.iter().cmp(other)
    }
}

impl<K: Hash, V: Hash> Hash for TreeMap<K, V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len.hash(state);
        self.iter().for_each(|it| it.hash(state));
    }
}

impl<K: Ord + Borrow<Q>, V, Q: Ord + ?Sized> Index<&Q> for TreeMap<K, V> {
    type Output = V;

    /// # Panics
    ///
    /// Panics if there is no such key.
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("a key of the map")
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for TreeMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = TreeMap::default();
        map.entries.extend(entries.into_iter().map(Some));
        map.sort();
        map
    }
}

impl<K: Ord, V> TreeMap<K, V> {
    /// Sorts new entries. The last of several values of a key remains.
    fn sort(&mut self) {
        let compare = |a: &Option<(K, V)>, b: &Option<(K, V)>| {
            a.as_ref().map(|it| &it.0).cmp(&b.as_ref().map(|it| &it.0))
        };
        if !self.entries.is_sorted_by(|a, b| compare(a, b).is_lt()) {
            sort_unsorted_by(&mut self.entries, compare);
            self.entries.dedup_by(|later, kept| {
                let is_same = compare(later, kept).is_eq();
                if is_same {
                    mem::swap(later, kept);
                }
                is_same
            });
        }
        self.len = self.entries.len();
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for TreeMap<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K: Ord, V> Extend<(K, V)> for TreeMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K, V> IntoIterator for TreeMap<K, V> {
    type Item = <Self::IntoIter as Iterator>::Item;
    type IntoIter = IntoIter<K, V>;

    fn into_iter(mut self) -> IntoIter<K, V> {
        self.settle();
        IntoIter(self.entries.into_iter())
    }
}

impl<'a, K, V> IntoIterator for &'a TreeMap<K, V> {
    type Item = <Self::IntoIter as Iterator>::Item;
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}

impl<'a, K, V> IntoIterator for &'a mut TreeMap<K, V> {
    type Item = <Self::IntoIter as Iterator>::Item;
    type IntoIter = IterMut<'a, K, V>;

    fn into_iter(self) -> IterMut<'a, K, V> {
        self.iter_mut()
    }
}
