//! Resources: how a node of the graph becomes instances, and the functions that all resource modes share.
//!
//! A resource's node has two turns. In the first, the instances are known, and the node activates the dependencies
//! that they need: a resource without instances needs neither its dependencies nor a provider. The second starts
//! one task per instance, except for instances with a memoized plan.

pub(crate) mod apply;
pub(crate) mod change;
pub(crate) mod config;
pub(crate) mod data;
pub(crate) mod decision;
pub(crate) mod destroy;
pub(crate) mod generated;
pub(crate) mod imported;
pub(crate) mod intent;
pub(crate) mod objects;
pub(crate) mod pending;
pub(crate) mod plan;
pub(crate) mod plan_memo;
pub(crate) mod prior;
pub(crate) mod reads;
pub(crate) mod refresh_only;
pub(crate) mod subject;
pub(crate) mod temp_paths;
pub(crate) mod triggers;
pub(crate) mod turn;
pub(crate) mod write_only_leaks;
pub(crate) mod write_only_texts;
