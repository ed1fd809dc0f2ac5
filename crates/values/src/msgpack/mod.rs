//! MessagePack, the encoding of values in the plugin protocol.
//!
//! The output equals that of cty; decoding accepts every legal MessagePack form of the same value.

mod decode;
mod encode;
mod reader;
mod refinements;

pub use decode::decode;
pub use encode::encode;

/// The extension type of an unknown value with refinements.
const REFINED: i8 = 0x0c;
/// The keys of the map of refinements.
const NULLNESS: i64 = 1;
const PREFIX: i64 = 2;
const LOWER: i64 = 3;
const UPPER: i64 = 4;
const MIN_LENGTH: i64 = 5;
const MAX_LENGTH: i64 = 6;
