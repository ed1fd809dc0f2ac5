//! The session with one provider: its connection and schemas, and the steps before and after every call.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use provider::{
    Block, BoxFuture, FunctionSignature, Private, ProviderDiagnostic, ProviderSchemas, Schema,
    Severity, null_write_only,
};
use sorted::SortedMap;
use tokio::{
    sync::OnceCell,
    time::{Duration, timeout},
};
use tonic::transport::Channel;
use values::{CodecError, Str, Type, Value};

use crate::{
    channel,
    client::Failure,
    diagnostics, dynamic_value,
    generated::tfplugin::{self, DynamicValue, ResourceIdentityData, deferred::Reason},
    launch::{LaunchError, chain},
    logs::{Listener, shortened},
    process::PluginProcess,
    protocol::ProtocolVersion,
    reattach::Reattach,
    sandboxed::Sandboxed,
    schema_read,
    sink::{PluginEvent, PluginSink, Redact},
    wire::{RpcFailure, WireClient},
};

const SCHEMA: &str = "GetProviderSchema";
const FUNCTIONS: &str = "GetFunctions";

/// The size limit for private data. It is kept with the plan and the state and searched for secrets, so larger
/// data is refused. Real providers keep a few kilobytes.
pub(super) const LARGEST_PRIVATE: usize = 16 << 20;

/// The timeout for connecting to a provider that another program runs.
const ATTACH_TIMEOUT: Duration = Duration::from_secs(10);

/// A provider in another process: one that this process started, or a reattached one.
pub struct GrpcProvider {
    pub(super) wire: WireClient,
    pub(super) listener: Listener,
    process: Option<PluginProcess>,
    /// Schemas from a cache. They spare reading the schemas from the process.
    known: Option<Arc<ProviderSchemas>>,
    schemas: OnceCell<Arc<ProviderSchemas>>,
    /// The configuration schema that the process itself reports, if it was asked although `known` is set.
    pub(super) configuration: OnceCell<Arc<Schema>>,
    functions: OnceCell<Arc<SortedMap<Str, FunctionSignature>>>,
    /// The number of `OpenEphemeralResource` calls without an answer. A call that failed stays counted.
    pub(super) opening: AtomicUsize,
}

/// Connects to a provider that another program runs.
fn connect_and_greet(reattach: &Reattach) -> BoxFuture<'_, Result<Channel, LaunchError>> {
    let connecting = async {
        let channel = channel::connect(reattach.address.clone(), None).await;
        let channel = channel.map_err(|error| chain(&error))?;
        channel::greet(&channel).await?;
        Ok(channel)
    };
    Box::pin(async {
        match timeout(ATTACH_TIMEOUT, connecting).await {
            Ok(connected) => connected.map_err(LaunchError::Connect),
            Err(_) => Err(LaunchError::Timeout { after: ATTACH_TIMEOUT, stderr: Vec::new() }),
        }
    })
}

impl GrpcProvider {
    /// Creates a client for the provider in `process`. `known` are its schemas if they are in the cache, read from
    /// the same executable.
    #[must_use]
    pub fn new(process: PluginProcess, known: Option<Arc<ProviderSchemas>>) -> Self {
        Self {
            wire: WireClient::new(process.channel(), process.protocol()),
            listener: process.listener.clone(),
            process: Some(process),
            known,
            schemas: OnceCell::new(),
            configuration: OnceCell::new(),
            functions: OnceCell::new(),
            opening: AtomicUsize::new(0),
        }
    }

    /// Connects to a provider that another program runs. Closing the client leaves that process alone. `known` has
    /// the same meaning as for [`Self::new`].
    ///
    /// # Errors
    /// Returns [`LaunchError::Connect`] or [`LaunchError::Timeout`].
    pub async fn attach(
        reattach: &Reattach,
        name: impl Into<String>,
        sink: Arc<dyn PluginSink>,
        redact: Arc<dyn Redact>,
        known: Option<Arc<ProviderSchemas>>,
    ) -> Result<Self, LaunchError> {
        let channel = connect_and_greet(reattach).await?;
        Ok(Self {
            wire: WireClient::new(channel, reattach.protocol),
            listener: Listener::new(name.into(), sink, redact),
            process: None,
            known,
            schemas: OnceCell::new(),
            configuration: OnceCell::new(),
            functions: OnceCell::new(),
            opening: AtomicUsize::new(0),
        })
    }

    /// The protocol version of this connection.
    #[must_use]
    pub fn protocol(&self) -> ProtocolVersion {
        self.wire.protocol
    }

    /// The process of the provider, or `None` if the provider was reattached.
    #[must_use]
    pub fn process(&self) -> Option<&PluginProcess> {
        self.process.as_ref()
    }

    pub(super) async fn end(&self) {
        if let Some(process) = &self.process {
            process.shutdown().await;
        }
    }

    /// Returns the schemas. Every call except stopping begins here: some providers set up their routing while they
    /// answer the call for their schemas, and so must receive it once in each process, unless
    /// `get_provider_schema_optional` is set.
    pub(super) async fn ready(&self) -> Result<Arc<ProviderSchemas>, Failure> {
        let schemas = self.schemas.get_or_try_init(|| async {
            match &self.known {
                Some(known) if known.capabilities.get_provider_schema_optional => {
                    Ok(Arc::clone(known))
                }
                Some(known) => {
                    let has_identities = known.identity_types().next().is_some();
                    let asked = self.fetch_schemas(has_identities).await?;
                    self.refuse_others(known, &asked)?;
                    // The required provider arguments depend on the environment of the process, so use the answer
                    // of this process.
                    let _ = self.configuration.set(asked.provider);
                    Ok(Arc::clone(known))
                }
                None => self.fetch_schemas(true).await.map(Arc::new),
            }
        });
        schemas.await.cloned()
    }

    async fn fetch_schemas(&self, with_identities: bool) -> Result<ProviderSchemas, Failure> {
        let mut answer = self.answer(self.wire.schema()).await?;
        self.refuse_errors(SCHEMA, std::mem::take(&mut answer.diagnostics))?;
        let identities = match with_identities {
            true => self.fetch_identities().await?,
            false => BTreeMap::new(),
        };
        schema_read::schemas(answer, identities).map_err(|fault| self.unusable(SCHEMA, &fault))
    }

    /// Returns an error if the schemas of the process differ from the cached ones. All analysis used the cached
    /// schemas: with different ones, values would be encoded differently, and secrets could be written to the
    /// state.
    fn refuse_others(
        &self,
        known: &ProviderSchemas,
        asked: &ProviderSchemas,
    ) -> Result<(), Failure> {
        let Some(what) = known.difference(asked) else { return Ok(()) };
        self.listener.event(PluginEvent::OtherSchemas);
        let detail = format!(
            "The provider {} answered {} with schemas that differ from the known ones: {what} is \
             not the same. It may have been rebuilt or replaced. Nothing was sent to it. Run the \
             command again to read the new schemas. If they differ every time, that is a bug in \
             the provider.",
            self.listener.name,
            self.wire.call(SCHEMA),
        );
        let detail = shortened(self.clean(&detail));
        Err(vec![ProviderDiagnostic::error("Provider has other schemas", detail)])
    }

    async fn fetch_identities(
        &self,
    ) -> Result<BTreeMap<String, tfplugin::ResourceIdentitySchema>, Failure> {
        let request = tfplugin::GetResourceIdentitySchemasRequest {};
        match self.wire.identity_schemas(request).await {
            Ok(answer) => {
                self.refuse_errors("GetResourceIdentitySchemas", answer.diagnostics)?;
                Ok(answer.identity_schemas)
            }
            // A provider without identities may not implement this call.
            Err(failure) if failure.is_unimplemented() => Ok(BTreeMap::new()),
            Err(failure) => Err(self.failed(&failure).await),
        }
    }

    fn refuse_errors(
        &self,
        method: &str,
        messages: Vec<tfplugin::Diagnostic>,
    ) -> Result<(), Failure> {
        let diagnostics = self.read_diagnostics(method, messages);
        if diagnostics.iter().any(ProviderDiagnostic::is_error) { Err(diagnostics) } else { Ok(()) }
    }

    fn unusable(&self, method: &str, fault: &dyn fmt::Display) -> Failure {
        let detail = format!(
            "The provider {} answered {} with {fault}. This is a bug in the provider.",
            self.listener.name,
            self.wire.call(method),
        );
        let detail = shortened(self.clean(&detail));
        vec![ProviderDiagnostic::error("Failed to load plugin schemas", detail)]
    }

    /// The functions of the schema together with those that the configured provider adds.
    pub(super) async fn all_functions(
        &self,
    ) -> Result<Arc<SortedMap<Str, FunctionSignature>>, Failure> {
        let schemas = self.ready().await?;
        let functions = self.functions.get_or_try_init(|| async {
            let answer = match self.wire.functions(tfplugin::GetFunctionsRequest {}).await {
                Ok(answer) => answer,
                Err(failure) if failure.is_unimplemented() => {
                    return Ok(Arc::new(schemas.functions.clone()));
                }
                Err(failure) => return Err(self.failed(&failure).await),
            };
            self.refuse_errors(FUNCTIONS, answer.diagnostics)?;
            let mut functions = schemas.functions.clone();
            functions.extend(
                schema_read::functions(answer.functions)
                    .map_err(|fault| self.unusable(FUNCTIONS, &fault))?,
            );
            Ok(Arc::new(functions))
        });
        functions.await.cloned()
    }

    pub(super) fn clean(&self, text: &str) -> String {
        self.listener.redact.redact(text)
    }

    /// Reads the diagnostics in an answer, redacted.
    pub(super) fn read_diagnostics(
        &self,
        method: &str,
        messages: Vec<tfplugin::Diagnostic>,
    ) -> Vec<ProviderDiagnostic> {
        let call = self.wire.call(method);
        let mut diagnostics =
            diagnostics::read_all(messages, &*self.listener.redact, &self.listener.name, &call);
        if let Some(sandboxed) = self.sandboxed() {
            sandboxed.explain(&mut diagnostics);
        }
        diagnostics
    }

    /// Awaits the answer to a call. A call without an answer becomes a diagnostic that gives the reason.
    pub(super) async fn answer<T>(
        &self,
        call: impl Future<Output = Result<T, RpcFailure>>,
    ) -> Result<T, Failure> {
        match call.await {
            Ok(answer) => Ok(answer),
            Err(failure) => Err(self.failed(&failure).await),
        }
    }

    pub(super) async fn failed(&self, failure: &RpcFailure) -> Failure {
        let (summary, detail) = failure.texts(&format!("provider {}", self.listener.name));
        let mut detail = shortened(self.clean(&detail));
        if failure.is_unavailable()
            && let Some(process) = &self.process
            && let Some(death) = process.death().await
        {
            detail.push_str(&format!(" Its process has ended ({}).", death.status));
            // The panic text may quote the result that was being opened, and the redactor does not have that
            // result yet.
            if !death.panic.is_empty() && !self.is_opening() && !self.listener.is_silenced() {
                let panic = self.clean(&death.panic.join("\n"));
                detail.push_str(&format!(
                    "\n\nIt panicked, which is a bug in the provider:\n\n{panic}"
                ));
            }
        }
        if let Some(sandboxed) = self.sandboxed() {
            detail.push_str(&sandboxed.addition(&detail));
        }
        vec![ProviderDiagnostic::error(summary, detail)]
    }

    /// The sandbox of the process. `None` if it has none, or was started by another program.
    pub(super) fn sandboxed(&self) -> Option<&Sandboxed> {
        self.process.as_ref()?.guard.sandboxed()
    }

    fn is_opening(&self) -> bool {
        self.opening.load(Ordering::SeqCst) > 0
    }

    /// Returns an error if the answer is deferred. No request allows deferral.
    pub(super) fn refuse_deferral(
        &self,
        method: &str,
        deferred: Option<tfplugin::Deferred>,
    ) -> Result<(), ProviderDiagnostic> {
        let Some(deferred) = deferred else { return Ok(()) };
        let why = match deferred.reason() {
            Reason::ResourceConfigUnknown => "a part of the configuration is not known",
            Reason::ProviderConfigUnknown => "a part of the provider's configuration is not known",
            Reason::AbsentPrereq => "a prerequisite is missing",
            Reason::Unknown => "no reason was given",
        };
        let detail = format!(
            "The provider {} deferred its response to {} ({why}), although deferral was not \
             allowed. This is a bug in the provider.",
            self.listener.name,
            self.wire.call(method),
        );
        Err(ProviderDiagnostic::error("Provider deferred an operation", detail))
    }

    /// Reads a provider's private data. Data beyond [`LARGEST_PRIVATE`] is an error and is not kept.
    pub(super) fn private(
        &self,
        method: &str,
        bytes: &Bytes,
    ) -> Result<Option<Private>, ProviderDiagnostic> {
        if bytes.len() <= LARGEST_PRIVATE {
            return Ok(Some(Private::new(&bytes[..])));
        }
        let detail = format!(
            "The provider {} answered {} with {} bytes of private data, and at most \
             {LARGEST_PRIVATE} can be kept. This is a bug in the provider.",
            self.listener.name,
            self.wire.call(method),
            bytes.len()
        );
        Err(ProviderDiagnostic::error("Too much private data", detail))
    }

    /// Returns the schema of a type, or an error if the provider does not have that type.
    pub(super) fn find(
        &self,
        schema: Option<Arc<Schema>>,
        kind: &str,
        type_name: &str,
    ) -> Result<Arc<Schema>, Failure> {
        schema.ok_or_else(|| {
            let detail =
                format!("The provider {} has no {kind} {type_name:?}.", self.listener.name);
            vec![ProviderDiagnostic::error("Unsupported resource type", detail)]
        })
    }

    /// Encodes a value for a request.
    pub(super) fn encode(
        &self,
        method: &str,
        value: &Value,
        ty: &Type,
    ) -> Result<Option<DynamicValue>, Failure> {
        dynamic_value::encode(value, ty).map(Some).map_err(|error| self.unsendable(method, &error))
    }

    pub(super) fn encode_identity(
        &self,
        method: &str,
        value: Option<&Value>,
        schema: Option<&Schema>,
    ) -> Result<Option<ResourceIdentityData>, Failure> {
        let (Some(value), Some(schema)) = (value.filter(|it| !it.is_null()), schema) else {
            return Ok(None);
        };
        let message = dynamic_value::encode_identity(value, schema.implied_type());
        message.map(Some).map_err(|error| self.unsendable(method, &error))
    }

    /// Encodes the `provider_meta` of a request. `None` if the provider has no schema for it; a missing value is
    /// sent as null.
    pub(super) fn encode_meta(
        &self,
        method: &str,
        value: Option<&Value>,
        schemas: &ProviderSchemas,
    ) -> Result<Option<DynamicValue>, Failure> {
        let Some(schema) = &schemas.provider_meta else { return Ok(None) };
        let ty = schema.implied_type();
        let null = Value::null(ty.clone());
        self.encode(method, value.unwrap_or(&null), ty)
    }

    fn unsendable(&self, method: &str, error: &CodecError) -> Failure {
        let detail = format!(
            "A value for the provider {} does not fit its schema, so {} was not called: {error}",
            self.listener.name,
            self.wire.call(method),
        );
        vec![ProviderDiagnostic::error("Invalid value for provider", self.clean(&detail))]
    }

    /// Decodes a value in an answer.
    pub(super) fn decode(
        &self,
        method: &str,
        message: Option<&DynamicValue>,
        ty: &Type,
    ) -> Result<Value, ProviderDiagnostic> {
        decode_finite(message, ty).map_err(|error| self.undecodable(method, &error))
    }

    /// Decodes a value that is or may be ephemeral. The path in an error names only attributes of the type, because map
    /// keys and set elements are values and may be secret.
    pub(super) fn decode_ephemeral(
        &self,
        method: &str,
        message: Option<&DynamicValue>,
        ty: &Type,
    ) -> Result<Value, ProviderDiagnostic> {
        decode_finite(message, ty)
            .map_err(|error| self.undecodable(method, &error.without_keys(ty)))
    }

    /// Decodes an identity in an answer. Only a plan may answer with one that is not wholly known.
    pub(super) fn decode_identity(
        &self,
        method: &str,
        message: Option<ResourceIdentityData>,
        schema: Option<&Schema>,
    ) -> Result<Option<Value>, ProviderDiagnostic> {
        let identity = self.decode_planned_identity(method, message, schema)?;
        if identity.as_ref().is_some_and(|it| !it.is_wholly_known()) {
            return Err(self.undecodable(method, &"the identity is not wholly known"));
        }
        Ok(identity)
    }

    pub(super) fn decode_planned_identity(
        &self,
        method: &str,
        message: Option<ResourceIdentityData>,
        schema: Option<&Schema>,
    ) -> Result<Option<Value>, ProviderDiagnostic> {
        let (Some(data), Some(schema)) = (message.and_then(|it| it.identity_data), schema) else {
            return Ok(None);
        };
        let value = self.decode(method, Some(&data), schema.implied_type())?;
        Ok((!value.is_null()).then_some(value))
    }

    /// The error for an answer that cannot be decoded.
    pub(super) fn undecodable(&self, method: &str, error: &dyn fmt::Display) -> ProviderDiagnostic {
        let detail = format!(
            "The provider {} answered {} with a value that cannot be understood: {error}. This is \
             a bug in the provider.",
            self.listener.name,
            self.wire.call(method),
        );
        ProviderDiagnostic::error("Invalid provider response", self.clean(&detail))
    }

    /// The diagnostic that replaces a provider's own text if that text may quote a secret that the redactor does
    /// not have.
    pub(super) fn wordless(&self, method: &str, severity: Severity) -> ProviderDiagnostic {
        let detail = format!(
            "The provider {} returned a message about {} that is not shown: it may quote the \
             opened value, which could not be decoded and so cannot be redacted. The provider's \
             own log may contain more details.",
            self.listener.name,
            self.wire.call(method),
        );
        let summary = "Words of the provider left out";
        ProviderDiagnostic { severity, ..ProviderDiagnostic::error(summary, detail) }
    }

    /// Decodes a state in an answer. Each write-only value in it becomes an error and is replaced by null.
    pub(super) fn decode_state(
        &self,
        method: &str,
        type_name: &str,
        message: Option<&DynamicValue>,
        block: &Block,
        diagnostics: &mut Vec<ProviderDiagnostic>,
    ) -> Option<Value> {
        let value = match self.decode(method, message, block.implied_type()) {
            Ok(value) => value,
            Err(diagnostic) => {
                diagnostics.push(diagnostic);
                return None;
            }
        };
        let present = provider::write_only_values_present(type_name, &value, block);
        if present.is_empty() {
            return Some(value);
        }
        diagnostics.extend(present.into_iter().map(|it| {
            let detail = format!(
                "{} The provider {} returned it in its answer to {}.",
                it.detail,
                self.listener.name,
                self.wire.call(method)
            );
            ProviderDiagnostic { detail, ..it }
        }));
        Some(null_write_only(&value, block))
    }
}

/// Decodes a value that a state can hold. Infinite numbers are refused: the state format cannot represent them, so
/// one of them would make writing the whole state fail.
pub(crate) fn decode_finite(
    message: Option<&DynamicValue>,
    ty: &Type,
) -> Result<Value, CodecError> {
    let value = dynamic_value::decode(message, ty)?;
    match value.infinite_part() {
        Some(path) => Err(CodecError { path, message: "a finite number is required".to_owned() }),
        None => Ok(value),
    }
}
