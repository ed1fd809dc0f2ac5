//! An SDK to write providers in.
//!
//! Start at [`Definition`], then [`Resource`], [`DataSource`] and [`EphemeralResource`], then [`schema`]. [`Server`] makes
//! a [`provider::Provider`] of a definition, to be used in process or handed to `plugin::serve`. To a core it behaves as
//! a provider made with HashiCorp's plugin framework does (`reference/protocol.md` 6): the same plans, the same nulls and
//! unknowns, the same private state.
//!
//! **Invariant:** no response carries the value of a write-only attribute, whatever a resource leaves in its state.
//! **Invariant:** numbers are never rounded on the way.
//! **Invariant:** types that carry configuration, state or private state have no `Debug`.

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
    resource::{Change, Ended, Existing, MoveSource, PlanChange, Resource},
    server::Server,
    stop::{Stop, Stopper},
};
