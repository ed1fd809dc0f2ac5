//! Planning and applying changes of managed resources.

use provider::{
    ApplyResourceChangeRequest, ApplyResourceChangeResponse, PlanResourceChangeRequest,
    PlanResourceChangeResponse, null_write_only,
};
use values::{Path, Value};

use super::{Managed, Server};
use crate::{
    data::Object,
    definition::Definition,
    diagnostics::{Diagnostic, Diagnostics},
    plan::{Inputs, with_nulls_like, without_unknowns},
    private::PrivateState,
    resource::{Change, Existing, PlanChange, StepResult},
};

impl<D: Definition> Server<D> {
    pub(super) async fn plan(
        &self,
        request: PlanResourceChangeRequest,
    ) -> PlanResourceChangeResponse {
        if request.proposed_new_state.is_null() {
            let private = PrivateState::decode(&request.prior_private);
            return PlanResourceChangeResponse {
                planned_identity: request.prior_identity,
                ..planned(request.proposed_new_state, private)
            };
        }
        let resource = match self.resource(&request.type_name) {
            Ok(it) => it,
            Err(diagnostic) => return not_planned(diagnostic.into()),
        };
        match self.configured() {
            Ok(client) => plan_with(client, resource, request).await,
            Err(diagnostic) => not_planned(diagnostic.into()),
        }
    }

    pub(super) async fn apply(
        &self,
        request: ApplyResourceChangeRequest,
    ) -> ApplyResourceChangeResponse {
        let failed = |diagnostic: Diagnostic, request: ApplyResourceChangeRequest| {
            applied(
                request.prior_state,
                &PrivateState::decode(&request.planned_private),
                diagnostic.into(),
            )
        };
        let resource = match self.resource(&request.type_name) {
            Ok(it) => it,
            Err(diagnostic) => return failed(diagnostic, request),
        };
        let client = match self.configured() {
            Ok(it) => it,
            Err(diagnostic) => return failed(diagnostic, request),
        };
        if request.planned_state.is_null() {
            self.delete(client, resource, request).await
        } else {
            self.change(client, resource, request).await
        }
    }

    async fn change(
        &self,
        client: &D::Client,
        resource: &Managed<D::Client>,
        request: ApplyResourceChangeRequest,
    ) -> ApplyResourceChangeResponse {
        let creating = request.prior_state.is_null();
        let mut change = Change {
            config: Object::new(request.config),
            prior: Object::new(request.prior_state.clone()),
            planned: Object::new(request.planned_state),
            state: Object::new(request.prior_state),
            private: PrivateState::decode(&request.planned_private),
            identity: request.planned_identity,
            diagnostics: Diagnostics::default(),
            stop: self.stopper.stop(),
        };
        let ended = match creating {
            true => resource.of.create(client, &mut change).await,
            false => resource.of.update(client, &mut change).await,
        };
        change.diagnostics.absorb(ended);
        if change.state.is_null() && !change.diagnostics.has_errors() {
            let when = if creating { "create" } else { "update" };
            change.diagnostics.error(
                "Missing Resource State",
                format!(
                    "{} left no state after the {when}. This is a bug in the provider.",
                    resource.of.type_name()
                ),
            );
        }
        let state = null_write_only(change.state.value(), resource.schema.block());
        let state = with_nulls_like(change.planned.value(), &resource.written.block, &state);
        let state = without_unknowns(&state, &mut change.diagnostics);
        ApplyResourceChangeResponse {
            new_identity: change.identity,
            ..applied(state, &change.private, change.diagnostics)
        }
    }

    async fn delete(
        &self,
        client: &D::Client,
        resource: &Managed<D::Client>,
        request: ApplyResourceChangeRequest,
    ) -> ApplyResourceChangeResponse {
        let mut existing = Existing {
            state: Object::new(request.prior_state),
            private: PrivateState::decode(&request.planned_private),
            identity: request.planned_identity,
            diagnostics: Diagnostics::default(),
            stop: self.stopper.stop(),
        };
        let ended: StepResult = resource.of.delete(client, &mut existing).await;
        existing.diagnostics.absorb(ended);
        if !existing.diagnostics.has_errors() {
            return applied(request.planned_state, &PrivateState::default(), existing.diagnostics);
        }
        let state = null_write_only(existing.state.value(), resource.schema.block());
        ApplyResourceChangeResponse {
            new_identity: existing.identity,
            ..applied(state, &existing.private, existing.diagnostics)
        }
    }
}

async fn plan_with<C>(
    client: &C,
    resource: &Managed<C>,
    request: PlanResourceChangeRequest,
) -> PlanResourceChangeResponse {
    let inputs = Inputs {
        block: &resource.written.block,
        provider_block: resource.schema.block(),
        config: &request.config,
        prior: &request.prior_state,
    };
    let by_schema = inputs.plan(&request.proposed_new_state);
    let mut change = PlanChange {
        config: Object::new(request.config),
        prior: Object::new(request.prior_state),
        planned: Object::new(by_schema.planned),
        requires_replace: by_schema.requires_replace,
        private: PrivateState::decode(&request.prior_private),
        identity: request.prior_identity,
        diagnostics: by_schema.diagnostics,
    };
    let ended = resource.of.plan(client, &mut change).await;
    change.diagnostics.absorb(ended);
    if change.diagnostics.has_errors() {
        return not_planned(change.diagnostics);
    }
    let state = null_write_only(change.planned.value(), resource.schema.block());
    let state = with_nulls_like(change.config.value(), &resource.written.block, &state);
    PlanResourceChangeResponse {
        requires_replace: in_order(change.requires_replace),
        planned_identity: change.identity,
        diagnostics: change.diagnostics.into_vec(),
        ..planned(state, change.private)
    }
}

fn in_order(mut paths: Vec<Path>) -> Vec<Path> {
    paths.sort_by_key(Path::to_string);
    paths.dedup();
    paths
}

fn planned(state: Value, private: PrivateState) -> PlanResourceChangeResponse {
    PlanResourceChangeResponse {
        planned_state: Some(state),
        requires_replace: Vec::new(),
        planned_private: private.encode(),
        planned_identity: None,
        legacy_type_system: false,
        diagnostics: Vec::new(),
    }
}

fn not_planned(diagnostics: Diagnostics) -> PlanResourceChangeResponse {
    PlanResourceChangeResponse {
        planned_state: None,
        requires_replace: Vec::new(),
        planned_private: provider::Private::default(),
        planned_identity: None,
        legacy_type_system: false,
        diagnostics: diagnostics.into_vec(),
    }
}

fn applied(
    state: Value,
    private: &PrivateState,
    diagnostics: Diagnostics,
) -> ApplyResourceChangeResponse {
    ApplyResourceChangeResponse {
        new_state: Some(state),
        is_undelivered: false,
        private: private.encode(),
        new_identity: None,
        legacy_type_system: false,
        diagnostics: diagnostics.into_vec(),
    }
}
