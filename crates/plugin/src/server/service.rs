//! The RPCs of a provider: converts each request to a call of the [`Provider`], and its result to the answer.

use std::sync::Arc;

use provider::{
    ApplyResourceChangeRequest, CallFunctionRequest, CloseEphemeralRequest, ConfigureRequest,
    FunctionFault, ImportResourceStateRequest, ImportTarget, MoveResourceStateRequest,
    OpenEphemeralRequest, PlanResourceChangeRequest, Provider, ProviderDiagnostic, ProviderSchemas,
    ReadDataSourceRequest, ReadResourceRequest, RenewEphemeralRequest, Schema, SourceIdentity,
    UpgradeResourceIdentityRequest, UpgradeResourceStateRequest, ValidateRequest,
};
use tokio::sync::OnceCell;
use values::{Str, Value};

use crate::{
    diagnostics, dynamic_value,
    generated::{
        tfplugin::{self, DynamicValue},
        tfplugin5, tfplugin6,
    },
    schema_write,
    server::{
        messages::{
            About, Answer, Failure, bytes, private, raw_state, read, read_identity, settle,
            timestamp, write, write_identity,
        },
        write_only,
    },
};

/// A provider that answers messages.
pub(super) struct Service {
    provider: Arc<dyn Provider>,
    schemas: OnceCell<Arc<ProviderSchemas>>,
}

impl Service {
    pub(super) fn new(provider: Arc<dyn Provider>) -> Self {
        Self { provider, schemas: OnceCell::new() }
    }

    /// Returns true if protocol 5 can represent the schemas.
    pub(super) async fn fits_v5(&self) -> bool {
        let schemas = self.schemas().await;
        schemas.is_ok_and(|it| {
            tfplugin5::GetProviderSchemaResponse::try_from(schema_write::schemas(&it)).is_ok()
        })
    }

    async fn schemas(&self) -> Result<Arc<ProviderSchemas>, Failure> {
        self.schemas.get_or_try_init(|| self.provider.schemas()).await.cloned()
    }

    async fn managed(&self, type_name: &str) -> Result<Arc<Schema>, Failure> {
        self.schemas().await?.managed(type_name).ok_or_else(|| no_such("resource type", type_name))
    }

    async fn data(&self, type_name: &str) -> Result<Arc<Schema>, Failure> {
        self.schemas().await?.data(type_name).ok_or_else(|| no_such("data source", type_name))
    }

    async fn ephemeral(&self, type_name: &str) -> Result<Arc<Schema>, Failure> {
        self.schemas()
            .await?
            .ephemeral(type_name)
            .ok_or_else(|| no_such("ephemeral resource type", type_name))
    }

    async fn identity(&self, type_name: &str) -> Result<Option<Arc<Schema>>, Failure> {
        Ok(self.schemas().await?.identity(type_name))
    }

    async fn meta(&self, message: Option<&DynamicValue>) -> Result<Option<Value>, Failure> {
        let schemas = self.schemas().await?;
        let Some(schema) = &schemas.provider_meta else { return Ok(None) };
        message.map(|it| read(Some(it), schema.implied_type())).transpose()
    }

    pub(super) async fn schema(&self) -> tfplugin6::GetProviderSchemaResponse {
        match self.schemas().await {
            Ok(schemas) => schema_write::schemas(&schemas),
            Err(diagnostics) => tfplugin6::GetProviderSchemaResponse {
                diagnostics: diagnostics::write_all(diagnostics),
                ..Default::default()
            },
        }
    }

    pub(super) async fn identities(
        &self,
        _: tfplugin::GetResourceIdentitySchemasRequest,
    ) -> tfplugin::GetResourceIdentitySchemasResponse {
        settle(self.schemas().await.map(|schemas| tfplugin::GetResourceIdentitySchemasResponse {
            identity_schemas: schema_write::identities(&schemas),
            diagnostics: Vec::new(),
        }))
    }

    pub(super) async fn validate_provider(
        &self,
        request: tfplugin::ValidateProviderConfigRequest,
    ) -> tfplugin::ValidateProviderConfigResponse {
        let answer = async {
            let config =
                read(request.config.as_ref(), self.schemas().await?.provider.implied_type())?;
            Ok(self.provider.validate_provider_config(config).await)
        };
        match answer.await {
            // Protocol 5 requires a configuration in the answer, which cores ignore.
            Ok(diagnostics) => tfplugin::ValidateProviderConfigResponse {
                prepared_config: request.config,
                diagnostics: diagnostics::write_all(diagnostics),
            },
            Err(diagnostics) => Answer::saying(diagnostics),
        }
    }

    pub(super) async fn validate_resource(
        &self,
        request: tfplugin::ValidateResourceConfigRequest,
    ) -> tfplugin::ValidateConfigResponse {
        let knows_write_only =
            request.client_capabilities.is_some_and(|it| it.write_only_attributes_allowed);
        let schema = self.managed(&request.type_name).await;
        let checked = schema.and_then(|schema| {
            let request = validation(request.type_name, request.config.as_ref(), &schema)?;
            let refusals =
                if knows_write_only { vec![] } else { write_only::refusals(&request, &schema) };
            if refusals.is_empty() { Ok(request) } else { Err(refusals) }
        });
        match checked {
            Ok(request) => Answer::saying(self.provider.validate_resource_config(request).await),
            Err(diagnostics) => Answer::saying(diagnostics),
        }
    }

    pub(super) async fn validate_data(
        &self,
        request: tfplugin::ValidateDataResourceConfigRequest,
    ) -> tfplugin::ValidateConfigResponse {
        let schema = self.data(&request.type_name).await;
        match schema
            .and_then(|schema| validation(request.type_name, request.config.as_ref(), &schema))
        {
            Ok(request) => Answer::saying(self.provider.validate_data_config(request).await),
            Err(diagnostics) => Answer::saying(diagnostics),
        }
    }

    pub(super) async fn validate_ephemeral(
        &self,
        request: tfplugin::ValidateEphemeralResourceConfigRequest,
    ) -> tfplugin::ValidateConfigResponse {
        let schema = self.ephemeral(&request.type_name).await;
        match schema
            .and_then(|schema| validation(request.type_name, request.config.as_ref(), &schema))
        {
            Ok(request) => Answer::saying(self.provider.validate_ephemeral_config(request).await),
            Err(diagnostics) => Answer::saying(diagnostics),
        }
    }

    pub(super) async fn configure(
        &self,
        request: tfplugin::ConfigureProviderRequest,
    ) -> tfplugin::ConfigureProviderResponse {
        let answer = async {
            let config =
                read(request.config.as_ref(), self.schemas().await?.provider.implied_type())?;
            let request =
                ConfigureRequest { core_version: request.terraform_version.into(), config };
            Ok(self.provider.configure(request).await)
        };
        match answer.await {
            Ok(diagnostics) | Err(diagnostics) => Answer::saying(diagnostics),
        }
    }

    pub(super) async fn upgrade(
        &self,
        request: tfplugin::UpgradeResourceStateRequest,
    ) -> tfplugin::UpgradeResourceStateResponse {
        settle(self.try_upgrade(request).await)
    }

    async fn try_upgrade(
        &self,
        request: tfplugin::UpgradeResourceStateRequest,
    ) -> Result<tfplugin::UpgradeResourceStateResponse, Failure> {
        let about = About::new("UpgradeResourceState", &request.type_name);
        let schema = self.managed(&request.type_name).await?;
        let request = UpgradeResourceStateRequest {
            type_name: request.type_name.into(),
            version: request.version,
            raw_state: raw_state(request.raw_state),
        };
        let answer = self.provider.upgrade_resource_state(request).await;
        Ok(tfplugin::UpgradeResourceStateResponse {
            upgraded_state: write(&about, answer.state.as_ref(), schema.implied_type())?,
            diagnostics: diagnostics::write_all(answer.diagnostics),
        })
    }

    pub(super) async fn upgrade_identity(
        &self,
        request: tfplugin::UpgradeResourceIdentityRequest,
    ) -> tfplugin::UpgradeResourceIdentityResponse {
        settle(self.try_upgrade_identity(request).await)
    }

    async fn try_upgrade_identity(
        &self,
        request: tfplugin::UpgradeResourceIdentityRequest,
    ) -> Result<tfplugin::UpgradeResourceIdentityResponse, Failure> {
        let about = About::new("UpgradeResourceIdentity", &request.type_name);
        let schema = self.identity(&request.type_name).await?;
        let raw = request.raw_identity.map(|it| it.json).unwrap_or_default();
        let request = UpgradeResourceIdentityRequest {
            type_name: request.type_name.into(),
            version: request.version,
            raw_identity: (&raw[..]).into(),
        };
        let answer = self.provider.upgrade_resource_identity(request).await;
        let identity = answer.identity.as_ref();
        Ok(tfplugin::UpgradeResourceIdentityResponse {
            upgraded_identity: write_identity(&about, identity, schema.as_deref())?,
            diagnostics: diagnostics::write_all(answer.diagnostics),
        })
    }

    pub(super) async fn move_state(
        &self,
        request: tfplugin::MoveResourceStateRequest,
    ) -> tfplugin::MoveResourceStateResponse {
        settle(self.try_move(request).await)
    }

    async fn try_move(
        &self,
        request: tfplugin::MoveResourceStateRequest,
    ) -> Result<tfplugin::MoveResourceStateResponse, Failure> {
        let about = About::new("MoveResourceState", &request.target_type_name);
        let schema = self.managed(&request.target_type_name).await?;
        let identity = self.identity(&request.target_type_name).await?;
        let schema_version = request.source_identity_schema_version;
        let source_identity = request.source_identity.filter(|it| !it.json.is_empty());
        let source_identity = source_identity
            .map(|it| SourceIdentity { json: (&it.json[..]).into(), schema_version });
        let answer = self.provider.move_resource_state(MoveResourceStateRequest {
            source_provider_address: request.source_provider_address.into(),
            source_type_name: request.source_type_name.into(),
            source_schema_version: request.source_schema_version,
            source_state: raw_state(request.source_state),
            source_private: private(&request.source_private),
            source_identity,
            target_type_name: request.target_type_name.into(),
        });
        let answer = answer.await;
        Ok(tfplugin::MoveResourceStateResponse {
            target_state: write(&about, answer.state.as_ref(), schema.implied_type())?,
            diagnostics: diagnostics::write_all(answer.diagnostics),
            target_private: bytes(&answer.private.unwrap_or_default()),
            target_identity: write_identity(&about, answer.identity.as_ref(), identity.as_deref())?,
        })
    }

    pub(super) async fn read(
        &self,
        request: tfplugin::ReadResourceRequest,
    ) -> tfplugin::ReadResourceResponse {
        settle(self.try_read(request).await)
    }

    async fn try_read(
        &self,
        request: tfplugin::ReadResourceRequest,
    ) -> Result<tfplugin::ReadResourceResponse, Failure> {
        let about = About::new("ReadResource", &request.type_name);
        let schema = self.managed(&request.type_name).await?;
        let identity = self.identity(&request.type_name).await?;
        let answer = self.provider.read_resource(ReadResourceRequest {
            current_state: read(request.current_state.as_ref(), schema.implied_type())?,
            private: private(&request.private),
            provider_meta: self.meta(request.provider_meta.as_ref()).await?,
            identity: read_identity(request.current_identity, identity.as_deref())?,
            type_name: request.type_name.into(),
        });
        let answer = answer.await;
        let new_state = match &answer.new_state {
            Some(value) => write(&about, Some(value), schema.implied_type())?,
            // The provider gave no new state, so the current one stays.
            None => request.current_state,
        };
        Ok(tfplugin::ReadResourceResponse {
            new_state,
            diagnostics: diagnostics::write_all(answer.diagnostics),
            private: bytes(&answer.private),
            deferred: None,
            new_identity: write_identity(&about, answer.identity.as_ref(), identity.as_deref())?,
        })
    }

    pub(super) async fn plan(
        &self,
        request: tfplugin::PlanResourceChangeRequest,
    ) -> tfplugin::PlanResourceChangeResponse {
        settle(self.try_plan(request).await)
    }

    async fn try_plan(
        &self,
        request: tfplugin::PlanResourceChangeRequest,
    ) -> Result<tfplugin::PlanResourceChangeResponse, Failure> {
        let about = About::new("PlanResourceChange", &request.type_name);
        let schema = self.managed(&request.type_name).await?;
        let (ty, identity) = (schema.implied_type(), self.identity(&request.type_name).await?);
        let answer = self.provider.plan_resource_change(PlanResourceChangeRequest {
            prior_state: read(request.prior_state.as_ref(), ty)?,
            proposed_new_state: read(request.proposed_new_state.as_ref(), ty)?,
            config: read(request.config.as_ref(), ty)?,
            prior_private: private(&request.prior_private),
            provider_meta: self.meta(request.provider_meta.as_ref()).await?,
            prior_identity: read_identity(request.prior_identity, identity.as_deref())?,
            type_name: request.type_name.into(),
        });
        let answer = answer.await;
        Ok(tfplugin::PlanResourceChangeResponse {
            planned_state: write(&about, answer.planned_state.as_ref(), ty)?,
            requires_replace: answer.requires_replace.iter().map(diagnostics::write_path).collect(),
            planned_private: bytes(&answer.planned_private),
            diagnostics: diagnostics::write_all(answer.diagnostics),
            legacy_type_system: answer.legacy_type_system,
            deferred: None,
            planned_identity: write_identity(
                &about,
                answer.planned_identity.as_ref(),
                identity.as_deref(),
            )?,
        })
    }

    pub(super) async fn apply(
        &self,
        request: tfplugin::ApplyResourceChangeRequest,
    ) -> tfplugin::ApplyResourceChangeResponse {
        let prior_state = request.prior_state.clone();
        self.try_apply(request).await.unwrap_or_else(|diagnostics| {
            tfplugin::ApplyResourceChangeResponse {
                // The provider was not called or gave no answer, so nothing changed. An empty state would make the
                // core forget the object.
                new_state: prior_state,
                ..Answer::saying(diagnostics)
            }
        })
    }

    async fn try_apply(
        &self,
        request: tfplugin::ApplyResourceChangeRequest,
    ) -> Result<tfplugin::ApplyResourceChangeResponse, Failure> {
        let about = About::new("ApplyResourceChange", &request.type_name);
        let schema = self.managed(&request.type_name).await?;
        let (ty, identity) = (schema.implied_type(), self.identity(&request.type_name).await?);
        let answer = self.provider.apply_resource_change(ApplyResourceChangeRequest {
            prior_state: read(request.prior_state.as_ref(), ty)?,
            planned_state: read(request.planned_state.as_ref(), ty)?,
            config: read(request.config.as_ref(), ty)?,
            planned_private: private(&request.planned_private),
            provider_meta: self.meta(request.provider_meta.as_ref()).await?,
            planned_identity: read_identity(request.planned_identity, identity.as_deref())?,
            type_name: request.type_name.into(),
        });
        let answer = answer.await;
        let new_state = match &answer.new_state {
            Some(value) => write(&about, Some(value), ty)?,
            None => request.prior_state,
        };
        Ok(tfplugin::ApplyResourceChangeResponse {
            new_state,
            private: bytes(&answer.private),
            diagnostics: diagnostics::write_all(answer.diagnostics),
            legacy_type_system: answer.legacy_type_system,
            new_identity: write_identity(
                &about,
                answer.new_identity.as_ref(),
                identity.as_deref(),
            )?,
        })
    }

    pub(super) async fn import(
        &self,
        request: tfplugin::ImportResourceStateRequest,
    ) -> tfplugin::ImportResourceStateResponse {
        settle(self.try_import(request).await)
    }

    async fn try_import(
        &self,
        request: tfplugin::ImportResourceStateRequest,
    ) -> Result<tfplugin::ImportResourceStateResponse, Failure> {
        let identity = self.identity(&request.type_name).await?;
        let target = match read_identity(request.identity, identity.as_deref())? {
            Some(identity) => ImportTarget::Identity(identity),
            None => ImportTarget::Id(request.id.into()),
        };
        let request = ImportResourceStateRequest { type_name: request.type_name.into(), target };
        let answer = self.provider.import_resource_state(request).await;
        let mut imported_resources = Vec::new();
        for it in answer.imported {
            let about = About::new("ImportResourceState", &it.type_name);
            let schema = self.managed(&it.type_name).await?;
            let identity = self.identity(&it.type_name).await?;
            imported_resources.push(tfplugin::import_resource_state_response::ImportedResource {
                type_name: it.type_name.to_string(),
                state: write(&about, Some(&it.state), schema.implied_type())?,
                private: bytes(&it.private),
                identity: write_identity(&about, it.identity.as_ref(), identity.as_deref())?,
            });
        }
        Ok(tfplugin::ImportResourceStateResponse {
            imported_resources,
            diagnostics: diagnostics::write_all(answer.diagnostics),
            deferred: None,
        })
    }

    pub(super) async fn read_data(
        &self,
        request: tfplugin::ReadDataSourceRequest,
    ) -> tfplugin::ReadDataSourceResponse {
        settle(self.try_read_data(request).await)
    }

    async fn try_read_data(
        &self,
        request: tfplugin::ReadDataSourceRequest,
    ) -> Result<tfplugin::ReadDataSourceResponse, Failure> {
        let about = About::new("ReadDataSource", &request.type_name);
        let schema = self.data(&request.type_name).await?;
        let answer = self.provider.read_data_source(ReadDataSourceRequest {
            config: read(request.config.as_ref(), schema.implied_type())?,
            provider_meta: self.meta(request.provider_meta.as_ref()).await?,
            type_name: request.type_name.into(),
        });
        let answer = answer.await;
        Ok(tfplugin::ReadDataSourceResponse {
            state: write(&about, answer.state.as_ref(), schema.implied_type())?,
            diagnostics: diagnostics::write_all(answer.diagnostics),
            deferred: None,
        })
    }

    pub(super) async fn open(
        &self,
        request: tfplugin::OpenEphemeralResourceRequest,
    ) -> tfplugin::OpenEphemeralResourceResponse {
        settle(self.try_open(request).await)
    }

    async fn try_open(
        &self,
        request: tfplugin::OpenEphemeralResourceRequest,
    ) -> Result<tfplugin::OpenEphemeralResourceResponse, Failure> {
        let about = About::new("OpenEphemeralResource", &request.type_name);
        let schema = self.ephemeral(&request.type_name).await?;
        let config = read(request.config.as_ref(), schema.implied_type())?;
        let type_name = Str::from(request.type_name);
        let answer = self.provider.open_ephemeral(OpenEphemeralRequest { type_name, config }).await;
        let opened = answer.opened;
        Ok(tfplugin::OpenEphemeralResourceResponse {
            diagnostics: diagnostics::write_all(answer.diagnostics),
            renew_at: timestamp(opened.as_ref().and_then(|it| it.renew_at)),
            private: opened.as_ref().map(|it| bytes(&it.private)),
            result: write(&about, opened.as_ref().map(|it| &it.result), schema.implied_type())?,
            deferred: None,
        })
    }

    pub(super) async fn renew(
        &self,
        request: tfplugin::RenewEphemeralResourceRequest,
    ) -> tfplugin::RenewEphemeralResourceResponse {
        let request = RenewEphemeralRequest {
            type_name: request.type_name.into(),
            private: private(&request.private.unwrap_or_default()),
        };
        let answer = self.provider.renew_ephemeral(request).await;
        tfplugin::RenewEphemeralResourceResponse {
            diagnostics: diagnostics::write_all(answer.diagnostics),
            renew_at: timestamp(answer.renew_at),
            private: Some(bytes(&answer.private)),
        }
    }

    pub(super) async fn close(
        &self,
        request: tfplugin::CloseEphemeralResourceRequest,
    ) -> tfplugin::CloseEphemeralResourceResponse {
        let request = CloseEphemeralRequest {
            type_name: request.type_name.into(),
            private: private(&request.private.unwrap_or_default()),
        };
        Answer::saying(self.provider.close_ephemeral(request).await)
    }

    pub(super) async fn functions(
        &self,
        _: tfplugin::GetFunctionsRequest,
    ) -> tfplugin::GetFunctionsResponse {
        settle(self.provider.functions().await.map(|functions| tfplugin::GetFunctionsResponse {
            functions: schema_write::functions(&functions),
            diagnostics: Vec::new(),
        }))
    }

    pub(super) async fn call_function(
        &self,
        request: tfplugin::CallFunctionRequest,
    ) -> tfplugin::CallFunctionResponse {
        match self.try_call_function(request).await {
            Ok(result) => tfplugin::CallFunctionResponse { result, error: None },
            Err(fault) => tfplugin::CallFunctionResponse {
                result: None,
                error: Some(tfplugin::FunctionError {
                    text: fault.message,
                    function_argument: fault.argument.and_then(|it| i64::try_from(it).ok()),
                }),
            },
        }
    }

    async fn try_call_function(
        &self,
        request: tfplugin::CallFunctionRequest,
    ) -> Result<Option<DynamicValue>, FunctionFault> {
        let functions = self.provider.functions().await.map_err(|it| fault(None, texts(&it)))?;
        let signature = functions
            .get(request.name.as_str())
            .ok_or_else(|| fault(None, format!("there is no function {:?}", request.name)))?;
        let mut arguments = Vec::with_capacity(request.arguments.len());
        for (index, message) in request.arguments.iter().enumerate() {
            let parameter = signature.parameters.get(index).or(signature.variadic.as_ref());
            let parameter =
                parameter.ok_or_else(|| fault(Some(index), "too many arguments".to_owned()))?;
            let argument = dynamic_value::decode(Some(message), &parameter.ty);
            arguments.push(argument.map_err(|error| fault(Some(index), error.to_string()))?);
        }
        if arguments.len() < signature.parameters.len() {
            return Err(fault(None, "not enough arguments".to_owned()));
        }
        let request = CallFunctionRequest { name: request.name.into(), arguments };
        let result = self.provider.call_function(request).await?;
        let message = dynamic_value::encode(&result, &signature.returns);
        message.map(Some).map_err(|error| {
            fault(None, format!("the result is not of the declared type: {error}"))
        })
    }

    pub(super) async fn stop(
        &self,
        _: tfplugin::StopProviderRequest,
    ) -> tfplugin::StopProviderResponse {
        tfplugin::StopProviderResponse {
            error: self.provider.stop().await.err().unwrap_or_default(),
        }
    }
}

fn no_such(kind: &str, type_name: &str) -> Failure {
    vec![ProviderDiagnostic::error(
        "Unsupported resource type",
        format!("There is no {kind} {type_name:?}."),
    )]
}

fn fault(argument: Option<usize>, message: String) -> FunctionFault {
    FunctionFault { argument, message }
}

fn texts(diagnostics: &[ProviderDiagnostic]) -> String {
    diagnostics
        .iter()
        .map(|it| format!("{}: {}", it.summary, it.detail))
        .collect::<Vec<_>>()
        .join("\n")
}

fn validation(
    type_name: String,
    config: Option<&DynamicValue>,
    schema: &Schema,
) -> Result<ValidateRequest, Failure> {
    Ok(ValidateRequest {
        config: read(config, schema.implied_type())?,
        type_name: type_name.into(),
    })
}
