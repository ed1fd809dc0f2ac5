//! Names that `for`, `%{ for }` and `dynamic` bind.

use std::{cell::RefCell, rc::Rc};

use rustc_hash::FxHashMap;
use syntax::{
    AstNode, SyntaxKind, SyntaxNode, SyntaxToken, TextRange, TextSize,
    ast::{self, HasItems},
};

use super::named::{Named, Occurrence};
use crate::{Cursor, block_syntax::name_range};

/// Resolves a name at its binding in `for k, v in`.
pub(super) fn declaration(
    tree: &Cursor<'_>,
    parent: &SyntaxNode,
    token: &SyntaxToken,
) -> Option<Occurrence> {
    let is_name = names(parent).into_iter().flatten().any(|name| name == *token);
    let named = Named::Bound(tree.block, token.text_range());
    is_name.then(|| Occurrence::declaration(named, token.text_range()))
}

/// The names that a `for` binds. The value name comes first: if both names are equal, it shadows the key name.
fn names(introduction: &SyntaxNode) -> [Option<SyntaxToken>; 2] {
    if let Some(it) = ast::ForIntro::cast(introduction.clone()) {
        return [it.value_name(), it.key_name()];
    }
    match ast::TemplateFor::cast(introduction.clone()) {
        Some(it) => [it.value_name(), it.key_name()],
        None => [None, None],
    }
}

/// The innermost binding of a name that is visible at a place.
pub(crate) fn find(
    tree: &Cursor<'_>,
    templates: &Templates,
    name: &str,
    at: &SyntaxNode,
) -> Option<Named> {
    let mut inner = at.clone();
    for around in at.ancestors().skip(1) {
        let found = match around.kind() {
            // The collection of a `for` does not see the bindings of that `for`.
            SyntaxKind::FOR_TUPLE | SyntaxKind::FOR_OBJECT
                if inner.kind() != SyntaxKind::FOR_INTRO =>
            {
                let introduction = around.children().find(|it| it.kind() == SyntaxKind::FOR_INTRO);
                introduction.and_then(|it| of_name(&it, name))
            }
            SyntaxKind::QUOTED_TEMPLATE | SyntaxKind::HEREDOC => {
                templates.find(&around, &inner, name)
            }
            SyntaxKind::BLOCK => {
                let block = ast::Block::cast(around.clone());
                block.and_then(|block| {
                    let iterator = iterator_name(&block).filter(|it| it.text == name)?;
                    is_inside(&block, at).then_some(iterator.range)
                })
            }
            _ => None,
        };
        if let Some(range) = found {
            return Some(Named::Bound(tree.block, range));
        }
        inner = around;
    }
    None
}

fn of_name(introduction: &SyntaxNode, name: &str) -> Option<TextRange> {
    let mut names = names(introduction).into_iter().flatten();
    names.find(|token| token.text() == name).map(|token| token.text_range())
}

/// A cache of the bindings of template directives, computed once per template.
///
/// The directives are a flat list of siblings. Without the cache, each lookup would scan all parts of the template
/// before its place.
#[derive(Default)]
pub(crate) struct Templates {
    read: RefCell<FxHashMap<TextRange, Rc<Directives>>>,
}

/// The directives of one template in order: the end of each, and the innermost `for` that is open from there on.
#[derive(Default)]
struct Directives {
    ends: Vec<DirectiveEnd>,
    loops: Vec<Loop>,
}

/// The end of a directive.
struct DirectiveEnd {
    at: TextSize,
    /// The index of the innermost `for` that is open from there on.
    open: Option<usize>,
}

/// A `for` directive of a template.
struct Loop {
    node: SyntaxNode,
    /// The index of the enclosing `for`.
    outer: Option<usize>,
}

impl Templates {
    /// The binding of a name that is visible in a part of a template.
    fn find(&self, template: &SyntaxNode, part: &SyntaxNode, name: &str) -> Option<TextRange> {
        let directives = {
            let mut read = self.read.borrow_mut();
            let entry = read.entry(template.text_range());
            Rc::clone(entry.or_insert_with(|| Rc::new(Directives::of(template))))
        };
        directives.find(part.text_range().start(), name)
    }
}

impl Directives {
    fn of(template: &SyntaxNode) -> Directives {
        let mut directives = Directives::default();
        let mut open = None;
        for child in template.children() {
            match child.kind() {
                SyntaxKind::TEMPLATE_FOR => {
                    directives.loops.push(Loop { node: child.clone(), outer: open });
                    open = Some(directives.loops.len() - 1);
                }
                SyntaxKind::TEMPLATE_END_FOR => {
                    open = open.and_then(|it| directives.loops.get(it)?.outer);
                }
                _ => continue,
            }
            directives.ends.push(DirectiveEnd { at: child.text_range().end(), open });
        }
        directives
    }

    fn find(&self, at: TextSize, name: &str) -> Option<TextRange> {
        let before = self.ends.partition_point(|it| it.at <= at).checked_sub(1)?;
        let mut open = self.ends.get(before)?.open;
        while let Some(around) = open.and_then(|it| self.loops.get(it)) {
            if let Some(range) = of_name(&around.node, name) {
                return Some(range);
            }
            open = around.outer;
        }
        None
    }
}

/// The name of the iterator of a `dynamic` block.
pub(crate) struct Iterator {
    /// The name.
    pub(crate) text: String,
    /// The place of the binding: the value of `iterator`, or the label.
    pub(crate) range: TextRange,
    /// True if the argument `iterator` names it.
    pub(crate) is_explicit: bool,
}

/// The iterator of a `dynamic` block. `None` if the block is of another type.
pub(crate) fn iterator_name(block: &ast::Block) -> Option<Iterator> {
    (block.block_type()? == "dynamic").then_some(())?;
    if let Some(attribute) = block.body()?.attribute("iterator") {
        let token = attribute.value()?.name_token()?;
        return Some(Iterator {
            text: token.text().to_owned(),
            range: token.text_range(),
            is_explicit: true,
        });
    }
    let label = block.labels().next()?;
    Some(Iterator {
        text: label.text().to_string(),
        range: name_range(label.syntax()),
        is_explicit: false,
    })
}

/// Returns true if a place in a `dynamic` block sees the iterator: the content and the labels do.
fn is_inside(block: &ast::Block, at: &SyntaxNode) -> bool {
    let Some(body) = block.body() else { return false };
    let is_around = |node: &SyntaxNode| node.text_range().contains_range(at.text_range());
    body.attribute("labels").is_some_and(|it| is_around(it.syntax()))
        || body.blocks().any(|it| is_around(it.syntax()))
}

/// Resolves the value of `iterator`.
pub(super) fn iterator(tree: &Cursor<'_>, block: &ast::Block) -> Option<Occurrence> {
    let iterator = iterator_name(block)?;
    Some(Occurrence::declaration(Named::Bound(tree.block, iterator.range), iterator.range))
}

/// Resolves the label of a `dynamic` block if it also names the iterator.
pub(super) fn iterator_label(
    tree: &Cursor<'_>,
    block: &ast::Block,
    label: &ast::Label,
) -> Option<Occurrence> {
    let iterator = iterator_name(block).filter(|it| !it.is_explicit)?;
    let is_it = iterator.range == name_range(label.syntax());
    is_it.then(|| Occurrence::declaration(Named::Bound(tree.block, iterator.range), iterator.range))
}
