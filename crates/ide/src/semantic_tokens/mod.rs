//! Semantic tokens: highlighting that depends on the meaning of names.
//!
//! **Invariant:** tokens are in order, do not overlap, and none crosses the end of a line.
//! **Invariant:** the work is linear in the size of the requested range.

mod body;
mod reference;
#[cfg(test)]
mod tests;

use db::ByteRange;
use hir::analysis::{Abstract, ItemValues, Tri};
use syntax::{
    AstNode, NodeOrToken, SyntaxKind, SyntaxNode, SyntaxToken, TextRange, WalkEvent, ast,
};

use self::reference::Traversed;
use crate::{Cursor, Document, hover::is_in_type, naming::Templates, scheme::Scheme};

/// A token with its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SemanticToken {
    /// The range of the token.
    pub range: ByteRange,
    /// The kind of the token.
    pub kind: SemanticKind,
    /// The modifiers of the token.
    pub modifiers: Modifiers,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SemanticKind {
    /// A block type.
    BlockType,
    /// A resource type or a keyword of a type constraint.
    Type,
    /// The name of a provider or of a provider configuration.
    Provider,
    /// The first name of a reference: `var`, `local`, `each`.
    Namespace,
    /// An input variable.
    Variable,
    /// A local value.
    Local,
    /// A resource.
    Resource,
    /// A module call.
    Module,
    /// An output.
    Output,
    /// A name that `for` or `dynamic` binds.
    Bound,
    /// The name of an argument, a key of an object, or an attribute of a value.
    Property,
    /// A function.
    Function,
    /// A keyword: `true`, `for`, `if`.
    Keyword,
    /// A quoted string or a heredoc.
    String,
    /// A number.
    Number,
    /// An operator, or a delimiter of an interpolation.
    Operator,
    /// A comment.
    Comment,
}

/// The modifiers of a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modifiers {
    /// True if the token declares its target.
    pub declaration: bool,
    /// True if the value of the target cannot be set from outside.
    pub readonly: bool,
    /// True if the value is or may be ephemeral; for an argument, if it accepts ephemeral values.
    pub ephemeral: bool,
    /// True if the value is or may be sensitive.
    pub sensitive: bool,
    /// True if the target is deprecated.
    pub deprecated: bool,
}

impl Modifiers {
    const NONE: Modifiers = Modifiers {
        declaration: false,
        readonly: false,
        ephemeral: false,
        sensitive: false,
        deprecated: false,
    };

    /// The marks of a value and of its parts.
    fn of(value: &Abstract) -> Modifiers {
        let marks = value.deep_marks();
        Modifiers {
            ephemeral: marks.ephemeral > Tri::No,
            sensitive: marks.sensitive > Tri::No,
            deprecated: marks.deprecated > Tri::No,
            ..Modifiers::NONE
        }
    }
}

/// The kind of a token with its modifiers.
#[derive(Clone, Copy)]
struct TokenKind {
    kind: SemanticKind,
    modifiers: Modifiers,
}

impl TokenKind {
    /// A kind without modifiers.
    const fn plain(kind: SemanticKind) -> TokenKind {
        TokenKind { kind, modifiers: Modifiers::NONE }
    }
}

/// The scheme of a body. `None` if the body is unknown.
struct SchemeOfBody {
    body: SyntaxNode,
    scheme: Option<Scheme>,
}

/// Returns the semantic tokens of a file.
pub fn semantic_tokens(document: Document<'_>) -> Vec<SemanticToken> {
    semantic_tokens_in(document, ByteRange { start: 0, end: u32::MAX })
}

/// Returns the semantic tokens that touch a range of a file.
pub fn semantic_tokens_in(document: Document<'_>, range: ByteRange) -> Vec<SemanticToken> {
    let mut walk = Walk {
        document,
        range,
        values: ItemValues::new(document.db, document.workspace),
        traversals: Vec::new(),
        templates: Templates::default(),
        scheme: None,
        out: Vec::new(),
    };
    for (block, start) in document.blocks_in(range) {
        walk.block(&document.cursor_in(block, start, start));
    }
    walk.out
}

/// A walk over the blocks of a range.
struct Walk<'db> {
    document: Document<'db>,
    range: ByteRange,
    values: ItemValues<'db>,
    /// The traversals around the current node, innermost last.
    traversals: Vec<Traversed>,
    /// The cached bindings of the block's templates.
    templates: Templates,
    /// The last body and its scheme.
    scheme: Option<SchemeOfBody>,
    out: Vec<SemanticToken>,
}

impl<'db> Walk<'db> {
    fn block(&mut self, cursor: &Cursor<'db>) {
        self.traversals.clear();
        self.templates = Templates::default();
        self.scheme = None;
        let mut events = cursor.root.preorder_with_tokens();
        while let Some(event) = events.next() {
            match event {
                WalkEvent::Enter(NodeOrToken::Node(node)) => {
                    if self.is_outside(cursor, node.text_range()) {
                        events.skip_subtree();
                    } else if let Some(label) = ast::Label::cast(node.clone()) {
                        self.label(cursor, &label);
                        events.skip_subtree();
                    } else {
                        self.enter(cursor, &node);
                    }
                }
                WalkEvent::Leave(NodeOrToken::Node(node)) => self.leave(&node),
                WalkEvent::Enter(NodeOrToken::Token(token)) => self.token(cursor, &token),
                WalkEvent::Leave(NodeOrToken::Token(_)) => {}
            }
        }
    }

    fn is_outside(&self, cursor: &Cursor<'_>, range: TextRange) -> bool {
        let range = cursor.in_file(range);
        range.end < self.range.start || range.start > self.range.end
    }

    fn token(&mut self, cursor: &Cursor<'db>, token: &SyntaxToken) {
        if self.is_outside(cursor, token.text_range()) {
            return;
        }
        if let Some(kind) = self.kind(cursor, token) {
            self.push(cursor, token.text_range(), token.text(), kind);
        }
    }

    /// Adds a token, split at line ends.
    fn push(&mut self, cursor: &Cursor<'_>, range: TextRange, text: &str, kind: TokenKind) {
        let TokenKind { kind, modifiers } = kind;
        let mut start = cursor.in_file(range).start;
        for line in text.split_inclusive('\n') {
            let shown = line.trim_end_matches(['\n', '\r']);
            if !shown.is_empty() {
                let range = ByteRange { start, end: start + shown.len() as u32 };
                self.out.push(SemanticToken { range, kind, modifiers });
            }
            start += line.len() as u32;
        }
    }

    fn kind(&mut self, cursor: &Cursor<'db>, token: &SyntaxToken) -> Option<TokenKind> {
        use SyntaxKind as K;
        let plain = |kind| Some(TokenKind::plain(kind));
        match token.kind() {
            K::COMMENT => plain(SemanticKind::Comment),
            K::NUMBER => plain(SemanticKind::Number),
            K::OPEN_QUOTE
            | K::QUOTED_LIT
            | K::CLOSE_QUOTE
            | K::STRING_LIT
            | K::HEREDOC_OPEN
            | K::HEREDOC_CLOSE => plain(SemanticKind::String),
            kind if kind.is_name() => self.name(cursor, token),
            kind if is_operator(kind) => plain(SemanticKind::Operator),
            _ => None,
        }
    }

    fn name(&mut self, cursor: &Cursor<'db>, token: &SyntaxToken) -> Option<TokenKind> {
        use SyntaxKind as K;
        let plain = |kind| Some(TokenKind::plain(kind));
        let parent = token.parent()?;
        match parent.kind() {
            K::BLOCK => Some(self.block_type(&ast::Block::cast(parent)?, token)),
            K::ATTRIBUTE => Some(self.argument(cursor, &ast::Attribute::cast(parent)?, token)),
            K::OBJECT_KEY => plain(SemanticKind::Property),
            K::FUNC_NAME if is_in_type(token) => plain(SemanticKind::Type),
            K::FUNC_NAME => plain(SemanticKind::Function),
            K::REFERENCE => Some(self.root(cursor, ast::Reference::cast(parent)?)),
            K::ATTR_STEP => Some(self.step(&parent, token)),
            K::FOR_INTRO | K::TEMPLATE_FOR if token.kind() == K::IDENT => {
                let modifiers = Modifiers { declaration: true, readonly: true, ..Modifiers::NONE };
                Some(TokenKind { kind: SemanticKind::Bound, modifiers })
            }
            _ if token.kind() != K::IDENT => plain(SemanticKind::Keyword),
            _ => None,
        }
    }
}

fn is_operator(kind: SyntaxKind) -> bool {
    use SyntaxKind as K;
    matches!(
        kind,
        K::EQ
            | K::EQ2
            | K::NEQ
            | K::LT
            | K::GT
            | K::LTEQ
            | K::GTEQ
            | K::PLUS
            | K::MINUS
            | K::STAR
            | K::SLASH
            | K::PERCENT
            | K::AMP2
            | K::PIPE2
            | K::BANG
            | K::QUESTION
            | K::FAT_ARROW
            | K::DOT3
            | K::INTERP_OPEN
            | K::DIRECTIVE_OPEN
            | K::SEQ_END
    )
}
