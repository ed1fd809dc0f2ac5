//! Upgrades stored objects to the current schema.

use provider::{
    MoveResourceStateRequest, MoveResourceStateResponse, Private, RawState, StateResponse,
    UpgradeResourceIdentityRequest, UpgradeResourceIdentityResponse, UpgradeResourceStateRequest,
    null_write_only,
};
use serde_json::Value as Json;
use values::{Kind, Value, json};

use super::{Managed, Server};
use crate::{
    data::Object,
    definition::Definition,
    diagnostics::Diagnostic,
    schema::{Block, Nesting, Schema},
    upgrade::MoveSource,
};

impl<D: Definition> Server<D> {
    pub(super) fn upgraded(&self, request: &UpgradeResourceStateRequest) -> StateResponse {
        let resource = match self.resource(&request.type_name) {
            Ok(it) => it,
            Err(diagnostic) => return failed(diagnostic),
        };
        let upgraded = parse(&request.raw_state).and_then(|stored| {
            let current = resource.written.version;
            let json = match request.version == current {
                true => stored,
                false => resource.of.upgrade(request.version, stored)?,
            };
            decode(resource, json)
        });
        match upgraded {
            Ok(state) => StateResponse { state: Some(state), diagnostics: Vec::new() },
            Err(diagnostic) => failed(diagnostic),
        }
    }

    pub(super) fn upgraded_identity(
        &self,
        request: &UpgradeResourceIdentityRequest,
    ) -> UpgradeResourceIdentityResponse {
        let upgraded = self.resource(&request.type_name).and_then(|resource| {
            let schema = resource.of.identity_schema();
            let schema =
                schema.ok_or_else(|| unreadable("has an identity, which the type has not"))?;
            let stored = parse(&RawState::Json(request.raw_identity.clone()))?;
            let json = match request.version == schema.version {
                true => stored,
                false => resource.of.upgrade_identity(request.version, stored)?,
            };
            decode_identity(&schema, &json)
        });
        match upgraded {
            Ok(identity) => UpgradeResourceIdentityResponse {
                identity: Some(identity),
                diagnostics: Vec::new(),
            },
            Err(diagnostic) => {
                UpgradeResourceIdentityResponse { identity: None, diagnostics: vec![diagnostic] }
            }
        }
    }

    pub(super) fn taken_over(
        &self,
        request: &MoveResourceStateRequest,
    ) -> MoveResourceStateResponse {
        match self.try_take_over(request) {
            Ok((state, identity)) => MoveResourceStateResponse {
                state: Some(state),
                private: Some(Private::default()),
                identity,
                diagnostics: Vec::new(),
            },
            Err(diagnostic) => MoveResourceStateResponse {
                state: None,
                private: None,
                identity: None,
                diagnostics: vec![diagnostic],
            },
        }
    }

    /// The new state and the new identity of an object of another type.
    fn try_take_over(
        &self,
        request: &MoveResourceStateRequest,
    ) -> Result<(Value, Option<Value>), Diagnostic> {
        let resource = self.resource(&request.target_type_name)?;
        let identity = request.source_identity.as_ref();
        let source = MoveSource {
            provider: request.source_provider_address.clone(),
            type_name: request.source_type_name.clone(),
            schema_version: request.source_schema_version,
            identity: identity.map(|it| parse(&RawState::Json(it.json.clone()))).transpose()?,
            identity_version: identity.map_or(0, |it| it.schema_version),
        };
        let stored = parse(&request.source_state)?;
        let unsupported = || {
            let (from, to) = (&source.type_name, &request.target_type_name);
            Diagnostic::error(
                "Unable to Move Resource State",
                format!("A {from} cannot become a {to}."),
            )
        };
        let json = resource.of.take_over(&source, &stored)?.ok_or_else(unsupported)?;
        let identity = resource.of.take_over_identity(&source, &json)?;
        let schema = resource.of.identity_schema();
        let identity = schema.zip(identity).map(|(schema, it)| decode_identity(&schema, &it));
        Ok((decode(resource, json)?, identity.transpose()?))
    }
}

fn decode_identity(schema: &Schema, json: &Json) -> Result<Value, Diagnostic> {
    let ty = schema.to_provider().implied_type().clone();
    // A part that the identity no longer has is dropped.
    let known = json::retain_attributes(&json.to_string(), &ty);
    let identity = known.and_then(|it| json::decode(it.as_bytes(), &ty));
    identity.map_err(|_| unreadable("does not fit the schema of the identity"))
}

fn failed(diagnostic: Diagnostic) -> StateResponse {
    StateResponse { state: None, diagnostics: vec![diagnostic] }
}

fn unreadable(why: &str) -> Diagnostic {
    Diagnostic::error(
        "Unable to Read Previously Saved State",
        format!(
            "The stored object {why}. A newer version of the provider may have written it: use \
             that version. If the state was edited, restore it from its backup."
        ),
    )
}

fn parse(raw: &RawState) -> Result<Json, Diagnostic> {
    match raw {
        RawState::Json(bytes) => {
            // Only an object, so that the conversion of a provider need not expect anything else.
            let object: Result<serde_json::Map<String, Json>, _> = serde_json::from_slice(bytes);
            object.map(Json::Object).map_err(|_| unreadable("is not an object in JSON"))
        }
        RawState::Flatmap(_) => Err(unreadable("was written by a version before 0.12")),
    }
}

/// Returns the state with empty collections for the blocks that it lacks, such as those that a newer version of the
/// provider has added. Only attributes and single blocks can be null.
fn with_empty_blocks(block: &Block, state: &Value) -> Value {
    let Kind::Object(parts) = state.kind() else { return state.clone() };
    let mut filled = parts.clone();
    for (name, nested) in &block.blocks {
        let Some(part) = filled.get_mut(name) else { continue };
        let is_one = matches!(nested.nesting, Nesting::Single | Nesting::Group);
        *part = match part.kind() {
            Kind::Null => Object::new(block.to_provider().empty_value()).attr(name),
            Kind::Object(_) if is_one => with_empty_blocks(&nested.block, part),
            _ => part.map_parts(|_, it| with_empty_blocks(&nested.block, it)),
        };
    }
    Value::object(filled)
}

/// Decodes a state by the schema. Attributes without a schema are dropped, and write-only ones become null.
fn decode<C>(resource: &Managed<C>, json: Json) -> Result<Value, Diagnostic> {
    let ty = resource.schema.implied_type();
    let known = json::retain_attributes(&json.to_string(), ty);
    let state = known.and_then(|it| json::decode(it.as_bytes(), ty));
    // The decoder's message might quote the stored value.
    let state = state.map_err(|_| unreadable("does not fit the schema"))?;
    let state = with_empty_blocks(&resource.written.block, &state);
    Ok(null_write_only(&state, resource.schema.block()))
}
