//! States and plans: their models and their file formats.
//!
//! Start reading at [`State`], [`Object`], [`ObjectAddress`] and [`StateFile`]; then [`Plan`] and [`PlanFile`], then
//! [`journal`].
//!
//! ```text
//!   bytes ──StateFile::read──► StateFile { serial, lineage, State } ──StateFile::write──► bytes (format 4, JSON)
//!   bytes ──PlanFile::read───► PlanFile { Plan, two StateFiles, locks, sources, tmp } ──PlanFile::write──► bytes (zip)
//!   bytes ──Journal::read────► Journal { the records of a run }      ──Record::write────► bytes (JSON lines)
//! ```
//!
//! **Invariant:** an object's attributes stay the JSON text that they were read as; reading and writing a state decodes
//! no attribute, so both are linear and an unchanged object costs one copy.
//! **Invariant:** encoding a value with an ephemeral mark, or an object of an ephemeral resource, is an error.
//! **Invariant:** no input makes a reader panic or allocate without bound; a damaged file is one error and no data.
//! **Absent on purpose:** storage, locks, encryption, schemas, configuration.

mod checks;
mod error;
pub mod fuzz;
pub mod journal;
mod marks;
mod object;
mod object_address;
mod plan;
mod resources;
mod v4;

pub use checks::{CheckKind, CheckObject, CheckResult, CheckResults, CheckStatus};
pub use error::{EncodeError, StateError};
pub use object::{Attributes, DecodeError, Identity, Object, Status};
pub use object_address::ObjectAddress;
pub use plan::{
    Action, BackendRecord, Change, ConfigSnapshot, EphemeralPlan, Importing, ModuleSource,
    OutputChange, Plan, PlanFile, PlanFileError, PlanMode, PlannedFile, PlannedFiles, Reason,
    RelevantAttribute, ResourceChange, StateIdentity, TempEntry, TempKind, with_temporary_symbols,
    without_temporary_plans,
};
pub use resources::{
    DeposedKey, Instance, InstanceEntry, OutputValue, ResourceState, State, StateFile,
};

/// The version of OpenTofu whose formats are used. States are written with this version.
pub const WRITTEN_VERSION: &str = addr::OPENTOFU_VERSION;
