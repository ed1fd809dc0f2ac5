//! The names that `for`, loops of templates and `dynamic` blocks bind, while a walk goes through them.

use rustc_hash::FxHashMap;
use syntax::{
    AstNode, SyntaxKind, SyntaxNode, SyntaxToken, TextSize,
    ast::{self, HasItems as _},
};

/// The names that are bound around the place of a walk.
#[derive(Default)]
pub(super) struct Bound {
    /// Where each name begins to be bound, the outermost first.
    names: FxHashMap<String, Vec<TextSize>>,
    /// The nodes that bind names, with those.
    scopes: Vec<(SyntaxNode, Vec<String>)>,
}

impl Bound {
    /// Whether a name is bound where it stands.
    pub(super) fn binds(&self, token: &SyntaxToken) -> bool {
        let outermost = self.names.get(token.text()).and_then(|starts| starts.first());
        outermost.is_some_and(|start| *start <= token.text_range().start())
    }

    /// Notes what a node binds.
    pub(super) fn enter(&mut self, node: &SyntaxNode) {
        let names = match node.kind() {
            SyntaxKind::FOR_TUPLE | SyntaxKind::FOR_OBJECT => of_for(node),
            SyntaxKind::BLOCK => of_block(node).into_iter().collect(),
            _ => of_template(node),
        };
        if names.is_empty() {
            return;
        }
        for (name, start) in &names {
            self.names.entry(name.clone()).or_default().push(*start);
        }
        self.scopes.push((node.clone(), names.into_iter().map(|(name, _)| name).collect()));
    }

    /// Forgets what a node bound.
    pub(super) fn leave(&mut self, node: &SyntaxNode) {
        let Some((_, names)) = self.scopes.pop_if(|(scope, _)| scope == node) else { return };
        for name in names {
            if let Some(starts) = self.names.get_mut(&name) {
                starts.pop();
            }
        }
    }
}

type Names = Vec<(String, TextSize)>;

fn of_for(node: &SyntaxNode) -> Names {
    let Some(intro) = node.children().find_map(ast::ForIntro::cast) else { return Vec::new() };
    let end = intro.syntax().text_range().end();
    let names = intro.key_name().into_iter().chain(intro.value_name());
    names.map(|it| (it.text().to_owned(), end)).collect()
}

fn of_template(node: &SyntaxNode) -> Names {
    let loops = node.children().filter_map(ast::TemplateFor::cast);
    let names = loops.flat_map(|it| {
        let end = it.syntax().text_range().end();
        let names = it.key_name().into_iter().chain(it.value_name());
        names.map(move |it| (it.text().to_owned(), end))
    });
    names.collect()
}

/// The iterator of a `dynamic` block.
fn of_block(node: &SyntaxNode) -> Option<(String, TextSize)> {
    let block = ast::Block::cast(node.clone())?;
    if block.type_token()?.text() != "dynamic" {
        return None;
    }
    let named = block.body().and_then(|it| it.attribute("iterator")?.value()?.name_token());
    let name = match named {
        Some(named) => named.text().to_owned(),
        None => block.label_texts().next()?.to_string(),
    };
    Some((name, node.text_range().start()))
}
