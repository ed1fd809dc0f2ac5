//! The provider interface of the engine: schemas, requests and responses, and the rules that responses must
//! follow.
//!
//! Start reading at [`Schema`] and [`Block`], then [`Provider`], then [`objchange`].
//!
//! **Invariant:** requests and responses have no `Debug`: a configuration may hold the value of a write-only
//! attribute, and the result of opening an ephemeral resource is a secret as a whole.
//! **Invariant:** a schema that was read from the cache is equal to the one that was written, or reading it is an
//! error; above all, no attribute loses `write_only` or `sensitive`.
//! **Invariant:** the functions of [`objchange`] and the walks over schemas keep every mark of the values they
//! move.
//! **Absent on purpose:** protocol buffers, processes, configuration, addresses of resources in a configuration.

#[cfg(test)]
mod fixture;
pub mod fuzz;
pub mod objchange;
mod provider;
mod provisioner;
mod schema;
pub mod schema_codec;
mod schemas;
mod walk;
#[cfg(test)]
mod walk_tests;

pub use crate::provider::{
    ApplyResourceChangeRequest, ApplyResourceChangeResponse, BoxFuture, CLOSE_EPHEMERAL_TIMEOUT,
    CallFunctionRequest, CloseEphemeralRequest, ConfigureRequest, FunctionFault,
    ImportResourceStateRequest, ImportResourceStateResponse, ImportTarget, ImportedResource,
    MoveResourceStateRequest, MoveResourceStateResponse, OpenEphemeralRequest,
    OpenEphemeralResponse, OpenedEphemeral, PlanResourceChangeRequest, PlanResourceChangeResponse,
    Private, Provider, ProviderDiagnostic, RawState, ReadDataSourceRequest, ReadDataSourceResponse,
    ReadResourceRequest, ReadResourceResponse, RenewEphemeralRequest, RenewEphemeralResponse,
    Severity, SourceIdentity, StateResponse, UpgradeResourceIdentityRequest,
    UpgradeResourceIdentityResponse, UpgradeResourceStateRequest, ValidateRequest,
};
pub use crate::provisioner::{ProvisionRequest, Provisioner};
pub use crate::schema::{
    Attribute, AttributeType, Block, DescriptionKind, FunctionParameter, FunctionSignature,
    MissingAttribute, NestedBlock, NestedObject, Nesting, ObjectNesting, Schema, SchemaProblem,
};
pub use crate::schemas::{Capabilities, ProviderSchemas, SchemaTypes};
pub use crate::walk::{
    mark_by_schema, mark_deprecated_by_schema, null_write_only, sensitive_paths, unmark_write_only,
    write_only_paths, write_only_values, write_only_values_present,
};
