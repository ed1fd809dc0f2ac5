//! Semantic tokens of block types, labels and argument names.

use addr::ResourceMode;
use hir::{ItemKind, names::ItemKey};
use syntax::{AstNode, SyntaxToken, ast};

use super::{Modifiers, SchemeOfBody, SemanticKind, TokenKind, Walk};
use crate::{
    Cursor,
    cursor::items_of,
    scheme::{ArgumentMeaning, BlockMeaning, blocks_around, scheme},
};

impl<'db> Walk<'db> {
    pub(super) fn block_type(&mut self, block: &ast::Block, token: &SyntaxToken) -> TokenKind {
        let deprecated =
            self.in_scheme(block.syntax(), |scheme, _| match scheme.block(token.text()) {
                Some(BlockMeaning::Schema(nested, _)) => nested.block.deprecated,
                _ => false,
            });
        let deprecated = deprecated.unwrap_or(false);
        let modifiers = Modifiers { deprecated, ..Modifiers::NONE };
        TokenKind { kind: SemanticKind::BlockType, modifiers }
    }

    /// Calls `look` with the scheme of the body around a node. Caches the scheme of the last body.
    pub(super) fn in_scheme<T>(
        &mut self,
        node: &syntax::SyntaxNode,
        look: impl FnOnce(&crate::scheme::Scheme, crate::Module<'db>) -> T,
    ) -> Option<T> {
        let module = self.document.module();
        let body = node.parent()?;
        if self.scheme.as_ref().is_none_or(|it| it.body != body) {
            let scheme = scheme(module, &blocks_around(node));
            self.scheme = Some(SchemeOfBody { body, scheme });
        }
        let scheme = self.scheme.as_ref()?.scheme.as_ref();
        scheme.map(|scheme| look(scheme, module))
    }

    pub(super) fn argument(
        &mut self,
        cursor: &Cursor<'db>,
        attribute: &ast::Attribute,
        token: &SyntaxToken,
    ) -> TokenKind {
        let found = self.in_scheme(attribute.syntax(), |scheme, module| {
            let is_locals = scheme.language.is_some_and(|it| it.name == "locals");
            let modifiers = match scheme.argument(module, token.text()) {
                Some(ArgumentMeaning::Schema(attribute, _)) => Modifiers {
                    ephemeral: attribute.write_only,
                    sensitive: attribute.sensitive,
                    deprecated: attribute.deprecated,
                    ..Modifiers::NONE
                },
                Some(ArgumentMeaning::Variable(key)) => {
                    match hir::names::item(module.db, key).kind.as_variable() {
                        Some(variable) => Modifiers {
                            ephemeral: variable.ephemeral,
                            sensitive: variable.sensitive,
                            deprecated: variable.deprecated.is_some(),
                            ..Modifiers::NONE
                        },
                        None => Modifiers::NONE,
                    }
                }
                _ => Modifiers::NONE,
            };
            (is_locals, modifiers)
        });
        match found {
            Some((true, _)) => {
                let modifiers = self.local(cursor, token);
                TokenKind { kind: SemanticKind::Local, modifiers }
            }
            Some((false, modifiers)) => TokenKind { kind: SemanticKind::Property, modifiers },
            None => TokenKind::plain(SemanticKind::Property),
        }
    }

    /// The marks of a local value at its definition.
    fn local(&mut self, cursor: &Cursor<'db>, token: &SyntaxToken) -> Modifiers {
        let module = self.document.module();
        let name = hir::names::ItemName::Local(token.text().into());
        let declared = module.lookup(&name).filter(|key| key.block == cursor.block);
        let marks = declared.map(|key| self.marks(key)).unwrap_or_default();
        Modifiers { declaration: true, readonly: true, ..marks }
    }

    pub(super) fn marks(&mut self, key: ItemKey) -> Modifiers {
        Modifiers::of(self.values.value(self.document.directory, key))
    }

    /// Adds a label of a block, including its quotes.
    pub(super) fn label(&mut self, cursor: &Cursor<'db>, label: &ast::Label) {
        let Some(block) = label.syntax().parent().and_then(ast::Block::cast) else { return };
        let Some(position) = block.labels().take(3).position(|it| it == *label) else { return };
        let is_top = blocks_around(block.syntax()).is_empty();
        let kind = block.block_type().unwrap_or_default();
        let found = match (is_top, &*kind, position) {
            (true, "resource" | "data" | "ephemeral", 0) => SemanticKind::Type,
            (true, "resource" | "data" | "ephemeral", 1) => SemanticKind::Resource,
            (true, "variable", 0) => SemanticKind::Variable,
            (true, "output", 0) => SemanticKind::Output,
            (true, "module", 0) => SemanticKind::Module,
            (true, "provider", 0) => SemanticKind::Provider,
            (false, "dynamic", 0) => SemanticKind::BlockType,
            (false, "provisioner" | "backend", 0) => SemanticKind::Type,
            _ => SemanticKind::String,
        };
        let modifiers = match found {
            SemanticKind::Resource
            | SemanticKind::Variable
            | SemanticKind::Output
            | SemanticKind::Module => Modifiers { declaration: true, ..self.declared(cursor) },
            _ => Modifiers::NONE,
        };
        let text = label.syntax().text().to_string();
        let kind = TokenKind { kind: found, modifiers };
        self.push(cursor, label.syntax().text_range(), &text, kind);
    }

    /// The modifiers of the item that a block declares.
    fn declared(&mut self, cursor: &Cursor<'db>) -> Modifiers {
        let Some(item) = items_of(self.document.db, cursor.block).next() else {
            return Modifiers::NONE;
        };
        match &item.item.kind {
            // A sensitive part of a resource does not make the whole resource sensitive.
            ItemKind::Resource(it) => Modifiers {
                ephemeral: it.resource.mode == ResourceMode::Ephemeral,
                ..Modifiers::NONE
            },
            ItemKind::Variable(it) => {
                Modifiers { deprecated: it.deprecated.is_some(), ..self.marks(item.key) }
            }
            ItemKind::Output(it) => {
                Modifiers { deprecated: it.deprecated.is_some(), ..self.marks(item.key) }
            }
            _ => Modifiers::NONE,
        }
    }
}
