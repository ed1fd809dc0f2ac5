//! The values of a configuration: everything that an expression, a state file or a provider can produce.
//!
//! Start reading at [`Value`], then [`Type`], [`Marks`] and [`Refinements`]; [`Number`] and [`Str`], the type of names,
//! stand alone. Around them: [`convert`], [`ops`] and [`functions`] compute; [`msgpack`] and [`json`] encode and
//! decode; [`rules`] defines how marks pass through each operation. `tests/walkthrough.rs` shows them in use. Recorded
//! results of OpenTofu and cty are in `tests/data` of the repository. The tests of mark rules need the feature
//! `mutation`.
//!
//! **Invariant:** the content of an ephemeral value reaches no `Debug`, `Display` or `Serialize`.
//! **Invariant:** text is in normalization form C.
//! **Invariant:** a set holds no marked element; the marks are on the set.
//! **Invariant:** no input, however hostile, makes this crate panic or allocate by a claimed length.
//!
//! **Absent on purpose:** configurations, providers, files, clocks.

pub mod budget;
mod codec;
pub mod conform;
pub mod convert;
mod equality;
pub mod functions;
pub mod fuzz;
mod go_quote;
pub mod json;
mod marks;
pub mod msgpack;
mod name;
mod number;
pub mod ops;
mod path;
mod refinements;
pub mod rules;
mod set_order;
mod text;
mod types;
mod value;
mod withheld;

use std::sync::Arc;

pub use crate::{
    budget::{Budget, Exceeded},
    codec::CodecError,
    marks::{Deprecation, Mark, MarkKind, Marks},
    name::Str,
    number::Number,
    path::{Path, Step},
    refinements::{Bound, Refinements},
    types::{ObjectType, Type},
    value::{Kind, Value, ValueMap},
    withheld::WITHHELD,
};

/// Returns text in double quotes with Go's escapes, as OpenTofu shows it in plans, outputs and its console.
#[must_use]
pub fn go_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    push_go_quoted(&mut quoted, text);
    quoted
}

/// Appends what [`go_quoted`] returns.
pub fn push_go_quoted(out: &mut String, text: &str) {
    go_quote::write(text, out);
}

/// The text of a value. It lives only on the heap, so that secrets do not stay on stacks.
pub type Text = Arc<str>;

#[cfg(test)]
mod codec_test;
#[cfg(test)]
mod vectors_test;
