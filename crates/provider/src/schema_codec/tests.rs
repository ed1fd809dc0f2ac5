use std::sync::Arc;

use sorted::SortedMap;
use values::{Str, Type};

use super::{CacheError, CachedSchemas, encode};
use crate::schema::{
    Attribute, AttributeType, Block, DescriptionKind, FunctionParameter, FunctionSignature,
    NestedBlock, NestedObject, Nesting, ObjectNesting, Schema,
};
use crate::schemas::{Capabilities, ProviderSchemas, SchemaTypes};

const EXECUTABLE: [u8; 32] = [7; 32];

fn named<T>(entries: impl IntoIterator<Item = (&'static str, T)>) -> SortedMap<Str, T> {
    entries.into_iter().map(|(name, it)| (Str::from(name), it)).collect()
}

fn rich_schema() -> Schema {
    let secret = Attribute {
        sensitive: true,
        write_only: true,
        deprecated: true,
        deprecation_message: "use b".into(),
        description: "*secret*".into(),
        description_kind: DescriptionKind::Markdown,
        ..Attribute::optional(Type::String)
    };
    let all_types = Type::tuple([
        Type::Dynamic,
        Type::Bool,
        Type::Number,
        Type::list(Type::set(Type::map(Type::String))),
        Type::object([("é", Type::String), ("b", Type::Bool)]),
    ]);
    let nested = |nesting| {
        let inner = named([("inner", secret.clone()), ("n", Attribute::computed(Type::Number))]);
        let object = NestedObject::new(nesting, inner);
        Attribute { required: true, ..Attribute::new(AttributeType::Nested(object)) }
    };
    let attributes = named([
        ("all", Attribute::optional_computed(all_types)),
        ("list", nested(ObjectNesting::List)),
        ("map", nested(ObjectNesting::Map)),
        ("secret", secret.clone()),
        ("set", nested(ObjectNesting::Set)),
        ("single", nested(ObjectNesting::Single)),
    ]);
    let mut inner = Block::new(named([("secret", secret)]), SortedMap::new());
    inner.deprecated = true;
    inner.deprecation_message = "gone".into();
    let block = |nesting| NestedBlock {
        min_items: 1,
        max_items: i64::MAX,
        ..NestedBlock::new(nesting, inner.clone())
    };
    let blocks = named([
        ("a_group", block(Nesting::Group)),
        ("a_list", block(Nesting::List)),
        ("a_map", block(Nesting::Map)),
        ("a_set", block(Nesting::Set)),
        ("a_single", block(Nesting::Single)),
    ]);
    Schema::new(-3, Block::new(attributes, blocks))
}

fn function() -> FunctionSignature {
    let parameter = FunctionParameter {
        name: "x".into(),
        ty: Type::list(Type::Dynamic),
        allow_null_value: true,
        allow_unknown_values: true,
        description: "d".into(),
        description_kind: DescriptionKind::Markdown,
    };
    FunctionSignature {
        parameters: vec![
            parameter.clone(),
            FunctionParameter { allow_null_value: false, ..parameter.clone() },
        ],
        variadic: Some(parameter),
        returns: Type::Bool,
        summary: "s".into(),
        description: "d".into(),
        description_kind: DescriptionKind::Plain,
        deprecation_message: "m".into(),
    }
}

fn types() -> SchemaTypes {
    let simple = Arc::new(Schema::new(0, Block::default()));
    let rich = Arc::new(rich_schema());
    SchemaTypes {
        managed: named([("t_rich", rich.clone()), ("t_simple", simple.clone())]),
        data: named([("t_data", rich)]),
        ephemeral: named([("t_eph", simple.clone())]),
        identities: named([("t_rich", simple)]),
    }
}

fn schemas() -> ProviderSchemas {
    let capabilities = Capabilities { plan_destroy: true, ..Capabilities::default() };
    let functions = named([("f", function())]);
    let mut schemas = ProviderSchemas::new(rich_schema(), types(), functions, capabilities);
    schemas.provider_meta = Some(Arc::new(Schema::new(1, Block::default())));
    schemas
}

fn entry() -> Vec<u8> {
    encode(&schemas(), &EXECUTABLE).expect("the schemas are shallow")
}

#[test]
fn cached_schemas_round_trip() {
    let cache = CachedSchemas::open(entry(), &EXECUTABLE).expect("a fresh entry opens");
    let read = ProviderSchemas::from_cache(cache).expect("a fresh entry decodes");
    let (original, types) = (schemas(), types());
    assert_eq!(read.provider, original.provider);
    assert_eq!(read.provider_meta, original.provider_meta);
    assert_eq!(read.functions, original.functions);
    assert_eq!(read.capabilities, original.capabilities);
    assert_eq!(read.managed_types().collect::<Vec<_>>(), ["t_rich", "t_simple"]);
    assert_eq!(read.data_types().collect::<Vec<_>>(), ["t_data"]);
    assert_eq!(read.ephemeral_types().collect::<Vec<_>>(), ["t_eph"]);
    assert_eq!(read.identity_types().collect::<Vec<_>>(), ["t_rich"]);
    assert_eq!(read.managed("t_rich").as_ref(), types.managed.get("t_rich"));
    assert_eq!(read.managed("t_simple").as_ref(), types.managed.get("t_simple"));
    assert_eq!(read.data("t_data").as_ref(), types.data.get("t_data"));
    assert_eq!(read.ephemeral("t_eph").as_ref(), types.ephemeral.get("t_eph"));
    assert_eq!(read.identity("t_rich").as_ref(), types.identities.get("t_rich"));
    assert_eq!(read.managed("t_none"), None);
    assert!(read.damage().is_empty());
    assert_eq!(encode(&read, &EXECUTABLE).expect("it was written before"), entry());
}

#[test]
fn cached_schema_is_decoded_once() {
    let cache = CachedSchemas::open(entry(), &EXECUTABLE).expect("a fresh entry opens");
    let ask = || cache.managed("t_rich").expect("it is there").expect("it is not damaged");
    assert!(Arc::ptr_eq(&ask(), &ask()));
}

/// Opens an entry and decodes everything in it.
fn decode_all(bytes: Vec<u8>) -> Result<(), CacheError> {
    let cache = CachedSchemas::open(bytes, &EXECUTABLE)?;
    cache.provider()?;
    cache.provider_meta()?;
    cache.functions()?;
    for name in cache.managed_types() {
        cache.managed(name).expect("it is in the index")?;
    }
    for name in cache.data_types() {
        cache.data(name).expect("it is in the index")?;
    }
    for name in cache.ephemeral_types() {
        cache.ephemeral(name).expect("it is in the index")?;
    }
    for name in cache.identity_types() {
        cache.identity(name).expect("it is in the index")?;
    }
    Ok(())
}

#[test]
fn flipped_bit_in_a_cache_entry_is_an_error() {
    let entry = entry();
    for position in 0..entry.len() {
        let mut bytes = entry.clone();
        bytes[position] ^= 1 << (position % 8);
        assert!(decode_all(bytes).is_err(), "byte {position}");
    }
}

#[test]
fn truncated_or_extended_cache_entry_is_an_error() {
    let entry = entry();
    for length in 0..entry.len() {
        assert!(decode_all(entry[..length].to_vec()).is_err(), "length {length}");
    }
    let mut longer = entry;
    longer.push(0);
    assert_eq!(decode_all(longer), Err(CacheError::Malformed("length of the entry")));
}

#[test]
fn cache_entry_of_another_executable_is_an_error() {
    let opened = CachedSchemas::open(entry(), &[8; 32]);
    assert_eq!(opened.err(), Some(CacheError::Executable));
}

#[test]
fn damaged_cached_type_is_reported_and_others_stay_usable() {
    let mut bytes = entry();
    let position = bytes.len() - 1;
    bytes[position] ^= 1;
    let cache = CachedSchemas::open(bytes, &EXECUTABLE).expect("the index is whole");
    let read = ProviderSchemas::from_cache(cache).expect("the provider's own schema is whole");
    assert!(read.managed("t_rich").is_some());
    assert_eq!(read.identity("t_rich"), None);
    assert_eq!(read.damage(), [("t_rich".into(), CacheError::Damaged("schema"))]);
}

/// Decoding terminates for every blob, and a decoded schema is encoded to the same bytes.
#[test]
fn cached_schema_bytes_decode_exactly_or_fail() {
    let blob = super::write::schema_bytes(&rich_schema()).expect("it is shallow");
    assert_eq!(super::read::schema_from(&blob), Ok(rich_schema()));
    for position in 0..blob.len() {
        for bit in 0..8 {
            let mut bytes = blob.clone();
            bytes[position] ^= 1 << bit;
            if let Ok(schema) = super::read::schema_from(&bytes) {
                assert_eq!(super::write::schema_bytes(&schema), Ok(bytes), "byte {position}");
            }
        }
    }
}

#[test]
fn cached_number_has_one_encoding() {
    let blob =
        super::write::schema_bytes(&Schema::new(0, Block::default())).expect("it is shallow");
    assert_eq!(blob.last(), Some(&0), "no blocks");
    let longer = [&blob[..blob.len() - 1], &[0x80, 0]].concat();
    assert_eq!(super::read::schema_from(&longer), Err(CacheError::Malformed("number")));
}

#[test]
fn schema_cache_refuses_excessive_depth_when_writing_and_reading() {
    let mut deep = Type::String;
    for _ in 0..200 {
        deep = Type::list(deep);
    }
    let attributes = named([("deep", Attribute::optional(deep))]);
    let schema = Schema::new(0, Block::new(attributes, SortedMap::new()));
    assert_eq!(super::write::schema_bytes(&schema), Err(CacheError::TooDeep));
    let mut blob = vec![0; 8];
    blob.extend([0, 0, 0, 1, 1, b'a', 2, 0, 0]);
    blob.extend(std::iter::repeat_n(super::type_tags::LIST, 1_000_000));
    assert_eq!(super::read::schema_from(&blob), Err(CacheError::TooDeep));
}

#[test]
fn cached_schema_of_maximal_depth_is_decoded() {
    let mut block = Block::default();
    for _ in 0..crate::schema::MAX_DEPTH {
        block =
            Block::new(SortedMap::new(), named([("b", NestedBlock::new(Nesting::List, block))]));
    }
    let schema = Schema::new(0, block);
    assert_eq!(schema.problems(), []);
    let blob = super::write::schema_bytes(&schema).expect("it is not too deep");
    assert_eq!(super::read::schema_from(&blob), Ok(schema));
}
