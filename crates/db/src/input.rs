//! The inputs of the database: facts that the driver supplies.
//!
//! ```text
//! Directory ── files ──► File ── blocks ──► Block (text)
//! ```
//!
//! A file is the list of its top-level blocks. An edit sets only the blocks that it touched, so everything derived from
//! the others stays.

use std::{ops::Range, sync::Arc};

use salsa::{Durability, Setter};
use syntax::{Chunks, TextRange};

use crate::{Db, one_shot};

/// Whether a file is written in the JSON syntax. Such a file is one block.
pub fn is_json(path: &str) -> bool {
    path.ends_with(".json")
}

/// Whether a file changes what others of its directory declare, and declares nothing itself (`reference`: surface 2.1).
pub fn is_override(path: &str) -> bool {
    let path = path.strip_suffix(".json").unwrap_or(path);
    let stem = path.strip_suffix(".tf").or_else(|| path.strip_suffix(".tofu"));
    let before = stem.and_then(|stem| stem.strip_suffix("override"));
    before.is_some_and(|it| it.is_empty() || it.ends_with(['/', '_']))
}

/// Where a block begins in its file; `None` if it is not in the file any more.
pub fn block_offset(db: &dyn Db, block: Block) -> Option<u32> {
    let mut offset = 0;
    for &other in block.file(db).blocks(db) {
        if other == block {
            return Some(offset);
        }
        offset += other.text(db).len() as u32;
    }
    None
}

/// One top-level block, attribute, or run of text that is neither, with the blank lines and comments before it.
#[salsa::input(debug)]
pub struct Block {
    /// The file that it is in, or was in.
    #[returns(copy)]
    pub file: File,
    /// Its text; ranges of everything derived from it count from its start.
    #[returns(ref)]
    pub text: Arc<str>,
    /// What override files change of its declarations, in the order of these, and for each in the order in which it counts.
    /// Whoever knows the names sets it; of nearly all blocks it is empty.
    #[returns(ref)]
    pub overrides: Box<[Override]>,
}

/// That a declaration of an override file changes one of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Override {
    /// The declaration that is changed: the index among those of its block.
    pub item: u32,
    /// The block of the override file.
    pub by: Block,
    /// The index among the declarations of that block.
    pub by_item: u32,
}

/// A file of a configuration.
#[salsa::input(debug)]
pub struct File {
    /// The path as it is shown to people.
    #[returns(ref)]
    pub path: Arc<str>,
    /// Its top-level blocks in order; their texts together are the file.
    #[returns(ref)]
    pub blocks: Vec<Block>,
    /// Set where the bytes were no UTF-8: the byte offset of the first fault.
    #[returns(copy)]
    pub decode_error: Option<u32>,
}

/// A directory with the configuration files of one module.
#[salsa::input(debug)]
pub struct Directory {
    /// The path as it is shown to people; `.` is the root module.
    #[returns(ref)]
    pub path: Arc<str>,
    /// Its files, sorted by name.
    #[returns(ref)]
    pub files: Vec<File>,
}

/// The texts of the blocks of a file. To find them is what takes time about a new file, and it needs no database.
pub struct BlockTexts(Vec<Arc<str>>);

impl BlockTexts {
    /// Cuts the text of the file with that path.
    pub fn of(path: &str, text: &str) -> BlockTexts {
        let chunks = chunks(path, text);
        BlockTexts(chunks.ranges().iter().copied().map(|range| Arc::from(&text[range])).collect())
    }
}

/// Makes a file of a text.
pub fn file_from_text(
    db: &mut dyn Db,
    path: Arc<str>,
    text: &str,
    decode_error: Option<u32>,
) -> File {
    let blocks = BlockTexts::of(&path, text);
    file_from_blocks(db, path, blocks, decode_error, true)
}

/// Makes a file of the texts of its blocks. `has_overrides` says whether there are override files beside it, or may be.
pub fn file_from_blocks(
    db: &mut dyn Db,
    path: Arc<str>,
    blocks: BlockTexts,
    decode_error: Option<u32>,
    has_overrides: bool,
) -> File {
    // Whatever reads a block reads the path: without a durability of its own, every new name and schema would have all
    // blocks looked at again.
    let file = File::builder(path, Vec::new(), decode_error)
        .path_durability(one_shot::durability(db, Durability::HIGH))
        .decode_error_durability(one_shot::durability(db, Durability::MEDIUM))
        .new(db);
    // Override files are known, and set, after the blocks.
    let edited = Durability::MEDIUM;
    let durability = if has_overrides { edited } else { one_shot::durability(db, edited) };
    let block = |text| Block::builder(file, text, Box::default()).durability(durability).new(db);
    let blocks = blocks.0.into_iter().map(block).collect();
    let durability = one_shot::durability(db, Durability::LOW);
    file.set_blocks(db).with_durability(durability).to(blocks);
    file
}

fn chunks(path: &str, text: &str) -> Chunks {
    if is_json(path) { Chunks::whole(text) } else { Chunks::of(text) }
}

/// Texts change more seldom than what follows from them and is handed back as input (which names there are, which schemas):
/// what reads texts alone need not be looked at again after those.
fn new_block(db: &dyn Db, file: File, text: Arc<str>) -> Block {
    Block::builder(file, text, Box::default()).durability(Durability::MEDIUM).new(db)
}

/// The text of a file: that of its blocks.
pub fn file_text(db: &dyn Db, file: File) -> String {
    let blocks: Vec<&str> = file.blocks(db).iter().map(|block| &**block.text(db)).collect();
    // It is known how long the text will be: one that grows while it is made is copied several times.
    blocks.concat()
}

/// The text of a file as it is edited: what an edit needs so as to find the blocks that it touched.
///
/// **Invariant:** while a file has one, its text changes through it only.
pub struct EditedText {
    file: File,
    text: String,
    chunks: Chunks,
}

/// What an edit does to the blocks of a file; nothing is done before [`BlockEdits::apply`].
#[must_use]
pub struct BlockEdits {
    file: File,
    /// Blocks that stay in their place, with new texts.
    changed: Vec<(Block, Arc<str>)>,
    /// Blocks that are not in the file any more.
    removed: Vec<Block>,
    /// Texts of blocks that are new; they come after those before.
    added: Vec<Arc<str>>,
    /// Where the removed ones were and the added ones come.
    at: usize,
}

impl EditedText {
    /// Begins to edit a file.
    pub fn of(db: &dyn Db, file: File) -> EditedText {
        let text = file_text(db, file);
        let chunks = chunks(file.path(db), &text);
        EditedText { file, text, chunks }
    }

    /// The text as it is now.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Replaces bytes of the text. They begin and end at characters and are inside of the text, or are cut to it.
    pub fn replace(&mut self, db: &dyn Db, replaced: Range<usize>, with: &str) -> BlockEdits {
        let end = floor_char_boundary(&self.text, replaced.end);
        let start = floor_char_boundary(&self.text, replaced.start.min(end));
        let old = self.text.len();
        self.text.replace_range(start..end, with);
        let chunks = match is_json(self.file.path(db)) {
            true => Chunks::whole(&self.text),
            false => self.chunks.after_replacing(old, start..end, &self.text),
        };
        let edits = self.edits(db, &chunks, old, start, old - end);
        self.chunks = chunks;
        edits
    }

    /// Replaces the whole text.
    pub fn set(&mut self, db: &dyn Db, text: &str) -> BlockEdits {
        let (replaced, with) = syntax::difference(&self.text, text);
        self.replace(db, replaced, &text[with])
    }

    /// Compares the blocks before, which cover `old` bytes, with those of the new text. The first `prefix` bytes and the
    /// last `suffix` ones are the same.
    fn edits(
        &self,
        db: &dyn Db,
        chunks: &Chunks,
        old: usize,
        prefix: usize,
        suffix: usize,
    ) -> BlockEdits {
        let (before, after) = (self.chunks.ranges(), chunks.ranges());
        let (at, behind) = (prefix as u32, (old - suffix) as u32);
        let most = before.len().min(after.len());
        let same_before = |(a, b): &(&TextRange, &TextRange)| a == b && u32::from(a.end()) <= at;
        let head = before.iter().zip(after).take_while(same_before).count();
        let moved = self.text.len() as i64 - old as i64;
        let same_behind = |(a, b): &(&TextRange, &TextRange)| {
            let [a_start, a_end, b_start, b_end] =
                [a.start(), a.end(), b.start(), b.end()].map(|at| i64::from(u32::from(at)));
            a_start >= i64::from(behind) && a_start + moved == b_start && a_end + moved == b_end
        };
        let mut tail = before
            .iter()
            .rev()
            .zip(after.iter().rev())
            .take(most - head)
            .take_while(same_behind)
            .count();
        let blocks = self.file.blocks(db);
        // What is put before a block touches the space before it, and the block is the same.
        let same_text =
            |(block, range): &(&Block, &TextRange)| **block.text(db) == self.text[**range];
        let between = (&blocks[head..before.len() - tail], &after[head..after.len() - tail]);
        tail += between.0.iter().rev().zip(between.1.iter().rev()).take_while(same_text).count();
        let old_blocks = &blocks[head..before.len() - tail];
        let new_ranges = &after[head..after.len() - tail];
        let kept = old_blocks.len().min(new_ranges.len());
        let texts = || new_ranges.iter().map(|range| &self.text[*range]);
        let changed = old_blocks.iter().zip(texts());
        let changed = changed.filter(|(block, text)| **block.text(db) != **text);
        BlockEdits {
            file: self.file,
            changed: changed.map(|(&block, text)| (block, Arc::from(text))).collect(),
            removed: old_blocks[kept..].to_vec(),
            added: texts().skip(kept).map(Arc::from).collect(),
            at: head + kept,
        }
    }
}

/// The start of the character that a byte is in; the end of the text for what is beyond it.
pub fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl BlockEdits {
    /// The blocks that are there and change or go.
    pub fn touched(&self) -> impl Iterator<Item = Block> {
        self.changed.iter().map(|(block, _)| *block).chain(self.removed.iter().copied())
    }

    /// The blocks that go.
    pub fn removed(&self) -> &[Block] {
        &self.removed
    }

    /// Sets the inputs that the edit touched, and no other. Answers the blocks that came.
    pub fn apply(self, db: &mut dyn Db) -> Vec<Block> {
        for (block, text) in self.changed {
            block.set_text(db).to(text);
        }
        if self.removed.is_empty() && self.added.is_empty() {
            return Vec::new();
        }
        let added: Vec<Block> =
            self.added.into_iter().map(|text| new_block(db, self.file, text)).collect();
        let mut blocks = self.file.blocks(db).clone();
        blocks.splice(self.at..self.at + self.removed.len(), added.iter().copied());
        self.file.set_blocks(db).to(blocks);
        added
    }
}

/// The syntax tree of one block. Not compared: whoever reads it derives something small that is.
#[salsa::tracked(returns(ref), no_eq, lru = 512)]
pub fn parse(db: &dyn Db, block: Block) -> syntax::Parse<syntax::ast::SourceFile> {
    syntax::parse_chunk(block.text(db))
}

#[cfg(test)]
mod tests {
    use super::is_override;

    #[test]
    fn override_files_are_told_by_their_names() {
        let names =
            ["override.tf", "a_override.tofu", "m/override.tf.json", "m/x_override.tofu.json"];
        names.into_iter().for_each(|it| assert!(is_override(it), "{it}"));
        let others =
            ["xoverride.tf", "override_a.tf", "override", "_override.json", "override/a.tf"];
        others.into_iter().for_each(|it| assert!(!is_override(it), "{it}"));
    }
}
