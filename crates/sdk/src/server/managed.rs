//! Planning and applying changes of managed resources.

use provider::{
    ApplyResourceChangeRequest, ApplyResourceChangeResponse, PlanResourceChangeRequest,
    PlanResourceChangeResponse, null_write_only,
};
use values::{Path, Type, Value};

use super::{Managed, Server};
use crate::{
    data::Object,
    definition::Definition,
    diagnostics::{Diagnostic, Diagnostics},
    erased::{Change, Existing, StepResult},
    plan::{Inputs, with_nulls_like, with_write_only, without_unknowns},
    plan_change::PlanChange,
    private::PrivateState,
    resource::Call,
};

impl<D: Definition> Server<D> {
    pub(super) async fn plan(
        &self,
        request: PlanResourceChangeRequest,
    ) -> PlanResourceChangeResponse {
        let resource = match self.resource(&request.type_name) {
            Ok(it) => it,
            Err(diagnostic) => return not_planned(diagnostic.into()),
        };
        match self.configured() {
            Ok(client) if request.proposed_new_state.is_null() => {
                self.plan_deletion(&client, resource, request).await
            }
            Ok(client) => plan_with(&*client, resource, request).await,
            Err(diagnostic) => not_planned(diagnostic.into()),
        }
    }

    async fn plan_deletion(
        &self,
        client: &D::Client,
        resource: &Managed<D::Client>,
        request: PlanResourceChangeRequest,
    ) -> PlanResourceChangeResponse {
        let private = PrivateState::decode(&request.prior_private);
        let mut existing = self.existing(request.prior_state, private, request.prior_identity);
        existing.call.meta = object_of(request.provider_meta);
        let ended = resource.of.plan_deletion(client, &mut existing).await;
        let mut call = existing.call;
        call.diagnostics.absorb(ended);
        if call.diagnostics.has_errors() {
            return not_planned(call.diagnostics);
        }
        PlanResourceChangeResponse {
            planned_identity: call.identity,
            diagnostics: call.diagnostics.into_vec(),
            ..planned(request.proposed_new_state, call.private)
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
            self.delete(&client, resource, request).await
        } else {
            self.change(&client, resource, request).await
        }
    }

    /// Creates or updates an object. Values that were unknown while the configuration was validated are validated
    /// first, so that nothing is created from an invalid one.
    async fn change(
        &self,
        client: &D::Client,
        resource: &Managed<D::Client>,
        request: ApplyResourceChangeRequest,
    ) -> ApplyResourceChangeResponse {
        let creating = request.prior_state.is_null();
        let errors = resource
            .validate(request.config.clone(), |it, config, said| it.validate(config, said))
            .into_iter()
            .filter(Diagnostic::is_error);
        let errors: Diagnostics = errors.collect();
        if errors.has_errors() {
            let private = PrivateState::decode(&request.planned_private);
            return applied(request.prior_state, &private, errors);
        }
        let planned =
            with_write_only(&request.config, &resource.written.block, &request.planned_state);
        let private = PrivateState::decode(&request.planned_private);
        let mut change = Change {
            prior: Object::new(request.prior_state.clone()),
            planned: Object::new(planned),
            state: Object::new(request.prior_state),
            call: Call {
                meta: object_of(request.provider_meta),
                ..self.call(request.config, private, request.planned_identity)
            },
        };
        let ended = match creating {
            true => resource.of.create(client, &mut change).await,
            false => resource.of.update(client, &mut change).await,
        };
        let Change { state, mut call, .. } = change;
        call.diagnostics.absorb(ended);
        if state.is_null() && !call.diagnostics.has_errors() {
            let when = if creating { "create" } else { "update" };
            call.diagnostics.error(
                "Missing Resource State",
                format!(
                    "{} left no state after the {when}. This is a bug in the provider.",
                    resource.of.type_name()
                ),
            );
        }
        let state = null_write_only(state.value(), resource.schema.block());
        let state = with_nulls_like(&request.planned_state, &resource.written.block, &state);
        let state = without_unknowns(&state, &mut call.diagnostics);
        ApplyResourceChangeResponse {
            new_identity: call.identity,
            ..applied(state, &call.private, call.diagnostics)
        }
    }

    async fn delete(
        &self,
        client: &D::Client,
        resource: &Managed<D::Client>,
        request: ApplyResourceChangeRequest,
    ) -> ApplyResourceChangeResponse {
        let private = PrivateState::decode(&request.planned_private);
        let call = Call {
            meta: object_of(request.provider_meta),
            ..self.call(request.config, private, request.planned_identity)
        };
        let mut existing = Existing { state: Object::new(request.prior_state), call };
        let ended: StepResult = resource.of.delete(client, &mut existing).await;
        let Existing { state, mut call } = existing;
        call.diagnostics.absorb(ended);
        if !call.diagnostics.has_errors() {
            return applied(request.planned_state, &PrivateState::default(), call.diagnostics);
        }
        let state = null_write_only(state.value(), resource.schema.block());
        ApplyResourceChangeResponse {
            new_identity: call.identity,
            ..applied(state, &call.private, call.diagnostics)
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
        config: Object::new(request.config.clone()),
        prior: Object::new(request.prior_state.clone()),
        planned: Object::new(by_schema.planned),
        requires_replace: by_schema.requires_replace,
        private: PrivateState::decode(&request.prior_private),
        identity: request.prior_identity,
        meta: object_of(request.provider_meta),
        diagnostics: by_schema.diagnostics,
        has_hidden_change: false,
    };
    let ended = resource.of.plan(client, &mut change).await;
    change.diagnostics.absorb(ended);
    if change.has_hidden_change {
        let by_schema = inputs.plan_hidden_change(change.planned.value());
        change.planned = Object::new(by_schema.planned);
        change.requires_replace.extend(by_schema.requires_replace);
        by_schema.diagnostics.into_vec().into_iter().for_each(|it| change.diagnostics.push(it));
    }
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

/// An object that may be absent, as null.
pub(super) fn object_of(value: Option<Value>) -> Object {
    Object::new(value.unwrap_or_else(|| Value::null(Type::Dynamic)))
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
