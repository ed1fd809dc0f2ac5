//! The client of a provisioner plugin. Only protocol 5 has provisioners.

use std::sync::Arc;

use provider::{Block, BoxFuture, ProviderDiagnostic, ProvisionRequest, Provisioner};
use tokio::sync::OnceCell;
use tonic::{Status, Streaming, transport::Channel};
use values::{Type, Value};

use crate::{
    client::Failure,
    diagnostics, dynamic_value,
    generated::{
        tfplugin::{self, DynamicValue, StopProviderRequest},
        tfplugin5::{
            GetProvisionerSchemaRequest, ProvisionResourceRequest, ProvisionResourceResponse,
            ValidateProvisionerConfigRequest, provisioner_client::ProvisionerClient,
        },
    },
    logs::{Listener, shortened},
    process::PluginProcess,
    schema_read,
    wire::{LARGEST_MESSAGE, RpcFailure},
};

const SCHEMA: &str = "GetSchema";
const VALIDATE: &str = "ValidateProvisionerConfig";
const PROVISION: &str = "ProvisionResource";
const STOP: &str = "Stop";

/// A provisioner in another process.
pub struct GrpcProvisioner {
    client: ProvisionerClient<Channel>,
    listener: Listener,
    process: PluginProcess,
    schema: OnceCell<Arc<Block>>,
}

impl GrpcProvisioner {
    /// Creates a client for the provisioner in `process`.
    #[must_use]
    pub fn new(process: PluginProcess) -> Self {
        let client = ProvisionerClient::new(process.channel())
            .max_decoding_message_size(LARGEST_MESSAGE)
            .max_encoding_message_size(usize::MAX);
        let listener = process.listener.clone();
        Self { client, listener, process, schema: OnceCell::new() }
    }

    async fn ready(&self) -> Result<Arc<Block>, Failure> {
        self.schema.get_or_try_init(|| self.fetch_schema()).await.cloned()
    }

    async fn fetch_schema(&self) -> Result<Arc<Block>, Failure> {
        let answer = self.client.clone().get_schema(GetProvisionerSchemaRequest {}).await;
        let answer = answer.map_err(|status| self.failed(SCHEMA, status))?.into_inner();
        let diagnostics = self.read(SCHEMA, answer.diagnostics);
        if diagnostics.iter().any(ProviderDiagnostic::is_error) {
            return Err(diagnostics);
        }
        let unusable = |fault: &str| {
            let detail = format!(
                "The provisioner {} answered {SCHEMA} with {fault}. This is a bug in the plugin.",
                self.listener.name
            );
            let detail = shortened(self.listener.redact.redact(&detail));
            vec![ProviderDiagnostic::error("Failed to load plugin schemas", detail)]
        };
        let schema = answer.provisioner.ok_or_else(|| unusable("no schema"))?;
        let block = schema_read::provisioner(schema).map_err(|it| unusable(&it.to_string()))?;
        Ok(Arc::new(block))
    }

    async fn try_validate(&self, config: Value) -> Result<Vec<ProviderDiagnostic>, Failure> {
        let schema = self.ready().await?;
        let config = self.encode(VALIDATE, &config, schema.implied_type())?;
        let request = ValidateProvisionerConfigRequest { config: Some(config) };
        let answer = self.client.clone().validate_provisioner_config(request).await;
        let answer = answer.map_err(|status| self.failed(VALIDATE, status))?.into_inner();
        Ok(self.read(VALIDATE, answer.diagnostics))
    }

    async fn try_provision(
        &self,
        request: ProvisionRequest,
        output: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<Vec<ProviderDiagnostic>, Failure> {
        let schema = self.ready().await?;
        let config = self.encode(PROVISION, &request.config, schema.implied_type())?;
        let connection = self.encode(PROVISION, &request.connection, &Type::map(Type::String))?;
        let request =
            ProvisionResourceRequest { config: Some(config), connection: Some(connection) };
        let answers = self.client.clone().provision_resource(request).await;
        let answers = answers.map_err(|status| self.failed(PROVISION, status))?.into_inner();
        self.follow(answers, output).await
    }

    /// Passes on the output until the stream ends, or until an answer with diagnostics, which is the last one.
    async fn follow(
        &self,
        mut answers: Streaming<ProvisionResourceResponse>,
        output: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<Vec<ProviderDiagnostic>, Failure> {
        loop {
            let answer = answers.message().await.map_err(|it| self.failed(PROVISION, it))?;
            let Some(ProvisionResourceResponse { output: text, diagnostics }) = answer else {
                return Ok(Vec::new());
            };
            if !text.is_empty() {
                output(&self.listener.redact.redact(&text));
            }
            if !diagnostics.is_empty() {
                return Ok(self.read(PROVISION, diagnostics));
            }
        }
    }

    fn encode(&self, method: &str, value: &Value, ty: &Type) -> Result<DynamicValue, Failure> {
        dynamic_value::encode(value, ty).map_err(|error| {
            let detail = format!(
                "A value for the provisioner {} does not fit its schema, so {method} was not called: {error}",
                self.listener.name
            );
            let detail = self.listener.redact.redact(&detail);
            vec![ProviderDiagnostic::error("Invalid value for provisioner", detail)]
        })
    }

    fn read(&self, method: &str, found: Vec<tfplugin::Diagnostic>) -> Vec<ProviderDiagnostic> {
        diagnostics::read_all(found, &*self.listener.redact, &self.listener.name, method)
    }

    fn failed(&self, method: &str, status: Status) -> Failure {
        let (summary, detail) = self.texts(method, status);
        vec![ProviderDiagnostic::error(summary, detail)]
    }

    /// The summary and the detail of a call that failed, redacted.
    fn texts(&self, method: &str, status: Status) -> (&'static str, String) {
        let failure = RpcFailure::new(format!("plugin.(*GRPCProvisioner).{method}"), status);
        let (summary, detail) = failure.texts(&format!("provisioner {}", self.listener.name));
        (summary, shortened(self.listener.redact.redact(&detail)))
    }

    async fn try_stop(&self) -> Result<(), String> {
        let answer = self.client.clone().stop(StopProviderRequest {}).await;
        let error = answer.map_err(|status| self.texts(STOP, status).1)?.into_inner().error;
        if error.is_empty() { Ok(()) } else { Err(shortened(self.listener.redact.redact(&error))) }
    }
}

impl Provisioner for GrpcProvisioner {
    fn schema(&self) -> BoxFuture<'_, Result<Arc<Block>, Vec<ProviderDiagnostic>>> {
        Box::pin(self.ready())
    }

    fn validate(&self, config: Value) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        Box::pin(async { self.try_validate(config).await.unwrap_or_else(|failure| failure) })
    }

    fn provision<'a>(
        &'a self,
        request: ProvisionRequest,
        output: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Vec<ProviderDiagnostic>> {
        Box::pin(async move {
            self.try_provision(request, output).await.unwrap_or_else(|failure| failure)
        })
    }

    fn stop(&self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(self.try_stop())
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.process.shutdown())
    }
}
