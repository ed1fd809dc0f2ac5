//! Reads `providers schema -json`.

use std::sync::Arc;

use addr::ProviderSource;
use provider::{
    Attribute, AttributeType, Block, Capabilities, NestedBlock, NestedObject, Nesting,
    ObjectNesting, ProviderSchemas, Schema, SchemaTypes,
};
use serde_json::Value as Json;
use sorted::SortedMap;
use values::{Str, Type};

use crate::AllSchemas;

pub(crate) fn all(document: &Json) -> AllSchemas {
    let providers = document["provider_schemas"].as_object().expect("provider schemas");
    providers
        .iter()
        .map(|(source, it)| {
            (ProviderSource::parse(source).expect("a source"), Arc::new(provider(it)))
        })
        .collect()
}

fn provider(json: &Json) -> ProviderSchemas {
    let types = |name: &str| entries(&json[name], |it| Arc::new(schema(it)));
    let types = SchemaTypes {
        managed: types("resource_schemas"),
        data: types("data_source_schemas"),
        ephemeral: types("ephemeral_resource_schemas"),
        identities: SortedMap::new(),
    };
    ProviderSchemas::new(
        schema(&json["provider"]),
        types,
        SortedMap::new(),
        Capabilities::default(),
    )
}

fn entries<T>(json: &Json, read: impl Fn(&Json) -> T) -> SortedMap<Str, T> {
    let entries = json.as_object().into_iter().flatten();
    entries.map(|(name, it)| (Str::from(name.as_str()), read(it))).collect()
}

fn schema(json: &Json) -> Schema {
    Schema::new(json["version"].as_i64().unwrap_or(0), block(&json["block"]))
}

fn block(json: &Json) -> Block {
    Block::new(entries(&json["attributes"], attribute), entries(&json["block_types"], nested_block))
}

fn attribute(json: &Json) -> Attribute {
    let ty = match json.get("nested_type") {
        Some(nested) => AttributeType::Nested(nested_object(nested)),
        None => AttributeType::Type(type_of(&json["type"])),
    };
    let flag = |name: &str| json[name].as_bool().unwrap_or(false);
    Attribute {
        required: flag("required"),
        optional: flag("optional"),
        computed: flag("computed"),
        sensitive: flag("sensitive"),
        write_only: flag("write_only"),
        ..Attribute::new(ty)
    }
}

pub(crate) fn type_of(json: &Json) -> Type {
    values::json::type_from_json(json.to_string().as_bytes()).expect("a type")
}

fn nested_object(json: &Json) -> NestedObject {
    let nesting = match json["nesting_mode"].as_str() {
        Some("list") => ObjectNesting::List,
        Some("set") => ObjectNesting::Set,
        Some("map") => ObjectNesting::Map,
        _ => ObjectNesting::Single,
    };
    NestedObject::new(nesting, entries(&json["attributes"], attribute))
}

fn nested_block(json: &Json) -> NestedBlock {
    let nesting = match json["nesting_mode"].as_str() {
        Some("list") => Nesting::List,
        Some("set") => Nesting::Set,
        Some("map") => Nesting::Map,
        Some("group") => Nesting::Group,
        _ => Nesting::Single,
    };
    NestedBlock::new(nesting, block(&json["block"]))
}
