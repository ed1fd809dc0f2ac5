//! The engine: plans the changes that make the infrastructure match a configuration, and applies them.
//!
//! Start reading at [`plan()`] and [`apply()`], then `src/request.rs` (requests and outcomes) and [`Event`]
//! (progress). Inside: `src/moves.rs` (new addresses in the prior state), `src/graph` (nodes and edges as data),
//! `src/schedule.rs` (the order of turns and tasks), `src/ahead.rs` (evaluation on other processors), `src/runs`
//! (the context of each kind of run) and `src/walk` (what all contexts share), `src/targeting`, then `src/resource`,
//! `src/ephemeral.rs`, `src/pool.rs`, `src/provisioner.rs` (with [`Machines`] for SSH) and `src/function_calls.rs`,
//! one for each kind of work. `src/imports` finds what `import` blocks ask for, `src/doubles` stands for what tests
//! mock and override, and `src/relevance` finds the attributes that the changes of a plan follow from, `src/outline`
//! is the graph for drawings, and [`Snapshot`] evaluates expressions beside a plan. [`Planner`] plans again after
//! each edit. `tests/engine` runs text configurations against a provider in memory.
//!
//! ```text
//!   Program ─┐                                   ┌─► Plan (data) ─┐
//!   State  ──┼─► plan: graph ─► ready ─► node ───┤                ├─► apply: the same graph, planned actions ─► State
//!   Memo   ──┘        one owner, provider calls  └─► Event…  ◄────┘
//!                     as futures beside it
//! ```
//!
//! The caller (`cli`, tests) supplies an [`Environment`]: providers ([`ProviderFactory`]), commands
//! ([`CommandRunner`]), other machines ([`Machines`]), the receivers of events ([`EventSink`]) and of planned changes
//! ([`ChangeSink`]), temporary directories ([`TempDirectories`]), the record of changes ([`Journal`]), the [`Redactor`]
//! for logs, and a [`CancelToken`].
//!
//! The futures are not `Send`: drive them with `Runtime::block_on` or a `LocalSet`. Destroying everything is a
//! plan with [`PlanMode::Destroy`](state::PlanMode), followed by its apply.
//!
//! **Invariant:** ephemeral values exist only in the run-local store of the walk; no event, diagnostic, plan or
//! state holds one.
//! **Invariant:** every opened ephemeral resource is closed exactly once, whatever happens in between, and both
//! are events.
//! **Invariant:** the work is linear in the nodes and edges of the graph; nothing compares all pairs.
//! **Absent on purpose:** terminals, storage, processes, protocol buffers, provider installation.

mod ahead;
mod apply;
pub mod builtin;
mod cancel;
mod doubles;
mod ephemeral;
mod event;
mod files;
mod foreign;
mod function_calls;
mod function_checks;
mod functions;
mod graph;
mod import;
mod imports;
mod journal;
mod known_conditions;
mod machine;
mod memo;
mod moves;
mod offline;
mod outline;
mod place;
mod plan;
mod planner;
mod pool;
mod progress;
mod provider_node;
mod provisioner;
mod provisioner_checks;
mod redact;
mod relevance;
mod removals;
mod request;
mod resource;
mod runs;
mod saved;
mod schedule;
mod shell;
mod snapshot;
mod targeting;
mod temp;
mod template_file;
mod validate;
mod variables;
mod walk;

pub use crate::{
    apply::{apply, check_plan_is_complete},
    builtin::builtin_provider,
    cancel::{CancelLevel, CancelToken},
    event::{
        ApplyAction, ChangeAction, ChangeCounts, ChangeReason, ChangeSink, DeferReason,
        EphemeralAction, Event, EventSink, LogLevel, ObjectId, Operation, PluginName,
    },
    files::planned_file,
    graph::create_first::CreatedFirst,
    import::import,
    journal::{Journal, NoJournal, Number, ways_out},
    known_conditions::{known_conditions, too_large},
    machine::{
        Agent, ConnectError, Connection, Endpoint, Machine, Machines, NoMachines, Permissions,
        Platform, Proxy, ProxyScheme, Source,
    },
    offline::Console,
    outline::{Outline, OutlineEdge, OutlineKind, OutlineNode},
    place::{RunPhase, enter_phase, with_place},
    plan::plan,
    planner::Planner,
    provisioner_checks::validate_provisioners,
    redact::{MIN_SECRET, Redactor},
    relevance::take_key,
    removals::Removals,
    request::{
        ApplyOptions, ApplyOutcome, Command, CommandRunner, CommandStatus, Environment,
        ImportOptions, PlanOptions, PlanOutcome, PlanWrites, ProviderFactory,
    },
    runs::import_blocks::instance_key,
    saved::{check_plan_is_current, check_planned_files, variables_for_saved_plan},
    shell::quoted_for_shell,
    snapshot::{ModuleSnapshot, Objects, Snapshot, SnapshotInputs},
    targeting::kept_addresses,
    temp::{NoTempDirectories, TempDirectories, TempRoot},
    validate::{Call, Question, Verdicts, validate, validate_unplanned},
    variables::{GivenValue, ValueSource, VariableValues, missing_value},
};
