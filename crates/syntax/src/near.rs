//! How near two words are, for "did you mean".

/// The number of letters to insert, drop or replace to make `b` of `a` (Levenshtein), if it is not more than `most`.
///
/// Most words are told apart by their length or by where they begin to differ, so thousands can be tried while somebody
/// types.
pub fn distance_within(a: &str, b: &str, most: usize) -> Option<usize> {
    let (a, b) = without_common_ends(a, b);
    // A letter has at most four bytes.
    if a.len().abs_diff(b.len()) > most * 4 {
        return None;
    }
    if a.is_empty() || b.is_empty() {
        let letters = a.chars().count().max(b.chars().count());
        return (letters <= most).then_some(letters);
    }
    let (shorter, longer) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let b: Vec<char> = shorter.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in longer.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        let mut least = row[0];
        for (j, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
            least = least.min(row[j + 1]);
        }
        // What a row begins with only grows.
        if least > most {
            return None;
        }
    }
    Some(row[b.len()]).filter(|distance| *distance <= most)
}

/// What is left of both words without what they begin and end with alike.
fn without_common_ends<'a>(a: &'a str, b: &'a str) -> (&'a str, &'a str) {
    let alike = |(a, b): &(char, char)| a == b;
    let start: usize =
        a.chars().zip(b.chars()).take_while(alike).map(|(letter, _)| letter.len_utf8()).sum();
    let (a, b) = (&a[start..], &b[start..]);
    let end: usize = a
        .chars()
        .rev()
        .zip(b.chars().rev())
        .take_while(alike)
        .map(|(letter, _)| letter.len_utf8())
        .sum();
    (&a[..a.len() - end], &b[..b.len() - end])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::distance_within;

    /// The definition, without any haste.
    fn distance(a: &[char], b: &[char]) -> usize {
        match (a, b) {
            ([], rest) | (rest, []) => rest.len(),
            ([x, a @ ..], [y, b @ ..]) if x == y => distance(a, b),
            ([_, less_a @ ..], [_, less_b @ ..]) => {
                1 + distance(less_a, b).min(distance(a, less_b)).min(distance(less_a, less_b))
            }
        }
    }

    proptest! {
        #[test]
        fn it_is_the_distance_as_far_as_it_goes(a in "[abé]{0,6}", b in "[abé]{0,6}", most in 0usize..4) {
            let letters = |word: &str| word.chars().collect::<Vec<_>>();
            let whole = distance(&letters(&a), &letters(&b));
            prop_assert_eq!(distance_within(&a, &b, most), (whole <= most).then_some(whole));
        }
    }
}
