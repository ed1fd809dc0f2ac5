mod check;
mod derived;
pub(crate) mod difference;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use values::{Str, Type, Value};

pub use self::check::SchemaProblem;
use self::derived::Derived;

/// Depth at which a schema is refused, so that no walk over it can exhaust the stack.
///
/// The deepest real one (AWS's web firewall rules) nests some twenty levels.
pub(crate) const MAX_DEPTH: usize = 64;

/// The shape of a provider's configuration, or of one of its resource types.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    version: i64,
    block: Block,
}

impl Schema {
    /// A schema of this version of the type's state.
    pub fn new(version: i64, block: Block) -> Schema {
        Schema { version, block }
    }

    /// Version of the state that is written with this schema.
    pub fn version(&self) -> i64 {
        self.version
    }

    /// The outermost block.
    pub fn block(&self) -> &Block {
        &self.block
    }

    /// Type of every value of this schema; the same as [`Block::implied_type`].
    pub fn implied_type(&self) -> &Type {
        self.block.implied_type()
    }

    /// What makes the schema unusable; a provider that has any such schema is refused.
    pub fn problems(&self) -> Vec<SchemaProblem> {
        check::problems(self)
    }

    /// The first write-only attribute inside a set, as `.block.attribute`.
    ///
    /// A type that has one is refused when it is used: an element of a set has no identity but its value, so the
    /// provider's answer could not be checked for the attribute.
    pub fn write_only_in_set(&self) -> Option<String> {
        check::write_only_in_set(&self.block)
    }
}

/// A group of attributes and nested blocks.
///
/// Types that follow from it are computed once, at first use; hence no field of its content can be changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    attributes: BTreeMap<Str, Attribute>,
    blocks: BTreeMap<Str, NestedBlock>,
    /// Text for people.
    pub description: Str,
    /// How to read the description.
    pub description_kind: DescriptionKind,
    /// Says whether the block should no longer be used.
    pub deprecated: bool,
    /// What the provider advises instead.
    pub deprecation_message: Str,
    derived: Derived,
}

impl Block {
    /// A block without description that is not deprecated.
    pub fn new(attributes: BTreeMap<Str, Attribute>, blocks: BTreeMap<Str, NestedBlock>) -> Block {
        Block { attributes, blocks, ..Block::default() }
    }

    /// Attributes by name.
    pub fn attributes(&self) -> &BTreeMap<Str, Attribute> {
        &self.attributes
    }

    /// The block with optional attributes in place of the required ones, nested blocks included.
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

    /// The required attributes that a value of the block lacks, each with the part of the value that lacks it. Nothing is said
    /// of what is not known.
    pub fn missing(&self, value: &Value) -> Vec<(values::Path, Str)> {
        let mut missing = Vec::new();
        self.add_missing(value, &values::Path::root(), &mut missing);
        missing
    }

    fn add_missing(
        &self,
        value: &Value,
        path: &values::Path,
        missing: &mut Vec<(values::Path, Str)>,
    ) {
        for (step, part) in value.parts() {
            let values::Step::Attr(name) = &step else { continue };
            if self.attributes.get(name).is_some_and(|it| it.required) && part.is_null() {
                missing.push((path.clone(), name.clone()));
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

    /// Nested block types by name.
    pub fn blocks(&self) -> &BTreeMap<Str, NestedBlock> {
        &self.blocks
    }

    /// The object type of the block's values (`protocol.md` 4.2). A list or map block with a dynamic attribute
    /// anywhere inside is itself dynamic: its values are tuples and objects.
    pub fn implied_type(&self) -> &Type {
        self.derived.implied_type(|| derived::block_type(self))
    }

    /// The implied type for converting what a user wrote: inside nested attributes, all that need not be set is
    /// optional.
    pub fn decode_type(&self) -> Type {
        derived::block_decode_type(self)
    }

    /// The value of a block in which nothing is written: attributes null, lists of blocks empty, groups filled in.
    pub fn empty_value(&self) -> Value {
        self.derived.empty_value(|| derived::empty_block(self))
    }

    /// The attribute that a chain of names leads to. Indexes do not count as names.
    ///
    /// Gives nothing where the names lead to a block, past an attribute without nested attributes, or nowhere.
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

    /// The attribute that a path into a value leads to; see [`Block::attribute_by_names`].
    ///
    /// Also gives nothing for a path that ends in an index.
    pub fn attribute_by_path(&self, path: &values::Path) -> Option<&Attribute> {
        match path.steps().last()? {
            values::Step::Index(_) => None,
            values::Step::Attr(_) => self.attribute_by_names(names_of(path)),
        }
    }

    /// Says whether an attribute anywhere inside is write-only.
    pub fn has_write_only(&self) -> bool {
        self.derived.flags(|| derived::block_flags(self)).write_only
    }

    /// Says whether an attribute anywhere inside is sensitive.
    pub fn has_sensitive(&self) -> bool {
        self.derived.flags(|| derived::block_flags(self)).sensitive
    }

    /// Says whether an attribute or block anywhere inside is deprecated.
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

/// One attribute. Exactly one of required, optional, computed, or both of optional and computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// Its type, or the attributes inside it.
    pub ty: AttributeType,
    /// The configuration must set it.
    pub required: bool,
    /// The configuration may set it.
    pub optional: bool,
    /// The provider may choose it where the configuration does not set it.
    pub computed: bool,
    /// Never shown.
    pub sensitive: bool,
    /// Given to the provider with the configuration only; null in every state and plan.
    pub write_only: bool,
    /// Should no longer be used.
    pub deprecated: bool,
    /// What the provider advises instead.
    pub deprecation_message: Str,
    /// Text for people.
    pub description: Str,
    /// How to read the description.
    pub description_kind: DescriptionKind,
}

impl Attribute {
    /// An attribute with no flag set; the caller sets at least one of required, optional and computed.
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

    /// A required attribute.
    pub fn required(ty: Type) -> Attribute {
        Attribute { required: true, ..Attribute::new(AttributeType::Type(ty)) }
    }

    /// An optional attribute.
    pub fn optional(ty: Type) -> Attribute {
        Attribute { optional: true, ..Attribute::new(AttributeType::Type(ty)) }
    }

    /// An attribute that only the provider sets.
    pub fn computed(ty: Type) -> Attribute {
        Attribute { computed: true, ..Attribute::new(AttributeType::Type(ty)) }
    }

    /// An attribute that the provider chooses unless the configuration sets it.
    pub fn optional_computed(ty: Type) -> Attribute {
        Attribute { optional: true, computed: true, ..Attribute::new(AttributeType::Type(ty)) }
    }

    /// Type of the attribute's values.
    pub fn implied_type(&self) -> Type {
        match &self.ty {
            AttributeType::Type(ty) => ty.clone(),
            AttributeType::Nested(object) => object.implied_type().clone(),
        }
    }

    /// Type for converting what a user wrote; see [`Block::decode_type`].
    pub fn decode_type(&self) -> Type {
        match &self.ty {
            AttributeType::Type(ty) => ty.clone(),
            AttributeType::Nested(object) => object.decode_type(),
        }
    }

    /// The attributes inside, if its type is made of such.
    pub fn nested(&self) -> Option<&NestedObject> {
        match &self.ty {
            AttributeType::Type(_) => None,
            AttributeType::Nested(object) => Some(object),
        }
    }

    /// Says whether only the provider sets it.
    pub fn is_computed_only(&self) -> bool {
        self.computed && !self.optional
    }

    fn descend<'a>(&self, mut names: impl Iterator<Item = &'a str>) -> Option<&Attribute> {
        names.try_fold(self, |attribute, name| attribute.nested()?.attributes().get(name))
    }
}

/// Where an attribute's type comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeType {
    /// A type.
    Type(Type),
    /// Attributes with flags of their own (protocol 6 only).
    Nested(NestedObject),
}

/// The attributes inside an attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedObject {
    nesting: ObjectNesting,
    attributes: BTreeMap<Str, Attribute>,
    derived: Derived,
}

impl NestedObject {
    /// Objects with these attributes, in this arrangement.
    pub fn new(nesting: ObjectNesting, attributes: BTreeMap<Str, Attribute>) -> NestedObject {
        NestedObject { nesting, attributes, derived: Derived::default() }
    }

    /// One object or a collection of them.
    pub fn nesting(&self) -> ObjectNesting {
        self.nesting
    }

    /// Attributes of each object, by name.
    pub fn attributes(&self) -> &BTreeMap<Str, Attribute> {
        &self.attributes
    }

    /// Type of the attribute that is made of these objects.
    pub fn implied_type(&self) -> &Type {
        self.derived.implied_type(|| derived::nested_type(self))
    }

    /// Type for converting what a user wrote; see [`Block::decode_type`].
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

/// How the objects of a nested attribute are arranged.
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
    /// What is inside each block.
    pub block: Block,
    /// How blocks of this type are arranged.
    pub nesting: Nesting,
    /// The least number of blocks.
    pub min_items: i64,
    /// The greatest number of blocks; 0 for no limit.
    pub max_items: i64,
}

impl NestedBlock {
    /// A block type without limits on its number.
    pub fn new(nesting: Nesting, block: Block) -> NestedBlock {
        NestedBlock { block, nesting, min_items: 0, max_items: 0 }
    }

    /// Type of the value that all blocks of this type make together.
    pub fn implied_type(&self) -> Type {
        derived::nested_block_type(self)
    }

    /// The value where there is no block of this type.
    pub fn empty_value(&self) -> Value {
        derived::empty_nested_block(self)
    }
}

/// How blocks of one type are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Nesting {
    /// At most one block; null where there is none.
    Single,
    /// At most one block; an object of nulls where there is none.
    Group,
    /// Blocks in order.
    List,
    /// Blocks without order or repetition.
    Set,
    /// Blocks with a label each.
    Map,
}

/// How to read a description.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DescriptionKind {
    /// Plain text.
    #[default]
    Plain,
    /// Markdown.
    Markdown,
}

/// What a function of a provider takes and gives.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionSignature {
    /// Parameters in order.
    pub parameters: Vec<FunctionParameter>,
    /// The parameter that takes all further arguments.
    pub variadic: Option<FunctionParameter>,
    /// Type of the result.
    pub returns: Type,
    /// One line for people.
    pub summary: Str,
    /// Text for people.
    pub description: Str,
    /// How to read the description.
    pub description_kind: DescriptionKind,
    /// Not empty where the function should no longer be used.
    pub deprecation_message: Str,
}

/// One parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionParameter {
    /// Name, for messages.
    pub name: Str,
    /// Type to which the argument is converted.
    pub ty: Type,
    /// Whether the provider takes null.
    pub allow_null_value: bool,
    /// Whether the provider takes a value that is not wholly known.
    pub allow_unknown_values: bool,
    /// Text for people.
    pub description: Str,
    /// How to read the description.
    pub description_kind: DescriptionKind,
}
