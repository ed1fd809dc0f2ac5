//! The RPCs of a provisioner.

use std::sync::Arc;

use provider::{Block, ProviderDiagnostic, ProvisionRequest, Provisioner};
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{Request, Response, Status, codegen::BoxStream};
use values::{Type, Value};

use crate::{
    diagnostics, dynamic_value,
    generated::{
        tfplugin::{DynamicValue, StopProviderRequest, StopProviderResponse},
        tfplugin5::{
            GetProvisionerSchemaRequest, GetProvisionerSchemaResponse, ProvisionResourceRequest,
            ProvisionResourceResponse, ValidateProvisionerConfigRequest,
            ValidateProvisionerConfigResponse, provisioner_server,
        },
    },
    schema_write,
};

/// A provisioner that answers messages.
pub(super) struct Service(pub(super) Arc<dyn Provisioner>);

type Failure = Vec<ProviderDiagnostic>;

impl Service {
    async fn config(&self, message: Option<&DynamicValue>) -> Result<Value, Failure> {
        let schema: Arc<Block> = self.0.schema().await?;
        decode(message, schema.implied_type())
    }

    async fn request(
        &self,
        message: &ProvisionResourceRequest,
    ) -> Result<ProvisionRequest, Failure> {
        Ok(ProvisionRequest {
            config: self.config(message.config.as_ref()).await?,
            connection: decode(message.connection.as_ref(), &Type::map(Type::String))?,
        })
    }
}

fn decode(message: Option<&DynamicValue>, ty: &Type) -> Result<Value, Failure> {
    dynamic_value::decode(message, ty)
        .map_err(|error| vec![ProviderDiagnostic::error("Invalid value", error.to_string())])
}

#[tonic::async_trait]
impl provisioner_server::Provisioner for Service {
    async fn get_schema(
        &self,
        _: Request<GetProvisionerSchemaRequest>,
    ) -> Result<Response<GetProvisionerSchemaResponse>, Status> {
        let schema = self.0.schema().await.and_then(|it| {
            schema_write::provisioner(&it)
                .map_err(|error| vec![ProviderDiagnostic::error("Invalid schema", error)])
        });
        Ok(Response::new(match schema {
            Ok(schema) => {
                GetProvisionerSchemaResponse { provisioner: Some(schema), diagnostics: Vec::new() }
            }
            Err(found) => GetProvisionerSchemaResponse {
                provisioner: None,
                diagnostics: diagnostics::write_all(found),
            },
        }))
    }

    async fn validate_provisioner_config(
        &self,
        request: Request<ValidateProvisionerConfigRequest>,
    ) -> Result<Response<ValidateProvisionerConfigResponse>, Status> {
        let found = match self.config(request.into_inner().config.as_ref()).await {
            Ok(config) => self.0.validate(config).await,
            Err(found) => found,
        };
        let diagnostics = diagnostics::write_all(found);
        Ok(Response::new(ValidateProvisionerConfigResponse { diagnostics }))
    }

    async fn provision_resource(
        &self,
        request: Request<ProvisionResourceRequest>,
    ) -> Result<Response<BoxStream<ProvisionResourceResponse>>, Status> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let request = self.request(&request.into_inner()).await;
        let provisioner = Arc::clone(&self.0);
        tokio::spawn(async move {
            let answers = sender.clone();
            let output = move |text: &str| {
                let output = text.to_owned();
                let answer = ProvisionResourceResponse { output, diagnostics: Vec::new() };
                let _core_is_gone = answers.send(Ok(answer));
            };
            let found = match request {
                Ok(request) => provisioner.provision(request, &output).await,
                Err(found) => found,
            };
            let (output, diagnostics) = (String::new(), diagnostics::write_all(found));
            let answer = ProvisionResourceResponse { output, diagnostics };
            let _core_is_gone = sender.send(Ok(answer));
        });
        Ok(Response::new(Box::pin(UnboundedReceiverStream::new(receiver))))
    }

    async fn stop(
        &self,
        _: Request<StopProviderRequest>,
    ) -> Result<Response<StopProviderResponse>, Status> {
        let error = self.0.stop().await.err().unwrap_or_default();
        Ok(Response::new(StopProviderResponse { error }))
    }
}
