//! Rust structs as objects of a schema.
//!
//! `#[derive(Model)]` implements [`Model`] for a struct: one description for the schema, for reading configurations,
//! plans, states and stored JSON, and for writing states and plans. [`AttributeValue`] is the same for one attribute.

mod attribute_value;
mod blocks;
mod choice;
mod collections;
mod described;
mod fields;
mod key;
mod maybe_unknown;
mod part;
mod secret;

pub use self::{
    attribute_value::AttributeValue,
    blocks::{Blocks, Group, nested_blocks},
    choice::{Choice, choice},
    collections::Set,
    described::Model,
    key::Key,
    maybe_unknown::MaybeUnknown,
    part::{Part, Unknowns},
    secret::Secret,
};
