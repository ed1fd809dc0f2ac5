//! Output for users and scripts: events, diagnostics, plans, causes, states, values and tests as text or as stable
//! JSON, and plans as HTML pages.
//!
//! Start reading at [`Style`]; then [`diagnostics`], [`event`] and [`plan()`]. A plan is rendered in two steps, so
//! that the comparison does not depend on the layout:
//!
//! ```text
//!   before, after, schema ──diff──► tree of changes ──print──► indented lines
//! ```
//!
//! Functions take data and return strings. [`ObjectsAhead`] renders the objects of a plan while the plan is being made.
//! The JSON formats are built by hand from the models, with OpenTofu's fields in OpenTofu's order, because scripts
//! depend on them.
//!
//! **Invariant:** the text of an ephemeral value is never printed; `(ephemeral value)` is printed in its place.
//! **Invariant:** the text of a sensitive value is printed only in formats that are defined to contain it (`show
//! -json`, `output -json`, `output -raw`) and if `show_sensitive` is set.
//! **Invariant:** no control character from external text reaches a terminal.
//! **Invariant:** the time is linear in the size of the output; the cost of comparing two lists is bounded
//! ([`plan()`]).
//! **Absent on purpose:** terminals, streams, the command line, files, clocks.

mod causes;
mod diagnostic;
mod diff;
mod event;
mod graph;
mod html;
mod json;
mod output;
mod page;
mod plan;
mod requirements;
mod schema_json;
mod state;
mod style;
mod test;
mod type_text;
mod value;
mod watch;
mod workspace;

use std::sync::Arc;

use addr::ProviderSource;
use provider::ProviderSchemas;

pub use crate::{
    causes::{causes, causes_json, causes_overview, finding_json},
    diagnostic::{
        compact_warnings, consolidated, diagnostic_json, diagnostics, success, valid,
        validate_json, without_repeated_deprecations,
    },
    event::{
        DownloadProgress, ProgressLine, download_line, event, event_json, progress_line, summary,
    },
    graph::{GraphStyle, graph},
    html::{Explain, PlanPage, plan_page},
    output::{output_json, output_raw, output_value, outputs, outputs_json},
    page::{page, rule_list},
    plan::{
        ObjectsAhead, PlanDifference, PlanJson, PlanNotes, PlanView, change_summary_json,
        configuration_json, diagnostic_json_line, log_json, message_json, module_json,
        output_changes_json, plan, plan_difference, plan_difference_json, plan_footer, plan_json,
        planned_change_json, planned_changes_json, replace_provider_json, resource_address_json,
        resource_drift_json, version_json,
    },
    requirements::{TreeNode, required_provider, tree},
    schema_json::providers_schema_json,
    state::{StateJson, provider_replacement, resource_instance, state, state_json},
    style::{Style, visible},
    test::{
        InterruptedModule, InterruptedTest, LeftObjects, TestCounts, TestPlace, TestStatus,
        human::{
            test_cleanup_failed, test_conclusion, test_file, test_interrupted, test_left, test_run,
        },
        json::{
            test_abstract_json, test_cleanup_json, test_diagnostics_json, test_file_json,
            test_interrupted_json, test_plan_json, test_run_json, test_state_json,
            test_summary_json,
        },
        junit::{JunitCase, JunitSuite, junit_xml},
    },
    type_text::type_text,
    value::value,
    watch::{
        KEYS, ListedChange, NewPlan, NewsEntry, PlanFinished, PlanNews, Problems, TerminalSize,
        WatchScreen, WatchView, WatchedPlan, change_list, changed_objects, changed_outputs,
        closed_json, plan_finished_json, plan_news, plan_started_json, plan_summary,
        refreshed_json, watch_body_length, watch_screen, watching_json,
    },
    workspace::{workspace_created, workspace_result, workspaces, workspaces_json},
};

/// Finds the schemas of a provider. Objects without a schema are shown by the types of their values.
pub type Schemas<'a> = &'a dyn Fn(&ProviderSource) -> Option<Arc<ProviderSchemas>>;
