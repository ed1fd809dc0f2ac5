//! One client for both protocol versions, and the errors of failed calls.

use std::error::Error;

use prost::Message;
use tonic::{
    Code, ConnectError, Request, Response, Status, client::Grpc, codegen::http::uri::PathAndQuery,
    transport::Channel,
};

use crate::{
    encoded::{EncodedMessage, EncodedMessages, decoded, encoded},
    generated::{tfplugin, tfplugin5, tfplugin6},
    protocol::ProtocolVersion,
    schema_read::SchemaAnswer,
};

/// The size limit of an answer, and of a message in both directions of a server: that of the Go SDKs, and a bound on
/// the memory that a claimed length can cost.
pub(crate) const LARGEST_MESSAGE: usize = 256 << 20;

/// The client for the protocol version that the handshake chose.
#[derive(Clone)]
pub(crate) struct WireClient {
    grpc: Grpc<Channel>,
    pub(crate) protocol: ProtocolVersion,
}

/// A kind of calls.
struct Rpc {
    /// Its name in diagnostics of cores.
    name: &'static str,
    /// Its paths in protocols 5 and 6.
    paths: [&'static str; 2],
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
        let rpc =
            Rpc { name: "GetProviderSchema", paths: paths!("GetSchema", "GetProviderSchema") };
        let request = tfplugin::GetProviderSchemaRequest {};
        Ok(match self.protocol {
            ProtocolVersion::V5 => {
                self.ask::<tfplugin5::GetProviderSchemaResponse>(&rpc, request).await?.into()
            }
            ProtocolVersion::V6 => {
                self.ask::<tfplugin6::GetProviderSchemaResponse>(&rpc, request).await?.into()
            }
        })
    }

    async fn ask<A: Message + Default>(
        &self,
        rpc: &Rpc,
        request: impl Message,
    ) -> Result<A, RpcFailure> {
        let message = encoded(&request);
        // Do not keep the values while the provider works.
        drop(request);
        let answer = self.exchange(rpc, message).await.and_then(decoded);
        answer.map_err(|status| RpcFailure { call: self.call(rpc.name), status })
    }

    /// Sends an encoded message, and returns that of the answer.
    async fn exchange(&self, rpc: &Rpc, request: EncodedMessage) -> Result<EncodedMessage, Status> {
        let path = match self.protocol {
            ProtocolVersion::V5 => rpc.paths[0],
            ProtocolVersion::V6 => rpc.paths[1],
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
                self.ask(&Rpc { name: $name, paths: paths!($v5, $v6) }, request).await
            })*
        }

        /// The names of each call in protocols 5 and 6, and its messages.
        #[cfg(test)]
        pub(crate) const CALLS: &[[&str; 4]] =
            &[$([$v5, $v6, stringify!($request), stringify!($response)]),*];
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

    /// The calls of the service `Provider` in a file of `proto`, as in [`CALLS`]: name, request and response.
    fn declared(file: &str) -> Vec<[String; 3]> {
        let path = format!("{}/../../proto/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("the protocol");
        let (_, service) = text.split_once("service Provider {").expect("the service");
        let (service, _) = service.split_once("\n}").expect("its end");
        let words = |line: &str| {
            let words = line.split(|it: char| !it.is_alphanumeric() && it != '.');
            let words: Vec<_> = words.filter(|it| !it.is_empty()).collect();
            let ["rpc", name, request, "returns", response] = words[..] else { return None };
            let message = |it: &str| it.trim_start_matches("tfplugin.").to_owned();
            Some([name.to_owned(), message(request), message(response)])
        };
        service.lines().filter_map(words).collect()
    }

    #[test]
    fn calls_have_the_names_and_messages_of_the_protocols() {
        for (file, column) in [("tfplugin5.proto", 0), ("tfplugin6.proto", 1)] {
            let mut declared = declared(file);
            declared.retain(|it| it[1] != "GetProviderSchemaRequest");
            declared.sort();
            let named = |it: &[&str; 4]| [it[column], it[2], it[3]].map(str::to_owned);
            let mut called: Vec<_> = CALLS.iter().map(named).collect();
            called.sort();
            assert_eq!(called, declared, "{file}");
        }
    }

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
