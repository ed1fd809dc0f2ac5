//! Names in test files: those that such a file declares, and addresses of objects of the module under test.

use addr::ResourceMode;
use hir::{Ref, names::ItemName};
use syntax::{
    AstNode, SyntaxNode,
    ast::{self, HasItems as _},
};
use values::Str;

use super::{
    chain::{Chain, item_name},
    declarations::Declaration,
    named::{Named, Occurrence},
};
use crate::{
    Cursor, Document,
    block_syntax::{literal, name_range},
    language::ValueForm,
    scheme::{call_of, takes},
    test_file::TestName,
};

/// The item of the module that a reference names. `None` if it names none.
pub(crate) fn item_in(document: &Document<'_>, reference: &Ref) -> Option<ItemName> {
    match reference {
        // Checks are named only in test files.
        Ref::Resource(it)
            if document.is_test()
                && it.mode == ResourceMode::Managed
                && it.type_name == "check" =>
        {
            Some(ItemName::Check(it.name.as_str().into()))
        }
        reference => item_name(reference),
    }
}

/// The declarations of a name in its test file.
pub(super) fn declarations(name: &TestName, tree: &Cursor<'_>) -> Vec<Declaration> {
    match name {
        TestName::Run(name) => {
            let run = tree.document.run(name);
            run.and_then(|it| declaration(&it.tree, &it.block, None)).into_iter().collect()
        }
        TestName::Provider(local_name, alias) => {
            let trees = tree.document.trees();
            let found = trees.filter_map(|tree| {
                let block = provider_in(&tree.root)?;
                let own = block.label_texts().next()?;
                let is_it = *own == **local_name && literal(&block, "alias") == *alias;
                declaration(&tree, &block, alias.as_ref().filter(|_| is_it)).filter(|_| is_it)
            });
            found.collect()
        }
    }
}

fn declaration(tree: &Cursor<'_>, block: &ast::Block, alias: Option<&Str>) -> Option<Declaration> {
    let name = match alias {
        Some(_) => block.body()?.attribute("alias")?.value()?.syntax().clone(),
        None => block.labels().next()?.syntax().clone(),
    };
    let full = tree.in_file(block.syntax().text_range());
    Some(Declaration { name: tree.file_range(name_range(&name)), full })
}

fn provider_in(root: &SyntaxNode) -> Option<ast::Block> {
    let blocks = root.children().filter_map(ast::Block::cast);
    let is_one =
        |it: &ast::Block| matches!(it.block_type().as_deref(), Some("provider" | "mock_provider"));
    blocks.into_iter().find(is_one)
}

/// Resolves a name in an address, such as `module.a.test_thing.b[0]`, which leads into called modules. `None` if the
/// chain is no address.
pub(crate) fn in_address(tree: &Cursor<'_>, chain: &Chain, index: usize) -> Option<Occurrence> {
    let module = tree.document.module();
    let is_address = matches!(takes(module, &chain.root), Some(ValueForm::Addresses(_)));
    (module.is_test && is_address && !tree.is_elsewhere()).then_some(())?;
    let name = |at: usize| match at.checked_sub(1) {
        None => Some(chain.root.clone()),
        Some(step) => chain.name(step),
    };
    let (mut module, mut at) = (module.with_directory(module.directory), 0);
    while name(at)?.text() == "module" {
        let call = name(at + 1)?;
        if index <= at + 1 {
            let item = ItemName::Module(call.text().into());
            return Some(Occurrence::read(Named::Item(module.directory, item), call.text_range()));
        }
        module = module.with_directory(call_of(&module, call.text())?);
        at = chain.after_key(at + 1) + 1;
    }
    let (mode, at) = match name(at)?.text() {
        "data" => (ResourceMode::Data, at + 1),
        _ => (ResourceMode::Managed, at),
    };
    let (type_name, last) = (name(at)?, name(at + 1)?);
    let is_own = |kind: &str| at == 0 && type_name.text() == kind;
    let item = match () {
        () if is_own("var") => ItemName::Variable(last.text().into()),
        () if is_own("output") => ItemName::Output(last.text().into()),
        () if is_own("check") => ItemName::Check(last.text().into()),
        () => ItemName::Resource(addr::Resource::new(mode, type_name.text(), last.text())),
    };
    let named = Named::Item(module.directory, item);
    (index <= at + 1).then(|| Occurrence::read(named, last.text_range()))
}
