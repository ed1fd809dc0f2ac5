use std::sync::{Arc, OnceLock};

use sha2::{Digest as _, Sha256};
use sorted::SortedMap;
use values::{ObjectType, Str, Type};

use super::{
    CacheError, ExecutableHash, Family, MAGIC, MAX_DEPTH, VERSION, attribute_flags,
    capability_flags, doc_flags, nesting_tags, type_tags,
};
use crate::schema::{
    Attribute, AttributeType, Block, DescriptionKind, FunctionParameter, FunctionSignature,
    NestedBlock, NestedObject, Nesting, ObjectNesting, Schema,
};
use crate::schemas::Capabilities;

/// An entry of the schema cache. Each schema is checked and decoded at its first use.
pub struct CachedSchemas {
    blobs: Blobs,
    capabilities: Capabilities,
    provider: Place,
    provider_meta: Place,
    functions: Place,
    managed: Index,
    data: Index,
    ephemeral: Index,
    identities: Index,
}

type Index = SortedMap<Str, Entry>;
type Decoded = Result<Arc<Schema>, CacheError>;

struct Entry {
    place: Place,
    schema: OnceLock<Decoded>,
}

struct Place {
    offset: usize,
    length: usize,
    hash: [u8; 32],
}

struct Blobs {
    bytes: Arc<[u8]>,
    start: usize,
}

impl Blobs {
    /// Returns the blob at a place after checking its hash.
    fn get(&self, place: &Place) -> Result<&[u8], CacheError> {
        let start = self.start.checked_add(place.offset);
        let end = start.and_then(|start| start.checked_add(place.length));
        let blob = start.zip(end).and_then(|(start, end)| self.bytes.get(start..end));
        let blob = blob.ok_or(CacheError::Malformed("place outside of the entry"))?;
        if Sha256::digest(blob)[..] != place.hash {
            return Err(CacheError::Damaged("schema"));
        }
        Ok(blob)
    }

    fn schema(&self, place: &Place) -> Result<Schema, CacheError> {
        decode(self.get(place)?, Decoder::schema)
    }
}

const HEADER: usize = MAGIC.len() + 4 + 32 + 8 + 8;

impl CachedSchemas {
    /// Opens an entry: checks its header and index, and that it belongs to this executable.
    ///
    /// # Errors
    /// If the entry belongs to another executable or is damaged.
    pub fn open(
        bytes: impl Into<Arc<[u8]>>,
        executable: &ExecutableHash,
    ) -> Result<CachedSchemas, CacheError> {
        let bytes: Arc<[u8]> = bytes.into();
        let (header, rest) = bytes.split_at_checked(HEADER).ok_or(CacheError::Format)?;
        let index_length = check_header(header, rest.len(), executable)?;
        let (hash, rest) = rest.split_at_checked(32).ok_or(CacheError::Format)?;
        let index = rest.get(..index_length).ok_or(CacheError::Malformed("length of the index"))?;
        let actual = Sha256::new().chain_update(header).chain_update(index).finalize();
        if actual[..] != *hash {
            return Err(CacheError::Damaged("index"));
        }
        let index = decode(index, Decoder::index)?;
        let start = HEADER + 32 + index_length;
        Ok(index.schemas(Blobs { bytes, start }))
    }

    /// The optional capabilities of the provider.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// The schema of the provider configuration.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn provider(&self) -> Result<Schema, CacheError> {
        self.blobs.schema(&self.provider)
    }

    /// The schema of the `provider_meta` block. `None` if the provider has none.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn provider_meta(&self) -> Result<Option<Schema>, CacheError> {
        match self.blobs.get(&self.provider_meta)? {
            [] => Ok(None),
            blob => decode(blob, Decoder::schema).map(Some),
        }
    }

    /// All functions.
    ///
    /// # Errors
    /// If they are damaged.
    pub fn functions(&self) -> Result<SortedMap<Str, FunctionSignature>, CacheError> {
        decode(self.blobs.get(&self.functions)?, Decoder::functions)
    }

    /// The schema of a managed resource type.
    pub fn managed(&self, type_name: &str) -> Option<Result<Arc<Schema>, CacheError>> {
        self.lookup(Family::Managed, type_name)
    }

    /// The schema of a data source.
    pub fn data(&self, type_name: &str) -> Option<Result<Arc<Schema>, CacheError>> {
        self.lookup(Family::Data, type_name)
    }

    /// The schema of an ephemeral resource type.
    pub fn ephemeral(&self, type_name: &str) -> Option<Result<Arc<Schema>, CacheError>> {
        self.lookup(Family::Ephemeral, type_name)
    }

    /// The schema of a managed resource type's identity.
    pub fn identity(&self, type_name: &str) -> Option<Result<Arc<Schema>, CacheError>> {
        self.lookup(Family::Identity, type_name)
    }

    /// The names of the managed resource types in order.
    pub fn managed_types(&self) -> impl Iterator<Item = &str> {
        self.managed.keys().map(|name| &**name)
    }

    /// The names of the data sources in order.
    pub fn data_types(&self) -> impl Iterator<Item = &str> {
        self.data.keys().map(|name| &**name)
    }

    /// The names of the ephemeral resource types in order.
    pub fn ephemeral_types(&self) -> impl Iterator<Item = &str> {
        self.ephemeral.keys().map(|name| &**name)
    }

    /// The names of the managed resource types with an identity, in order.
    pub fn identity_types(&self) -> impl Iterator<Item = &str> {
        self.identities.keys().map(|name| &**name)
    }

    /// The damaged schemas among those that were used so far, by type.
    pub fn damage(&self) -> Vec<(Str, CacheError)> {
        let entries = Family::ALL.into_iter().flat_map(|family| self.index(family));
        entries
            .filter_map(|(name, entry)| match entry.schema.get() {
                Some(Err(error)) => Some((name.clone(), error.clone())),
                _ => None,
            })
            .collect()
    }

    fn index(&self, family: Family) -> &Index {
        match family {
            Family::Managed => &self.managed,
            Family::Data => &self.data,
            Family::Ephemeral => &self.ephemeral,
            Family::Identity => &self.identities,
        }
    }

    fn lookup(&self, family: Family, type_name: &str) -> Option<Decoded> {
        let entry = self.index(family).get(type_name)?;
        let decode = || self.blobs.schema(&entry.place).map(Arc::new);
        Some(entry.schema.get_or_init(decode).clone())
    }
}

/// Checks the header before the index hash, and returns the length of the index.
fn check_header(
    header: &[u8],
    rest: usize,
    executable: &ExecutableHash,
) -> Result<usize, CacheError> {
    let mut input = Decoder { rest: header, depth: 0 };
    if input.take(MAGIC.len())? != MAGIC || input.take(4)? != VERSION.to_le_bytes() {
        return Err(CacheError::Format);
    }
    if input.take(32)? != executable {
        return Err(CacheError::Executable);
    }
    let index = input.fixed_length()?;
    let blobs = input.fixed_length()?;
    let expected = index.checked_add(blobs).and_then(|it| it.checked_add(32));
    if expected != Some(rest) {
        return Err(CacheError::Malformed("length of the entry"));
    }
    Ok(index)
}

struct DecodedIndex {
    capabilities: Capabilities,
    single: [Place; 3],
    families: [Index; 4],
}

impl DecodedIndex {
    fn schemas(self, blobs: Blobs) -> CachedSchemas {
        let [provider, provider_meta, functions] = self.single;
        let [managed, data, ephemeral, identities] = self.families;
        let capabilities = self.capabilities;
        CachedSchemas {
            blobs,
            capabilities,
            provider,
            provider_meta,
            functions,
            managed,
            data,
            ephemeral,
            identities,
        }
    }
}

/// Decodes a value that must take up all of the bytes.
fn decode<'a, T>(
    bytes: &'a [u8],
    read: impl FnOnce(&mut Decoder<'a>) -> Result<T, CacheError>,
) -> Result<T, CacheError> {
    let mut input = Decoder { rest: bytes, depth: 0 };
    let decoded = read(&mut input)?;
    match input.rest {
        [] => Ok(decoded),
        _ => Err(CacheError::Malformed("trailing bytes")),
    }
}

struct Decoder<'a> {
    rest: &'a [u8],
    depth: usize,
}

impl<'a> Decoder<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], CacheError> {
        let (taken, rest) =
            self.rest.split_at_checked(length).ok_or(CacheError::Malformed("early end"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, CacheError> {
        Ok(self.take(1)?[0])
    }

    fn flags(&mut self, known: u8) -> Result<u8, CacheError> {
        match self.byte()? {
            flags if flags & !known == 0 => Ok(flags),
            _ => Err(CacheError::Malformed("flags")),
        }
    }

    fn bool(&mut self) -> Result<bool, CacheError> {
        Ok(self.flags(1)? == 1)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], CacheError> {
        self.take(N)?.try_into().map_err(|_| CacheError::Malformed("early end"))
    }

    fn signed(&mut self) -> Result<i64, CacheError> {
        Ok(i64::from_le_bytes(self.array()?))
    }

    fn fixed_length(&mut self) -> Result<usize, CacheError> {
        let length = u64::from_le_bytes(self.array()?);
        usize::try_from(length).map_err(|_| CacheError::Malformed("length"))
    }

    fn unsigned(&mut self) -> Result<u64, CacheError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits != 0 && bits.leading_zeros() < shift {
                break;
            }
            number |= bits << shift;
            // A last byte of zero is an error, because each number has exactly one encoding.
            if byte == 0 && shift > 0 {
                break;
            }
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(CacheError::Malformed("number"))
    }

    fn length(&mut self) -> Result<usize, CacheError> {
        usize::try_from(self.unsigned()?).map_err(|_| CacheError::Malformed("length"))
    }

    /// A number of items. Each item takes at least one byte, so a number beyond the rest of the input is an error.
    fn count(&mut self) -> Result<usize, CacheError> {
        match self.length()? {
            count if count <= self.rest.len() => Ok(count),
            _ => Err(CacheError::Malformed("count")),
        }
    }

    fn text(&mut self) -> Result<Str, CacheError> {
        let length = self.length()?;
        let text = str::from_utf8(self.take(length)?);
        text.map(Str::from).map_err(|_| CacheError::Malformed("text"))
    }

    fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Decoder<'a>) -> Result<T, CacheError>,
    ) -> Result<T, CacheError> {
        if self.depth == MAX_DEPTH {
            return Err(CacheError::TooDeep);
        }
        self.depth += 1;
        let decoded = read(self)?;
        self.depth -= 1;
        Ok(decoded)
    }

    /// Reads items by name. Their names must be sorted and unique, as the encoder writes them.
    fn named<T>(
        &mut self,
        mut read: impl FnMut(&mut Decoder<'a>) -> Result<T, CacheError>,
    ) -> Result<SortedMap<Str, T>, CacheError> {
        let mut named: SortedMap<Str, T> = SortedMap::new();
        for _ in 0..self.count()? {
            let name = self.text()?;
            if named.last().is_some_and(|(last, _)| *last >= name) {
                return Err(CacheError::Malformed("order of names"));
            }
            let thing = read(self)?;
            named.insert(name, thing);
        }
        Ok(named)
    }

    fn index(&mut self) -> Result<DecodedIndex, CacheError> {
        use capability_flags::{MOVE_STATE, PLAN_DESTROY, SCHEMA_OPTIONAL};
        let flags = self.flags(PLAN_DESTROY | SCHEMA_OPTIONAL | MOVE_STATE)?;
        let capabilities = Capabilities {
            plan_destroy: flags & PLAN_DESTROY != 0,
            get_provider_schema_optional: flags & SCHEMA_OPTIONAL != 0,
            move_resource_state: flags & MOVE_STATE != 0,
        };
        let single = [self.place()?, self.place()?, self.place()?];
        let mut family =
            || self.named(|this| Ok(Entry { place: this.place()?, schema: OnceLock::new() }));
        let families = [family()?, family()?, family()?, family()?];
        Ok(DecodedIndex { capabilities, single, families })
    }

    fn place(&mut self) -> Result<Place, CacheError> {
        Ok(Place { offset: self.length()?, length: self.length()?, hash: self.array()? })
    }

    fn schema(&mut self) -> Result<Schema, CacheError> {
        let version = self.signed()?;
        Ok(Schema::new(version, self.block()?))
    }

    fn block(&mut self) -> Result<Block, CacheError> {
        let flags = self.flags(doc_flags::DEPRECATED | doc_flags::MARKDOWN)?;
        let description = self.text()?;
        let deprecation_message = self.text()?;
        let attributes = self.named(Decoder::attribute)?;
        let blocks = self.named(Decoder::nested_block)?;
        let mut block = Block::new(attributes, blocks);
        block.deprecated = flags & doc_flags::DEPRECATED != 0;
        block.description_kind = description_kind(flags, doc_flags::MARKDOWN);
        block.description = description;
        block.deprecation_message = deprecation_message;
        Ok(block)
    }

    fn nested_block(&mut self) -> Result<NestedBlock, CacheError> {
        let nesting = match self.byte()? {
            nesting_tags::SINGLE => Nesting::Single,
            nesting_tags::GROUP => Nesting::Group,
            nesting_tags::LIST => Nesting::List,
            nesting_tags::SET => Nesting::Set,
            nesting_tags::MAP => Nesting::Map,
            _ => return Err(CacheError::Malformed("nesting")),
        };
        let (min_items, max_items) = (self.signed()?, self.signed()?);
        let block = self.deeper(Decoder::block)?;
        Ok(NestedBlock { block, nesting, min_items, max_items })
    }

    fn attribute(&mut self) -> Result<Attribute, CacheError> {
        let flags = self.byte()?;
        let has = |bit: u8| flags & bit != 0;
        let description = self.text()?;
        let deprecation_message = self.text()?;
        let ty = match has(attribute_flags::NESTED) {
            true => AttributeType::Nested(self.deeper(Decoder::nested_object)?),
            false => AttributeType::Type(self.ty()?),
        };
        Ok(Attribute {
            ty,
            required: has(attribute_flags::REQUIRED),
            optional: has(attribute_flags::OPTIONAL),
            computed: has(attribute_flags::COMPUTED),
            sensitive: has(attribute_flags::SENSITIVE),
            write_only: has(attribute_flags::WRITE_ONLY),
            deprecated: has(attribute_flags::DEPRECATED),
            deprecation_message,
            description,
            description_kind: description_kind(flags, attribute_flags::MARKDOWN),
        })
    }

    fn nested_object(&mut self) -> Result<NestedObject, CacheError> {
        let nesting = match self.byte()? {
            nesting_tags::SINGLE => ObjectNesting::Single,
            nesting_tags::LIST => ObjectNesting::List,
            nesting_tags::SET => ObjectNesting::Set,
            nesting_tags::MAP => ObjectNesting::Map,
            _ => return Err(CacheError::Malformed("nesting")),
        };
        Ok(NestedObject::new(nesting, self.named(Decoder::attribute)?))
    }

    fn ty(&mut self) -> Result<Type, CacheError> {
        Ok(match self.byte()? {
            type_tags::DYNAMIC => Type::Dynamic,
            type_tags::BOOL => Type::Bool,
            type_tags::NUMBER => Type::Number,
            type_tags::STRING => Type::String,
            type_tags::LIST => Type::list(self.deeper(Decoder::ty)?),
            type_tags::SET => Type::set(self.deeper(Decoder::ty)?),
            type_tags::MAP => Type::map(self.deeper(Decoder::ty)?),
            type_tags::TUPLE => self.tuple()?,
            type_tags::OBJECT => self.object()?,
            _ => return Err(CacheError::Malformed("type")),
        })
    }

    fn tuple(&mut self) -> Result<Type, CacheError> {
        let count = self.count()?;
        let elements: Vec<Type> =
            self.deeper(|this| (0..count).map(|_| this.ty()).collect::<Result<_, _>>())?;
        Ok(Type::tuple(elements))
    }

    fn object(&mut self) -> Result<Type, CacheError> {
        let attributes = self.deeper(|this| this.named(|this| Ok((this.bool()?, this.ty()?))))?;
        let optional = attributes.iter().filter(|(_, (optional, _))| *optional);
        let names: Vec<Str> = optional.map(|(name, _)| name.clone()).collect();
        let types = attributes.into_iter().map(|(name, (_, ty))| (name, ty));
        Ok(Type::Object(Arc::new(ObjectType::new(types).with_optional(names))))
    }

    fn functions(&mut self) -> Result<SortedMap<Str, FunctionSignature>, CacheError> {
        self.named(Decoder::function)
    }

    fn function(&mut self) -> Result<FunctionSignature, CacheError> {
        let flags = self.flags(doc_flags::MARKDOWN)?;
        let summary = self.text()?;
        let description = self.text()?;
        let deprecation_message = self.text()?;
        let returns = self.ty()?;
        let count = self.count()?;
        let parameters = (0..count).map(|_| self.parameter()).collect::<Result<_, _>>()?;
        let variadic = match self.bool()? {
            true => Some(self.parameter()?),
            false => None,
        };
        Ok(FunctionSignature {
            parameters,
            variadic,
            returns,
            summary,
            description,
            description_kind: description_kind(flags, doc_flags::MARKDOWN),
            deprecation_message,
        })
    }

    fn parameter(&mut self) -> Result<FunctionParameter, CacheError> {
        use doc_flags::{ALLOW_NULL, ALLOW_UNKNOWN, MARKDOWN};
        let name = self.text()?;
        let flags = self.flags(MARKDOWN | ALLOW_NULL | ALLOW_UNKNOWN)?;
        let description = self.text()?;
        Ok(FunctionParameter {
            name,
            ty: self.ty()?,
            allow_null_value: flags & ALLOW_NULL != 0,
            allow_unknown_values: flags & ALLOW_UNKNOWN != 0,
            description,
            description_kind: description_kind(flags, MARKDOWN),
        })
    }
}

fn description_kind(flags: u8, bit: u8) -> DescriptionKind {
    if flags & bit == 0 { DescriptionKind::Plain } else { DescriptionKind::Markdown }
}

/// Decodes one schema, which must take up all of the bytes.
pub(crate) fn schema_from(bytes: &[u8]) -> Result<Schema, CacheError> {
    decode(bytes, Decoder::schema)
}
