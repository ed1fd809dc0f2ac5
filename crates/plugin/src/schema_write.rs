//! Conversion of schemas to protocol 6 messages.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use provider::{
    Attribute, AttributeType, Block, DescriptionKind, FunctionParameter, FunctionSignature,
    NestedBlock, NestedObject, Nesting, ObjectNesting, ProviderSchemas, Schema,
};
use sorted::SortedMap;
use values::{Str, Type, json};

use crate::generated::{
    tfplugin::{self, StringKind},
    tfplugin5,
    tfplugin6::{self, schema},
};

/// Creates the answer to `GetProviderSchema`.
pub(crate) fn schemas(schemas: &ProviderSchemas) -> tfplugin6::GetProviderSchemaResponse {
    fn collect<'a>(
        names: impl Iterator<Item = &'a str>,
        find: impl Fn(&str) -> Option<Arc<Schema>>,
    ) -> BTreeMap<String, tfplugin6::Schema> {
        names.filter_map(|name| find(name).map(|it| (name.to_owned(), schema(&it)))).collect()
    }
    tfplugin6::GetProviderSchemaResponse {
        provider: Some(schema(&schemas.provider)),
        resource_schemas: collect(schemas.managed_types(), |it| schemas.managed(it)),
        data_source_schemas: collect(schemas.data_types(), |it| schemas.data(it)),
        diagnostics: Vec::new(),
        provider_meta: schemas.provider_meta.as_deref().map(schema),
        server_capabilities: Some(tfplugin::ServerCapabilities {
            plan_destroy: schemas.capabilities.plan_destroy,
            get_provider_schema_optional: schemas.capabilities.get_provider_schema_optional,
            move_resource_state: schemas.capabilities.move_resource_state,
            generate_resource_config: false,
        }),
        functions: functions(&schemas.functions),
        ephemeral_resource_schemas: collect(schemas.ephemeral_types(), |it| schemas.ephemeral(it)),
    }
}

/// Creates the schema of a provisioner.
///
/// # Errors
/// Returns the reason if protocol 5 cannot represent the schema.
pub(crate) fn provisioner(block: &Block) -> Result<tfplugin5::Schema, &'static str> {
    schema(&Schema::new(0, block.clone())).try_into()
}

/// Creates the answer to `GetResourceIdentitySchemas`.
pub(crate) fn identities(
    schemas: &ProviderSchemas,
) -> BTreeMap<String, tfplugin::ResourceIdentitySchema> {
    let message = |name: &str| schemas.identity(name).map(|it| (name.to_owned(), identity(&it)));
    schemas.managed_types().filter_map(message).collect()
}

fn identity(schema: &Schema) -> tfplugin::ResourceIdentitySchema {
    let attribute =
        |(name, it): (&Str, &Attribute)| tfplugin::resource_identity_schema::IdentityAttribute {
            name: name.to_string(),
            r#type: ty(&it.implied_type()),
            required_for_import: it.required,
            optional_for_import: it.optional,
            description: it.description.to_string(),
        };
    tfplugin::ResourceIdentitySchema {
        version: schema.version(),
        identity_attributes: schema.block().attributes().iter().map(attribute).collect(),
    }
}

fn ty(ty: &Type) -> Bytes {
    json::type_to_json(ty).into()
}

fn schema(schema: &Schema) -> tfplugin6::Schema {
    tfplugin6::Schema { version: schema.version(), block: Some(block(schema.block())) }
}

fn block(it: &Block) -> schema::Block {
    schema::Block {
        version: 0,
        attributes: attributes(it.attributes()),
        block_types: it.blocks().iter().map(|(name, nested)| nested_block(name, nested)).collect(),
        description: it.description.to_string(),
        description_kind: description_kind(it.description_kind),
        deprecated: it.deprecated,
        deprecation_message: it.deprecation_message.to_string(),
    }
}

fn nested_block(name: &str, it: &NestedBlock) -> schema::NestedBlock {
    use schema::nested_block::NestingMode;
    let nesting = match it.nesting {
        Nesting::Single => NestingMode::Single,
        Nesting::Group => NestingMode::Group,
        Nesting::List => NestingMode::List,
        Nesting::Set => NestingMode::Set,
        Nesting::Map => NestingMode::Map,
    };
    schema::NestedBlock {
        type_name: name.to_owned(),
        block: Some(block(&it.block)),
        nesting: nesting as i32,
        min_items: it.min_items,
        max_items: it.max_items,
    }
}

fn attributes(attributes: &SortedMap<Str, Attribute>) -> Vec<schema::Attribute> {
    attributes.iter().map(|(name, it)| attribute(name, it)).collect()
}

fn attribute(name: &str, it: &Attribute) -> schema::Attribute {
    let (r#type, nested_type) = match &it.ty {
        AttributeType::Type(it) => (ty(it), None),
        AttributeType::Nested(object) => (Bytes::new(), Some(nested_object(object))),
    };
    schema::Attribute {
        name: name.to_owned(),
        r#type,
        nested_type,
        description: it.description.to_string(),
        required: it.required,
        optional: it.optional,
        computed: it.computed,
        sensitive: it.sensitive,
        description_kind: description_kind(it.description_kind),
        deprecated: it.deprecated,
        write_only: it.write_only,
        deprecation_message: it.deprecation_message.to_string(),
    }
}

fn nested_object(it: &NestedObject) -> schema::Object {
    use schema::object::NestingMode;
    let nesting = match it.nesting() {
        ObjectNesting::Single => NestingMode::Single,
        ObjectNesting::List => NestingMode::List,
        ObjectNesting::Set => NestingMode::Set,
        ObjectNesting::Map => NestingMode::Map,
    };
    schema::Object { attributes: attributes(it.attributes()), nesting: nesting as i32 }
}

/// Converts functions to messages.
pub(crate) fn functions(
    functions: &SortedMap<Str, FunctionSignature>,
) -> BTreeMap<String, tfplugin::Function> {
    functions.iter().map(|(name, it)| (name.to_string(), function(it))).collect()
}

fn function(it: &FunctionSignature) -> tfplugin::Function {
    tfplugin::Function {
        parameters: it.parameters.iter().map(parameter).collect(),
        variadic_parameter: it.variadic.as_ref().map(parameter),
        r#return: Some(tfplugin::function::Return { r#type: ty(&it.returns) }),
        summary: it.summary.to_string(),
        description: it.description.to_string(),
        description_kind: description_kind(it.description_kind),
        deprecation_message: it.deprecation_message.to_string(),
    }
}

fn parameter(it: &FunctionParameter) -> tfplugin::function::Parameter {
    tfplugin::function::Parameter {
        name: it.name.to_string(),
        r#type: ty(&it.ty),
        allow_null_value: it.allow_null_value,
        allow_unknown_values: it.allow_unknown_values,
        description: it.description.to_string(),
        description_kind: description_kind(it.description_kind),
    }
}

fn description_kind(kind: DescriptionKind) -> i32 {
    match kind {
        DescriptionKind::Plain => StringKind::Plain as i32,
        DescriptionKind::Markdown => StringKind::Markdown as i32,
    }
}
