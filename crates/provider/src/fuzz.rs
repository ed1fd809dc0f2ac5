//! Properties that hold for all bytes that are read as a schema from the cache. The fuzz targets (`fuzz/`) and
//! `tests/hostile` run this function.

use crate::schema_codec;

/// Checks that decoding is exact: bytes either are an error or equal the encoding of the schema that was read from
/// them.
///
/// # Panics
///
/// If the property does not hold.
pub fn check_cached_schema(bytes: &[u8]) {
    let Ok(schema) = schema_codec::schema_from(bytes) else { return };
    let written = schema_codec::schema_bytes(&schema).expect("what was read can be written");
    assert!(written == bytes, "{bytes:x?} is written as {written:x?}");
    // Validation must not panic for any schema that can be read.
    drop(schema.problems());
}
