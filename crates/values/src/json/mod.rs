//! JSON, the format of values in state and plan files, and of `jsonencode` and `jsondecode`.
//!
//! Output equals Go's output byte for byte; input is decoded as leniently as cty does. Number texts are never
//! rounded.

mod decode;
mod encode;
mod parse;
mod types;

pub use decode::{decode, decode_implied, implied_type};
pub use encode::{encode, write_string};
pub use types::{type_from_json, type_to_json};
