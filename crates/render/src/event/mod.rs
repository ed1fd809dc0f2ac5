//! Progress of an operation.

mod human;
mod json;

pub(crate) use self::json::{Line, diagnostic_line, resource, summary_line};
pub use self::{
    human::{event, summary},
    json::event_json,
};
