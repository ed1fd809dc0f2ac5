//! Suggestions for misspelled names, "Did you mean …?".

/// The largest edit distance of a suggestion.
const MAX_EDITS: usize = 2;

/// Returns the candidate closest to a name that does not exist. `None` if no candidate is within two edits, the
/// limit of OpenTofu. The first of equally close candidates wins. Candidates that are not valid identifiers are
/// skipped; the declaration of such a name has its own diagnostic.
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if let Some(distance) = nearer(name, candidate, best.map(|(distance, _)| distance)) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The sentence that asks for `close`, after a space. Empty if there is no suggestion.
pub(crate) fn question(close: Option<&str>) -> String {
    close.map(|close| format!(" Did you mean \"{close}\"?")).unwrap_or_default()
}

/// Finds the closest of candidates that are offered one by one.
pub(crate) struct Closest<'n> {
    name: &'n str,
    best: Option<(usize, String)>,
}

impl<'n> Closest<'n> {
    pub(crate) fn to(name: &'n str) -> Closest<'n> {
        Closest { name, best: None }
    }

    pub(crate) fn offer(&mut self, candidate: &str) {
        let best = self.best.as_ref().map(|(distance, _)| *distance);
        if let Some(distance) = nearer(self.name, candidate, best) {
            self.best = Some((distance, candidate.to_owned()));
        }
    }

    pub(crate) fn found(self) -> Option<String> {
        self.best.map(|(_, candidate)| candidate)
    }
}

/// The edit distance of a candidate. `None` unless it is smaller than `best`, within the limit, and the candidate
/// is a valid identifier.
fn nearer(name: &str, candidate: &str, best: Option<usize>) -> Option<usize> {
    let most = match best {
        Some(best) => best.checked_sub(1)?,
        None => MAX_EDITS,
    };
    let distance = syntax::levenshtein::distance_within(name, candidate, most)?;
    addr::is_identifier(candidate).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_valid_identifiers() {
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
