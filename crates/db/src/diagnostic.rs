//! The diagnostic: the single type for problems that are shown to a user, from every source.

use std::sync::Arc;

use syntax::TextRange;

use crate::{Rule, Summary};

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The operation cannot proceed until the problem is fixed.
    Error,
    /// The operation can proceed, but the problem needs attention.
    Warning,
    /// A suggestion, shown in editors only.
    Hint,
}

/// A problem with its location and its remedy. [`rules`](crate::rules) lists the problems that exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule, the severity and the summary, in the wording of OpenTofu or the RFC if one of them has a wording.
    pub summary: Summary,
    /// The description of the problem and of the remedy, in sentences.
    pub detail: String,
    /// The address of the affected object, printed as `with ADDRESS,`.
    pub address: Option<String>,
    /// The object whose condition failed. `None` for all other problems.
    pub checked: Option<CheckedObject>,
    /// The location; `None` for problems that no text causes.
    pub location: Option<Location>,
    /// The header of the enclosing block, printed as `in resource "a" "b"`.
    pub context: Option<String>,
    /// Lines such as `var.x is 5`. Never contains a sensitive or ephemeral value.
    pub values: Vec<String>,
    /// The two sides of a comparison that was to hold; `None` for any other problem.
    pub difference: Option<Box<Difference>>,
    /// Further locations: the chain of an ephemeral value, the members of a cycle, or the first of two
    /// declarations.
    pub related: Vec<Related>,
    /// The fix that an editor can apply. It adds nothing to the detail and is not printed.
    pub fix: Option<Fix>,
}

/// Two values that were to be equal, as JSON. Neither contains a sensitive, ephemeral or unknown part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The value on the left of `==`.
    pub left: String,
    /// The value on the right of `==`.
    pub right: String,
}

/// The object that a condition belongs to: a resource instance, an output, a variable or a `check` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedObject {
    /// The address, such as `module.a.output.b` or `check.c`.
    pub address: String,
    /// True if the problem is an error that the `check` block turned into a warning.
    pub is_demoted: bool,
}

/// A fix for a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fix {
    /// Replaces a name.
    Replace {
        /// The location of the name.
        location: Location,
        /// The new name.
        text: String,
    },
    /// The block lacks an argument of this name.
    MissingArgument(String),
    /// The block lacks a nested block of this type.
    MissingBlock(String),
    /// An argument is written as a block.
    BlockIsArgument,
    /// A nested block is written as an argument.
    ArgumentIsBlock,
}

/// A further location that explains a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// The location.
    pub location: Location,
    /// The description of the location.
    pub message: String,
}

/// A byte range in the text of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The display path of the file: relative to the working directory if possible.
    pub path: Arc<str>,
    /// The byte range.
    pub range: ByteRange,
}

/// A half-open byte range of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteRange {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset after the last byte.
    pub end: u32,
}

impl From<TextRange> for ByteRange {
    fn from(range: TextRange) -> ByteRange {
        ByteRange { start: range.start().into(), end: range.end().into() }
    }
}

impl ByteRange {
    /// Returns this range moved by `offset` bytes.
    pub fn shifted(self, offset: u32) -> ByteRange {
        ByteRange { start: self.start + offset, end: self.end + offset }
    }
}

impl Diagnostic {
    /// Creates a diagnostic without a location. The caller sets the fields that it knows.
    pub fn new(summary: Summary, detail: impl Into<String>) -> Diagnostic {
        Diagnostic {
            summary,
            detail: detail.into(),
            address: None,
            checked: None,
            location: None,
            context: None,
            values: Vec::new(),
            difference: None,
            related: Vec::new(),
            fix: None,
        }
    }

    /// Returns the rule that was broken. Its code is the id that users see.
    pub fn id(&self) -> Rule {
        self.summary.rule()
    }

    /// Returns the severity.
    pub fn severity(&self) -> Severity {
        self.summary.severity()
    }

    /// Returns the diagnostic with this location.
    pub fn at(self, location: Option<Location>) -> Diagnostic {
        Diagnostic { location, ..self }
    }

    /// Returns the diagnostic with the address of the affected object.
    pub fn with_address(self, address: impl Into<String>) -> Diagnostic {
        Diagnostic { address: Some(address.into()), ..self }
    }

    /// Returns true for a warning about a deprecated variable, output or attribute.
    pub fn is_deprecation(&self) -> bool {
        matches!(
            self.id(),
            Rule::DeprecatedVariable | Rule::DeprecatedOutput | Rule::DeprecatedAttribute
        )
    }

    /// Returns true if the diagnostic is an error.
    pub fn is_error(&self) -> bool {
        self.summary.is_error()
    }
}

/// The texts that locations refer to, split into the top-level blocks of the database. Cheap to clone.
#[derive(Clone, Default)]
pub struct Sources {
    /// All files of the configuration.
    pub files: Arc<[SourceText]>,
}

/// The text of a file.
#[derive(Clone)]
pub struct SourceText {
    /// The display path.
    pub path: Arc<str>,
    /// The texts of the top-level blocks; concatenated, they are the text of the file.
    pub blocks: Arc<[Arc<str>]>,
    /// True if lines of the file may contain secrets. Line numbers in it are printed, lines are not.
    pub may_hold_secrets: bool,
}

impl SourceText {
    /// Returns the byte offset of a block in the file.
    pub fn block_offset(&self, block: u32) -> u32 {
        self.blocks.iter().take(block as usize).map(|text| text.len() as u32).sum()
    }

    /// Returns the whole text.
    pub fn text(&self) -> String {
        self.blocks.concat()
    }
}

impl Sources {
    /// Returns true if the lines of the file with this display path must not be printed with diagnostics.
    pub fn may_hold_secrets(&self, path: &str) -> bool {
        self.files.iter().any(|file| &*file.path == path && file.may_hold_secrets)
    }

    /// Returns a location as `file:line`, or only the file if the location lies outside of these texts.
    pub fn place(&self, location: &Location) -> String {
        let text = self.text(&location.path).unwrap_or_default();
        let before = text.as_bytes().get(..location.range.start as usize);
        match before {
            Some(before) => {
                let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
                format!("{}:{line}", location.path)
            }
            None => location.path.to_string(),
        }
    }

    /// Returns the text of the file with this display path; `None` if there is no such file.
    pub fn text(&self, path: &str) -> Option<String> {
        self.files.iter().find(|file| &*file.path == path).map(SourceText::text)
    }
}
