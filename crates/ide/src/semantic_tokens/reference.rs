//! Semantic tokens of names in expressions.

use hir::{
    Ref,
    analysis::{Abstract, TriMarks},
    names::{ItemName, item},
};
use syntax::{
    AstNode, SyntaxKind, SyntaxNode, SyntaxToken,
    ast::{self, Step},
};

use super::{Modifiers, SemanticKind, TokenKind, Walk};
use crate::{
    Cursor,
    naming::{Chain, Interpretation, Written},
};

/// A traversal that the walk has entered.
pub(super) struct Traversed {
    node: SyntaxNode,
    /// The token of the root.
    root: TokenKind,
    /// The tokens of the names after the root that belong to the reference, in order. The last one has the
    /// modifiers of the target.
    names: std::vec::IntoIter<TokenKind>,
    /// The value up to the current step.
    value: Option<Abstract>,
}

impl<'db> Walk<'db> {
    pub(super) fn enter(&mut self, cursor: &Cursor<'db>, node: &SyntaxNode) {
        match node.kind() {
            SyntaxKind::TRAVERSAL => {
                if let Some(traversal) = ast::Traversal::cast(node.clone()) {
                    let traversed = self.traversed(cursor, traversal);
                    self.traversals.push(traversed);
                }
            }
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
        if self.traversals.last().is_some_and(|it| it.node == *node) {
            self.traversals.pop();
        }
    }

    /// Resolves the first names of a traversal.
    fn traversed(&mut self, cursor: &Cursor<'db>, traversal: ast::Traversal) -> Traversed {
        let node = traversal.syntax().clone();
        let chain = Chain::of(&ast::Expr::Traversal(traversal));
        let read_as = chain.as_ref().and_then(|it| it.read_as(cursor, &self.templates));
        let root = match &chain {
            Some(chain) => root(chain, read_as.as_ref()),
            None => TokenKind::plain(SemanticKind::Type),
        };
        let unknown = Traversed { node, root, names: Vec::new().into_iter(), value: None };
        let (reference, taken) = match (read_as, &chain) {
            (Some(Interpretation::Reference(reference, taken)), Some(_)) => (reference, taken),
            (Some(Interpretation::Written(Written::Provider(_))), _) => {
                let names = vec![TokenKind::plain(SemanticKind::Provider)].into_iter();
                return Traversed { names, ..unknown };
            }
            _ => return unknown,
        };
        let (target, value) = self.named(cursor, &reference);
        let mut names = vec![TokenKind::plain(SemanticKind::Type); taken];
        if let Some(last) = names.last_mut() {
            *last = target;
        }
        let output = chain.as_ref().and_then(|it| attr_name(it.steps.get(1)));
        if let (Ref::Module(_), Some(name)) = (&reference, output) {
            let marks = value.as_ref().and_then(|value| value.attr(&name));
            let modifiers = marks.as_ref().map(Modifiers::of).unwrap_or_default();
            names.push(TokenKind { kind: SemanticKind::Output, modifiers });
        }
        Traversed { names: names.into_iter(), value, ..unknown }
    }

    /// The kind and modifiers of the target of a reference, and the value from which the next step takes an
    /// attribute.
    fn named(&mut self, cursor: &Cursor<'db>, reference: &Ref) -> (TokenKind, Option<Abstract>) {
        let module = self.document.module();
        let (kind, name) = match reference {
            Ref::Variable(name) => (SemanticKind::Variable, ItemName::Variable(name.clone())),
            Ref::Local(name) => (SemanticKind::Local, ItemName::Local(name.clone())),
            Ref::Resource(it) => (SemanticKind::Resource, ItemName::Resource((**it).clone())),
            Ref::Module(name) => (SemanticKind::Module, ItemName::Module(name.clone())),
            Ref::SelfObject => {
                let value = cursor.items().next().map(|it| it.key);
                let value =
                    value.map(|key| self.values.value(self.document.directory, key).clone());
                return (TokenKind::plain(SemanticKind::Namespace), value);
            }
            ambient => {
                let ephemeral = *ambient == Ref::Applying;
                let modifiers = Modifiers { readonly: true, ephemeral, ..Modifiers::NONE };
                return (TokenKind { kind: SemanticKind::Property, modifiers }, None);
            }
        };
        let Some(key) = module.lookup(&name) else { return (TokenKind::plain(kind), None) };
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
        // If nothing in the value is marked, its parts need no lookup.
        let value = Some(value).filter(|it| it.deep_marks() != TriMarks::NONE);
        (TokenKind { kind, modifiers }, value)
    }

    /// The token of a name that is alone or begins a traversal.
    pub(super) fn root(&mut self, cursor: &Cursor<'db>, reference: ast::Reference) -> TokenKind {
        let around = reference.syntax().parent();
        if let Some(top) = self.traversals.last()
            && around.as_ref() == Some(&top.node)
        {
            return top.root;
        }
        let Some(chain) = Chain::of(&ast::Expr::Reference(reference)) else {
            return TokenKind::plain(SemanticKind::Keyword);
        };
        root(&chain, chain.read_as(cursor, &self.templates).as_ref())
    }

    /// The token of a name after a dot.
    pub(super) fn step(&mut self, step: &SyntaxNode, token: &SyntaxToken) -> TokenKind {
        let Some(top) = self.traversals.last_mut() else {
            return TokenKind::plain(SemanticKind::Property);
        };
        if step.parent().as_ref() != Some(&top.node) {
            return TokenKind::plain(SemanticKind::Property);
        }
        if let Some(known) = top.names.next() {
            if known.kind == SemanticKind::Output {
                top.value = top.value.as_ref().and_then(|it| it.attr(token.text()));
            }
            return known;
        }
        top.value = top.value.as_ref().and_then(|value| {
            let marks = value.marks;
            Some(value.attr(token.text())?.with_marks(&marks))
        });
        let modifiers = top.value.as_ref().map(Modifiers::of).unwrap_or_default();
        TokenKind { kind: SemanticKind::Property, modifiers }
    }
}

/// The join of the elements. `None` if there are so many that the join would be slow.
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

/// The token of the first name of a chain.
fn root(chain: &Chain, read_as: Option<&Interpretation>) -> TokenKind {
    let is_alone = chain.steps.is_empty();
    let kind = match (read_as, chain.root.text()) {
        (Some(Interpretation::Bound(_) | Interpretation::Written(Written::Iterator(_))), _) => {
            let modifiers = Modifiers { readonly: true, ..Modifiers::NONE };
            return TokenKind { kind: SemanticKind::Bound, modifiers };
        }
        (Some(Interpretation::Written(Written::Type)), _) => SemanticKind::Type,
        (Some(Interpretation::Written(Written::Provider(_))), _) => SemanticKind::Provider,
        (Some(Interpretation::Written(Written::Attribute(_))), "all") if is_alone => {
            SemanticKind::Keyword
        }
        (Some(Interpretation::Written(Written::Attribute(_))), _) => SemanticKind::Property,
        (
            Some(Interpretation::Reference(..)) | None,
            "var" | "local" | "module" | "data" | "ephemeral" | "resource" | "each" | "count"
            | "path" | "terraform" | "tofu" | "self",
        ) => SemanticKind::Namespace,
        // A bare keyword, as in `when = destroy`.
        _ if is_alone => SemanticKind::Keyword,
        _ => SemanticKind::Type,
    };
    TokenKind::plain(kind)
}
