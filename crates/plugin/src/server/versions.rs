//! The gRPC services of both protocol versions, which forward each call to a method of [`Service`].

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt;
use tonic::{Request, Response, Status};

use crate::{
    generated::{tfplugin, tfplugin5, tfplugin6},
    server::service::Service,
};

/// The service of protocol 5.
pub(super) struct V5(pub(super) Arc<Service>);
/// The service of protocol 6.
pub(super) struct V6(pub(super) Arc<Service>);

/// Implements the service of one version; each line maps a call to a method of [`Service`].
macro_rules! serve {
    ($version:ident $package:ident $schema:ident {
        $($rpc:ident $method:ident $request:ident $response:ident;)*
    }) => {
        #[tonic::async_trait]
        impl $package::provider_server::Provider for $version {
            async fn $schema(
                &self,
                _: Request<tfplugin::GetProviderSchemaRequest>,
            ) -> Result<Response<$package::GetProviderSchemaResponse>, Status> {
                let answer = guarded(stringify!($schema), self.0.schema()).await?;
                let fits = answer.try_into();
                fits.map(Response::new).map_err(|_| Status::failed_precondition("the schemas need protocol 6"))
            }

            $(async fn $rpc(
                &self,
                request: Request<tfplugin::$request>,
            ) -> Result<Response<tfplugin::$response>, Status> {
                guarded(stringify!($rpc), self.0.$method(request.into_inner())).await.map(Response::new)
            })*
        }
    };
}

serve! { V5 tfplugin5 get_schema {
    get_resource_identity_schemas identities GetResourceIdentitySchemasRequest GetResourceIdentitySchemasResponse;
    prepare_provider_config validate_provider ValidateProviderConfigRequest ValidateProviderConfigResponse;
    validate_resource_type_config validate_resource ValidateResourceConfigRequest ValidateConfigResponse;
    validate_data_source_config validate_data ValidateDataResourceConfigRequest ValidateConfigResponse;
    validate_ephemeral_resource_config validate_ephemeral ValidateEphemeralResourceConfigRequest ValidateConfigResponse;
    upgrade_resource_state upgrade UpgradeResourceStateRequest UpgradeResourceStateResponse;
    upgrade_resource_identity upgrade_identity UpgradeResourceIdentityRequest UpgradeResourceIdentityResponse;
    configure configure ConfigureProviderRequest ConfigureProviderResponse;
    read_resource read ReadResourceRequest ReadResourceResponse;
    plan_resource_change plan PlanResourceChangeRequest PlanResourceChangeResponse;
    apply_resource_change apply ApplyResourceChangeRequest ApplyResourceChangeResponse;
    import_resource_state import ImportResourceStateRequest ImportResourceStateResponse;
    move_resource_state move_state MoveResourceStateRequest MoveResourceStateResponse;
    read_data_source read_data ReadDataSourceRequest ReadDataSourceResponse;
    open_ephemeral_resource open OpenEphemeralResourceRequest OpenEphemeralResourceResponse;
    renew_ephemeral_resource renew RenewEphemeralResourceRequest RenewEphemeralResourceResponse;
    close_ephemeral_resource close CloseEphemeralResourceRequest CloseEphemeralResourceResponse;
    get_functions functions GetFunctionsRequest GetFunctionsResponse;
    call_function call_function CallFunctionRequest CallFunctionResponse;
    stop stop StopProviderRequest StopProviderResponse;
}}

serve! { V6 tfplugin6 get_provider_schema {
    get_resource_identity_schemas identities GetResourceIdentitySchemasRequest GetResourceIdentitySchemasResponse;
    validate_provider_config validate_provider ValidateProviderConfigRequest ValidateProviderConfigResponse;
    validate_resource_config validate_resource ValidateResourceConfigRequest ValidateConfigResponse;
    validate_data_resource_config validate_data ValidateDataResourceConfigRequest ValidateConfigResponse;
    validate_ephemeral_resource_config validate_ephemeral ValidateEphemeralResourceConfigRequest ValidateConfigResponse;
    upgrade_resource_state upgrade UpgradeResourceStateRequest UpgradeResourceStateResponse;
    upgrade_resource_identity upgrade_identity UpgradeResourceIdentityRequest UpgradeResourceIdentityResponse;
    configure_provider configure ConfigureProviderRequest ConfigureProviderResponse;
    read_resource read ReadResourceRequest ReadResourceResponse;
    plan_resource_change plan PlanResourceChangeRequest PlanResourceChangeResponse;
    apply_resource_change apply ApplyResourceChangeRequest ApplyResourceChangeResponse;
    import_resource_state import ImportResourceStateRequest ImportResourceStateResponse;
    move_resource_state move_state MoveResourceStateRequest MoveResourceStateResponse;
    read_data_source read_data ReadDataSourceRequest ReadDataSourceResponse;
    open_ephemeral_resource open OpenEphemeralResourceRequest OpenEphemeralResourceResponse;
    renew_ephemeral_resource renew RenewEphemeralResourceRequest RenewEphemeralResourceResponse;
    close_ephemeral_resource close CloseEphemeralResourceRequest CloseEphemeralResourceResponse;
    get_functions functions GetFunctionsRequest GetFunctionsResponse;
    call_function call_function CallFunctionRequest CallFunctionResponse;
    stop_provider stop StopProviderRequest StopProviderResponse;
}}

/// Runs a call. A panic in it becomes a status: if it closed the stream, the core would report a crash of the
/// whole plugin.
async fn guarded<T>(call: &str, answer: impl Future<Output = T>) -> Result<T, Status> {
    // The provider may be in an inconsistent state after a panic. It has to handle later calls as after any error.
    AssertUnwindSafe(answer)
        .catch_unwind()
        .await
        .map_err(|_| Status::internal(format!("panic in {call}")))
}
