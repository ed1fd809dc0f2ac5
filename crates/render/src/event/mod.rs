//! Progress events of an operation.

mod human;
mod json;
#[cfg(test)]
mod tests;

pub(crate) use self::json::{Line, diagnostic_line, resource, summary_line};
pub use self::{
    human::{event, summary},
    json::event_json,
};
