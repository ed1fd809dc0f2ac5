//! The calls of both protocol versions, each of which is forwarded to a method of [`Service`].

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt;
use tonic::Status;

use crate::{
    encoded::{Answer, decoded, encoded},
    generated::{tfplugin5, tfplugin6},
    server::service::Service,
};

/// Defines the calls of one version; each line maps one to a method of [`Service`].
macro_rules! serve {
    ($version:ident $package:ident $schema:literal {
        $($call:literal $method:ident;)*
    }) => {
        /// Returns what answers the calls of this version.
        pub(super) fn $version(service: Arc<Service>) -> Answer {
            Arc::new(move |call, request| {
                let service = Arc::clone(&service);
                match call {
                    $schema => Box::pin(async move {
                        let answer = guarded($schema, service.schema()).await?;
                        let fits = $package::GetProviderSchemaResponse::try_from(answer);
                        fits.map(|it| encoded(&it))
                            .map_err(|_| Status::failed_precondition("the schemas need protocol 6"))
                    }),
                    $($call => Box::pin(async move {
                        let request = decoded(request)?;
                        guarded($call, service.$method(request)).await.map(|it| encoded(&it))
                    }),)*
                    _ => Box::pin(async { Err(Status::unimplemented("")) }),
                }
            })
        }
    };
}

serve! { v5 tfplugin5 "GetSchema" {
    "GetResourceIdentitySchemas" identities;
    "PrepareProviderConfig" validate_provider;
    "ValidateResourceTypeConfig" validate_resource;
    "ValidateDataSourceConfig" validate_data;
    "ValidateEphemeralResourceConfig" validate_ephemeral;
    "UpgradeResourceState" upgrade;
    "UpgradeResourceIdentity" upgrade_identity;
    "Configure" configure;
    "ReadResource" read;
    "PlanResourceChange" plan;
    "ApplyResourceChange" apply;
    "ImportResourceState" import;
    "MoveResourceState" move_state;
    "ReadDataSource" read_data;
    "OpenEphemeralResource" open;
    "RenewEphemeralResource" renew;
    "CloseEphemeralResource" close;
    "GetFunctions" functions;
    "CallFunction" call_function;
    "Stop" stop;
}}

serve! { v6 tfplugin6 "GetProviderSchema" {
    "GetResourceIdentitySchemas" identities;
    "ValidateProviderConfig" validate_provider;
    "ValidateResourceConfig" validate_resource;
    "ValidateDataResourceConfig" validate_data;
    "ValidateEphemeralResourceConfig" validate_ephemeral;
    "UpgradeResourceState" upgrade;
    "UpgradeResourceIdentity" upgrade_identity;
    "ConfigureProvider" configure;
    "ReadResource" read;
    "PlanResourceChange" plan;
    "ApplyResourceChange" apply;
    "ImportResourceState" import;
    "MoveResourceState" move_state;
    "ReadDataSource" read_data;
    "OpenEphemeralResource" open;
    "RenewEphemeralResource" renew;
    "CloseEphemeralResource" close;
    "GetFunctions" functions;
    "CallFunction" call_function;
    "StopProvider" stop;
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
