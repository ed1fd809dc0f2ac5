//! Schemas for provider definitions: the part of the protocol, and the rules that the SDK itself applies
//! (defaults, plan modifiers, validators).

use std::sync::Arc;

use provider::{AttributeType, DescriptionKind};
pub use provider::{Nesting, ObjectNesting};
use sorted::SortedMap;
use values::{Path, Str, Type, Value};

use crate::{
    data::Object,
    diagnostics::{Diagnostic, Diagnostics, shown},
    modify::{Modifier, RequiresReplace, RequiresReplaceIfConfigured, UseStateForUnknown},
    validate::{Each, Text, Validator},
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

    /// Changes the outermost block, for a type that differs from a struct.
    #[must_use]
    pub fn map_block(self, change: impl FnOnce(Block) -> Block) -> Schema {
        Schema { block: change(self.block), ..self }
    }

    /// The type of all values of this schema.
    #[must_use]
    pub fn implied_type(&self) -> Type {
        self.to_provider().implied_type().clone()
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
    pub(crate) attributes: SortedMap<Str, Attribute>,
    pub(crate) blocks: SortedMap<Str, NestedBlock>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) description: Str,
    pub(crate) markdown: bool,
    pub(crate) deprecation: Option<Str>,
}

/// A rule about several attributes and blocks of one object. It reads the object, which may be unknown in parts, and
/// adds diagnostics. If there is no block of a type, the object has null there, as for an attribute that is not set.
pub type Rule = Arc<dyn Fn(&Object, &mut Diagnostics) + Send + Sync>;

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
    pub fn block(self, name: &str, nesting: Nesting, block: Block) -> Block {
        self.blocks_of(name, NestedBlock { nesting, block, min_items: 0, max_items: 0 })
    }

    /// Adds a type of nested block with limits on its number.
    #[must_use]
    pub fn blocks_of(mut self, name: &str, blocks: NestedBlock) -> Block {
        self.blocks.insert(name.into(), blocks);
        self
    }

    /// Adds the attributes, nested blocks and rules of another block. Their names get a prefix.
    #[must_use]
    pub fn flattened(mut self, prefix: &'static str, other: Block) -> Block {
        let named = |name: Str| Str::from(format!("{prefix}{name}"));
        self.attributes.extend(other.attributes.into_iter().map(|(name, it)| (named(name), it)));
        self.blocks.extend(other.blocks.into_iter().map(|(name, it)| (named(name), it)));
        other.rules.into_iter().fold(self, |block, rule| {
            block.rule(move |object, diagnostics| rule(&object.with_prefix(prefix), diagnostics))
        })
    }

    /// Removes an attribute or a type of nested block, for a type that lacks one of a struct.
    #[must_use]
    pub fn without(mut self, name: impl AsRef<str>) -> Block {
        self.attributes.remove(name.as_ref());
        self.blocks.remove(name.as_ref());
        self
    }

    /// Changes an attribute, for a type that differs from a struct.
    #[must_use]
    pub fn with(
        mut self,
        name: impl AsRef<str>,
        change: impl FnOnce(Attribute) -> Attribute,
    ) -> Block {
        let known = self.attributes.get_key_value(name.as_ref());
        if let Some(name) = known.map(|(name, _)| name.clone()) {
            let attribute = self.attributes.remove(&name).expect("a key of the map");
            self.attributes.insert(name, change(attribute));
        }
        self
    }

    /// Adds a rule about several attributes.
    #[must_use]
    pub fn rule(
        mut self,
        rule: impl Fn(&Object, &mut Diagnostics) + Send + Sync + 'static,
    ) -> Block {
        self.rules.push(Arc::new(rule));
        self
    }

    /// Marks the block as deprecated. The text names the replacement.
    #[must_use]
    pub fn deprecated(mut self, text: &str) -> Block {
        self.deprecation = Some(text.into());
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn description(mut self, text: &str) -> Block {
        self.description = text.into();
        self
    }

    /// Marks the descriptions of the block and of its attributes as Markdown.
    #[must_use]
    pub fn markdown(mut self) -> Block {
        self.markdown = true;
        self
    }

    /// Returns true if a part may hold a secret.
    fn has_secret(&self) -> bool {
        self.attributes.values().any(Attribute::has_secret)
    }

    /// Adds the mistakes of the author that the protocol does not show, with the names that lead to them.
    pub(crate) fn mistakes(&self, within: &Path, found: &mut Vec<Diagnostic>) {
        for (name, attribute) in &self.attributes {
            let path = within.clone().attr(name);
            if let Some(mistake) = attribute.mistake(&path) {
                found.push(mistake);
            }
            if let Shape::Nested(_, objects) = &attribute.shape {
                objects.mistakes(&path, found);
            }
        }
        self.blocks
            .iter()
            .for_each(|(name, it)| it.block.mistakes(&within.clone().attr(name), found));
    }

    fn kind(&self) -> DescriptionKind {
        if self.markdown { DescriptionKind::Markdown } else { DescriptionKind::Plain }
    }

    pub(crate) fn to_provider(&self) -> provider::Block {
        let attributes = self.attributes_to_provider(false);
        let blocks = self.blocks.iter().map(|(name, it)| {
            let nested = provider::NestedBlock::new(it.nesting, it.block.to_provider());
            let (min_items, max_items) = (it.min_items, it.max_items);
            (name.clone(), provider::NestedBlock { min_items, max_items, ..nested })
        });
        let mut block = provider::Block::new(attributes, blocks.collect());
        block.description = self.description.clone();
        block.description_kind = self.kind();
        block.deprecated = self.deprecation.is_some();
        block.deprecation_message = self.deprecation.clone().unwrap_or_default();
        block
    }

    /// The parts of an object that only the provider sets are set by the provider too.
    fn attributes_to_provider(&self, only_computed: bool) -> SortedMap<Str, provider::Attribute> {
        let attribute = |(name, it): (&Str, &Attribute)| {
            let mut attribute = it.to_provider(self.kind());
            if only_computed {
                attribute.required = false;
                attribute.optional = false;
                attribute.computed = true;
            }
            (name.clone(), attribute)
        };
        self.attributes.iter().map(attribute).collect()
    }
}

/// A type of nested block.
pub struct NestedBlock {
    /// The nesting mode.
    pub nesting: Nesting,
    /// The content of each block.
    pub block: Block,
    /// The minimum number of blocks.
    pub min_items: i64,
    /// The maximum number of blocks; 0 for no limit.
    pub max_items: i64,
}

impl NestedBlock {
    /// Changes the content of each block.
    #[must_use]
    pub fn map_block(self, change: impl FnOnce(Block) -> Block) -> NestedBlock {
        NestedBlock { block: change(self.block), ..self }
    }
}

/// An attribute. Without [`Attribute::required`], [`Attribute::optional`] or [`Attribute::computed`], the schema
/// is refused.
pub struct Attribute {
    pub(crate) shape: Shape,
    pub(crate) required: bool,
    pub(crate) optional: bool,
    pub(crate) computed: bool,
    pub(crate) sensitive: bool,
    pub(crate) holds_secret: bool,
    pub(crate) write_only: bool,
    pub(crate) identity: bool,
    pub(crate) default: Option<Value>,
    pub(crate) modifiers: Vec<Arc<dyn Modifier>>,
    pub(crate) validators: Vec<Arc<dyn Validator>>,
    pub(crate) deprecation: Option<Str>,
    description: Str,
    /// True if a part of the value was write-only before the parts lost their rules.
    lost_write_only: bool,
}

/// The type or the nested attributes of an attribute.
pub(crate) enum Shape {
    Type(Type),
    Nested(ObjectNesting, Block),
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
    Attribute::new(Shape::Nested(nesting, Block { attributes, ..Block::default() }))
}

/// An attribute whose value is one object with the attributes of a block (protocol 6 only). The nested blocks of the
/// block are left out: an attribute cannot contain any.
#[must_use]
pub fn nested_object(block: Block) -> Attribute {
    let description = block.description.clone();
    Attribute { description, ..Attribute::new(Shape::Nested(ObjectNesting::Single, block)) }
}

/// An attribute whose type is an object, for protocol 5. Its parts have no rules of their own: no defaults, modifiers
/// and validators. It is sensitive as a whole if a part is.
#[must_use]
pub fn plain_object(block: &Block) -> Attribute {
    let parts = block.attributes.iter().map(|(name, it)| (name, it.implied_type()));
    Attribute {
        description: block.description.clone(),
        holds_secret: block.has_secret(),
        lost_write_only: block.attributes.values().any(Attribute::has_write_only),
        ..typed(Type::object(parts))
    }
}

impl Attribute {
    fn new(shape: Shape) -> Attribute {
        Attribute {
            shape,
            required: false,
            optional: false,
            computed: false,
            sensitive: false,
            holds_secret: false,
            write_only: false,
            identity: false,
            default: None,
            modifiers: Vec::new(),
            validators: Vec::new(),
            deprecation: None,
            description: Str::default(),
            lost_write_only: false,
        }
    }

    /// Returns true if the value or a part of it may hold a secret.
    fn has_secret(&self) -> bool {
        let inside = matches!(&self.shape, Shape::Nested(_, objects) if objects.has_secret());
        self.sensitive || self.holds_secret || inside
    }

    fn has_write_only(&self) -> bool {
        let inside = match &self.shape {
            Shape::Nested(_, objects) => objects.attributes.values().any(Attribute::has_write_only),
            Shape::Type(_) => false,
        };
        self.write_only || self.lost_write_only || inside
    }

    fn mistake(&self, path: &Path) -> Option<Diagnostic> {
        let mistake = |why: &str| {
            let detail = format!("{} {why}.", shown(path));
            Some(Diagnostic::error("Invalid Schema", detail).at(path.clone()))
        };
        if self.write_only && self.identity {
            return mistake(
                "is write-only, so it cannot be a part of an identity, which is stored",
            );
        }
        if self.lost_write_only {
            return mistake(
                "has a write-only part, but is not an attribute with nested attributes",
            );
        }
        let default = self.default.as_ref()?;
        let ty = self.implied_type();
        if default.is_null() || !ty.has_dynamic() && default.ty() != ty {
            return mistake("has a default of another type");
        }
        let mut diagnostics = Diagnostics::default();
        self.validators.iter().for_each(|it| it.validate(path, default, &mut diagnostics));
        match diagnostics.has_errors() {
            true => mistake("has a default that its own validators refuse"),
            false => None,
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

    /// Marks the values as secrets: the attribute is sensitive, unless it is write-only.
    #[must_use]
    pub(crate) fn holding_secrets(mut self) -> Attribute {
        self.holds_secret = true;
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

    /// Makes a change of the attribute require replacement if the configuration sets it.
    #[must_use]
    pub fn requires_replace_if_configured(self) -> Attribute {
        self.modifier(RequiresReplaceIfConfigured)
    }

    /// Adds a check of the text, such as `str::parse::<std::net::IpAddr>`. Its error must not quote a secret.
    #[must_use]
    pub fn check<T: 'static, E: std::fmt::Display + 'static>(
        self,
        accepts: impl Fn(&str) -> Result<T, E> + Send + Sync + 'static,
    ) -> Attribute {
        self.validator(Text(accepts))
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

    /// Marks the attribute as a part of the identity of objects; see [`crate::Resource::identity_schema`].
    #[must_use]
    pub fn identity(mut self) -> Attribute {
        self.identity = true;
        self
    }

    /// Returns the attribute of a collection of the values of this one. The validators apply to each element, and the
    /// description and the sensitivity stay.
    #[must_use]
    pub(crate) fn collected(self, nesting: ObjectNesting) -> Attribute {
        let element = self.implied_type();
        let (has_secret, has_write_only) = (self.has_secret(), self.has_write_only());
        let is_flat = !matches!(self.shape, Shape::Nested(ObjectNesting::Single, _));
        let shape = match self.shape {
            Shape::Nested(ObjectNesting::Single, objects) => Shape::Nested(nesting, objects),
            Shape::Type(_) | Shape::Nested(..) => Shape::Type(match nesting {
                ObjectNesting::Single => element,
                ObjectNesting::List => Type::list(element),
                ObjectNesting::Set => Type::set(element),
                ObjectNesting::Map => Type::map(element),
            }),
        };
        let validators =
            self.validators.into_iter().map(|it| Arc::new(Each(it)) as Arc<dyn Validator>);
        Attribute {
            sensitive: self.sensitive,
            holds_secret: self.holds_secret || is_flat && has_secret,
            lost_write_only: is_flat && has_write_only,
            validators: validators.collect(),
            description: self.description,
            ..Attribute::new(shape)
        }
    }

    /// The type of the values.
    pub(crate) fn implied_type(&self) -> Type {
        match &self.shape {
            Shape::Type(ty) => ty.clone(),
            Shape::Nested(..) => self.to_provider(DescriptionKind::Plain).implied_type(),
        }
    }

    fn to_provider(&self, description_kind: DescriptionKind) -> provider::Attribute {
        let ty = match &self.shape {
            Shape::Type(ty) => AttributeType::Type(ty.clone()),
            Shape::Nested(nesting, objects) => {
                let attributes = objects.attributes_to_provider(self.computed && !self.optional);
                AttributeType::Nested(provider::NestedObject::new(*nesting, attributes))
            }
        };
        provider::Attribute {
            required: self.required,
            optional: self.optional,
            computed: self.computed,
            sensitive: self.sensitive || self.holds_secret && !self.write_only,
            write_only: self.write_only,
            deprecated: self.deprecation.is_some(),
            deprecation_message: self.deprecation.clone().unwrap_or_default(),
            description: self.description.clone(),
            description_kind,
            ..provider::Attribute::new(ty)
        }
    }
}
