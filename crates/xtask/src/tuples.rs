//! Tuples that need a name: an alias of a tuple type, and a parameter of a function that is one.

const ALIAS: &str = "an alias of a tuple type: make it a struct with named fields";
const PARAMETER: &str = "a parameter of a tuple type: make it a struct with named fields";

/// Returns the lines of a Rust file that break a rule.
pub(crate) fn breaches(text: &str) -> Vec<(usize, &'static str)> {
    let mut found = Vec::new();
    // True within the parameters of a function, if they span several lines.
    let mut is_in_parameters = false;
    for (index, line) in text.lines().enumerate() {
        let code = line.trim_start();
        if is_alias(code) {
            found.push((index + 1, ALIAS));
        }
        let parameters = match is_in_parameters {
            true => Some(code),
            false => declaration(code),
        };
        let Some(parameters) = parameters else { continue };
        if has_tuple(parameters) {
            found.push((index + 1, PARAMETER));
        }
        is_in_parameters = match is_in_parameters {
            true => !code.starts_with(')'),
            false => code.ends_with('('),
        };
    }
    found
}

/// Returns true for an alias of a tuple type. The items of an iterator over a map are pairs by its interface.
fn is_alias(code: &str) -> bool {
    if code.starts_with("type Item = ") {
        return false;
    }
    let code =
        code.strip_prefix("pub(crate) ").or(code.strip_prefix("pub(super) ")).unwrap_or(code);
    let code = code.strip_prefix("pub ").unwrap_or(code);
    let ty = code.strip_prefix("type ").and_then(|it| it.split_once(" = "));
    ty.is_some_and(|(_, ty)| ty.starts_with('(') && !ty.starts_with("()"))
}

/// The part of a line from the name of a declared function to the end of its parameters. `None` if the line declares
/// no function.
fn declaration(code: &str) -> Option<&str> {
    const QUALIFIERS: [&str; 6] =
        ["pub ", "pub(crate) ", "pub(super) ", "const ", "async ", "unsafe "];
    let mut code = code;
    while let Some(rest) = QUALIFIERS.iter().find_map(|it| code.strip_prefix(it)) {
        code = rest;
    }
    let code = code.strip_prefix("fn ")?;
    Some(code.split_once(") ->").map_or(code, |(parameters, _)| parameters))
}

fn has_tuple(parameters: &str) -> bool {
    [": (", ": &("].iter().any(|start| {
        parameters.match_indices(start).any(|(at, _)| is_tuple(&parameters[at + start.len()..]))
    })
}

/// Returns true if a type in parentheses has several parts. `ty` begins after the opening parenthesis.
fn is_tuple(ty: &str) -> bool {
    let mut depth = 0;
    for char in ty.chars() {
        match char {
            '(' | '<' | '[' => depth += 1,
            ')' if depth == 0 => return false,
            ')' | '>' | ']' => depth -= 1,
            ',' if depth == 0 => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alias_of_a_tuple_is_a_breach() {
        assert_eq!(breaches("pub(crate) type Edge = (Node, At);\n"), [(1, ALIAS)]);
        assert_eq!(breaches("type Client = ();\ntype Edges = Vec<Edge>;\n"), []);
    }

    #[test]
    fn tuple_parameter_is_a_breach() {
        let one_line = "    pub async fn f(&self, (a, b): (A, B), c: C) -> D {\n";
        assert_eq!(breaches(one_line), [(1, PARAMETER)]);
        let lines = "fn f(\n    a: A,\n    b: &(B, C),\n) -> D {\n    let b: (B, C) = b;\n";
        assert_eq!(breaches(lines), [(3, PARAMETER)]);
    }

    #[test]
    fn other_parameters_are_no_breach() {
        assert_eq!(
            breaches("fn f(a: &[(A, B)], b: (), c: &(dyn Fn(A, B) + Send)) -> (A, B) {\n"),
            []
        );
        assert_eq!(breaches("fn f() -> (A, B) {\n    g(|a: (A, B)| a)\n}\n"), []);
        assert_eq!(breaches("    let f = |(a, b): (A, B)| a;\n"), []);
    }
}
