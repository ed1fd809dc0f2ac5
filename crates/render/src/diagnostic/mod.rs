//! Diagnostics as text and as JSON.

mod consolidate;
mod excerpt;
mod human;
mod json;
#[cfg(test)]
mod tests;

pub use self::{
    consolidate::{compact_warnings, consolidated, without_repeated_deprecations},
    human::diagnostics,
    json::{diagnostic_json, validate_json},
};
