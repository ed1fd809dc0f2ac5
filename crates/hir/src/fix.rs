//! What would mend a problem, as far as whoever found the problem knows: for editors, which offer it.

use values::Str;

/// A way to mend a problem, without ranges: they are joined when the problem is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fix {
    /// A name at the problem's place is meant to be another one.
    Rename {
        /// The name that stands there.
        instead_of: Str,
        /// The name that is meant.
        name: Str,
        /// Where the place has the name.
        side: Side,
    },
    /// The block lacks an argument of this name.
    MissingArgument(Str),
    /// The block lacks a nested block of this type.
    MissingBlock(Str),
    /// What is written as a block is an argument.
    BlockIsArgument,
    /// What is written as an argument is a block.
    ArgumentIsBlock,
}

/// The side of a place that a name is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// A call begins with the function's name, a header with the type of the block.
    Start,
    /// A traversal ends with the name that could not be found.
    End,
}

impl Fix {
    /// The name that a place begins with is meant to be `close`, if there is one.
    pub(crate) fn first(instead_of: &str, close: Option<impl AsRef<str>>) -> Option<Fix> {
        rename(instead_of, close, Side::Start)
    }

    /// The name that a place ends with is meant to be `close`, if there is one.
    pub(crate) fn last(instead_of: &str, close: Option<impl AsRef<str>>) -> Option<Fix> {
        rename(instead_of, close, Side::End)
    }

    /// The fix for a place with a text that begins at `start` of its file.
    pub(crate) fn at(&self, path: &std::sync::Arc<str>, start: u32, text: &str) -> Option<db::Fix> {
        match self {
            Fix::Rename { instead_of, name, side } => {
                let offset = match side {
                    Side::Start => text
                        .trim_start_matches('"')
                        .starts_with(&**instead_of)
                        .then(|| text.len() - text.trim_start_matches('"').len())?,
                    // What has several words is all of the place: `resource.a.b` is more than `a.b`.
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
