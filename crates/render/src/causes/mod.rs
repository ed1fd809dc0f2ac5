//! The causes in a plan, as text and as JSON.

mod human;
mod json;

pub(crate) use self::{human::short_cause, json::short_cause_json};
pub use self::{
    human::{causes, causes_overview},
    json::{causes_json, finding_json},
};
