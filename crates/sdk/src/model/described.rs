//! Rust structs as objects of a schema.

use values::{Kind, Type, Value, ValueMap};

use super::{
    attribute_value::mismatch,
    part::{Part, Unknowns},
};
use crate::{
    data::Object,
    diagnostics::Diagnostic,
    schema::{Block, Schema},
};

/// A struct that describes the objects of a schema. Derive it; see the documentation of the derive macro.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not describe objects of a schema",
    note = "derive it: `#[derive(Model)]`"
)]
pub trait Model: Sized + Send + Sync {
    /// The schema.
    #[must_use]
    fn schema() -> Schema {
        Schema::new(Self::describe(Block::new()))
    }

    /// The type of the objects.
    #[must_use]
    fn ty() -> Type {
        Self::schema().implied_type()
    }

    /// Adds the attributes and nested blocks to a block.
    #[must_use]
    fn describe(block: Block) -> Block;

    /// Reads an object that is not null.
    ///
    /// # Errors
    /// If a part is null or unknown and its field cannot have that, or if a number does not fit. The error has the path
    /// of the part and does not quote values.
    fn decode(object: &Object, unknowns: Unknowns) -> Result<Self, Diagnostic>;

    /// Reads an object that is a part of another one.
    ///
    /// # Errors
    /// See [`Model::decode`]; also if the object is null or unknown.
    fn decode_part(part: &Part<'_>) -> Result<Self, Diagnostic> {
        let value = part.require_known()?;
        match value.kind() {
            Kind::Object(_) => {
                let object = Object::at(value.clone(), part.path.clone());
                Self::decode(&object, part.unknowns)
            }
            _ => Err(mismatch(part)),
        }
    }

    /// Adds the values of the attributes and nested blocks.
    fn encode_into(&self, parts: &mut ValueMap);

    /// Adds the values with a prefix before their names.
    fn encode_with_prefix(&self, prefix: &str, parts: &mut ValueMap) {
        let mut own = ValueMap::new();
        self.encode_into(&mut own);
        parts.extend(own.into_iter().map(|(name, it)| (format!("{prefix}{name}").into(), it)));
    }

    /// Returns the object.
    #[must_use]
    fn encode(&self) -> Value {
        let mut parts = ValueMap::new();
        self.encode_into(&mut parts);
        Value::object(parts)
    }
}

impl Block {
    /// Adds the attributes, nested blocks and rules of a struct, without its description and deprecation.
    #[must_use]
    pub fn flatten<M: Model>(self) -> Block {
        let (description, deprecation) = (self.description.clone(), self.deprecation.clone());
        Block { description, deprecation, markdown: self.markdown, ..M::describe(self) }
    }
}

/// Providers without a configuration.
impl Model for () {
    fn describe(block: Block) -> Block {
        block
    }

    fn decode(_: &Object, _: Unknowns) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn encode_into(&self, _: &mut ValueMap) {}
}

/// The object itself, for types whose attributes are not fields of a struct. The type must say its schema itself, for
/// example with [`crate::Resource::schema`].
impl Model for Object {
    fn describe(block: Block) -> Block {
        block
    }

    fn decode(object: &Object, _: Unknowns) -> Result<Object, Diagnostic> {
        Ok(object.clone())
    }

    fn encode_into(&self, parts: &mut ValueMap) {
        parts.extend(
            self.value().as_map().into_iter().flatten().map(|(k, v)| (k.clone(), v.clone())),
        );
    }

    fn encode(&self) -> Value {
        self.value().clone()
    }
}
