//! The borders of the engine's components: a struct has few fields, and no cell is shared.

/// The largest number of fields of a struct, contexts of runs above all.
const MAX_FIELDS: usize = 12;

/// Returns the lines of a file of the engine that break a rule.
pub(crate) fn breaches(text: &str) -> Vec<(usize, &'static str)> {
    let mut found = Vec::new();
    // The line of the struct that is being read, and the number of its fields so far.
    let mut open: Option<(usize, usize)> = None;
    for (index, line) in text.lines().enumerate() {
        if line.contains("struct ") && line.ends_with('{') && !line.starts_with(' ') {
            open = Some((index + 1, 0));
        } else if line == "}" {
            let large = open.take().filter(|(_, fields)| *fields > MAX_FIELDS);
            found.extend(large.map(|(line, _)| (line, "a struct of more than twelve fields")));
        } else if let Some((_, fields)) = &mut open
            && let Some(field) = line.strip_prefix("    ").filter(|it| is_field(it))
        {
            *fields += 1;
            if field.starts_with("pub") && field.contains(": RefCell<") {
                found.push((index + 1, "a cell that other modules can borrow"));
            }
        }
    }
    found
}

fn is_field(line: &str) -> bool {
    line.starts_with(|it: char| it.is_ascii_lowercase()) && line.contains(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_fields(count: usize) -> String {
        let fields: String = (0..count).map(|it| format!("    pub(crate) f{it}: u8,\n")).collect();
        format!("/// A context: large.\npub(crate) struct Run<'a> {{\n{fields}}}\n")
    }

    #[test]
    fn a_struct_has_twelve_fields_at_most() {
        assert_eq!(breaches(&with_fields(12)), []);
        assert_eq!(breaches(&with_fields(13)), [(2, "a struct of more than twelve fields")]);
    }

    #[test]
    fn a_cell_is_private() {
        let text = "struct A {\n    /// One: two.\n    a: RefCell<u8>,\n    pub(crate) b: RefCell<u8>,\n}\n";
        assert_eq!(breaches(text), [(4, "a cell that other modules can borrow")]);
        assert_eq!(breaches("fn f() {\n    pub(crate) b: RefCell<u8>,\n}\n"), []);
    }
}
