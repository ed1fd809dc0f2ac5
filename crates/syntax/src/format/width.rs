//! How many columns a token takes.
//!
//! A column is a grapheme cluster, however wide a terminal draws it. Clusters are counted token by token, and the reference's tokens of
//! literal text end at each `$` and `%`: a combining mark after a `$` has a column of its own.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::syntax_kind::SyntaxKind;

/// The columns of a token.
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

/// How many letters of a cluster begin one of their own by the rules of Unicode 15.0, which the reference counts by: until then, a consonant
/// was not joined to the one before it by a sign such as the virama.
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

/// Literal text as the reference cuts it: what has no sign, a sign by itself, an escaped opening.
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
