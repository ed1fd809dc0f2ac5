//! The edit distance between two words, for "did you mean".

/// The longest text, in bytes, whose distance is computed: the cost is the product of both lengths. Longer texts are
/// not mistyped names.
const LONGEST: usize = 256;

/// Returns the Levenshtein distance between `a` and `b` if it is at most `most`.
///
/// The length or the first characters tell most words apart, so a suggestion can try thousands of candidates.
pub fn distance_within(a: &str, b: &str, most: usize) -> Option<usize> {
    let (a, b) = without_common_ends(a, b);
    // A character has at most four bytes.
    if a.len().abs_diff(b.len()) > most * 4 || a.len().max(b.len()) > LONGEST {
        return None;
    }
    Some(strsim::levenshtein(a, b)).filter(|distance| *distance <= most)
}

/// Returns both words without their common prefix and suffix.
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

    /// The definition, without the shortcuts.
    fn distance(a: &[char], b: &[char]) -> usize {
        match (a, b) {
            ([], rest) | (rest, []) => rest.len(),
            ([x, a @ ..], [y, b @ ..]) if x == y => distance(a, b),
            ([_, less_a @ ..], [_, less_b @ ..]) => {
                1 + distance(less_a, b).min(distance(a, less_b)).min(distance(less_a, less_b))
            }
        }
    }

    #[test]
    fn long_texts_have_no_distance() {
        let long = "a".repeat(1_000_000);
        assert_eq!(distance_within(&format!("b{long}"), &format!("{long}c"), 2), None);
        assert_eq!(
            distance_within(&long, &format!("{long}c"), 2),
            Some(1),
            "only what differs counts"
        );
    }

    proptest! {
        #[test]
        fn distance_within_equals_the_distance_up_to_the_limit(
            a in "[abé]{0,6}",
            b in "[abé]{0,6}",
            most in 0usize..4,
        ) {
            let letters = |word: &str| word.chars().collect::<Vec<_>>();
            let whole = distance(&letters(&a), &letters(&b));
            prop_assert_eq!(distance_within(&a, &b, most), (whole <= most).then_some(whole));
        }
    }
}
