//! Change: what has to happen so that the world agrees with a configuration, and making it happen.
//!
//! Start reading at [`plan`] and [`apply`], whose requests and answers are in [`request`]; what happens on the way is an
//! [`Event`]. Inside: [`walk`] (the run), [`graph`] (nodes and edges as data), then one module per kind of node.
//!
//! ```text
//!   Program ─┐                                   ┌─► Plan (data) ─┐
//!   State  ──┼─► plan: graph ─► ready ─► node ───┤                ├─► apply: the same graph, the plan's actions ─► State
//!   Memo   ──┘        one owner, provider calls  └─► Event…  ◄────┘
//!                     as futures beside it
//! ```
//!
//! The caller (`cli`, tests) supplies an [`Environment`]: providers ([`ProviderFactory`]), commands ([`CommandRunner`]),
//! events ([`EventSink`]), the [`Redactor`] that logs must pass, and a [`CancelToken`].
//!
//! ```ignore
//! async fn plan(program: &Arc<Program>, prior: State, variables: VariableValues, memo: &mut Memo,
//!               environment: &Environment, options: PlanOptions) -> PlanOutcome;
//! async fn apply(program: &Arc<Program>, plan: &Plan, refreshed: State, variables: VariableValues,
//!                states: &dyn StateSink, environment: &Environment, options: ApplyOptions) -> ApplyOutcome;
//! fn variables_for_saved_plan(program: &Program, plan: &Plan, given: VariableValues)
//!     -> Result<VariableValues, Vec<Diagnostic>>;   // before `apply` of a plan file: ephemeral ones again, others equal
//! ```
//! The futures are not `Send`: drive them with `Runtime::block_on` or a `LocalSet`. Destroying everything is a plan with
//! [`PlanMode::Destroy`](state::PlanMode) and its apply.
//!
//! **Invariant:** ephemeral values live in the walk's run-local store only; no event, diagnostic, plan or state holds one.
//! **Invariant:** every ephemeral resource that was opened is closed once, whatever happened in between, and both are
//! events.
//! **Invariant:** work is linear in nodes and edges of the graph; nothing looks at all pairs.
//! **Absent on purpose:** terminals, storages, processes, protocol buffers, how a provider was obtained.

mod event;
mod redact;
mod request;
mod variables;

pub use crate::{
    event::{
        ApplyAction, ChangeAction, ChangeCounts, ChangeReason, DeferReason, EphemeralAction, Event, EventSink, LogLevel,
        ObjectId, Operation,
    },
    redact::{MIN_SECRET, Redactor},
    request::{
        ApplyOptions, ApplyOutcome, CancelLevel, CancelToken, Command, CommandRunner, CommandStatus, Environment,
        PlanOptions, PlanOutcome, ProviderFactory, StateSink,
    },
    variables::{GivenValue, ValueSource, VariableValues},
};
