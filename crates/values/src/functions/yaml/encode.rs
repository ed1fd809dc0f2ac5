//! Encodes YAML, byte for byte as OpenTofu does, which follows libyaml: strings in double quotes, multi-line
//! strings as literal blocks, and lists in mappings without additional indentation.

use crate::{Kind, Value};

/// The column from which a text is broken at the next space.
const WIDTH: usize = 80;

/// The length limit for a key without a question mark.
const LONGEST_KEY: usize = 128;

const STEP: usize = 2;

/// Encodes a value that is wholly known and has no marks.
pub(super) fn encode(value: &Value) -> String {
    let mut writer = Writer::new();
    writer.node(value, Place::Root);
    let is_open = writer.is_open;
    writer.line(0);
    if is_open {
        writer.out.push_str("...\n");
    }
    writer.out
}

/// The context of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Item,
    /// After a key, or after the colon that follows a key with a question mark.
    Entry,
    Key,
    /// A key without a question mark.
    SimpleKey,
}

struct Writer {
    out: String,
    column: usize,
    indent: Option<usize>,
    /// True if the last character written is white space.
    is_spaced: bool,
    /// True if the line has only indentation and dashes so far.
    is_indented: bool,
    /// True if a reader could not know that the document ends here.
    is_open: bool,
}

impl Writer {
    fn new() -> Writer {
        let out = String::new();
        Writer { out, column: 0, indent: None, is_spaced: true, is_indented: true, is_open: false }
    }

    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }

    fn put_break(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    fn indicator(&mut self, text: &str, wants_space: bool, is_space: bool, is_indentation: bool) {
        if wants_space && !self.is_spaced {
            self.put(' ');
        }
        text.chars().for_each(|c| self.put(c));
        self.is_spaced = is_space;
        self.is_indented &= is_indentation;
        self.is_open = false;
    }

    /// Moves to a column, on a new line if necessary.
    fn line(&mut self, column: usize) {
        let is_past = self.column > column || self.column == column && !self.is_spaced;
        if !self.is_indented || is_past {
            self.put_break();
        }
        while self.column < column {
            self.put(' ');
        }
        self.is_spaced = true;
        self.is_indented = true;
    }

    fn indentation(&mut self) {
        self.line(self.indent.unwrap_or(0));
    }

    fn node(&mut self, value: &Value, place: Place) {
        match value.kind() {
            Kind::String(text) => self.text(text, place),
            Kind::Bool(it) => self.plain(if it { "true" } else { "false" }, place),
            Kind::Number(number) => self.plain(&number.to_string(), place),
            Kind::Null | Kind::Unknown(_) => self.plain("null", place),
            Kind::List(items) | Kind::Set(items) | Kind::Tuple(items) => self.items(items, place),
            Kind::Map(entries) | Kind::Object(entries) => {
                self.entries(entries.iter().map(|(key, value)| (&**key, value)));
            }
        }
    }

    fn plain(&mut self, text: &str, place: Place) {
        if !self.is_spaced {
            self.put(' ');
        }
        text.chars().for_each(|c| self.put(c));
        self.is_spaced = false;
        self.is_indented = false;
        self.is_open |= place == Place::Root;
    }

    fn items(&mut self, items: &[Value], place: Place) {
        if items.is_empty() {
            self.indicator("[", true, true, false);
            return self.indicator("]", false, false, false);
        }
        let outer = self.indent;
        let is_flat = place == Place::Entry && !self.is_indented;
        self.indent = Some(outer.map_or(0, |outer| if is_flat { outer } else { outer + STEP }));
        for item in items {
            self.indentation();
            self.indicator("-", true, false, true);
            self.node(item, Place::Item);
        }
        self.indent = outer;
    }

    fn entries<'v>(&mut self, entries: impl Iterator<Item = (&'v str, &'v Value)>) {
        let outer = self.indent;
        self.indent = Some(outer.map_or(0, |outer| outer + STEP));
        let mut is_empty = true;
        for (key, value) in entries {
            is_empty = false;
            self.indentation();
            if key.len() <= LONGEST_KEY && !key.contains(is_break) {
                self.text(key, Place::SimpleKey);
                self.indicator(":", false, false, false);
            } else {
                self.indicator("?", true, false, true);
                self.text(key, Place::Key);
                self.indentation();
                self.indicator(":", true, false, true);
            }
            self.node(value, Place::Entry);
        }
        self.indent = outer;
        if is_empty {
            self.indicator("{", true, true, false);
            self.indicator("}", false, false, false);
        }
    }

    fn text(&mut self, text: &str, place: Place) {
        let outer = self.indent;
        self.indent = Some(outer.map_or(STEP, |outer| outer + STEP));
        if text.contains('\n') && place != Place::SimpleKey && may_be_block(text) {
            self.block(text);
        } else {
            self.quoted(text, place != Place::SimpleKey);
        }
        self.indent = outer;
    }

    /// Writes a literal block. Its hints state whether it begins with white space and how it ends.
    fn block(&mut self, text: &str) {
        self.indicator("|", true, false, false);
        if text.starts_with(|c| c == ' ' || is_break(c)) {
            self.indicator("2", false, false, false);
        }
        let mut back = text.chars().rev();
        match (back.next().is_some_and(is_break), back.next().is_none_or(is_break)) {
            (false, _) => self.indicator("-", false, false, false),
            (true, true) => self.indicator("+", false, false, false),
            (true, false) => {}
        }
        self.put_break();
        self.is_indented = true;
        self.is_spaced = true;
        let mut is_at_start = true;
        for c in text.chars() {
            if c == '\n' {
                self.put_break();
            } else if is_break(c) {
                self.out.push(c);
                self.column = 0;
            } else {
                if is_at_start {
                    self.indentation();
                }
                self.put(c);
            }
            is_at_start = is_break(c);
            self.is_indented = is_at_start;
        }
    }

    fn quoted(&mut self, text: &str, may_break: bool) {
        self.indicator("\"", true, false, false);
        let mut was_space = false;
        // After a byte order mark, libyaml escapes all characters.
        let is_marked = text.starts_with('\u{feff}');
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            if is_marked {
                escape(c).chars().for_each(|c| self.put(c));
            } else if c == ' ' {
                let is_inside = at > 0 && at + 1 < text.len();
                if may_break && !was_space && self.column > WIDTH && is_inside {
                    self.indentation();
                    if chars.peek().is_some_and(|(_, next)| *next == ' ') {
                        self.put('\\');
                    }
                } else {
                    self.put(c);
                }
            } else if !is_printable(c) || is_break(c) || matches!(c, '"' | '\\') {
                escape(c).chars().for_each(|c| self.put(c));
            } else {
                self.put(c);
            }
            was_space = c == ' ';
        }
        self.indicator("\"", false, false, false);
        self.is_spaced = false;
        self.is_indented = false;
    }
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns true for characters that libyaml considers printable; none beyond the Basic Multilingual Plane is.
fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

/// Returns true if a literal block preserves the text: no space before a line break or at the end, and nothing to
/// escape.
fn may_be_block(text: &str) -> bool {
    let mut before = None;
    for c in text.chars() {
        if !is_printable(c) || is_break(c) && before == Some(' ') {
            return false;
        }
        before = Some(c);
    }
    before != Some(' ')
}

fn escape(c: char) -> String {
    let short = match c {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{a0}' => '_',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        c => {
            return match u32::from(c) {
                code @ 0..=0xff => format!("\\x{code:02X}"),
                code @ 0x100..=0xffff => format!("\\u{code:04X}"),
                code => format!("\\U{code:08X}"),
            };
        }
    };
    format!("\\{short}")
}
