//! The byte format of the schema cache, in which each type can be found and decoded by itself.
//!
//! ```text
//! magic │ version │ executable's SHA-256 │ length of index │ SHA-256 of all before and of the index │ index │ blobs
//!                                                                                                     │
//!            for each schema: name, offset and length in blobs, SHA-256 of the blob ◄─────────────────┘
//! ```
//!
//! Opening checks the index; decoding a schema checks its blob. So nothing is used that was not checked, and a
//! provider with a thousand types costs no more than those that are used.
//!
//! **Invariant:** bytes that this module did not write for the same executable are an error, as far as a hash without a
//! key can tell; and whatever the bytes are, they are decoded exactly or not at all: unknown flags, unsorted names,
//! trailing bytes and counts beyond the input are errors.

mod read;
#[cfg(test)]
mod tests;
mod write;

pub use self::read::CachedSchemas;
pub(crate) use self::read::schema_from;
pub use self::write::encode;
pub(crate) use self::write::schema_bytes;

/// SHA-256 of the provider's executable, to which an entry belongs.
pub type ExecutableHash = [u8; 32];

/// Changes with every change of the format; an entry of another version is an error, and is written anew.
const VERSION: u32 = 1;
const MAGIC: &[u8; 8] = b"MFLYSCHM";

/// Deeper schemas are neither written nor read, so that no input exhausts the stack.
const MAX_DEPTH: usize = crate::schema::MAX_DEPTH;

/// Why an entry of the schema cache cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CacheError {
    /// The bytes are no such entry, or of another version of the format.
    #[error("not a schema cache entry of this version")]
    Format,
    /// The entry was made from another executable.
    #[error("schema cache entry of another executable")]
    Executable,
    /// A hash does not match.
    #[error("schema cache entry is damaged ({0})")]
    Damaged(&'static str),
    /// The hashes match, but the content is not what this program writes.
    #[error("schema cache entry is malformed ({0})")]
    Malformed(&'static str),
    /// The schema nests deeper than any provider's does.
    #[error("schema is nested too deeply")]
    TooDeep,
}

/// The four kinds of types, in the order of the index.
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

/// Bits of an attribute.
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

/// Bits of a block, and of a function or parameter where they apply.
mod doc_flags {
    pub(super) const DEPRECATED: u8 = 1;
    pub(super) const MARKDOWN: u8 = 1 << 1;
    pub(super) const ALLOW_NULL: u8 = 1 << 2;
    pub(super) const ALLOW_UNKNOWN: u8 = 1 << 3;
}

/// Bits of the provider.
mod capability_flags {
    pub(super) const PLAN_DESTROY: u8 = 1;
    pub(super) const SCHEMA_OPTIONAL: u8 = 1 << 1;
    pub(super) const MOVE_STATE: u8 = 1 << 2;
}

/// First byte of a type.
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

/// First byte of a nesting: of a block's, or of a nested attribute's, which has no group.
mod nesting_tags {
    pub(super) const SINGLE: u8 = 0;
    pub(super) const GROUP: u8 = 1;
    pub(super) const LIST: u8 = 2;
    pub(super) const SET: u8 = 3;
    pub(super) const MAP: u8 = 4;
}
