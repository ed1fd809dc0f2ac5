//! Refreshes and imports resources, and reads data sources.

use provider::{
    ImportResourceStateRequest, ImportResourceStateResponse, ImportTarget, ImportedResource,
    ReadDataSourceRequest, ReadDataSourceResponse, ReadResourceRequest, ReadResourceResponse,
    null_write_only,
};
use values::{Str, Value};

use super::{Server, managed::object_of};
use crate::{
    data::Object,
    data_source::DataCall,
    definition::Definition,
    diagnostics::Diagnostics,
    erased::{DataRead, Existing},
    private::PrivateState,
    resource::Call,
};

impl<D: Definition> Server<D> {
    pub(super) async fn refresh(&self, request: ReadResourceRequest) -> ReadResourceResponse {
        let failed = |diagnostics: Diagnostics, private| ReadResourceResponse {
            new_state: None,
            private,
            identity: None,
            diagnostics: diagnostics.into_vec(),
        };
        let (resource, client) = match (self.resource(&request.type_name), self.configured()) {
            (Ok(resource), Ok(client)) => (resource, client),
            (Err(diagnostic), _) | (_, Err(diagnostic)) => {
                return failed(diagnostic.into(), request.private);
            }
        };
        let private = PrivateState::decode(&request.private);
        let mut existing = self.existing(request.current_state, private, request.identity);
        existing.call.meta = object_of(request.provider_meta);
        let ended = resource.of.read(&client, &mut existing).await;
        let Existing { state, mut call } = existing;
        call.diagnostics.absorb(ended);
        if call.diagnostics.has_errors() {
            return failed(call.diagnostics, request.private);
        }
        ReadResourceResponse {
            new_state: Some(null_write_only(state.value(), resource.schema.block())),
            private: call.private.encode(),
            identity: call.identity,
            diagnostics: call.diagnostics.into_vec(),
        }
    }

    pub(super) async fn import(
        &self,
        request: ImportResourceStateRequest,
    ) -> ImportResourceStateResponse {
        let failed = |diagnostics: Diagnostics| ImportResourceStateResponse {
            imported: Vec::new(),
            diagnostics: diagnostics.into_vec(),
        };
        let (resource, client) = match (self.resource(&request.type_name), self.configured()) {
            (Ok(resource), Ok(client)) => (resource, client),
            (Err(diagnostic), _) | (_, Err(diagnostic)) => return failed(diagnostic.into()),
        };
        let block = resource.schema.block();
        let identity = match &request.target {
            ImportTarget::Id(_) => None,
            ImportTarget::Identity(identity) => Some(identity.clone()),
        };
        let mut existing = self.existing(block.empty_value(), PrivateState::default(), identity);
        let ended = resource.of.import(&client, &request.target, &mut existing).await;
        let Existing { state, mut call } = existing;
        call.diagnostics.absorb(ended);
        if call.diagnostics.has_errors() {
            return failed(call.diagnostics);
        }
        let imported = ImportedResource {
            type_name: Str::from(resource.of.type_name()),
            state: null_write_only(state.value(), block),
            private: call.private.encode(),
            identity: call.identity,
        };
        ImportResourceStateResponse {
            imported: vec![imported],
            diagnostics: call.diagnostics.into_vec(),
        }
    }

    pub(super) async fn read_data(&self, request: ReadDataSourceRequest) -> ReadDataSourceResponse {
        let failed = |diagnostics: Diagnostics| ReadDataSourceResponse {
            state: None,
            diagnostics: diagnostics.into_vec(),
        };
        let (data_source, client) = match (self.data_source(&request.type_name), self.configured())
        {
            (Ok(data_source), Ok(client)) => (data_source, client),
            (Err(diagnostic), _) | (_, Err(diagnostic)) => return failed(diagnostic.into()),
        };
        let call = DataCall {
            meta: object_of(request.provider_meta),
            diagnostics: Diagnostics::default(),
            stop: self.stopper.stop(),
        };
        let mut read = DataRead { state: Object::new(request.config), call };
        let ended = data_source.of.read(&client, &mut read).await;
        let DataRead { state, mut call } = read;
        call.diagnostics.absorb(ended);
        if call.diagnostics.has_errors() {
            return failed(call.diagnostics);
        }
        let state = null_write_only(state.value(), data_source.schema.block());
        ReadDataSourceResponse { state: Some(state), diagnostics: call.diagnostics.into_vec() }
    }

    pub(super) fn existing(
        &self,
        state: Value,
        private: PrivateState,
        identity: Option<Value>,
    ) -> Existing {
        let call = self.call(Value::null(state.ty()), private, identity);
        Existing { state: Object::new(state), call }
    }

    /// A call about an object with a configuration, or with null for one.
    pub(super) fn call(
        &self,
        config: Value,
        private: PrivateState,
        identity: Option<Value>,
    ) -> Call {
        Call {
            config: Object::new(config),
            private,
            identity,
            meta: object_of(None),
            diagnostics: Diagnostics::default(),
            stop: self.stopper.stop(),
            kept: None,
        }
    }
}
