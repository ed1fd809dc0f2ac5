//! Colour, width and wrapping. Only this module knows ANSI sequences.

/// The parameters of the ANSI sequence of a [`Paint`], as a literal.
macro_rules! code {
    (Bold) => {
        "1"
    };
    (BoldRed) => {
        "1;31"
    };
    (BoldGreen) => {
        "1;32"
    };
    (BoldYellow) => {
        "1;33"
    };
    (Red) => {
        "31"
    };
    (Green) => {
        "32"
    };
    (Yellow) => {
        "33"
    };
    (Cyan) => {
        "36"
    };
    (Dim) => {
        "90"
    };
    (Underline) => {
        "4"
    };
}
pub(crate) use code;

/// A literal with an attribute, as [`Style::paint`] gives it in colour.
macro_rules! in_color {
    ($text:literal) => {
        $text
    };
    ($text:literal in $paint:ident) => {
        concat!("\x1b[", code!($paint), "m", $text, "\x1b[0m")
    };
}
pub(crate) use in_color;

/// A constant text for a style, from literals of which some have an attribute: each line of a plan has such a symbol.
macro_rules! constant {
    ($style:expr, $($text:literal $(in $paint:ident)?),+) => {
        match $style.color {
            true => concat!($(in_color!($text $(in $paint)?)),+),
            false => concat!($($text),+),
        }
    };
}
pub(crate) use constant;

/// The properties of the destination of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// True if ANSI sequences may be used.
    pub color: bool,
    /// The columns to which prose is wrapped. `None` if nothing is wrapped.
    pub width: Option<usize>,
    /// True if diagnostics get a rule at their left.
    pub box_drawing: bool,
    /// True if the first line of a diagnostic ends with its code, which `explain` accepts. Only on a terminal:
    /// scripts match the lines that OpenTofu prints.
    pub names_rules: bool,
}

/// A text attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    Bold,
    BoldRed,
    BoldGreen,
    BoldYellow,
    Red,
    Green,
    Yellow,
    Cyan,
    /// Dark grey, for text of less interest.
    Dim,
    Underline,
}

impl Paint {
    const ALL: [Paint; 10] = [
        Paint::Bold,
        Paint::BoldRed,
        Paint::BoldGreen,
        Paint::BoldYellow,
        Paint::Red,
        Paint::Green,
        Paint::Yellow,
        Paint::Cyan,
        Paint::Dim,
        Paint::Underline,
    ];

    /// The parameters of the ANSI sequence.
    fn code(self) -> &'static str {
        match self {
            Paint::Bold => code!(Bold),
            Paint::BoldRed => code!(BoldRed),
            Paint::BoldGreen => code!(BoldGreen),
            Paint::BoldYellow => code!(BoldYellow),
            Paint::Red => code!(Red),
            Paint::Green => code!(Green),
            Paint::Yellow => code!(Yellow),
            Paint::Cyan => code!(Cyan),
            Paint::Dim => code!(Dim),
            Paint::Underline => code!(Underline),
        }
    }
}

/// The ANSI sequence that ends every attribute.
const RESET: &str = "\x1b[0m";

/// A part of a text with one attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Painted<'t> {
    /// The attribute; `None` for plain text.
    pub(crate) paint: Option<Paint>,
    /// The text, without ANSI sequences of [`Style::paint`].
    pub(crate) text: &'t str,
}

/// Splits the text of a coloured style into its parts, for a destination that is no terminal. The texts from outside
/// have no escape character ([`visible`]), so each one begins a sequence of this module; any other stays in the text.
pub(crate) fn painted(text: &str) -> Vec<Painted<'_>> {
    let mut parts = Vec::new();
    let mut paint = None;
    for (index, piece) in text.split("\x1b[").enumerate() {
        let mut rest = piece;
        if index > 0
            && let Some((code, after)) = piece.split_once('m')
        {
            let known = Paint::ALL.into_iter().find(|it| it.code() == code);
            if known.is_some() || code == "0" {
                (paint, rest) = (known, after);
            }
        }
        if !rest.is_empty() {
            parts.push(Painted { paint, text: rest });
        }
    }
    parts
}

/// The length of a rule if the width is unknown.
const RULE_WIDTH: usize = 78;

impl Style {
    /// A style without colour, wrapping and rules.
    pub const PLAIN: Style =
        Style { color: false, width: None, box_drawing: false, names_rules: false };

    pub(crate) fn paint(&self, paint: Paint, text: &str) -> String {
        if !self.color {
            return text.to_owned();
        }
        let mut painted = String::new();
        self.push(&mut painted, paint, &[text]);
        painted
    }

    /// Appends a text in several parts, as [`paint`](Style::paint) gives it.
    pub(crate) fn push(&self, out: &mut String, paint: Paint, parts: &[&str]) {
        let is_painted = self.color && parts.iter().any(|it| !it.is_empty());
        let (begin, end) =
            if is_painted { (["\x1b[", paint.code(), "m"], RESET) } else { ([""; 3], "") };
        begin.iter().chain(parts).chain([&end]).for_each(|it| out.push_str(it));
    }

    /// Wraps prose at spaces and leaves `margin` columns free. Lines that begin with a space stay unchanged.
    pub(crate) fn wrap(&self, text: &str, margin: usize) -> String {
        let Some(width) = self.width else { return text.to_owned() };
        let width = width.saturating_sub(margin).max(1);
        let lines = text.split('\n').map(|line| {
            if line.starts_with(' ') { line.to_owned() } else { wrap_line(line, width) }
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The rule between parts of a plan.
    pub(crate) fn rule(&self) -> String {
        "─".repeat(self.width.unwrap_or(RULE_WIDTH).saturating_sub(1))
    }
}

/// Breaks a line before every word that would exceed the width. A longer word is alone on its line. Runs of spaces
/// stay, except at a break.
fn wrap_line(line: &str, width: usize) -> String {
    let mut wrapped = String::with_capacity(line.len() + line.len() / width);
    let mut column = 0;
    let mut rest = line;
    while !rest.is_empty() {
        let gap = rest.len() - rest.trim_start_matches(' ').len();
        let word = rest[gap..].find(' ').map_or(rest.len(), |end| gap + end);
        let columns = rest[gap..word].chars().count();
        if column > 0 && column + gap + columns > width {
            wrapped.push('\n');
            column = 0;
        } else {
            wrapped.push_str(&rest[..gap]);
            column += gap;
        }
        wrapped.push_str(&rest[gap..word]);
        column += columns;
        rest = &rest[word..];
    }
    wrapped
}

/// Text whose control characters are escaped, except tab and newline, so that it cannot move the cursor or forge
/// output. Also escapes characters that change the direction of writing.
pub fn visible(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.chars().any(is_hostile) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for it in text.chars() {
        if it == '\r' {
            shown.push_str("\\r");
        } else if is_hostile(it) {
            shown.push_str(&format!("\\u{:04x}", u32::from(it)));
        } else {
            shown.push(it);
        }
    }
    shown.into()
}

/// Like [`visible`], for text that must stay on one line.
pub(crate) fn visible_line(text: &str) -> String {
    visible(text).replace('\n', "\\n").replace('\t', "\\t")
}

fn is_hostile(it: char) -> bool {
    it.is_control() && it != '\n' && it != '\t'
        || matches!(it, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(width: usize, text: &str, expected: &str) {
        let style = Style { width: Some(width), ..Style::PLAIN };
        assert_eq!(style.wrap(text, 0), expected);
    }

    #[test]
    fn prose_wraps_at_word_boundaries() {
        check(10, "one two three", "one two\nthree");
        check(7, "one two three", "one two\nthree");
        check(3, "a longest b", "a\nlongest\nb");
        check(10, "one\n\n  kept as it is\ntwo  gaps", "one\n\n  kept as it is\ntwo  gaps");
        check(5, "äöü äöü", "äöü\näöü");
        assert_eq!(Style::PLAIN.wrap("one two three", 0), "one two three");
    }

    #[test]
    fn painted_text_is_split_into_its_parts() {
        let style = Style { color: true, ..Style::PLAIN };
        let text =
            format!("a{}b{}", style.paint(Paint::Red, "r"), style.paint(Paint::BoldRed, "m"));
        let part = |paint, text| Painted { paint, text };
        assert_eq!(
            painted(&text),
            [
                part(None, "a"),
                part(Some(Paint::Red), "r"),
                part(None, "b"),
                part(Some(Paint::BoldRed), "m"),
            ]
        );
        assert_eq!(painted("\u{1b}[9mx"), [part(None, "9mx")]);
        assert_eq!(painted(""), []);
    }

    #[test]
    fn constant_texts_are_painted_as_others() {
        let style = Style { color: true, ..Style::PLAIN };
        assert_eq!(
            constant!(style, "a ", "-" in Red, "+" in Green),
            ["a ", &style.paint(Paint::Red, "-"), &style.paint(Paint::Green, "+")].concat()
        );
        assert_eq!(constant!(Style::PLAIN, "a ", "-" in Red, "+" in Green), "a -+");
    }

    #[test]
    fn terminal_control_characters_are_escaped() {
        assert_eq!(visible("a\tb\nc"), "a\tb\nc");
        assert_eq!(
            visible("a\u{1b}[m\r\u{9b}\u{2066}\u{7f}"),
            "a\\u001b[m\\r\\u009b\\u2066\\u007f"
        );
        assert_eq!(visible_line("a\tb\nc"), "a\\tb\\nc");
    }
}
