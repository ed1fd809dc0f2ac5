//! The plan of a run, and the file that stores it until it is applied.
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
mod temp_path;
mod wire;

pub use file::{ConfigSnapshot, ModuleSource, PlanFile, PlanFileError, TempEntry, TempKind};
pub use model::{
    Action, BackendRecord, Change, EphemeralPlan, Importing, OutputChange, Plan, PlanMode,
    PlannedFile, PlannedFiles, Reason, RelevantAttribute, ResourceChange, StateIdentity,
};

pub use temp_path::{with_temporary_symbols, without_temporary_plans};

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
