//! The declarations of names in the text.

use db::File;
use hir::{
    names::{ItemKey, ItemName},
    symbols::symbol,
};
use syntax::{
    AstNode, SyntaxKind, SyntaxNode, TextRange,
    ast::{self, HasItems},
};

use super::{named::Named, of_test};
use crate::{
    Cursor, FileRange, Module,
    block_syntax::{name_label, name_range},
};

/// The range of the name of a top-level block's item; for a provider with an alias, the alias.
fn own_name(block: &ast::Block) -> Option<TextRange> {
    let alias = || block.body()?.attribute("alias")?.value();
    if block.block_type()? == "provider"
        && let Some(alias) = alias()
    {
        return Some(name_range(alias.syntax()));
    }
    Some(name_range(block.labels().nth(name_label(block)?)?.syntax()))
}

/// The range of the name of the item that a top-level block declares.
pub(crate) fn declared_name(block: &SyntaxNode) -> Option<TextRange> {
    own_name(&ast::Block::cast(block.clone())?)
}

/// A declaration in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The name, or the text that represents it.
    pub name: FileRange,
    /// The whole declaration.
    pub full: db::ByteRange,
}

impl Named {
    /// The declarations of the target, seen from a block that refers to it.
    pub(crate) fn declarations(&self, tree: &Cursor<'_>) -> Vec<Declaration> {
        let module = tree.document.module();
        match self {
            Named::Item(directory, name) => module.with_directory(*directory).declarations(name),
            Named::Bound(_, range) => {
                let name = tree.file_range(*range);
                vec![Declaration { name, full: name.range }]
            }
            Named::Place(place) => vec![Declaration { name: *place, full: place.range }],
            Named::OfTest(name) => of_test::declarations(name, tree),
            Named::Module(directory) => {
                module.with_directory(*directory).start().into_iter().collect()
            }
        }
    }
}

impl Module<'_> {
    /// The start of the file that represents the module: `main.tf` or `main.tofu` if it exists, else the first
    /// file.
    pub(crate) fn start(&self) -> Option<Declaration> {
        let files = self.directory.files(self.db);
        let is_main = |file: &&File| {
            let path = file.path(self.db);
            let name = path.rsplit('/').next().unwrap_or(path);
            name == "main.tf" || name == "main.tofu"
        };
        let file = *files.iter().find(is_main).or(files.first())?;
        let full = db::ByteRange { start: 0, end: 0 };
        Some(Declaration { name: FileRange { file, range: full }, full })
    }

    /// Returns true if the module declares a name, or lists it as a configuration alias in `required_providers`.
    pub(crate) fn is_declared(&self, name: &ItemName) -> bool {
        match name {
            ItemName::Provider(local_name, Some(alias)) => {
                let required = hir::names::required_providers(self.db, self.directory);
                let entry = required.declared.get(local_name);
                self.lookup(name).is_some()
                    || entry.is_some_and(|(entry, _)| entry.configuration_aliases.contains(alias))
            }
            name => self.lookup(name).is_some(),
        }
    }

    /// All declarations of a name. More than one declaration is an error, but each of them is in the text.
    fn declarations(&self, name: &ItemName) -> Vec<Declaration> {
        let symbol = symbol(self.db, self.directory, name);
        let keys = symbol
            .into_iter()
            .flat_map(|it| it.first(self.db).into_iter().chain(it.later(self.db).iter().copied()));
        let mut found: Vec<Declaration> = keys.filter_map(|key| self.declared_by(key)).collect();
        if found.is_empty() {
            found.extend(self.required_provider(name));
        }
        found
    }

    /// The declaration of a name; the first one if there are several.
    pub(crate) fn declaration(&self, name: &ItemName) -> Option<Declaration> {
        let Some(key) = self.lookup(name) else { return self.required_provider(name) };
        self.declared_by(key)
    }

    /// The declaration of an item.
    fn declared_by(&self, key: ItemKey) -> Option<Declaration> {
        let header = hir::names::own_header(self.db, key)?;
        let (file, start) = self.place(key.block)?;
        let tree = self.document(file).cursor_in(key.block, start, start);
        let around = tree.root.covering_element(header);
        let around = around.as_node().cloned().or_else(|| around.parent())?;
        let node = around
            .ancestors()
            .find(|it| matches!(it.kind(), SyntaxKind::BLOCK | SyntaxKind::ATTRIBUTE))?;
        let name = match ast::Block::cast(node.clone()) {
            Some(block) => own_name(&block)?,
            None => header,
        };
        Some(Declaration { name: tree.file_range(name), full: tree.in_file(node.text_range()) })
    }

    /// The entry of `required_providers` for a provider that has no block of its own.
    fn required_provider(&self, name: &ItemName) -> Option<Declaration> {
        let ItemName::Provider(local_name, _) = name else { return None };
        for document in self.documents() {
            for tree in document.trees() {
                for item in tree.items() {
                    let Some(terraform) = item.item.kind.as_terraform() else { continue };
                    let mut entries = terraform.required_providers.iter();
                    let Some(entry) = entries.find(|it| it.local_name == *local_name) else {
                        continue;
                    };
                    let name = tree.file_range(item.range(entry.node)?);
                    return Some(Declaration { name, full: name.range });
                }
            }
        }
        None
    }
}
