//! The registry of the rules: which errors and warnings exist, with their codes and summaries.
//!
//! A [`Diagnostic`](crate::Diagnostic) cannot be built without a row of [the table](table). The pages in
//! `docs/diagnostics` and their index, the `explain` command and the codes in an editor come from the table. To add an
//! error, add a row, write `docs/diagnostics/CODE.md`, and run `cargo xtask codegen`.
//!
//! **Invariant:** a code never changes and is never used again: scripts and suppressions refer to it.
//! **Absent on purpose:** the details. They name values and places, so they stand where the problem is found.

use std::{cmp::Ordering, fmt};

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
    /// Options, input, and files that the command line names.
    CommandLine,
}

impl Group {
    /// All groups, in the order of the index.
    pub const ALL: [Group; 11] = [
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
    summaries: &'static [Summary],
}

/// A summary of a rule's diagnostics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The severity that comes with the summary.
    pub severity: Severity,
    /// The text. A word in capitals stands for any text.
    pub text: &'static str,
}

impl Summary {
    /// Returns the severity and the text, as the page of the rule shows them: `Error: Invalid name`.
    pub fn line(&self) -> String {
        let word = match self.severity {
            Severity::Error => "Error",
            Severity::Warning => "Warning",
            Severity::Hint => "Hint",
        };
        format!("{word}: {}", self.text)
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

    /// Returns the summaries of the rule's diagnostics, the most frequent one first.
    pub fn summaries(self) -> &'static [Summary] {
        self.row().summaries
    }

    /// Returns the first summary, which is the only one of most rules.
    pub fn summary(self) -> &'static str {
        self.row().summaries[0].text
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

/// Defines [`Rule`], the list of all rules, and their rows, in the order of the table.
macro_rules! rules {
    ($($group:ident {
        $($name:ident $code:literal: $($severity:ident $summary:literal),+;)*
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

        /// The rows, indexed by rule.
        pub(super) static ROWS: &[super::Row] = &[$($(super::Row {
            rule: Rule::$name,
            group: super::Group::$group,
            code: $code,
            summaries: &[$(super::Summary {
                severity: crate::Severity::$severity,
                text: $summary,
            },)+],
        },)*)*];
    };
}
use rules;
