//! Writes JSON strings as native templates, expressions or literal strings.

use db::Summary;
use syntax::{AstNode, NodeOrToken, SyntaxError, TextRange, TextSize, json::JsonString};

use crate::lower::{
    json::{problem::fault, shape::Mode, write::Writer},
    problem::Problem,
};

/// The native text for an expression with a syntax error.
const MISSING: &str = "()";

impl Writer {
    pub(super) fn string(&mut self, string: &JsonString, mode: Mode) {
        match mode {
            Mode::Raw => self.raw(string),
            Mode::Template if is_template(&string.text) => self.template(string),
            _ => self.whole(&quoted(&string.text), string.range),
        }
    }

    /// Writes a string that is an expression.
    fn raw(&mut self, string: &JsonString) {
        let parse = syntax::parse_expression(&string.text);
        match parse.errors() {
            [_, ..] if string.text.trim_start().starts_with("${") => {
                const DETAIL: &str = "Here the string is the expression itself, so it is written \
                                      without the sequence: \"a.b\" instead of \"${a.b}\".";
                self.problems.push(fault(string.range, Summary::JSON_EXPRESSION, DETAIL));
                self.unread.push(string.range);
                self.whole(MISSING, string.range);
            }
            [] => self.copied(string, TextRange::up_to(TextSize::of(&string.text)), true),
            errors => self.broken(string, errors),
        }
    }

    fn broken(&mut self, string: &JsonString, errors: &[SyntaxError]) {
        for error in errors {
            let problem = Problem::syntax(error);
            let range = string.place(problem.range);
            let related = problem.related.map(|it| string.place(it));
            self.problems.push(Problem { range, related, ..problem });
        }
        self.unread.push(string.range);
        self.whole(MISSING, string.range);
    }

    /// Writes a template: copies its interpolations and directives, and escapes the text between them.
    fn template(&mut self, string: &JsonString) {
        let parse = syntax::parse_template(&string.text);
        if !parse.errors().is_empty() {
            return self.broken(string, parse.errors());
        }
        let quote = |at: TextSize| TextRange::at(at, 1.into());
        self.whole("\"", quote(string.range.start()));
        for element in parse.tree().syntax().children_with_tokens() {
            match element {
                NodeOrToken::Node(node) => self.copied(string, node.text_range(), false),
                NodeOrToken::Token(token) => {
                    self.whole(&escaped(token.text()), string.place(token.text_range()));
                }
            }
        }
        self.whole("\"", quote(string.range.end() - TextSize::from(1)));
    }

    /// Copies a part of a string. If `is_one_line` is set, replaces line breaks by spaces, because they would end
    /// an argument.
    fn copied(&mut self, string: &JsonString, part: TextRange, is_one_line: bool) {
        let text = &string.text[part];
        let is_plain = string.place(part).len() == part.len();
        // Line breaks in strings, heredocs and comments are significant. Keep them if the text may have any of
        // these.
        let joined = match is_one_line && !text.contains(['"', '<', '#', '/']) {
            true => text.replace(['\n', '\r'], " "),
            false => text.to_owned(),
        };
        if is_plain {
            return self.exact(&joined, string.place(part).start());
        }
        let mut at = part.start();
        for letter in joined.chars() {
            let here = TextRange::at(at, TextSize::of(letter));
            self.whole(letter.encode_utf8(&mut [0; 4]), string.place(here));
            at = here.end();
        }
    }
}

/// Returns true if a string may contain interpolations or directives.
fn is_template(text: &str) -> bool {
    text.contains("${") || text.contains("%{")
}

/// Writes a quoted native string without interpolations and directives.
pub(super) fn quoted(text: &str) -> String {
    let text = escaped(text).replace("${", "\\u0024{").replace("%{", "\\u0025{");
    format!("\"{text}\"")
}

/// Escapes a text for a quoted string. Interpolations and directives stay active.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            it if it.is_control() => escaped.push_str(&format!("\\u{:04x}", u32::from(it))),
            it => escaped.push(it),
        }
    }
    escaped
}
