//! Reads variables files (`.tfvars`, `.tfvars.json`): the values and the problems of a file.
//!
//! Start reading at [`read`]. The command line uses the values; an editor uses only the problems.
//!
//! **Invariant:** no message quotes a value or a possible part of one, because it may be a secret.

pub(crate) mod json;

use db::{ByteRange, Diagnostic, Location, Summary};
use syntax::{
    AstNode, SyntaxError, TextRange,
    ast::{self, BodyItem, HasItems},
};
use values::{Mark, Str, Value};

use crate::{eval, item::Variable, lower};

/// The detail of an unreadable value. It does not quote the file.
const NOT_READABLE: &str = "This part of the variables file cannot be read. It is not quoted here, \
                            because it may be a secret. A value is a constant: a number, true, \
                            false, null, text in quotes, or a list or an object of those. In \
                            quotes, \"${\" and \"%{\" are written \"$${\" and \"%%{\", and a \
                            backslash or a quote with a backslash before it.";

/// The content of a variables file.
#[derive(Clone, Default)]
pub struct VariablesFile {
    /// The values in the order of the text.
    pub assignments: Vec<Assignment>,
    /// The problems that do not depend on the declared variables.
    pub problems: Vec<Diagnostic>,
}

/// A value that a file gives to a variable. There is no `Debug`, because the value may be a secret.
#[derive(Clone)]
pub struct Assignment {
    /// The name of the variable.
    pub name: Str,
    /// The range of the name.
    pub name_range: ByteRange,
    /// The value.
    pub value: Value,
    /// The location of the value.
    pub location: Location,
}

/// Reads a variables file. `path` is the path shown in diagnostics.
pub fn read(path: &str, bytes: &[u8]) -> VariablesFile {
    let (text, encoding) = syntax::decode(bytes);
    let mut reading = Reading { path, file: VariablesFile::default() };
    encoding.iter().for_each(|error| reading.syntax_error(error));
    match is_json(path, &text) {
        true => reading.json(&text),
        false => reading.native(&text),
    }
    reading.file
}

/// Returns true if a file uses the JSON syntax. The name decides; with another extension, the first character
/// does, because text in the native syntax cannot start with a brace.
pub fn is_json(path: &str, text: &str) -> bool {
    path.ends_with(".json") || !path.ends_with(".tfvars") && text.trim_start().starts_with('{')
}

struct Reading<'a> {
    path: &'a str,
    file: VariablesFile,
}

impl Reading<'_> {
    fn location(&self, range: TextRange) -> Location {
        Location { path: self.path.into(), range: ByteRange::from(range) }
    }

    fn native(&mut self, text: &str) {
        let parse = syntax::parse_file(text);
        parse.errors().iter().for_each(|error| self.syntax_error(error));
        let is_broken = |block: &ast::Block| {
            let range = block.syntax().text_range();
            parse.errors().iter().any(|it| it.range.intersect(range).is_some())
        };
        let mut has_blocks = false;
        for item in parse.tree().body_items() {
            match item {
                BodyItem::Attribute(attribute) => self.attribute(&attribute),
                // One diagnostic is enough to explain that blocks are not allowed.
                BodyItem::Block(block) if has_blocks || is_broken(&block) => {}
                BodyItem::Block(block) => {
                    self.block(&block);
                    has_blocks = true;
                }
            }
        }
    }

    fn syntax_error(&mut self, error: &SyntaxError) {
        // The parser's messages may quote the text, so only the summary is used.
        let detail = match &*error.summary {
            "Attribute redefined" => {
                "This name was given a value before in the same file. Keep one of the two."
            }
            _ => NOT_READABLE,
        };
        self.problem(Summary::syntax_error(&error.summary), detail, error.range);
    }

    fn problem(&mut self, summary: Summary, detail: &str, range: TextRange) {
        let problem = Diagnostic::new(summary, detail).at(Some(self.location(range)));
        self.file.problems.push(problem);
    }

    fn attribute(&mut self, attribute: &ast::Attribute) {
        let (Some(name), Some(value)) = (attribute.name_token(), attribute.value()) else { return };
        let range = value.syntax().text_range();
        // A heredoc needs the newline after its end marker, which is not part of the expression.
        let lower::StandaloneExpression { exprs, root, problems, .. } =
            lower::lower_expression(&format!("{}\n", value.syntax().text()));
        // Syntax errors are already reported.
        if problems.iter().any(|it| it.id() != lower::SYNTAX_ERROR) {
            // The unresolved name may be a secret whose quotes were forgotten, so the detail omits it.
            let detail = "Variables may not be used here: a variables file holds constant values \
                          only. Text is written in quotes.";
            return self.problem(Summary::VARIABLES_IN_VARIABLES_FILE, detail, range);
        }
        let constant = eval::constant(&exprs, root);
        match constant.diagnostics.into_iter().next() {
            Some(problem) => {
                let summary = Summary::variables_file_fault(problem.summary);
                self.problem(summary, NOT_READABLE, range);
            }
            None => self.file.assignments.push(Assignment {
                name: Str::from(name.text()),
                name_range: ByteRange::from(name.text_range()),
                value: constant.value,
                location: self.location(range),
            }),
        }
    }

    fn block(&mut self, block: &ast::Block) {
        let (summary, detail) = match block.block_type().as_deref() {
            Some("variable") => (
                Summary::DECLARATION_IN_VARIABLES_FILE,
                "A .tfvars file is used to assign values to variables that have already been \
                 declared in .tf files, not to declare new variables. To declare a variable, place \
                 this block in one of your .tf files. To set its value, write NAME = VALUE.",
            ),
            Some(name) if KNOWN_BLOCKS.contains(&name) => {
                (Summary::unexpected_file_block(name), NO_BLOCKS)
            }
            // A name that is not a known block type may be a misplaced value, so the summary omits it.
            _ => (Summary::UNEXPECTED_FILE_BLOCK, NO_BLOCKS),
        };
        let range = block.syntax().text_range();
        self.problem(summary, detail, range);
    }
}

/// The detail for a block other than `variable`.
const NO_BLOCKS: &str =
    "Blocks are not allowed here: a variables file holds only \"name = value\" lines.";

/// The block types of configurations. Naming one of them in a message reveals nothing.
const KNOWN_BLOCKS: &[&str] = &[
    "terraform",
    "provider",
    "locals",
    "output",
    "module",
    "resource",
    "data",
    "ephemeral",
    "moved",
    "removed",
    "import",
    "check",
    "language",
];

/// The warning for a value of a variable that the root module does not declare.
pub fn undeclared(name: &str, file: &str) -> Diagnostic {
    let detail = format!(
        "The root module does not declare a variable named \"{name}\" but a value was found in \
         file \"{file}\". If you meant to use this value, add a \"variable\" block to the \
         configuration.\n\nTo silence these warnings, use TF_VAR_... environment variables to \
         provide certain \"global\" settings to all configurations in your organization."
    );
    Diagnostic::new(Summary::UNDECLARED_VARIABLE_IN_FILE, detail)
}

/// The start of the message for a value that does not have the variable's type.
pub fn not_suitable(variable: &Variable) -> String {
    let secret = match (variable.ephemeral, variable.sensitive) {
        (true, _) => ", which is ephemeral",
        (false, true) => ", which is sensitive",
        (false, false) => "",
    };
    format!("The given value is not suitable for var.{}{secret}", variable.name)
}

/// Checks a value against the type of the declared variable. `None` if the value is suitable.
pub fn unsuitable(variable: &Variable, assignment: &Assignment) -> Option<Diagnostic> {
    // Mark the value before the conversion, so that no message of the conversion quotes a part of a secret.
    let mut value = assignment.value.clone();
    if variable.sensitive || variable.may_be_secret {
        value = value.with_mark(Mark::Sensitive);
    }
    if variable.ephemeral {
        value = value.with_mark(Mark::Ephemeral);
    }
    let error = eval::apply_type(&variable.ty, value).err()?;
    let detail = format!("{}: {}.", not_suitable(variable), error.message);
    let problem = Diagnostic::new(Summary::INVALID_VARIABLE_VALUE, detail);
    Some(problem.at(Some(assignment.location.clone())))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// Formats the values and the problems of a file, with the text at each location, and compares with `expect`.
    #[track_caller]
    fn check(text: &str, expect: Expect) {
        let file = read("x.tfvars", text.as_bytes());
        let at = |range: ByteRange| &text[range.start as usize..range.end as usize];
        let mut shown = String::new();
        for it in &file.assignments {
            shown += &format!("{} = {}\n", at(it.name_range), at(it.location.range));
        }
        for it in &file.problems {
            let place = it.location.as_ref().map(|place| at(place.range)).unwrap_or_default();
            shown += &format!("{} {}: {}\n", it.id(), it.summary, place.trim());
            assert!(!it.detail.contains("hunter2"), "{}", it.detail);
        }
        expect.assert_eq(&shown);
    }

    #[test]
    fn variables_file_allows_only_constants() {
        check(
            "a = 1\nb = { c = [\"x\", null] }\nd = <<E\nx\nE\n",
            expect![[r#"
            a = 1
            b = { c = ["x", null] }
            d = <<E
            x
            E
        "#]],
        );
        check(
            "a = var.hunter2\nb = upper(\"x\")\nc = hunter2\n",
            expect![[r#"
            invalid-variables-file Variables not allowed: var.hunter2
            invalid-variables-file Function calls not allowed: upper("x")
            invalid-variables-file Variables not allowed: hunter2
        "#]],
        );
    }

    #[test]
    fn errors_of_variables_files_quote_no_text() {
        check(
            "a = \"hunter2\nb = 2\n",
            expect![[r#"
            a = "hunter2
            b = 2
            syntax-error Invalid multi-line string: 
        "#]],
        );
        check(
            "a = 1\na = 2\n",
            expect![[r#"
            a = 1
            a = 2
            syntax-error Attribute redefined: a
        "#]],
        );
        check(
            "variable \"a\" {\n  default = \"hunter2\"\n}\nx {}\n",
            expect![[r#"
            invalid-variables-file Variable declaration in .tfvars file: variable "a" {
              default = "hunter2"
            }
        "#]],
        );
        check("hunter2 {}\n", expect!["invalid-variables-file Unexpected block: hunter2 {}\n"]);
        check("data {}\n", expect!["invalid-variables-file Unexpected \"data\" block: data {}\n"]);
    }

    #[test]
    fn strings_of_json_variables_files_are_no_templates() {
        let text = r#"{"//": 1, "a": "${x} %{y", "b\u0031": {"//": [null, 1e400, true]}}"#;
        let file = read("x.tfvars.json", text.as_bytes());
        assert!(file.problems.is_empty());
        let at = |range: ByteRange| &text[range.start as usize..range.end as usize];
        let shown: Vec<_> = file
            .assignments
            .iter()
            .map(|it| (&*it.name, at(it.name_range), at(it.location.range)))
            .collect();
        let whole = r#"{"//": [null, 1e400, true]}"#;
        assert_eq!(shown, [("a", "a", r#""${x} %{y""#), ("b1", r"b\u0031", whole)]);
        assert_eq!(file.assignments[0].value.as_str(), Some("${x} %{y"));
        let inner = file.assignments[1].value.get_attr("//").expect("is no comment here");
        assert_eq!(inner.as_slice().map(<[Value]>::len), Some(3));
    }

    #[test]
    fn errors_of_json_variables_files_have_places() {
        for (text, summary, place) in [
            (r#"{"a": 1, "a": 2}"#, "Duplicate attribute definition", r#""a""#),
            (r#"{"a": [{"b": 1, "b": 2}]}"#, "Duplicate object attribute", r#""b""#),
            (r#""hunter2""#, "Root value must be object", r#""hunter2""#),
            (r#"[{"a": 1}]"#, "Incorrect JSON value type", r#"[{"a": 1}]"#),
            (r#"{"a": hunter2}"#, "Invalid JSON keyword", "hunter2"),
            (r#"{"a": 1"#, "Unclosed object", "{"),
            ("", "Missing value", ""),
        ] {
            let file = read("x.json", text.as_bytes());
            let [problem] = &file.problems[..] else { panic!("{text}: one problem") };
            let range = problem.location.as_ref().expect("has a place").range;
            let range = range.start as usize..range.end as usize;
            assert_eq!((&*problem.summary, &text[range]), (summary, place), "{text}");
            assert!(!problem.detail.contains("hunter2"), "{}", problem.detail);
        }
    }

    #[test]
    fn first_character_decides_the_syntax_of_an_unnamed_variables_file() {
        assert!(is_json("x.vars", " {}") && is_json("x.json", "a = 1"));
        assert!(!is_json("x.tfvars", "{}") && !is_json("x", "a = {}"));
    }
}
