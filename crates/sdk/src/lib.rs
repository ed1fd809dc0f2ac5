//! An SDK for providers.
//!
//! Start at [`Definition`], then [`Resource`], [`DataSource`] and [`EphemeralResource`], then [`schema`].
//! [`Server`] implements [`provider::Provider`] for a definition; it can be used in process or passed to
//! `plugin::serve`. To a core it behaves like a provider made with HashiCorp's plugin framework: the same plans,
//! the same null and unknown values, the same private state.
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

pub mod log;
pub mod modify;
pub mod schema;
pub mod validate;

mod data;
mod data_source;
mod definition;
mod diagnostics;
mod ephemeral;
mod plan;
mod private;
mod resource;
mod server;
mod stop;
mod walk;

#[cfg(test)]
mod tests;

pub use self::{
    data::Object,
    data_source::{DataRead, DataSource},
    definition::{Definition, Function},
    diagnostics::{Diagnostic, Diagnostics},
    ephemeral::{Closing, EphemeralResource, Opening, Renewal},
    private::PrivateState,
    resource::{Change, Existing, MoveSource, PlanChange, Resource, StepResult},
    server::Server,
    stop::{Stop, Stopper},
};
