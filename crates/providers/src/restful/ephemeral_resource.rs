//! `restful_resource` as an ephemeral resource: a call of the API whose answer is never stored, perhaps with calls
//! that renew and release it.
//!
//! **Invariant:** everything that a renewal and the close need is in the private data of the opened instance, with
//! its expressions expanded against the answer of the opening.

use std::time::SystemTime;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use values::Value;

use super::{
    document::tree::Tree,
    expiry::Expiry,
    expression::expand::validate_path,
    output::Output,
    request::{
        build::DefaultContentType,
        client::Answer,
        settings::{Headers, Query},
    },
    schema::{Arguments, Verb},
    session::{Client, Expression, Outgoing, Parameters, Session, json_of, unusable},
};
use http_client::Method;
use mayfly_sdk::{
    Diagnostic, Diagnostics, EphemeralCall, EphemeralResource, Model, Object, PrivateState,
    validate::requires,
};

/// The ephemeral resource.
pub(super) struct Opening;

/// The private entries, which are the prefixes of the attributes too.
const RENEW: &str = "renew";
const CLOSE: &str = "close";

/// A call of an HTTP API whose answer is never stored.
#[derive(Model)]
#[model(validate = validate_calls)]
pub(super) struct Opened {
    /// The method of the opening.
    #[attribute(one_of("GET", "PUT", "POST", "PATCH"))]
    method: Verb,
    /// The path of the opening.
    path: String,
    /// The body of the opening.
    body: Value,
    #[flatten]
    arguments: Arguments,
    #[flatten(prefix = "open_")]
    open: Arguments,
    /// The method of this call.
    #[attribute(one_of("GET", "PUT", "POST", "PATCH"))]
    renew_method: Option<Verb>,
    #[flatten(prefix = "renew_")]
    renew: LaterCall,
    /// The method of this call.
    #[attribute(one_of("PUT", "POST", "PATCH", "DELETE"))]
    close_method: Option<Verb>,
    #[flatten(prefix = "close_")]
    close: LaterCall,
    #[flatten]
    expiry: Expiry,
    #[flatten]
    output: Output,
}

/// The arguments of a call that renews or releases what was opened.
#[derive(Model)]
#[model(conflicting(body, body_raw))]
pub(super) struct LaterCall {
    /// The path of this call.
    #[attribute(check = validate_path)]
    path: Option<String>,
    /// The body of this call.
    body: Value,
    /// The body as a text; it can use $(body.x) of the answer to the opening.
    body_raw: Option<String>,
    #[flatten]
    arguments: Arguments,
}

/// Checks the arguments that need others.
fn validate_calls(config: &Object, diagnostics: &mut Diagnostics) {
    for prefix in [RENEW, CLOSE] {
        let call = config.with_prefix(&format!("{prefix}_"));
        requires(&call, "method", "path", diagnostics);
        for dependent in ["path", "body", "body_raw", "query", "header"] {
            requires(&call, dependent, "method", diagnostics);
        }
    }
    for (first, second) in [
        ("expiry_type", "renew_method"),
        ("expiry_type", "expiry_locator"),
        ("expiry_locator", "renew_method"),
        ("expiry_locator", "expiry_type"),
        ("expiry_unit", "renew_method"),
        ("expiry_unit", "expiry_type"),
        ("expiry_ahead", "renew_method"),
    ] {
        requires(config, first, second, diagnostics);
    }
}

impl EphemeralResource<Client> for Opening {
    type Model = Opened;

    fn type_name(&self) -> &'static str {
        "restful_resource"
    }

    async fn open(
        &self,
        client: &Client,
        config: Opened,
        call: &mut EphemeralCall,
    ) -> Result<Opened, Diagnostic> {
        let mut session = client.session(&call.stop).await?;
        let body = json_of("body", &config.body)?;
        if let Ok(body) = Tree::parse(body.as_deref().unwrap_or_default().as_bytes()) {
            session.hidden.add_body(&body);
        }
        open(&session, config, body, call).await
    }

    async fn renew(&self, client: &Client, call: &mut EphemeralCall) -> Result<(), Diagnostic> {
        let Some(renew) = Call::remembered(&call.private, RENEW)? else { return Ok(()) };
        let answer = renew.make(&client.session(&call.stop).await?, "Renew").await?;
        call.renew_at = renew.expiry.renew_at(&answer, SystemTime::now())?;
        Ok(())
    }

    async fn close(&self, client: &Client, call: &mut EphemeralCall) -> Result<(), Diagnostic> {
        let Some(close) = Call::remembered(&call.private, CLOSE)? else { return Ok(()) };
        close.make(&client.session(&call.stop).await?, "Close").await.map(drop)
    }
}

async fn open(
    session: &Session<'_>,
    mut config: Opened,
    body: Option<String>,
    call: &mut EphemeralCall,
) -> Result<Opened, Diagnostic> {
    let outgoing = Outgoing {
        name: "Open",
        method: config.method.0.clone(),
        path: &config.path,
        parameters: &session.parameters(&config.arguments, &config.open, None),
        body,
        content_type: DefaultContentType::Always,
        is_operation: true,
    };
    let answer = session.send(outgoing).await?;
    let answer = session.accepted("Open", answer)?;
    // The close comes first: if anything else fails, it releases what was opened.
    let close = Call::configured(session, &config, CLOSE, &answer)?;
    let opened = finish(session, &mut config, &answer, call);
    match (opened, &close) {
        (Ok(()), Some(close)) => close.remember(&mut call.private, CLOSE)?,
        (Ok(()), None) => {}
        (Err(error), None) => return Err(error),
        (Err(error), Some(close)) => {
            if let Err(unreleased) = close.make(session, "Close").await {
                call.diagnostics.push(unreleased);
            }
            return Err(error);
        }
    }
    Ok(config)
}

fn finish(
    session: &Session<'_>,
    config: &mut Opened,
    answer: &Answer,
    call: &mut EphemeralCall,
) -> Result<(), Diagnostic> {
    if let Some(renew) = Call::configured(session, config, RENEW, answer)? {
        call.renew_at = renew.expiry.renew_at(answer, SystemTime::now())?;
        renew.remember(&mut call.private, RENEW)?;
    }
    config.output.store(&answer.body, None)
}

/// A later call, as the private data has it. It has no `Debug`: it has secrets.
#[derive(Serialize, Deserialize)]
struct Call {
    method: String,
    /// The path with its expressions expanded.
    path: String,
    /// The JSON text of the body in Base64, empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    body: String,
    #[serde(default, skip_serializing_if = "Query::is_empty")]
    query: Query,
    #[serde(default, skip_serializing_if = "Headers::is_empty")]
    header: Headers,
    #[serde(flatten)]
    expiry: Expiry,
}

impl Call {
    /// Builds the call from the configuration and the answer to the opening. `None` if it is not configured.
    fn configured(
        session: &Session<'_>,
        config: &Opened,
        prefix: &str,
        answer: &Answer,
    ) -> Result<Option<Call>, Diagnostic> {
        let (method, call) = match prefix {
            RENEW => (&config.renew_method, &config.renew),
            _ => (&config.close_method, &config.close),
        };
        let Some(method) = method else { return Ok(None) };
        let [path, body, raw] = ["path", "body", "body_raw"].map(|it| format!("{prefix}_{it}"));
        let path = Expression::new(&path, call.path.as_ref()).path(&config.path, &answer.body)?;
        let body = match Expression::new(&raw, call.body_raw.as_ref()).body(&answer.body)? {
            Some(text) if serde_json::from_str::<serde::de::IgnoredAny>(&text).is_err() => {
                return Err(unusable(&raw, "the text is not JSON"));
            }
            Some(text) => Some(text),
            None => json_of(&body, &call.body)?,
        };
        let parameters = session.parameters(&config.arguments, &call.arguments, Some(&answer.body));
        Ok(Some(Call {
            method: method.0.to_string(),
            path: path.unwrap_or_default(),
            body: STANDARD.encode(body.unwrap_or_default()),
            query: parameters.query,
            header: parameters.headers,
            expiry: config.expiry.clone(),
        }))
    }

    /// Reads the call from the private data. `None` if there is none.
    fn remembered(private: &PrivateState, entry: &str) -> Result<Option<Call>, Diagnostic> {
        let damaged = |_| {
            let detail = "The private data of the ephemeral resource cannot be read.";
            Diagnostic::error("Damaged Private Data", detail)
        };
        private.entry(entry).map(Call::deserialize).transpose().map_err(damaged)
    }

    fn remember(&self, private: &mut PrivateState, entry: &str) -> Result<(), Diagnostic> {
        let json = serde_json::to_value(self);
        private.set(entry, json.map_err(|it| unusable(entry, &it.to_string()))?);
        Ok(())
    }

    /// Makes the call. No error quotes its answer, which may have the secrets of the opening.
    async fn make(&self, session: &Session<'_>, name: &str) -> Result<Answer, Diagnostic> {
        let mut session = session.clone();
        session.hidden.add_everything();
        let body = STANDARD.decode(&self.body).ok().and_then(|it| String::from_utf8(it).ok());
        let outgoing = Outgoing {
            name,
            method: Method::from_bytes(self.method.as_bytes()).unwrap_or(Method::POST),
            path: &self.path,
            parameters: &Parameters { query: self.query.clone(), headers: self.header.clone() },
            body: body.filter(|it| !it.is_empty()),
            content_type: DefaultContentType::Always,
            is_operation: true,
        };
        let answer = session.send(outgoing).await?;
        session.accepted(name, answer)
    }
}
