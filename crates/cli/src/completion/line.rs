//! The words of a line that is being typed.

/// A line up to the cursor.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The complete words after the name of the program, without quotes.
    pub(super) words: Vec<String>,
    /// The word at the cursor, as far as it is typed. Empty after a blank.
    pub(super) current: String,
}

impl Line {
    /// Splits a line as a shell does. A quote that is still open ends with the line.
    pub(super) fn parse(text: &str) -> Line {
        let mut words = vec![String::new()];
        let mut is_word = false;
        let mut quote = None;
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            let Some(word) = words.last_mut() else { break };
            match (quote, c) {
                (None, c) if c.is_whitespace() => {
                    if std::mem::take(&mut is_word) {
                        words.push(String::new());
                    }
                    continue;
                }
                (None, '\'' | '"') => quote = Some(c),
                (Some(open), c) if c == open => quote = None,
                (None | Some('"'), '\\') => word.extend(chars.next()),
                (_, c) => word.push(c),
            }
            is_word = true;
        }
        let current = words.pop().unwrap_or_default();
        // The first word is the name of the program.
        let words = words.into_iter().skip(1).collect();
        Line { words, current }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, words: &[&str], current: &str) {
        let words = words.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(Line::parse(text), Line { words, current: current.to_owned() }, "{text}");
    }

    #[test]
    fn line_has_complete_words_and_the_one_at_the_cursor() {
        check("mayfly ", &[], "");
        check("mayfly pl", &[], "pl");
        check("mayfly plan -out 'a b' -tar", &["plan", "-out", "a b"], "-tar");
        check("mayfly plan -target=a.b", &["plan"], "-target=a.b");
        check(r#"mayfly taint a.b\[\"k"#, &["taint"], r#"a.b["k"#);
        check(r#"mayfly taint 'a.b["k"#, &["taint"], r#"a.b["k"#);
        check("mayfly state  show ", &["state", "show"], "");
    }
}
