//! Name resolution in the text of a file.
//!
//! Start reading at [`Occurrence::at`]. Go to definition, find references and rename all resolve names through it,
//! so that they agree. Hover and semantic tokens use [`Chain::read_as`], on which it is built.
//!
//! ```text
//! token ──► Chain ──► ReadAs ──► Occurrence { named, range, role }      named ──► declarations(…)
//! ```

mod argument;
mod bound;
mod follow;
mod reference;

use db::{Block, Directory, File};
use hir::{
    names::{ItemKey, ItemName},
    symbols::symbol,
};
use syntax::{
    AstNode, SyntaxKind, SyntaxNode, SyntaxToken, TextRange,
    ast::{self, HasItems},
};

use crate::{Cursor, FileRange, Module};

pub(crate) use self::{
    argument::{Written, attribute_around, block_of, call_of, called, is_in_type_argument},
    bound::{Templates, find as bound, iterator_name},
    follow::{block, value},
    reference::{Chain, ReadAs, item_name},
};

/// The target of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// An item of a module, which may not be declared.
    Item(Directory, ItemName),
    /// A name that `for` or `dynamic` binds, with the place of the binding.
    Bound(Block, TextRange),
    /// Something without a name of its own, such as an argument or an object key, with its place.
    Place(FileRange),
    /// A whole module.
    Module(Directory),
}

/// The role of a name at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The name is declared.
    Declaration,
    /// The name gets a value.
    Write,
    /// The value of the name is read.
    Read,
}

/// An occurrence of a name in the text.
#[derive(Clone, Debug)]
pub(crate) struct Occurrence {
    /// The target of the name.
    pub(crate) named: Named,
    /// The range of the name, relative to the start of the block. In `var.x` it is `x`, even if the request is at
    /// `var`.
    pub(crate) range: TextRange,
    /// The role of the name.
    pub(crate) role: Role,
}

impl Occurrence {
    /// Resolves a token of a block's tree. `None` if the token is not part of a name.
    pub(crate) fn at(tree: &Cursor<'_>, token: &SyntaxToken) -> Option<Occurrence> {
        Occurrence::among(tree, &Templates::default(), token)
    }

    /// Resolves one of many tokens of a tree. `templates` caches the bindings of the tree's templates.
    pub(crate) fn among(
        tree: &Cursor<'_>,
        templates: &Templates,
        token: &SyntaxToken,
    ) -> Option<Occurrence> {
        let parent = token.parent()?;
        match parent.kind() {
            SyntaxKind::LABEL => label(tree, &ast::Label::cast(parent)?),
            SyntaxKind::ATTRIBUTE => argument::name(tree, &ast::Attribute::cast(parent)?),
            SyntaxKind::OBJECT_KEY => argument::key(tree, &ast::ObjectKey::cast(parent)?),
            SyntaxKind::QUOTED_TEMPLATE => {
                argument::text(tree, &ast::QuotedTemplate::cast(parent)?)
            }
            SyntaxKind::FOR_INTRO | SyntaxKind::TEMPLATE_FOR => {
                bound::declaration(tree, &parent, token)
            }
            SyntaxKind::REFERENCE | SyntaxKind::ATTR_STEP => {
                reference::at(tree, templates, &parent)
            }
            _ => None,
        }
    }

    fn read(named: Named, range: TextRange) -> Occurrence {
        Occurrence { named, range, role: Role::Read }
    }

    fn declaration(named: Named, range: TextRange) -> Occurrence {
        Occurrence { named, range, role: Role::Declaration }
    }
}

/// Resolves the label that names the declared item of a block, or the iterator of a `dynamic` block.
fn label(tree: &Cursor<'_>, label: &ast::Label) -> Option<Occurrence> {
    let block = ast::Block::cast(label.syntax().parent()?)?;
    if let Some(found) = bound::iterator_label(tree, &block, label) {
        return Some(found);
    }
    let name = declared(&block)?;
    let named = block.labels().nth(name_label(&block)?)?;
    (named.syntax() == label.syntax()).then_some(())?;
    let range = name_range(label.syntax());
    Some(Occurrence::declaration(Named::Item(tree.document.directory, name), range))
}

/// The index of the label that names the declared item of a top-level block.
pub(crate) fn name_label(block: &ast::Block) -> Option<usize> {
    match block.block_type()?.as_str() {
        "variable" | "output" | "module" | "provider" | "check" => Some(0),
        "resource" | "data" | "ephemeral" => Some(1),
        _ => None,
    }
}

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

/// The name of the item that a top-level block declares. `None` for `locals` and for blocks without a named item.
pub(crate) fn declared(block: &ast::Block) -> Option<ItemName> {
    is_top_level(block.syntax()).then_some(())?;
    let labels: Vec<_> = block.label_texts().collect();
    let one = || labels.first().map(|it| values::Str::from(&**it));
    let resource = |mode| {
        let [ty, name] = labels.as_slice() else { return None };
        Some(ItemName::Resource(addr::Resource::new(mode, ty.clone(), name.clone())))
    };
    match block.block_type()?.as_str() {
        "variable" => Some(ItemName::Variable(one()?)),
        "output" => Some(ItemName::Output(one()?)),
        "module" => Some(ItemName::Module(one()?)),
        "check" => Some(ItemName::Check(one()?)),
        "provider" => Some(ItemName::Provider(one()?, argument::literal(block, "alias"))),
        "resource" => resource(addr::ResourceMode::Managed),
        "data" => resource(addr::ResourceMode::Data),
        "ephemeral" => resource(addr::ResourceMode::Ephemeral),
        _ => None,
    }
}

/// Returns true if a node is a top-level item of its file.
pub(crate) fn is_top_level(node: &SyntaxNode) -> bool {
    node.parent().is_some_and(|parent| parent.kind() == SyntaxKind::SOURCE_FILE)
}

/// The top-level block around a node.
pub(crate) fn top_level(node: &SyntaxNode) -> Option<ast::Block> {
    ast::Block::cast(node.ancestors().find(is_top_level)?)
}

/// The range of the name in a label, an attribute or a quoted string, without quotes. A rename replaces this
/// range.
pub(crate) fn name_range(node: &SyntaxNode) -> TextRange {
    let tokens = || node.children_with_tokens().filter_map(syntax::NodeOrToken::into_token);
    let first = |kind| tokens().find(|token| token.kind() == kind).map(|token| token.text_range());
    match (first(SyntaxKind::OPEN_QUOTE), first(SyntaxKind::CLOSE_QUOTE)) {
        (Some(open), Some(close)) => TextRange::new(open.end(), close.start()),
        _ => tokens()
            .find(|token| token.kind().is_name())
            .map_or(node.text_range(), |it| it.text_range()),
    }
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
