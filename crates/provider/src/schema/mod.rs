mod check;
mod derived;
pub(crate) mod difference;
#[cfg(test)]
mod tests;

use sorted::SortedMap;
use values::{Str, Type, Value};

pub use self::check::SchemaProblem;
use self::derived::Derived;

/// The depth at which a schema is refused, so that no walk over it can exhaust the stack.
///
/// The deepest known schema (the web firewall rules of AWS) nests about twenty levels.
pub(crate) const MAX_DEPTH: usize = 64;

/// The schema of a provider configuration or of a resource type.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    version: i64,
    block: Block,
}

impl Schema {
    /// Creates a schema with this version.
    pub fn new(version: i64, block: Block) -> Schema {
        Schema { version, block }
    }

    /// The version of states that are written with this schema.
    pub fn version(&self) -> i64 {
        self.version
    }

    /// The outermost block.
    pub fn block(&self) -> &Block {
        &self.block
    }

    /// The type of all values of this schema; the same as [`Block::implied_type`].
    pub fn implied_type(&self) -> &Type {
        self.block.implied_type()
    }

    /// Returns the violations that make the schema unusable. A provider with such a schema is refused.
    pub fn problems(&self) -> Vec<SchemaProblem> {
        check::problems(self)
    }

    /// The first write-only attribute inside a set, as `.block.attribute`.
    ///
    /// A type with such an attribute is refused when it is used: the elements of a set have no identity apart from
    /// their value, so the provider's answer could not be checked for the attribute.
    pub fn write_only_in_set(&self) -> Option<String> {
        check::write_only_in_set(&self.block)
    }
}

/// A group of attributes and nested blocks.
///
/// Derived types are computed once, at first use. Fields that they depend on are therefore private and cannot be
/// changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    attributes: SortedMap<Str, Attribute>,
    blocks: SortedMap<Str, NestedBlock>,
    /// The description for users.
    pub description: Str,
    /// The format of the description.
    pub description_kind: DescriptionKind,
    /// True if the block is deprecated.
    pub deprecated: bool,
    /// The provider's advice on a replacement.
    pub deprecation_message: Str,
    derived: Derived,
}

/// A required attribute that a value lacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MissingAttribute {
    /// The path of the part that lacks the attribute.
    pub path: values::Path,
    /// The name of the attribute.
    pub name: Str,
}

impl Block {
    /// Creates a block without a description that is not deprecated.
    pub fn new(
        attributes: SortedMap<Str, Attribute>,
        blocks: SortedMap<Str, NestedBlock>,
    ) -> Block {
        Block { attributes, blocks, ..Block::default() }
    }

    /// The attributes by name.
    pub fn attributes(&self) -> &SortedMap<Str, Attribute> {
        &self.attributes
    }

    /// Returns the block with all required attributes made optional, including those in nested blocks.
    #[must_use]
    pub fn without_required(&self) -> Block {
        let attributes = self.attributes.iter().map(|(name, attribute)| {
            let optional = attribute.optional || attribute.required;
            let attribute = Attribute { required: false, optional, ..attribute.clone() };
            (name.clone(), attribute)
        });
        let blocks = self.blocks.iter().map(|(name, nested)| {
            let block = nested.block.without_required();
            (name.clone(), NestedBlock { block, ..nested.clone() })
        });
        Block {
            attributes: attributes.collect(),
            blocks: blocks.collect(),
            derived: Derived::default(),
            ..self.clone()
        }
    }

    /// The required attributes that a value of the block lacks. Unknown parts are not checked.
    pub fn missing(&self, value: &Value) -> Vec<MissingAttribute> {
        let mut missing = Vec::new();
        self.add_missing(value, &values::Path::root(), &mut missing);
        missing
    }

    fn add_missing(&self, value: &Value, path: &values::Path, missing: &mut Vec<MissingAttribute>) {
        for (step, part) in value.parts() {
            let values::Step::Attr(name) = &step else { continue };
            if self.attributes.get(name).is_some_and(|it| it.required) && part.is_null() {
                missing.push(MissingAttribute { path: path.clone(), name: name.clone() });
            }
            let Some(nested) = self.blocks.get(name) else { continue };
            let path = path.clone().attr(name);
            if matches!(nested.nesting, Nesting::Single | Nesting::Group) {
                nested.block.add_missing(part, &path, missing);
                continue;
            }
            for (step, part) in part.parts() {
                let path = match step {
                    values::Step::Attr(name) => path.clone().attr(name),
                    values::Step::Index(key) => path.clone().index(key),
                };
                nested.block.add_missing(part, &path, missing);
            }
        }
    }

    /// The nested block types by name.
    pub fn blocks(&self) -> &SortedMap<Str, NestedBlock> {
        &self.blocks
    }

    /// The object type of the block's values. A list or map block with a dynamic attribute anywhere inside is
    /// itself dynamic: its values are tuples and objects.
    pub fn implied_type(&self) -> &Type {
        self.derived.implied_type(|| derived::block_type(self))
    }

    /// The implied type for converting user input: inside nested attributes, every attribute that is not required
    /// is optional.
    pub fn decode_type(&self) -> Type {
        derived::block_decode_type(self)
    }

    /// The value of an empty block: attributes are null, lists of blocks are empty, and groups are filled in.
    pub fn empty_value(&self) -> Value {
        self.derived.empty_value(|| derived::empty_block(self))
    }

    /// Returns the attribute at the end of a chain of names. Indexes do not count as names.
    ///
    /// `None` if the names lead to a block, continue below an attribute without nested attributes, or do not
    /// exist.
    pub fn attribute_by_names<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Option<&Attribute> {
        let mut names = names.into_iter();
        let mut block = self;
        loop {
            let name = names.next()?;
            if let Some(attribute) = block.attributes.get(name) {
                return attribute.descend(names);
            }
            block = &block.blocks.get(name)?.block;
        }
    }

    /// Returns the attribute that a path into a value leads to; see [`Block::attribute_by_names`].
    ///
    /// `None` also for a path that ends in an index.
    pub fn attribute_by_path(&self, path: &values::Path) -> Option<&Attribute> {
        match path.steps().last()? {
            values::Step::Index(_) => None,
            values::Step::Attr(_) => self.attribute_by_names(names_of(path)),
        }
    }

    /// Returns true if any attribute in the block is write-only.
    pub fn has_write_only(&self) -> bool {
        self.derived.flags(|| derived::block_flags(self)).write_only
    }

    /// Returns true if any attribute in the block is sensitive.
    pub fn has_sensitive(&self) -> bool {
        self.derived.flags(|| derived::block_flags(self)).sensitive
    }

    /// Returns true if any attribute or block in the block is deprecated.
    pub fn has_deprecated(&self) -> bool {
        self.derived.flags(|| derived::block_flags(self)).deprecated
    }
}

fn names_of(path: &values::Path) -> impl Iterator<Item = &str> {
    path.steps().iter().filter_map(|step| match step {
        values::Step::Attr(name) => Some(&**name),
        values::Step::Index(_) => None,
    })
}

/// An attribute. It is required, optional, computed, or both optional and computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// The type of the attribute, or its nested attributes.
    pub ty: AttributeType,
    /// True if the configuration must set it.
    pub required: bool,
    /// True if the configuration may set it.
    pub optional: bool,
    /// True if the provider may choose the value if the configuration does not set it.
    pub computed: bool,
    /// True if the value must never be shown.
    pub sensitive: bool,
    /// True if the value is sent only with the configuration. It is null in every state and plan.
    pub write_only: bool,
    /// True if the attribute is deprecated.
    pub deprecated: bool,
    /// The provider's advice on a replacement.
    pub deprecation_message: Str,
    /// The description for users.
    pub description: Str,
    /// The format of the description.
    pub description_kind: DescriptionKind,
}

impl Attribute {
    /// Creates an attribute without flags. The caller must set at least one of required, optional and computed.
    pub fn new(ty: AttributeType) -> Attribute {
        Attribute {
            ty,
            required: false,
            optional: false,
            computed: false,
            sensitive: false,
            write_only: false,
            deprecated: false,
            deprecation_message: Str::default(),
            description: Str::default(),
            description_kind: DescriptionKind::default(),
        }
    }

    /// Creates a required attribute.
    pub fn required(ty: Type) -> Attribute {
        Attribute { required: true, ..Attribute::new(AttributeType::Type(ty)) }
    }

    /// Creates an optional attribute.
    pub fn optional(ty: Type) -> Attribute {
        Attribute { optional: true, ..Attribute::new(AttributeType::Type(ty)) }
    }

    /// Creates an attribute that only the provider sets.
    pub fn computed(ty: Type) -> Attribute {
        Attribute { computed: true, ..Attribute::new(AttributeType::Type(ty)) }
    }

    /// Creates an attribute that the provider chooses unless the configuration sets it.
    pub fn optional_computed(ty: Type) -> Attribute {
        Attribute { optional: true, computed: true, ..Attribute::new(AttributeType::Type(ty)) }
    }

    /// The type of the attribute's values.
    pub fn implied_type(&self) -> Type {
        match &self.ty {
            AttributeType::Type(ty) => ty.clone(),
            AttributeType::Nested(object) => object.implied_type().clone(),
        }
    }

    /// The type for converting user input; see [`Block::decode_type`].
    pub fn decode_type(&self) -> Type {
        match &self.ty {
            AttributeType::Type(ty) => ty.clone(),
            AttributeType::Nested(object) => object.decode_type(),
        }
    }

    /// The nested attributes. `None` if the attribute has a plain type.
    pub fn nested(&self) -> Option<&NestedObject> {
        match &self.ty {
            AttributeType::Type(_) => None,
            AttributeType::Nested(object) => Some(object),
        }
    }

    /// Returns true if only the provider sets the attribute.
    pub fn is_computed_only(&self) -> bool {
        self.computed && !self.optional
    }

    fn descend<'a>(&self, mut names: impl Iterator<Item = &'a str>) -> Option<&Attribute> {
        names.try_fold(self, |attribute, name| attribute.nested()?.attributes().get(name))
    }
}

/// The definition of an attribute's type.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeType {
    /// A plain type.
    Type(Type),
    /// Nested attributes with flags of their own (protocol 6 only).
    Nested(NestedObject),
}

/// The nested attributes of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedObject {
    nesting: ObjectNesting,
    attributes: SortedMap<Str, Attribute>,
    derived: Derived,
}

impl NestedObject {
    /// Creates objects with these attributes and this nesting mode.
    pub fn new(nesting: ObjectNesting, attributes: SortedMap<Str, Attribute>) -> NestedObject {
        NestedObject { nesting, attributes, derived: Derived::default() }
    }

    /// The nesting mode: one object or a collection of objects.
    pub fn nesting(&self) -> ObjectNesting {
        self.nesting
    }

    /// The attributes of each object by name.
    pub fn attributes(&self) -> &SortedMap<Str, Attribute> {
        &self.attributes
    }

    /// The type of the attribute that these objects form.
    pub fn implied_type(&self) -> &Type {
        self.derived.implied_type(|| derived::nested_type(self))
    }

    /// The type for converting user input; see [`Block::decode_type`].
    pub fn decode_type(&self) -> Type {
        derived::nested_decode_type(self)
    }

    pub(crate) fn has_write_only(&self) -> bool {
        self.derived.flags(|| derived::nested_flags(self)).write_only
    }

    pub(crate) fn has_sensitive(&self) -> bool {
        self.derived.flags(|| derived::nested_flags(self)).sensitive
    }

    pub(crate) fn has_deprecated(&self) -> bool {
        self.derived.flags(|| derived::nested_flags(self)).deprecated
    }
}

/// The nesting mode of a nested attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectNesting {
    /// One object.
    Single,
    /// A list of objects.
    List,
    /// A set of objects.
    Set,
    /// Objects by key.
    Map,
}

/// A type of nested block.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedBlock {
    /// The content of each block.
    pub block: Block,
    /// The nesting mode.
    pub nesting: Nesting,
    /// The minimum number of blocks.
    pub min_items: i64,
    /// The maximum number of blocks; 0 for no limit.
    pub max_items: i64,
}

impl NestedBlock {
    /// Creates a block type without limits on the number of blocks.
    pub fn new(nesting: Nesting, block: Block) -> NestedBlock {
        NestedBlock { block, nesting, min_items: 0, max_items: 0 }
    }

    /// The type of the value that all blocks of this type form together.
    pub fn implied_type(&self) -> Type {
        derived::nested_block_type(self)
    }

    /// The value if there is no block of this type.
    pub fn empty_value(&self) -> Value {
        derived::empty_nested_block(self)
    }
}

/// The nesting mode of a block type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Nesting {
    /// At most one block; null if there is none.
    Single,
    /// At most one block; an object of nulls if there is none.
    Group,
    /// An ordered list of blocks.
    List,
    /// A set of blocks, without order or duplicates.
    Set,
    /// Blocks with one label each, the key.
    Map,
}

/// The format of a description.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DescriptionKind {
    /// Plain text.
    #[default]
    Plain,
    /// Markdown.
    Markdown,
}

/// The signature of a provider's function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionSignature {
    /// The parameters in order.
    pub parameters: Vec<FunctionParameter>,
    /// The parameter for all further arguments. `None` if the function is not variadic.
    pub variadic: Option<FunctionParameter>,
    /// The type of the result.
    pub returns: Type,
    /// A summary of one line for users.
    pub summary: Str,
    /// The description for users.
    pub description: Str,
    /// The format of the description.
    pub description_kind: DescriptionKind,
    /// The deprecation message. Empty unless the function is deprecated.
    pub deprecation_message: Str,
}

/// One parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionParameter {
    /// The name, for messages.
    pub name: Str,
    /// The type to which the argument is converted.
    pub ty: Type,
    /// True if the provider accepts null.
    pub allow_null_value: bool,
    /// True if the provider accepts a value that is not wholly known.
    pub allow_unknown_values: bool,
    /// The description for users.
    pub description: Str,
    /// The format of the description.
    pub description_kind: DescriptionKind,
}
