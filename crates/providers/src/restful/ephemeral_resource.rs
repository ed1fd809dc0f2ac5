//! `restful_resource` as an ephemeral resource: a call of the API whose answer is never stored, perhaps with calls
//! that renew and release it.
//!
//! **Invariant:** everything that a renewal and the close need is in the private data of the opened instance, with
//! its expressions expanded against the answer of the opening.

use std::time::SystemTime;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use provider::BoxFuture;
use serde::{Deserialize, Serialize};
use values::{Path, Value};

use super::{
    document::tree::Tree,
    expiry::{Expiry, is_duration, is_kind},
    expression::locator::Locator,
    operation::method_named,
    output,
    request::{
        build::DefaultContentType,
        client::Answer,
        settings::{Headers, Query},
    },
    schema::{dynamic, flag, headers, method, path_expression, query, with_output},
    session::{
        Client, Outgoing, Parameters, Session, expanded_path, expanded_text, json_of, text,
        unusable,
    },
};
use mayfly_sdk::erased::{EphemeralResource, Opening, StepResult};
use mayfly_sdk::{
    Diagnostic, Diagnostics, EphemeralCall as Later, Object, PrivateState,
    schema::{Block, Schema, string},
    validate::{OneOf, Validator, conflicting, requires},
};

/// The ephemeral resource.
pub(super) struct EphemeralCall;

/// The private entries, which are the prefixes of the attributes too.
const RENEW: &str = "renew";
const CLOSE: &str = "close";

impl EphemeralResource<Client> for EphemeralCall {
    fn type_name(&self) -> &'static str {
        "restful_resource"
    }

    fn schema(&self) -> Schema {
        let block = Block::new()
            .description("A call of an HTTP API whose answer is never stored.")
            .attribute(
                "method",
                string()
                    .required()
                    .validator(OneOf(&["GET", "PUT", "POST", "PATCH"]))
                    .description("The method of the opening."),
            )
            .attribute("path", string().required().description("The path of the opening."))
            .attribute("body", dynamic().description("The body of the opening."))
            .attribute("query", query())
            .attribute("open_query", query())
            .attribute("header", headers())
            .attribute("open_header", headers());
        let block = with_call(block, RENEW, &["GET", "PUT", "POST", "PATCH"]);
        let block = with_call(block, CLOSE, &["PUT", "POST", "PATCH", "DELETE"]);
        Schema::new(with_output(with_expiry(block), flag()))
    }

    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        for prefix in [RENEW, CLOSE] {
            let name = |it: &str| format!("{prefix}_{it}");
            let method = name("method");
            requires(config, &method, &name("path"), diagnostics);
            for dependent in ["path", "body", "body_raw", "query", "header"] {
                requires(config, &name(dependent), &method, diagnostics);
            }
            conflicting(config, &name("body"), &name("body_raw"), diagnostics);
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

    fn open<'a>(
        &'a self,
        client: &'a Client,
        opening: &'a mut Opening,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let mut session = client.session(&opening.stop).await?;
            let body = json_of(&opening.result, "body")?.unwrap_or_default();
            if let Ok(body) = Tree::parse(body.as_bytes()) {
                session.hidden.add_body(&body);
            }
            open(&session, opening).await
        })
    }

    fn renew<'a>(
        &'a self,
        client: &'a Client,
        renewal: &'a mut Later,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let Some(call) = Call::remembered(&renewal.private, RENEW)? else { return Ok(()) };
            let session = client.session(&renewal.stop).await?;
            let answer = call.make(&session, "Renew").await?;
            renewal.renew_at = call.expiry.renew_at(&answer, SystemTime::now())?;
            Ok(())
        })
    }

    fn close<'a>(
        &'a self,
        client: &'a Client,
        closing: &'a mut Later,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let Some(call) = Call::remembered(&closing.private, CLOSE)? else { return Ok(()) };
            let session = client.session(&closing.stop).await?;
            call.make(&session, "Close").await.map(drop)
        })
    }
}

fn with_call(block: Block, prefix: &str, methods: &'static [&'static str]) -> Block {
    let name = |it: &str| format!("{prefix}_{it}");
    let raw = "The body as a text; it can use $(body.x) of the answer to the opening.";
    block
        .attribute(&name("method"), method(methods).description("The method of this call."))
        .attribute(&name("path"), path_expression().description("The path of this call."))
        .attribute(&name("body"), dynamic().description("The body of this call."))
        .attribute(&name("body_raw"), string().optional().description(raw))
        .attribute(&name("query"), query())
        .attribute(&name("header"), headers())
}

fn with_expiry(block: Block) -> Block {
    let kind = "duration, time (RFC 3339), or time.LAYOUT with a layout such as 2006-01-02 15:04.";
    let locator = "The place of the expiry in the answer: header.NAME, body.PATH or exact.TEXT.";
    let ahead = "The time before the expiry at which the renewal begins, such as 0.5s.";
    block
        .attribute("expiry_type", string().optional().validator(IsExpiryType).description(kind))
        .attribute(
            "expiry_locator",
            string().optional().validator(IsExpiryLocator).description(locator),
        )
        .attribute(
            "expiry_unit",
            string().optional().description("The unit behind the number of a duration: s, m, h."),
        )
        .attribute("expiry_ahead", string().optional().validator(IsDuration).description(ahead))
}

struct IsExpiryType;

impl Validator for IsExpiryType {
    fn validate(&self, path: &Path, value: &Value, diagnostics: &mut Diagnostics) {
        if value.as_str().is_some_and(|it| !is_kind(it)) {
            let detail =
                "It must be duration, time, or time. with a layout of Go, such as time.2006-01-02.";
            diagnostics.error_at(path.clone(), "Invalid Attribute Value", detail);
        }
    }
}

struct IsExpiryLocator;

impl Validator for IsExpiryLocator {
    fn validate(&self, path: &Path, value: &Value, diagnostics: &mut Diagnostics) {
        if let Some(Err(error)) = value.as_str().map(Locator::parse_expiry) {
            diagnostics.error_at(path.clone(), "Invalid Locator", error.to_string());
        }
    }
}

struct IsDuration;

impl Validator for IsDuration {
    fn validate(&self, path: &Path, value: &Value, diagnostics: &mut Diagnostics) {
        if value.as_str().is_some_and(|it| !is_duration(it)) {
            let detail = "It must be a duration such as 0.5s or 1m30s.";
            diagnostics.error_at(path.clone(), "Invalid Attribute Value", detail);
        }
    }
}

async fn open(session: &Session<'_>, opening: &mut Opening) -> StepResult {
    let config = opening.result.clone();
    let parameters = session.parameters(&config, "open", None);
    let path = text(&config, "path");
    let outgoing = Outgoing {
        name: "Open",
        method: method_named(&text(&config, "method")),
        path: &path,
        parameters: &parameters,
        body: json_of(&config, "body")?,
        content_type: DefaultContentType::Always,
        is_operation: true,
    };
    let answer = session.send(outgoing).await?;
    let answer = session.accepted("Open", answer)?;
    // The close comes first: if anything else fails, it releases what was opened.
    let close = Call::configured(session, &config, CLOSE, &answer)?;
    let opened = finish(session, &config, &answer, opening);
    match (opened, &close) {
        (Ok(()), Some(close)) => close.remember(&mut opening.private, CLOSE),
        (Ok(()), None) => Ok(()),
        (Err(error), None) => Err(error),
        (Err(error), Some(close)) => {
            if let Err(unreleased) = close.make(session, "Close").await {
                opening.diagnostics.push(unreleased);
            }
            Err(error)
        }
    }
}

fn finish(
    session: &Session<'_>,
    config: &Object,
    answer: &Answer,
    opening: &mut Opening,
) -> StepResult {
    if let Some(renew) = Call::configured(session, config, RENEW, answer)? {
        opening.renew_at = renew.expiry.renew_at(answer, SystemTime::now())?;
        renew.remember(&mut opening.private, RENEW)?;
    }
    output::store(&mut opening.result, &answer.body, None)
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
        config: &Object,
        prefix: &str,
        answer: &Answer,
    ) -> Result<Option<Call>, Diagnostic> {
        let name = |it: &str| format!("{prefix}_{it}");
        let Some(method) = config.string(name("method")) else { return Ok(None) };
        let path = expanded_path(config, &name("path"), &answer.body)?;
        let body = match expanded_text(config, &name("body_raw"), &answer.body)? {
            Some(raw) if serde_json::from_str::<serde::de::IgnoredAny>(&raw).is_err() => {
                return Err(unusable(&name("body_raw"), "the text is not JSON"));
            }
            Some(raw) => Some(raw),
            None => json_of(config, &name("body"))?,
        };
        let parameters = session.parameters(config, prefix, Some(&answer.body));
        Ok(Some(Call {
            method: method.to_string(),
            path: path.unwrap_or_default(),
            body: STANDARD.encode(body.unwrap_or_default()),
            query: parameters.query,
            header: parameters.headers,
            expiry: Expiry::of(config),
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

    fn remember(&self, private: &mut PrivateState, entry: &str) -> StepResult {
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
            method: method_named(&self.method),
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
