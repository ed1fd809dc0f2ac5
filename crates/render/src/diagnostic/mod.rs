//! Diagnostics as text and as JSON.

pub(crate) mod consolidate;
pub(crate) mod excerpt;
pub(crate) mod human;
pub(crate) mod json;
#[cfg(test)]
mod tests;

pub use self::{
    consolidate::{compact_warnings, consolidated, without_repeated_deprecations},
    human::{diagnostics, success, valid},
    json::{diagnostic_json, validate_json},
};
