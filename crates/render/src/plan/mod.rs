//! Rendering of plans: drift, changes with their reasons, and outputs.

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

/// A plan with the data needed to show it.
#[derive(Clone, Copy)]
pub struct PlanView<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The schemas of its providers. An object without a schema is shown by the types of its values.
    pub schemas: Schemas<'a>,
    /// True if sensitive values are shown in clear text (`-show-sensitive`). Ephemeral values are never shown.
    pub show_sensitive: bool,
}
