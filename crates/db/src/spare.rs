//! Pools of inputs that stand for nothing any more, to be reused.
//!
//! Salsa never frees an input, and everything memoized for an input lives as long as it does. An editor that runs
//! for a day adds and removes blocks with every second key, so their number would grow without end. Instead, a
//! removed block or file waits here, and the next one that is added takes its place with new contents.
//!
//! **Invariant:** an input in a pool is in no list of another input. Setting its fields invalidates everything that
//! was derived from its former contents.
//! **Invariant:** a pool belongs to one module. A key of a query names a module and a block of it, so the number of
//! such keys is bounded only if blocks stay in their module.

use std::sync::Arc;

use salsa::Setter as _;

use crate::{
    Db,
    input::{Block, BlockTexts, File, new_block, new_file, parse},
};

/// The spare inputs of one module.
#[derive(Default)]
pub struct SpareInputs {
    blocks: Vec<Block>,
    files: Vec<File>,
}

impl SpareInputs {
    /// Returns true if nothing waits here, so that inputs may be created in any way.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.files.is_empty()
    }

    /// Returns a block with this file and text: a spare one, or else a new one.
    pub fn block(&mut self, db: &mut dyn Db, file: File, text: Arc<str>) -> Block {
        let Some(block) = self.blocks.pop() else { return new_block(db, file, text) };
        block.set_text(db).to(text);
        if block.file(db) != file {
            block.set_file(db).to(file);
        }
        block
    }

    /// Returns a file with this path and these blocks: a spare one, or else a new one. Prefers the spare file that
    /// had the path before, because nearly every query reads the path of a file.
    pub fn file(
        &mut self,
        db: &mut dyn Db,
        path: &Arc<str>,
        blocks: BlockTexts,
        decode_error: Option<u32>,
    ) -> File {
        let same = self.files.iter().position(|file| file.path(db) == path);
        let spare = same.map(|at| self.files.swap_remove(at)).or_else(|| self.files.pop());
        let file = spare.unwrap_or_else(|| new_file(db, Arc::clone(path), decode_error));
        if file.path(db) != path {
            file.set_path(db).to(Arc::clone(path));
        }
        if file.decode_error(db) != decode_error {
            file.set_decode_error(db).to(decode_error);
        }
        let blocks = blocks.into_iter().map(|text| self.block(db, file, text)).collect();
        file.set_blocks(db).to(blocks);
        file
    }

    /// Takes a block that is in no file any more. Drops its text, and its tree, which is larger than anything else
    /// that is kept of a block: the parse of the empty text takes its place.
    pub fn take_block(&mut self, db: &mut dyn Db, block: Block) {
        block.set_text(db).to(Arc::default());
        parse(db, block);
        if !block.overrides(db).is_empty() {
            block.set_overrides(db).to(Box::default());
        }
        self.blocks.push(block);
    }

    /// Takes a file that is in no directory any more, with its blocks.
    pub fn take_file(&mut self, db: &mut dyn Db, file: File) {
        let blocks = file.blocks(db).clone();
        file.set_blocks(db).to(Vec::new());
        blocks.into_iter().for_each(|block| self.take_block(db, block));
        self.files.push(file);
    }
}
