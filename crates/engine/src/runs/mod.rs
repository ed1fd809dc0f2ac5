//! The contexts of the five kinds of runs. Each has the shared [`Walk`](crate::walk::Walk), and what only this kind
//! may touch:
//!
//! | context | touches, besides the shared part |
//! |---|---|
//! | [`PlanRun`] | the decisions of the plan, orphans, the memo of instances |
//! | [`DestroyPlanRun`] | the decisions, orphans |
//! | [`ApplyRun`] | the planned actions, their order, which nodes they need |
//! | [`DestroyRun`] | the planned actions, their order |
//! | [`ImportRun`] | the object to import |
//!
//! A context dereferences to the part that it shares with others, so that its methods are one namespace, as in a type
//! checker with a context per function. Methods on `Walk` cannot reach the decisions or the planned actions.

mod apply;
mod applying;
mod decisions;
mod destroy;
mod destroy_plan;
mod destruction;
mod import;
mod orphans;
mod plan;
mod planned_actions;
mod planning;
mod retained_run;

pub(crate) use self::{
    apply::ApplyRun,
    applying::Applying,
    decisions::{DecisionParts, Decisions},
    destroy::DestroyRun,
    destroy_plan::DestroyPlanRun,
    import::{ImportOrder, ImportRun},
    orphans::{Orphan, Orphans},
    plan::PlanRun,
    planned_actions::PlannedActions,
    planning::{Planning, PlanningOptions},
    retained_run::{FinishedPlan, Part, RetainedRun},
};
