//! Resolution of references: names with the steps after them.

use hir::{Ref, names::ItemName};
use syntax::{
    AstNode, SyntaxNode, SyntaxToken, TextRange,
    ast::{self, HasItems, Step},
};
use values::Str;

use super::{
    Named, Occurrence,
    argument::{self, Written, argument_of, call_of},
    bound, follow, top_level,
};
use crate::{Cursor, Module};

/// A name with the steps after it.
pub(crate) struct Chain {
    /// The whole expression.
    pub(crate) node: SyntaxNode,
    /// The first name.
    pub(crate) root: SyntaxToken,
    /// The steps.
    pub(crate) steps: Vec<Step>,
}

/// The interpretation of the first name of a chain.
pub(crate) enum ReadAs {
    /// A name that is not evaluated.
    Written(Written),
    /// A name that an enclosing expression binds.
    Bound(Named),
    /// A reference, with the number of steps after the name that are part of it.
    Reference(Ref, usize),
}

impl Chain {
    /// The chain of an expression. `None` if the expression does not begin with a name.
    pub(crate) fn of(expr: &ast::Expr) -> Option<Chain> {
        let (root, steps) = match expr {
            ast::Expr::Reference(root) => (root.clone(), Vec::new()),
            ast::Expr::Traversal(traversal) => match traversal.base()? {
                ast::Expr::Reference(root) => (root, traversal.steps().collect()),
                _ => return None,
            },
            _ => return None,
        };
        Some(Chain { node: expr.syntax().clone(), root: root.ident_token()?, steps })
    }

    /// Interprets the first name. All features decide through this function, so that they agree on the meaning of
    /// a name.
    pub(crate) fn read_as(
        &self,
        tree: &Cursor<'_>,
        templates: &bound::Templates,
    ) -> Option<ReadAs> {
        if let Some(written) = argument::as_written(tree, self) {
            return Some(ReadAs::Written(written));
        }
        if let Some(bound) = bound::find(tree, templates, self.root.text(), &self.node) {
            return Some(ReadAs::Bound(bound));
        }
        // A reference has at most two steps after its first name.
        let steps = self.steps.get(..2).unwrap_or(&self.steps);
        let (reference, taken) = hir::lower::reference_root(self.root.text(), steps)?;
        Some(ReadAs::Reference(reference, taken))
    }

    /// The chain that contains a name or a step, with the number of steps up to and including it.
    pub(crate) fn around(part: &SyntaxNode) -> Option<(Chain, usize)> {
        let parent = part.parent()?;
        let chain = match ast::Traversal::cast(parent.clone()) {
            Some(traversal) => Chain::of(&ast::Expr::Traversal(traversal))?,
            None => Chain::of(&ast::Expr::cast(part.clone())?)?,
        };
        let index = chain.steps.iter().position(|step| step.syntax() == part);
        Some((chain, index.map_or(0, |index| index + 1)))
    }

    /// The name in a step. `None` if the step is an index or a splat.
    fn name(&self, index: usize) -> Option<SyntaxToken> {
        match self.steps.get(index)? {
            Step::AttrStep(step) => step.ident_token(),
            _ => None,
        }
    }

    /// The index of the first step from `from` on that does not select instances; `[0]`, `.0`, `[*]` and `.*` do.
    fn after_key(&self, from: usize) -> usize {
        from + usize::from(
            self.steps.get(from).is_some_and(|step| !matches!(step, Step::AttrStep(_))),
        )
    }

    /// The names of the steps from `from` to `to`. `None` if one of them is not a name.
    fn path(&self, from: usize, to: usize) -> Option<Vec<Str>> {
        (from..to).map(|index| Some(Str::from(self.name(index)?.text()))).collect()
    }
}

/// Resolves a name or a step of a chain.
pub(super) fn at(
    tree: &Cursor<'_>,
    templates: &bound::Templates,
    part: &SyntaxNode,
) -> Option<Occurrence> {
    let (chain, index) = Chain::around(part)?;
    let (reference, taken) = match chain.read_as(tree, templates)? {
        ReadAs::Written(written) => return written.occurrence(),
        ReadAs::Bound(bound) => {
            return (index == 0).then(|| Occurrence::read(bound, chain.root.text_range()));
        }
        ReadAs::Reference(reference, taken) => (reference, taken),
    };
    let module = tree.document.module();
    if let Some(item) = item_name(&reference)
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
        Ref::Resource(resource) => {
            let first = chain.after_key(taken);
            (index == first + 1).then_some(())?;
            let place = attribute(&module, resource, chain.name(first)?.text())?;
            Some(Occurrence::read(Named::Place(place), own(index)?))
        }
        reference => of_block(tree, &chain, reference, index),
    }
}

/// The item that a reference names. `None` for references that do not name an item of the module.
pub(crate) fn item_name(reference: &Ref) -> Option<ItemName> {
    Some(match reference {
        Ref::Variable(name) => ItemName::Variable(name.clone()),
        Ref::Local(name) => ItemName::Local(name.clone()),
        Ref::Resource(resource) => ItemName::Resource(resource.clone()),
        Ref::Module(name) => ItemName::Module(name.clone()),
        _ => return None,
    })
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

/// The argument of a resource that sets an attribute.
fn attribute(
    module: &Module<'_>,
    resource: &addr::Resource,
    name: &str,
) -> Option<crate::FileRange> {
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
            (super::name_range(block.labels().last()?.syntax()), chain.root.text_range())
        }
        None if index == 1 => {
            let name = chain.name(0)?;
            (argument_of(&block, name.text())?, name.text_range())
        }
        _ => return None,
    };
    Some(Occurrence::read(Named::Place(tree.file_range(target)), range))
}
