//! One call of the core: its connection, its parameters and its errors.

use bytes::Bytes;
use http_client::Method;
use values::{Path, Value};

use super::{
    document::{
        convert::{ConvertError, to_json},
        select::Document,
        tree::Tree,
    },
    expression::{
        expand::{ExpandError, expand_body, expand_path},
        locator::{self, Locator},
    },
    request::{
        build::{Call, DefaultContentType, innermost, operation_body},
        client::{Answer, ClientCell, RestClient},
        secret::Hidden,
        settings::{Headers, Query, Settings},
    },
    schema::{Arguments, header_values, query_values},
};
use mayfly_sdk::{Diagnostic, Stop};

/// A configured provider. `Err` says why it can send nothing: its configuration has unknown values.
pub struct Client(Result<ClientCell, Diagnostic>);

impl Client {
    /// Creates a client whose connections are made at the first request.
    pub(super) fn new(cell: ClientCell) -> Client {
        Client(Ok(cell))
    }

    /// Creates the client of a configuration with unknown values. A plan without a request needs nothing else.
    pub(super) fn unknown() -> Client {
        let detail = "The configuration of the provider has values that are known only after an \
                      apply, so it cannot send a request yet. Apply their sources first, for \
                      example with -target.";
        Client(Err(Diagnostic::error("Unknown Provider Configuration", detail)))
    }

    /// Begins a call of the core.
    ///
    /// # Errors
    /// Returns an error if the provider cannot send requests.
    pub(super) async fn session(&self, stop: &Stop) -> Result<Session<'_>, Diagnostic> {
        let cell = self.0.as_ref().map_err(Clone::clone)?;
        let variable = |name: &str| std::env::var(name).ok();
        let client = cell.client(&variable, &mut stop.clone()).await.map_err(|error| {
            Diagnostic::error("Provider Cannot Be Used", sentence(&error.to_string()))
        })?;
        let settings = cell.settings();
        Ok(Session { client, settings, stop: stop.clone(), hidden: Hidden::default() })
    }
}

/// The context of one call of the core.
#[derive(Clone)]
pub(super) struct Session<'c> {
    pub(super) client: &'c RestClient,
    pub(super) settings: &'c Settings,
    pub(super) stop: Stop,
    /// The parts of an answer that error messages must not repeat.
    pub(super) hidden: Hidden,
}

/// The query and the headers of a request.
#[derive(Clone)]
pub(super) struct Parameters {
    pub(super) query: Query,
    pub(super) headers: Headers,
}

/// A request to send.
pub(super) struct Outgoing<'a> {
    /// The name of the API in messages, such as `Create`.
    pub(super) name: &'a str,
    pub(super) method: Method,
    pub(super) path: &'a str,
    pub(super) parameters: &'a Parameters,
    /// The JSON text. `None` sends no body.
    pub(super) body: Option<String>,
    pub(super) content_type: DefaultContentType,
    /// True if the body is sent as a form with the Content-Type of forms.
    pub(super) is_operation: bool,
}

impl<'c> Session<'c> {
    /// The session for the read after a change. A request to stop that came during the change does not end it, because
    /// its outcome would be unknown.
    pub(super) fn finishing(&self) -> Session<'c> {
        Session { stop: self.stop.further(), ..self.clone() }
    }

    /// The parameters of an operation on an object: those of the operation, such as `create_query`, replace those of
    /// the object, such as `query`, which replace those of the provider. With a document, the innermost ones can have
    /// expressions.
    pub(super) fn parameters(
        &self,
        object: &Arguments,
        operation: &Arguments,
        document: Option<&[u8]>,
    ) -> Parameters {
        let (query, headers) = (self.settings.query.clone(), self.settings.headers.clone());
        Parameters { query, headers }.with(object, None).with(operation, document)
    }

    /// Sends a request. Every status is an answer here.
    pub(super) async fn send(&self, outgoing: Outgoing<'_>) -> Result<Answer, Diagnostic> {
        let body = outgoing.body.map(Bytes::from);
        let Parameters { query, headers } = outgoing.parameters.clone();
        let body = match (body, outgoing.is_operation) {
            (Some(body), true) => {
                let encoded = operation_body(&headers, body);
                Some(encoded.map_err(|error| failed(outgoing.name, &error.to_string()))?)
            }
            (body, _) => body,
        };
        let call = Call {
            method: outgoing.method,
            path: outgoing.path.to_owned(),
            query,
            headers,
            body,
            content_type: outgoing.content_type,
        };
        let answer = self.client.send(&call, &mut self.stop.clone()).await;
        answer.map_err(|error| match error.may_have_taken_effect() && !call.method.is_safe() {
            true => unanswered(outgoing.name, &error.to_string()),
            false => failed(outgoing.name, &error.to_string()),
        })
    }

    /// Returns an answer whose status is success.
    pub(super) fn accepted(&self, name: &str, answer: Answer) -> Result<Answer, Diagnostic> {
        match answer.status.is_success() {
            true => Ok(answer),
            false => Err(self.refused(name, &answer)),
        }
    }

    /// The error of an answer with a status other than success.
    pub(super) fn refused(&self, name: &str, answer: &Answer) -> Diagnostic {
        let summary = format!("{name} API returns {}", answer.status.as_u16());
        Diagnostic::error(summary, self.excerpt(answer))
    }

    /// The beginning of an answer, without the secrets that are known.
    pub(super) fn excerpt(&self, answer: &Answer) -> String {
        match answer.excerpt(&self.hidden) {
            None => "The answer is not shown, because it may have a secret.".to_owned(),
            Some(it) if it.is_empty() => "The answer has no body.".to_owned(),
            Some(it) => it,
        }
    }
}

impl Parameters {
    /// Replaces the query and the headers, each unless the new one is empty. With a document, expressions in the
    /// new values are expanded; a text that cannot be expanded stays.
    pub(super) fn with(self, arguments: &Arguments, document: Option<&[u8]>) -> Parameters {
        let mut inner = Parameters {
            query: query_values(arguments.query.as_ref()),
            headers: header_values(arguments.header.as_ref()),
        };
        if let Some(document) = document {
            let texts = inner.query.values_mut().flatten().chain(inner.headers.values_mut());
            for text in texts {
                if let Ok(expanded) = expand_body(text, document) {
                    *text = expanded;
                }
            }
        }
        Parameters {
            query: innermost(&[Some(&self.query), Some(&inner.query)]),
            headers: innermost(&[Some(&self.headers), Some(&inner.headers)]),
        }
    }
}

/// The error of a request that can have changed something, without a complete answer.
fn unanswered(name: &str, reason: &str) -> Diagnostic {
    let detail = format!(
        "{} The request may have taken effect nevertheless. Look at the API before the next apply: an object that was \
         created is not in the state, and would be created a second time.",
        sentence(reason)
    );
    Diagnostic::error(format!("{name} API gave no complete answer"), detail)
}

/// The error of a request without an answer.
pub(super) fn failed(name: &str, reason: &str) -> Diagnostic {
    Diagnostic::error(format!("{name} API cannot be called"), sentence(reason))
}

/// Makes a sentence of an error text.
pub(super) fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|it| it.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}

/// The error of an attribute whose value does not fit the answer of the API.
pub(super) fn unusable(attribute: &str, reason: &str) -> Diagnostic {
    let summary = format!("Invalid `{attribute}`");
    Diagnostic::error(summary, sentence(reason)).at(Path::root().attr(attribute))
}

/// Converts the value of an attribute to the JSON text of a body. `None` if it is null or unknown.
pub(super) fn json_of(attribute: &str, value: &Value) -> Result<Option<String>, Diagnostic> {
    to_json(value).map_err(|error: ConvertError| unusable(attribute, &error.to_string()))
}

/// Converts the value of an attribute to the tree of a body. `None` if it is null or unknown.
pub(super) fn tree_of(attribute: &str, value: &Value) -> Result<Option<Tree>, Diagnostic> {
    let json = json_of(attribute, value)?;
    let tree = json.map(|it| Tree::parse(it.as_bytes())).transpose();
    tree.map_err(|it| unusable(attribute, &it.to_string()))
}

/// The text of an attribute with expressions, and its name for errors.
#[derive(Clone, Copy)]
pub(super) struct Expression<'a> {
    pub(super) attribute: &'a str,
    /// `None` if the attribute is null.
    pub(super) text: Option<&'a str>,
}

impl<'a> Expression<'a> {
    /// Names the text of an attribute.
    pub(super) fn new(attribute: &'a str, text: Option<&'a String>) -> Expression<'a> {
        Expression { attribute, text: text.map(String::as_str) }
    }

    /// Expands the expressions of a path on an object with the argument `path`. `None` if the attribute is null.
    pub(super) fn path(self, path: &str, document: &[u8]) -> Result<Option<String>, Diagnostic> {
        self.expanded(|text| expand_path(text, path, document))
    }

    /// Expands the expressions of another text. `None` if the attribute is null.
    pub(super) fn body(self, document: &[u8]) -> Result<Option<String>, Diagnostic> {
        self.expanded(|text| expand_body(text, document))
    }

    fn expanded(
        self,
        expand: impl FnOnce(&str) -> Result<String, ExpandError>,
    ) -> Result<Option<String>, Diagnostic> {
        let expanded = self.text.map(expand).transpose();
        expanded.map_err(|error| unusable(self.attribute, &error.to_string()))
    }
}

/// Returns the part of an answer that a selector chooses; the whole answer without one. `None` if there is no such
/// part.
pub(super) fn selected(
    attribute: &str,
    selector: Option<&str>,
    answer: &[u8],
) -> Result<Option<Vec<u8>>, Diagnostic> {
    let Some(selector) = selector else { return Ok(Some(answer.to_vec())) };
    if answer.is_empty() {
        return Ok(None);
    }
    let unusable = |error: &dyn std::fmt::Display| unusable(attribute, &error.to_string());
    let document = Document::parse(answer).map_err(|it| unusable(&it))?;
    let part = document.select(selector).map_err(|it| unusable(&it))?;
    Ok(part.map(|it| it.raw().as_bytes().to_vec()))
}

/// Returns the text at a place of an answer. `None` if there is none.
pub(super) fn located(locator: &Locator, answer: &Answer) -> Option<String> {
    let header = |name: &str| {
        let value = answer.headers.get(name)?;
        Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    locator.locate(&locator::Answer {
        status: answer.status.as_u16(),
        header: &header,
        body: &answer.body,
    })
}
