//! An object of a resource instance as recorded in the state.

use std::fmt;
use std::sync::Arc;

use addr::{ConfigResource, ProviderConfigRef};
use sorted::TreeMap;
use values::{Path, Str, Type, Value, json};

use crate::error::EncodeError;
use crate::marks;

/// An object that a provider created or read.
///
/// It is shared and immutable: a change creates a new object, so prior, refreshed and working state can share
/// unchanged objects at no cost.
#[derive(Clone, PartialEq)]
pub struct Object {
    /// The version of the schema that the attributes were written with.
    pub schema_version: u64,
    /// The attributes.
    pub attributes: Attributes,
    /// The paths of sensitive attributes, in the order of the file.
    pub sensitive_paths: Vec<Path>,
    /// The provider's private data.
    pub private: Arc<[u8]>,
    /// All resources that this one depends on, directly or indirectly. The creator of the object sorts them.
    pub dependencies: Arc<[ConfigResource]>,
    /// True if a replacement is created before this object is destroyed.
    pub create_before_destroy: bool,
    /// True for `lifecycle { destroy = false }`: the object is forgotten instead of destroyed.
    pub skip_destroy: bool,
    /// The status of the object.
    pub status: Status,
    /// The provider configuration, if each instance of the resource has its own (`provider = aws.x[each.key]`).
    pub provider: Option<ProviderConfigRef>,
    /// The resource identity. `None` if the type has none.
    pub identity: Option<Identity>,
}

/// The encoded attributes of an object, which need a schema to be decoded.
#[derive(Clone, PartialEq, Eq)]
pub enum Attributes {
    /// A JSON object without insignificant whitespace. Equal text means equal attributes.
    Json(Arc<str>),
    /// The flat map of Terraform before 0.12, which only a provider can upgrade.
    Flat(Arc<TreeMap<Str, Str>>),
}

/// The status of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Ready,
    /// The object must be replaced: its creation failed halfway, or a user tainted it.
    Tainted,
}

/// A resource identity, encoded by the provider's identity schema.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    /// The version of the identity schema.
    pub schema_version: u64,
    /// JSON without insignificant whitespace.
    pub json: Arc<str>,
}

/// An error about attributes that do not fit the expected type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The attributes are a flat map from Terraform before 0.12. `UpgradeResourceState` accepts it.
    #[error(
        "the object has the flat attributes of Terraform before version 0.12 and must be upgraded first"
    )]
    Flat,
    #[error("{0}")]
    Value(String),
}

impl Object {
    /// Returns the object with these dependencies. Shares the object if it already has them.
    pub fn with_dependencies(self: &Arc<Self>, dependencies: &Arc<[ConfigResource]>) -> Arc<Self> {
        match *self.dependencies == **dependencies {
            true => Arc::clone(self),
            false => {
                Arc::new(Object { dependencies: Arc::clone(dependencies), ..(**self).clone() })
            }
        }
    }

    /// Returns the object with this value of [`skip_destroy`](Object::skip_destroy). Shares the object if it already
    /// has it.
    pub fn with_skip_destroy(self: Arc<Self>, skip_destroy: bool) -> Arc<Self> {
        match self.skip_destroy == skip_destroy {
            true => self,
            false => Arc::new(Object { skip_destroy, ..(*self).clone() }),
        }
    }

    /// Returns the object with this value of [`create_before_destroy`](Object::create_before_destroy). Shares the
    /// object if it already has it.
    pub fn with_create_before_destroy(self: Arc<Self>, create_before_destroy: bool) -> Arc<Self> {
        match self.create_before_destroy == create_before_destroy {
            true => self,
            false => Arc::new(Object { create_before_destroy, ..(*self).clone() }),
        }
    }

    /// Encodes an object. Sensitive marks become paths, and an ephemeral part is an error.
    ///
    /// `what` names the object in errors, usually by its address. `ty` is the type of the schema that the
    /// attributes will be decoded with.
    ///
    /// # Errors
    /// Returns an [`EncodeError`] for ephemeral, unknown and ill-typed parts.
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

    /// Creates an object from attributes that are already compact JSON.
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

    /// Decodes the attributes as a value of the schema's type, and marks the sensitive parts.
    ///
    /// # Errors
    /// Returns a [`DecodeError`] if the attributes were written with another schema. The provider must upgrade
    /// them first.
    pub fn decode(&self, ty: &Type) -> Result<Value, DecodeError> {
        let value = self.attributes.decode(ty)?;
        Ok(marks::join(&value, &self.sensitive_paths))
    }

    /// Returns the object with another status.
    pub fn with_status(&self, status: Status) -> Self {
        Self { status, ..self.clone() }
    }
}

impl Attributes {
    /// Decodes the attributes as a value without marks.
    ///
    /// # Errors
    /// Returns the errors of [`Object::decode`].
    pub fn decode(&self, ty: &Type) -> Result<Value, DecodeError> {
        match self {
            Self::Json(text) => json::decode(text.as_bytes(), ty)
                .map_err(|it| DecodeError::Value(it.without_keys(ty).to_string())),
            Self::Flat(_) => Err(DecodeError::Flat),
        }
    }
}

/// Shows only the size. Attributes hold secrets that only a schema identifies.
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
