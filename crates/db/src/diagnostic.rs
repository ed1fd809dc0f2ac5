//! The one model of a problem that is shown to a person, whatever found it.

use std::sync::Arc;

use syntax::TextRange;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Nothing can be done before it is mended.
    Error,
    /// Works, but look at it.
    Warning,
    /// Shown in editors only.
    Hint,
}

/// The id of what points at a secret in the text: whoever shows the place leaves out what stands there.
pub const LITERAL_SECRET: &str = "literal-secret";

/// The id of a warning about an argument for a deprecated variable of a module.
pub const DEPRECATED_VARIABLE: &str = "deprecated-variable";

/// The id of a warning about a reference to a deprecated output of a module.
pub const DEPRECATED_OUTPUT: &str = "deprecated-output";

/// The id of a warning about a reference to what a provider deprecates.
pub const DEPRECATED_ATTRIBUTE: &str = "deprecated-attribute";

/// The id of the warning about what is ephemeral under a condition, which each of them names.
pub const POSSIBLY_EPHEMERAL: &str = "possibly-ephemeral";

/// A problem, with the place where it is and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable, kebab-case; names the page that explains it, `docs/diagnostics/ID.md`.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// One line. The RFC's or OpenTofu's wording where either has one.
    pub summary: String,
    /// What is wrong and what to do, in sentences.
    pub detail: String,
    /// The address of the object that it is about, printed as `with ADDRESS,`.
    pub address: Option<String>,
    /// Where it is. Absent for problems that no text caused.
    pub location: Option<Location>,
    /// The header of the block around, printed as `in resource "a" "b"`.
    pub context: Option<String>,
    /// Lines such as `var.x is 5`. Never the value of anything sensitive or ephemeral.
    pub values: Vec<String>,
    /// Further places: the chain of an ephemeral value, the members of a cycle, the first of two declarations.
    pub related: Vec<Related>,
    /// What would mend it, for editors. It says nothing that the detail does not, and is printed nowhere.
    pub fix: Option<Fix>,
}

/// What would mend a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fix {
    /// A name is meant to be another one.
    Replace {
        /// The name that stands there.
        location: Location,
        /// What is meant.
        text: String,
    },
    /// The block lacks an argument of this name.
    MissingArgument(String),
    /// The block lacks a nested block of this type.
    MissingBlock(String),
    /// What is written as a block is an argument.
    BlockIsArgument,
    /// What is written as an argument is a block.
    ArgumentIsBlock,
}

/// A further place that explains a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// Where.
    pub location: Location,
    /// What is there.
    pub message: String,
}

/// A range of a file, in bytes of its text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The file's path as it is shown: relative to the working directory where it can be.
    pub path: Arc<str>,
    /// The byte range.
    pub range: ByteRange,
}

/// A half-open byte range of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteRange {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl From<TextRange> for ByteRange {
    fn from(range: TextRange) -> ByteRange {
        ByteRange { start: range.start().into(), end: range.end().into() }
    }
}

impl ByteRange {
    /// The same range, `offset` bytes later.
    pub fn shifted(self, offset: u32) -> ByteRange {
        ByteRange { start: self.start + offset, end: self.end + offset }
    }
}

impl Diagnostic {
    /// An error without a place; fill in what is known.
    ///
    /// # Panics
    /// Where assertions are checked: if the id is a single word. By its dashes an id is told from other words, which is
    /// how a test finds those that no page explains.
    pub fn error(
        id: &'static str,
        summary: impl Into<String>,
        detail: impl Into<String>,
    ) -> Diagnostic {
        debug_assert!(id.contains('-'), "{id} is no id: two words or more, joined with dashes");
        Diagnostic {
            id,
            severity: Severity::Error,
            summary: summary.into(),
            detail: detail.into(),
            address: None,
            location: None,
            context: None,
            values: Vec::new(),
            related: Vec::new(),
            fix: None,
        }
    }

    /// A warning without a place; fill in what is known.
    pub fn warning(
        id: &'static str,
        summary: impl Into<String>,
        detail: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(id, summary, detail) }
    }

    /// The same, at a place.
    pub fn at(self, location: Option<Location>) -> Diagnostic {
        Diagnostic { location, ..self }
    }

    /// The same, about an object.
    pub fn with_address(self, address: impl Into<String>) -> Diagnostic {
        Diagnostic { address: Some(address.into()), ..self }
    }

    /// Returns true for a warning about something that its author means to remove.
    pub fn is_deprecation(&self) -> bool {
        [DEPRECATED_VARIABLE, DEPRECATED_OUTPUT, DEPRECATED_ATTRIBUTE].contains(&self.id)
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// The texts that locations point into, as the top-level blocks that the database holds. Cheap to clone.
#[derive(Clone, Default)]
pub struct Sources {
    /// Every file of the configuration.
    pub files: Arc<[SourceText]>,
}

/// One file's text.
#[derive(Clone)]
pub struct SourceText {
    /// The path as shown.
    pub path: Arc<str>,
    /// The texts of its top-level blocks; together they are the file.
    pub blocks: Arc<[Arc<str>]>,
    /// Whether its lines may hold secrets: then places in it are counted, but no line is shown.
    pub may_hold_secrets: bool,
}

impl SourceText {
    /// Where a block begins in the file.
    pub fn block_offset(&self, block: u32) -> u32 {
        self.blocks.iter().take(block as usize).map(|text| text.len() as u32).sum()
    }

    /// The whole text.
    pub fn text(&self) -> String {
        self.blocks.concat()
    }
}

impl Sources {
    /// Whether lines of the file shown as `path` are left out where problems are shown.
    pub fn may_hold_secrets(&self, path: &str) -> bool {
        self.files.iter().any(|file| &*file.path == path && file.may_hold_secrets)
    }

    /// A place as `file:line`; only the file where its text is not among these.
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

    /// The text of the file shown as `path`.
    pub fn text(&self, path: &str) -> Option<String> {
        self.files.iter().find(|file| &*file.path == path).map(SourceText::text)
    }
}
