//! Rendering of states: objects and outputs.

pub(crate) mod human;
pub(crate) mod json;

pub use self::{
    human::{provider_replacement, resource_instance, state},
    json::{StateJson, state_json},
};
