//! What people and scripts read: events, problems, plans, states and values as text or as stable JSON.
//!
//! Start reading at [`Style`]; then [`diagnostics`], [`event`] and [`plan()`]. A plan is rendered in two steps, so that
//! deciding what changed knows nothing of layout:
//!
//! ```text
//!   before, after, schema ──diff──► tree of changes ──print──► indented lines
//! ```
//!
//! Everything takes data and gives a string; JSON formats are written by hand from the models, in the shape and order
//! that OpenTofu writes them, because scripts read both.
//!
//! **Invariant:** the text of an ephemeral value is never printed: wherever one arrives, `(ephemeral value)` is.
//! **Invariant:** the text of a sensitive value is printed only by formats that are defined to hold it
//! (`show -json`, `output -json`, `output -raw`) and where `show_sensitive` is asked for.
//! **Invariant:** no control character of a foreign text reaches a terminal.
//! **Invariant:** time is linear in what is printed; the comparison of two lists is bounded ([`plan()`]).
//! **Absent on purpose:** terminals, streams, the command line, files, clocks.

mod diagnostic;
mod diff;
mod event;
mod json;
mod output;
mod page;
mod plan;
mod schema_json;
mod state;
mod style;
mod type_text;
mod value;
mod watch;

use std::sync::Arc;

use addr::ProviderSource;
use provider::ProviderSchemas;

pub use crate::{
    diagnostic::{
        compact_warnings, consolidated, diagnostic_json, diagnostics, validate_json,
        without_repeated_deprecations,
    },
    event::{event, event_json, summary},
    output::{output_json, output_raw, output_value, outputs, outputs_json},
    page::{page, page_list},
    plan::{
        PlanJson, PlanView, change_summary_json, diagnostic_json_line, log_json,
        output_changes_json, plan, plan_footer, plan_json, planned_change_json,
        planned_changes_json, resource_drift_json, version_json,
    },
    schema_json::providers_schema_json,
    state::{StateJson, resource_instance, state, state_json},
    style::{Style, visible},
    type_text::type_text,
    value::value,
    watch::{
        KEYS, ListedChange, NewsEntry, PlanFinished, PlanNews, Problems, TerminalSize, WatchScreen,
        WatchView, WatchedPlan, change_list, changed_objects, closed_json, plan_finished_json,
        plan_news, plan_started_json, plan_summary, refreshed_json, watch_body_length,
        watch_screen, watching_json,
    },
};

/// Finds the schemas of a provider. Where there are none, objects are shown by the types of their values.
pub type Schemas<'a> = &'a dyn Fn(&ProviderSource) -> Option<Arc<ProviderSchemas>>;
