//! The plan to show.

use state::Plan;

use crate::Schemas;

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
