//! The contexts of the five kinds of runs. Each has the shared [`Walk`](crate::walk::context::Walk), and what only
//! this kind may touch:
//!
//! | context | touches, besides the shared part |
//! |---|---|
//! | [`PlanRun`](plan::PlanRun) | the decisions of the plan, orphans, the memo of instances |
//! | [`DestroyPlanRun`](destroy_plan::DestroyPlanRun) | the decisions, orphans |
//! | [`ApplyRun`](apply::ApplyRun) | the planned actions, their order, which nodes they need |
//! | [`DestroyRun`](destroy::DestroyRun) | the planned actions, their order |
//! | [`ImportRun`](import::ImportRun) | the object to import |
//!
//! A context dereferences to the part that it shares with others, so that its methods are one namespace, as in a type
//! checker with a context per function. Methods on `Walk` cannot reach the decisions or the planned actions.

pub(crate) mod apply;
pub(crate) mod applying;
pub(crate) mod decisions;
pub(crate) mod destroy;
pub(crate) mod destroy_plan;
pub(crate) mod destroy_targets;
pub(crate) mod destruction;
pub(crate) mod import;
pub(crate) mod import_blocks;
pub(crate) mod late;
pub(crate) mod limits;
pub(crate) mod orphans;
pub(crate) mod plan;
pub(crate) mod planned_actions;
pub(crate) mod planning;
pub(crate) mod retained_run;
