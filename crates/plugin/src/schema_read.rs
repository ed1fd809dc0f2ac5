//! Conversion of schema messages to schemas.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
};

use bytes::Bytes;
use provider::{
    Attribute, AttributeType, Block, Capabilities, DescriptionKind, FunctionParameter,
    FunctionSignature, NestedBlock, NestedObject, Nesting, ObjectNesting, ProviderSchemas, Schema,
    SchemaTypes,
};
use sorted::SortedMap;
use values::{Str, Type, json};

use crate::generated::{
    tfplugin::{self, StringKind},
    tfplugin5,
    tfplugin6::{self, schema},
};

/// An error in a schema message.
#[derive(Debug)]
pub(crate) struct SchemaFault {
    /// The part with the error, such as `managed resource type "aws_instance"`.
    part: String,
    problem: String,
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an invalid schema for {}: {}", self.part, self.problem)
    }
}

/// An iterator over schemas and their names.
type Messages = Box<dyn Iterator<Item = (String, tfplugin6::Schema)> + Send>;

/// The answer to `GetProviderSchema` in either protocol version. It converts schemas one at a time, because the
/// messages of a large provider take a hundred megabytes in total.
pub(crate) struct SchemaAnswer {
    pub(crate) diagnostics: Vec<tfplugin::Diagnostic>,
    provider: tfplugin6::Schema,
    provider_meta: Option<tfplugin6::Schema>,
    managed: Messages,
    data: Messages,
    ephemeral: Messages,
    functions: BTreeMap<String, tfplugin::Function>,
    capabilities: tfplugin::ServerCapabilities,
}

macro_rules! from_answer {
    ($package:ident) => {
        impl From<$package::GetProviderSchemaResponse> for SchemaAnswer {
            fn from(message: $package::GetProviderSchemaResponse) -> Self {
                fn each(schemas: BTreeMap<String, $package::Schema>) -> Messages {
                    Box::new(schemas.into_iter().map(|(name, schema)| (name, schema.into())))
                }
                Self {
                    diagnostics: message.diagnostics,
                    provider: message.provider.unwrap_or_default().into(),
                    provider_meta: message.provider_meta.map(Into::into),
                    managed: each(message.resource_schemas),
                    data: each(message.data_source_schemas),
                    ephemeral: each(message.ephemeral_resource_schemas),
                    functions: message.functions,
                    capabilities: message.server_capabilities.unwrap_or_default(),
                }
            }
        }
    };
}

from_answer!(tfplugin5);
from_answer!(tfplugin6);

/// Converts the answers of a provider to schemas. `identities` is the answer to `GetResourceIdentitySchemas`.
pub(crate) fn schemas(
    answer: SchemaAnswer,
    identities: BTreeMap<String, tfplugin::ResourceIdentitySchema>,
) -> Result<ProviderSchemas, SchemaFault> {
    let mut reader = Reader::default();
    let types = SchemaTypes {
        managed: reader.types("managed resource type", answer.managed)?,
        data: reader.types("data source", answer.data)?,
        ephemeral: reader.types("ephemeral resource type", answer.ephemeral)?,
        identities: reader.identities(identities)?,
    };
    let provider = reader.named("the provider configuration", answer.provider)?;
    let provider_meta =
        answer.provider_meta.map(|it| reader.named("provider_meta", it)).transpose()?;
    let capabilities = Capabilities {
        plan_destroy: answer.capabilities.plan_destroy,
        get_provider_schema_optional: answer.capabilities.get_provider_schema_optional,
        move_resource_state: answer.capabilities.move_resource_state,
    };
    let functions = reader.functions(answer.functions)?;
    let mut schemas = ProviderSchemas::new(provider, types, functions, capabilities);
    schemas.provider_meta = provider_meta.map(Into::into);
    Ok(schemas)
}

/// Converts the schema of a provisioner.
pub(crate) fn provisioner(message: tfplugin5::Schema) -> Result<Block, SchemaFault> {
    let schema = Reader::default().named("the provisioner", message.into())?;
    Ok(schema.block().clone())
}

/// Converts the functions in a message.
pub(crate) fn functions(
    functions: BTreeMap<String, tfplugin::Function>,
) -> Result<SortedMap<Str, FunctionSignature>, SchemaFault> {
    Reader::default().functions(functions)
}

type Named<T> = Result<T, String>;

fn unique_attributes(attributes: Vec<(Str, Attribute)>) -> Named<SortedMap<Str, Attribute>> {
    SortedMap::from_unique(attributes)
        .map_err(|name| format!("{name}: two attributes have this name"))
}

/// Reads schemas. Equal texts and types share one allocation: a large provider repeats a few thousand names and
/// descriptions a hundred thousand times.
#[derive(Default)]
struct Reader {
    texts: HashSet<Str>,
    types: BTreeMap<Bytes, Type>,
}

impl Reader {
    fn types<T: From<Schema>>(
        &mut self,
        kind: &str,
        schemas: Messages,
    ) -> Result<SortedMap<Str, T>, SchemaFault> {
        let read = |(name, schema): (String, tfplugin6::Schema)| {
            let schema = self.named(&format!("{kind} {name:?}"), schema)?;
            Ok((self.text(name), schema.into()))
        };
        schemas.map(read).collect()
    }

    /// Reads a schema and validates it as a whole.
    fn named(&mut self, part: &str, message: tfplugin6::Schema) -> Result<Schema, SchemaFault> {
        let fault = |problem| SchemaFault { part: part.to_owned(), problem };
        let block = self.block(message.block.unwrap_or_default()).map_err(fault)?;
        let schema = Schema::new(message.version, block);
        match schema.problems().first() {
            Some(problem) => Err(fault(problem.to_string())),
            None => Ok(schema),
        }
    }

    fn text(&mut self, text: String) -> Str {
        if let Some(known) = self.texts.get(text.as_str()) {
            return known.clone();
        }
        let text = Str::from(text);
        self.texts.insert(text.clone());
        text
    }

    fn ty(&mut self, message: Bytes) -> Named<Type> {
        if let Some(known) = self.types.get(&message) {
            return Ok(known.clone());
        }
        let ty = json::type_from_json(&message)
            .map_err(|error| format!("its type cannot be read: {error}"))?;
        self.types.insert(message, ty.clone());
        Ok(ty)
    }

    fn block(&mut self, message: schema::Block) -> Named<Block> {
        let attributes = self.attributes(message.attributes)?;
        let mut blocks = Vec::new();
        for nested in message.block_types {
            let name = self.text(nested.type_name.clone());
            let block =
                self.nested_block(nested).map_err(|problem| format!("{name}: {problem}"))?;
            if name.is_empty() {
                return Err("a block has no name".to_owned());
            }
            blocks.push((name, block));
        }
        // Report a duplicate name: only one of the two blocks may declare an attribute as write-only.
        let blocks = SortedMap::from_unique(blocks)
            .map_err(|name| format!("{name}: two blocks have this name"))?;
        let mut block = Block::new(attributes, blocks);
        block.description_kind = description_kind(message.description_kind);
        block.description = self.text(message.description);
        block.deprecated = message.deprecated;
        block.deprecation_message = self.text(message.deprecation_message);
        Ok(block)
    }

    fn nested_block(&mut self, message: schema::NestedBlock) -> Named<NestedBlock> {
        use schema::nested_block::NestingMode;
        let nesting = match message.nesting() {
            NestingMode::Single => Nesting::Single,
            NestingMode::Group => Nesting::Group,
            NestingMode::List => Nesting::List,
            NestingMode::Set => Nesting::Set,
            NestingMode::Map => Nesting::Map,
            NestingMode::Invalid => return Err("invalid nesting mode".to_owned()),
        };
        let mut nested = NestedBlock::new(nesting, self.block(message.block.unwrap_or_default())?);
        nested.min_items = message.min_items;
        nested.max_items = message.max_items;
        Ok(nested)
    }

    fn attributes(&mut self, messages: Vec<schema::Attribute>) -> Named<SortedMap<Str, Attribute>> {
        let mut attributes = Vec::new();
        for message in messages {
            let name = self.text(message.name.clone());
            let attribute =
                self.attribute(message).map_err(|problem| format!("{name}: {problem}"))?;
            if name.is_empty() {
                return Err("an attribute has no name".to_owned());
            }
            attributes.push((name, attribute));
        }
        unique_attributes(attributes)
    }

    fn attribute(&mut self, message: schema::Attribute) -> Named<Attribute> {
        let ty = match (message.nested_type, message.r#type.is_empty()) {
            (None, false) => AttributeType::Type(self.ty(message.r#type)?),
            (Some(object), true) => AttributeType::Nested(self.nested_object(object)?),
            (None, true) => return Err("it has neither a type nor nested attributes".to_owned()),
            (Some(_), false) => return Err("it has both a type and nested attributes".to_owned()),
        };
        Ok(Attribute {
            ty,
            required: message.required,
            optional: message.optional,
            computed: message.computed,
            sensitive: message.sensitive,
            write_only: message.write_only,
            deprecated: message.deprecated,
            deprecation_message: self.text(message.deprecation_message),
            description: self.text(message.description),
            description_kind: description_kind(message.description_kind),
        })
    }

    fn nested_object(&mut self, message: schema::Object) -> Named<NestedObject> {
        use schema::object::NestingMode;
        let nesting = match message.nesting() {
            NestingMode::Single => ObjectNesting::Single,
            NestingMode::List => ObjectNesting::List,
            NestingMode::Set => ObjectNesting::Set,
            NestingMode::Map => ObjectNesting::Map,
            NestingMode::Invalid => return Err("invalid nesting mode".to_owned()),
        };
        Ok(NestedObject::new(nesting, self.attributes(message.attributes)?))
    }

    /// Reads identity schemas. Identities are flat objects; the attributes that an import needs are required or
    /// optional.
    fn identities<T: From<Schema>>(
        &mut self,
        messages: BTreeMap<String, tfplugin::ResourceIdentitySchema>,
    ) -> Result<SortedMap<Str, T>, SchemaFault> {
        let read = |(name, message): (String, tfplugin::ResourceIdentitySchema)| {
            let schema = self.identity(message).map_err(|problem| SchemaFault {
                part: format!("the identity of resource type {name:?}"),
                problem,
            })?;
            Ok((self.text(name), schema.into()))
        };
        messages.into_iter().map(read).collect()
    }

    fn identity(&mut self, message: tfplugin::ResourceIdentitySchema) -> Named<Schema> {
        let mut attributes = Vec::new();
        for it in message.identity_attributes {
            let ty = self.ty(it.r#type).map_err(|problem| format!("{}: {problem}", it.name))?;
            let attribute = Attribute {
                required: it.required_for_import,
                optional: it.optional_for_import,
                description: self.text(it.description),
                ..Attribute::new(AttributeType::Type(ty))
            };
            let name = self.text(it.name);
            attributes.push((name, attribute));
        }
        let attributes = unique_attributes(attributes)?;
        Ok(Schema::new(message.version, Block::new(attributes, SortedMap::new())))
    }

    fn functions(
        &mut self,
        messages: BTreeMap<String, tfplugin::Function>,
    ) -> Result<SortedMap<Str, FunctionSignature>, SchemaFault> {
        let read = |(name, message): (String, tfplugin::Function)| {
            let signature = self
                .function(message)
                .map_err(|problem| SchemaFault { part: format!("function {name:?}"), problem })?;
            Ok((self.text(name), signature))
        };
        messages.into_iter().map(read).collect()
    }

    fn function(&mut self, message: tfplugin::Function) -> Named<FunctionSignature> {
        let returns = message.r#return.ok_or("it has no return type")?;
        let parameters =
            message.parameters.into_iter().map(|it| self.parameter(it)).collect::<Named<_>>()?;
        Ok(FunctionSignature {
            parameters,
            variadic: message.variadic_parameter.map(|it| self.parameter(it)).transpose()?,
            returns: self.ty(returns.r#type)?,
            summary: self.text(message.summary),
            description: self.text(message.description),
            description_kind: description_kind(message.description_kind),
            deprecation_message: self.text(message.deprecation_message),
        })
    }

    fn parameter(&mut self, message: tfplugin::function::Parameter) -> Named<FunctionParameter> {
        Ok(FunctionParameter {
            ty: self
                .ty(message.r#type)
                .map_err(|problem| format!("{}: {problem}", message.name))?,
            name: self.text(message.name),
            allow_null_value: message.allow_null_value,
            allow_unknown_values: message.allow_unknown_values,
            description: self.text(message.description),
            description_kind: description_kind(message.description_kind),
        })
    }
}

fn description_kind(kind: i32) -> DescriptionKind {
    if kind == StringKind::Markdown as i32 {
        DescriptionKind::Markdown
    } else {
        DescriptionKind::Plain
    }
}
