//! The connection of one provider, its schemas, and what every call does before and after.

use std::{collections::BTreeMap, fmt, sync::Arc};

use provider::{
    Block, FunctionSignature, ProviderDiagnostic, ProviderSchemas, Schema, Severity,
    null_write_only,
};
use tokio::{
    sync::OnceCell,
    time::{Duration, timeout},
};
use values::{CodecError, Kind, Path, Str, Type, Value};

use crate::{
    channel,
    client::Failure,
    diagnostics, dynamic_value,
    generated::tfplugin::{self, DynamicValue, ResourceIdentityData},
    launch::{LaunchError, chain},
    logs::Listener,
    process::PluginProcess,
    protocol::ProtocolVersion,
    reattach::Reattach,
    schema_read,
    sink::{PluginSink, Redact},
    wire::{RpcFailure, Wire},
};

/// How long connecting to a provider that somebody else runs may take.
const ATTACH_TIMEOUT: Duration = Duration::from_secs(10);

/// A provider in a process, ours or (reattached) somebody else's.
pub struct GrpcProvider {
    pub(super) wire: Wire,
    pub(super) listener: Listener,
    process: Option<PluginProcess>,
    /// Schemas from a cache, which spare reading them from the process.
    known: Option<Arc<ProviderSchemas>>,
    schemas: OnceCell<Arc<ProviderSchemas>>,
    functions: OnceCell<Arc<BTreeMap<Str, FunctionSignature>>>,
}

impl GrpcProvider {
    /// The provider in `process`. `known` are its schemas if they are at hand, read from the same executable.
    #[must_use]
    pub fn new(process: PluginProcess, known: Option<Arc<ProviderSchemas>>) -> Self {
        Self {
            wire: Wire::new(process.channel(), process.protocol()),
            listener: process.listener.clone(),
            process: Some(process),
            known,
            schemas: OnceCell::new(),
            functions: OnceCell::new(),
        }
    }

    /// Connects to a provider that somebody else runs; closing it leaves its process alone.
    ///
    /// # Errors
    /// [`LaunchError::Connect`] or [`LaunchError::Timeout`].
    pub async fn attach(
        reattach: &Reattach,
        name: impl Into<String>,
        sink: Arc<dyn PluginSink>,
        redact: Arc<dyn Redact>,
    ) -> Result<Self, LaunchError> {
        let channel =
            match timeout(ATTACH_TIMEOUT, channel::connect(reattach.address.clone(), None)).await {
                Ok(Ok(channel)) => channel,
                Ok(Err(error)) => return Err(LaunchError::Connect(chain(&error))),
                Err(_) => {
                    return Err(LaunchError::Timeout { after: ATTACH_TIMEOUT, stderr: Vec::new() });
                }
            };
        Ok(Self {
            wire: Wire::new(channel, reattach.protocol),
            listener: Listener::new(name.into(), sink, redact),
            process: None,
            known: None,
            schemas: OnceCell::new(),
            functions: OnceCell::new(),
        })
    }

    /// The protocol version that is spoken.
    #[must_use]
    pub fn protocol(&self) -> ProtocolVersion {
        match self.wire {
            Wire::V5(_) => ProtocolVersion::V5,
            Wire::V6(_) => ProtocolVersion::V6,
        }
    }

    /// The process; none where the provider was reattached.
    #[must_use]
    pub fn process(&self) -> Option<&PluginProcess> {
        self.process.as_ref()
    }

    pub(super) async fn end(&self) {
        if let Some(process) = &self.process {
            process.shutdown().await;
        }
    }

    /// The schemas; every call but stopping begins here, because some providers build their routing in the call for the
    /// schemas and must see it once in each process, unless they say otherwise.
    pub(super) async fn ready(&self) -> Result<Arc<ProviderSchemas>, Failure> {
        let schemas = self.schemas.get_or_try_init(|| async {
            match &self.known {
                Some(known) if known.capabilities.get_provider_schema_optional => {
                    Ok(Arc::clone(known))
                }
                Some(known) => {
                    let answer =
                        self.wire.schema().await.map_err(|failure| self.failed(&failure))?;
                    self.refuse_errors(answer.diagnostics)?;
                    Ok(Arc::clone(known))
                }
                None => self.fetch_schemas().await.map(Arc::new),
            }
        });
        schemas.await.cloned()
    }

    async fn fetch_schemas(&self) -> Result<ProviderSchemas, Failure> {
        let mut answer = self.wire.schema().await.map_err(|failure| self.failed(&failure))?;
        self.refuse_errors(std::mem::take(&mut answer.diagnostics))?;
        // A provider without identities need not know the call.
        let identities =
            self.wire.identity_schemas(tfplugin::GetResourceIdentitySchemasRequest {}).await;
        let identities = identities.map(|it| it.identity_schemas).unwrap_or_default();
        schema_read::schemas(answer, identities).map_err(|fault| self.unusable(&fault))
    }

    fn refuse_errors(&self, messages: Vec<tfplugin::Diagnostic>) -> Result<(), Failure> {
        let diagnostics = self.said(messages);
        if diagnostics.iter().any(ProviderDiagnostic::is_error) { Err(diagnostics) } else { Ok(()) }
    }

    fn unusable(&self, fault: &dyn fmt::Display) -> Failure {
        let name = &self.listener.name;
        let detail = self.clean(&format!("provider {name} has {fault}"));
        vec![ProviderDiagnostic::error("Failed to load plugin schemas", detail)]
    }

    /// The functions of the schema and those that the configured provider adds.
    pub(super) async fn all_functions(
        &self,
    ) -> Result<Arc<BTreeMap<Str, FunctionSignature>>, Failure> {
        let schemas = self.ready().await?;
        let functions = self.functions.get_or_try_init(|| async {
            let answer = match self.wire.functions(tfplugin::GetFunctionsRequest {}).await {
                Ok(answer) => answer,
                Err(failure) if failure.is_unimplemented() => {
                    return Ok(Arc::new(schemas.functions.clone()));
                }
                Err(failure) => return Err(self.failed(&failure)),
            };
            self.refuse_errors(answer.diagnostics)?;
            let mut functions = schemas.functions.clone();
            functions.extend(
                schema_read::functions(answer.functions).map_err(|fault| self.unusable(&fault))?,
            );
            Ok(Arc::new(functions))
        });
        functions.await.cloned()
    }

    pub(super) fn clean(&self, text: &str) -> String {
        self.listener.redact.redact(text)
    }

    /// The provider's diagnostics.
    pub(super) fn said(&self, messages: Vec<tfplugin::Diagnostic>) -> Vec<ProviderDiagnostic> {
        diagnostics::read_all(messages, &*self.listener.redact)
    }

    /// A call without an answer as a diagnostic.
    pub(super) fn failed(&self, failure: &RpcFailure) -> Failure {
        let (summary, detail) = failure.texts(&self.listener.name);
        vec![ProviderDiagnostic::error(summary, self.clean(&detail))]
    }

    /// A type that is not in the provider's schemas, in a call about it.
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

    /// A value for a request.
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

    /// The `provider_meta` of a request: left out where the provider has no schema for it, else a value or null.
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

    /// A value of an answer.
    pub(super) fn decode(
        &self,
        method: &str,
        message: Option<&DynamicValue>,
        ty: &Type,
    ) -> Result<Value, ProviderDiagnostic> {
        decode_finite(message, ty).map_err(|error| self.undecodable(method, &error))
    }

    /// The same for what is, or may be, ephemeral: where the value is at fault, keys of maps are part of the secret.
    pub(super) fn decode_ephemeral(
        &self,
        method: &str,
        message: Option<&DynamicValue>,
        ty: &Type,
    ) -> Result<Value, ProviderDiagnostic> {
        decode_finite(message, ty)
            .map_err(|error| self.undecodable(method, &error.without_keys(ty)))
    }

    pub(super) fn decode_identity(
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

    /// What is wrong with an answer that cannot be understood.
    pub(super) fn undecodable(&self, method: &str, error: &dyn fmt::Display) -> ProviderDiagnostic {
        let detail = format!(
            "The provider {} answered {} with a value that cannot be understood: {error}. This is a bug in the provider.",
            self.listener.name,
            self.wire.call(method),
        );
        ProviderDiagnostic::error("Invalid provider response", self.clean(&detail))
    }

    /// What stands for words of the provider that may quote a secret which no redactor knows.
    pub(super) fn wordless(&self, method: &str, severity: Severity) -> ProviderDiagnostic {
        let detail = format!(
            "The provider {} says something about {} that is not shown: it may quote the value that it opened, which cannot be \
             understood and so cannot be found in its words. Its own log may tell more.",
            self.listener.name,
            self.wire.call(method),
        );
        let summary = "Words of the provider left out";
        ProviderDiagnostic { severity, ..ProviderDiagnostic::error(summary, detail) }
    }

    /// A state of an answer; write-only values in it are errors and do not get any further.
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
        diagnostics.extend(present);
        Some(null_write_only(&value, block))
    }
}

/// A value that a state can keep: none has a place for an infinite number, so a provider that answers with one would
/// keep the whole state from being written.
fn decode_finite(message: Option<&DynamicValue>, ty: &Type) -> Result<Value, CodecError> {
    let value = dynamic_value::decode(message, ty)?;
    match infinite_part(&value) {
        Some(path) => Err(CodecError { path, message: "a finite number is required".to_owned() }),
        None => Ok(value),
    }
}

/// Where an infinite number is.
fn infinite_part(value: &Value) -> Option<Path> {
    match value.kind() {
        Kind::Number(number) => number.is_infinite().then(Path::root),
        _ => value.parts().find_map(|(step, part)| {
            let inner = infinite_part(part)?;
            Some(Path::from_iter([step]).join(&inner))
        }),
    }
}
