//! JSON, the form in which values lie in state and plan files, and what `jsonencode` and `jsondecode` speak.
//!
//! Output is byte for byte what Go writes; input is read as leniently as cty reads it. Number texts are never rounded
//! on the way.

mod decode;
mod encode;
mod parse;
mod types;

pub use decode::{decode, decode_implied, implied_type};
pub use encode::{encode, write_string};
pub use types::{type_from_json, type_to_json};
