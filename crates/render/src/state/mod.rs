//! Rendering of states: objects and outputs.

mod human;
mod json;

pub(crate) use self::json::{checks, document, instance_fields, tree};
pub use self::{
    human::{resource_instance, state},
    json::{StateJson, state_json},
};
