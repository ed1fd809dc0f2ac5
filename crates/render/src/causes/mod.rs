//! The causes in a plan, as text and as JSON.

mod human;
mod json;

pub use self::{
    human::{causes, causes_overview},
    json::{causes_json, finding_json},
};
