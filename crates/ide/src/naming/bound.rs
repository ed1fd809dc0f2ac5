//! Names that `for`, `%{ for }` and `dynamic` bind.

use std::{cell::RefCell, rc::Rc};

use rustc_hash::FxHashMap;
use syntax::{
    AstNode, SyntaxKind, SyntaxNode, SyntaxToken, TextRange, TextSize,
    ast::{self, HasItems},
};

use super::{Named, Occurrence, name_range};
use crate::Cursor;

/// A name in `for k, v in`.
pub(super) fn declaration(
    tree: &Cursor<'_>,
    parent: &SyntaxNode,
    token: &SyntaxToken,
) -> Option<Occurrence> {
    let is_name = names(parent).into_iter().flatten().any(|name| name == *token);
    let named = Named::Bound(tree.block, token.text_range());
    is_name.then(|| Occurrence::declaration(named, token.text_range()))
}

/// The names that an introduction binds; of two that are equal the later counts, so it comes first.
fn names(introduction: &SyntaxNode) -> [Option<SyntaxToken>; 2] {
    if let Some(it) = ast::ForIntro::cast(introduction.clone()) {
        return [it.value_name(), it.key_name()];
    }
    match ast::TemplateFor::cast(introduction.clone()) {
        Some(it) => [it.value_name(), it.key_name()],
        None => [None, None],
    }
}

/// The binding that a name stands for at a place, the innermost first.
pub(crate) fn find(
    tree: &Cursor<'_>,
    templates: &Templates,
    name: &str,
    at: &SyntaxNode,
) -> Option<Named> {
    let mut inner = at.clone();
    for around in at.ancestors().skip(1) {
        let found = match around.kind() {
            // What is gone through is not inside.
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

/// What the directives of templates bind, read once for each template.
///
/// They are a flat list, so that who looks for what is open at a part would have to go through all parts before it.
#[derive(Default)]
pub(crate) struct Templates {
    read: RefCell<FxHashMap<TextRange, Rc<Directives>>>,
}

/// The directives of one template in order: where each ends, and the innermost `for` that is open from there on.
#[derive(Default)]
struct Directives {
    ends: Vec<(TextSize, Option<usize>)>,
    loops: Vec<Loop>,
}

/// A `for` of a template.
struct Loop {
    node: SyntaxNode,
    /// The one around it.
    outer: Option<usize>,
}

impl Templates {
    /// What a name stands for in a part of a template.
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
            directives.ends.push((child.text_range().end(), open));
        }
        directives
    }

    fn find(&self, at: TextSize, name: &str) -> Option<TextRange> {
        let before = self.ends.partition_point(|(end, _)| *end <= at).checked_sub(1)?;
        let mut open = self.ends.get(before)?.1;
        while let Some(around) = open.and_then(|it| self.loops.get(it)) {
            if let Some(range) = of_name(&around.node, name) {
                return Some(range);
            }
            open = around.outer;
        }
        None
    }
}

/// The name of a dynamic block's iterator.
pub(crate) struct Iterator {
    /// The name.
    pub(crate) text: String,
    /// Where it is bound: in `iterator`, or in the label.
    pub(crate) range: TextRange,
    /// Whether `iterator` names it.
    pub(crate) is_explicit: bool,
}

/// The iterator of a dynamic block.
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

/// Whether a place of a dynamic block sees its iterator: the content and the labels do.
fn is_inside(block: &ast::Block, at: &SyntaxNode) -> bool {
    let Some(body) = block.body() else { return false };
    let is_around = |node: &SyntaxNode| node.text_range().contains_range(at.text_range());
    body.attribute("labels").is_some_and(|it| is_around(it.syntax()))
        || body.blocks().any(|it| is_around(it.syntax()))
}

/// The value of `iterator`.
pub(super) fn iterator(tree: &Cursor<'_>, block: &ast::Block) -> Option<Occurrence> {
    let iterator = iterator_name(block)?;
    Some(Occurrence::declaration(Named::Bound(tree.block, iterator.range), iterator.range))
}

/// The label of a dynamic block that names its iterator, too.
pub(super) fn iterator_label(
    tree: &Cursor<'_>,
    block: &ast::Block,
    label: &ast::Label,
) -> Option<Occurrence> {
    let iterator = iterator_name(block).filter(|it| !it.is_explicit)?;
    let is_it = iterator.range == name_range(label.syntax());
    is_it.then(|| Occurrence::declaration(Named::Bound(tree.block, iterator.range), iterator.range))
}
