//! "Did you mean".

/// The closest of the candidates to a name that does not exist, where one is close enough to be meant: at most two
/// edits away, as the reference has it (hcl 3.1). The first of equals wins.
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let distance = edit_distance(name, candidate, 2);
        if let Some(distance) = distance
            && best.is_none_or(|(smallest, _)| distance < smallest)
        {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Levenshtein's distance, if it is at most `limit`.
fn edit_distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > limit * 4 {
        return None;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().filter(|&distance| distance <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_two_edits_away_are_suggested() {
        for (name, expected) in [
            ("pasword", Some("password")),
            ("password", Some("password")),
            ("nothing", None),
            ("uesr", Some("user")),
            ("", None),
        ] {
            assert_eq!(closest(name, ["user", "password", "description"]), expected, "{name}");
        }
    }
}
