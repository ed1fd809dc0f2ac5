//! Resolution of references: names with the steps after them.

use hir::{Ref, names::ItemName};
use syntax::{AstNode, SyntaxNode, TextRange, ast::HasItems};
use values::Str;

use super::{
    argument::{self, Written},
    bound,
    chain::Chain,
    follow,
    named::{Named, Occurrence},
    of_test::{in_address, item_in},
};
use crate::{
    Cursor, FileRange, Module,
    block_syntax::{argument_of, name_range, top_level},
    scheme::call_of,
    test_file::TestName,
};

/// The interpretation of the first name of a chain.
pub(crate) enum Interpretation {
    /// A name that is not evaluated.
    Written(Written),
    /// A name that an enclosing expression binds.
    Bound(Named),
    /// A reference, with the number of steps after the name that are part of it.
    Reference(Ref, usize),
}

impl Chain {
    /// Interprets the first name. All features decide through this function, so that they agree on the meaning of
    /// a name.
    pub(crate) fn read_as(
        &self,
        tree: &Cursor<'_>,
        templates: &bound::Templates,
    ) -> Option<Interpretation> {
        if let Some(written) = argument::as_written(tree, self) {
            return Some(Interpretation::Written(written));
        }
        if let Some(bound) = bound::find(tree, templates, self.root.text(), &self.node) {
            return Some(Interpretation::Bound(bound));
        }
        // A reference has at most two steps after its first name.
        let steps = self.steps.get(..2).unwrap_or(&self.steps);
        let (reference, taken) = tree.document.reference_root(self.root.text(), steps)?;
        if tree.is_elsewhere() && !matches!(reference, Ref::Run(_)) {
            return None;
        }
        Some(Interpretation::Reference(reference, taken))
    }
}

/// Resolves a name or a step of a chain.
pub(super) fn at(
    tree: &Cursor<'_>,
    templates: &bound::Templates,
    part: &SyntaxNode,
) -> Option<Occurrence> {
    let (chain, index) = Chain::around(part)?;
    if let Some(found) = in_address(tree, &chain, index) {
        return Some(found);
    }
    let (reference, taken) = match chain.read_as(tree, templates)? {
        Interpretation::Written(written) => return written.occurrence(),
        Interpretation::Bound(bound) => {
            return (index == 0).then(|| Occurrence::read(bound, chain.root.text_range()));
        }
        Interpretation::Reference(reference, taken) => (reference, taken),
    };
    let module = tree.document.module();
    if let Some(item) = item_in(&tree.document, &reference)
        && index <= taken
    {
        let range = chain.name(taken.checked_sub(1)?)?.text_range();
        return Some(Occurrence::read(Named::Item(module.directory, item), range));
    }
    let own = |index: usize| Some(chain.name(index.checked_sub(1)?)?.text_range());
    match &reference {
        Ref::Local(_) | Ref::Variable(_) => {
            let place = follow::from(&module, &reference, &chain.path(taken, index)?)?;
            Some(Occurrence::read(Named::Place(place), own(index)?))
        }
        Ref::Module(call) => output(&module, call, &chain, taken, index),
        Ref::Run(name) => of_run(tree, name, &chain, index),
        Ref::Output(name) => {
            let place = follow::output(
                &module,
                &ItemName::Output(name.clone()),
                &chain.path(taken, index)?,
            )?;
            Some(Occurrence::read(Named::Place(place), own(index)?))
        }
        Ref::Resource(resource) => {
            let first = chain.after_key(taken);
            (index == first + 1).then_some(())?;
            let place = attribute(&module, resource, chain.name(first)?.text())?;
            Some(Occurrence::read(Named::Place(place), own(index)?))
        }
        reference => of_block(tree, &chain, reference, index),
    }
}

/// Resolves a step after `module.call`: an output, or a key in its value.
fn output(
    module: &Module<'_>,
    call: &str,
    chain: &Chain,
    taken: usize,
    index: usize,
) -> Option<Occurrence> {
    let first = chain.after_key(taken);
    let output = chain.name(first)?;
    let child = module.with_directory(call_of(module, call)?);
    let name = ItemName::Output(output.text().into());
    if index <= first + 1 {
        return Some(Occurrence::read(Named::Item(child.directory, name), output.text_range()));
    }
    let place = follow::output(&child, &name, &chain.path(first + 1, index)?)?;
    Some(Occurrence::read(Named::Place(place), chain.name(index - 1)?.text_range()))
}

/// Resolves the name of a run, one of its outputs, or a key in the value of the output.
fn of_run(tree: &Cursor<'_>, name: &Str, chain: &Chain, index: usize) -> Option<Occurrence> {
    if index <= 1 {
        let named = Named::OfTest(TestName::Run(name.clone()));
        return Some(Occurrence::read(named, chain.name(0)?.text_range()));
    }
    let module = tree.document.run(name)?.module()?;
    let output = ItemName::Output(chain.name(1)?.text().into());
    let own = chain.name(index - 1)?.text_range();
    if index == 2 {
        return Some(Occurrence::read(Named::Item(module.directory, output), own));
    }
    let place = follow::output(&module, &output, &chain.path(2, index)?)?;
    Some(Occurrence::read(Named::Place(place), own))
}

/// The argument of a resource that sets an attribute.
fn attribute(module: &Module<'_>, resource: &addr::Resource, name: &str) -> Option<FileRange> {
    let (tree, block) = follow::block(module, &ItemName::Resource(resource.clone()))?;
    Some(tree.file_range(argument_of(&block, name)?))
}

/// Resolves `each`, `count` and `self`: to the argument that repeats the block, or to the block itself.
fn of_block(tree: &Cursor<'_>, chain: &Chain, reference: &Ref, index: usize) -> Option<Occurrence> {
    let block = top_level(&chain.node)?;
    let argument = match reference {
        Ref::EachKey | Ref::EachValue => Some("for_each"),
        Ref::CountIndex => Some("count"),
        Ref::SelfObject => None,
        _ => return None,
    };
    let own = |name: &str| block.body()?.attribute(name)?.name_token();
    let (target, range): (TextRange, TextRange) = match argument {
        Some(argument) if index <= 1 => (own(argument)?.text_range(), chain.root.text_range()),
        None if index == 0 => {
            (name_range(block.labels().last()?.syntax()), chain.root.text_range())
        }
        None if index == 1 => {
            let name = chain.name(0)?;
            (argument_of(&block, name.text())?, name.text_range())
        }
        _ => return None,
    };
    Some(Occurrence::read(Named::Place(tree.file_range(target)), range))
}
