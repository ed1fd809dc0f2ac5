//! Generates random correct configurations: every form of the language, with blanks, newlines and comments at all
//! permitted positions.

mod templates;

use fastrand::Rng;

/// The forms to generate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Content {
    /// Only forms that `terraform fmt` keeps intact.
    Kept,
    /// Also forms that `terraform fmt` damages: indices that are `true` or `null`, and labels with a `$`.
    Lost,
}

/// Generates a file.
pub(crate) fn file(random: &mut Rng, content: Content) -> String {
    let newline = if random.u8(..8) == 0 { "\r\n" } else { "\n" };
    let mut text = Text {
        out: String::new(),
        random: random.fork(),
        content,
        newline,
        newlines: false,
        newline_is_due: false,
        depth: 0,
    };
    if text.one_in(20) {
        text.out.push('\u{feff}');
    }
    text.body(0);
    if text.one_in(6) {
        text.out.truncate(text.out.trim_end_matches(['\r', '\n', ' ', '\t']).len());
        // A heredoc needs the newline after its marker, and a lone carriage return is an error.
        if text.out.lines().last().is_some_and(|last| MARKERS.contains(&last.trim())) {
            text.out.push_str(newline);
        }
        text.one_of(&["", " ", "\t ", "  "]);
    }
    text.out
}

const NAMES: &[&str] = &[
    "a",
    "b",
    "name",
    "tags",
    "for_each",
    "in",
    "if",
    "a-b",
    "_x",
    "é",
    "e\u{301}",
    "变量",
    "type",
    "resource_name",
    "null_x",
    "T9",
];
const MARKERS: &[&str] = &["EOT", "E_1", "STOP-x"];
const LITERALS: &[&str] = &[
    "abc",
    " ",
    "  x",
    "é",
    "e\u{301}",
    "\u{301}",
    "\\n",
    "\\\"",
    "\\\\",
    "\\u00e9",
    "$",
    "%",
    "$ ",
    "%d",
    "$${",
    "%%{ if",
    "$$",
    "#",
    "//",
    "/*",
    "\t",
    "日本",
    "👨\u{200d}👩\u{200d}👧",
    "क्ष",
    "}",
    "[",
    "=",
    "<<E",
    "\u{a0}",
    "$\u{301}",
    "\u{200b}",
];
const LINES: &[&str] = &[
    "text",
    "  indented",
    "",
    " $ 5 % $${x}",
    "\tx = 1",
    "# no comment",
    "} ] )",
    "\"quoted\"",
    "é\u{301}$\u{301}",
    "EOT x",
];
const COMMENTS: &[&str] = &["", " c", " é日", "# x", " trailing  ", "\ta = 1", " \"${"];

struct Text {
    out: String,
    random: Rng,
    content: Content,
    newline: &'static str,
    /// True if newlines have no meaning at the position.
    newlines: bool,
    /// True after a heredoc, because its line must end next.
    newline_is_due: bool,
    depth: usize,
}

impl Text {
    fn one_in(&mut self, count: u32) -> bool {
        self.random.u32(..count) == 0
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.random.usize(..of.len())]
    }

    fn one_of(&mut self, of: &[&str]) {
        let text = self.pick(of);
        self.out.push_str(text);
    }

    fn line_end(&mut self) {
        self.out.push_str(self.newline);
        self.newline_is_due = false;
    }

    /// Writes blanks, comments or newlines between two tokens.
    fn trivia(&mut self) {
        if self.newline_is_due {
            self.line_end();
        }
        match self.random.u32(..100) {
            0..45 => {}
            45..70 => self.out.push(' '),
            70..80 => self.one_of(&["  ", "\t", " \t   "]),
            80..83 => self.block_comment(),
            83..93 if self.newlines => {
                self.line_end();
                self.one_of(&["", " ", "    ", "\t"]);
            }
            93..96 if self.newlines => self.line_comment(),
            96..98 if self.newlines => {
                self.line_end();
                self.line_end();
            }
            _ => {}
        }
    }

    fn block_comment(&mut self) {
        if self.out.ends_with('/') {
            self.out.push(' ');
        }
        let newline = self.newline;
        self.out.push_str("/*");
        self.one_of(COMMENTS);
        if self.one_in(6) {
            self.out.push_str(newline);
            self.one_of(&["  ", "", "é"]);
        }
        self.out.push_str("*/");
    }

    fn line_comment(&mut self) {
        if self.out.ends_with('/') {
            self.out.push(' ');
        }
        self.one_of(&["#", "//", " #", " // "]);
        self.one_of(COMMENTS);
        self.line_end();
    }

    /// Writes one token, separated from the last one if the two would join.
    fn token(&mut self, text: &str) {
        self.trivia();
        let (last, next) = (self.out.chars().last(), text.chars().next());
        if let (Some(last), Some(next)) = (last, next)
            && would_join(last, next)
        {
            self.out.push(' ');
        }
        self.out.push_str(text);
    }

    fn name(&mut self) {
        let name = self.pick(NAMES);
        self.token(name);
    }

    /// Runs `write` with the given value of `newlines`.
    fn with_newlines(&mut self, newlines: bool, write: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.newlines, newlines);
        write(self);
        if newlines {
            self.trivia();
        }
        self.newlines = outer;
    }

    // --- bodies ---

    fn body(&mut self, level: u32) {
        for index in 0..self.random.u32(..7) {
            self.one_of(&["", "", "  ", "\t", "      "]);
            match self.random.u32(..12) {
                0 => self.line_end(),
                1 => self.line_comment(),
                2 => {
                    self.block_comment();
                    self.line_end();
                }
                3..6 if level < 3 => self.block(level),
                _ => {
                    self.attribute(index);
                    self.item_end();
                }
            }
        }
    }

    fn item_end(&mut self) {
        if self.newline_is_due {
            return self.line_end();
        }
        match self.random.u32(..10) {
            0..6 => {
                self.one_of(&["", "", " ", "  "]);
                self.line_end();
            }
            6 => {
                self.block_comment();
                self.line_end();
            }
            _ => self.line_comment(),
        }
    }

    fn attribute(&mut self, index: u32) {
        let name = self.pick(NAMES);
        self.out.push_str(&format!("{name}{index}"));
        self.token("=");
        self.value();
    }

    /// Writes the value of an attribute that has lines of its own.
    fn value(&mut self) {
        match self.random.u32(..12) {
            0 => self.heredoc(),
            1..4 => self.wrapped(),
            _ => self.expr(),
        }
    }

    /// Writes a single interpolation in quotes.
    fn wrapped(&mut self) {
        self.token("\"");
        self.interpolation();
        self.out.push('"');
    }

    fn block(&mut self, level: u32) {
        let is_variable = level == 0 && self.one_in(4);
        let name = if is_variable { "variable" } else { self.pick(NAMES) };
        self.out.push_str(name);
        for _ in 0..self.random.u32(..3) {
            self.label();
        }
        self.token("{");
        match self.random.u32(..6) {
            0 => {}
            1 => {
                self.trivia();
                self.out.push(' ');
                let name = self.pick(NAMES);
                self.out.push_str(name);
                self.token("=");
                if self.one_in(3) { self.wrapped() } else { self.expr() }
            }
            _ => {
                self.item_end();
                if is_variable {
                    self.variable_type();
                }
                self.body(level + 1);
            }
        }
        self.token("}");
        self.item_end();
    }

    fn variable_type(&mut self) {
        self.out.push_str("type");
        self.token("=");
        let ty = self.pick(&[
            "list",
            "map",
            "set",
            "string",
            "\"string\"",
            "\"list\"",
            "\"map\"",
            "\"set\"",
            "\"number\"",
            "\"${string}\"",
            "(list)",
            "object({a=string})",
        ]);
        self.token(ty);
        self.item_end();
    }

    fn label(&mut self) {
        if self.one_in(3) {
            return self.name();
        }
        self.token("\"");
        for _ in 0..self.random.u32(..3) {
            let literal = self.pick(LITERALS);
            if self.content == Content::Lost || !literal.contains(['$', '%']) {
                self.out.push_str(literal);
            }
        }
        self.close_quote();
    }

    /// Writes a closing quote. Any literal may precede it: a final `$` or `%` only opens a sequence if a brace
    /// follows.
    fn close_quote(&mut self) {
        self.out.push('"');
    }

    // --- expressions ---

    fn expr(&mut self) {
        self.depth += 1;
        let most = if self.depth > 5 { 5 } else { 24 };
        match self.random.u32(..most) {
            0 | 1 => self.name(),
            2 => {
                let number = self.pick(&["0", "1", "1.5", "1e5", "007", "2.5E-3"]);
                self.token(number);
            }
            3 => self.quoted(false),
            4 => {
                let word = self.pick(&["true", "false", "null"]);
                self.token(word);
            }
            5..9 => self.traversal(),
            9 => self.tuple(),
            10 | 11 => self.object(),
            12 | 13 => self.for_expr(),
            14 | 15 => self.call(),
            16 => self.parens(),
            17 => self.unary(),
            18 | 19 => self.binary(),
            20 => self.conditional(),
            21 if self.newlines => self.heredoc(),
            _ => self.quoted(true),
        }
        self.depth -= 1;
    }

    fn parens(&mut self) {
        self.token("(");
        self.with_newlines(true, Self::expr);
        self.token(")");
    }

    fn unary(&mut self) {
        let sign = self.pick(&["-", "!"]);
        self.token(sign);
        match self.random.u32(..4) {
            0 => self.parens(),
            1 => self.unary(),
            _ => self.name(),
        }
    }

    fn operand(&mut self) {
        match self.random.u32(..5) {
            0 => self.parens(),
            1 => self.unary(),
            2 => self.traversal(),
            3 => self.token("1"),
            _ => self.name(),
        }
    }

    fn binary(&mut self) {
        self.operand();
        for _ in 0..=self.random.u32(..2) {
            let sign =
                self.pick(&["+", "-", "*", "/", "%", "==", "!=", "<", ">", "<=", ">=", "&&", "||"]);
            self.token(sign);
            self.operand();
        }
    }

    fn conditional(&mut self) {
        self.operand();
        self.token("?");
        self.expr();
        self.token(":");
        self.expr();
    }

    fn traversal(&mut self) {
        match self.random.u32(..8) {
            0 => self.parens(),
            1 => self.call(),
            2 => self.tuple(),
            3 => self.quoted(false),
            _ => self.name(),
        }
        let mut splats = 0;
        for _ in 0..self.random.u32(1..4) {
            // A second `.*` is an error.
            let kind = self.random.u32(..9);
            splats += u32::from(kind == 6);
            self.step(if splats > 1 { 0 } else { kind });
        }
    }

    fn step(&mut self, kind: u32) {
        match kind {
            0..4 => {
                self.token(".");
                self.name();
            }
            4 => {
                self.token(".");
                self.token("0");
                self.token(".");
                self.name();
            }
            5 => {
                self.token("[");
                self.token("*");
                self.token("]");
            }
            6 => {
                self.token(".");
                self.token("*");
                self.token(".");
                self.name();
            }
            _ => {
                self.token("[");
                self.with_newlines(true, Self::index);
                self.token("]");
            }
        }
    }

    fn index(&mut self) {
        match self.random.u32(..5) {
            0 if self.content == Content::Lost => {
                let word = self.pick(&["true", "false", "null"]);
                self.token(word);
            }
            0 | 1 => self.token("0"),
            2 => self.quoted(false),
            3 => self.unary(),
            _ => self.traversal(),
        }
    }

    fn call(&mut self) {
        self.name();
        while self.one_in(6) {
            self.token("::");
            self.name();
        }
        self.token("(");
        self.with_newlines(true, |it| {
            let count = it.random.u32(..3);
            for index in 0..count {
                it.expr();
                if index + 1 < count {
                    it.token(",");
                } else {
                    let end = it.pick(&["", "", ",", "..."]);
                    it.token(end);
                }
            }
        });
        self.token(")");
    }

    fn tuple(&mut self) {
        self.token("[");
        self.with_newlines(true, |it| {
            let count = it.random.u32(..4);
            for index in 0..count {
                it.expr();
                if index + 1 < count || it.one_in(4) {
                    it.token(",");
                }
            }
        });
        self.token("]");
    }

    fn object(&mut self) {
        self.token("{");
        self.with_object_newlines(|it| {
            let count = it.random.u32(..4);
            it.object_newlines();
            for index in 0..count {
                it.object_item();
                it.object_end(index + 1 == count);
            }
        });
        self.token("}");
    }

    fn with_object_newlines(&mut self, write: impl FnOnce(&mut Self)) {
        self.with_newlines(false, write);
    }

    fn object_item(&mut self) {
        match self.random.u32(..6) {
            0 => self.parens(),
            1 => self.quoted(true),
            2 => self.token("1"),
            _ => self.name(),
        }
        let sign = self.pick(&["=", ":"]);
        self.token(sign);
        match self.random.u32(..8) {
            0 => self.heredoc(),
            1 => self.wrapped(),
            _ => self.expr(),
        }
    }

    fn object_end(&mut self, is_last: bool) {
        if self.newline_is_due {
            self.line_end();
        } else if self.one_in(2) {
            self.token(",");
        } else if is_last {
            return;
        } else if self.one_in(3) {
            self.line_comment();
        } else {
            self.line_end();
        }
        self.object_newlines();
    }

    fn object_newlines(&mut self) {
        match self.random.u32(..6) {
            0 | 1 => self.line_end(),
            2 => {
                self.line_end();
                self.one_of(&["", "  "]);
                self.line_comment();
            }
            3 => self.line_comment(),
            _ => {}
        }
    }

    fn for_expr(&mut self) {
        let (open, close) = if self.one_in(2) { ("[", "]") } else { ("{", "}") };
        self.token(open);
        self.with_newlines(true, |it| {
            it.token("for");
            it.out.push(' ');
            it.token("x");
            if it.one_in(3) {
                it.token(",");
                it.token("y");
            }
            it.out.push(' ');
            it.token("in");
            it.expr();
            it.token(":");
            it.expr();
            if open == "{" {
                it.token("=>");
                it.expr();
                if it.one_in(4) {
                    it.token("...");
                }
            }
            if it.one_in(3) {
                it.token("if");
                it.expr();
            }
        });
        self.token(close);
    }
}

/// Returns true if two tokens need a blank between them.
fn would_join(last: char, next: char) -> bool {
    let is_word = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-') || !it.is_ascii();
    let is_sign = |it: char| "/*<>=!&|:.".contains(it);
    is_word(last) && is_word(next)
        || is_sign(last) && is_sign(next)
        || last.is_ascii_digit() && next == '.'
}
