//! The part that all runs over the graph share. [`Walk`](context::Walk) owns it; the context of each kind of run
//! has a `Walk` and adds what only that kind may touch (`src/runs`).
//!
//! ```text
//!   PlanRun ─┐             DestroyPlanRun ─┐          ApplyRun ─┐  DestroyRun ─┐      ImportRun
//!            └──► Planning ◄───────────────┘                    └► Applying ◄──┘          │
//!                    └──────────────────────────► Walk ◄─────────────┴───────────────────┘
//! ```
//!
//! Tasks are futures on the thread of the scheduler. They write their results into the cells of the components and
//! never hold a borrow across an await point.
//!
//! **Invariant:** nothing here depends on the kind of the run. What differs is a [`GraphRules`](rules::GraphRules) or a
//! [`Purpose`](purpose::Purpose).

pub(crate) mod checks;
pub(crate) mod conditions;
pub(crate) mod context;
pub(crate) mod diagnose;
pub(crate) mod expand;
pub(crate) mod foresee;
pub(crate) mod instances;
pub(crate) mod module_graph;
pub(crate) mod modules;
pub(crate) mod nodes;
pub(crate) mod outcome;
pub(crate) mod output;
pub(crate) mod provider_instances;
pub(crate) mod purpose;
pub(crate) mod report;
pub(crate) mod reuse;
pub(crate) mod rules;
pub(crate) mod run_state;
pub(crate) mod scope;
pub(crate) mod state_index;
pub(crate) mod temp_directory;
pub(crate) mod turn;
pub(crate) mod value_nodes;
pub(crate) mod variable;
