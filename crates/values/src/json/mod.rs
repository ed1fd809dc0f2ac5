//! JSON, the format of values in state and plan files, and of `jsonencode` and `jsondecode`.
//!
//! Output equals Go's output byte for byte; input is decoded as leniently as cty does. Number texts are never
//! rounded. [`JsonText`] is the writer of all JSON in Go's layout.
//!
//! [`parse`] is the reader of JSON without a fixed structure: its depth is bounded, duplicate keys and the texts of
//! numbers are kept, and an error has an offset and quotes nothing. Three other readers exist because they read
//! something else: `syntax::json` reads configurations, with the position of each value and OpenTofu's errors;
//! `packages` reads the JSON form of HCL 1, which permits trailing commas; `serde` derives the readers of formats with
//! a fixed structure.

mod decode;
mod encode;
mod parse;
mod retain;
mod text;
mod types;

pub use decode::{decode, decode_implied, implied_type};
pub use encode::encode;
pub use parse::{Json, parse};
pub use retain::retain_attributes;
pub use text::{JsonText, compact, is_too_deep, write_string};
pub use types::{type_from_json, type_to_json};
