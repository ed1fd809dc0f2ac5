//! One client for both protocol versions, and the errors of failed calls.

use std::error::Error;

use tonic::{Code, ConnectError, Status, transport::Channel};

use crate::{
    generated::{tfplugin, tfplugin5, tfplugin6},
    protocol::ProtocolVersion,
    schema_read::SchemaAnswer,
};

/// The size limit of an answer: the most that provider SDKs send, and a bound on the memory that a claimed length
/// can cost.
pub(crate) const LARGEST_MESSAGE: usize = 256 << 20;

/// The client for the protocol version that the handshake chose.
#[derive(Clone)]
pub(crate) enum WireClient {
    V5(tfplugin5::provider_client::ProviderClient<Channel>),
    V6(tfplugin6::provider_client::ProviderClient<Channel>),
}

/// A call without an answer.
pub(crate) struct RpcFailure {
    /// The name of the call as cores write it in diagnostics, such as `plugin6.(*GRPCProvider).ReadResource`.
    pub(crate) call: String,
    status: Status,
}

impl RpcFailure {
    pub(crate) fn new(call: String, status: Status) -> RpcFailure {
        RpcFailure { call, status }
    }

    pub(crate) fn is_unimplemented(&self) -> bool {
        self.status.code() == Code::Unimplemented
    }

    /// Returns true if the connection is gone.
    pub(crate) fn is_unavailable(&self) -> bool {
        self.code() == Code::Unavailable
    }

    /// Returns true if the request certainly did not reach the provider's own code. In doubt this returns false: a
    /// broken connection may have delivered the request, and the provider may forward a status code of a service
    /// that it calls.
    pub(crate) fn is_undelivered(&self) -> bool {
        match self.status.source() {
            Some(cause) => causes(cause).any(|it| it.is::<ConnectError>()),
            None => self.is_unimplemented() && self.is_without_code(),
        }
    }

    /// Returns true if the message of the status is that of a gRPC library without an implementation of this call.
    /// The libraries of Rust and C++ send an empty message.
    fn is_without_code(&self) -> bool {
        let words = self.status.message();
        let method = self.call.rsplit('.').next().unwrap_or_default();
        matches!(words, "" | "Method not found!")
            || words.starts_with("unknown service tfplugin")
            || words.starts_with(&format!("unknown method {method} for service tfplugin"))
            || words == format!("method {method} not implemented")
    }

    /// The summary and the detail of the diagnostic. The plugin's text in them is not redacted yet. `plugin` is its
    /// kind and name.
    pub(crate) fn texts(&self, plugin: &str) -> (&'static str, String) {
        let call = &self.call;
        match self.code() {
            Code::Unavailable => (
                "Plugin did not respond",
                format!(
                    "The {plugin} encountered an error, and failed to respond to the \
                     {call} call. The plugin logs may contain more details."
                ),
            ),
            Code::Cancelled => {
                ("Request cancelled", format!("The {call} request to the {plugin} was cancelled."))
            }
            Code::Unimplemented => (
                "Unsupported plugin method",
                format!("The {call} method is not supported by the {plugin}."),
            ),
            _ => (
                "Plugin error",
                format!(
                    "The {plugin} returned an unexpected error from {call}: {}",
                    self.status.message()
                ),
            ),
        }
    }

    /// Removes the plugin's text, which may quote a secret that the redactor does not have.
    pub(crate) fn without_words(mut self) -> Self {
        if !matches!(self.code(), Code::Unavailable | Code::Cancelled | Code::Unimplemented) {
            self.status = Status::unknown(
                "(its message is not shown: it may quote an opened value that is not known)",
            );
        }
        self
    }

    /// The status code. A status with a source error was made by the client for a broken connection, not sent by
    /// the plugin.
    fn code(&self) -> Code {
        if self.status.source().is_some() { Code::Unavailable } else { self.status.code() }
    }
}

/// An iterator over an error and its sources.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |it| (*it).source())
}

impl WireClient {
    /// Creates a client on `channel` that sends requests of any size.
    pub(crate) fn new(channel: Channel, protocol: ProtocolVersion) -> Self {
        match protocol {
            ProtocolVersion::V5 => Self::V5(
                tfplugin5::provider_client::ProviderClient::new(channel)
                    .max_decoding_message_size(LARGEST_MESSAGE)
                    .max_encoding_message_size(usize::MAX),
            ),
            ProtocolVersion::V6 => Self::V6(
                tfplugin6::provider_client::ProviderClient::new(channel)
                    .max_decoding_message_size(LARGEST_MESSAGE)
                    .max_encoding_message_size(usize::MAX),
            ),
        }
    }

    /// The name of a call as cores write it.
    pub(crate) fn call(&self, method: &str) -> String {
        let package = match self {
            Self::V5(_) => "plugin",
            Self::V6(_) => "plugin6",
        };
        format!("{package}.(*GRPCProvider).{method}")
    }

    fn failure(&self, method: &str, status: Status) -> RpcFailure {
        RpcFailure { call: self.call(method), status }
    }

    /// Requests the schemas.
    pub(crate) async fn schema(&self) -> Result<SchemaAnswer, RpcFailure> {
        let request = tfplugin::GetProviderSchemaRequest {};
        let answer = match self {
            Self::V5(client) => {
                client.clone().get_schema(request).await.map(|it| it.into_inner().into())
            }
            Self::V6(client) => {
                client.clone().get_provider_schema(request).await.map(|it| it.into_inner().into())
            }
        };
        answer.map_err(|status| self.failure("GetProviderSchema", status))
    }
}

/// Defines one method of [`WireClient`] per call, from its name in core, in protocol 5 and in protocol 6.
macro_rules! calls {
    ($($method:ident $name:literal $v5:ident $v6:ident $request:ident $response:ident;)*) => {
        impl WireClient {
            $(pub(crate) async fn $method(
                &self,
                request: tfplugin::$request,
            ) -> Result<tfplugin::$response, RpcFailure> {
                let answer = match self {
                    Self::V5(client) => client.clone().$v5(request).await,
                    Self::V6(client) => client.clone().$v6(request).await,
                };
                answer.map(tonic::Response::into_inner).map_err(|status| self.failure($name, status))
            })*
        }
    };
}

calls! {
    identity_schemas "GetResourceIdentitySchemas" get_resource_identity_schemas get_resource_identity_schemas
        GetResourceIdentitySchemasRequest GetResourceIdentitySchemasResponse;
    validate_provider "ValidateProviderConfig" prepare_provider_config validate_provider_config
        ValidateProviderConfigRequest ValidateProviderConfigResponse;
    validate_resource "ValidateResourceConfig" validate_resource_type_config validate_resource_config
        ValidateResourceConfigRequest ValidateConfigResponse;
    validate_data "ValidateDataResourceConfig" validate_data_source_config validate_data_resource_config
        ValidateDataResourceConfigRequest ValidateConfigResponse;
    validate_ephemeral "ValidateEphemeralConfig" validate_ephemeral_resource_config validate_ephemeral_resource_config
        ValidateEphemeralResourceConfigRequest ValidateConfigResponse;
    upgrade_state "UpgradeResourceState" upgrade_resource_state upgrade_resource_state
        UpgradeResourceStateRequest UpgradeResourceStateResponse;
    upgrade_identity "UpgradeResourceIdentity" upgrade_resource_identity upgrade_resource_identity
        UpgradeResourceIdentityRequest UpgradeResourceIdentityResponse;
    configure "ConfigureProvider" configure configure_provider
        ConfigureProviderRequest ConfigureProviderResponse;
    read_resource "ReadResource" read_resource read_resource ReadResourceRequest ReadResourceResponse;
    plan "PlanResourceChange" plan_resource_change plan_resource_change
        PlanResourceChangeRequest PlanResourceChangeResponse;
    apply "ApplyResourceChange" apply_resource_change apply_resource_change
        ApplyResourceChangeRequest ApplyResourceChangeResponse;
    import "ImportResourceState" import_resource_state import_resource_state
        ImportResourceStateRequest ImportResourceStateResponse;
    move_state "MoveResourceState" move_resource_state move_resource_state
        MoveResourceStateRequest MoveResourceStateResponse;
    read_data "ReadDataSource" read_data_source read_data_source ReadDataSourceRequest ReadDataSourceResponse;
    open_ephemeral "OpenEphemeralResource" open_ephemeral_resource open_ephemeral_resource
        OpenEphemeralResourceRequest OpenEphemeralResourceResponse;
    renew_ephemeral "RenewEphemeralResource" renew_ephemeral_resource renew_ephemeral_resource
        RenewEphemeralResourceRequest RenewEphemeralResourceResponse;
    close_ephemeral "CloseEphemeralResource" close_ephemeral_resource close_ephemeral_resource
        CloseEphemeralResourceRequest CloseEphemeralResourceResponse;
    functions "GetFunctions" get_functions get_functions GetFunctionsRequest GetFunctionsResponse;
    call_function "CallFunction" call_function call_function CallFunctionRequest CallFunctionResponse;
    stop "Stop" stop stop_provider StopProviderRequest StopProviderResponse;
}

#[cfg(test)]
mod tests {
    use std::io;

    use hyper_util::rt::TokioIo;
    use tokio::net::UnixStream;
    use tonic::transport::{Endpoint, Uri};

    use super::*;

    fn failure(status: Status) -> RpcFailure {
        RpcFailure { call: "plugin6.(*GRPCProvider).ApplyResourceChange".to_owned(), status }
    }

    #[test]
    fn unimplemented_status_of_the_library_means_undelivered() {
        for (status, expected) in [
            (Status::unimplemented(""), true),
            (Status::unimplemented("unknown service tfplugin6.Provider"), true),
            (
                Status::unimplemented(
                    "unknown method ApplyResourceChange for service tfplugin6.Provider",
                ),
                true,
            ),
            (Status::unimplemented("method ApplyResourceChange not implemented"), true),
            // A status that the provider forwards from another service.
            (Status::unimplemented("unknown method Put for service shop.Shop"), false),
            (Status::unimplemented("tags are not implemented"), false),
            (Status::unavailable(""), false),
            (Status::unavailable("connection refused"), false),
            (Status::resource_exhausted("grpc: received message larger than max (5 vs. 4)"), false),
            (Status::internal("grpc: failed to unmarshal the received message"), false),
            (Status::invalid_argument(""), false),
            (Status::cancelled(""), false),
            (Status::from_error("the connection broke".into()), false),
        ] {
            let text = format!("{status:?}");
            assert_eq!(failure(status).is_undelivered(), expected, "{text}");
        }
    }

    #[tokio::test]
    async fn call_without_a_connection_is_undelivered() {
        let nobody = tower::service_fn(|_: Uri| async {
            Err::<TokioIo<UnixStream>, _>(io::Error::from(io::ErrorKind::ConnectionRefused))
        });
        let channel = Endpoint::from_static("http://localhost").connect_with_connector_lazy(nobody);
        let wire = WireClient::new(channel, ProtocolVersion::V6);
        let answer = wire.apply(tfplugin::ApplyResourceChangeRequest::default()).await;
        let failure = answer.err().expect("nobody is there");
        assert!(failure.is_unavailable() && failure.is_undelivered(), "{:?}", failure.status);
    }
}
