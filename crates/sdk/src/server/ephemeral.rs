//! Opening, renewing and closing ephemeral resources.

use provider::{
    CloseEphemeralRequest, OpenEphemeralRequest, OpenEphemeralResponse, OpenedEphemeral,
    RenewEphemeralRequest, RenewEphemeralResponse,
};

use super::Server;
use crate::{
    data::Object,
    definition::Definition,
    diagnostics::{Diagnostic, Diagnostics},
    ephemeral::EphemeralCall,
    erased::Opening,
    private::PrivateState,
};

impl<D: Definition> Server<D> {
    pub(super) async fn open(&self, request: OpenEphemeralRequest) -> OpenEphemeralResponse {
        let failed = |diagnostics: Diagnostics| OpenEphemeralResponse {
            opened: None,
            diagnostics: diagnostics.into_vec(),
        };
        let (ephemeral, client) = match (self.ephemeral(&request.type_name), self.configured()) {
            (Ok(ephemeral), Ok(client)) => (ephemeral, client),
            (Err(diagnostic), _) | (_, Err(diagnostic)) => return failed(diagnostic.into()),
        };
        let call = self.ephemeral_call(PrivateState::default());
        let mut opening = Opening { result: Object::new(request.config), call };
        let ended = ephemeral.of.open(&client, &mut opening).await;
        let Opening { result, mut call } = opening;
        call.diagnostics.absorb(ended);
        if call.diagnostics.has_errors() {
            return failed(call.diagnostics);
        }
        let opened = OpenedEphemeral {
            result: result.value().clone(),
            renew_at: call.renew_at,
            private: call.private.encode(),
        };
        OpenEphemeralResponse { opened: Some(opened), diagnostics: call.diagnostics.into_vec() }
    }

    pub(super) async fn renew(&self, request: RenewEphemeralRequest) -> RenewEphemeralResponse {
        let (ephemeral, client) = match (self.ephemeral(&request.type_name), self.configured()) {
            (Ok(ephemeral), Ok(client)) => (ephemeral, client),
            (Err(diagnostic), _) | (_, Err(diagnostic)) => return not_renewed(request, diagnostic),
        };
        let mut renewal = self.ephemeral_call(PrivateState::decode(&request.private));
        let ended = ephemeral.of.renew(&client, &mut renewal).await;
        renewal.diagnostics.absorb(ended);
        RenewEphemeralResponse {
            renew_at: renewal.renew_at,
            private: renewal.private.encode(),
            diagnostics: renewal.diagnostics.into_vec(),
        }
    }

    pub(super) async fn close_opened(&self, request: CloseEphemeralRequest) -> Vec<Diagnostic> {
        let (ephemeral, client) = match (self.ephemeral(&request.type_name), self.configured()) {
            (Ok(ephemeral), Ok(client)) => (ephemeral, client),
            (Err(diagnostic), _) | (_, Err(diagnostic)) => return vec![diagnostic],
        };
        let mut closing = self.ephemeral_call(PrivateState::decode(&request.private));
        let ended = ephemeral.of.close(&client, &mut closing).await;
        closing.diagnostics.absorb(ended);
        closing.diagnostics.into_vec()
    }

    fn ephemeral_call(&self, private: PrivateState) -> EphemeralCall {
        EphemeralCall {
            renew_at: None,
            private,
            diagnostics: Diagnostics::default(),
            stop: self.stopper.stop(),
        }
    }
}

fn not_renewed(request: RenewEphemeralRequest, diagnostic: Diagnostic) -> RenewEphemeralResponse {
    RenewEphemeralResponse {
        renew_at: None,
        private: request.private,
        diagnostics: vec![diagnostic],
    }
}
