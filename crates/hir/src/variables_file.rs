//! Variables files (`.tfvars`): which values a text gives, and what is wrong with it.
//!
//! Start reading at [`read`]. The command line takes values from it, an editor only what is wrong.
//!
//! **Invariant:** no message quotes a value, nor what may be a part of one: it may be a secret.

use db::{ByteRange, Diagnostic, Location};
use syntax::{
    AstNode, TextRange,
    ast::{self, BodyItem, HasItems},
};
use values::{Mark, Str, Value};

use crate::{eval, item::Variable, lower};

/// What is wrong with a value, without its text.
const NOT_READABLE: &str = "This part of the variables file cannot be read. It is not quoted here, because it may be a secret. A value is a constant: a number, \
                            true, false, null, text in quotes, or a list or an object of those. In quotes, \"${\" and \"%{\" are written \"$${\" and \
                            \"%%{\", and a backslash or a quote with a backslash before it.";

/// What a variables file says.
#[derive(Clone, Default)]
pub struct VariablesFile {
    /// The values, in the order of the text.
    pub given: Vec<Given>,
    /// What is wrong with the file whatever variables there are.
    pub problems: Vec<Diagnostic>,
}

/// A value that a file gives to a variable. Without `Debug`: it may be a secret.
#[derive(Clone)]
pub struct Given {
    /// The name of the variable.
    pub name: Str,
    /// Where the name stands.
    pub name_range: ByteRange,
    /// The value.
    pub value: Value,
    /// Where the value stands.
    pub location: Location,
}

/// Reads the file shown as `path`.
pub fn read(path: &str, bytes: &[u8]) -> VariablesFile {
    let (text, encoding) = syntax::decode(bytes);
    let parse = syntax::parse_file(&text);
    let mut reading = Reading { path, file: VariablesFile::default() };
    for error in encoding.iter().chain(parse.errors()) {
        // The parser's words may quote the text.
        let detail = match &*error.summary {
            "Attribute redefined" => {
                "This name was given a value before in the same file. Keep one of the two."
            }
            _ => NOT_READABLE,
        };
        reading.problem("syntax-error", &error.summary, detail, error.range);
    }
    for item in parse.tree().body_items() {
        match item {
            BodyItem::Attribute(attribute) => reading.attribute(&attribute),
            BodyItem::Block(block) => reading.block(&block),
        }
    }
    reading.file
}

struct Reading<'a> {
    path: &'a str,
    file: VariablesFile,
}

impl Reading<'_> {
    fn location(&self, range: TextRange) -> Location {
        Location { path: self.path.into(), range: ByteRange::from(range) }
    }

    fn problem(&mut self, id: &'static str, summary: &str, detail: &str, range: TextRange) {
        let problem = Diagnostic::error(id, summary, detail).at(Some(self.location(range)));
        self.file.problems.push(problem);
    }

    fn attribute(&mut self, attribute: &ast::Attribute) {
        let (Some(name), Some(value)) = (attribute.name_token(), attribute.value()) else { return };
        let range = value.syntax().text_range();
        // A heredoc ends with the line of its mark, and the end of that line is not part of the expression.
        let (exprs, root, problems) =
            lower::lower_expression(&format!("{}\n", value.syntax().text()));
        // Errors of the syntax were reported already.
        if problems.iter().any(|it| it.id != lower::SYNTAX_ERROR) {
            // What it refers to may be a secret whose quotes were forgotten.
            let detail = "Variables may not be used here: a variables file holds constant values only. Text is written in quotes.";
            return self.problem(INVALID, "Variables not allowed", detail, range);
        }
        let constant = eval::constant(&exprs, root);
        match constant.diagnostics.into_iter().next() {
            Some(problem) => self.problem(INVALID, &problem.summary, NOT_READABLE, range),
            None => self.file.given.push(Given {
                name: Str::from(name.text()),
                name_range: ByteRange::from(name.text_range()),
                value: constant.value,
                location: self.location(range),
            }),
        }
    }

    fn block(&mut self, block: &ast::Block) {
        let detail = match block.block_type().as_deref() {
            Some("variable") => {
                "A .tfvars file is used to assign values to variables that have already been declared in .tf files, not to declare new \
                 variables. To declare a variable, place this block in one of your .tf files. To set its value, write NAME = VALUE."
            }
            _ => "Blocks are not allowed here: a variables file holds only \"name = value\" lines.",
        };
        let range = block.syntax().text_range();
        self.problem(INVALID, "Variable declaration in .tfvars file", detail, range);
    }
}

const INVALID: &str = "invalid-variables-file";

/// A file gives a value to a variable that the root module does not declare.
pub fn undeclared(name: &str, file: &str) -> Diagnostic {
    let detail = format!(
        "The root module does not declare a variable named \"{name}\" but a value was found in file \"{file}\". If you meant to use this \
         value, add a \"variable\" block to the configuration.\n\nTo silence these warnings, use TF_VAR_... environment variables to provide \
         certain \"global\" settings to all configurations in your organization."
    );
    Diagnostic::warning("undeclared-variable", "Value for undeclared variable", detail)
}

/// That the value which a file gives to a variable is not of its type.
pub fn not_suitable(variable: &Variable) -> String {
    let secret = if variable.ephemeral { ", which is ephemeral" } else { "" };
    format!("The given value is not suitable for var.{}{secret}", variable.name)
}

/// What is wrong with the value that a file gives to a variable that is declared: its type.
pub fn unsuitable(variable: &Variable, given: &Given) -> Option<Diagnostic> {
    // Marked before it is converted, so that no message of the conversion names a part of a secret.
    let mut value = given.value.clone();
    if variable.sensitive || variable.may_be_secret {
        value = value.with_mark(Mark::Sensitive);
    }
    if variable.ephemeral {
        value = value.with_mark(Mark::Ephemeral);
    }
    let error = eval::apply_type(&variable.ty, value).err()?;
    let detail = format!("{}: {}.", not_suitable(variable), error.message);
    let problem =
        Diagnostic::error("invalid-variable-value", "Invalid value for input variable", detail);
    Some(problem.at(Some(given.location.clone())))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// Shows what a file gives and what is wrong, with the texts that both are at.
    #[track_caller]
    fn check(text: &str, expect: Expect) {
        let file = read("x.tfvars", text.as_bytes());
        let at = |range: ByteRange| &text[range.start as usize..range.end as usize];
        let mut shown = String::new();
        for it in &file.given {
            shown += &format!("{} = {}\n", at(it.name_range), at(it.location.range));
        }
        for it in &file.problems {
            let place = it.location.as_ref().map(|place| at(place.range)).unwrap_or_default();
            shown += &format!("{} {}: {}\n", it.id, it.summary, place.trim());
            assert!(!it.detail.contains("hunter2"), "{}", it.detail);
        }
        expect.assert_eq(&shown);
    }

    #[test]
    fn values_are_constants() {
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
    fn what_is_no_value_is_a_mistake_and_is_not_quoted() {
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
            invalid-variables-file Variable declaration in .tfvars file: x {}
        "#]],
        );
    }
}
