//! Parses the text of a configuration to a tree: lossless, typed, and available for every input.
//!
//! Start reading at [`parse_chunk`] and [`split`], then `lexer`, `parser` and `grammar`. Other crates use the tree
//! through [`ast`]; [`template`] and [`literal`] decode the text between quotes. [`format()`] is the formatter,
//! which works on tokens.
//!
//! ```text
//! text ──lexer──► tokens ──grammar──► events ──sink──► green tree ──ast──► typed view
//!                   │                    └─────flat──► flat tree ───ast──► typed view
//!                   └──chunk──► ranges of top-level items, which parse alone
//! ```
//!
//! Small functions that each token passes have `#[inline]`: release builds inline few others (`.cargo/config.toml`).
//!
//! **Invariant:** the text of a tree equals the parsed text, byte for byte, whatever the text is.
//! **Invariant:** a file's tree is the concatenation of its chunks' trees ([`parse_file`] is defined so).
//! **Invariant:** no tree is deeper than [`MAX_DEPTH`], so code that walks a tree may recurse.
//! **Invariant:** OpenTofu accepts the same texts, and the first error of a refused text equals OpenTofu's
//! (`grammar/tests/errors.rs` names the exceptions).
//! **Absent on purpose:** salsa, files and their names, positions in lines and columns, values.

pub mod ast;
mod brackets;
mod chunk;
mod decode;
mod error;
pub mod flat;
mod format;
pub mod fuzz;
mod grammar;
mod green;
pub mod json;
pub mod levenshtein;
mod lexer;
mod lexical;
mod line_input;
pub mod literal;
mod parse;
mod parser;
mod ptr;
mod sink;
mod syntax_kind;
pub mod template;
mod tree;

pub use rowan::{Direction, NodeOrToken, TextRange, TextSize, TokenAtOffset, WalkEvent};

pub use self::ast::AstNode;
pub use self::chunk::{Chunks, difference, split};
pub use self::decode::decode;
pub use self::error::SyntaxError;
pub use self::format::{FormatEdit, format, format_range};
pub use self::line_input::{InputState, append_line, input_state};
pub use self::parse::{
    Parse, parse_chunk, parse_expression, parse_file, parse_template, parse_traversal,
};
pub use self::ptr::SyntaxPtr;
pub use self::syntax_kind::SyntaxKind;
pub use self::tree::{TreeNode, TreeToken};

/// The maximum depth of a tree. Deeper nesting is an error, and its tokens stay flat.
pub const MAX_DEPTH: usize = 512;

/// The language type that connects rowan with [`SyntaxKind`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Hcl {}

impl rowan::Language for Hcl {
    type Kind = SyntaxKind;

    fn kind_from_raw(raw: rowan::SyntaxKind) -> SyntaxKind {
        SyntaxKind::ALL[usize::from(raw.0)]
    }

    fn kind_to_raw(kind: SyntaxKind) -> rowan::SyntaxKind {
        kind.into()
    }
}

/// A node of the tree.
pub type SyntaxNode = rowan::SyntaxNode<Hcl>;
/// A token of the tree.
pub type SyntaxToken = rowan::SyntaxToken<Hcl>;
/// A node or a token.
pub type SyntaxElement = rowan::SyntaxElement<Hcl>;
/// An iterator over the child nodes of a node.
pub type SyntaxNodeChildren = rowan::SyntaxNodeChildren<Hcl>;
