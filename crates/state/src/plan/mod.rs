//! What a plan wants to do, and the file that keeps it until it is applied.
//!
//! ```text
//!   Plan ──wire──► tfplan (protobuf, our own)  ─┐
//!   StateFile ────► tfstate, tfstate-prev       ├─ zip ──► the file given to `plan -out`
//!   sources ──────► tfconfig/                   │
//!   lock file ────► .terraform.lock.hcl         │
//!   `path.temp` ──► tmp/                        ─┘
//! ```

pub(crate) mod archive;
pub(crate) mod decode;
pub(crate) mod encode;
mod file;
mod model;
mod wire;

pub use file::{ConfigSnapshot, ModuleSource, PlanFile, PlanFileError, TempEntry, TempKind};
pub use model::{
    Action, BackendRecord, Change, EphemeralPlan, Importing, OutputChange, Plan, PlanMode, Reason,
    RelevantAttribute, ResourceChange, StateIdentity,
};

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
