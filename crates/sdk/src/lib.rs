//! An SDK for providers.
//!
//! Start at [`Definition`], then [`Resource`], [`DataSource`] and [`EphemeralResource`], whose objects are structs
//! with [`Model`], then [`schema`]. [`Server`] implements [`provider::Provider`] for a definition; it can be used in
//! process, and [`main`] serves it. Inside, `model` converts between structs and values, `plan` plans by the schema,
//! and `erased` has the types without their structs, as the server calls them.
//!
//! To a core it behaves like a provider made with HashiCorp's plugin framework: the same plans,
//! the same null and unknown values, the same private state. Values that were unknown at the validation are validated
//! again before a change.
//!
//! The tests are in `tests` beside this file; `tests/mistakes.rs` compiles wrong uses of the derive macros.
//!
//! **Invariant:** no response carries the value of a write-only attribute, even if a resource leaves one in its
//! state.
//! **Invariant:** numbers are never rounded.
//! **Invariant:** types that carry configuration, state or private state have no `Debug`.
//! **Absent on purpose:** the engine, configurations, state files, and what any provider is about.

#![expect(
    clippy::disallowed_methods,
    reason = "an edge crate: a provider is a process with an environment and a clock"
)]

extern crate self as mayfly_sdk;

pub mod log;
pub mod modify;
pub mod schema;
pub mod validate;

mod data;
mod data_source;
mod definition;
mod diagnostics;
mod ephemeral;
mod erased;
mod function;
mod model;
mod plan;
mod plan_change;
mod private;
mod resource;
mod secret_argument;
mod server;
mod serving;
mod stop;
mod timeouts;
mod upgrade;
mod validation;
mod walk;

#[cfg(test)]
mod tests;

pub use mayfly_sdk_derive::{Choice, Model};
pub use serde_json;
pub use values::{Number, Path, Str, Text, Type, Value, ValueMap};

pub use self::{
    data::Object,
    data_source::{DataCall, DataSource},
    definition::{ConfigureCall, Definition, Types},
    diagnostics::{Diagnostic, Diagnostics, OrDiagnostic, shown},
    ephemeral::{EphemeralCall, EphemeralResource},
    function::{Arguments, Callable, DescribedParameter, Function, FunctionError, Parameter, Rest},
    model::{
        AttributeValue, Blocks, Choice, Group, Key, MaybeUnknown, Model, Part, Secret, Set,
        Unknowns, choice, nested_blocks,
    },
    plan_change::PlanChange,
    private::PrivateState,
    resource::{Call, Import, Resource},
    secret_argument::{SecretArgument, SecretChange},
    server::Server,
    serving::{ServeError, main, main_of, serve, serve_for_debugging},
    stop::{Stop, Stopper},
    timeouts::Timeouts,
    upgrade::{Move, MoveSource, Upgrade},
};
