//! Nested blocks.

use std::collections::BTreeMap;

use values::{Str, Value};

use super::{
    collections::{Set, elements_with, entries_with},
    described::Model,
    part::Part,
};
use crate::{
    diagnostics::Diagnostic,
    schema::{Block, NestedBlock, Nesting},
};

/// A Rust type for nested blocks: `Option<M>` for at most one block, `Vec<M>` for a list, [`Set<M>`] for a set and
/// `BTreeMap<Str, M>` for blocks with a label.
///
/// Null counts as no blocks: a state that was written before the block existed has null there.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type for nested blocks",
    note = "nested blocks are `Option<M>`, `Vec<M>`, `Set<M>` or `BTreeMap<Str, M>` of a struct `M` with \
            `#[derive(Model)]`"
)]
pub trait Blocks: Sized {
    /// The struct of each block.
    type Block: Model;
    /// The nesting mode.
    const NESTING: Nesting;

    /// Reads the blocks.
    ///
    /// # Errors
    /// See [`Model::decode`].
    fn decode_blocks(part: &Part<'_>) -> Result<Self, Diagnostic>;

    /// Returns the value of all blocks together.
    #[must_use]
    fn encode_blocks(&self) -> Value;
}

impl<M: Model> Blocks for Option<M> {
    type Block = M;
    const NESTING: Nesting = Nesting::Single;

    fn decode_blocks(part: &Part<'_>) -> Result<Option<M>, Diagnostic> {
        if part.value.is_null() { Ok(None) } else { M::decode_part(part).map(Some) }
    }

    fn encode_blocks(&self) -> Value {
        self.as_ref().map_or_else(|| Value::null(M::ty()), Model::encode)
    }
}

impl<M: Model> Blocks for Vec<M> {
    type Block = M;
    const NESTING: Nesting = Nesting::List;

    fn decode_blocks(part: &Part<'_>) -> Result<Vec<M>, Diagnostic> {
        if part.value.is_null() { Ok(Vec::new()) } else { elements_with(part, M::decode_part) }
    }

    /// A list has one type of elements. Blocks with a part of any type can have several, so they are a tuple.
    fn encode_blocks(&self) -> Value {
        let (ty, blocks) = (M::ty(), self.iter().map(Model::encode).collect());
        if ty.has_dynamic() { Value::tuple(blocks) } else { Value::list(ty, blocks) }
    }
}

impl<M: Model> Blocks for Set<M> {
    type Block = M;
    const NESTING: Nesting = Nesting::Set;

    fn decode_blocks(part: &Part<'_>) -> Result<Set<M>, Diagnostic> {
        Vec::decode_blocks(part).map(Set)
    }

    fn encode_blocks(&self) -> Value {
        Value::set(M::ty(), self.iter().map(Model::encode).collect())
    }
}

impl<M: Model> Blocks for BTreeMap<Str, M> {
    type Block = M;
    const NESTING: Nesting = Nesting::Map;

    fn decode_blocks(part: &Part<'_>) -> Result<BTreeMap<Str, M>, Diagnostic> {
        if part.value.is_null() { Ok(BTreeMap::new()) } else { entries_with(part, M::decode_part) }
    }

    /// For an object in place of a map, see the list.
    fn encode_blocks(&self) -> Value {
        let ty = M::ty();
        let blocks = self.iter().map(|(label, it)| (label.clone(), it.encode())).collect();
        if ty.has_dynamic() { Value::object(blocks) } else { Value::map(ty, blocks) }
    }
}

/// Nested blocks of a Rust type, with limits on their number; see [`NestedBlock`].
#[must_use]
pub fn nested_blocks<B: Blocks>(min_items: i64, max_items: i64) -> NestedBlock {
    let block = B::Block::describe(Block::new());
    NestedBlock { nesting: B::NESTING, block, min_items, max_items }
}
