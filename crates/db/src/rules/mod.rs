//! The registry of the rules: which errors and warnings exist, with their codes and summaries.
//!
//! A [`Diagnostic`](crate::Diagnostic) is built from a [`Summary`], and each summary is an entry of [the
//! table](table): a constant, or a function if the text has parameters. So the rule and the severity of a diagnostic
//! cannot disagree with the table, and the text stands there alone:
//!
//! ```text
//! table:   InvalidIndex "invalid-index": INVALID_INDEX Error "Invalid index";
//! report:  Diagnostic::new(Summary::INVALID_INDEX, detail)
//! ```
//!
//! The pages in `docs/diagnostics` and their index, the `explain` command and the codes in an editor come from the
//! table. To add an error, add a row, write `docs/diagnostics/CODE.md`, and run `cargo xtask codegen`.
//!
//! **Invariant:** a code never changes and is never used again: scripts and suppressions refer to it.
//! **Absent on purpose:** the details. They name values and places, so they stand where the problem is found.

use std::{borrow::Cow, cmp::Ordering, fmt, ops::Deref};

use crate::Severity;

mod table;
#[cfg(test)]
mod tests;

pub use table::Rule;

/// The part of the language or of the tool that a rule belongs to: a section of the index of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The spelling of a text.
    Syntax,
    /// Blocks, arguments and their declarations.
    Blocks,
    /// Names, and what an expression may refer to.
    References,
    /// Values, types, operators and functions.
    Values,
    /// Ephemeral and sensitive values.
    Ephemeral,
    /// Module calls and packages.
    Modules,
    /// Providers, their requirements, their processes and their answers.
    Providers,
    /// `import`, `moved` and `removed` blocks.
    Refactoring,
    /// State, backends, locks and encryption.
    State,
    /// Plans, applies and their conditions.
    Runs,
    /// Test files, mocks and the command `test`.
    Tests,
    /// Options, input, and files that the command line names.
    CommandLine,
}

impl Group {
    /// All groups, in the order of the index.
    pub const ALL: [Group; 12] = [
        Group::Syntax,
        Group::Blocks,
        Group::References,
        Group::Values,
        Group::Ephemeral,
        Group::Modules,
        Group::Providers,
        Group::Refactoring,
        Group::State,
        Group::Runs,
        Group::Tests,
        Group::CommandLine,
    ];

    /// Returns the title of the group's section in the index.
    pub fn title(self) -> &'static str {
        match self {
            Group::Syntax => "Syntax",
            Group::Blocks => "Blocks and arguments",
            Group::References => "References",
            Group::Values => "Values, types and functions",
            Group::Ephemeral => "Ephemeral and sensitive values",
            Group::Modules => "Modules",
            Group::Providers => "Providers",
            Group::Refactoring => "Import, moved and removed",
            Group::State => "State, backends and locks",
            Group::Runs => "Plans and applies",
            Group::Tests => "Tests",
            Group::CommandLine => "Command line and input",
        }
    }
}

/// A row of the table.
#[derive(Debug)]
struct Row {
    #[cfg_attr(not(test), expect(dead_code, reason = "a test compares it with the index"))]
    rule: Rule,
    group: Group,
    code: &'static str,
    lines: &'static [Line],
}

/// An entry of a row: a severity and a summary that the rule's diagnostics have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The severity.
    pub severity: Severity,
    /// The name of the constant or function of [`Summary`] that makes the summary.
    pub name: &'static str,
    /// The text, with the parameters in braces.
    pub text: &'static str,
    /// Examples of a text that others write, such as a provider or a parser. Empty for all other texts.
    pub examples: &'static [&'static str],
}

impl Line {
    /// Returns the text as pages show it: the first example, or the text with its parameters in capitals, such as
    /// `Unknown KIND type`.
    pub fn summary(&self) -> String {
        self.shown().next().unwrap_or_default()
    }

    /// Returns the examples, or the text if there are none.
    fn shown(&self) -> impl Iterator<Item = String> {
        let own = self.examples.is_empty().then(|| with_capitals(self.text));
        own.into_iter().chain(self.examples.iter().map(|it| (*it).to_owned()))
    }
}

fn with_capitals(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut is_parameter = false;
    for letter in text.chars() {
        match letter {
            '{' => is_parameter = true,
            '}' => is_parameter = false,
            letter if is_parameter => shown.extend(letter.to_uppercase()),
            letter => shown.push(letter),
        }
    }
    shown
}

/// The rule, the severity and the summary of a diagnostic. Its constants and functions are the entries of the
/// table; no other summary exists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Summary {
    rule: Rule,
    severity: Severity,
    text: Cow<'static, str>,
}

impl Summary {
    /// Returns the rule that was broken.
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// Returns the severity.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// Returns true if the severity is that of an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Returns the summary as an error. A test fails by the problems of `check` blocks, which other commands only
    /// warn about.
    pub fn in_test(self) -> Summary {
        Summary { severity: Severity::Error, ..self }
    }

    /// Returns the summary with this severity, or with its own if that is lower. A problem that does not stop the
    /// run, or that the analysis is not sure of, is lowered.
    pub fn at_most(self, severity: Severity) -> Summary {
        Summary { severity: self.severity.max(severity), ..self }
    }
}

/// A summary is its text, one line.
impl Deref for Summary {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl PartialEq<str> for Summary {
    fn eq(&self, other: &str) -> bool {
        &**self == other
    }
}

impl PartialEq<String> for Summary {
    fn eq(&self, other: &String) -> bool {
        **self == **other
    }
}

impl PartialEq<&str> for Summary {
    fn eq(&self, other: &&str) -> bool {
        &**self == *other
    }
}

impl Rule {
    /// Returns the stable code, in kebab-case. `docs/diagnostics/CODE.md` is the page that explains it.
    pub fn code(self) -> &'static str {
        self.row().code
    }

    /// Returns the group of the rule.
    pub fn group(self) -> Group {
        self.row().group
    }

    /// Returns the severities and summaries of the rule's diagnostics, the most frequent one first.
    pub fn lines(self) -> &'static [Line] {
        self.row().lines
    }

    /// Returns the lines at the beginning of the rule's page: each severity with its summary, as in
    /// `Error: Invalid index`.
    pub fn page_lines(self) -> Vec<String> {
        let mut lines = Vec::new();
        for line in self.lines() {
            let word = match line.severity {
                Severity::Error => "Error",
                Severity::Warning => "Warning",
                Severity::Hint => "Hint",
            };
            for summary in line.shown() {
                let shown = format!("{word}: {summary}");
                if !lines.contains(&shown) {
                    lines.push(shown);
                }
            }
        }
        lines
    }

    /// Returns the rule with this code; `None` if there is no such rule.
    pub fn with_code(code: &str) -> Option<Rule> {
        Rule::ALL.iter().copied().find(|it| it.code() == code)
    }

    fn row(self) -> &'static Row {
        &table::ROWS[self as usize]
    }
}

/// Rules are ordered by code, so that lists of diagnostics do not depend on the order of the table.
impl Ord for Rule {
    fn cmp(&self, other: &Rule) -> Ordering {
        self.code().cmp(other.code())
    }
}

impl PartialOrd for Rule {
    fn partial_cmp(&self, other: &Rule) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Prints the code.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// Compares with a code. Code compares with a [`Rule`]; tests compare with the code that users see.
impl PartialEq<&str> for Rule {
    fn eq(&self, other: &&str) -> bool {
        self.code() == *other
    }
}

/// Defines [`Rule`], the list of all rules and their rows, in the order of the table, and the constants and
/// functions of [`Summary`].
macro_rules! rules {
    ($($group:ident {
        $($name:ident $code:literal: $(
            $entry:ident $(($($parameter:ident),+))? $severity:ident $text:literal $(as $($example:literal)|+)?
        ),+;)*
    })*) => {
        /// An error or a warning that Mayfly can report. Each has a row in the table and a page.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Rule {
            $($(#[doc = concat!("`", $code, "`")] $name,)*)*
        }

        impl Rule {
            /// All rules, in the order of the table.
            pub const ALL: &[Rule] = &[$($(Rule::$name,)*)*];
        }

        /// The entries of the table.
        impl super::Summary {
            $($($(super::summary! {
                $name $entry $(($($parameter),+))? $severity $text
            })+)*)*
        }

        /// The rows, indexed by rule.
        pub(super) static ROWS: &[super::Row] = &[$($(super::Row {
            rule: Rule::$name,
            group: super::Group::$group,
            code: $code,
            lines: &[$(super::Line {
                severity: crate::Severity::$severity,
                name: stringify!($entry),
                text: $text,
                examples: &[$($($example),+)?],
            },)+],
        },)*)*];
    };
}
use rules;

/// Defines a constant for a summary, or a function for a summary with parameters.
macro_rules! summary {
    ($rule:ident $name:ident $severity:ident $text:literal) => {
        #[doc = concat!("`", $text, "`")]
        pub const $name: super::Summary = super::Summary {
            rule: Rule::$rule,
            severity: crate::Severity::$severity,
            text: std::borrow::Cow::Borrowed($text),
        };
    };
    ($rule:ident $name:ident ($($parameter:ident),+) $severity:ident $text:literal) => {
        #[doc = concat!("`", $text, "`")]
        pub fn $name($($parameter: impl std::fmt::Display),+) -> super::Summary {
            super::Summary {
                rule: Rule::$rule,
                severity: crate::Severity::$severity,
                text: std::borrow::Cow::Owned(format!($text)),
            }
        }
    };
}
use summary;
