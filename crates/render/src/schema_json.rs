//! Provider schemas as JSON (`providers schema -json`).

use std::sync::Arc;

use addr::{ProviderSource, ResourceMode};
use provider::{
    Attribute, AttributeType, Block, DescriptionKind, FunctionParameter, FunctionSignature,
    NestedBlock, NestedObject, Nesting, ObjectNesting, ProviderSchemas, Schema,
};
use serde_json::{Map, Value as Json, json};
use sorted::TreeMap;
use values::Str;

use crate::json;

/// The document of `providers schema -json`.
pub fn providers_schema_json(schemas: &TreeMap<ProviderSource, Arc<ProviderSchemas>>) -> String {
    let providers: Map<String, Json> =
        schemas.iter().map(|(source, it)| (source.to_string(), provider(it))).collect();
    let document = json::object([
        ("format_version", Some("1.0".into())),
        ("provider_schemas", (!providers.is_empty()).then_some(Json::Object(providers))),
    ]);
    json::compact(&document)
}

fn provider(schemas: &ProviderSchemas) -> Json {
    let of_mode = |mode| {
        let types = schemas.types_of_mode(mode).into_iter();
        let types = types
            .filter_map(|name| Some((name.to_owned(), schema(&*schemas.of_mode(mode, name)?))));
        some(types.collect())
    };
    let functions = schemas.functions.iter().map(|(name, it)| (name.to_string(), function(it)));
    let identities = schemas
        .identity_types()
        .filter_map(|name| Some((name.to_owned(), identity(&*schemas.identity(name)?))));
    json::object([
        ("provider", Some(schema(&schemas.provider))),
        ("resource_schemas", of_mode(ResourceMode::Managed)),
        ("data_source_schemas", of_mode(ResourceMode::Data)),
        ("ephemeral_resource_schemas", of_mode(ResourceMode::Ephemeral)),
        ("functions", some(functions.collect())),
        ("resource_identity_schemas", some(identities.collect())),
    ])
}

fn some(entries: Map<String, Json>) -> Option<Json> {
    (!entries.is_empty()).then_some(Json::Object(entries))
}

fn schema(schema: &Schema) -> Json {
    json!({"version": schema.version(), "block": block(schema.block())})
}

fn block(block: &Block) -> Json {
    let attributes = block.attributes().iter().map(|(name, it)| (name.to_string(), attribute(it)));
    let blocks = block.blocks().iter().map(|(name, it)| (name.to_string(), nested_block(it)));
    json::object([
        ("attributes", some(attributes.collect())),
        ("block_types", some(blocks.collect())),
        ("description", text(&block.description)),
        ("description_kind", Some(kind(block.description_kind).into())),
        ("deprecated", flag(block.deprecated)),
        ("deprecation_message", text(&block.deprecation_message)),
    ])
}

fn attribute(attribute: &Attribute) -> Json {
    let (ty, nested) = match &attribute.ty {
        AttributeType::Type(ty) => (Some(json::of_type(ty)), None),
        AttributeType::Nested(object) => (None, Some(nested_object(object))),
    };
    json::object([
        ("type", ty),
        ("nested_type", nested),
        ("description", text(&attribute.description)),
        ("description_kind", Some(kind(attribute.description_kind).into())),
        ("deprecated", flag(attribute.deprecated)),
        ("deprecation_message", text(&attribute.deprecation_message)),
        ("required", flag(attribute.required)),
        ("optional", flag(attribute.optional)),
        ("computed", flag(attribute.computed)),
        ("sensitive", flag(attribute.sensitive)),
        ("write_only", flag(attribute.write_only)),
    ])
}

fn nested_object(object: &NestedObject) -> Json {
    let attributes = object.attributes().iter().map(|(name, it)| (name.to_string(), attribute(it)));
    let nesting = match object.nesting() {
        ObjectNesting::Single => "single",
        ObjectNesting::List => "list",
        ObjectNesting::Set => "set",
        ObjectNesting::Map => "map",
    };
    json::object([
        ("attributes", some(attributes.collect())),
        ("nesting_mode", Some(nesting.into())),
    ])
}

fn nested_block(nested: &NestedBlock) -> Json {
    let nesting = match nested.nesting {
        Nesting::Single => "single",
        Nesting::Group => "group",
        Nesting::List => "list",
        Nesting::Set => "set",
        Nesting::Map => "map",
    };
    let limit = |n: i64| (n != 0).then(|| n.into());
    json::object([
        ("nesting_mode", Some(nesting.into())),
        ("block", Some(block(&nested.block))),
        ("min_items", limit(nested.min_items)),
        ("max_items", limit(nested.max_items)),
    ])
}

fn function(function: &FunctionSignature) -> Json {
    let parameters: Vec<Json> = function.parameters.iter().map(parameter).collect();
    json::object([
        ("description", text(&function.description)),
        ("summary", text(&function.summary)),
        ("deprecation_message", text(&function.deprecation_message)),
        ("return_type", Some(json::of_type(&function.returns))),
        ("parameters", (!parameters.is_empty()).then_some(Json::Array(parameters))),
        ("variadic_parameter", function.variadic.as_ref().map(parameter)),
    ])
}

fn parameter(parameter: &FunctionParameter) -> Json {
    json::object([
        ("name", text(&parameter.name)),
        ("description", text(&parameter.description)),
        ("is_nullable", flag(parameter.allow_null_value)),
        ("type", Some(json::of_type(&parameter.ty))),
    ])
}

/// The schema of a resource identity, which has no blocks. Of its attributes, only the requirements for import are
/// shown.
fn identity(schema: &Schema) -> Json {
    let attributes = schema.block().attributes().iter().map(|(name, it)| {
        let described = json::object([
            ("type", Some(json::of_type(&it.implied_type()))),
            ("description", text(&it.description)),
            ("required_for_import", flag(it.required)),
            ("optional_for_import", flag(it.optional)),
        ]);
        (name.to_string(), described)
    });
    json::object([
        ("version", Some(schema.version().into())),
        ("attributes", some(attributes.collect())),
    ])
}

fn text(text: &Str) -> Option<Json> {
    (!text.is_empty()).then(|| (&**text).into())
}

fn flag(flag: bool) -> Option<Json> {
    flag.then_some(Json::Bool(true))
}

fn kind(kind: DescriptionKind) -> &'static str {
    match kind {
        DescriptionKind::Plain => "plain",
        DescriptionKind::Markdown => "markdown",
    }
}
