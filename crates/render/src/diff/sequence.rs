//! Alignment of two sequences.

use std::collections::{HashMap, HashSet};

use values::Value;

use crate::{
    diff::{Node, change::Change},
    json,
};

/// The maximal number of pairs of elements for which the longest common subsequence is computed.
const MAX_PAIRS: usize = 1_000_000;

/// The index of an element on each side; both are set if the elements are aligned.
pub(super) struct Pair {
    pub(super) before: Option<usize>,
    pub(super) after: Option<usize>,
}

/// Compares the elements of a list. The longest common subsequence is aligned. Between its elements, objects and
/// multi-line strings with a common line are aligned if they are at the same place.
pub(super) fn list(change: &Change<'_>, compute: &dyn Fn(&Change<'_>) -> Node) -> Vec<Node> {
    let (before, after) = (change.before.items(), change.after.items());
    let ids = &mut Ids::default();
    let left: Vec<u32> = before.iter().map(|it| ids.of_value(it)).collect();
    let right: Vec<u32> = after.iter().map(|it| ids.of_value(it)).collect();
    let pairs = align(&left, &right, |i, j| are_comparable(&before[i], &after[j]));
    pairs.into_iter().map(|it| compute(&change.item(it.before, it.after))).collect()
}

/// Returns true if one value can be shown as a change of the other.
fn are_comparable(before: &Value, after: &Value) -> bool {
    match (before.as_str(), after.as_str()) {
        (Some(before), Some(after)) if before.contains('\n') || after.contains('\n') => {
            let lines: HashSet<&str> = before.split('\n').collect();
            after.split('\n').any(|line| lines.contains(line))
        }
        _ => before.as_map().is_some() && after.as_map().is_some(),
    }
}

/// Compares the elements of a set: equal elements are aligned, and removed ones come before added ones.
pub(super) fn set(change: &Change<'_>, compute: &dyn Fn(&Change<'_>) -> Node) -> Vec<Node> {
    let (before, after) = (change.before.items(), change.after.items());
    let ids = &mut Ids::default();
    let mut free: HashMap<u32, Vec<usize>> = HashMap::new();
    for (j, value) in after.iter().enumerate().rev().filter(|(_, it)| it.is_wholly_known()) {
        free.entry(ids.of_value(value)).or_default().push(j);
    }
    let mut is_taken = vec![false; after.len()];
    let mut pairs: Vec<Pair> = Vec::with_capacity(before.len().max(after.len()));
    for (i, value) in before.iter().enumerate() {
        let partner = free.get_mut(&ids.of_value(value)).and_then(Vec::pop);
        partner.iter().for_each(|j| is_taken[*j] = true);
        pairs.push(Pair { before: Some(i), after: partner });
    }
    let added = (0..after.len()).filter(|j| !is_taken[*j]);
    pairs.extend(added.map(|j| Pair { before: None, after: Some(j) }));
    pairs.into_iter().map(|it| compute(&change.item(it.before, it.after))).collect()
}

/// Aligns the lines of two texts.
pub(super) fn lines(before: &[&str], after: &[&str]) -> Vec<Pair> {
    let ids = &mut Ids::default();
    let left: Vec<u32> = before.iter().map(|it| ids.of_text(it)).collect();
    let right: Vec<u32> = after.iter().map(|it| ids.of_text(it)).collect();
    align(&left, &right, |_, _| false)
}

/// Numbers for values. Equal values have equal numbers, so that comparisons are cheap.
#[derive(Default)]
struct Ids {
    known: HashMap<String, u32>,
}

impl Ids {
    fn of_value(&mut self, value: &Value) -> u32 {
        let json = json::known(&value.without_all_marks()).unwrap_or_default();
        self.of_text(&json::compact(&json))
    }

    fn of_text(&mut self, text: &str) -> u32 {
        let next = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
        *self.known.entry(text.to_owned()).or_insert(next)
    }
}

/// Aligns two sequences along their longest common subsequence. Between two common elements, removed elements come
/// before added ones; `may_pair` may align a removed with an added element.
fn align(before: &[u32], after: &[u32], may_pair: impl Fn(usize, usize) -> bool) -> Vec<Pair> {
    let common = longest_common(before, after);
    let mut pairs = Vec::with_capacity(before.len().max(after.len()));
    let (mut i, mut j) = (0, 0);
    for next in common.iter().map(Some).chain([None]) {
        while i < before.len() && Some(&before[i]) != next {
            let partner = j < after.len() && Some(&after[j]) != next && may_pair(i, j);
            pairs.push(Pair { before: Some(i), after: partner.then_some(j) });
            i += 1;
            j += usize::from(partner);
        }
        while j < after.len() && Some(&after[j]) != next {
            pairs.push(Pair { before: None, after: Some(j) });
            j += 1;
        }
        if next.is_some() {
            pairs.push(Pair { before: Some(i), after: Some(j) });
            i += 1;
            j += 1;
        }
    }
    pairs
}

/// A longest common subsequence. If there are several, the one that OpenTofu shows.
fn longest_common(before: &[u32], after: &[u32]) -> Vec<u32> {
    let tail = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
    let (left, right) = (&before[..before.len() - tail], &after[..after.len() - tail]);
    let mut common = match left.len().checked_mul(right.len()) {
        Some(0) => Vec::new(),
        Some(pairs) if pairs <= MAX_PAIRS => by_table(left, right),
        _ => by_unique_elements(left, right),
    };
    common.extend_from_slice(&before[before.len() - tail..]);
    common
}

/// Computes the common subsequence with the classic table of lengths, traced back from its end. On a tie, skips an
/// element of `after`.
fn by_table(before: &[u32], after: &[u32]) -> Vec<u32> {
    let width = before.len() + 1;
    let mut lengths = vec![0u32; width * (after.len() + 1)];
    for (y, b) in after.iter().enumerate() {
        for (x, a) in before.iter().enumerate() {
            lengths[(y + 1) * width + x + 1] = match a == b {
                true => lengths[y * width + x] + 1,
                false => lengths[(y + 1) * width + x].max(lengths[y * width + x + 1]),
            };
        }
    }
    let mut common = Vec::new();
    let (mut x, mut y) = (before.len(), after.len());
    while x > 0 && y > 0 {
        if before[x - 1] == after[y - 1] {
            common.push(before[x - 1]);
            (x, y) = (x - 1, y - 1);
        } else if lengths[y * width + x - 1] > lengths[(y - 1) * width + x] {
            x -= 1;
        } else {
            y -= 1;
        }
    }
    common.reverse();
    common
}

/// Approximates the common subsequence of long sequences in O(n log n): the longest increasing run of the elements
/// that occur once in each sequence.
fn by_unique_elements(before: &[u32], after: &[u32]) -> Vec<u32> {
    let places = |sequence: &[u32]| {
        let mut places: HashMap<u32, Option<usize>> = HashMap::with_capacity(sequence.len());
        for (i, id) in sequence.iter().enumerate() {
            places.entry(*id).and_modify(|it| *it = None).or_insert(Some(i));
        }
        places
    };
    let (left, right) = (places(before), places(after));
    // The indexes in `after` of the elements that occur once in each sequence, in the order of `before`.
    let unique = before.iter().filter(|id| matches!(left.get(id), Some(Some(_))));
    let targets: Vec<usize> = unique.filter_map(|id| right.get(id).copied().flatten()).collect();
    longest_increasing(&targets).into_iter().map(|place| after[place]).collect()
}

fn longest_increasing(numbers: &[usize]) -> Vec<usize> {
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(numbers.len());
    for (i, number) in numbers.iter().enumerate() {
        let length = ends.partition_point(|end| numbers[*end] < *number);
        previous.push(length.checked_sub(1).map(|it| ends[it]));
        match ends.get_mut(length) {
            Some(end) => *end = i,
            None => ends.push(i),
        }
    }
    let mut run: Vec<usize> =
        std::iter::successors(ends.last().copied(), |i| previous[*i]).map(|i| numbers[i]).collect();
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, after: &str, expected: &str) {
        let ids = |text: &str| text.chars().map(u32::from).collect::<Vec<_>>();
        let pairs = align(&ids(before), &ids(after), |_, _| false);
        let shown: String = pairs
            .iter()
            .map(|pair| match (pair.before, pair.after) {
                (Some(i), Some(_)) => format!(" {}", &before[i..=i]),
                (Some(i), None) => format!("-{}", &before[i..=i]),
                (None, Some(j)) => format!("+{}", &after[j..=j]),
                (None, None) => String::new(),
            })
            .collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn sequences_are_aligned_by_common_elements() {
        check("", "", "");
        check("abc", "abc", " a b c");
        check("abc", "ac", " a-b c");
        check("ac", "abc", " a+b c");
        check("abcd", "xbcy", "-a+x b c-d+y");
        check("ab", "ba", "-a b+a");
    }

    #[test]
    fn long_sequences_are_aligned_by_unique_elements() {
        let before: Vec<u32> = (0..3000).collect();
        let after: Vec<u32> = (0..3000).filter(|it| it % 7 != 0).chain([5000, 2999]).collect();
        let pairs = align(&before, &after, |_, _| false);
        let kept = pairs.iter().filter(|it| it.before.is_some() && it.after.is_some()).count();
        assert_eq!(kept, 3000 - 429);
    }
}
