//! Completion of variable names in a variables file.

use db::ByteRange;
use sorted::TreeSet;
use syntax::{
    AstNode, NodeOrToken, SyntaxKind, SyntaxNode, TextSize,
    ast::{self, HasItems},
};

use super::{Completions, body};
use crate::{Module, scheme::variables};

/// Proposes variables at the beginning of a line of a variables file. `at` must be a character boundary.
pub(crate) fn in_variables_file(module: Module<'_>, text: &str, at: usize) -> Completions {
    let file = syntax::parse_file(text).tree();
    let Some(range) = name_around(text, at).filter(|_| is_outside(file.syntax(), at)) else {
        return Completions::default();
    };
    let after = text.get(range.end as usize..).unwrap_or_default();
    let has_equals = after.trim_start_matches([' ', '\t']).starts_with('=');
    let given = file.body_items().filter_map(|it| match it {
        ast::BodyItem::Attribute(it) => it.name_token(),
        ast::BodyItem::Block(_) => None,
    });
    let is_typed = |name: &syntax::SyntaxToken| ByteRange::from(name.text_range()) == range;
    let given: TreeSet<String> =
        given.filter(|it| !is_typed(it)).map(|it| it.text().to_owned()).collect();
    let wanted = variables(module).filter(|(_, it)| !given.contains(&*it.name));
    let proposals = wanted.map(|(key, variable)| {
        let proposal = body::input(module, key, variable);
        let insert = format!("{} = ", proposal.label);
        if has_equals { proposal.at(range) } else { proposal.text(insert).at(range) }
    });
    let mut items: Vec<_> = proposals.collect();
    sorted::sort_by(&mut items, |a, b| a.sort_key.cmp(&b.sort_key));
    Completions { items, is_incomplete: false }
}

/// The range of the name around an offset, which may be empty. `None` if other text precedes it on its line.
fn name_around(text: &str, at: usize) -> Option<ByteRange> {
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
    let (before, after) = (text.get(..at)?, text.get(at..)?);
    let start = before.trim_end_matches(is_name).len();
    let line = before.get(..start)?.rsplit('\n').next()?;
    line.trim().is_empty().then_some(())?;
    let end = text.len() - after.trim_start_matches(is_name).len();
    Some(ByteRange { start: u32::try_from(start).ok()?, end: u32::try_from(end).ok()? })
}

/// Returns true if a place is outside of all brackets, heredocs and comments.
fn is_outside(file: &SyntaxNode, at: usize) -> bool {
    use SyntaxKind as K;
    let at = TextSize::new(u32::try_from(at).unwrap_or(u32::MAX));
    let tokens = file.descendants_with_tokens().filter_map(NodeOrToken::into_token);
    let mut depth = 0_usize;
    for token in tokens.take_while(|it| it.text_range().start() < at) {
        let ends_before = token.text_range().end() <= at;
        match token.kind() {
            K::COMMENT if !ends_before => return false,
            K::L_BRACE | K::L_BRACK | K::L_PAREN | K::HEREDOC_OPEN => depth += 1,
            K::R_BRACE | K::R_BRACK | K::R_PAREN | K::HEREDOC_CLOSE => {
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
    }
    depth == 0
}
