//! The inputs of the database, which the driver sets.
//!
//! ```text
//! Directory ── files ──► File ── blocks ──► Block (text)
//! ```
//!
//! A file is a list of top-level blocks. An edit sets only the blocks that it touches, so results derived from the
//! other blocks stay valid.

use std::{ops::Range, sync::Arc};

use salsa::{Durability, Setter};
use syntax::{Chunks, TextRange};

use crate::{Db, spare::SpareInputs};

/// Returns true if the path is that of a file in JSON syntax. Such a file is a single block.
pub fn is_json(path: &str) -> bool {
    path.ends_with(".json")
}

/// The extensions of test files. A file with the first extension hides one with the second and the same stem, and the
/// same holds for the two that follow.
pub const TEST_FILE_EXTENSIONS: [&str; 4] =
    [".tofutest.hcl", ".tftest.hcl", ".tofutest.json", ".tftest.json"];

/// Returns true if the path is that of a test file, which has blocks of its own and belongs to no module.
pub fn is_test_file(path: &str) -> bool {
    TEST_FILE_EXTENSIONS.iter().any(|it| path.ends_with(it))
}

/// Returns true if the path is that of an override file. Such a file changes declarations of other files in its
/// directory and declares nothing itself.
pub fn is_override(path: &str) -> bool {
    let path = path.strip_suffix(".json").unwrap_or(path);
    let stem = path.strip_suffix(".tf").or_else(|| path.strip_suffix(".tofu"));
    let before = stem.and_then(|stem| stem.strip_suffix("override"));
    before.is_some_and(|it| it.is_empty() || it.ends_with(['/', '_']))
}

/// Returns the byte offset of a block in its file; `None` if the block is no longer in the file.
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

/// A top-level block, an attribute, or a run of other text, with the blank lines and comments before it.
#[salsa::input(debug)]
pub struct Block {
    /// The file that contains the block, or contained it.
    #[returns(copy)]
    pub file: File,
    /// The text of the block. Ranges in results derived from the block are relative to its start.
    #[returns(ref)]
    pub text: Arc<str>,
    /// The changes that override files make to the declarations of this block, sorted by declaration and then by
    /// precedence. The symbol table sets it. Empty for nearly all blocks.
    #[returns(ref)]
    pub overrides: Box<[Override]>,
}

/// A change that a declaration in an override file makes to a declaration of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Override {
    /// The changed declaration: its index among the declarations of its block.
    pub item: u32,
    /// The block of the override file.
    pub by: Block,
    /// The index of the changing declaration in the block `by`.
    pub by_item: u32,
}

/// A file of a configuration.
#[salsa::input(debug)]
pub struct File {
    /// The display path.
    #[returns(ref)]
    pub path: Arc<str>,
    /// The top-level blocks in order; concatenated, their texts are the text of the file.
    #[returns(ref)]
    pub blocks: Vec<Block>,
    /// The byte offset of the first invalid byte; `None` if the file is valid UTF-8.
    #[returns(copy)]
    pub decode_error: Option<u32>,
}

/// A directory with the configuration files of one module.
#[salsa::input(debug)]
pub struct Directory {
    /// The display path; `.` is the root module.
    #[returns(ref)]
    pub path: Arc<str>,
    /// The files, sorted by name.
    #[returns(ref)]
    pub files: Vec<File>,
}

/// The texts of the blocks of a file. Finding them is the expensive part of adding a file, and needs no database.
pub struct BlockTexts(Vec<Arc<str>>);

impl BlockTexts {
    /// Splits the text of the file with this path into blocks.
    pub fn of(path: &str, text: &str) -> BlockTexts {
        let chunks = chunks(path, text);
        BlockTexts(chunks.ranges().iter().copied().map(|range| Arc::from(&text[range])).collect())
    }
}

impl IntoIterator for BlockTexts {
    type Item = Arc<str>;
    type IntoIter = std::vec::IntoIter<Arc<str>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Creates a file from a text.
pub fn file_from_text(
    db: &mut dyn Db,
    path: Arc<str>,
    text: &str,
    decode_error: Option<u32>,
) -> File {
    let blocks = BlockTexts::of(&path, text);
    file_from_blocks(db, path, blocks, decode_error, true)
}

/// Creates a file from the texts of its blocks. `has_overrides` is true if the directory has, or may have,
/// override files.
pub fn file_from_blocks(
    db: &mut dyn Db,
    path: Arc<str>,
    blocks: BlockTexts,
    decode_error: Option<u32>,
    has_overrides: bool,
) -> File {
    // Every query that reads a block also reads the path. With a lower durability, each new name or schema would
    // make salsa revalidate all blocks.
    let file = File::builder(path, Vec::new(), decode_error)
        .path_durability(db.durability(Durability::HIGH))
        .decode_error_durability(db.durability(Durability::MEDIUM))
        .new(db);
    // The symbol table sets `overrides` later, when it knows the names. A block that may get overrides therefore
    // stays editable.
    let edited = Durability::MEDIUM;
    let durability = if has_overrides { edited } else { db.durability(edited) };
    let block = |text| Block::builder(file, text, Box::default()).durability(durability).new(db);
    let blocks = blocks.0.into_iter().map(block).collect();
    let durability = db.durability(Durability::LOW);
    file.set_blocks(db).with_durability(durability).to(blocks);
    file
}

fn chunks(path: &str, text: &str) -> Chunks {
    if is_json(path) { Chunks::whole(text) } else { Chunks::of(text) }
}

/// Creates a file without blocks for a database whose texts change. Every query that reads a block also reads the
/// path. With a lower durability, each new name or schema would make salsa revalidate all blocks.
pub(crate) fn new_file(db: &dyn Db, path: Arc<str>, decode_error: Option<u32>) -> File {
    File::builder(path, Vec::new(), decode_error)
        .path_durability(Durability::HIGH)
        .decode_error_durability(Durability::MEDIUM)
        .new(db)
}

/// Creates a block with medium durability. Texts change less often than the inputs that are derived from them,
/// such as names and schemas. Queries that read only texts then need no revalidation after a change of those.
pub(crate) fn new_block(db: &dyn Db, file: File, text: Arc<str>) -> Block {
    Block::builder(file, text, Box::default()).durability(Durability::MEDIUM).new(db)
}

/// Returns the text of a file: the texts of its blocks.
pub fn file_text(db: &dyn Db, file: File) -> String {
    let blocks: Vec<&str> = file.blocks(db).iter().map(|block| &**block.text(db)).collect();
    // `concat` allocates once, because it knows the length; a growing string would be copied several times.
    blocks.concat()
}

/// The text of a file under edit, with the data that an edit needs to find the blocks that it touches.
///
/// **Invariant:** while a file has an `EditedText`, its text changes only through it.
pub struct EditedText {
    file: File,
    text: String,
    chunks: Chunks,
}

/// The effect of an edit on the blocks of a file. Takes effect with [`BlockEdits::apply`].
#[must_use]
pub struct BlockEdits {
    file: File,
    /// Blocks that keep their position and get a new text.
    changed: Vec<(Block, Arc<str>)>,
    /// Blocks that are no longer in the file.
    removed: Vec<Block>,
    /// The texts of new blocks, inserted at `at`.
    added: Vec<Arc<str>>,
    /// The index of the first removed block, at which the new blocks are inserted.
    at: usize,
}

impl EditedText {
    /// Starts to edit a file.
    pub fn of(db: &dyn Db, file: File) -> EditedText {
        let text = file_text(db, file);
        let chunks = chunks(file.path(db), &text);
        EditedText { file, text, chunks }
    }

    /// The current text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Replaces a byte range of the text. The range is clamped to the text and to character boundaries.
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

    /// Compares the blocks of the old text, which has `old` bytes, with those of the new text. The first `prefix`
    /// bytes and the last `suffix` bytes of both texts are the same.
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
        // An insertion before a block touches the whitespace before it but leaves the text of the block unchanged.
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

/// Returns the start of the character that contains byte `at`, or the end of the text if `at` lies beyond it.
pub fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl BlockEdits {
    /// The existing blocks that the edit changes or removes.
    pub fn touched(&self) -> impl Iterator<Item = Block> {
        self.changed.iter().map(|(block, _)| *block).chain(self.removed.iter().copied())
    }

    /// The blocks that the edit removes.
    pub fn removed(&self) -> &[Block] {
        &self.removed
    }

    /// Sets the inputs that the edit touches, and no others. New blocks are spare ones as long as there are any.
    /// Returns the new blocks. The removed ones are not spare yet, because the caller still looks up their names.
    pub fn apply(self, db: &mut dyn Db, spare: &mut SpareInputs) -> Vec<Block> {
        for (block, text) in self.changed {
            block.set_text(db).to(text);
        }
        if self.removed.is_empty() && self.added.is_empty() {
            return Vec::new();
        }
        let added: Vec<Block> =
            self.added.into_iter().map(|text| spare.block(db, self.file, text)).collect();
        let mut blocks = self.file.blocks(db).clone();
        blocks.splice(self.at..self.at + self.removed.len(), added.iter().copied());
        self.file.set_blocks(db).to(blocks);
        added
    }
}

/// Parses one block. Results are not compared (`no_eq`): queries that read the tree derive something small, and
/// that is compared. Only diagnostics and the cursor of an editor read trees, of few blocks at a time, so few are kept.
#[salsa::tracked(returns(ref), no_eq, lru = 32)]
pub fn parse(db: &dyn Db, block: Block) -> syntax::Parse<syntax::ast::SourceFile> {
    syntax::parse_chunk(block.text(db))
}

#[cfg(test)]
mod tests {
    use super::is_override;

    #[test]
    fn override_files_are_recognized_by_name() {
        let names =
            ["override.tf", "a_override.tofu", "m/override.tf.json", "m/x_override.tofu.json"];
        names.into_iter().for_each(|it| assert!(is_override(it), "{it}"));
        let others =
            ["xoverride.tf", "override_a.tf", "override", "_override.json", "override/a.tf"];
        others.into_iter().for_each(|it| assert!(!is_override(it), "{it}"));
    }
}
