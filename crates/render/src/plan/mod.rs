//! Rendering of plans: drift, changes with their reasons, and outputs.

pub(crate) mod ahead;
pub(crate) mod comment;
pub(crate) mod configuration;
pub(crate) mod difference;
pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod overview;
pub(crate) mod stream;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod view;

pub use self::{
    ahead::ObjectsAhead,
    difference::{PlanDifference, plan_difference, plan_difference_json},
    human::{PlanNotes, plan, plan_footer},
    json::{PlanJson, configuration_json, module_json, plan_json},
    stream::{
        change_summary_json, diagnostic_json_line, log_json, message_json, output_changes_json,
        planned_change_json, planned_changes_json, replace_provider_json, resource_address_json,
        resource_drift_json, version_json,
    },
    view::PlanView,
};
