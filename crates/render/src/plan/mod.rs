//! A plan: what changed outside, what will be done to each object and why, and what becomes of the outputs.

mod comment;
mod configuration;
mod human;
mod json;
mod stream;
#[cfg(test)]
pub(crate) mod tests;

use state::Plan;

use crate::Schemas;

pub(crate) use self::comment::is_shown;

pub use self::{
    human::{plan, plan_footer},
    json::{PlanJson, plan_json},
    stream::{
        change_summary_json, diagnostic_json_line, log_json, output_changes_json,
        planned_change_json, planned_changes_json, resource_drift_json, version_json,
    },
};

/// A plan with what is needed to show it.
#[derive(Clone, Copy)]
pub struct PlanView<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Schemas of the providers in it. An object without schema is shown by the types of its values.
    pub schemas: Schemas<'a>,
    /// Shows sensitive values in clear (`-show-sensitive`). Never ephemeral ones.
    pub show_sensitive: bool,
}
