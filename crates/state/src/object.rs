//! One object of the real world, as state remembers it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use addr::{ConfigResource, ProviderConfigRef};
use values::{Path, Str, Type, Value, json};

use crate::error::EncodeError;
use crate::marks;

/// An object that a provider made or read.
///
/// It is shared, not edited: a change makes a new one, so that prior, refreshed and working state can hold the same
/// object at no cost.
#[derive(Clone, PartialEq)]
pub struct Object {
    pub schema_version: u64,
    pub attributes: Attributes,
    /// Where the attributes are sensitive, in the order of the file.
    pub sensitive_paths: Vec<Path>,
    /// The provider's own bytes; opaque.
    pub private: Arc<[u8]>,
    /// All resources that this one depends on, also indirectly. Sorted by the writer of the object.
    pub dependencies: Arc<[ConfigResource]>,
    pub create_before_destroy: bool,
    /// `lifecycle { destroy = false }`: forget rather than destroy.
    pub skip_destroy: bool,
    pub status: Status,
    /// The provider configuration, where each instance of the resource has its own (`provider = aws.x[each.key]`).
    pub provider: Option<ProviderConfigRef>,
    pub identity: Option<Identity>,
}

/// Attributes of an object, not yet seen through a schema.
#[derive(Clone, PartialEq, Eq)]
pub enum Attributes {
    /// One JSON object without insignificant whitespace, so that equal text means equal attributes.
    Json(Arc<str>),
    /// The flat map of Terraform before 0.12; only a provider can upgrade it.
    Flat(Arc<BTreeMap<Str, Str>>),
}

/// Whether an object is as its provider left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Ready,
    /// To be replaced: its creation failed half-way, or a user said so.
    Tainted,
}

/// A resource's identity, as the provider's identity schema has it.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    pub schema_version: u64,
    /// JSON without insignificant whitespace.
    pub json: Arc<str>,
}

/// Attributes that do not fit the type that they should have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Written by Terraform before 0.12; `UpgradeResourceState` takes the flat map.
    #[error(
        "the object has the flat attributes of Terraform before version 0.12 and must be upgraded first"
    )]
    Flat,
    #[error("{0}")]
    Value(String),
}

impl Object {
    /// The object with these dependencies; itself if it has them.
    pub fn with_dependencies(self: &Arc<Self>, dependencies: &Arc<[ConfigResource]>) -> Arc<Self> {
        match *self.dependencies == **dependencies {
            true => Arc::clone(self),
            false => {
                Arc::new(Object { dependencies: Arc::clone(dependencies), ..(**self).clone() })
            }
        }
    }

    /// An object with these attributes: its marks become paths, and an ephemeral part is refused.
    ///
    /// `what` names the object in errors, usually its address. `ty` is the schema's type, which is what the attributes
    /// will be decoded with.
    ///
    /// # Errors
    /// [`EncodeError`] for ephemeral, unknown and ill-typed parts.
    pub fn encode(
        what: &str,
        schema_version: u64,
        value: &Value,
        ty: &Type,
    ) -> Result<Self, EncodeError> {
        let (plain, sensitive_paths) = marks::split(value, what)?;
        let text = json::encode(&plain, ty).map_err(|it| EncodeError::value(what, it))?;
        Ok(Self { sensitive_paths, ..Self::from_json(schema_version, text.into()) })
    }

    /// An object with attributes that are compact JSON already.
    pub fn from_json(schema_version: u64, json: Arc<str>) -> Self {
        Self {
            schema_version,
            attributes: Attributes::Json(json),
            sensitive_paths: Vec::new(),
            private: Arc::default(),
            dependencies: Arc::default(),
            create_before_destroy: false,
            skip_destroy: false,
            status: Status::Ready,
            provider: None,
            identity: None,
        }
    }

    /// The attributes as a value of the schema's type, sensitive where the state says so.
    ///
    /// # Errors
    /// [`DecodeError`] when the attributes were written under another schema: the provider has to upgrade them first.
    pub fn decode(&self, ty: &Type) -> Result<Value, DecodeError> {
        let value = self.attributes.decode(ty)?;
        Ok(marks::join(&value, &self.sensitive_paths))
    }

    /// The same object with another status.
    pub fn with_status(&self, status: Status) -> Self {
        Self { status, ..self.clone() }
    }
}

impl Attributes {
    /// The attributes as a value, without any mark.
    ///
    /// # Errors
    /// As [`Object::decode`].
    pub fn decode(&self, ty: &Type) -> Result<Value, DecodeError> {
        match self {
            Self::Json(text) => json::decode(text.as_bytes(), ty)
                .map_err(|it| DecodeError::Value(it.without_keys(ty).to_string())),
            Self::Flat(_) => Err(DecodeError::Flat),
        }
    }
}

/// Shows how much there is, not what: attributes are full of secrets that only a schema knows to be ones.
impl fmt::Debug for Attributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(text) => write!(f, "Json({} bytes)", text.len()),
            Self::Flat(map) => write!(f, "Flat({} entries)", map.len()),
        }
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object")
            .field("schema_version", &self.schema_version)
            .field("attributes", &self.attributes)
            .field("private", &format_args!("{} bytes", self.private.len()))
            .field("dependencies", &self.dependencies)
            .field("create_before_destroy", &self.create_before_destroy)
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity(version {}, {} bytes)", self.schema_version, self.json.len())
    }
}
