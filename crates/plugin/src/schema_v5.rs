//! Conversions between the schema messages of protocols 5 and 6. Protocol 5 has no nested attributes and different
//! field numbers.

use std::collections::BTreeMap;

use crate::generated::{tfplugin5 as v5, tfplugin6 as v6};

impl From<v5::Schema> for v6::Schema {
    fn from(it: v5::Schema) -> Self {
        Self { version: it.version, block: it.block.map(Into::into) }
    }
}

impl From<v5::schema::Block> for v6::schema::Block {
    fn from(it: v5::schema::Block) -> Self {
        Self {
            version: it.version,
            attributes: it.attributes.into_iter().map(Into::into).collect(),
            block_types: it.block_types.into_iter().map(Into::into).collect(),
            description: it.description,
            description_kind: it.description_kind,
            deprecated: it.deprecated,
            deprecation_message: it.deprecation_message,
        }
    }
}

impl From<v5::schema::Attribute> for v6::schema::Attribute {
    fn from(it: v5::schema::Attribute) -> Self {
        Self {
            name: it.name,
            r#type: it.r#type,
            nested_type: None,
            description: it.description,
            required: it.required,
            optional: it.optional,
            computed: it.computed,
            sensitive: it.sensitive,
            description_kind: it.description_kind,
            deprecated: it.deprecated,
            write_only: it.write_only,
            deprecation_message: it.deprecation_message,
        }
    }
}

impl From<v5::schema::NestedBlock> for v6::schema::NestedBlock {
    fn from(it: v5::schema::NestedBlock) -> Self {
        Self {
            type_name: it.type_name,
            block: it.block.map(Into::into),
            // Both versions use the same numbers for nesting modes.
            nesting: it.nesting,
            min_items: it.min_items,
            max_items: it.max_items,
        }
    }
}

/// The error for a schema that protocol 5 cannot represent.
const NEEDS_PROTOCOL_6: &str = "nested attributes need protocol 6";

impl TryFrom<v6::GetProviderSchemaResponse> for v5::GetProviderSchemaResponse {
    type Error = &'static str;

    fn try_from(it: v6::GetProviderSchemaResponse) -> Result<Self, &'static str> {
        let schemas = |map: BTreeMap<String, v6::Schema>| -> Result<_, &'static str> {
            map.into_iter()
                .map(|(name, schema)| Ok((name, v5::Schema::try_from(schema)?)))
                .collect()
        };
        Ok(Self {
            provider: it.provider.map(TryInto::try_into).transpose()?,
            resource_schemas: schemas(it.resource_schemas)?,
            data_source_schemas: schemas(it.data_source_schemas)?,
            diagnostics: it.diagnostics,
            provider_meta: it.provider_meta.map(TryInto::try_into).transpose()?,
            server_capabilities: it.server_capabilities,
            functions: it.functions,
            ephemeral_resource_schemas: schemas(it.ephemeral_resource_schemas)?,
        })
    }
}

impl TryFrom<v6::Schema> for v5::Schema {
    type Error = &'static str;

    fn try_from(it: v6::Schema) -> Result<Self, &'static str> {
        Ok(Self { version: it.version, block: it.block.map(TryInto::try_into).transpose()? })
    }
}

impl TryFrom<v6::schema::Block> for v5::schema::Block {
    type Error = &'static str;

    fn try_from(it: v6::schema::Block) -> Result<Self, &'static str> {
        Ok(Self {
            version: it.version,
            attributes: it
                .attributes
                .into_iter()
                .map(TryInto::try_into)
                .collect::<Result<_, _>>()?,
            block_types: it
                .block_types
                .into_iter()
                .map(TryInto::try_into)
                .collect::<Result<_, _>>()?,
            description: it.description,
            description_kind: it.description_kind,
            deprecated: it.deprecated,
            deprecation_message: it.deprecation_message,
        })
    }
}

impl TryFrom<v6::schema::Attribute> for v5::schema::Attribute {
    type Error = &'static str;

    fn try_from(it: v6::schema::Attribute) -> Result<Self, &'static str> {
        if it.nested_type.is_some() {
            return Err(NEEDS_PROTOCOL_6);
        }
        Ok(Self {
            name: it.name,
            r#type: it.r#type,
            description: it.description,
            required: it.required,
            optional: it.optional,
            computed: it.computed,
            sensitive: it.sensitive,
            description_kind: it.description_kind,
            deprecated: it.deprecated,
            write_only: it.write_only,
            deprecation_message: it.deprecation_message,
        })
    }
}

impl TryFrom<v6::schema::NestedBlock> for v5::schema::NestedBlock {
    type Error = &'static str;

    fn try_from(it: v6::schema::NestedBlock) -> Result<Self, &'static str> {
        Ok(Self {
            type_name: it.type_name,
            block: it.block.map(TryInto::try_into).transpose()?,
            nesting: it.nesting,
            min_items: it.min_items,
            max_items: it.max_items,
        })
    }
}
