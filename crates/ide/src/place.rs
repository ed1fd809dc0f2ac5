//! The places of declarations: from a block or item in the database to its file and offset.

use db::{Block, ByteRange, Directory, File, input::block_offset};
use hir::{
    At, Db, Workspace,
    names::{ItemKey, ItemName, lookup, place_of},
    symbols::{NameKind, names_of_kind},
};

use crate::{Document, FileRange};

/// A module in the context of a configuration.
#[derive(Clone, Copy)]
pub struct Module<'db> {
    /// The database.
    pub db: &'db dyn Db,
    /// The configuration that provides the schemas and the installed modules.
    pub workspace: Workspace,
    /// The directory of the module.
    pub directory: Directory,
    /// True for a document that is a test file of the module: its blocks and references are those of test files.
    pub is_test: bool,
}

impl<'db> Module<'db> {
    /// The module in a directory.
    pub fn new(db: &'db dyn Db, workspace: Workspace, directory: Directory) -> Module<'db> {
        Module { db, workspace, directory, is_test: false }
    }

    /// The file that contains a block, and the offset of the block. Linear in the number of blocks of the file.
    pub fn place(&self, block: Block) -> Option<(File, u32)> {
        place(self.db, block)
    }

    /// The range of a part of an item of any module. Linear in the number of blocks of the file.
    pub fn range(&self, key: ItemKey, at: impl Into<At>) -> Option<FileRange> {
        range(self.db, key, at.into())
    }

    /// The item that declares a name.
    pub fn lookup(&self, name: &ItemName) -> Option<ItemKey> {
        lookup(self.db, self.directory, name)
    }

    /// Another module of the same configuration.
    pub fn with_directory(&self, directory: Directory) -> Module<'db> {
        Module { directory, is_test: false, ..*self }
    }

    /// A file of the module as a document.
    pub fn document(&self, file: File) -> Document<'db> {
        let Module { db, workspace, directory, .. } = *self;
        Document { db, workspace, directory, file }
    }

    /// The declared names of one kind, sorted, each with the declaration that takes effect.
    pub fn names(&self, kind: NameKind) -> Vec<(ItemName, ItemKey)> {
        names_of_kind(self.db, self.directory, kind)
    }
}

/// The file that contains a block, and the offset of the block. Linear in the number of blocks of the file.
fn place(db: &dyn Db, block: Block) -> Option<(File, u32)> {
    Some((block.file(db), block_offset(db, block)?))
}

/// The range of a part of an item. Linear in the number of blocks of the file.
fn range(db: &dyn Db, key: ItemKey, at: At) -> Option<FileRange> {
    let (block, range) = place_of(db, key, at)?;
    let (file, start) = place(db, block)?;
    Some(FileRange { file, range: ByteRange::from(range).shifted(start) })
}
