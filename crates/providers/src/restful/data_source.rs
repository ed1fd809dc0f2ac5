//! `restful_resource` as a data source: one read of the API.

use provider::BoxFuture;

use super::{
    operation::method_named,
    output,
    request::build::DefaultContentType,
    schema::{dynamic, flag, headers, method, prechecks, query, validate_prechecks, with_output},
    session::{Client, Outgoing, Session, json_of, selected, text, unusable},
    waiting::{Guarded, precheck},
};
use mayfly_sdk::erased::{DataRead, DataSource, StepResult};
use mayfly_sdk::{
    Diagnostics, Object,
    schema::{Block, Schema, string},
};

/// The data source.
pub(super) struct ResourceData;

impl DataSource<Client> for ResourceData {
    fn type_name(&self) -> &'static str {
        "restful_resource"
    }

    fn schema(&self) -> Schema {
        let selector = "The part of the answer to return (gjson).";
        let absent = "Return a null `output` if there is nothing, in place of an error.";
        let block = Block::new()
            .description("A read of an HTTP API.")
            .attribute("id", string().required().description("The path to read."))
            .attribute("method", method(&["GET", "POST", "HEAD"]).description("By default GET."))
            .attribute("query", query())
            .attribute("header", headers())
            .attribute("body", dynamic().description("The body of a read by POST."))
            .attribute("selector", string().optional().description(selector))
            .attribute("allow_not_exist", flag().description(absent))
            .attribute("precheck", prechecks(false));
        Schema::new(with_output(block, flag()))
    }

    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        validate_prechecks(config, "precheck", diagnostics);
        let is_post = config.is_unknown("method") || text(config, "method") == "POST";
        if !config.is_absent("body") && !is_post {
            let summary = "`body` is only applicable when `method` is set to `POST`";
            let detail = "A read by another method has no body. Use `query`, or set `method`.";
            diagnostics.error_at(config.path_of("body"), summary, detail);
        }
    }

    fn read<'a>(&'a self, client: &'a Client, read: &'a mut DataRead) -> BoxFuture<'a, StepResult> {
        Box::pin(async move { fetch(&client.session(&read.stop).await?, &mut read.state).await })
    }
}

async fn fetch(session: &Session<'_>, state: &mut Object) -> StepResult {
    let path = text(state, "id");
    // The data source has one level of parameters, that of `query` and `header`.
    let parameters = session.parameters(state, "", None);
    let guarded =
        Guarded { attribute: "precheck", path: &path, document: &[], parameters: &parameters };
    let _locks = precheck(session, state, &guarded).await?;
    let named = state.string("method");
    let outgoing = Outgoing {
        name: "Read",
        method: method_named(named.as_deref().unwrap_or("GET")),
        path: &path,
        parameters: &parameters,
        body: json_of(state, "body")?,
        content_type: DefaultContentType::WithBody,
        is_operation: false,
    };
    let answer = session.send(outgoing).await?;
    let may_be_absent = state.bool("allow_not_exist") == Some(true);
    if answer.status.as_u16() == 404 && may_be_absent {
        output::clear(state);
        return Ok(());
    }
    let answer = session.accepted("Read", answer)?;
    let selector = state.string("selector");
    match selected("selector", selector.as_deref(), &answer.body)? {
        Some(document) => output::store(state, &document, None),
        None if may_be_absent => {
            output::clear(state);
            Ok(())
        }
        None => Err(unusable("selector", "the answer has nothing at this path")),
    }
}
