//! Conversion of semantic tokens to the protocol's list of numbers.

use ide::{Modifiers, SemanticKind, SemanticToken as Found};
use tower_lsp_server::ls_types::*;

use crate::{
    position::Lines,
    snapshot::{Snapshot, Target},
};

/// The token types by index. They are the protocol's own types, so every theme has colours for them.
pub(crate) const TYPES: &[SemanticTokenType] = &[
    SemanticTokenType::CLASS,
    SemanticTokenType::TYPE,
    SemanticTokenType::NAMESPACE,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::STRUCT,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::KEYWORD,
    SemanticTokenType::STRING,
    SemanticTokenType::NUMBER,
    SemanticTokenType::OPERATOR,
    SemanticTokenType::COMMENT,
    SemanticTokenType::ENUM_MEMBER,
];

/// The token modifiers by bit.
pub(crate) fn modifiers() -> Vec<SemanticTokenModifier> {
    vec![
        SemanticTokenModifier::DECLARATION,
        SemanticTokenModifier::READONLY,
        SemanticTokenModifier::DEPRECATED,
        SemanticTokenModifier::new("ephemeral"),
        SemanticTokenModifier::new("sensitive"),
    ]
}

pub(crate) fn semantic_tokens(snapshot: &Snapshot, target: Target) -> Option<SemanticTokens> {
    let lines = snapshot.lines(target.file);
    Some(flat(&lines, ide::semantic_tokens(snapshot.document(target))))
}

pub(crate) fn semantic_tokens_in(
    snapshot: &Snapshot,
    target: Target,
    range: Range,
) -> Option<SemanticTokens> {
    let lines = snapshot.lines(target.file);
    let found = ide::semantic_tokens_in(snapshot.document(target), lines.bytes(range));
    Some(flat(&lines, found))
}

/// Encodes each token relative to the previous one. Splits tokens at line ends, because not every client supports
/// tokens over several lines.
fn flat(lines: &Lines, found: Vec<Found>) -> SemanticTokens {
    let mut data = Vec::with_capacity(found.len());
    let mut last = Position::default();
    for token in &found {
        let (start, end) = (lines.position(token.range.start), lines.position(token.range.end));
        for line in start.line..=end.line {
            let from = if line == start.line { start.character } else { 0 };
            let to = if line == end.line { end.character } else { lines.columns(line) };
            if to <= from {
                continue;
            }
            let is_same_line = line == last.line;
            data.push(SemanticToken {
                delta_line: line - last.line,
                delta_start: if is_same_line { from - last.character } else { from },
                length: to - from,
                token_type: number(token.kind),
                token_modifiers_bitset: bits(token.modifiers),
            });
            last = Position::new(line, from);
        }
    }
    SemanticTokens { result_id: None, data }
}

fn number(kind: SemanticKind) -> u32 {
    let ty = match kind {
        SemanticKind::BlockType => SemanticTokenType::CLASS,
        SemanticKind::Type => SemanticTokenType::TYPE,
        SemanticKind::Provider | SemanticKind::Namespace | SemanticKind::Module => {
            SemanticTokenType::NAMESPACE
        }
        SemanticKind::Variable | SemanticKind::Bound => SemanticTokenType::PARAMETER,
        SemanticKind::Local => SemanticTokenType::VARIABLE,
        SemanticKind::Resource => SemanticTokenType::STRUCT,
        SemanticKind::Output => SemanticTokenType::ENUM_MEMBER,
        SemanticKind::Property => SemanticTokenType::PROPERTY,
        SemanticKind::Function => SemanticTokenType::FUNCTION,
        SemanticKind::Keyword => SemanticTokenType::KEYWORD,
        SemanticKind::String => SemanticTokenType::STRING,
        SemanticKind::Number => SemanticTokenType::NUMBER,
        SemanticKind::Operator => SemanticTokenType::OPERATOR,
        SemanticKind::Comment => SemanticTokenType::COMMENT,
    };
    TYPES.iter().position(|it| *it == ty).unwrap_or_default() as u32
}

fn bits(modifiers: Modifiers) -> u32 {
    let Modifiers { declaration, readonly, ephemeral, sensitive, deprecated } = modifiers;
    let all = [declaration, readonly, deprecated, ephemeral, sensitive];
    all.into_iter().enumerate().map(|(bit, is_set)| u32::from(is_set) << bit).sum()
}
