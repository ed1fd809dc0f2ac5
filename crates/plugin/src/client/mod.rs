//! The client side: an implementation of [`Provider`] over a gRPC connection.

mod calls;
#[cfg(test)]
mod hostile_test;
mod provisioner;
mod session;

use std::sync::Arc;

use provider::{
    ApplyResourceChangeRequest, ApplyResourceChangeResponse, BoxFuture, CallFunctionRequest,
    CloseEphemeralRequest, ConfigureRequest, FunctionFault, FunctionSignature,
    ImportResourceStateRequest, ImportResourceStateResponse, MoveResourceStateRequest,
    MoveResourceStateResponse, OpenEphemeralRequest, OpenEphemeralResponse,
    PlanResourceChangeRequest, PlanResourceChangeResponse, Private, Provider, ProviderDiagnostic,
    ProviderSchemas, ReadDataSourceRequest, ReadDataSourceResponse, ReadResourceRequest,
    ReadResourceResponse, RenewEphemeralRequest, RenewEphemeralResponse, StateResponse,
    UpgradeResourceIdentityRequest, UpgradeResourceIdentityResponse, UpgradeResourceStateRequest,
    ValidateRequest,
};
use sorted::SortedMap;
use values::{Str, Value};

pub(crate) use self::session::decode_finite;
pub use self::{provisioner::GrpcProvisioner, session::GrpcProvider};

/// The diagnostics of a call without a usable answer.
type Failure = Vec<ProviderDiagnostic>;

/// The failure of a call that changes something.
struct UnansweredCall {
    diagnostics: Failure,
    /// True if the request certainly did not reach the provider.
    is_undelivered: bool,
}

/// Failures before the request is sent, so it was certainly not delivered.
impl From<Failure> for UnansweredCall {
    fn from(diagnostics: Failure) -> UnansweredCall {
        UnansweredCall { diagnostics, is_undelivered: true }
    }
}

impl Provider for GrpcProvider {
    fn schemas(&self) -> BoxFuture<'_, Result<Arc<ProviderSchemas>, Vec<ProviderDiagnostic>>> {
        Box::pin(self.ready())
    }

    fn functions(
        &self,
    ) -> BoxFuture<'_, Result<SortedMap<Str, FunctionSignature>, Vec<ProviderDiagnostic>>> {
        Box::pin(async { Ok((*self.all_functions().await?).clone()) })
    }

    fn validate_provider_config(&self, config: Value) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        Box::pin(async { flatten(self.try_validate_provider(config).await) })
    }

    fn configure(&self, request: ConfigureRequest) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        Box::pin(async { flatten(self.try_configure(request).await) })
    }

    fn validate_resource_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        Box::pin(async { flatten(self.try_validate_resource(request).await) })
    }

    fn validate_data_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        Box::pin(async { flatten(self.try_validate_data(request).await) })
    }

    fn validate_ephemeral_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        Box::pin(async { flatten(self.try_validate_ephemeral(request).await) })
    }

    fn upgrade_resource_state(
        &self,
        request: UpgradeResourceStateRequest,
    ) -> BoxFuture<'_, StateResponse> {
        Box::pin(async { self.try_upgrade(request).await.unwrap_or_else(no_state) })
    }

    fn upgrade_resource_identity(
        &self,
        request: UpgradeResourceIdentityRequest,
    ) -> BoxFuture<'_, UpgradeResourceIdentityResponse> {
        Box::pin(async {
            let upgraded = self.try_upgrade_identity(request).await;
            upgraded.unwrap_or_else(|diagnostics| UpgradeResourceIdentityResponse {
                identity: None,
                diagnostics,
            })
        })
    }

    fn move_resource_state(
        &self,
        request: MoveResourceStateRequest,
    ) -> BoxFuture<'_, MoveResourceStateResponse> {
        Box::pin(async {
            let moved = self.try_move(request).await;
            moved.unwrap_or_else(|diagnostics| MoveResourceStateResponse {
                state: None,
                private: None,
                identity: None,
                diagnostics,
            })
        })
    }

    fn read_resource(&self, request: ReadResourceRequest) -> BoxFuture<'_, ReadResourceResponse> {
        Box::pin(async {
            self.try_read(request).await.unwrap_or_else(|diagnostics| ReadResourceResponse {
                new_state: None,
                private: Private::default(),
                identity: None,
                diagnostics,
            })
        })
    }

    fn plan_resource_change(
        &self,
        request: PlanResourceChangeRequest,
    ) -> BoxFuture<'_, PlanResourceChangeResponse> {
        Box::pin(async {
            self.try_plan(request).await.unwrap_or_else(|diagnostics| PlanResourceChangeResponse {
                planned_state: None,
                requires_replace: Vec::new(),
                planned_private: Private::default(),
                planned_identity: None,
                legacy_type_system: false,
                diagnostics,
            })
        })
    }

    fn apply_resource_change(
        &self,
        request: ApplyResourceChangeRequest,
    ) -> BoxFuture<'_, ApplyResourceChangeResponse> {
        Box::pin(async {
            let failed = |it: UnansweredCall| ApplyResourceChangeResponse {
                new_state: None,
                is_undelivered: it.is_undelivered,
                private: Private::default(),
                new_identity: None,
                legacy_type_system: false,
                diagnostics: it.diagnostics,
            };
            self.try_apply(request).await.unwrap_or_else(failed)
        })
    }

    fn import_resource_state(
        &self,
        request: ImportResourceStateRequest,
    ) -> BoxFuture<'_, ImportResourceStateResponse> {
        Box::pin(async {
            let failed =
                |diagnostics| ImportResourceStateResponse { imported: Vec::new(), diagnostics };
            self.try_import(request).await.unwrap_or_else(failed)
        })
    }

    fn read_data_source(
        &self,
        request: ReadDataSourceRequest,
    ) -> BoxFuture<'_, ReadDataSourceResponse> {
        Box::pin(async {
            let failed = |diagnostics| ReadDataSourceResponse { state: None, diagnostics };
            self.try_read_data(request).await.unwrap_or_else(failed)
        })
    }

    fn open_ephemeral(
        &self,
        request: OpenEphemeralRequest,
    ) -> BoxFuture<'_, OpenEphemeralResponse> {
        Box::pin(async {
            let failed = |diagnostics| OpenEphemeralResponse { opened: None, diagnostics };
            self.try_open(request).await.unwrap_or_else(failed)
        })
    }

    fn renew_ephemeral(
        &self,
        request: RenewEphemeralRequest,
    ) -> BoxFuture<'_, RenewEphemeralResponse> {
        Box::pin(async {
            let private = request.private.clone();
            self.try_renew(request).await.unwrap_or_else(|diagnostics| RenewEphemeralResponse {
                renew_at: None,
                // Closing the resource still needs the private data.
                private,
                diagnostics,
            })
        })
    }

    fn close_ephemeral(
        &self,
        request: CloseEphemeralRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        Box::pin(async { flatten(self.try_close(request).await) })
    }

    fn call_function(
        &self,
        request: CallFunctionRequest,
    ) -> BoxFuture<'_, Result<Value, FunctionFault>> {
        Box::pin(self.try_call_function(request))
    }

    fn stop(&self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(self.try_stop())
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.end())
    }
}

fn flatten(result: Result<Vec<ProviderDiagnostic>, Failure>) -> Vec<ProviderDiagnostic> {
    result.unwrap_or_else(|diagnostics| diagnostics)
}

fn no_state(diagnostics: Failure) -> StateResponse {
    StateResponse { state: None, diagnostics }
}
