//! Patterns of keys and of the operator `%`.

/// A pattern: `*` matches any text, `?` one character, and `\` makes the next character literal.
pub(super) struct Pattern(Vec<Token>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Any,
    One,
    Literal(char),
}

impl Pattern {
    /// Reads a pattern up to one of the `ends`. Returns it with the end, and the text behind it.
    pub(super) fn parse<'p>(text: &'p str, ends: &[char]) -> Prefix<'p> {
        let mut tokens = Vec::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                end if ends.contains(&end) => {
                    return Prefix {
                        pattern: Pattern(tokens),
                        end: Some(end),
                        rest: chars.as_str(),
                    };
                }
                '*' => tokens.push(Token::Any),
                '?' => tokens.push(Token::One),
                '\\' => tokens.extend(chars.next().map(Token::Literal)),
                c => tokens.push(Token::Literal(c)),
            }
        }
        Prefix { pattern: Pattern(tokens), end: None, rest: "" }
    }

    /// Returns true if the whole text matches. The time is at most the product of both lengths: only the last `*` is
    /// tried again.
    pub(super) fn matches(&self, text: &str) -> bool {
        let mut tokens = self.0.as_slice();
        let mut rest = text.chars();
        // The tokens behind the last `*`, and the text that they are tried on next.
        let mut retry = None;
        loop {
            match tokens.split_first() {
                Some((Token::Any, behind)) => {
                    retry = Some((behind, rest.clone()));
                    tokens = behind;
                    continue;
                }
                Some((Token::One, behind)) if rest.next().is_some() => {
                    tokens = behind;
                    continue;
                }
                Some((Token::Literal(c), behind)) if rest.next() == Some(*c) => {
                    tokens = behind;
                    continue;
                }
                None if rest.as_str().is_empty() => return true,
                _ => {}
            }
            let Some((behind, mut from)) = retry.take() else { return false };
            if from.next().is_none() {
                return false;
            }
            tokens = behind;
            rest = from.clone();
            retry = Some((behind, from));
        }
    }
}

/// A pattern at the beginning of a text.
pub(super) struct Prefix<'p> {
    pub(super) pattern: Pattern,
    /// The character that ends the pattern; `None` at the end of the text.
    pub(super) end: Option<char>,
    /// The text behind the end.
    pub(super) rest: &'p str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_texts() {
        for (pattern, text, matches) in [
            ("", "", true),
            ("", "a", false),
            ("a", "a", true),
            ("*", "", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b-d", false),
            ("?", "é", true),
            ("?", "", false),
            ("a\\*", "a*", true),
            ("a\\*", "ab", false),
            ("\\?*", "?x", true),
            ("a\\", "a", true),
        ] {
            assert_eq!(
                Pattern::parse(pattern, &[]).pattern.matches(text),
                matches,
                "{pattern} {text}"
            );
        }
        let hostile = "*a".repeat(50) + "b";
        assert!(!Pattern::parse(&hostile, &[]).pattern.matches(&"a".repeat(5000)));
    }
}
