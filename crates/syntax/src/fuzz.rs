//! The properties that hold for every text. The fuzz targets (`fuzz/`) and the tests of this crate call the same
//! functions.

use unicode_normalization::UnicodeNormalization as _;

use crate::ast::{self, AstNode};
use crate::chunk::{Chunks, split};
use crate::flat::FlatParse;
use crate::format::{format, format_range};
use crate::parse::{
    Parse, parse_chunk, parse_expression, parse_file, parse_template, parse_traversal,
};
use crate::{
    Direction, MAX_DEPTH, NodeOrToken, SyntaxElement, SyntaxKind, SyntaxNode, SyntaxToken,
    WalkEvent, template,
};

/// Checks that parsing does not panic, that the tree's text equals the input, that errors lie within it, and that
/// no tree exceeds the maximum depth.
///
/// # Panics
///
/// Panics if one of these properties does not hold.
pub fn check_parse(text: &str) {
    check(&parse_file(text), text);
    check(&parse_chunk(text), text);
    check(&parse_expression(text), text);
    check(&parse_traversal(text), text);
    check(&parse_template(text), text);
    check_flat(&FlatParse::chunk(text), &parse_chunk(text), text);
    check_flat(&FlatParse::expression(text), &parse_expression(text), text);
    check_flat(&FlatParse::template(text), &parse_template(text), text);
}

/// Checks that the flat tree of a text agrees with the lossless one.
fn check_flat<T>(flat: &FlatParse<'_>, parse: &Parse<T>, text: &str) {
    assert_eq!(flat.entries(), FlatParse::of(parse, text).entries(), "of {text:?}");
    assert_eq!(flat.errors(), parse.errors(), "of {text:?}");
}

fn check<T: AstNode>(parse: &Parse<T>, text: &str) {
    let root = parse.syntax();
    assert!(root.text() == text, "the tree of {text:?} says {:?}", root.text());
    for error in parse.errors() {
        assert!(usize::from(error.range.end()) <= text.len(), "{error:?} is outside {text:?}");
        assert!(
            text.get(std::ops::Range::from(error.range)).is_some(),
            "{error:?} cuts a character of {text:?}"
        );
    }
    let mut depth = 0_usize;
    for event in root.preorder() {
        match event {
            WalkEvent::Enter(_) => depth += 1,
            WalkEvent::Leave(_) => depth -= 1,
        }
        assert!(depth <= MAX_DEPTH, "the tree of {text:?} is too deep");
    }
    lower_templates(&root);
    drop(parse.tree());
}

/// Lowers all templates, traversals and labels. Lowering must accept any tree: a part that the tree lacks is
/// missing from the result too.
fn lower_templates(root: &SyntaxNode) {
    for node in root.descendants() {
        if let Some(it) = ast::QuotedTemplate::cast(node.clone()) {
            template::quoted(&it);
        } else if let Some(it) = ast::Heredoc::cast(node.clone()) {
            template::heredoc(&it);
        } else if let Some(it) = ast::TemplateFile::cast(node.clone()) {
            template::bare(&it);
        } else if let Some(it) = ast::Traversal::cast(node.clone()) {
            it.accesses();
        } else if let Some(it) = ast::Label::cast(node) {
            it.text();
        }
    }
}

/// Checks that the chunks cover the text, and that each parses alone to the same tree as in the file.
///
/// # Panics
///
/// Panics if one of these properties does not hold.
pub fn check_chunks(text: &str) {
    let ranges = split(text);
    assert_eq!(Chunks::of(text), Chunks::of_tokens(text), "of {text:?}");
    let file = parse_file(text);
    let mut children = Vec::new();
    let mut errors = Vec::new();
    let mut at = 0.into();
    for range in &ranges {
        assert!(range.start() == at && !range.is_empty(), "the chunks of {text:?} are {ranges:?}");
        at = range.end();
        let parse = parse_chunk(&text[*range]);
        children.extend(parse.green().children().map(|child| child.to_owned()));
        errors.extend(parse.errors().iter().map(|error| error.shifted(range.start())));
    }
    assert_eq!(usize::from(at), text.len(), "the chunks of {text:?} are {ranges:?}");
    assert!(
        file.green().children().map(|child| child.to_owned()).eq(children),
        "{text:?} cut at {ranges:?} parses differently"
    );
    // Only the parse of the file finds attributes that are set in two chunks.
    let of_chunks: Vec<_> =
        file.errors().iter().filter(|error| errors.contains(error)).cloned().collect();
    assert_eq!(of_chunks, errors, "{text:?} cut at {ranges:?} has other errors");
}

/// Checks that a correct text has the same tree parsed as a whole and chunk by chunk.
///
/// # Panics
///
/// Panics if the two trees differ.
pub fn check_correct_text(text: &str) {
    let (whole, file) = (parse_chunk(text), parse_file(text));
    if whole.errors().is_empty() {
        assert!(
            whole == file,
            "{text:?} is correct as a whole, but not cut at {:?}: {:?}",
            split(text),
            file.errors()
        );
    }
}

/// Checks that updating the chunks after an edit gives the same result as splitting the new text.
///
/// # Panics
///
/// Panics if the two results differ.
pub fn check_edit(old: &str, new: &str) {
    let followed = Chunks::of(old).after_edit(old, new);
    assert_eq!(followed, Chunks::of(new), "after the edit of {old:?} to {new:?}");
}

/// Checks that the formatted text is correct, has the same meaning and is stable, and that the edits for any range
/// agree with the whole.
///
/// # Panics
///
/// Panics if one of these properties does not hold.
pub fn check_format(text: &str) {
    let correct = parse_chunk(text).errors().is_empty();
    let Ok(once) = format(text) else {
        return assert!(!correct, "{text:?} is correct, but not formatted");
    };
    assert!(correct, "{text:?} is formatted, but not correct");
    let parse = parse_file(&once);
    assert!(parse.errors().is_empty(), "{text:?} becomes {once:?}: {:?}", parse.errors());
    assert_eq!(essence(text), essence(&once), "{text:?} means something else as {once:?}");
    check_comments(text, &once);
    check_again(text, &once);
    for part in [0..text.len(), text.len() / 3..text.len() / 2] {
        check_format_range(text, &once, part);
    }
}

/// Checks that formatting is idempotent, except for nested interpolations: each pass removes one of them.
fn check_again(text: &str, once: &str) {
    let twice = format(once).expect("what is formatted is correct");
    let sequences = |text: &str| text.matches("${").count();
    assert!(
        twice == *once || sequences(&twice) < sequences(once),
        "{text:?} becomes {once:?}, and that {twice:?}"
    );
}

/// Checks that formatting keeps all comments except those in block headers.
fn check_comments(text: &str, once: &str) {
    let outside_of_headers = |text: &str| -> Vec<String> {
        let root = parse_file(text).syntax();
        let tokens = root.descendants_with_tokens().filter_map(|it| it.into_token());
        let comments = tokens.filter(|it| it.kind() == SyntaxKind::COMMENT);
        let kept = comments.filter(|it| !is_in_header(it));
        kept.map(|it| it.text().to_owned()).collect()
    };
    assert_eq!(outside_of_headers(text), outside_of_headers(once), "{text:?} becomes {once:?}");
}

fn is_in_header(comment: &SyntaxToken) -> bool {
    let is_brace = |it: SyntaxElement| it.kind() == SyntaxKind::L_BRACE;
    comment.parent().is_some_and(|it| it.kind() == SyntaxKind::BLOCK)
        && !comment.siblings_with_tokens(Direction::Prev).any(is_brace)
}

fn check_format_range(text: &str, whole: &str, part: std::ops::Range<usize>) {
    let is_all = part == (0..text.len());
    let size = |at: usize| crate::TextSize::new(u32::try_from(at).unwrap_or(u32::MAX));
    let range = crate::TextRange::new(size(part.start), size(part.end));
    let edits = format_range(text, range).expect("the text is correct");
    let all = format_range(text, crate::TextRange::up_to(size(text.len()))).expect("it is");
    assert!(edits.iter().all(|it| all.contains(it)), "{text:?} at {range:?}: {edits:?}");
    let mut out = String::new();
    let mut at = 0;
    for edit in edits {
        let (start, end) = (usize::from(edit.range.start()), usize::from(edit.range.end()));
        assert_ne!(text[start..end], edit.replacement, "an edit of {text:?} changes nothing");
        out.push_str(&text[at..start]);
        out.push_str(&edit.replacement);
        at = end;
    }
    out.push_str(&text[at..]);
    if is_all {
        assert_eq!(out, whole, "the edits of {text:?}");
    } else {
        assert_eq!(essence(&out), essence(text), "the edits of {text:?} at {range:?}");
    }
}

/// Returns true if two texts differ only in ways that formatting may cause.
pub fn means_the_same(one: &str, other: &str) -> bool {
    essence(one) == essence(other)
}

/// Returns a normal form of a text that formatting does not change.
fn essence(text: &str) -> String {
    let mut out = String::new();
    write_essence(&mut out, &parse_file(text).syntax());
    out
}

fn write_essence(out: &mut String, node: &SyntaxNode) {
    if let Some(label) = ast::Label::cast(node.clone()) {
        let text = label.text();
        return out.extend(['"'].into_iter().chain(text.nfc()).chain(['"']));
    }
    let node = match node.parent().map(|it| it.kind()) {
        Some(SyntaxKind::ATTRIBUTE) => unwrapped(node.clone()),
        _ => node.clone(),
    };
    if let Some(ty) = modern_type(&node) {
        return out.push_str(&ty);
    }
    out.push_str(&format!("({:?}", node.kind()));
    for child in node.children_with_tokens() {
        match child {
            NodeOrToken::Node(child) => write_essence(out, &child),
            NodeOrToken::Token(token) if token.kind().is_trivia() => {}
            NodeOrToken::Token(token) => {
                out.push(' ');
                out.push_str(token.text());
            }
        }
    }
    out.push(')');
}

/// Returns the expression inside interpolations and parentheses that make up a whole value.
fn unwrapped(mut node: SyntaxNode) -> SyntaxNode {
    loop {
        let is_single = || {
            let mut tokens = node.children_with_tokens().filter_map(|it| it.into_token());
            tokens.all(|it| it.kind() != SyntaxKind::QUOTED_LIT) && node.children().count() == 1
        };
        let inner = match node.kind() {
            SyntaxKind::QUOTED_TEMPLATE if is_single() => {
                node.first_child().filter(|it| it.kind() == SyntaxKind::INTERPOLATION)
            }
            SyntaxKind::PAREN => Some(node.clone()),
            _ => None,
        };
        match inner.and_then(|it| it.first_child()) {
            Some(inner) => node = inner,
            None => return node,
        }
    }
}

/// Returns the normal form of the value of `type` in a `variable` block. `None` if the type is not one that may be
/// rewritten.
fn modern_type(node: &SyntaxNode) -> Option<String> {
    let attribute = node.parent().and_then(ast::Attribute::cast)?;
    if attribute.name_token()?.text() != "type" {
        return None;
    }
    let written: String = node.text().to_string().split_whitespace().collect();
    let modern = match written.as_str() {
        "list" | "list(any)" => "list(any)",
        "map" | "map(any)" => "map(any)",
        "set" | "set(any)" => "set(any)",
        "\"string\"" | "string" => "string",
        "\"list\"" | "list(string)" => "list(string)",
        "\"map\"" | "map(string)" => "map(string)",
        _ => return None,
    };
    Some(modern.to_owned())
}
