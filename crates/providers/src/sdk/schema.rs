//! Schemas as a provider's author writes them: the protocol's part, and what the SDK itself acts on (defaults, plan
//! modifiers, validators).

use std::{collections::BTreeMap, sync::Arc};

use provider::AttributeType;
pub use provider::{Nesting, ObjectNesting};
use values::{Str, Type, Value};

use super::{
    modify::{Modifier, RequiresReplace, UseStateForUnknown},
    validate::Validator,
};

/// The schema of a type or of the provider's own configuration.
pub struct Schema {
    pub(super) version: i64,
    pub(super) block: Block,
}

impl Schema {
    /// A schema of version 0.
    #[must_use]
    pub fn new(block: Block) -> Schema {
        Schema { version: 0, block }
    }

    /// The same schema as a later version of the type's state; see [`super::Resource::upgrade`].
    #[must_use]
    pub fn version(mut self, version: i64) -> Schema {
        self.version = version;
        self
    }

    /// The part that the protocol knows.
    #[must_use]
    pub fn to_provider(&self) -> provider::Schema {
        provider::Schema::new(self.version, self.block.to_provider())
    }
}

/// Attributes and nested blocks.
#[derive(Default)]
pub struct Block {
    pub(super) attributes: BTreeMap<Str, Attribute>,
    pub(super) blocks: BTreeMap<Str, NestedBlock>,
    description: Str,
}

impl Block {
    /// A block with nothing in it.
    #[must_use]
    pub fn new() -> Block {
        Block::default()
    }

    /// Adds an attribute; a second one of the same name replaces the first.
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

    /// Says what the block is for.
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
    pub(super) nesting: Nesting,
    pub(super) block: Block,
}

/// One attribute. Without one of [`Attribute::required`], [`Attribute::optional`] and [`Attribute::computed`] the schema
/// is refused.
pub struct Attribute {
    pub(super) shape: Shape,
    pub(super) required: bool,
    pub(super) optional: bool,
    pub(super) computed: bool,
    pub(super) sensitive: bool,
    pub(super) write_only: bool,
    pub(super) default: Option<Value>,
    pub(super) modifiers: Vec<Arc<dyn Modifier>>,
    pub(super) validators: Vec<Arc<dyn Validator>>,
    pub(super) deprecation: Option<Str>,
    description: Str,
}

/// What an attribute is made of.
pub(super) enum Shape {
    Type(Type),
    Nested(ObjectNesting, BTreeMap<Str, Attribute>),
}

/// An attribute of any type.
#[must_use]
pub fn typed(ty: Type) -> Attribute {
    Attribute::new(Shape::Type(ty))
}

/// A text.
#[must_use]
pub fn string() -> Attribute {
    typed(Type::String)
}

/// A number; see [`super::Object::int`] for whole ones.
#[must_use]
pub fn number() -> Attribute {
    typed(Type::Number)
}

/// True or false.
#[must_use]
pub fn boolean() -> Attribute {
    typed(Type::Bool)
}

/// Attributes inside an attribute. Protocol 6 only.
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

    /// The configuration must set it.
    #[must_use]
    pub fn required(mut self) -> Attribute {
        self.required = true;
        self
    }

    /// The configuration may set it.
    #[must_use]
    pub fn optional(mut self) -> Attribute {
        self.optional = true;
        self
    }

    /// The provider sets it, unless it is optional too and the configuration does.
    #[must_use]
    pub fn computed(mut self) -> Attribute {
        self.computed = true;
        self
    }

    /// Never shown.
    #[must_use]
    pub fn sensitive(mut self) -> Attribute {
        self.sensitive = true;
        self
    }

    /// Given with the configuration only. The SDK puts null in its place in every plan and state.
    #[must_use]
    pub fn write_only(mut self) -> Attribute {
        self.write_only = true;
        self
    }

    /// The value where the configuration has none. The attribute becomes computed, as the protocol wants it.
    #[must_use]
    pub fn default_value(mut self, value: impl Into<Value>) -> Attribute {
        self.default = Some(value.into());
        self.computed = true;
        self
    }

    /// Adds a plan modifier; they run in the order of their addition.
    #[must_use]
    pub fn modifier(mut self, modifier: impl Modifier + 'static) -> Attribute {
        self.modifiers.push(Arc::new(modifier));
        self
    }

    /// A change of it needs a new object.
    #[must_use]
    pub fn requires_replace(self) -> Attribute {
        self.modifier(RequiresReplace)
    }

    /// Once the provider has set it, it stays as it is.
    #[must_use]
    pub fn keeps_state(self) -> Attribute {
        self.modifier(UseStateForUnknown)
    }

    /// Adds a validator; it sees known values only.
    #[must_use]
    pub fn validator(mut self, validator: impl Validator + 'static) -> Attribute {
        self.validators.push(Arc::new(validator));
        self
    }

    /// Should no longer be used; the text says what to use instead.
    #[must_use]
    pub fn deprecated(mut self, text: &str) -> Attribute {
        self.deprecation = Some(text.into());
        self
    }

    /// Says what the attribute is for.
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
