use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use sorted::SortedMap;
use values::{Str, Type};

use super::{
    CacheError, ExecutableHash, Family, MAGIC, MAX_DEPTH, VERSION, attribute_flags,
    capability_flags, doc_flags, nesting_tags, type_tags,
};
use crate::schema::{
    Attribute, AttributeType, Block, DescriptionKind, FunctionParameter, FunctionSignature,
    NestedBlock, NestedObject, Nesting, ObjectNesting, Schema,
};
use crate::schemas::ProviderSchemas;

/// Encodes all schemas of a provider, for the executable that they came from.
///
/// # Errors
/// If a schema nests too deeply, or if it comes from a cache and is damaged there.
pub fn encode(
    schemas: &ProviderSchemas,
    executable: &ExecutableHash,
) -> Result<Vec<u8>, CacheError> {
    let mut layout = Layout::default();
    layout.index.byte(capabilities(schemas));
    layout.add(|out| out.schema(&schemas.provider))?;
    layout.add(|out| match &schemas.provider_meta {
        None => Ok(()),
        Some(schema) => out.schema(schema),
    })?;
    layout.add(|out| out.functions(&schemas.functions))?;
    for family in Family::ALL {
        let types = all_of(schemas, family)?;
        layout.index.length(types.len());
        for (name, schema) in types {
            layout.index.text(&name);
            layout.add(|out| out.schema(&schema))?;
        }
    }
    Ok(layout.finish(executable))
}

fn capabilities(schemas: &ProviderSchemas) -> u8 {
    let it = schemas.capabilities;
    flag(it.plan_destroy, capability_flags::PLAN_DESTROY)
        | flag(it.get_provider_schema_optional, capability_flags::SCHEMA_OPTIONAL)
        | flag(it.move_resource_state, capability_flags::MOVE_STATE)
}

type Named = Vec<(Str, Arc<Schema>)>;

fn all_of(schemas: &ProviderSchemas, family: Family) -> Result<Named, CacheError> {
    let names: Vec<Str> = match family {
        Family::Managed => schemas.managed_types().map(Str::from).collect(),
        Family::Data => schemas.data_types().map(Str::from).collect(),
        Family::Ephemeral => schemas.ephemeral_types().map(Str::from).collect(),
        Family::Identity => schemas.identity_types().map(Str::from).collect(),
    };
    let schema = |name: &str| match family {
        Family::Managed => schemas.managed(name),
        Family::Data => schemas.data(name),
        Family::Ephemeral => schemas.ephemeral(name),
        Family::Identity => schemas.identity(name),
    };
    names
        .into_iter()
        .map(|name| {
            let schema = schema(&name).ok_or(CacheError::Damaged("type"))?;
            Ok((name, schema))
        })
        .collect()
}

#[derive(Default)]
struct Layout {
    index: Encoder,
    blobs: Vec<u8>,
}

impl Layout {
    /// Writes one blob, and its place to the index.
    fn add(
        &mut self,
        write: impl FnOnce(&mut Encoder) -> Result<(), CacheError>,
    ) -> Result<(), CacheError> {
        let mut out = Encoder::default();
        write(&mut out)?;
        self.index.length(self.blobs.len());
        self.index.length(out.bytes.len());
        self.index.bytes.extend_from_slice(&Sha256::digest(&out.bytes));
        self.blobs.extend_from_slice(&out.bytes);
        Ok(())
    }

    fn finish(self, executable: &ExecutableHash) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.index.bytes.len() + self.blobs.len() + 128);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(executable);
        bytes.extend_from_slice(&(self.index.bytes.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&(self.blobs.len() as u64).to_le_bytes());
        let hash = Sha256::new().chain_update(&bytes).chain_update(&self.index.bytes).finalize();
        bytes.extend_from_slice(&hash);
        bytes.extend_from_slice(&self.index.bytes);
        bytes.extend_from_slice(&self.blobs);
        bytes
    }
}

#[derive(Default)]
struct Encoder {
    bytes: Vec<u8>,
    depth: usize,
}

fn flag(set: bool, bit: u8) -> u8 {
    if set { bit } else { 0 }
}

impl Encoder {
    fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    fn unsigned(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.byte((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }

    fn length(&mut self, length: usize) {
        self.unsigned(length as u64);
    }

    fn signed(&mut self, number: i64) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.length(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn deeper(
        &mut self,
        write: impl FnOnce(&mut Encoder) -> Result<(), CacheError>,
    ) -> Result<(), CacheError> {
        if self.depth == MAX_DEPTH {
            return Err(CacheError::TooDeep);
        }
        self.depth += 1;
        write(self)?;
        self.depth -= 1;
        Ok(())
    }

    fn schema(&mut self, schema: &Schema) -> Result<(), CacheError> {
        self.signed(schema.version());
        self.block(schema.block())
    }

    fn block(&mut self, block: &Block) -> Result<(), CacheError> {
        self.byte(flag(block.deprecated, doc_flags::DEPRECATED) | markdown(block.description_kind));
        self.text(&block.description);
        self.text(&block.deprecation_message);
        self.attributes(block.attributes())?;
        self.length(block.blocks().len());
        for (name, nested) in block.blocks() {
            self.text(name);
            self.nested_block(nested)?;
        }
        Ok(())
    }

    fn nested_block(&mut self, nested: &NestedBlock) -> Result<(), CacheError> {
        self.byte(match nested.nesting {
            Nesting::Single => nesting_tags::SINGLE,
            Nesting::Group => nesting_tags::GROUP,
            Nesting::List => nesting_tags::LIST,
            Nesting::Set => nesting_tags::SET,
            Nesting::Map => nesting_tags::MAP,
        });
        self.signed(nested.min_items);
        self.signed(nested.max_items);
        self.deeper(|this| this.block(&nested.block))
    }

    fn attributes(&mut self, attributes: &SortedMap<Str, Attribute>) -> Result<(), CacheError> {
        self.length(attributes.len());
        for (name, attribute) in attributes {
            self.text(name);
            self.attribute(attribute)?;
        }
        Ok(())
    }

    fn attribute(&mut self, attribute: &Attribute) -> Result<(), CacheError> {
        let is_markdown = attribute.description_kind == DescriptionKind::Markdown;
        self.byte(
            flag(attribute.required, attribute_flags::REQUIRED)
                | flag(attribute.optional, attribute_flags::OPTIONAL)
                | flag(attribute.computed, attribute_flags::COMPUTED)
                | flag(attribute.sensitive, attribute_flags::SENSITIVE)
                | flag(attribute.write_only, attribute_flags::WRITE_ONLY)
                | flag(attribute.deprecated, attribute_flags::DEPRECATED)
                | flag(is_markdown, attribute_flags::MARKDOWN)
                | flag(attribute.nested().is_some(), attribute_flags::NESTED),
        );
        self.text(&attribute.description);
        self.text(&attribute.deprecation_message);
        match &attribute.ty {
            AttributeType::Type(ty) => self.ty(ty),
            AttributeType::Nested(object) => self.deeper(|this| this.nested_object(object)),
        }
    }

    fn nested_object(&mut self, object: &NestedObject) -> Result<(), CacheError> {
        self.byte(match object.nesting() {
            ObjectNesting::Single => nesting_tags::SINGLE,
            ObjectNesting::List => nesting_tags::LIST,
            ObjectNesting::Set => nesting_tags::SET,
            ObjectNesting::Map => nesting_tags::MAP,
        });
        self.attributes(object.attributes())
    }

    fn ty(&mut self, ty: &Type) -> Result<(), CacheError> {
        match ty {
            Type::Dynamic => self.byte(type_tags::DYNAMIC),
            Type::Bool => self.byte(type_tags::BOOL),
            Type::Number => self.byte(type_tags::NUMBER),
            Type::String => self.byte(type_tags::STRING),
            Type::List(element) => return self.inner_type(type_tags::LIST, element),
            Type::Set(element) => return self.inner_type(type_tags::SET, element),
            Type::Map(element) => return self.inner_type(type_tags::MAP, element),
            Type::Tuple(elements) => {
                self.byte(type_tags::TUPLE);
                self.length(elements.len());
                return self.deeper(|this| elements.iter().try_for_each(|it| this.ty(it)));
            }
            Type::Object(object) => {
                self.byte(type_tags::OBJECT);
                self.length(object.len());
                return self.deeper(|this| {
                    object.iter().try_for_each(|(name, ty)| {
                        this.text(name);
                        this.byte(u8::from(object.is_optional(name)));
                        this.ty(ty)
                    })
                });
            }
        }
        Ok(())
    }

    fn inner_type(&mut self, tag: u8, element: &Type) -> Result<(), CacheError> {
        self.byte(tag);
        self.deeper(|this| this.ty(element))
    }

    fn functions(
        &mut self,
        functions: &SortedMap<Str, FunctionSignature>,
    ) -> Result<(), CacheError> {
        self.length(functions.len());
        for (name, function) in functions {
            self.text(name);
            self.byte(markdown(function.description_kind));
            self.text(&function.summary);
            self.text(&function.description);
            self.text(&function.deprecation_message);
            self.ty(&function.returns)?;
            self.length(function.parameters.len());
            for parameter in &function.parameters {
                self.parameter(parameter)?;
            }
            self.byte(u8::from(function.variadic.is_some()));
            if let Some(parameter) = &function.variadic {
                self.parameter(parameter)?;
            }
        }
        Ok(())
    }

    fn parameter(&mut self, parameter: &FunctionParameter) -> Result<(), CacheError> {
        self.text(&parameter.name);
        self.byte(
            markdown(parameter.description_kind)
                | flag(parameter.allow_null_value, doc_flags::ALLOW_NULL)
                | flag(parameter.allow_unknown_values, doc_flags::ALLOW_UNKNOWN),
        );
        self.text(&parameter.description);
        self.ty(&parameter.ty)
    }
}

fn markdown(kind: DescriptionKind) -> u8 {
    flag(kind == DescriptionKind::Markdown, doc_flags::MARKDOWN)
}

/// Encodes one schema.
pub(crate) fn schema_bytes(schema: &Schema) -> Result<Vec<u8>, CacheError> {
    let mut out = Encoder::default();
    out.schema(schema)?;
    Ok(out.bytes)
}
