//! Quick fixes that declare a missing variable, local, output or provider configuration.

use db::Rule;
use hir::{Ref, lower::reference_root, names::ItemName};
use syntax::{
    AstNode, SyntaxKind, SyntaxNode,
    ast::{self, HasItems},
};
use values::Type;

use super::{
    Action, DiagnosticSite,
    layout::{self, NewArgument},
};
use crate::{
    Edit, Module,
    block_syntax::{attribute_around, top_level},
    naming::{Chain, Named, Occurrence},
    scheme::{ArgumentMeaning, blocks_around, scheme},
};

/// Declares the item that a reference or an argument names.
pub(super) fn actions(fault: &DiagnosticSite<'_, '_>) -> Option<Action> {
    match fault.id() {
        Rule::UndeclaredReference => of_reference(fault),
        Rule::UnsupportedAttribute => output(fault),
        Rule::UnsupportedArgument => variable_of_module(fault),
        Rule::MissingProviderConfiguration => provider(fault),
        _ => None,
    }
}

fn of_reference(fault: &DiagnosticSite<'_, '_>) -> Option<Action> {
    let chain = Chain::of(&chain_expr(&fault.node)?)?;
    match reference_root(chain.root.text(), &chain.steps)?.0 {
        Ref::Variable(name) => {
            let ty = expected_type(fault, &chain.node);
            let text = variable_text(&name, ty.as_ref());
            let edit = new_block(fault, "variables", &text)?;
            Some(Action::fix(format!("Declare variable \"{name}\""), vec![edit]))
        }
        Ref::Local(name) => {
            let edits = local(fault, &name)?;
            Some(Action::fix(format!("Declare local \"{name}\""), edits))
        }
        _ => None,
    }
}

/// Declares a provider configuration with an alias.
fn provider(fault: &DiagnosticSite<'_, '_>) -> Option<Action> {
    let Occurrence { named: Named::Item(_, ItemName::Provider(name, Some(alias))), .. } =
        Occurrence::at(&fault.tree, &last_name(fault)?)?
    else {
        return None;
    };
    let text = format!("provider \"{name}\" {{\n  alias = \"{alias}\"\n}}");
    let edit = new_block(fault, "providers", &text)?;
    Some(Action::fix(format!("Declare provider configuration \"{name}.{alias}\""), vec![edit]))
}

/// The whole reference, with all its steps, that contains a node.
fn chain_expr(node: &SyntaxNode) -> Option<ast::Expr> {
    let mut nodes = node.ancestors();
    nodes.find_map(|it| match it.kind() {
        SyntaxKind::TRAVERSAL => ast::Expr::cast(it),
        SyntaxKind::REFERENCE
            if it.parent().is_none_or(|it| it.kind() != SyntaxKind::TRAVERSAL) =>
        {
            ast::Expr::cast(it)
        }
        _ => None,
    })
}

/// The type that the place of a whole expression requires. `None` if the type is unknown or dynamic.
fn expected_type(fault: &DiagnosticSite<'_, '_>, expr: &SyntaxNode) -> Option<Type> {
    let parent = expr.parent()?;
    if parent.kind() == SyntaxKind::INTERPOLATION {
        let template = ast::QuotedTemplate::cast(parent.parent()?);
        return template
            .is_none_or(|it| !syntax::template::quoted(&it).is_wrap)
            .then_some(Type::String);
    }
    let argument = ast::Attribute::cast(parent)?;
    let module = fault.tree.document.module();
    let scheme = scheme(module, &blocks_around(argument.syntax()))?;
    let ty = match scheme.argument(module, &argument.name()?)? {
        ArgumentMeaning::Schema(attribute, _) => attribute.implied_type(),
        ArgumentMeaning::Variable(key) => {
            hir::names::item(module.db, key).kind.as_variable()?.ty.ty.clone()
        }
        ArgumentMeaning::Language(_) => return None,
    };
    (ty != Type::Dynamic).then_some(ty)
}

fn variable_text(name: &str, ty: Option<&Type>) -> String {
    match ty {
        Some(ty) => format!("variable \"{name}\" {{\n  type = {}\n}}", ty),
        None => format!("variable \"{name}\" {{}}"),
    }
}

/// Inserts a new top-level block: at the end of the file that conventionally holds such blocks if the module has
/// it, otherwise after the block that needs the new one.
fn new_block(fault: &DiagnosticSite<'_, '_>, file: &str, text: &str) -> Option<Edit> {
    match in_file(&fault.tree.document.module(), file, text) {
        Some(edit) => Some(edit),
        None => Some(layout::after_block(&fault.tree, top_level(&fault.node)?.syntax(), text)),
    }
}

/// Appends a block to the module's file with the given name without extension. `None` if the module has no such
/// file.
fn in_file(module: &Module<'_>, stem: &str, text: &str) -> Option<Edit> {
    let is_named = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.strip_suffix(".tf").or(name.strip_suffix(".tofu")) == Some(stem)
    };
    let mut documents = module.documents();
    let document = documents.find(|it| is_named(it.file.path(module.db)))?;
    Some(at_end(document, text))
}

fn at_end(document: crate::Document<'_>, text: &str) -> Edit {
    let existing = document.text();
    let end = document.length();
    let gap = match existing.as_str() {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let place = crate::FileRange { file: document.file, range: db::ByteRange { start: end, end } };
    Edit::after(place, format!("{gap}{text}\n"))
}

/// Declares a new local: in the first `locals` block of the file, or in a new one.
fn local(fault: &DiagnosticSite<'_, '_>, name: &str) -> Option<Vec<Edit>> {
    let argument = NewArgument { name: name.to_owned(), value: "null".to_owned() };
    if let Some((tree, block)) = locals_of(fault.tree.document) {
        return layout::add_arguments(&tree, &block, &[argument]);
    }
    Some(vec![new_block(fault, "locals", &format!("locals {{\n  {name} = null\n}}"))?])
}

/// The first `locals` block of a file.
pub(super) fn locals_of(document: crate::Document<'_>) -> Option<(crate::Cursor<'_>, ast::Block)> {
    document.trees().find_map(|tree| {
        let file = ast::SourceFile::cast(tree.root.clone())?;
        let block =
            file.blocks().find(|it| it.block_type().is_some_and(|kind| kind == "locals"))?;
        Some((tree, block))
    })
}

/// Declares an output in the called module whose output the caller reads.
fn output(fault: &DiagnosticSite<'_, '_>) -> Option<Action> {
    let Occurrence { named: Named::Item(directory, ItemName::Output(name)), .. } =
        Occurrence::at(&fault.tree, &last_name(fault)?)?
    else {
        return None;
    };
    let text = format!("output \"{name}\" {{\n  value = null\n}}");
    let child = fault.tree.document.module().with_directory(directory);
    let edit = in_module(&child, "outputs", &text)?;
    Some(Action::fix(format!("Declare output \"{name}\" in the module"), vec![edit]))
}

fn last_name(fault: &DiagnosticSite<'_, '_>) -> Option<syntax::SyntaxToken> {
    let token = fault.tree.root.token_at_offset(fault.range.end()).left_biased()?;
    token.kind().is_name().then_some(token)
}

fn in_module(module: &Module<'_>, stem: &str, text: &str) -> Option<Edit> {
    if module.is_installed() {
        return None;
    }
    let file = module.start()?.name.file;
    in_file(module, stem, text).or_else(|| Some(at_end(module.document(file), text)))
}

/// Declares a variable in the called module for an argument of the module call.
fn variable_of_module(fault: &DiagnosticSite<'_, '_>) -> Option<Action> {
    let argument = attribute_around(&fault.node)?;
    let name = argument.name_token()?;
    let Occurrence { named: Named::Item(directory, ItemName::Variable(variable)), .. } =
        Occurrence::at(&fault.tree, &name)?
    else {
        return None;
    };
    let child = fault.tree.document.module().with_directory(directory);
    let edit = in_module(&child, "variables", &variable_text(&variable, None))?;
    Some(Action::fix(format!("Declare variable \"{variable}\" in the module"), vec![edit]))
}
