//! Name resolution in the text of a file.
//!
//! Start reading at [`Occurrence::at`]. Go to definition, find references and rename all resolve names through it,
//! so that they agree. Hover and semantic tokens use [`Chain::read_as`], on which it is built.
//!
//! ```text
//! token ──► Chain ──► ReadAs ──► Occurrence { named, range, role }      named ──► declarations(…)
//! ```

mod argument;
mod bound;
mod chain;
mod declarations;
mod follow;
mod named;
mod of_test;
mod reference;

use hir::names::ItemName;
use syntax::{AstNode, SyntaxKind, SyntaxToken, ast};

use crate::{
    Cursor,
    block_syntax::{is_top_level, literal, name_label, name_range},
    test_file,
};

pub(crate) use self::{
    argument::{Written, called},
    bound::{Templates, find as bound, iterator_name},
    chain::{Chain, item_name},
    declarations::declared_name,
    follow::{block, value},
    named::{Named, Occurrence},
    of_test::in_address,
    reference::Interpretation,
};
pub use self::{declarations::Declaration, named::Role};

impl Occurrence {
    /// Resolves a token of a block's tree. `None` if the token is not part of a name.
    pub(crate) fn at(tree: &Cursor<'_>, token: &SyntaxToken) -> Option<Occurrence> {
        Occurrence::among(tree, &Templates::default(), token)
    }

    /// Resolves one of many tokens of a tree. `templates` caches the bindings of the tree's templates.
    pub(crate) fn among(
        tree: &Cursor<'_>,
        templates: &Templates,
        token: &SyntaxToken,
    ) -> Option<Occurrence> {
        let parent = token.parent()?;
        match parent.kind() {
            SyntaxKind::LABEL => label(tree, &ast::Label::cast(parent)?),
            SyntaxKind::ATTRIBUTE => argument::name(tree, &ast::Attribute::cast(parent)?),
            SyntaxKind::OBJECT_KEY => argument::key(tree, &ast::ObjectKey::cast(parent)?),
            SyntaxKind::QUOTED_TEMPLATE => {
                argument::text(tree, &ast::QuotedTemplate::cast(parent)?)
            }
            SyntaxKind::FOR_INTRO | SyntaxKind::TEMPLATE_FOR => {
                bound::declaration(tree, &parent, token)
            }
            SyntaxKind::REFERENCE | SyntaxKind::ATTR_STEP => {
                reference::at(tree, templates, &parent)
            }
            _ => None,
        }
    }
}

/// Resolves the label that names the declared item of a block, or the iterator of a `dynamic` block.
fn label(tree: &Cursor<'_>, label: &ast::Label) -> Option<Occurrence> {
    let block = ast::Block::cast(label.syntax().parent()?)?;
    if let Some(found) = bound::iterator_label(tree, &block, label) {
        return Some(found);
    }
    if tree.document.is_test() {
        return test_label(&block, label);
    }
    let name = declared(&block)?;
    let named = block.labels().nth(name_label(&block)?)?;
    (named.syntax() == label.syntax()).then_some(())?;
    let range = name_range(label.syntax());
    Some(Occurrence::declaration(Named::Item(tree.document.directory, name), range))
}

/// Resolves the label that names a run or a provider configuration of a test file.
fn test_label(block: &ast::Block, label: &ast::Label) -> Option<Occurrence> {
    let is_first = block.labels().next().is_some_and(|it| it.syntax() == label.syntax());
    (is_first && is_top_level(block.syntax())).then_some(())?;
    let name = test_file::declared(block)?;
    Some(Occurrence::declaration(Named::OfTest(name), name_range(label.syntax())))
}

/// The name of the item that a top-level block declares. `None` for `locals` and for blocks without a named item.
fn declared(block: &ast::Block) -> Option<ItemName> {
    is_top_level(block.syntax()).then_some(())?;
    let labels: Vec<_> = block.label_texts().collect();
    let one = || labels.first().map(|it| values::Str::from(&**it));
    let resource = |mode| {
        let [ty, name] = labels.as_slice() else { return None };
        Some(ItemName::Resource(addr::Resource::new(mode, ty.clone(), name.clone())))
    };
    match block.block_type()?.as_str() {
        "variable" => Some(ItemName::Variable(one()?)),
        "output" => Some(ItemName::Output(one()?)),
        "module" => Some(ItemName::Module(one()?)),
        "check" => Some(ItemName::Check(one()?)),
        "provider" => Some(ItemName::Provider(one()?, literal(block, "alias"))),
        "resource" => resource(addr::ResourceMode::Managed),
        "data" => resource(addr::ResourceMode::Data),
        "ephemeral" => resource(addr::ResourceMode::Ephemeral),
        _ => None,
    }
}
