use std::{cmp::Ordering, mem};

/// Sorts in the order of `Ord`. Equal entries keep their order.
pub fn sort<T: Ord>(entries: &mut [T]) {
    sort_by(entries, T::cmp);
}

/// Sorts by keys, each of which is computed once. Entries with equal keys keep their order.
pub fn sort_by_key<T, K: Ord>(entries: &mut [T], key: impl Fn(&T) -> K) {
    let keys: Vec<K> = entries.iter().map(key).collect();
    if !keys.is_sorted() {
        let positions = in_order(keys.len(), &|a, b| keys[a].cmp(&keys[b]));
        permute(entries, positions);
    }
}

/// Sorts in the order that `compare` gives. Equal entries keep their order.
///
/// # Panics
///
/// May panic if `compare` gives no total order, like the sort of the standard library.
pub fn sort_by<T>(entries: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    if !entries.is_sorted_by(|a, b| compare(a, b).is_le()) {
        sort_unsorted_by(entries, compare);
    }
}

/// Sorts entries that are known not to be sorted.
pub(crate) fn sort_unsorted_by<T>(entries: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let positions = in_order(entries.len(), &|a, b| compare(&entries[a], &entries[b]));
    permute(entries, positions);
}

/// Returns the positions below `len` in the order that `compare` gives. The only sort of the standard library here.
fn in_order(len: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..len).collect();
    positions.sort_by(|a, b| compare(*a, *b));
    positions
}

/// Moves to each place the entry whose position is listed there, cycle by cycle.
fn permute<T>(entries: &mut [T], mut positions: Vec<usize>) {
    for start in 0..positions.len() {
        let mut place = start;
        loop {
            let from = mem::replace(&mut positions[place], place);
            if from == start {
                break;
            }
            entries.swap(place, from);
            place = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{sort, sort_by, sort_by_key};

    proptest! {
        #[test]
        fn entries_get_the_order_of_the_standard_library(
            entries in prop::collection::vec((0u8..8, 0u16..1000), 0..300),
        ) {
            let mut expected = entries.clone();
            expected.sort();
            let mut found = entries.clone();
            sort(&mut found);
            prop_assert_eq!(&found, &expected);

            let mut expected = entries.clone();
            let by_group = |a: &(u8, u16), b: &(u8, u16)| (b.0, a.1 / 500).cmp(&(a.0, b.1 / 500));
            expected.sort_by(by_group);
            let mut found = entries.clone();
            sort_by(&mut found, by_group);
            prop_assert_eq!(&found, &expected);

            let mut expected = entries.clone();
            expected.sort_by_key(|it| it.0);
            let mut found = entries;
            sort_by_key(&mut found, |it| it.0);
            prop_assert_eq!(found, expected);
        }
    }
}
