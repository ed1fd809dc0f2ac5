//! Replaces paths below `path.temp` in texts: `DATA_DIR/tmp/PLAN/INSTANCE/…`.

/// Replaces the plan ID by `*` in each path below the temporary directory of any plan. If two results are equal,
/// the texts differ only in their plan IDs.
///
/// `prefix` is the start of such paths, up to the plan ID.
pub fn without_temporary_plans(prefix: &str, text: &str) -> String {
    replaced(prefix, text, |rest| {
        let id = id_len(rest);
        (id > 0).then(|| (format!("{prefix}*"), id))
    })
}

/// Replaces paths below the temporary directory of any plan by `${path.temp}`, as the configuration writes them.
pub fn with_temporary_symbols(prefix: &str, text: &str) -> String {
    replaced(prefix, text, |rest| {
        let id = id_len(rest);
        let instance = rest[id..].strip_prefix('/').map_or(0, |it| id_len(it) + 1);
        (id > 0).then(|| ("${path.temp}".to_owned(), id + instance))
    })
}

/// The length of a plan ID or of the hash of a module instance at the start of a text.
fn id_len(text: &str) -> usize {
    text.find(|it: char| !it.is_ascii_alphanumeric() && it != '-').unwrap_or(text.len())
}

/// Replaces the prefix and the text after it. `replace` gets the text after the prefix and returns the replacement
/// and the length that it covers, or `None` to leave the place as it is.
fn replaced(prefix: &str, text: &str, replace: impl Fn(&str) -> Option<(String, usize)>) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(prefix).filter(|_| !prefix.is_empty()) {
        let after = &rest[at + prefix.len()..];
        shown.push_str(&rest[..at]);
        match replace(after) {
            Some((new, len)) => {
                shown.push_str(&new);
                rest = &after[len..];
            }
            None => {
                shown.push_str(prefix);
                rest = after;
            }
        }
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFIX: &str = ".terraform/tmp/";

    #[test]
    fn texts_equal_except_for_the_temporary_directory_are_the_same() {
        for (one, other) in [
            (".terraform/tmp/1-a/h/x", ".terraform/tmp/2-b/h/x"),
            (
                "--out=/w/.terraform/tmp/1/h/x --in=.terraform/tmp/1/h/y",
                "--out=/w/.terraform/tmp/2/h/x --in=.terraform/tmp/2/h/y",
            ),
            ("{\"p\":\".terraform/tmp/1/h\"}", "{\"p\":\".terraform/tmp/2/h\"}"),
        ] {
            assert_eq!(
                without_temporary_plans(PREFIX, one),
                without_temporary_plans(PREFIX, other)
            );
        }
        for (one, other) in [
            (".terraform/tmp/1/h/x", ".terraform/tmp/2/h/y"),
            (".terraform/tmp/1/h/x", ".terraform/tmp/2/i/x"),
            (".terraform/tmp/1/h/x", "other/tmp/2/h/x"),
        ] {
            assert_ne!(
                without_temporary_plans(PREFIX, one),
                without_temporary_plans(PREFIX, other)
            );
        }
    }

    #[test]
    fn temporary_path_is_shown_as_path_temp() {
        for (text, shown) in [
            (".terraform/tmp/1-a/0f/x/y", "${path.temp}/x/y"),
            (".terraform/tmp/1-a/0f", "${path.temp}"),
            ("a .terraform/tmp/1/h/x b .terraform/tmp/1/h/y", "a ${path.temp}/x b ${path.temp}/y"),
            (".terraform/tmp/", ".terraform/tmp/"),
            ("no path", "no path"),
        ] {
            assert_eq!(with_temporary_symbols(PREFIX, text), shown);
        }
    }
}
