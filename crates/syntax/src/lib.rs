//! The text of a configuration as a tree: lossless, typed, and there for every input.
//!
//! Start reading at [`parse_chunk`] and [`split`], then `lexer`, `parser` and `grammar`; [`ast`] is what
//! other crates see of the tree, [`template`] and [`literal`] tell them what the text between quotes means. [`format()`] is the
//! formatter, which works on tokens.
//!
//! ```text
//! text ──lexer──► tokens ──grammar──► events ──sink──► green tree ──ast──► typed view
//!                   │                    └─────flat──► flat tree ───ast──► typed view
//!                   └──chunk──► ranges of top-level items, which parse alone
//! ```
//!
//! **Invariant:** the text of a tree is the text that was parsed, byte for byte, whatever that was.
//! **Invariant:** a file's tree is the concatenation of its chunks' trees ([`parse_file`] is defined so).
//! **Invariant:** no tree is deeper than [`MAX_DEPTH`], so that whoever walks one may recurse.
//! **Invariant:** what the reference accepts is accepted, what it refuses is refused, and the first error is the one that it gives
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
pub mod literal;
mod parse;
mod parser;
mod ptr;
mod sink;
mod syntax_kind;
pub mod template;
mod tree;
mod typed;

pub use rowan::{Direction, NodeOrToken, TextRange, TextSize, TokenAtOffset, WalkEvent};

pub use self::ast::AstNode;
pub use self::chunk::{Chunks, difference, split};
pub use self::decode::decode;
pub use self::error::SyntaxError;
pub use self::format::{FormatEdit, format, format_range};
pub use self::parse::{
    Parse, parse_chunk, parse_expression, parse_file, parse_template, parse_traversal,
};
pub use self::ptr::SyntaxPtr;
pub use self::syntax_kind::SyntaxKind;
pub use self::tree::{TreeNode, TreeToken};
pub use self::typed::{Typed, continued, typed};

/// How deep a tree can be. What is nested deeper is an error and stays flat.
pub const MAX_DEPTH: usize = 512;

/// Tells rowan about our kinds.
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
/// The nodes below a node.
pub type SyntaxNodeChildren = rowan::SyntaxNodeChildren<Hcl>;
