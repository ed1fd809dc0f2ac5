//! Schemas for provider definitions: the part of the protocol, and the rules that the SDK itself applies
//! (defaults, plan modifiers, validators).

use std::{collections::BTreeMap, sync::Arc};

use provider::AttributeType;
pub use provider::{Nesting, ObjectNesting};
use values::{Str, Type, Value};

use crate::{
    modify::{Modifier, RequiresReplace, UseStateForUnknown},
    validate::Validator,
};

/// The schema of a type or of the provider configuration.
pub struct Schema {
    pub(crate) version: i64,
    pub(crate) block: Block,
}

impl Schema {
    /// Creates a schema of version 0.
    #[must_use]
    pub fn new(block: Block) -> Schema {
        Schema { version: 0, block }
    }

    /// Returns the schema with another version; see [`crate::Resource::upgrade`].
    #[must_use]
    pub fn version(mut self, version: i64) -> Schema {
        self.version = version;
        self
    }

    /// Returns the part that the protocol carries.
    #[must_use]
    pub fn to_provider(&self) -> provider::Schema {
        provider::Schema::new(self.version, self.block.to_provider())
    }
}

/// Attributes and nested blocks.
#[derive(Default)]
pub struct Block {
    pub(crate) attributes: BTreeMap<Str, Attribute>,
    pub(crate) blocks: BTreeMap<Str, NestedBlock>,
    description: Str,
}

impl Block {
    /// Creates an empty block.
    #[must_use]
    pub fn new() -> Block {
        Block::default()
    }

    /// Adds an attribute. A second one with the same name replaces the first.
    #[must_use]
    pub fn attribute(mut self, name: &str, attribute: Attribute) -> Block {
        self.attributes.insert(name.into(), attribute);
        self
    }

    /// Adds a type of nested block.
    #[must_use]
    pub fn block(mut self, name: &str, nesting: Nesting, block: Block) -> Block {
        self.blocks.insert(name.into(), NestedBlock { nesting, block });
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn description(mut self, text: &str) -> Block {
        self.description = text.into();
        self
    }

    fn to_provider(&self) -> provider::Block {
        let attributes = self.attributes.iter().map(|(name, it)| (name.clone(), it.to_provider()));
        let blocks = self.blocks.iter().map(|(name, it)| {
            (name.clone(), provider::NestedBlock::new(it.nesting, it.block.to_provider()))
        });
        let mut block = provider::Block::new(attributes.collect(), blocks.collect());
        block.description = self.description.clone();
        block
    }
}

/// A type of nested block.
pub struct NestedBlock {
    pub(crate) nesting: Nesting,
    pub(crate) block: Block,
}

/// An attribute. Without [`Attribute::required`], [`Attribute::optional`] or [`Attribute::computed`], the schema
/// is refused.
pub struct Attribute {
    pub(crate) shape: Shape,
    pub(crate) required: bool,
    pub(crate) optional: bool,
    pub(crate) computed: bool,
    pub(crate) sensitive: bool,
    pub(crate) write_only: bool,
    pub(crate) default: Option<Value>,
    pub(crate) modifiers: Vec<Arc<dyn Modifier>>,
    pub(crate) validators: Vec<Arc<dyn Validator>>,
    pub(crate) deprecation: Option<Str>,
    description: Str,
}

/// The type or the nested attributes of an attribute.
pub(crate) enum Shape {
    Type(Type),
    Nested(ObjectNesting, BTreeMap<Str, Attribute>),
}

/// An attribute of any type.
#[must_use]
pub fn typed(ty: Type) -> Attribute {
    Attribute::new(Shape::Type(ty))
}

/// A string attribute.
#[must_use]
pub fn string() -> Attribute {
    typed(Type::String)
}

/// A number attribute; see [`crate::Object::int`] for whole numbers.
#[must_use]
pub fn number() -> Attribute {
    typed(Type::Number)
}

/// A boolean attribute.
#[must_use]
pub fn boolean() -> Attribute {
    typed(Type::Bool)
}

/// An attribute with nested attributes (protocol 6 only).
#[must_use]
pub fn nested(
    nesting: ObjectNesting,
    attributes: impl IntoIterator<Item = (&'static str, Attribute)>,
) -> Attribute {
    let attributes = attributes.into_iter().map(|(name, it)| (Str::from(name), it)).collect();
    Attribute::new(Shape::Nested(nesting, attributes))
}

impl Attribute {
    fn new(shape: Shape) -> Attribute {
        Attribute {
            shape,
            required: false,
            optional: false,
            computed: false,
            sensitive: false,
            write_only: false,
            default: None,
            modifiers: Vec::new(),
            validators: Vec::new(),
            deprecation: None,
            description: Str::default(),
        }
    }

    /// Requires the configuration to set the attribute.
    #[must_use]
    pub fn required(mut self) -> Attribute {
        self.required = true;
        self
    }

    /// Allows the configuration to set the attribute.
    #[must_use]
    pub fn optional(mut self) -> Attribute {
        self.optional = true;
        self
    }

    /// Lets the provider set the attribute, unless it is also optional and the configuration sets it.
    #[must_use]
    pub fn computed(mut self) -> Attribute {
        self.computed = true;
        self
    }

    /// Hides the value in all output.
    #[must_use]
    pub fn sensitive(mut self) -> Attribute {
        self.sensitive = true;
        self
    }

    /// Makes the attribute write-only: it is sent only with the configuration, and the SDK replaces it by null in
    /// every plan and state.
    #[must_use]
    pub fn write_only(mut self) -> Attribute {
        self.write_only = true;
        self
    }

    /// Sets the default for a missing value. The attribute becomes computed, as the protocol requires.
    #[must_use]
    pub fn default_value(mut self, value: impl Into<Value>) -> Attribute {
        self.default = Some(value.into());
        self.computed = true;
        self
    }

    /// Adds a plan modifier. Modifiers run in the order in which they were added.
    #[must_use]
    pub fn modifier(mut self, modifier: impl Modifier + 'static) -> Attribute {
        self.modifiers.push(Arc::new(modifier));
        self
    }

    /// Makes every change of the attribute require replacement.
    #[must_use]
    pub fn requires_replace(self) -> Attribute {
        self.modifier(RequiresReplace)
    }

    /// Keeps the prior value once the provider has set it.
    #[must_use]
    pub fn keeps_state(self) -> Attribute {
        self.modifier(UseStateForUnknown)
    }

    /// Adds a validator. It runs only for known values.
    #[must_use]
    pub fn validator(mut self, validator: impl Validator + 'static) -> Attribute {
        self.validators.push(Arc::new(validator));
        self
    }

    /// Marks the attribute as deprecated. The text names the replacement.
    #[must_use]
    pub fn deprecated(mut self, text: &str) -> Attribute {
        self.deprecation = Some(text.into());
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn description(mut self, text: &str) -> Attribute {
        self.description = text.into();
        self
    }

    fn to_provider(&self) -> provider::Attribute {
        let ty = match &self.shape {
            Shape::Type(ty) => AttributeType::Type(ty.clone()),
            Shape::Nested(nesting, attributes) => {
                let attributes =
                    attributes.iter().map(|(name, it)| (name.clone(), it.to_provider()));
                AttributeType::Nested(provider::NestedObject::new(*nesting, attributes.collect()))
            }
        };
        provider::Attribute {
            required: self.required,
            optional: self.optional,
            computed: self.computed,
            sensitive: self.sensitive,
            write_only: self.write_only,
            deprecated: self.deprecation.is_some(),
            deprecation_message: self.deprecation.clone().unwrap_or_default(),
            description: self.description.clone(),
            ..provider::Attribute::new(ty)
        }
    }
}
