//! Counts the columns of a token.
//!
//! A column is a grapheme cluster, however wide a terminal draws it. Clusters are counted token by token.
//! OpenTofu's tokens of literal text end at each `$` and `%`, so a combining mark after a `$` has a column of its
//! own.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::syntax_kind::SyntaxKind;

/// Returns the number of columns of a token.
pub(super) fn columns(kind: SyntaxKind, text: &str) -> usize {
    if text.bytes().all(|byte| byte.is_ascii() && byte != b'\r') {
        return text.len();
    }
    match kind.is_template_literal() {
        true => literal_tokens(text).map(clusters).sum(),
        false => clusters(text),
    }
}

fn clusters(text: &str) -> usize {
    text.graphemes(true).map(|cluster| 1 + conjuncts(cluster)).sum()
}

/// Returns the number of letters in a cluster that begin a cluster of their own by the rules of Unicode 15.0,
/// which OpenTofu uses. In that version a sign such as the virama does not join a consonant to the one before it.
fn conjuncts(cluster: &str) -> usize {
    const JOINING: &str = "\u{915}\u{94d}";
    const PREPENDED: char = '\u{d4e}';
    let is_one = |text: &str| text.graphemes(true).nth(1).is_none();
    let is_joined = |(before, it): &(char, char)| {
        *before != PREPENDED && !is_one(&format!("a{it}")) && is_one(&format!("{JOINING}{it}"))
    };
    let letters = cluster.chars();
    letters.clone().zip(letters.skip(1)).filter(is_joined).count()
}

/// Splits literal text into the tokens of OpenTofu's lexer: text without a sign, a single sign, an escaped
/// opening.
pub(super) fn literal_tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (token, behind) = rest.split_at(first_literal_token(rest));
        rest = behind;
        (!token.is_empty()).then_some(token)
    })
}

fn first_literal_token(text: &str) -> usize {
    match text.find(['$', '%']) {
        None => text.len(),
        Some(0) if ["$${~", "%%{~"].iter().any(|it| text.starts_with(it)) => 4,
        Some(0) if ["$${", "%%{"].iter().any(|it| text.starts_with(it)) => 3,
        Some(0) => 1,
        Some(at) => at,
    }
}
