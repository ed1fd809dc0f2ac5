//! `restful_operation`: a call of the API that is made again whenever its configuration changes.

use values::{Type, Value};

use super::{
    document::{applied::Applied, tree::Tree},
    ephemeral_body::{self, Bodies, applied, remember},
    expression::expand::validate_path,
    output::{self, Output},
    request::{build::DefaultContentType, client::Answer},
    resource::{Destruction, plan_ephemeral, upgrades},
    schema::{Arguments, DeleteArguments, Polling, Precheck, Verb},
    session::{Client, Expression, Outgoing, Session},
    waiting::{Begun, Guarded, await_end, precheck},
};
use mayfly_sdk::{
    Call, Diagnostic, Diagnostics, Model, Object, PlanChange, Resource, Upgrade, validate::requires,
};

/// The resource type.
pub(super) struct Operation;

/// A call of an HTTP API.
#[derive(Clone, Model)]
#[model(version = 2, validate = validate_deletion, validate = ephemeral_body::validate)]
pub(super) struct ApiCall {
    /// See `id_builder`.
    #[attribute(computed, keeps_state)]
    id: Option<String>,
    /// The path of the call.
    #[attribute(requires_replace)]
    path: String,
    /// The method of the call.
    #[attribute(one_of("GET", "PUT", "POST", "PATCH", "DELETE"))]
    method: Verb,
    /// The body of the call.
    body: Value,
    #[flatten]
    arguments: Arguments,
    #[flatten]
    operation: OperationArguments,
    /// The method of the call at the destruction; without one there is none.
    #[attribute(one_of("POST", "PUT", "PATCH", "DELETE"))]
    delete_method: Option<Verb>,
    #[flatten]
    delete: DeleteArguments,
    #[flatten]
    output: Output,
}

/// The arguments of the call that no other type has.
#[derive(Clone, Model)]
pub(super) struct OperationArguments {
    /// The `id` as an expression over the answer; by default `path`.
    #[attribute(check = validate_path)]
    id_builder: Option<String>,
    /// The part of the body that is never stored; it is merged into `body` in requests.
    #[attribute(write_only)]
    ephemeral_body: Value,
    /// Conditions for the request: each is a lock or a status of the API.
    precheck: Option<Vec<Precheck>>,
    poll: Option<Polling>,
    #[flatten(prefix = "operation_")]
    arguments: Arguments,
}

/// Checks that the arguments of the call at the destruction have a method.
fn validate_deletion(config: &Object, diagnostics: &mut Diagnostics) {
    for name in ["delete_path", "precheck_delete", "poll_delete"] {
        requires(config, name, ApiCall::DELETE_METHOD.name(), diagnostics);
    }
}

impl Resource<Client> for Operation {
    type Model = ApiCall;

    fn type_name(&self) -> &'static str {
        "restful_operation"
    }

    async fn plan(&self, _: &Client, change: &mut PlanChange) -> Result<(), Diagnostic> {
        if change.is_creation() {
            return Ok(());
        }
        plan_ephemeral(change)?;
        let active = output::active(&change.planned);
        if change.planned.is_unknown(active)
            && !change.planned.is_absent(OperationArguments::ID_BUILDER)
        {
            // The call is made again, and its answer can have another ID.
            change.planned.set(ApiCall::ID, Value::unknown(Type::String));
        }
        Ok(())
    }

    async fn create(
        &self,
        client: &Client,
        planned: ApiCall,
        call: &mut Call,
    ) -> Result<ApiCall, Diagnostic> {
        perform(&mut client.session(&call.stop).await?, None, planned, call).await
    }

    /// There is nothing to read: the answer was that of the call.
    async fn read(
        &self,
        _: &Client,
        state: ApiCall,
        _: &mut Call,
    ) -> Result<Option<ApiCall>, Diagnostic> {
        Ok(Some(state))
    }

    async fn update(
        &self,
        client: &Client,
        prior: ApiCall,
        planned: ApiCall,
        call: &mut Call,
    ) -> Result<ApiCall, Diagnostic> {
        perform(&mut client.session(&call.stop).await?, Some(&prior), planned, call).await
    }

    async fn delete(
        &self,
        client: &Client,
        state: ApiCall,
        call: &mut Call,
    ) -> Result<(), Diagnostic> {
        let Some(method) = &state.delete_method else { return Ok(()) };
        let destruction = Destruction {
            name: "Delete: Operation",
            method: method.0.clone(),
            content_type: DefaultContentType::Always,
            is_operation: true,
            may_be_gone: false,
            id: state.id.as_deref().unwrap_or_default(),
            path: &state.path,
            arguments: &state.arguments,
            request: &state.delete,
            raw_body: None,
            output: &state.output,
        };
        destruction.send(&mut client.session(&call.stop).await?, &call.private).await
    }

    fn upgrades(&self) -> Vec<Upgrade> {
        upgrades()
    }
}

/// Makes the call. Without a prior object, an error after it leaves a state, so that the destruction makes its call.
async fn perform(
    session: &mut Session<'_>,
    prior: Option<&ApiCall>,
    planned: ApiCall,
    call: &mut Call,
) -> Result<ApiCall, Diagnostic> {
    let operation = &planned.operation;
    let bodies = Bodies::of(&planned.body, &operation.ephemeral_body)?;
    if let Some(ephemeral) = &bodies.ephemeral {
        session.hidden.add_body(&ephemeral.tree);
    }
    let before = applied(&call.private)?;
    let known = prior.map_or(Ok(Vec::new()), |it| it.output.document())?;
    let parameters = &session.parameters(&planned.arguments, &operation.arguments, None);
    let guarded =
        Guarded { attribute: "precheck", path: &planned.path, document: &known, parameters };
    let _locks = precheck(session, operation.precheck.as_ref(), &guarded).await?;
    if prior.is_some() {
        // An update that fails leaves the answer of the call before, and must be made again.
        let unconfirmed = Applied::unconfirmed(before.as_ref(), bodies.applied());
        remember(&mut call.private, unconfirmed.as_ref());
    }
    let answer = session
        .send(Outgoing {
            name: "Operation",
            method: planned.method.0.clone(),
            path: &planned.path,
            parameters,
            body: bodies.merged().map(|it| it.text()),
            content_type: DefaultContentType::Always,
            is_operation: true,
        })
        .await?;
    let answer = session.accepted("Operation", answer)?;
    let shape = bodies.applied().map(|it| it.shape());
    if prior.is_none() {
        call.keep(&called(&planned));
        remember(&mut call.private, bodies.applied());
    }
    let state = performed(&planned, &answer, shape)?;
    if prior.is_none() {
        call.keep(&state);
    }
    let url = state.id.as_deref().unwrap_or_default();
    // The reference of a first call is its own answer.
    let document = if prior.is_none() { &answer.body[..] } else { &known };
    let begun = Begun { attribute: "poll", answer: &answer, url, document, parameters };
    await_end(session, operation.poll.as_ref(), &begun).await?;
    remember(&mut call.private, bodies.applied());
    Ok(state)
}

/// The state after a call whose answer is not known yet. It is kept if the answer cannot be used, so that the
/// destruction makes its call.
fn called(planned: &ApiCall) -> ApiCall {
    let mut state = ApiCall { id: Some(planned.path.clone()), ..planned.clone() };
    state.output.clear();
    state
}

/// The state after a call.
fn performed(
    planned: &ApiCall,
    answer: &Answer,
    shape: Option<&Tree>,
) -> Result<ApiCall, Diagnostic> {
    let made = |mut error: Diagnostic| {
        error.detail = format!("{} The call was made.", error.detail);
        error
    };
    let id = Expression::new("id_builder", planned.operation.id_builder.as_ref());
    let id = id.path(&planned.path, &answer.body).map_err(made)?;
    let mut state = ApiCall { id: id.or_else(|| Some(planned.path.clone())), ..planned.clone() };
    state.output.store(&answer.body, shape).map_err(made)?;
    Ok(state)
}
