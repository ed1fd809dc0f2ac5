//! "Did you mean".

/// How far a name may be from the one that is meant.
const MOST_EDITS: usize = 2;

/// The closest of the candidates to a name that does not exist, where one is close enough to be meant: at most two
/// edits away, as the reference has it (hcl 3.1). The first of equals wins. A name that cannot be written is none: whoever
/// declares it is told so there.
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if !addr::is_identifier(candidate) {
            continue;
        }
        // Each letter has four bytes at most.
        if name.len().abs_diff(candidate.len()) > MOST_EDITS * 4 {
            continue;
        }
        let distance = syntax::near::distance(name, candidate);
        if distance <= MOST_EDITS && best.is_none_or(|(smallest, _)| distance < smallest) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_cannot_be_written_is_not_suggested() {
        assert_eq!(closest("x1", ["1x", "x 1"]), None);
        assert_eq!(closest("x1", ["1x", "x-1"]), Some("x-1"));
    }

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
