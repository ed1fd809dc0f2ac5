//! Suggested fixes of diagnostics, which editors offer as quick fixes.

use values::Str;

/// A suggested fix without source ranges. [`Fix::at`] adds them when the diagnostic is rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fix {
    /// Replace a misspelled name at the diagnostic's location.
    Rename {
        /// The misspelled name in the source.
        instead_of: Str,
        /// The suggested name.
        name: Str,
        /// The end of the location's text at which the name is.
        side: Side,
    },
    /// Add the missing argument of this name to the block.
    MissingArgument(Str),
    /// Add a missing nested block of this type to the block.
    MissingBlock(Str),
    /// Rewrite a block as an argument.
    BlockIsArgument,
    /// Rewrite an argument as a block.
    ArgumentIsBlock,
}

/// The end of a location's text at which a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The name comes first: the function name of a call, or the type in a block header.
    Start,
    /// The name comes last: the unresolved name of a traversal.
    End,
}

impl Fix {
    /// Suggests `close` for the name at the start of the location. `None` if there is no suggestion.
    pub(crate) fn first(instead_of: &str, close: Option<impl AsRef<str>>) -> Option<Fix> {
        rename(instead_of, close, Side::Start)
    }

    /// Suggests `close` for the name at the end of the location. `None` if there is no suggestion.
    pub(crate) fn last(instead_of: &str, close: Option<impl AsRef<str>>) -> Option<Fix> {
        rename(instead_of, close, Side::End)
    }

    /// Adds source ranges to the fix. `text` is the text of the diagnostic's location and `start` its offset in
    /// the file. Returns `None` if `text` does not have the misspelled name at the expected end.
    pub(crate) fn at(&self, path: &std::sync::Arc<str>, start: u32, text: &str) -> Option<db::Fix> {
        match self {
            Fix::Rename { instead_of, name, side } => {
                let offset = match side {
                    Side::Start => text
                        .trim_start_matches('"')
                        .starts_with(&**instead_of)
                        .then(|| text.len() - text.trim_start_matches('"').len())?,
                    // A dotted name must be the whole text, because `resource.a.b` also ends with `a.b`.
                    Side::End if instead_of.contains('.') => {
                        (*text == **instead_of).then_some(0)?
                    }
                    Side::End => text.trim_end_matches('"').strip_suffix(&**instead_of)?.len(),
                };
                let start = start + offset as u32;
                let range = db::ByteRange { start, end: start + instead_of.len() as u32 };
                let location = db::Location { path: path.clone(), range };
                Some(db::Fix::Replace { location, text: name.to_string() })
            }
            Fix::MissingArgument(name) => Some(db::Fix::MissingArgument(name.to_string())),
            Fix::MissingBlock(kind) => Some(db::Fix::MissingBlock(kind.to_string())),
            Fix::BlockIsArgument => Some(db::Fix::BlockIsArgument),
            Fix::ArgumentIsBlock => Some(db::Fix::ArgumentIsBlock),
        }
    }
}

fn rename(instead_of: &str, close: Option<impl AsRef<str>>, side: Side) -> Option<Fix> {
    let name = Str::from(close?.as_ref());
    Some(Fix::Rename { instead_of: instead_of.into(), name, side })
}
