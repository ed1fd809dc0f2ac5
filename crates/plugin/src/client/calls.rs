//! One method per RPC: converts the request to its message, calls, and converts the answer back.

use std::{sync::atomic::Ordering, time::SystemTime};

use bytes::Bytes;
use prost_types::Timestamp;
use provider::{
    ApplyResourceChangeRequest, ApplyResourceChangeResponse, CallFunctionRequest,
    CloseEphemeralRequest, ConfigureRequest, FunctionFault, FunctionParameter, FunctionSignature,
    ImportResourceStateRequest, ImportResourceStateResponse, ImportTarget, ImportedResource,
    MissingAttribute, MoveResourceStateRequest, MoveResourceStateResponse, OpenEphemeralRequest,
    OpenEphemeralResponse, OpenedEphemeral, PlanResourceChangeRequest, PlanResourceChangeResponse,
    Private, ProviderDiagnostic, RawState, ReadDataSourceRequest, ReadDataSourceResponse,
    ReadResourceRequest, ReadResourceResponse, RenewEphemeralRequest, RenewEphemeralResponse,
    StateResponse, UpgradeResourceIdentityRequest, UpgradeResourceIdentityResponse,
    UpgradeResourceStateRequest, ValidateRequest,
};
use values::Value;

use super::{Failure, GrpcProvider, UnansweredCall, session::LARGEST_PRIVATE};
use crate::{diagnostics, dynamic_value, generated::tfplugin, logs::shortened};

/// The years 1 to 9999 in seconds of Unix time, the range of a protobuf timestamp.
const TIMESTAMPS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

type Diagnostics = Vec<ProviderDiagnostic>;

/// The client capabilities in every request. Deferral is not allowed, because this engine has no use for deferred
/// answers.
fn capabilities() -> Option<tfplugin::ClientCapabilities> {
    Some(tfplugin::ClientCapabilities {
        deferral_allowed: false,
        write_only_attributes_allowed: true,
    })
}

fn bytes(private: &Private) -> Bytes {
    Bytes::copy_from_slice(private.as_bytes())
}

fn private(bytes: &Bytes) -> Private {
    Private::new(&bytes[..])
}

fn raw_state(state: &RawState) -> Option<tfplugin::RawState> {
    Some(match state {
        RawState::Json(text) => {
            tfplugin::RawState { json: Bytes::copy_from_slice(text), flatmap: Default::default() }
        }
        RawState::Flatmap(map) => tfplugin::RawState {
            json: Bytes::new(),
            flatmap: map.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect(),
        },
    })
}

impl GrpcProvider {
    pub(super) async fn try_validate_provider(
        &self,
        config: Value,
    ) -> Result<Diagnostics, Failure> {
        let schemas = self.ready().await?;
        let asked = self.configuration.get().unwrap_or(&schemas.provider);
        let missing = asked.block().missing(&config);
        if !missing.is_empty() {
            return Err(missing.into_iter().map(missing_argument).collect());
        }
        let config =
            self.encode("ValidateProviderConfig", &config, schemas.provider.implied_type())?;
        // Protocol 5 also returns a prepared configuration, which cores ignore.
        let message = tfplugin::ValidateProviderConfigRequest { config };
        let answer = self.answer(self.wire.validate_provider(message)).await?;
        Ok(self.read_diagnostics("ValidateProviderConfig", answer.diagnostics))
    }

    pub(super) async fn try_configure(
        &self,
        request: ConfigureRequest,
    ) -> Result<Diagnostics, Failure> {
        let schemas = self.ready().await?;
        let message = tfplugin::ConfigureProviderRequest {
            terraform_version: request.core_version.to_string(),
            config: self.encode(
                "ConfigureProvider",
                &request.config,
                schemas.provider.implied_type(),
            )?,
            client_capabilities: capabilities(),
        };
        let answer = self.answer(self.wire.configure(message)).await?;
        Ok(self.read_diagnostics("ConfigureProvider", answer.diagnostics))
    }

    pub(super) async fn try_validate_resource(
        &self,
        request: ValidateRequest,
    ) -> Result<Diagnostics, Failure> {
        let schema = self.ready().await?.managed(&request.type_name);
        let schema = self.find(schema, "resource type", &request.type_name)?;
        let message = tfplugin::ValidateResourceConfigRequest {
            type_name: request.type_name.to_string(),
            config: self.encode(
                "ValidateResourceConfig",
                &request.config,
                schema.implied_type(),
            )?,
            client_capabilities: capabilities(),
        };
        let answer = self.answer(self.wire.validate_resource(message)).await?;
        Ok(self.read_diagnostics("ValidateResourceConfig", answer.diagnostics))
    }

    pub(super) async fn try_validate_data(
        &self,
        request: ValidateRequest,
    ) -> Result<Diagnostics, Failure> {
        let schema = self.ready().await?.data(&request.type_name);
        let schema = self.find(schema, "data source", &request.type_name)?;
        let message = tfplugin::ValidateDataResourceConfigRequest {
            type_name: request.type_name.to_string(),
            config: self.encode(
                "ValidateDataResourceConfig",
                &request.config,
                schema.implied_type(),
            )?,
        };
        let answer = self.answer(self.wire.validate_data(message)).await?;
        Ok(self.read_diagnostics("ValidateDataResourceConfig", answer.diagnostics))
    }

    pub(super) async fn try_validate_ephemeral(
        &self,
        request: ValidateRequest,
    ) -> Result<Diagnostics, Failure> {
        let schema = self.ready().await?.ephemeral(&request.type_name);
        let schema = self.find(schema, "ephemeral resource type", &request.type_name)?;
        let message = tfplugin::ValidateEphemeralResourceConfigRequest {
            type_name: request.type_name.to_string(),
            config: self.encode(
                "ValidateEphemeralConfig",
                &request.config,
                schema.implied_type(),
            )?,
        };
        let answer = self.answer(self.wire.validate_ephemeral(message)).await?;
        Ok(self.read_diagnostics("ValidateEphemeralConfig", answer.diagnostics))
    }

    pub(super) async fn try_upgrade(
        &self,
        request: UpgradeResourceStateRequest,
    ) -> Result<StateResponse, Failure> {
        let schema = self.ready().await?.managed(&request.type_name);
        let schema = self.find(schema, "resource type", &request.type_name)?;
        let message = tfplugin::UpgradeResourceStateRequest {
            type_name: request.type_name.to_string(),
            version: request.version,
            raw_state: raw_state(&request.raw_state),
        };
        let answer = self.answer(self.wire.upgrade_state(message)).await?;
        let mut diagnostics = self.read_diagnostics("UpgradeResourceState", answer.diagnostics);
        let state = answer.upgraded_state.as_ref();
        let state = self.decode_state(
            "UpgradeResourceState",
            &request.type_name,
            state,
            schema.block(),
            &mut diagnostics,
        );
        Ok(StateResponse { state, diagnostics })
    }

    pub(super) async fn try_upgrade_identity(
        &self,
        request: UpgradeResourceIdentityRequest,
    ) -> Result<UpgradeResourceIdentityResponse, Failure> {
        const METHOD: &str = "UpgradeResourceIdentity";
        let schema = self.ready().await?.identity(&request.type_name);
        let message = tfplugin::UpgradeResourceIdentityRequest {
            type_name: request.type_name.to_string(),
            version: request.version,
            raw_identity: raw_state(&RawState::Json(request.raw_identity)),
        };
        let answer = self.answer(self.wire.upgrade_identity(message)).await?;
        let mut diagnostics = self.read_diagnostics(METHOD, answer.diagnostics);
        let identity = self.decode_identity(METHOD, answer.upgraded_identity, schema.as_deref());
        let identity = keep(identity, &mut diagnostics);
        Ok(UpgradeResourceIdentityResponse { identity, diagnostics })
    }

    pub(super) async fn try_move(
        &self,
        request: MoveResourceStateRequest,
    ) -> Result<MoveResourceStateResponse, Failure> {
        const METHOD: &str = "MoveResourceState";
        let schemas = self.ready().await?;
        let type_name = &request.target_type_name;
        let schema = self.find(schemas.managed(type_name), "resource type", type_name)?;
        let identity_schema = schemas.identity(type_name);
        let identity = request.source_identity.as_ref();
        let message = tfplugin::MoveResourceStateRequest {
            source_provider_address: request.source_provider_address.to_string(),
            source_type_name: request.source_type_name.to_string(),
            source_schema_version: request.source_schema_version,
            source_state: raw_state(&request.source_state),
            target_type_name: type_name.to_string(),
            source_private: bytes(&request.source_private),
            source_identity: identity.and_then(|it| raw_state(&RawState::Json(it.json.clone()))),
            source_identity_schema_version: identity.map_or(0, |it| it.schema_version),
        };
        let answer = self.answer(self.wire.move_state(message)).await?;
        let mut diagnostics = self.read_diagnostics(METHOD, answer.diagnostics);
        let state = answer.target_state.as_ref();
        let state = self.decode_state(METHOD, type_name, state, schema.block(), &mut diagnostics);
        let private = self.private(METHOD, &answer.target_private);
        let private = keep(private, &mut diagnostics);
        let identity =
            self.decode_identity(METHOD, answer.target_identity, identity_schema.as_deref());
        let identity = keep(identity, &mut diagnostics);
        Ok(MoveResourceStateResponse { state, private, identity, diagnostics })
    }

    pub(super) async fn try_read(
        &self,
        request: ReadResourceRequest,
    ) -> Result<ReadResourceResponse, Failure> {
        const METHOD: &str = "ReadResource";
        let schemas = self.ready().await?;
        let schema =
            self.find(schemas.managed(&request.type_name), "resource type", &request.type_name)?;
        let identity = schemas.identity(&request.type_name);
        let message = tfplugin::ReadResourceRequest {
            type_name: request.type_name.to_string(),
            current_state: self.encode(METHOD, &request.current_state, schema.implied_type())?,
            private: bytes(&request.private),
            provider_meta: self.encode_meta(METHOD, request.provider_meta.as_ref(), &schemas)?,
            client_capabilities: capabilities(),
            current_identity: self.encode_identity(
                METHOD,
                request.identity.as_ref(),
                identity.as_deref(),
            )?,
        };
        let answer = self.answer(self.wire.read_resource(message)).await?;
        let mut diagnostics = self.read_diagnostics(METHOD, answer.diagnostics);
        self.refuse_deferral(METHOD, answer.deferred).map_err(|it| vec![it])?;
        let state = answer.new_state.as_ref();
        let new_state =
            self.decode_state(METHOD, &request.type_name, state, schema.block(), &mut diagnostics);
        let identity = self.decode_identity(METHOD, answer.new_identity, identity.as_deref());
        let identity = keep(identity, &mut diagnostics);
        let private = keep(self.private(METHOD, &answer.private), &mut diagnostics);
        Ok(ReadResourceResponse {
            new_state,
            private: private.unwrap_or(request.private),
            identity,
            diagnostics,
        })
    }

    pub(super) async fn try_plan(
        &self,
        request: PlanResourceChangeRequest,
    ) -> Result<PlanResourceChangeResponse, Failure> {
        const METHOD: &str = "PlanResourceChange";
        let schemas = self.ready().await?;
        let schema =
            self.find(schemas.managed(&request.type_name), "resource type", &request.type_name)?;
        let (ty, identity) = (schema.implied_type(), schemas.identity(&request.type_name));
        let message = tfplugin::PlanResourceChangeRequest {
            type_name: request.type_name.to_string(),
            prior_state: self.encode(METHOD, &request.prior_state, ty)?,
            proposed_new_state: self.encode(METHOD, &request.proposed_new_state, ty)?,
            config: self.encode(METHOD, &request.config, ty)?,
            prior_private: bytes(&request.prior_private),
            provider_meta: self.encode_meta(METHOD, request.provider_meta.as_ref(), &schemas)?,
            client_capabilities: capabilities(),
            prior_identity: self.encode_identity(
                METHOD,
                request.prior_identity.as_ref(),
                identity.as_deref(),
            )?,
        };
        let answer = self.answer(self.wire.plan(message)).await?;
        let mut diagnostics = self.read_diagnostics(METHOD, answer.diagnostics);
        self.refuse_deferral(METHOD, answer.deferred).map_err(|it| vec![it])?;
        let state = answer.planned_state.as_ref();
        let planned_state =
            self.decode_state(METHOD, &request.type_name, state, schema.block(), &mut diagnostics);
        let identity =
            self.decode_planned_identity(METHOD, answer.planned_identity, identity.as_deref());
        let private = keep(self.private(METHOD, &answer.planned_private), &mut diagnostics);
        Ok(PlanResourceChangeResponse {
            planned_state,
            requires_replace: answer
                .requires_replace
                .into_iter()
                .map(diagnostics::read_path)
                .collect(),
            planned_private: private.unwrap_or_default(),
            planned_identity: keep(identity, &mut diagnostics),
            legacy_type_system: answer.legacy_type_system,
            diagnostics,
        })
    }

    pub(super) async fn try_apply(
        &self,
        request: ApplyResourceChangeRequest,
    ) -> Result<ApplyResourceChangeResponse, UnansweredCall> {
        const METHOD: &str = "ApplyResourceChange";
        let schemas = self.ready().await?;
        let schema =
            self.find(schemas.managed(&request.type_name), "resource type", &request.type_name)?;
        let (ty, identity) = (schema.implied_type(), schemas.identity(&request.type_name));
        let message = tfplugin::ApplyResourceChangeRequest {
            type_name: request.type_name.to_string(),
            prior_state: self.encode(METHOD, &request.prior_state, ty)?,
            planned_state: self.encode(METHOD, &request.planned_state, ty)?,
            config: self.encode(METHOD, &request.config, ty)?,
            planned_private: bytes(&request.planned_private),
            provider_meta: self.encode_meta(METHOD, request.provider_meta.as_ref(), &schemas)?,
            planned_identity: self.encode_identity(
                METHOD,
                request.planned_identity.as_ref(),
                identity.as_deref(),
            )?,
        };
        let answer = match self.wire.apply(message).await {
            Ok(answer) => answer,
            Err(failure) => {
                let is_undelivered = failure.is_undelivered();
                return Err(UnansweredCall {
                    diagnostics: self.failed(&failure).await,
                    is_undelivered,
                });
            }
        };
        let mut diagnostics = self.read_diagnostics(METHOD, answer.diagnostics);
        let state = answer.new_state.as_ref();
        let new_state =
            self.decode_state(METHOD, &request.type_name, state, schema.block(), &mut diagnostics);
        let identity = self.decode_identity(METHOD, answer.new_identity, identity.as_deref());
        let private = keep(self.private(METHOD, &answer.private), &mut diagnostics);
        Ok(ApplyResourceChangeResponse {
            new_state,
            is_undelivered: false,
            // The object exists even if its private data is unusable, and must not get lost.
            private: private.unwrap_or(request.planned_private),
            new_identity: keep(identity, &mut diagnostics),
            legacy_type_system: answer.legacy_type_system,
            diagnostics,
        })
    }

    pub(super) async fn try_import(
        &self,
        request: ImportResourceStateRequest,
    ) -> Result<ImportResourceStateResponse, Failure> {
        const METHOD: &str = "ImportResourceState";
        let schemas = self.ready().await?;
        let identity = schemas.identity(&request.type_name);
        let (id, identity) = match &request.target {
            ImportTarget::Id(id) => (id.to_string(), None),
            ImportTarget::Identity(value) => {
                (String::new(), self.encode_identity(METHOD, Some(value), identity.as_deref())?)
            }
        };
        let message = tfplugin::ImportResourceStateRequest {
            type_name: request.type_name.to_string(),
            id,
            client_capabilities: capabilities(),
            identity,
        };
        let answer = self.answer(self.wire.import(message)).await?;
        let mut diagnostics = self.read_diagnostics(METHOD, answer.diagnostics);
        self.refuse_deferral(METHOD, answer.deferred).map_err(|it| vec![it])?;
        let mut imported = Vec::new();
        for resource in answer.imported_resources {
            match self.imported(&schemas, resource, &mut diagnostics) {
                Ok(resource) => imported.extend(resource),
                Err(failure) => diagnostics.extend(failure),
            }
        }
        if imported.is_empty() && !diagnostics.iter().any(ProviderDiagnostic::is_error) {
            let detail = format!(
                "The provider {} answered {} with neither an object nor an error.",
                self.listener.name,
                self.wire.call(METHOD),
            );
            diagnostics.push(ProviderDiagnostic::error("Import returned no resources", detail));
        }
        Ok(ImportResourceStateResponse { imported, diagnostics })
    }

    fn imported(
        &self,
        schemas: &provider::ProviderSchemas,
        message: tfplugin::import_resource_state_response::ImportedResource,
        diagnostics: &mut Diagnostics,
    ) -> Result<Option<ImportedResource>, Failure> {
        const METHOD: &str = "ImportResourceState";
        let schema = schemas.managed(&message.type_name).ok_or_else(|| {
            let what = format!("{:?} is no resource type of it", message.type_name);
            vec![self.undecodable(METHOD, &what)]
        })?;
        let state = self.decode_state(
            METHOD,
            &message.type_name,
            message.state.as_ref(),
            schema.block(),
            diagnostics,
        );
        let identity = schemas.identity(&message.type_name);
        let identity = self.decode_identity(METHOD, message.identity, identity.as_deref());
        let identity = keep(identity, diagnostics);
        let private = keep(self.private(METHOD, &message.private), diagnostics);
        Ok(state.map(|state| ImportedResource {
            type_name: message.type_name.into(),
            state,
            private: private.unwrap_or_default(),
            identity,
        }))
    }

    pub(super) async fn try_read_data(
        &self,
        request: ReadDataSourceRequest,
    ) -> Result<ReadDataSourceResponse, Failure> {
        const METHOD: &str = "ReadDataSource";
        let schemas = self.ready().await?;
        let schema =
            self.find(schemas.data(&request.type_name), "data source", &request.type_name)?;
        let message = tfplugin::ReadDataSourceRequest {
            type_name: request.type_name.to_string(),
            config: self.encode(METHOD, &request.config, schema.implied_type())?,
            provider_meta: self.encode_meta(METHOD, request.provider_meta.as_ref(), &schemas)?,
            client_capabilities: capabilities(),
        };
        let answer = self.answer(self.wire.read_data(message)).await?;
        let mut diagnostics = self.read_diagnostics(METHOD, answer.diagnostics);
        let state = self.decode(METHOD, answer.state.as_ref(), schema.implied_type()).map(Some);
        Ok(ReadDataSourceResponse { state: keep(state, &mut diagnostics), diagnostics })
    }

    pub(super) async fn try_open(
        &self,
        request: OpenEphemeralRequest,
    ) -> Result<OpenEphemeralResponse, Failure> {
        const METHOD: &str = "OpenEphemeralResource";
        let schema = self.ready().await?.ephemeral(&request.type_name);
        let schema = self.find(schema, "ephemeral resource type", &request.type_name)?;
        let message = tfplugin::OpenEphemeralResourceRequest {
            type_name: request.type_name.to_string(),
            config: self.encode(METHOD, &request.config, schema.implied_type())?,
            client_capabilities: capabilities(),
        };
        self.opening.fetch_add(1, Ordering::SeqCst);
        let answer = match self.wire.open_ephemeral(message).await {
            Ok(answer) => answer,
            Err(failure) => {
                self.listener.silence();
                return Err(self.failed(&failure.without_words()).await);
            }
        };
        let private_bytes = answer.private.unwrap_or_default();
        let result = self.decode_ephemeral(METHOD, answer.result.as_ref(), schema.implied_type());
        self.learn(result.as_ref().ok(), &private_bytes);
        self.opening.fetch_sub(1, Ordering::SeqCst);
        let (private, private_fault) = match self.private(METHOD, &private_bytes) {
            Ok(private) => (private.unwrap_or_default(), None),
            // Closing the resource may need the private data, so keep it even if it is too large.
            Err(fault) => (private(&private_bytes), Some(fault)),
        };
        let known = result.is_ok();
        let words = |diagnostics: Diagnostics| {
            if known { diagnostics } else { self.without_words(METHOD, &diagnostics) }
        };
        let mut diagnostics = words(self.read_diagnostics(METHOD, answer.diagnostics));
        if diagnostics.iter().any(ProviderDiagnostic::is_error) {
            return Ok(OpenEphemeralResponse { opened: None, diagnostics });
        }
        let usable = result.and_then(|result| {
            self.refuse_deferral(METHOD, answer.deferred)?;
            private_fault.map_or(Ok(()), Err)?;
            Ok((result, self.renew_at(METHOD, answer.renew_at)?))
        });
        match usable {
            Ok((result, renew_at)) => {
                let opened = Some(OpenedEphemeral { result, renew_at, private });
                Ok(OpenEphemeralResponse { opened, diagnostics })
            }
            Err(diagnostic) => {
                // The resource is open, but the answer is unusable. Close it here, because the caller gets nothing
                // that it could close.
                diagnostics.push(diagnostic);
                let close = CloseEphemeralRequest { type_name: request.type_name, private };
                diagnostics.extend(words(super::flatten(self.try_close(close).await)));
                Ok(OpenEphemeralResponse { opened: None, diagnostics })
            }
        }
    }

    /// Passes the result and the private data of an open ephemeral resource to the redactor, before any text of
    /// the same answer is passed on. If one of them cannot be registered, secrets in the provider's texts would go
    /// unnoticed, so the plugin is silenced. A null result holds no secret.
    fn learn(&self, result: Option<&Value>, private: &[u8]) {
        if private.len() > LARGEST_PRIVATE {
            // Searching every text for so long a value would take too long.
            self.listener.silence();
        } else {
            self.listener.redact.learn_private(private);
        }
        match result {
            Some(result) if result.is_null() => {}
            Some(result) => self.listener.redact.learn_opened(result),
            None => self.listener.silence(),
        }
    }

    /// Replaces the texts of diagnostics and keeps their severities.
    fn without_words(&self, method: &str, diagnostics: &[ProviderDiagnostic]) -> Diagnostics {
        diagnostics.iter().map(|it| self.wordless(method, it.severity)).collect()
    }

    fn renew_at(
        &self,
        method: &str,
        at: Option<Timestamp>,
    ) -> Result<Option<SystemTime>, ProviderDiagnostic> {
        let Some(at) = at else { return Ok(None) };
        let time =
            TIMESTAMPS.contains(&at.seconds).then(|| SystemTime::try_from(at).ok()).flatten();
        let time = time.ok_or_else(|| self.undecodable(method, &"its time of renewal is no time"));
        time.map(Some)
    }

    pub(super) async fn try_renew(
        &self,
        request: RenewEphemeralRequest,
    ) -> Result<RenewEphemeralResponse, Failure> {
        const METHOD: &str = "RenewEphemeralResource";
        self.ready().await?;
        let message = tfplugin::RenewEphemeralResourceRequest {
            type_name: request.type_name.to_string(),
            private: Some(bytes(&request.private)),
        };
        let answer = self.answer(self.wire.renew_ephemeral(message)).await?;
        if let Some(private) = answer.private.as_ref().filter(|it| it.len() <= LARGEST_PRIVATE) {
            self.listener.redact.learn_private(private);
        }
        let mut diagnostics = self.read_diagnostics(METHOD, answer.diagnostics);
        let failed = diagnostics.iter().any(ProviderDiagnostic::is_error);
        let renew_at = keep(self.renew_at(METHOD, answer.renew_at), &mut diagnostics);
        let private = match answer.private {
            // The answer of a failed call is often empty, and closing still needs the previous private data.
            None if failed => request.private,
            new => keep(self.private(METHOD, &new.unwrap_or_default()), &mut diagnostics)
                .unwrap_or(request.private),
        };
        Ok(RenewEphemeralResponse { renew_at, private, diagnostics })
    }

    pub(super) async fn try_close(
        &self,
        request: CloseEphemeralRequest,
    ) -> Result<Diagnostics, Failure> {
        self.ready().await?;
        let message = tfplugin::CloseEphemeralResourceRequest {
            type_name: request.type_name.to_string(),
            private: Some(bytes(&request.private)),
        };
        let answer = self.answer(self.wire.close_ephemeral(message)).await?;
        Ok(self.read_diagnostics("CloseEphemeralResource", answer.diagnostics))
    }

    pub(super) async fn try_call_function(
        &self,
        request: CallFunctionRequest,
    ) -> Result<Value, FunctionFault> {
        let signature = self.signature(&request.name).await?;
        let mut arguments = Vec::with_capacity(request.arguments.len());
        for (index, value) in request.arguments.iter().enumerate() {
            let fault = |message: String| FunctionFault { argument: Some(index), message };
            let parameter = parameter(&signature, index)
                .ok_or_else(|| fault("too many arguments".to_owned()))?;
            let message = dynamic_value::encode(value, &parameter.ty);
            arguments.push(message.map_err(|error| fault(self.clean(&error.to_string())))?);
        }
        let message = tfplugin::CallFunctionRequest { name: request.name.to_string(), arguments };
        let answer = self.answer(self.wire.call_function(message)).await;
        let answer = answer.map_err(|failure| fault(&failure))?;
        if let Some(error) = answer.error {
            let argument = error.function_argument.and_then(|it| usize::try_from(it).ok());
            let argument = argument.filter(|it| *it < request.arguments.len());
            let mut message = shortened(self.clean(&error.text));
            if let Some(sandboxed) = self.sandboxed() {
                message.push_str(&sandboxed.addition(&message));
            }
            return Err(FunctionFault { argument, message });
        }
        let result =
            self.decode_ephemeral("CallFunction", answer.result.as_ref(), &signature.returns);
        let result = result.map_err(|diagnostic| fault(&[diagnostic]))?;
        let takes_unknowns = !request.arguments.iter().all(Value::is_wholly_known);
        if !takes_unknowns && !result.is_wholly_known() {
            let unknown = "the result is not known although all arguments are";
            return Err(fault(&[self.undecodable("CallFunction", &unknown)]));
        }
        Ok(result)
    }

    /// Returns the signature of a function from the schemas, or else from the functions that the configured
    /// provider adds.
    async fn signature(&self, name: &str) -> Result<FunctionSignature, FunctionFault> {
        let schemas = self.ready().await.map_err(|failure| fault(&failure))?;
        if let Some(signature) = schemas.functions.get(name) {
            return Ok(signature.clone());
        }
        let functions = self.all_functions().await.map_err(|failure| fault(&failure))?;
        functions.get(name).cloned().ok_or_else(|| FunctionFault {
            argument: None,
            message: format!("the provider {} has no function {name:?}", self.listener.name),
        })
    }

    pub(super) async fn try_stop(&self) -> Result<(), String> {
        match self.wire.stop(tfplugin::StopProviderRequest {}).await {
            Ok(answer) if answer.error.is_empty() => Ok(()),
            Ok(answer) => {
                let (provider, call) = (&self.listener.name, self.wire.call("Stop"));
                let text = format!(
                    "The provider {provider} answered {call} with an error: {}",
                    answer.error
                );
                Err(shortened(self.clean(&text)))
            }
            Err(failure) => {
                let plugin = format!("provider {}", self.listener.name);
                Err(shortened(self.clean(&failure.texts(&plugin).1)))
            }
        }
    }
}

fn missing_argument(missing: MissingAttribute) -> ProviderDiagnostic {
    let MissingAttribute { path, name } = missing;
    let detail = format!("The argument \"{name}\" is required, but no definition was found.");
    let path = Some(path).filter(|path| !path.steps().is_empty());
    ProviderDiagnostic { path, ..ProviderDiagnostic::error("Missing required argument", detail) }
}

fn parameter(signature: &FunctionSignature, index: usize) -> Option<&FunctionParameter> {
    signature.parameters.get(index).or(signature.variadic.as_ref())
}

/// Joins the errors among diagnostics into one message, for a call that can return only one.
fn fault(diagnostics: &[ProviderDiagnostic]) -> FunctionFault {
    let texts = diagnostics.iter().filter(|it| it.is_error()).map(|it| match it.detail.as_str() {
        "" => it.summary.clone(),
        detail => format!("{}: {detail}", it.summary),
    });
    FunctionFault { argument: None, message: texts.collect::<Vec<_>>().join("\n") }
}

/// Returns the value. An error becomes one more diagnostic and `None`.
fn keep<T>(
    result: Result<Option<T>, ProviderDiagnostic>,
    diagnostics: &mut Diagnostics,
) -> Option<T> {
    result.unwrap_or_else(|diagnostic| {
        diagnostics.push(diagnostic);
        None
    })
}
