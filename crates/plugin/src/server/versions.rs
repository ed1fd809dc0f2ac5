//! The calls of both protocol versions, each of which is forwarded to a method of [`Service`].

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt;
use tonic::Status;

use crate::{
    encoded::{Calls, EncodedMessage, Respond, decoded, encoded},
    generated::{tfplugin, tfplugin5, tfplugin6},
    server::service::Service,
};

/// Defines what answers the calls of both versions; each line maps the names of a call in protocols 5 and 6 to a method
/// of [`Service`].
macro_rules! serve {
    ($($v5:literal $v6:literal $method:ident;)*) => {
        serve! { v5 tfplugin5 "GetSchema" $($v5 $method)* }
        serve! { v6 tfplugin6 "GetProviderSchema" $($v6 $method)* }

        /// The names of each call in protocols 5 and 6.
        #[cfg(test)]
        const CALLS: &[[&str; 2]] = &[$([$v5, $v6]),*];
    };
    ($version:ident $package:ident $schema:literal $($call:literal $method:ident)*) => {
        /// Returns what answers the calls of this version.
        pub(super) fn $version(service: Arc<Service>) -> Calls {
            Arc::new(move |call| {
                let service = Arc::clone(&service);
                Some(match call {
                    $schema => respond(|request| async move {
                        let tfplugin::GetProviderSchemaRequest {} = decoded(request)?;
                        let answer = guarded($schema, service.schema()).await?;
                        let fits = $package::GetProviderSchemaResponse::try_from(answer);
                        fits.map(|it| encoded(&it))
                            .map_err(|_| Status::failed_precondition("the schemas need protocol 6"))
                    }),
                    $($call => respond(|request| async move {
                        let request = decoded(request)?;
                        guarded($call, service.$method(request)).await.map(|it| encoded(&it))
                    }),)*
                    _ => return None,
                })
            })
        }
    };
}

serve! {
    "GetResourceIdentitySchemas" "GetResourceIdentitySchemas" identities;
    "PrepareProviderConfig" "ValidateProviderConfig" validate_provider;
    "ValidateResourceTypeConfig" "ValidateResourceConfig" validate_resource;
    "ValidateDataSourceConfig" "ValidateDataResourceConfig" validate_data;
    "ValidateEphemeralResourceConfig" "ValidateEphemeralResourceConfig" validate_ephemeral;
    "UpgradeResourceState" "UpgradeResourceState" upgrade;
    "UpgradeResourceIdentity" "UpgradeResourceIdentity" upgrade_identity;
    "Configure" "ConfigureProvider" configure;
    "ReadResource" "ReadResource" read;
    "PlanResourceChange" "PlanResourceChange" plan;
    "ApplyResourceChange" "ApplyResourceChange" apply;
    "ImportResourceState" "ImportResourceState" import;
    "MoveResourceState" "MoveResourceState" move_state;
    "ReadDataSource" "ReadDataSource" read_data;
    "OpenEphemeralResource" "OpenEphemeralResource" open;
    "RenewEphemeralResource" "RenewEphemeralResource" renew;
    "CloseEphemeralResource" "CloseEphemeralResource" close;
    "GetFunctions" "GetFunctions" functions;
    "CallFunction" "CallFunction" call_function;
    "Stop" "StopProvider" stop;
}

fn respond<F: Future<Output = Result<EncodedMessage, Status>> + Send + 'static>(
    answer: impl FnOnce(EncodedMessage) -> F + Send + 'static,
) -> Respond {
    Box::new(|request| Box::pin(answer(request)))
}

/// Runs a call. A panic in it becomes a status: if it closed the stream, the core would report a crash of the
/// whole plugin.
async fn guarded<T>(call: &str, answer: impl Future<Output = T>) -> Result<T, Status> {
    // The provider may be in an inconsistent state after a panic. It has to handle later calls as after any error.
    AssertUnwindSafe(answer)
        .catch_unwind()
        .await
        .map_err(|_| Status::internal(format!("panic in {call}")))
}

#[cfg(test)]
mod tests {
    use super::CALLS;
    use crate::wire;

    #[test]
    fn server_answers_the_calls_of_the_client() {
        let mut answered = CALLS.to_vec();
        answered.sort_unstable();
        // The table of the client is compared with the files of the protocols.
        let mut called: Vec<_> = wire::CALLS.iter().map(|it| [it[0], it[1]]).collect();
        called.sort_unstable();
        assert_eq!(answered, called);
    }
}
