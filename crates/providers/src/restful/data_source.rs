//! `restful_resource` as a data source: one read of the API.

use http_client::Method;
use values::Value;

use super::{
    output::Output,
    request::build::DefaultContentType,
    schema::{Arguments, Precheck, Verb},
    session::{Client, Outgoing, Session, json_of, selected, unusable},
    waiting::{Guarded, precheck},
};
use mayfly_sdk::{DataCall, DataSource, Diagnostic, Diagnostics, Model, Object};

/// The data source.
pub(super) struct ResourceData;

/// A read of an HTTP API.
#[derive(Model)]
#[model(validate = validate_body)]
pub(super) struct ApiRead {
    /// The path to read.
    id: String,
    /// By default GET.
    #[attribute(one_of("GET", "POST", "HEAD"))]
    method: Option<Verb>,
    #[flatten]
    arguments: Arguments,
    /// The body of a read by POST.
    body: Value,
    /// The part of the answer to return (gjson).
    selector: Option<String>,
    /// Return a null `output` if there is nothing, in place of an error.
    allow_not_exist: Option<bool>,
    /// Conditions for the request: each is a lock or a status of the API.
    precheck: Option<Vec<Precheck>>,
    #[flatten]
    output: Output,
}

fn validate_body(config: &Object, diagnostics: &mut Diagnostics) {
    let is_post = config.is_unknown(ApiRead::METHOD)
        || config.string(ApiRead::METHOD).as_deref() == Some("POST");
    if !config.is_absent(ApiRead::BODY) && !is_post {
        let summary = "`body` is only applicable when `method` is set to `POST`";
        let detail = "A read by another method has no body. Use `query`, or set `method`.";
        diagnostics.error_at(config.path_of(ApiRead::BODY), summary, detail);
    }
}

impl DataSource<Client> for ResourceData {
    type Model = ApiRead;

    fn type_name(&self) -> &'static str {
        "restful_resource"
    }

    async fn read(
        &self,
        client: &Client,
        config: ApiRead,
        call: &mut DataCall,
    ) -> Result<ApiRead, Diagnostic> {
        fetch(&client.session(&call.stop).await?, config).await
    }
}

async fn fetch(session: &Session<'_>, mut config: ApiRead) -> Result<ApiRead, Diagnostic> {
    // The data source has one level of parameters, that of `query` and `header`.
    let parameters = &session.parameters(&config.arguments, &Arguments::default(), None);
    let guarded = Guarded { attribute: "precheck", path: &config.id, document: &[], parameters };
    let _locks = precheck(session, config.precheck.as_ref(), &guarded).await?;
    let outgoing = Outgoing {
        name: "Read",
        method: config.method.as_ref().map_or(Method::GET, |it| it.0.clone()),
        path: &config.id,
        parameters,
        body: json_of("body", &config.body)?,
        content_type: DefaultContentType::WithBody,
        is_operation: false,
    };
    let answer = session.send(outgoing).await?;
    let may_be_absent = config.allow_not_exist == Some(true);
    if answer.status.as_u16() == 404 && may_be_absent {
        config.output.clear();
        return Ok(config);
    }
    let answer = session.accepted("Read", answer)?;
    match selected("selector", config.selector.as_deref(), &answer.body)? {
        Some(document) => config.output.store(&document, None)?,
        None if may_be_absent => config.output.clear(),
        None => return Err(unusable("selector", "the answer has nothing at this path")),
    }
    Ok(config)
}
