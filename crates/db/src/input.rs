//! The inputs of the database: facts that the driver supplies.
//!
//! ```text
//! Directory ── files ──► File ── blocks ──► Block (text)
//! ```
//!
//! A file is the list of its top-level blocks. An edit sets only the blocks that it touched, so everything derived from
//! the others stays.

use std::sync::Arc;

use salsa::Setter;
use syntax::TextRange;

use crate::Db;

/// One top-level block, attribute, or run of text that is neither, with the blank lines and comments before it.
#[salsa::input(debug)]
pub struct Block {
    /// Its text; ranges of everything derived from it count from its start.
    #[returns(ref)]
    pub text: Arc<str>,
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

/// Makes a file of a text.
pub fn file_from_text(db: &dyn Db, path: Arc<str>, text: &str, decode_error: Option<u32>) -> File {
    let blocks = syntax::split(text).into_iter().map(|range| block(db, text, range)).collect();
    File::new(db, path, blocks, decode_error)
}

/// Gives a file a new text, keeping the blocks that did not change.
///
/// Blocks at the beginning and at the end that are equal stay the same inputs; those between are set in place as far as
/// their number allows, so that an edit inside one block changes one input and nothing else.
pub fn set_file_text(db: &mut dyn Db, file: File, text: &str) {
    let ranges = syntax::split(text);
    let old = file.blocks(db).clone();
    let same = |db: &dyn Db, block: Block, range: TextRange| **block.text(db) == text[range];
    let head =
        old.iter().zip(&ranges).take_while(|&(&block, &range)| same(db, block, range)).count();
    let tail_limit = old.len().min(ranges.len()) - head;
    let tail = old
        .iter()
        .rev()
        .zip(ranges.iter().rev())
        .take(tail_limit)
        .take_while(|&(&block, &range)| same(db, block, range))
        .count();
    let middle = &ranges[head..ranges.len() - tail];
    let mut blocks = old[..head].to_vec();
    let reusable = &old[head..old.len() - tail];
    for (index, &range) in middle.iter().enumerate() {
        match reusable.get(index) {
            Some(&block) => {
                block.set_text(db).to(Arc::from(&text[range]));
                blocks.push(block);
            }
            None => blocks.push(block(db, text, range)),
        }
    }
    blocks.extend_from_slice(&old[old.len() - tail..]);
    if blocks != old {
        file.set_blocks(db).to(blocks);
    }
}

fn block(db: &dyn Db, text: &str, range: TextRange) -> Block {
    Block::new(db, Arc::from(&text[range]))
}

/// The syntax tree of one block. Not compared: whoever reads it derives something small that is.
#[salsa::tracked(returns(ref), no_eq, lru = 512)]
pub fn parse(db: &dyn Db, block: Block) -> syntax::Parse<syntax::ast::SourceFile> {
    syntax::parse_chunk(block.text(db))
}
