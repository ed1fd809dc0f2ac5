//! Names in expressions.

use hir::{
    Ref,
    analysis::{Abstract, TriMarks},
    lower::reference_root,
    names::{ItemName, item},
};
use syntax::{
    AstNode, SyntaxKind, SyntaxNode, SyntaxToken,
    ast::{self, Step},
};

use super::{Modifiers, SemanticKind, Walk};
use crate::{Cursor, hover::is_in_type, language::Takes};

/// A traversal that the walk is in.
pub(super) struct Traversed {
    node: SyntaxNode,
    /// What its first names are, the one after the root first; the last has the modifiers of what is named.
    names: std::vec::IntoIter<(SemanticKind, Modifiers)>,
    /// The value as far as the walk has come.
    value: Option<Abstract>,
}

impl<'db> Walk<'db> {
    pub(super) fn enter(&mut self, cursor: &Cursor<'db>, node: &SyntaxNode) {
        match node.kind() {
            SyntaxKind::TRAVERSAL => {
                if let Some(traversal) = ast::Traversal::cast(node.clone()) {
                    let traversed = self.traversed(cursor, &traversal);
                    self.traversals.push(traversed);
                }
            }
            SyntaxKind::FOR_TUPLE
            | SyntaxKind::FOR_OBJECT
            | SyntaxKind::QUOTED_TEMPLATE
            | SyntaxKind::HEREDOC
            | SyntaxKind::BLOCK => self.bound.enter(node),
            SyntaxKind::INDEX_STEP
            | SyntaxKind::LEGACY_INDEX_STEP
            | SyntaxKind::SPLAT_STEP
            | SyntaxKind::ATTR_SPLAT_STEP => {
                if let Some(top) = self.traversals.last_mut() {
                    top.value = top.value.as_ref().and_then(element);
                }
            }
            _ => {}
        }
    }

    pub(super) fn leave(&mut self, node: &SyntaxNode) {
        self.bound.leave(node);
        if self.traversals.last().is_some_and(|it| it.node == *node) {
            self.traversals.pop();
        }
    }

    /// What the first names of a traversal are.
    fn traversed(&mut self, cursor: &Cursor<'db>, traversal: &ast::Traversal) -> Traversed {
        let node = traversal.syntax().clone();
        let unknown = Traversed { node: node.clone(), names: Vec::new().into_iter(), value: None };
        let Some(ast::Expr::Reference(root)) = traversal.base() else { return unknown };
        let Some(root) = root.ident_token() else { return unknown };
        if self.bound.binds(&root) {
            return unknown;
        }
        match self.takes(&root) {
            Some(Takes::Provider | Takes::Providers) => {
                let names = vec![(SemanticKind::Provider, Modifiers::NONE)].into_iter();
                return Traversed { names, ..unknown };
            }
            Some(Takes::Attributes) => return unknown,
            _ => {}
        }
        // No name has more steps than these.
        let steps: Vec<Step> = traversal.steps().take(2).collect();
        let Some((reference, taken)) = reference_root(root.text(), &steps) else { return unknown };
        let (kind, modifiers, value) = self.named(cursor, &reference);
        let mut names = vec![(SemanticKind::Type, Modifiers::NONE); taken];
        if let Some(last) = names.last_mut() {
            *last = (kind, modifiers);
        }
        if let (Ref::Module(_), Some(Step::AttrStep(_))) = (&reference, steps.get(1)) {
            let marks = value.as_ref().zip(attr_name(steps.get(1)));
            let marks = marks.and_then(|(value, name)| value.attr(&name));
            let modifiers = marks.as_ref().map(Modifiers::of).unwrap_or_default();
            names.push((SemanticKind::Output, modifiers));
        }
        Traversed { node, names: names.into_iter(), value }
    }

    /// What a reference names, and the value that attributes are taken from next.
    fn named(
        &mut self,
        cursor: &Cursor<'db>,
        reference: &Ref,
    ) -> (SemanticKind, Modifiers, Option<Abstract>) {
        let module = self.document.module();
        let (kind, name) = match reference {
            Ref::Variable(name) => (SemanticKind::Variable, ItemName::Variable(name.clone())),
            Ref::Local(name) => (SemanticKind::Local, ItemName::Local(name.clone())),
            Ref::Resource(it) => (SemanticKind::Resource, ItemName::Resource(it.clone())),
            Ref::Module(name) => (SemanticKind::Module, ItemName::Module(name.clone())),
            Ref::SelfObject => {
                let value = cursor.items().next().map(|it| it.key);
                let value =
                    value.map(|key| self.values.value(self.document.directory, key).clone());
                return (SemanticKind::Namespace, Modifiers::NONE, value);
            }
            ambient => {
                let ephemeral = *ambient == Ref::Applying;
                let modifiers = Modifiers { readonly: true, ephemeral, ..Modifiers::NONE };
                return (SemanticKind::Property, modifiers, None);
            }
        };
        let Some(key) = module.lookup(&name) else { return (kind, Modifiers::NONE, None) };
        let value = self.values.value(self.document.directory, key).clone();
        let declared = item(module.db, key).kind.as_variable();
        let is_whole = matches!(reference, Ref::Variable(_) | Ref::Local(_));
        let marks = if is_whole { Modifiers::of(&value) } else { Modifiers::NONE };
        let modifiers = Modifiers {
            readonly: matches!(reference, Ref::Local(_)),
            ephemeral: marks.ephemeral || is_ephemeral(reference),
            deprecated: marks.deprecated || declared.is_some_and(|it| it.deprecated.is_some()),
            ..marks
        };
        // Where nothing is marked, no part is.
        let value = Some(value).filter(|it| it.deep_marks() != TriMarks::NONE);
        (kind, modifiers, value)
    }

    /// The first name of a reference.
    pub(super) fn root(&mut self, token: &SyntaxToken) -> (SemanticKind, Modifiers) {
        if self.bound.binds(token) {
            return (SemanticKind::Bound, Modifiers { readonly: true, ..Modifiers::NONE });
        }
        if is_in_type(token) {
            return (SemanticKind::Type, Modifiers::NONE);
        }
        let kind = match token.text() {
            "var" | "local" | "module" | "data" | "ephemeral" | "resource" | "each" | "count"
            | "path" | "terraform" | "tofu" | "self" => SemanticKind::Namespace,
            _ => match self.takes(token) {
                Some(Takes::Provider | Takes::Providers) => SemanticKind::Provider,
                Some(Takes::Attributes) if token.text() != "all" => SemanticKind::Property,
                _ if is_alone(token) => SemanticKind::Keyword,
                _ => SemanticKind::Type,
            },
        };
        (kind, Modifiers::NONE)
    }

    /// What the argument takes that a name is in the value of, where the language knows it.
    fn takes(&mut self, token: &SyntaxToken) -> Option<Takes> {
        let attribute = token.parent_ancestors().find_map(ast::Attribute::cast)?;
        let name = attribute.name()?;
        let known = self.in_scheme(attribute.syntax(), |scheme, _| {
            scheme.language_arguments().find(|it| it.name == name).map(|it| it.takes)
        });
        known.flatten()
    }

    /// A name after a dot.
    pub(super) fn step(
        &mut self,
        step: &SyntaxNode,
        token: &SyntaxToken,
    ) -> (SemanticKind, Modifiers) {
        let Some(top) = self.traversals.last_mut() else {
            return (SemanticKind::Property, Modifiers::NONE);
        };
        if step.parent().as_ref() != Some(&top.node) {
            return (SemanticKind::Property, Modifiers::NONE);
        }
        if let Some(known) = top.names.next() {
            if known.0 == SemanticKind::Output {
                top.value = top.value.as_ref().and_then(|it| it.attr(token.text()));
            }
            return known;
        }
        top.value = top.value.as_ref().and_then(|value| {
            let marks = value.marks;
            Some(value.attr(token.text())?.with_marks(&marks))
        });
        (SemanticKind::Property, top.value.as_ref().map(Modifiers::of).unwrap_or_default())
    }
}

/// One of the elements, unless there are so many that it would take long to say what they have in common.
fn element(value: &Abstract) -> Option<Abstract> {
    const MANY: usize = 64;
    value.known_length().is_none_or(|length| length <= MANY).then(|| value.any_element())
}

fn attr_name(step: Option<&Step>) -> Option<String> {
    match step? {
        Step::AttrStep(it) => Some(it.name()?.to_string()),
        _ => None,
    }
}

fn is_ephemeral(reference: &Ref) -> bool {
    matches!(reference, Ref::Resource(it) if it.mode == addr::ResourceMode::Ephemeral)
}

/// Whether a name stands for itself, as the words of `when = destroy` do.
fn is_alone(token: &SyntaxToken) -> bool {
    let around = token.parent().and_then(|it| it.parent());
    around.is_none_or(|it| it.kind() != SyntaxKind::TRAVERSAL)
}
