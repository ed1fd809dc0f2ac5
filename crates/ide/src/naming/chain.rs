//! Names with the steps after them.

use hir::{Ref, names::ItemName};
use syntax::{
    AstNode, SyntaxNode, SyntaxToken,
    ast::{self, Step},
};
use values::Str;

/// A name with the steps after it.
pub(crate) struct Chain {
    /// The whole expression.
    pub(crate) node: SyntaxNode,
    /// The first name.
    pub(crate) root: SyntaxToken,
    /// The steps.
    pub(crate) steps: Vec<Step>,
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
    pub(crate) fn name(&self, index: usize) -> Option<SyntaxToken> {
        match self.steps.get(index)? {
            Step::AttrStep(step) => step.ident_token(),
            _ => None,
        }
    }

    /// The index of the first step from `from` on that does not select instances; `[0]`, `.0`, `[*]` and `.*` do.
    pub(crate) fn after_key(&self, from: usize) -> usize {
        from + usize::from(
            self.steps.get(from).is_some_and(|step| !matches!(step, Step::AttrStep(_))),
        )
    }

    /// The names of the steps from `from` to `to`. `None` if one of them is not a name.
    pub(super) fn path(&self, from: usize, to: usize) -> Option<Vec<Str>> {
        (from..to).map(|index| Some(Str::from(self.name(index)?.text()))).collect()
    }
}

/// The item that a reference names. `None` for references that do not name an item of the module.
pub(crate) fn item_name(reference: &Ref) -> Option<ItemName> {
    Some(match reference {
        Ref::Variable(name) => ItemName::Variable(name.clone()),
        Ref::Local(name) => ItemName::Local(name.clone()),
        Ref::Resource(resource) => ItemName::Resource((**resource).clone()),
        Ref::Module(name) => ItemName::Module(name.clone()),
        Ref::Output(name) => ItemName::Output(name.clone()),
        _ => return None,
    })
}
