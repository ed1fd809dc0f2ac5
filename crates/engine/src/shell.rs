//! Quoting for a POSIX shell: of commands that messages suggest, and of commands for other machines.

/// Quotes a text as a single word, if that is necessary.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_@%+=:,./-".contains(it);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// Quotes a path on another machine. A leading `~/` stays outside of the quotes: it means the home directory.
pub fn quoted_for_shell(path: &str) -> String {
    match path.strip_prefix("~/") {
        Some(rest) => format!("~/{}", quoted(rest)),
        None => quoted(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_change_are_quoted() {
        assert_eq!(quoted("module.m.a.b"), "module.m.a.b");
        assert_eq!(quoted("a.b[\"it's\"]"), r#"'a.b["it'\''s"]'"#);
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn home_directory_of_a_path_is_not_quoted() {
        assert_eq!(quoted_for_shell("~/a b"), "~/'a b'");
        assert_eq!(quoted_for_shell("/tmp/a$b"), "'/tmp/a$b'");
    }
}
