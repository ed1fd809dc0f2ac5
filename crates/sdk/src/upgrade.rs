//! Upgrades of stored objects, and objects that come from other types.

use serde_json::Value as Json;
use values::{Str, Value, json};

use crate::{
    data::Object,
    diagnostics::Diagnostic,
    model::{Model, Unknowns},
};

/// An upgrade of states from one older version of a schema to the current one.
pub struct Upgrade {
    pub(crate) from: i64,
    pub(crate) convert: ConvertState,
}

type ConvertState = Box<dyn Fn(Json) -> Result<Json, Diagnostic> + Send + Sync>;

impl Upgrade {
    /// Creates an upgrade of version `from`, whose objects are described by `Old`. Attributes of the state that `Old`
    /// lacks are dropped.
    pub fn from_model<Old: Model + 'static, New: Model>(
        from: i64,
        convert: impl Fn(Old) -> Result<New, Diagnostic> + Send + Sync + 'static,
    ) -> Upgrade {
        let convert = move |state: Json| to_json(&convert(from_json(&state)?)?);
        Upgrade { from, convert: Box::new(convert) }
    }

    /// Creates an upgrade of version `from` that works on the JSON of the state. Attributes that the schema lacks are
    /// dropped afterwards.
    pub fn from_json(
        from: i64,
        convert: impl Fn(Json) -> Result<Json, Diagnostic> + Send + Sync + 'static,
    ) -> Upgrade {
        Upgrade { from, convert: Box::new(convert) }
    }
}

/// The origin of a moved object.
pub struct MoveSource {
    /// The full address of its provider.
    pub provider: Str,
    /// Its resource type.
    pub type_name: Str,
    /// The version of its schema.
    pub schema_version: i64,
    /// The JSON of its identity, if it has one.
    pub identity: Option<Json>,
    /// The version of the schema of its identity.
    pub identity_version: i64,
}

/// A conversion of the objects of another type for a `moved` block.
pub struct Move {
    pub(crate) type_name: &'static str,
    pub(crate) provider: Option<&'static str>,
    pub(crate) convert: ConvertMoved,
}

/// Converts the JSON of the state of the source. The result is the JSON of the new state.
type ConvertMoved = Box<dyn Fn(&MoveSource, &Json) -> Result<Json, Diagnostic> + Send + Sync>;

impl Move {
    /// Creates the conversion of objects of the type `type_name`, which are described by `Old`.
    /// `MoveSource::schema_version` is the version that they were written with.
    pub fn from_model<Old: Model + 'static, New: Model>(
        type_name: &'static str,
        convert: impl Fn(&MoveSource, Old) -> Result<New, Diagnostic> + Send + Sync + 'static,
    ) -> Move {
        let convert =
            move |source: &MoveSource, state: &Json| to_json(&convert(source, from_json(state)?)?);
        Move { type_name, provider: None, convert: Box::new(convert) }
    }

    /// Creates the conversion of objects of the type `type_name` that works on the JSON of the state.
    pub fn from_json(
        type_name: &'static str,
        convert: impl Fn(&MoveSource, &Json) -> Result<Json, Diagnostic> + Send + Sync + 'static,
    ) -> Move {
        Move { type_name, provider: None, convert: Box::new(convert) }
    }

    /// Restricts the conversion to a provider whose address ends with `provider`, such as `hashicorp/random`.
    #[must_use]
    pub fn of_provider(mut self, provider: &'static str) -> Move {
        self.provider = Some(provider);
        self
    }

    pub(crate) fn fits(&self, source: &MoveSource) -> bool {
        let ends = |end: &str| {
            source.provider.strip_suffix(end).is_some_and(|it| it.is_empty() || it.ends_with('/'))
        };
        &*source.type_name == self.type_name && self.provider.is_none_or(ends)
    }
}

fn from_json<M: Model>(state: &Json) -> Result<M, Diagnostic> {
    let ty = M::ty();
    let known = json::retain_attributes(&state.to_string(), &ty);
    let state = known.and_then(|it| json::decode(it.as_bytes(), &ty));
    // The decoder's message might quote the stored value.
    let state = state.map_err(|_| unfit())?;
    M::decode(&Object::new(state), Unknowns::Refused)
}

fn to_json<M: Model>(state: &M) -> Result<Json, Diagnostic> {
    let state: Value = state.encode();
    let text = json::encode(&state, &M::ty()).map_err(|_| unfit())?;
    serde_json::from_str(&text).map_err(|_| unfit())
}

fn unfit() -> Diagnostic {
    Diagnostic::error(
        "Unable to Upgrade Resource State",
        "The stored object does not fit the schema of the version that it was written with. If the state was edited, \
         restore it from its backup.",
    )
}
