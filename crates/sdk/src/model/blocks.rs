//! Nested blocks.

use std::{collections::BTreeMap, ops::Deref};

use values::{Str, Type, Value};

use super::{
    collections::{Set, elements_with, entries_with},
    described::Model,
    part::Part,
};
use crate::{
    diagnostics::Diagnostic,
    schema::{Block, NestedBlock, Nesting},
};

/// A Rust type for nested blocks: `Option<M>` for at most one block, `Vec<M>` for a list, [`Set<M>`] for a set,
/// `BTreeMap<Str, M>` for blocks with a label, and [`Group<M>`]. `Option<Vec<M>>` is a list that keeps null, which a
/// state has that was written before the block existed; the other collections read it as empty.
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

/// At most one block, whose object exists even without it: all its attributes are null then. Therefore none of them
/// can be required.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Group<M>(pub M);

impl<M> Deref for Group<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.0
    }
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

impl<M: Model> Blocks for Option<Vec<M>> {
    type Block = M;
    const NESTING: Nesting = Nesting::List;

    fn decode_blocks(part: &Part<'_>) -> Result<Option<Vec<M>>, Diagnostic> {
        if part.value.is_null() { Ok(None) } else { Vec::decode_blocks(part).map(Some) }
    }

    fn encode_blocks(&self) -> Value {
        self.as_ref().map_or_else(|| Value::null(Type::list(M::ty())), Vec::encode_blocks)
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

impl<M: Model> Blocks for Group<M> {
    type Block = M;
    const NESTING: Nesting = Nesting::Group;

    fn decode_blocks(part: &Part<'_>) -> Result<Group<M>, Diagnostic> {
        if !part.value.is_null() {
            return M::decode_part(part).map(Group);
        }
        let value = &M::schema().to_provider().block().empty_value();
        M::decode_part(&Part { value, path: part.path.clone(), unknowns: part.unknowns }).map(Group)
    }

    fn encode_blocks(&self) -> Value {
        self.0.encode()
    }
}

/// Nested blocks of a Rust type, with limits on their number; see [`NestedBlock`].
#[must_use]
pub fn nested_blocks<B: Blocks>(min_items: i64, max_items: i64) -> NestedBlock {
    let block = B::Block::describe(Block::new());
    NestedBlock { nesting: B::NESTING, block, min_items, max_items }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Model, Object, Unknowns, schema::Schema};

    #[derive(Model)]
    struct Server {
        #[block]
        fallback: Group<Fallback>,
        #[block]
        list: Vec<Fallback>,
        #[block]
        set: Set<Fallback>,
        #[block]
        map: BTreeMap<Str, Fallback>,
        #[block]
        nullable: Option<Vec<Fallback>>,
    }

    #[derive(Model)]
    struct Fallback {
        note: Option<String>,
    }

    /// Reads a server with this fallback and no other blocks.
    fn server(fallback: Value) -> Server {
        let null = || Value::null(Type::Dynamic);
        let blocks = [
            ("fallback", fallback),
            ("list", null()),
            ("set", null()),
            ("map", null()),
            ("nullable", null()),
        ];
        let object = Object::new(Value::object_from(blocks));
        let decoded = Server::decode(&object, Unknowns::Refused);
        decoded.unwrap_or_else(|it| panic!("{}: {}", it.summary, it.detail))
    }

    /// Reads a server with this fallback, and returns its note and the value that is written for it.
    fn read(fallback: Value) -> (Option<String>, Value) {
        let server = server(fallback);
        let written = server.encode().get_attr("fallback").expect("the block is there");
        (server.fallback.note.clone(), written)
    }

    #[test]
    fn group_is_an_object_even_without_a_block() {
        let schema: Schema = Server::schema();
        assert!(schema.block.blocks.get("fallback").is_some_and(|it| it.nesting == Nesting::Group));
        let block = |note| Value::object_from([("note", note)]);
        let some = block(Value::string("n"));
        assert_eq!(read(some.clone()), (Some("n".to_owned()), some));
        let none = block(Value::null(Type::String));
        assert_eq!(read(none.clone()), (None, none.clone()));
        assert_eq!(read(Value::null(Fallback::ty())), (None, none));
    }

    #[test]
    fn null_of_a_collection_of_blocks_is_empty_or_kept() {
        let server = server(Value::null(Fallback::ty()));
        assert!(server.list.is_empty() && server.set.is_empty() && server.map.is_empty());
        let written = server.encode();
        for name in ["list", "set", "map"] {
            assert!(
                written.get_attr(name).is_some_and(|it| it.stored_length() == Some(0)),
                "{name}"
            );
        }
        assert!(server.nullable.is_none());
        assert_eq!(written.get_attr("nullable"), Some(Value::null(Type::list(Fallback::ty()))));
    }
}
