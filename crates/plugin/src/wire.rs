//! One client for both protocol versions, and the errors of failed calls.

use std::error::Error;

use bytes::Bytes;
use prost::Message;
use tonic::{
    Code, ConnectError, Request, Response, Status, client::Grpc, codegen::http::uri::PathAndQuery,
    transport::Channel,
};

use crate::{
    encoded::{EncodedMessages, decoded, encoded},
    generated::{tfplugin, tfplugin5, tfplugin6},
    protocol::ProtocolVersion,
    schema_read::SchemaAnswer,
};

/// The size limit of an answer: the most that provider SDKs send, and a bound on the memory that a claimed length
/// can cost.
pub(crate) const LARGEST_MESSAGE: usize = 256 << 20;

/// The client for the protocol version that the handshake chose.
#[derive(Clone)]
pub(crate) struct WireClient {
    grpc: Grpc<Channel>,
    pub(crate) protocol: ProtocolVersion,
}

/// A kind of calls.
struct Call {
    /// Its name in diagnostics of cores.
    name: &'static str,
    /// Its paths in protocols 5 and 6.
    paths: [&'static str; 2],
}

impl Call {
    fn new(name: &'static str, paths: [&'static str; 2]) -> Call {
        Call { name, paths }
    }
}

/// Returns the paths of a call from its names in protocols 5 and 6.
macro_rules! paths {
    ($v5:literal, $v6:literal) => {
        [concat!("/tfplugin5.Provider/", $v5), concat!("/tfplugin6.Provider/", $v6)]
    };
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
        let grpc = Grpc::new(channel)
            .max_decoding_message_size(LARGEST_MESSAGE)
            .max_encoding_message_size(usize::MAX);
        Self { grpc, protocol }
    }

    /// The name of a call as cores write it.
    pub(crate) fn call(&self, method: &str) -> String {
        let package = match self.protocol {
            ProtocolVersion::V5 => "plugin",
            ProtocolVersion::V6 => "plugin6",
        };
        format!("{package}.(*GRPCProvider).{method}")
    }

    /// Requests the schemas.
    pub(crate) async fn schema(&self) -> Result<SchemaAnswer, RpcFailure> {
        let call = Call::new("GetProviderSchema", paths!("GetSchema", "GetProviderSchema"));
        let request = tfplugin::GetProviderSchemaRequest {};
        Ok(match self.protocol {
            ProtocolVersion::V5 => {
                self.ask::<tfplugin5::GetProviderSchemaResponse>(&call, &request).await?.into()
            }
            ProtocolVersion::V6 => {
                self.ask::<tfplugin6::GetProviderSchemaResponse>(&call, &request).await?.into()
            }
        })
    }

    async fn ask<A: Message + Default>(
        &self,
        call: &Call,
        request: &impl Message,
    ) -> Result<A, RpcFailure> {
        let answer = self.exchange(call, encoded(request)).await.and_then(decoded);
        answer.map_err(|status| RpcFailure { call: self.call(call.name), status })
    }

    /// Sends an encoded message, and returns that of the answer.
    async fn exchange(&self, call: &Call, request: Bytes) -> Result<Bytes, Status> {
        let path = match self.protocol {
            ProtocolVersion::V5 => call.paths[0],
            ProtocolVersion::V6 => call.paths[1],
        };
        let mut grpc = self.grpc.clone();
        grpc.ready()
            .await
            .map_err(|error| Status::unknown(format!("Service was not ready: {error}")))?;
        let path = PathAndQuery::from_static(path);
        grpc.unary(Request::new(request), path, EncodedMessages).await.map(Response::into_inner)
    }
}

/// Defines one method of [`WireClient`] per call, from its name in core and its names in protocols 5 and 6.
macro_rules! calls {
    ($($method:ident $name:literal $v5:literal $v6:literal $request:ident $response:ident;)*) => {
        impl WireClient {
            $(pub(crate) async fn $method(
                &self,
                request: tfplugin::$request,
            ) -> Result<tfplugin::$response, RpcFailure> {
                self.ask(&Call::new($name, paths!($v5, $v6)), &request).await
            })*
        }
    };
}

calls! {
    identity_schemas "GetResourceIdentitySchemas" "GetResourceIdentitySchemas" "GetResourceIdentitySchemas"
        GetResourceIdentitySchemasRequest GetResourceIdentitySchemasResponse;
    validate_provider "ValidateProviderConfig" "PrepareProviderConfig" "ValidateProviderConfig"
        ValidateProviderConfigRequest ValidateProviderConfigResponse;
    validate_resource "ValidateResourceConfig" "ValidateResourceTypeConfig" "ValidateResourceConfig"
        ValidateResourceConfigRequest ValidateConfigResponse;
    validate_data "ValidateDataResourceConfig" "ValidateDataSourceConfig" "ValidateDataResourceConfig"
        ValidateDataResourceConfigRequest ValidateConfigResponse;
    validate_ephemeral "ValidateEphemeralConfig" "ValidateEphemeralResourceConfig" "ValidateEphemeralResourceConfig"
        ValidateEphemeralResourceConfigRequest ValidateConfigResponse;
    upgrade_state "UpgradeResourceState" "UpgradeResourceState" "UpgradeResourceState"
        UpgradeResourceStateRequest UpgradeResourceStateResponse;
    upgrade_identity "UpgradeResourceIdentity" "UpgradeResourceIdentity" "UpgradeResourceIdentity"
        UpgradeResourceIdentityRequest UpgradeResourceIdentityResponse;
    configure "ConfigureProvider" "Configure" "ConfigureProvider"
        ConfigureProviderRequest ConfigureProviderResponse;
    read_resource "ReadResource" "ReadResource" "ReadResource" ReadResourceRequest ReadResourceResponse;
    plan "PlanResourceChange" "PlanResourceChange" "PlanResourceChange"
        PlanResourceChangeRequest PlanResourceChangeResponse;
    apply "ApplyResourceChange" "ApplyResourceChange" "ApplyResourceChange"
        ApplyResourceChangeRequest ApplyResourceChangeResponse;
    import "ImportResourceState" "ImportResourceState" "ImportResourceState"
        ImportResourceStateRequest ImportResourceStateResponse;
    move_state "MoveResourceState" "MoveResourceState" "MoveResourceState"
        MoveResourceStateRequest MoveResourceStateResponse;
    read_data "ReadDataSource" "ReadDataSource" "ReadDataSource" ReadDataSourceRequest ReadDataSourceResponse;
    open_ephemeral "OpenEphemeralResource" "OpenEphemeralResource" "OpenEphemeralResource"
        OpenEphemeralResourceRequest OpenEphemeralResourceResponse;
    renew_ephemeral "RenewEphemeralResource" "RenewEphemeralResource" "RenewEphemeralResource"
        RenewEphemeralResourceRequest RenewEphemeralResourceResponse;
    close_ephemeral "CloseEphemeralResource" "CloseEphemeralResource" "CloseEphemeralResource"
        CloseEphemeralResourceRequest CloseEphemeralResourceResponse;
    functions "GetFunctions" "GetFunctions" "GetFunctions" GetFunctionsRequest GetFunctionsResponse;
    call_function "CallFunction" "CallFunction" "CallFunction" CallFunctionRequest CallFunctionResponse;
    stop "Stop" "Stop" "StopProvider" StopProviderRequest StopProviderResponse;
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
