//! Both kinds of containers, beside those of the standard library.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{BuildHasher, RandomState},
    ops::Bound,
};

use proptest::prelude::*;

use super::{Entry, TreeMap, TreeSet};

/// A change of a map.
#[derive(Clone, Debug)]
enum Change {
    Insert(u16, u32),
    Remove(u16),
    PopFirst,
    PopLast,
    Count(u16),
    RemoveEntry(u16),
    Retain(u16),
    Double,
    Extend(Vec<(u16, u32)>),
    Collect,
    Clear,
}

/// Changes of a map with `keys` different keys. Insertions outweigh removals, so the map becomes large.
fn change(keys: u16) -> impl Strategy<Value = Change> {
    prop_oneof![
        300 => (0..keys, any::<u32>()).prop_map(|(key, value)| Change::Insert(key, value)),
        60 => (0..keys).prop_map(Change::Remove),
        20 => Just(Change::PopFirst),
        20 => Just(Change::PopLast),
        100 => (0..keys).prop_map(Change::Count),
        20 => (0..keys).prop_map(Change::RemoveEntry),
        2 => (2..9u16).prop_map(Change::Retain),
        2 => Just(Change::Double),
        2 => prop::collection::vec((0..keys, any::<u32>()), 0..200).prop_map(Change::Extend),
        2 => Just(Change::Collect),
        1 => Just(Change::Clear),
    ]
}

/// Makes a change in both maps, and compares what it returns.
fn make(change: &Change, map: &mut TreeMap<u16, u32>, tree: &mut BTreeMap<u16, u32>) {
    match change {
        Change::Insert(key, value) => {
            assert_eq!(map.insert(*key, *value), tree.insert(*key, *value));
        }
        Change::Remove(key) => assert_eq!(map.remove(key), tree.remove(key)),
        Change::PopFirst => assert_eq!(map.pop_first(), tree.pop_first()),
        Change::PopLast => assert_eq!(map.pop_last(), tree.pop_last()),
        Change::Count(key) => {
            *map.entry(*key).and_modify(|it| *it ^= 1).or_default() /= 2;
            *tree.entry(*key).and_modify(|it| *it ^= 1).or_default() /= 2;
        }
        Change::RemoveEntry(key) => {
            let removed = match map.entry(*key) {
                Entry::Occupied(mut entry) => {
                    assert_eq!(Some(entry.get()), tree.get(key));
                    entry.insert(7);
                    Some(entry.remove())
                }
                Entry::Vacant(_) => None,
            };
            assert_eq!(removed, tree.remove(key).map(|_| 7));
        }
        Change::Retain(by) => {
            map.retain(|key, _| key % by != 0);
            tree.retain(|key, _| key % by != 0);
        }
        Change::Double => {
            map.values_mut().rev().for_each(|it| *it = it.wrapping_mul(2));
            tree.values_mut().for_each(|it| *it = it.wrapping_mul(2));
        }
        Change::Extend(entries) => {
            map.extend(entries.iter().copied());
            tree.extend(entries.iter().copied());
        }
        Change::Collect => {
            let entries = std::mem::take(map).into_iter().rev();
            *map = entries.flat_map(|(key, value)| [(key, 0), (key, value)]).collect();
        }
        Change::Clear => {
            map.clear();
            tree.clear();
        }
    }
}

/// Compares what reading functions of both maps return.
fn check(map: &TreeMap<u16, u32>, tree: &BTreeMap<u16, u32>, bounds: &[(Bound<u16>, Bound<u16>)]) {
    assert_eq!((map.len(), map.is_empty()), (tree.len(), tree.is_empty()));
    assert!(map.iter().eq(tree) && map.iter().rev().eq(tree.iter().rev()));
    assert!(map.clone().into_iter().rev().eq(tree.clone().into_iter().rev()));
    assert_eq!(map.first_key_value(), tree.first_key_value());
    assert_eq!(map.last_key_value(), tree.last_key_value());
    let mut both = map.iter();
    let half: Vec<_> = both.by_ref().step_by(1).take(tree.len() / 2).collect();
    assert_eq!(half.len() + both.rev().count(), tree.len());
    for key in 0..400 {
        assert_eq!(map.get(&key), tree.get(&key));
        assert_eq!(map.contains_key(&key), tree.contains_key(&key));
        assert_eq!(map.get_key_value(&key), tree.get_key_value(&key));
    }
    for bounds in bounds {
        assert!(map.range(*bounds).eq(tree.range(*bounds)), "{bounds:?}");
        assert!(map.range(*bounds).rev().eq(tree.range(*bounds).rev()), "{bounds:?}");
    }
}

/// Ranges that do not begin after their end, for which the map of the standard library panics.
fn bounds() -> impl Strategy<Value = (Bound<u16>, Bound<u16>)> {
    let bound = || {
        prop_oneof![
            (0..400u16).prop_map(Bound::Included),
            (0..400u16).prop_map(Bound::Excluded),
            Just(Bound::Unbounded),
        ]
    };
    let key = |it: Bound<u16>| match it {
        Bound::Included(key) | Bound::Excluded(key) => Some(key),
        Bound::Unbounded => None,
    };
    (bound(), bound()).prop_filter("a range", move |it| match (key(it.0), key(it.1)) {
        (Some(begin), Some(end)) => begin < end,
        _ => true,
    })
}

proptest! {
    #[test]
    fn a_map_changes_like_a_tree(
        changes in prop::collection::vec(change(400), 0..900),
        bounds in prop::collection::vec(bounds(), 0..8),
    ) {
        let (mut map, mut tree) = (TreeMap::new(), BTreeMap::new());
        for change in &changes {
            make(change, &mut map, &mut tree);
        }
        check(&map, &tree, &bounds);
    }

    #[test]
    fn two_maps_compare_like_trees(
        first in prop::collection::vec((0..4u8, 0..3u8), 0..4),
        second in prop::collection::vec((0..4u8, 0..3u8), 0..4),
    ) {
        let maps: [TreeMap<u8, u8>; 2] = [&first, &second].map(|it| it.iter().copied().collect());
        let trees: [BTreeMap<u8, u8>; 2] = [&first, &second].map(|it| it.iter().copied().collect());
        prop_assert_eq!(maps[0].cmp(&maps[1]), trees[0].cmp(&trees[1]));
        prop_assert_eq!(maps[0] == maps[1], trees[0] == trees[1]);
        prop_assert_eq!(format!("{:?}", maps[0]), format!("{:?}", trees[0]));
        let state = RandomState::new();
        let is_same = state.hash_one(&maps[0]) == state.hash_one(&maps[1]);
        prop_assert_eq!(is_same, maps[0] == maps[1]);
    }

    #[test]
    fn two_sets_are_like_trees(
        first in prop::collection::vec(0..200u16, 0..200),
        second in prop::collection::vec(0..200u16, 0..200),
    ) {
        let [mut a, b]: [TreeSet<u16>; 2] = [&first, &second].map(|it| it.iter().copied().collect());
        let [mut c, d]: [BTreeSet<u16>; 2] = [&first, &second].map(|it| it.iter().copied().collect());
        prop_assert!(a.union(&b).eq(c.union(&d)));
        prop_assert!(a.difference(&b).eq(c.difference(&d)));
        prop_assert!(a.intersection(&b).eq(c.intersection(&d)));
        prop_assert_eq!(a.is_subset(&b), c.is_subset(&d));
        prop_assert_eq!(a.is_superset(&b), c.is_superset(&d));
        prop_assert_eq!(a.is_disjoint(&b), c.is_disjoint(&d));
        prop_assert!(a.range(50..).eq(c.range(50..)));
        for entry in &second {
            prop_assert_eq!(a.remove(entry), c.remove(entry));
            prop_assert_eq!(a.insert(entry / 2), c.insert(entry / 2));
        }
        prop_assert_eq!((a.first(), a.last()), (c.first(), c.last()));
        a.retain(|it| it % 3 > 0);
        c.retain(|it| it % 3 > 0);
        prop_assert_eq!(format!("{a:?}"), format!("{c:?}"));
        prop_assert!(a.into_iter().eq(c));
    }
}

#[test]
fn map_is_read_and_written_as_a_tree() {
    let text = r#"{"b":1,"a":2,"b":3}"#;
    let map: TreeMap<String, u8> = serde_json::from_str(text).expect("a map");
    assert_eq!(serde_json::to_string(&map).expect("is written"), r#"{"a":2,"b":3}"#);
    assert!(serde_json::from_str::<TreeMap<String, u8>>("[]").is_err());
}

#[test]
fn range_that_begins_after_its_end_is_empty() {
    let mut map: TreeMap<u32, ()> = (0..1000).map(|it| (it, ())).collect();
    assert_eq!(map.range((Bound::Included(9), Bound::Excluded(3))).count(), 0);
    map.remove(&5);
    assert_eq!(map.range((Bound::Included(900), Bound::Excluded(3))).count(), 0);
}

/// A queue keeps room for a few times the entries that it has.
#[test]
fn removed_entries_leave() {
    let mut map: TreeMap<u32, ()> = (0..100).map(|it| (it, ())).collect();
    for key in 100..10_000 {
        map.insert(key ^ 1, ());
        map.pop_first();
    }
    assert_eq!(map.len(), 100);
    assert!(map.slots() <= 500, "{}", map.slots());
}
