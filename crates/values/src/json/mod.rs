//! JSON, the format of values in state and plan files, and of `jsonencode` and `jsondecode`.
//!
//! Output equals Go's output byte for byte; input is decoded as leniently as cty does. Number texts are never
//! rounded. [`JsonText`] is the writer of all JSON in Go's layout.

mod decode;
mod encode;
mod parse;
mod text;
mod types;

pub use decode::{decode, decode_implied, implied_type};
pub use encode::encode;
pub use text::{JsonText, compact, is_too_deep, write_string};
pub use types::{type_from_json, type_to_json};
