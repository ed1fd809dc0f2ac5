use std::{slice, vec};

use super::order::{Order, Place};

/// The entries of a map, in order.
pub struct Iter<'m, K, V> {
    entries: &'m [Option<(K, V)>],
    places: Places<'m>,
}

impl<'m, K, V> Iter<'m, K, V> {
    /// The entries from `begin` to before `end`, of which there are `len`.
    pub(super) fn new(
        entries: &'m [Option<(K, V)>],
        order: &'m Order,
        begin: Place,
        end: Place,
        len: usize,
    ) -> Self {
        Iter { entries, places: Places { order, begin, end, len } }
    }

    fn entry(&self, position: usize) -> Option<(&'m K, &'m V)> {
        self.entries[position].as_ref().map(|(key, value)| (key, value))
    }
}

impl<K, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        Iter { entries: self.entries, places: self.places.clone() }
    }
}

impl<'m, K, V> Iterator for Iter<'m, K, V> {
    type Item = (&'m K, &'m V);

    fn next(&mut self) -> Option<Self::Item> {
        let position = self.places.next()?;
        self.entry(position)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.places.len, Some(self.places.len))
    }
}

impl<K, V> ExactSizeIterator for Iter<'_, K, V> {}

impl<K, V> DoubleEndedIterator for Iter<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let position = self.places.next_back()?;
        self.entry(position)
    }
}

/// The entries in a range of keys, in order.
pub struct Range<'m, K, V>(pub(super) Iter<'m, K, V>);

impl<K, V> Clone for Range<'_, K, V> {
    fn clone(&self) -> Self {
        Range(self.0.clone())
    }
}

impl<'m, K, V> Iterator for Range<'m, K, V> {
    type Item = (&'m K, &'m V);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

impl<K, V> DoubleEndedIterator for Range<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back()
    }
}

/// The positions of entries, in order.
#[derive(Clone)]
struct Places<'m> {
    order: &'m Order,
    begin: Place,
    end: Place,
    /// Their number, which is unknown for a range of entries.
    len: usize,
}

impl Places<'_> {
    fn next(&mut self) -> Option<usize> {
        if self.begin == self.end {
            return None;
        }
        let position = self.order.position(self.begin);
        self.begin = self.order.next(self.begin);
        self.len = self.len.saturating_sub(1);
        Some(position)
    }

    fn next_back(&mut self) -> Option<usize> {
        if self.begin == self.end {
            return None;
        }
        self.end = self.order.before(self.end);
        self.len = self.len.saturating_sub(1);
        Some(self.order.position(self.end))
    }
}

/// The entries of a map, in order, with values that can be changed.
pub struct IterMut<'m, K, V>(pub(super) slice::IterMut<'m, Option<(K, V)>>);

fn parts<K, V>(entry: &mut Option<(K, V)>) -> Option<(&K, &mut V)> {
    entry.as_mut().map(|(key, value)| (&*key, value))
}

impl<'m, K, V> Iterator for IterMut<'m, K, V> {
    type Item = (&'m K, &'m mut V);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().and_then(parts)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<K, V> DoubleEndedIterator for IterMut<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().and_then(parts)
    }
}

/// The entries of a map, in order.
pub struct IntoIter<K, V>(pub(super) vec::IntoIter<Option<(K, V)>>);

impl<K, V> Iterator for IntoIter<K, V> {
    type Item = (K, V);

    fn next(&mut self) -> Option<(K, V)> {
        self.0.next().flatten()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<K, V> DoubleEndedIterator for IntoIter<K, V> {
    fn next_back(&mut self) -> Option<(K, V)> {
        self.0.next_back().flatten()
    }
}
