//! `restful_operation`: a call of the API that is made again whenever its configuration changes.

use http_client::Method;
use provider::BoxFuture;
use values::{Type, Value};

use super::{
    document::{applied::Applied, tree::Tree},
    ephemeral_body::{self, Bodies, applied, remember},
    output,
    request::{build::DefaultContentType, client::Answer},
    resource::{Destruction, plan_ephemeral, upgraded},
    schema::{
        dynamic, ephemeral_body as ephemeral_body_attribute, flag, headers, method,
        path_expression, polling, prechecks, query, validate_prechecks, with_output,
    },
    session::{Client, Outgoing, Session, expanded_path, text},
    waiting::{Begun, Guarded, await_end, precheck},
};
use mayfly_sdk::erased::{Change, Existing, Resource, StepResult};
use mayfly_sdk::{
    Diagnostic, Diagnostics, Object, PlanChange,
    schema::{Block, Schema, string},
    validate::{OneOf, requires},
};

/// The resource type.
pub(super) struct Operation;

const METHODS: &[&str] = &["GET", "PUT", "POST", "PATCH", "DELETE"];

fn schema() -> Schema {
    let id_builder = "The `id` as an expression over the answer; by default `path`.";
    let delete = "The method of the call at the destruction; without one there is none.";
    let block = Block::new()
        .description("A call of an HTTP API.")
        .attribute("id", string().computed().keeps_state().description("See `id_builder`."))
        .attribute(
            "path",
            string().required().requires_replace().description("The path of the call."),
        )
        .attribute(
            "method",
            string().required().validator(OneOf(METHODS)).description("The method of the call."),
        )
        .attribute("id_builder", path_expression().description(id_builder))
        .attribute("body", dynamic().description("The body of the call."))
        .attribute("ephemeral_body", ephemeral_body_attribute())
        .attribute("precheck", prechecks(false))
        .attribute("poll", polling())
        .attribute("delete_method", method(&["POST", "PUT", "PATCH", "DELETE"]).description(delete))
        .attribute("delete_path", path_expression().description("By default the `id`."))
        .attribute("delete_body", dynamic().description("The body of the call at the destruction."))
        .attribute("precheck_delete", prechecks(true))
        .attribute("poll_delete", polling())
        .attribute("query", query())
        .attribute("operation_query", query())
        .attribute("delete_query", query())
        .attribute("header", headers())
        .attribute("operation_header", headers())
        .attribute("delete_header", headers());
    Schema::new(with_output(block, flag().requires_replace())).version(2)
}

impl Resource<Client> for Operation {
    fn type_name(&self) -> &'static str {
        "restful_operation"
    }

    fn schema(&self) -> Schema {
        schema()
    }

    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        for prechecks in ["precheck", "precheck_delete"] {
            validate_prechecks(config, prechecks, diagnostics);
        }
        for name in ["delete_path", "precheck_delete", "poll_delete"] {
            requires(config, name, "delete_method", diagnostics);
        }
        ephemeral_body::validate(config, diagnostics);
    }

    fn plan<'a>(&'a self, _: &'a Client, change: &'a mut PlanChange) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            if change.prior.is_null() {
                return Ok(());
            }
            plan_ephemeral(change)?;
            let active = output::active(&change.planned);
            if change.planned.is_unknown(active) && !change.planned.is_absent("id_builder") {
                // The call is made again, and its answer can have another ID.
                change.planned.set("id", Value::unknown(Type::String));
            }
            Ok(())
        })
    }

    fn create<'a>(
        &'a self,
        client: &'a Client,
        change: &'a mut Change,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move { perform(&mut client.session(&change.stop).await?, change).await })
    }

    /// There is nothing to read: the answer was that of the call.
    fn read<'a>(&'a self, _: &'a Client, _: &'a mut Existing) -> BoxFuture<'a, StepResult> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn update<'a>(
        &'a self,
        client: &'a Client,
        change: &'a mut Change,
    ) -> BoxFuture<'a, StepResult> {
        self.create(client, change)
    }

    fn delete<'a>(
        &'a self,
        client: &'a Client,
        existing: &'a mut Existing,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let Some(method) = existing.state.string("delete_method") else { return Ok(()) };
            let destruction = Destruction {
                name: "Delete: Operation",
                method: method_named(&method),
                content_type: DefaultContentType::Always,
                is_operation: true,
                may_be_gone: false,
            };
            destruction.send(&mut client.session(&existing.stop).await?, existing).await
        })
    }

    fn upgrade(
        &self,
        from: i64,
        state: serde_json::Value,
    ) -> Result<serde_json::Value, Diagnostic> {
        upgraded(from, state)
    }
}

/// Returns the method of a name that the schema has checked.
pub(super) fn method_named(name: &str) -> Method {
    Method::from_bytes(name.as_bytes()).unwrap_or(Method::POST)
}

/// Makes the call.
async fn perform(session: &mut Session<'_>, change: &mut Change) -> StepResult {
    let planned = change.planned.clone();
    let bodies = Bodies::of(&planned, &change.config)?;
    if let Some(ephemeral) = &bodies.ephemeral {
        session.hidden.add_body(&ephemeral.tree);
    }
    let before = applied(&change.private)?;
    let known = output::document(&change.prior)?;
    let parameters = session.parameters(&planned, "operation", None);
    let path = text(&planned, "path");
    let guarded =
        Guarded { attribute: "precheck", path: &path, document: &known, parameters: &parameters };
    let _locks = precheck(session, &planned, &guarded).await?;
    if !change.prior.is_null() {
        // An update that fails leaves the answer of the call before, and must be made again.
        let unconfirmed = Applied::unconfirmed(before.as_ref(), bodies.applied());
        remember(&mut change.private, unconfirmed.as_ref());
    }
    let answer = session
        .send(Outgoing {
            name: "Operation",
            method: method_named(&text(&planned, "method")),
            path: &path,
            parameters: &parameters,
            body: bodies.merged().map(|it| it.text()),
            content_type: DefaultContentType::Always,
            is_operation: true,
        })
        .await?;
    let answer = session.accepted("Operation", answer)?;
    let shape = bodies.applied().map(|it| it.shape());
    if change.prior.is_null() {
        change.state = called(&planned);
        remember(&mut change.private, bodies.applied());
    }
    let state = performed(&planned, &answer, shape)?;
    if change.prior.is_null() {
        change.state = state.clone();
    }
    let id = text(&state, "id");
    // The reference of a first call is its own answer.
    let document = if change.prior.is_null() { &answer.body[..] } else { &known };
    let begun =
        Begun { attribute: "poll", answer: &answer, url: &id, document, parameters: &parameters };
    await_end(session, &planned, &begun).await?;
    remember(&mut change.private, bodies.applied());
    change.state = state;
    Ok(())
}

/// The state after a call whose answer is not known yet. It is kept if the answer cannot be used, so that the
/// destruction makes its call.
fn called(planned: &Object) -> Object {
    let mut state = planned.clone();
    state.set("id", planned.attr("path"));
    output::clear(&mut state);
    state
}

/// The state after a call.
fn performed(
    planned: &Object,
    answer: &Answer,
    shape: Option<&Tree>,
) -> Result<Object, Diagnostic> {
    let mut state = planned.clone();
    let id = expanded_path(planned, "id_builder", &answer.body);
    let path = text(planned, "path");
    let made = |mut error: Diagnostic| {
        error.detail = format!("{} The call was made.", error.detail);
        error
    };
    state.set("id", id.map_err(made)?.unwrap_or(path).as_str());
    output::store(&mut state, &answer.body, shape).map_err(made)?;
    Ok(state)
}
