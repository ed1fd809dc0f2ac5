//! Environment variables in settings.

/// Expands `$NAME` and `${NAME}`. A variable that is not set is empty, as in Go's `os.ExpandEnv`.
pub(super) fn expand(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> String {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        expanded.push_str(before);
        let (name, behind) = match after.strip_prefix('{').and_then(|it| it.split_once('}')) {
            Some(parts) => parts,
            None => {
                let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
                after.split_at(after.find(|it| !is_name(it)).unwrap_or(after.len()))
            }
        };
        expanded.push_str(&variable(name).unwrap_or_default());
        rest = behind;
    }
    expanded.push_str(rest);
    expanded
}
