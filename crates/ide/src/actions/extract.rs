//! Refactorings that extract a part of an expression into a local or a variable.

use hir::{
    lower::{is_reserved_variable, reference_root},
    names::ItemName,
};
use syntax::{AstNode, SyntaxKind, ast};
use values::Str;

use super::{
    Action, ActionKind, Selection,
    declare::locals_of,
    layout::{self, NewArgument},
};
use crate::{
    Edit, Module,
    block_syntax::{attribute_around, block_of, is_in_type_argument, top_level},
    naming::{Chain, Named, Occurrence, item_name},
    scheme::{blocks_around, scheme},
};

/// Arguments whose expressions are static: they are not evaluated, so they cannot refer to a local.
const AS_WRITTEN: &[&str] = &[
    "type",
    "provider",
    "providers",
    "depends_on",
    "ignore_changes",
    "replace_triggered_by",
    "source",
    "version",
    "alias",
    "sensitive",
    "ephemeral",
    "nullable",
    "description",
    "deprecated",
    "iterator",
    "create_before_destroy",
    "prevent_destroy",
];

/// Top-level blocks whose expressions cannot refer to locals.
const WITHOUT_LOCALS: &[&str] = &["variable", "terraform", "moved", "removed", "import"];

/// Extracts the selected expression into a local and, if it contains no references, into a variable with a
/// default.
pub(super) fn actions(selection: &Selection<'_>) -> Vec<Action> {
    let Some(part) = Part::of(selection) else { return Vec::new() };
    let mut actions: Vec<Action> = part.local().into_iter().collect();
    if !part.refers {
        actions.extend(part.variable());
    }
    actions
}

struct Part<'a, 'db> {
    selection: &'a Selection<'db>,
    expr: ast::Expr,
    block: ast::Block,
    /// The preferred name of the new item: the name of the argument that holds the expression.
    wish: String,
    /// True if the expression contains a reference.
    refers: bool,
}

impl<'a, 'db> Part<'a, 'db> {
    fn of(selection: &'a Selection<'db>) -> Option<Part<'a, 'db>> {
        (!selection.range.is_empty()).then_some(())?;
        let exact = selection.node.ancestors().take_while(|it| it.text_range() == selection.range);
        let expr = exact.filter_map(ast::Expr::cast).last()?;
        // The first name of a reference is not an expression of its own, and neither is an object key.
        let parent = expr.syntax().parent()?.kind();
        let is_own = !matches!(parent, SyntaxKind::TRAVERSAL | SyntaxKind::OBJECT_KEY);
        let argument = attribute_around(expr.syntax())?;
        let wish = argument.name()?.to_string();
        let block = top_level(expr.syntax())?;
        let kind = block.block_type()?;
        let inner = block_of(argument.syntax())?.block_type()?;
        let is_static = AS_WRITTEN.contains(&wish.as_str())
            || WITHOUT_LOCALS.contains(&kind.as_str())
            || inner == "lifecycle" && wish != "enabled";
        let is_type = expr.syntax().first_token().is_none_or(|it| is_in_type_argument(&it));
        (is_own && !is_static && !is_type).then_some(())?;
        let refers = refers(selection, &expr)?;
        Some(Part { selection, expr, block, wish, refers })
    }

    fn local(&self) -> Option<Action> {
        let tree = &self.selection.tree;
        let name = free_name(&tree.document.module(), &self.wish, ItemName::Local);
        let value = self.expr.syntax().text().to_string();
        let declaration = match locals_of(tree.document) {
            Some((locals, block)) => layout::add_arguments(
                &locals,
                &block,
                &[NewArgument { name: name.clone(), value }],
            )?,
            None => {
                let text = format!("locals {{\n  {name} = {value}\n}}");
                vec![layout::before_block(tree, self.block.syntax(), &text)]
            }
        };
        Some(self.action(format!("Extract to local.{name}"), &format!("local.{name}"), declaration))
    }

    fn variable(&self) -> Option<Action> {
        let tree = &self.selection.tree;
        if let ast::Expr::Heredoc(_) = self.expr {
            return None;
        }
        // The state and plan files keep the default of a variable, but never a write-only value.
        if self.is_write_only() {
            return None;
        }
        let name = free_name(&tree.document.module(), &self.wish, ItemName::Variable);
        let ty = match &self.expr {
            ast::Expr::QuotedTemplate(_) => "  type    = string\n",
            ast::Expr::Literal(it) => match it.kind()? {
                ast::LiteralKind::Number(_) => "  type    = number\n",
                ast::LiteralKind::Bool(_) => "  type    = bool\n",
                ast::LiteralKind::Null => "",
            },
            _ => "",
        };
        let value = self.expr.syntax().text();
        let text = format!("variable \"{name}\" {{\n{ty}  default = {value}\n}}");
        let declaration = vec![layout::before_block(tree, self.block.syntax(), &text)];
        Some(self.action(format!("Extract to var.{name}"), &format!("var.{name}"), declaration))
    }

    /// Returns true if the expression is inside the value of a write-only argument.
    fn is_write_only(&self) -> bool {
        let Some(argument) = attribute_around(self.expr.syntax()) else { return false };
        let module = self.selection.tree.document.module();
        let scheme = scheme(module, &blocks_around(argument.syntax()));
        let schema = scheme.and_then(|it| it.schema);
        let attribute =
            schema.as_ref().and_then(|it| it.block().attributes().get(self.wish.as_str()));
        attribute.is_some_and(|it| it.write_only)
    }

    fn action(&self, title: String, reference: &str, declaration: Vec<Edit>) -> Action {
        let tree = &self.selection.tree;
        let range = self.expr.syntax().text_range();
        let mut edits = declaration;
        edits.push(Edit::replace(tree.file_range(range), reference));
        Action { kind: ActionKind::Extract, ..Action::fix(title, edits) }
    }
}

/// Returns a name that the module does not declare yet: `wish`, or `wish` with a number.
pub(super) fn free_name(module: &Module<'_>, wish: &str, make: fn(Str) -> ItemName) -> String {
    let is_free = |name: &String| {
        let item = make(name.as_str().into());
        let is_variable = matches!(item, ItemName::Variable(_));
        module.lookup(&item).is_none() && !(is_variable && is_reserved_variable(name))
    };
    let numbered = (2..).map(|number| format!("{wish}_{number}"));
    let mut names = std::iter::once(wish.to_owned()).chain(numbered);
    names.find(is_free).unwrap_or_else(|| wish.to_owned())
}

/// Returns true if an expression contains references. `None` if one of them has no meaning at another place:
/// `each`, `self`, or a name that an enclosing expression binds.
fn refers(selection: &Selection<'_>, expr: &ast::Expr) -> Option<bool> {
    let tree = &selection.tree;
    let mut refers = false;
    for node in expr.syntax().descendants() {
        let Some(reference) = ast::Reference::cast(node.clone()) else { continue };
        let root = reference.ident_token()?;
        if is_in_type_argument(&root) {
            continue;
        }
        if let Some(Occurrence { named: Named::Bound(_, place), .. }) = Occurrence::at(tree, &root)
        {
            if !selection.range.contains_range(place) {
                return None;
            }
            continue;
        }
        let whole = node.parent().and_then(ast::Traversal::cast).map(ast::Expr::Traversal);
        let chain = Chain::of(&whole.unwrap_or(ast::Expr::Reference(reference)))?;
        let (reference, _) = reference_root(chain.root.text(), &chain.steps)?;
        let is_ambient = item_name(&reference).is_none();
        let is_everywhere = matches!(chain.root.text(), "path" | "terraform" | "tofu");
        if is_ambient && !is_everywhere {
            return None;
        }
        refers = true;
    }
    Some(refers)
}
