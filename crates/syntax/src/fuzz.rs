//! What holds for every text. The fuzz targets (`fuzz/`) and the tests of this crate run the same functions.

use crate::ast::{self, AstNode};
use crate::chunk::{Chunks, split};
use crate::parse::{
    Parse, parse_chunk, parse_expression, parse_file, parse_template, parse_traversal,
};
use crate::{MAX_DEPTH, SyntaxNode, WalkEvent, template};

/// Parsing never panics, the tree's text is the text, errors lie within it, and no tree is too deep.
///
/// # Panics
///
/// Where that does not hold.
pub fn check_parse(text: &str) {
    check(&parse_file(text), text);
    check(&parse_chunk(text), text);
    check(&parse_expression(text), text);
    check(&parse_traversal(text), text);
    check(&parse_template(text), text);
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

/// Lowering is total: whatever the tree lacks is absent from the result too.
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

/// The chunks cover the text, and each parses alone to what it is in the file.
///
/// # Panics
///
/// Where that does not hold.
pub fn check_chunks(text: &str) {
    let ranges = split(text);
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
    // Only the file knows of attributes that are set in two chunks.
    let of_chunks: Vec<_> =
        file.errors().iter().filter(|error| errors.contains(error)).cloned().collect();
    assert_eq!(of_chunks, errors, "{text:?} cut at {ranges:?} has other errors");
}

/// A correct text parses as one run to the same tree as chunk by chunk.
///
/// # Panics
///
/// Where that does not hold.
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

/// Following an edit gives what a fresh look gives.
///
/// # Panics
///
/// Where that does not hold.
pub fn check_edit(old: &str, new: &str) {
    let followed = Chunks::of(old).after_edit(old, new);
    assert_eq!(followed, Chunks::of(new), "after the edit of {old:?} to {new:?}");
}
