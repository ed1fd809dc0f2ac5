//! Resolution of the further steps of a reference to keys of object constructors.

use hir::{Ref, names::ItemName};
use syntax::{
    AstNode, SyntaxKind,
    ast::{self, HasItems},
};
use values::Str;

use super::chain::{Chain, item_name};
use crate::{Cursor, FileRange, Module, block_syntax::top_level, scheme::call_of};

/// The maximal number of references to follow; a cycle such as `local.a` = `local.b` = `local.a` would have no
/// end.
const MAX_HOPS: usize = 32;

/// The key that a path into a variable or a local leads to.
pub(super) fn from(module: &Module<'_>, reference: &Ref, path: &[Str]) -> Option<FileRange> {
    step(module, &item_name(reference)?, path, MAX_HOPS)
}

/// The key that a path into an output leads to.
pub(super) fn output(module: &Module<'_>, name: &ItemName, path: &[Str]) -> Option<FileRange> {
    step(module, name, path, MAX_HOPS)
}

fn step(module: &Module<'_>, name: &ItemName, path: &[Str], hops: usize) -> Option<FileRange> {
    let (tree, value) = value(module, name)?;
    inside(&tree, &value, path, hops.checked_sub(1)?)
}

/// The block that declares an item.
pub(crate) fn block<'db>(
    module: &Module<'db>,
    name: &ItemName,
) -> Option<(Cursor<'db>, ast::Block)> {
    let declaration = module.declaration(name)?;
    let tree = module.document(declaration.name.file).cursor(declaration.name.range.start)?;
    let block =
        top_level(&tree.root.covering_element(syntax::TextRange::empty(tree.offset)).parent()?)?;
    Some((tree, block))
}

/// The expression that defines an item: the value of a local or an output, the type of a variable.
pub(crate) fn value<'db>(
    module: &Module<'db>,
    name: &ItemName,
) -> Option<(Cursor<'db>, ast::Expr)> {
    let (tree, block) = block(module, name)?;
    let argument = match name {
        ItemName::Local(name) => &**name,
        ItemName::Output(_) => "value",
        ItemName::Variable(_) => "type",
        _ => return None,
    };
    let value = block.body()?.attribute(argument)?.value()?;
    Some((tree, value))
}

/// Follows a path into an expression, and through references.
fn inside(tree: &Cursor<'_>, expr: &ast::Expr, path: &[Str], hops: usize) -> Option<FileRange> {
    let (first, rest) = path.split_first()?;
    match expr {
        ast::Expr::Paren(it) => inside(tree, &it.expr()?, path, hops),
        // The type constraints `object({ a = string })` and `optional(object(…))`.
        ast::Expr::Call(call) if matches!(call.name()?.as_str(), "object" | "optional") => {
            inside(tree, &call.args().next()?, path, hops)
        }
        ast::Expr::Object(object) => {
            let item = object.items().find(|item| key_text(item).as_deref() == Some(first))?;
            let key = item.key()?;
            match rest {
                [] => Some(tree.file_range(key.syntax().text_range())),
                rest => inside(tree, &item.value()?, rest, hops),
            }
        }
        ast::Expr::Reference(_) | ast::Expr::Traversal(_) => through(tree, expr, path, hops),
        _ => None,
    }
}

/// The literal text of a key.
fn key_text(item: &ast::ObjectItem) -> Option<String> {
    let key = item.key()?;
    match key.name_token() {
        Some(name) => Some(name.text().to_owned()),
        None => match key.expr()? {
            ast::Expr::QuotedTemplate(quoted) => quoted.literal_text(),
            _ => None,
        },
    }
}

fn through(tree: &Cursor<'_>, expr: &ast::Expr, path: &[Str], hops: usize) -> Option<FileRange> {
    let chain = Chain::of(expr)?;
    if expr
        .syntax()
        .ancestors()
        .any(|it| matches!(it.kind(), SyntaxKind::FOR_TUPLE | SyntaxKind::FOR_OBJECT))
    {
        // An enclosing `for` may bind the name.
        return None;
    }
    let (reference, taken) = tree.document.reference_root(chain.root.text(), &chain.steps)?;
    let module = tree.document.module();
    let (module, name, taken) = match &reference {
        Ref::Module(call) => {
            let ast::Step::AttrStep(output) = chain.steps.get(taken)? else { return None };
            let child = module.with_directory(call_of(&module, call)?);
            (child, ItemName::Output(output.name()?.as_str().into()), taken + 1)
        }
        reference => (module, item_name(reference)?, taken),
    };
    let steps = chain.steps.get(taken..)?.iter().map(|step| match step {
        ast::Step::AttrStep(step) => Some(Str::from(&*step.name()?)),
        _ => None,
    });
    let mut whole: Vec<Str> = steps.collect::<Option<_>>()?;
    whole.extend_from_slice(path);
    step(&module, &name, &whole, hops)
}
