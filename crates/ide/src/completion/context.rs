//! Classification of the place of the cursor for completion.

use syntax::{AstNode, SyntaxKind, SyntaxNode, SyntaxToken, TextRange, TextSize, ast};

use super::nothing_replaced;
use crate::Cursor;

/// The place of the cursor, and the text that is already typed there.
pub(super) struct Place {
    pub(super) kind: Kind,
    /// The range that a proposal replaces.
    pub(super) replaced: TextRange,
    /// The text between the start of that range and the cursor.
    pub(super) typed: String,
}

/// The kinds of places.
pub(super) enum Kind {
    /// A place without proposals, such as a comment.
    Nothing,
    /// A label of a block, which may be incomplete, and the index of the label.
    Label { block: ast::Block, position: usize },
    /// The name of an argument or a block type; `block` is `None` at the top level.
    Name { block: Option<ast::Block> },
    /// A key of an object.
    Key { object: ast::Object },
    /// A name after a dot.
    Step { dot: SyntaxToken },
    /// The beginning of an expression; `after` is the token before it.
    Expression { after: SyntaxToken },
}

impl Place {
    /// Classifies the place of the cursor.
    pub(super) fn of(cursor: &Cursor<'_>) -> Place {
        let nothing =
            Place { kind: Kind::Nothing, replaced: nothing_replaced(cursor), typed: String::new() };
        let inside =
            cursor.tokens().left_biased().filter(|it| it.text_range().start() < cursor.offset);
        if let Some(token) = &inside {
            match token.kind() {
                SyntaxKind::COMMENT if !is_past_line(token, cursor.offset) => return nothing,
                SyntaxKind::OPEN_QUOTE | SyntaxKind::QUOTED_LIT => {
                    return label(cursor, token).unwrap_or(nothing);
                }
                SyntaxKind::STRING_LIT | SyntaxKind::NUMBER => return nothing,
                _ => {}
            }
        }
        let name = inside.filter(|it| it.kind().is_name() || it.kind() == SyntaxKind::COLON2);
        let mut replaced = name.as_ref().map_or(nothing_replaced(cursor), SyntaxToken::text_range);
        let mut typed = name.as_ref().map(|it| typed(it, cursor.offset)).unwrap_or_default();
        for before in name.iter().flat_map(namespaces) {
            replaced = TextRange::new(before.text_range().start(), replaced.end());
            typed.insert_str(0, before.text());
        }
        let kind = kind(cursor, replaced.start());
        Place { kind, replaced, typed }
    }
}

/// The tokens before the last part of the name of a provider's function, such as `provider::a::`, nearest first.
fn namespaces(name: &SyntaxToken) -> Vec<SyntaxToken> {
    let mut before = Vec::new();
    let mut at = name.clone();
    while let Some(token) = at.prev_token() {
        let belongs = match at.kind() {
            SyntaxKind::COLON2 => token.kind().is_name(),
            _ => token.kind() == SyntaxKind::COLON2,
        };
        if !belongs {
            break;
        }
        before.push(token.clone());
        at = token;
    }
    before
}

/// Returns true if the offset is on the line after a line comment; the comment token includes its newline.
fn is_past_line(comment: &SyntaxToken, offset: TextSize) -> bool {
    comment.text().ends_with('\n') && comment.text_range().end() <= offset
}

fn typed(token: &SyntaxToken, offset: TextSize) -> String {
    let length = usize::from(offset.checked_sub(token.text_range().start()).unwrap_or_default());
    token.text().get(..length).unwrap_or_default().to_owned()
}

/// The quoted label at the cursor.
fn label(cursor: &Cursor<'_>, token: &SyntaxToken) -> Option<Place> {
    let label = ast::Label::cast(token.parent()?)?;
    let block = ast::Block::cast(label.syntax().parent()?)?;
    let position = block.labels().position(|it| it == label)?;
    let (replaced, typed) = match token.kind() {
        SyntaxKind::QUOTED_LIT => (token.text_range(), typed(token, cursor.offset)),
        _ => (nothing_replaced(cursor), String::new()),
    };
    Some(Place { kind: Kind::Label { block, position }, replaced, typed })
}

fn kind(cursor: &Cursor<'_>, start: TextSize) -> Kind {
    let Some(before) = cursor.significant_before(start) else { return Kind::Name { block: None } };
    if before.kind() == SyntaxKind::DOT {
        return Kind::Step { dot: before };
    }
    let is_new_line = has_newline_between(&before, start);
    match open_around(&before, start) {
        None if is_new_line => Kind::Name { block: None },
        Some(node) => match (ast::Block::cast(node.clone()), ast::Object::cast(node)) {
            (Some(block), _) if is_new_line || before.kind() == SyntaxKind::L_BRACE => {
                Kind::Name { block: Some(block) }
            }
            (_, Some(object))
                if is_new_line
                    || matches!(before.kind(), SyntaxKind::L_BRACE | SyntaxKind::COMMA) =>
            {
                Kind::Key { object }
            }
            _ => expression(before),
        },
        None => expression(before),
    }
}

fn expression(after: SyntaxToken) -> Kind {
    if begins_expression(after.kind()) { Kind::Expression { after } } else { Kind::Nothing }
}

/// Returns true if an expression can follow a token.
fn begins_expression(kind: SyntaxKind) -> bool {
    use SyntaxKind as K;
    matches!(
        kind,
        K::EQ
            | K::COLON
            | K::FAT_ARROW
            | K::L_PAREN
            | K::L_BRACK
            | K::COMMA
            | K::INTERP_OPEN
            | K::QUESTION
            | K::IN_KW
            | K::IF_KW
            | K::BANG
            | K::MINUS
            | K::PLUS
            | K::STAR
            | K::SLASH
            | K::PERCENT
            | K::AMP2
            | K::PIPE2
            | K::EQ2
            | K::NEQ
            | K::LT
            | K::GT
            | K::LTEQ
            | K::GTEQ
    )
}

/// Returns true if a line ends between a token and an offset.
fn has_newline_between(before: &SyntaxToken, offset: TextSize) -> bool {
    let tokens = std::iter::successors(before.next_token(), SyntaxToken::next_token);
    let between = tokens.take_while(|it| it.text_range().start() < offset);
    let ends_line = |it: SyntaxToken| {
        it.kind() == SyntaxKind::NEWLINE
            || it.kind() == SyntaxKind::COMMENT && it.text().ends_with('\n')
    };
    between.into_iter().any(ends_line)
}

/// The innermost construct whose bracket is open at an offset.
pub(super) fn open_around(token: &SyntaxToken, offset: TextSize) -> Option<SyntaxNode> {
    token.parent_ancestors().find(|node| is_open(node, offset))
}

fn is_open(node: &SyntaxNode, offset: TextSize) -> bool {
    use SyntaxKind as K;
    let mut tokens = node.children_with_tokens().filter_map(|it| it.into_token());
    let opener = tokens.find(|it| {
        matches!(
            it.kind(),
            K::L_BRACE | K::L_BRACK | K::L_PAREN | K::INTERP_OPEN | K::DIRECTIVE_OPEN
        )
    });
    if opener.is_none_or(|it| it.text_range().end() > offset) {
        return false;
    }
    let closer =
        tokens.find(|it| matches!(it.kind(), K::R_BRACE | K::R_BRACK | K::R_PAREN | K::SEQ_END));
    closer.is_none_or(|it| it.text_range().start() >= offset)
}
