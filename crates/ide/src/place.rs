//! From declarations back to text: in which file a block stands, and where in it.

use db::{Block, ByteRange, Directory, File};
use hir::Db;
use hir::{
    At, Workspace,
    names::{ItemKey, ItemName, lookup, source_maps},
};

use crate::{Document, FileRange};

/// A module, seen as part of a configuration.
#[derive(Clone, Copy)]
pub struct Module<'db> {
    /// The database.
    pub db: &'db dyn Db,
    /// The configuration whose schemas and installed modules count.
    pub workspace: Workspace,
    /// The module's directory.
    pub directory: Directory,
}

impl<'db> Module<'db> {
    /// The file that a block stands in, and the offset at which it begins there. Linear in the blocks of the module.
    pub fn place(&self, block: Block) -> Option<(File, u32)> {
        place_in(self.db, self.directory, block)
    }

    /// The range of a part of an item. Linear in the blocks of the module.
    pub fn range(&self, key: ItemKey, at: impl Into<At>) -> Option<FileRange> {
        let (file, start) = self.place(key.block)?;
        range_at(self.db, file, start, key, at.into())
    }

    /// The declaration of a name.
    pub fn lookup(&self, name: &ItemName) -> Option<ItemKey> {
        lookup(self.db, self.directory, name)
    }

    /// Another module of the same configuration.
    pub fn with_directory(&self, directory: Directory) -> Module<'db> {
        Module { directory, ..*self }
    }

    /// One of the module's files.
    pub fn document(&self, file: File) -> Document<'db> {
        let Module { db, workspace, directory } = *self;
        Document { db, workspace, directory, file }
    }

    /// The range of a part of an item of any module of the configuration, this one first.
    pub fn range_anywhere(&self, key: ItemKey, at: At) -> Option<FileRange> {
        let others = self.workspace.directories(self.db).values().copied();
        let modules =
            std::iter::once(self.directory).chain(others.filter(|it| *it != self.directory));
        let (file, start) =
            modules.into_iter().find_map(|directory| place_in(self.db, directory, key.block))?;
        range_at(self.db, file, start, key, at)
    }
}

fn place_in(db: &dyn Db, directory: Directory, block: Block) -> Option<(File, u32)> {
    directory.files(db).iter().find_map(|&file| Some((file, start_of(db, file, block)?)))
}

/// Where a block of a file begins.
fn start_of(db: &dyn Db, file: File, block: Block) -> Option<u32> {
    let index = file.blocks(db).iter().position(|it| *it == block)?;
    let before = file.blocks(db).iter().take(index);
    let length: usize = before.map(|block| block.text(db).len()).sum();
    u32::try_from(length).ok()
}

fn range_at(db: &dyn Db, file: File, start: u32, key: ItemKey, at: At) -> Option<FileRange> {
    let map = source_maps(db, key.block).get(key.index as usize)?;
    Some(FileRange { file, range: ByteRange::from(map.range(at)?).shifted(start) })
}
