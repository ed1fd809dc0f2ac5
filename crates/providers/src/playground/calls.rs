//! The gate as a provider: each call passes the gate and then goes to the SDK's server.

use std::sync::Arc;

use provider::{
    ApplyResourceChangeRequest, ApplyResourceChangeResponse, BoxFuture, CallFunctionRequest,
    CloseEphemeralRequest, ConfigureRequest, FunctionFault, FunctionSignature,
    ImportResourceStateRequest, ImportResourceStateResponse, ImportTarget,
    MoveResourceStateRequest, MoveResourceStateResponse, OpenEphemeralRequest,
    OpenEphemeralResponse, PlanResourceChangeRequest, PlanResourceChangeResponse, Provider,
    ProviderDiagnostic, ProviderSchemas, ReadDataSourceRequest, ReadDataSourceResponse,
    ReadResourceRequest, ReadResourceResponse, RenewEphemeralRequest, RenewEphemeralResponse,
    StateResponse, UpgradeResourceIdentityRequest, UpgradeResourceIdentityResponse,
    UpgradeResourceStateRequest, ValidateRequest,
};
use sorted::SortedMap;
use values::{Str, Type, Value};

use super::gate::{Call, Gate};

impl Provider for Gate {
    fn schemas(&self) -> BoxFuture<'_, Result<Arc<ProviderSchemas>, Vec<ProviderDiagnostic>>> {
        Box::pin(async { self.pass(&Call::bare("schema"), self.inner.schemas()).await })
    }

    fn functions(
        &self,
    ) -> BoxFuture<'_, Result<SortedMap<Str, FunctionSignature>, Vec<ProviderDiagnostic>>> {
        Box::pin(async { self.pass(&Call::bare("functions"), self.inner.functions()).await })
    }

    fn validate_provider_config(&self, config: Value) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        Box::pin(async {
            let call = Call::about("validate_provider", "", &config);
            self.pass(&call, self.inner.validate_provider_config(config)).await
        })
    }

    fn configure(&self, request: ConfigureRequest) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        Box::pin(async {
            let call = Call::about("configure", "", &request.config);
            self.pass(&call, self.inner.configure(request)).await
        })
    }

    fn validate_resource_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        Box::pin(async {
            let call = Call::about("validate", &request.type_name, &request.config);
            self.pass(&call, self.inner.validate_resource_config(request)).await
        })
    }

    fn validate_data_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        Box::pin(async {
            let call = Call::about("validate", &request.type_name, &request.config);
            self.pass(&call, self.inner.validate_data_config(request)).await
        })
    }

    fn validate_ephemeral_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        Box::pin(async {
            let call = Call::about("validate", &request.type_name, &request.config);
            self.pass(&call, self.inner.validate_ephemeral_config(request)).await
        })
    }

    fn upgrade_resource_state(
        &self,
        request: UpgradeResourceStateRequest,
    ) -> BoxFuture<'_, StateResponse> {
        Box::pin(async {
            let call = Call::about("upgrade", &request.type_name, &Value::null(Type::Dynamic));
            self.pass(&call, self.inner.upgrade_resource_state(request)).await
        })
    }

    fn upgrade_resource_identity(
        &self,
        request: UpgradeResourceIdentityRequest,
    ) -> BoxFuture<'_, UpgradeResourceIdentityResponse> {
        Box::pin(async {
            let call = Call::about("upgrade", &request.type_name, &Value::null(Type::Dynamic));
            self.pass(&call, self.inner.upgrade_resource_identity(request)).await
        })
    }

    fn move_resource_state(
        &self,
        request: MoveResourceStateRequest,
    ) -> BoxFuture<'_, MoveResourceStateResponse> {
        Box::pin(async {
            let call = Call::about("move", &request.target_type_name, &Value::null(Type::Dynamic));
            self.pass(&call, self.inner.move_resource_state(request)).await
        })
    }

    fn read_resource(&self, request: ReadResourceRequest) -> BoxFuture<'_, ReadResourceResponse> {
        Box::pin(async {
            let call = Call::about("read", &request.type_name, &request.current_state).remote();
            self.pass(&call, self.inner.read_resource(request)).await
        })
    }

    fn plan_resource_change(
        &self,
        request: PlanResourceChangeRequest,
    ) -> BoxFuture<'_, PlanResourceChangeResponse> {
        Box::pin(async {
            let about =
                if request.config.is_null() { &request.prior_state } else { &request.config };
            let call = Call::about("plan", &request.type_name, about);
            self.pass(&call, self.inner.plan_resource_change(request)).await
        })
    }

    fn apply_resource_change(
        &self,
        request: ApplyResourceChangeRequest,
    ) -> BoxFuture<'_, ApplyResourceChangeResponse> {
        Box::pin(async {
            let rpc = match (request.prior_state.is_null(), request.planned_state.is_null()) {
                (true, _) => "create",
                (_, true) => "delete",
                _ => "update",
            };
            let about =
                if request.config.is_null() { &request.prior_state } else { &request.config };
            let call = Call::about(rpc, &request.type_name, about).remote();
            self.pass(&call, self.inner.apply_resource_change(request)).await
        })
    }

    fn import_resource_state(
        &self,
        request: ImportResourceStateRequest,
    ) -> BoxFuture<'_, ImportResourceStateResponse> {
        Box::pin(async {
            let id = match &request.target {
                ImportTarget::Id(id) => Value::string(id.clone()),
                ImportTarget::Identity(identity) => identity.clone(),
            };
            let about = Value::object_from([("id", id)]);
            let call = Call::about("import", &request.type_name, &about).remote();
            self.pass(&call, self.inner.import_resource_state(request)).await
        })
    }

    fn read_data_source(
        &self,
        request: ReadDataSourceRequest,
    ) -> BoxFuture<'_, ReadDataSourceResponse> {
        Box::pin(async {
            let call = Call::about("read_data", &request.type_name, &request.config).remote();
            self.pass(&call, self.inner.read_data_source(request)).await
        })
    }

    fn open_ephemeral(
        &self,
        request: OpenEphemeralRequest,
    ) -> BoxFuture<'_, OpenEphemeralResponse> {
        Box::pin(async {
            let call = Call::about("open", &request.type_name, &request.config).remote();
            let open = async {
                let mut response = self.inner.open_ephemeral(request).await;
                if let Some(opened) = &mut response.opened {
                    opened.private = call.remember(&opened.private);
                }
                response
            };
            self.pass(&call, open).await
        })
    }

    fn renew_ephemeral(
        &self,
        request: RenewEphemeralRequest,
    ) -> BoxFuture<'_, RenewEphemeralResponse> {
        Box::pin(async {
            let call = Call::opened("renew", &request.type_name, &request.private).remote();
            let before = request.private.clone();
            let mut response = self.pass(&call, self.inner.renew_ephemeral(request)).await;
            if response.private.is_empty() {
                // Closing needs the private data, even after a renewal that failed because of a fault.
                response.private = before;
            }
            response
        })
    }

    fn close_ephemeral(
        &self,
        request: CloseEphemeralRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        Box::pin(async {
            let call = Call::opened("close", &request.type_name, &request.private);
            self.pass(&call, self.inner.close_ephemeral(request)).await
        })
    }

    fn call_function(
        &self,
        request: CallFunctionRequest,
    ) -> BoxFuture<'_, Result<Value, FunctionFault>> {
        Box::pin(async {
            let call = Call::bare("call_function");
            self.pass(&call, self.inner.call_function(request)).await
        })
    }

    fn stop(&self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async {
            Gate::stop(self);
            self.pass(&Call::bare("stop"), async { Vec::new() }).await;
            self.inner.stop().await
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Gate::stop(self);
        if let Some(client) = self.inner.client() {
            client.end_tunnels();
        }
        self.inner.close()
    }
}
