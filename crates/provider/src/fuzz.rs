//! What holds for all bytes that are read as a schema from the cache. The fuzz targets (`fuzz/`) and `tests/hostile` run the same
//! function.

use crate::schema_codec;

/// Bytes are the one way to write a schema, or an error.
///
/// # Panics
///
/// Where that does not hold.
pub fn check_cached_schema(bytes: &[u8]) {
    let Ok(schema) = schema_codec::schema_from(bytes) else { return };
    let written = schema_codec::schema_bytes(&schema).expect("what was read can be written");
    assert!(written == bytes, "{bytes:x?} is written as {written:x?}");
    // What a provider may not say is said by problems, whatever was read.
    drop(schema.problems());
}
