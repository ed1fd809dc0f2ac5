//! The byte format of the schema cache, in which each type can be found and decoded by itself.
//!
//! ```text
//! magic │ version │ executable's SHA-256 │ length of index │ SHA-256 of all before and of the index │ index │ blobs
//!                                                                                                     │
//!            for each schema: name, offset and length in blobs, SHA-256 of the blob ◄─────────────────┘
//! ```
//!
//! Opening a cache entry checks the index; decoding a schema checks its blob. So nothing is used unchecked, and
//! the cost depends on the types that are used, not on the thousand types that the provider may have.
//!
//! **Invariant:** bytes that this module did not write for the same executable are an error, as far as a hash
//! without a key can detect it; and all bytes are decoded exactly or not at all: unknown flags, unsorted names,
//! trailing bytes and counts beyond the input are errors.

mod read;
#[cfg(test)]
mod tests;
mod write;

pub use self::read::CachedSchemas;
pub(crate) use self::read::schema_from;
pub use self::write::encode;
pub(crate) use self::write::schema_bytes;

/// The SHA-256 of the provider's executable that a cache entry belongs to.
pub type ExecutableHash = [u8; 32];

/// The version of the format. An entry of another version is an error and is written anew.
const VERSION: u32 = 1;
const MAGIC: &[u8; 8] = b"MFLYSCHM";

/// The nesting limit of schemas that are written or read, so that no input exhausts the stack.
const MAX_DEPTH: usize = crate::schema::MAX_DEPTH;

/// An error in an entry of the schema cache.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CacheError {
    /// The bytes are no cache entry, or one of another format version.
    #[error("not a schema cache entry of this version")]
    Format,
    /// The entry belongs to another executable.
    #[error("schema cache entry of another executable")]
    Executable,
    /// A hash does not match.
    #[error("schema cache entry is damaged ({0})")]
    Damaged(&'static str),
    /// The hashes match, but this program does not write such content.
    #[error("schema cache entry is malformed ({0})")]
    Malformed(&'static str),
    /// The schema nests deeper than the limit.
    #[error("schema is nested too deeply")]
    TooDeep,
}

/// The four kinds of schemas by type name, in the order of the index.
#[derive(Clone, Copy)]
enum Family {
    Managed,
    Data,
    Ephemeral,
    Identity,
}

impl Family {
    const ALL: [Family; 4] = [Family::Managed, Family::Data, Family::Ephemeral, Family::Identity];
}

/// The flag bits of an attribute.
mod attribute_flags {
    pub(super) const REQUIRED: u8 = 1;
    pub(super) const OPTIONAL: u8 = 1 << 1;
    pub(super) const COMPUTED: u8 = 1 << 2;
    pub(super) const SENSITIVE: u8 = 1 << 3;
    pub(super) const WRITE_ONLY: u8 = 1 << 4;
    pub(super) const DEPRECATED: u8 = 1 << 5;
    pub(super) const MARKDOWN: u8 = 1 << 6;
    pub(super) const NESTED: u8 = 1 << 7;
}

/// The flag bits of a block, a function or a parameter.
mod doc_flags {
    pub(super) const DEPRECATED: u8 = 1;
    pub(super) const MARKDOWN: u8 = 1 << 1;
    pub(super) const ALLOW_NULL: u8 = 1 << 2;
    pub(super) const ALLOW_UNKNOWN: u8 = 1 << 3;
}

/// The flag bits of the provider's capabilities.
mod capability_flags {
    pub(super) const PLAN_DESTROY: u8 = 1;
    pub(super) const SCHEMA_OPTIONAL: u8 = 1 << 1;
    pub(super) const MOVE_STATE: u8 = 1 << 2;
}

/// The first byte of an encoded type.
mod type_tags {
    pub(super) const DYNAMIC: u8 = 0;
    pub(super) const BOOL: u8 = 1;
    pub(super) const NUMBER: u8 = 2;
    pub(super) const STRING: u8 = 3;
    pub(super) const LIST: u8 = 4;
    pub(super) const SET: u8 = 5;
    pub(super) const MAP: u8 = 6;
    pub(super) const TUPLE: u8 = 7;
    pub(super) const OBJECT: u8 = 8;
}

/// The first byte of a nesting mode. A nested attribute has no group mode.
mod nesting_tags {
    pub(super) const SINGLE: u8 = 0;
    pub(super) const GROUP: u8 = 1;
    pub(super) const LIST: u8 = 2;
    pub(super) const SET: u8 = 3;
    pub(super) const MAP: u8 = 4;
}
