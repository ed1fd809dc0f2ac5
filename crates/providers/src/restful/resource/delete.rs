//! The deletion of an object, and the call at the destruction of an operation.

use http_client::{Method, StatusCode};

use super::arguments::ApiObject;
use crate::restful::{
    ephemeral_body::applied,
    output::Output,
    request::build::DefaultContentType,
    schema::{Arguments, DeleteArguments},
    session::{Expression, Outgoing, Session, json_of},
    waiting::{Begun, Guarded, await_end, precheck},
};
use mayfly_sdk::{Diagnostic, PrivateState};

/// The request of a destruction.
pub(in crate::restful) struct Destruction<'a> {
    /// The name of the API in messages.
    pub(in crate::restful) name: &'static str,
    pub(in crate::restful) method: Method,
    pub(in crate::restful) content_type: DefaultContentType,
    pub(in crate::restful) is_operation: bool,
    /// True if the status 404 is success.
    pub(in crate::restful) may_be_gone: bool,
    pub(in crate::restful) id: &'a str,
    /// The argument `path`.
    pub(in crate::restful) path: &'a str,
    /// The arguments for all requests.
    pub(in crate::restful) arguments: &'a Arguments,
    pub(in crate::restful) request: &'a DeleteArguments,
    /// The body as a text with expressions. `None` sends `delete_body`.
    pub(in crate::restful) raw_body: Option<&'a String>,
    /// The answer that is known, for expressions.
    pub(in crate::restful) output: &'a Output,
}

/// Deletes the object. One that does not exist counts as deleted.
pub(super) async fn delete(
    session: &mut Session<'_>,
    state: &ApiObject,
    private: &PrivateState,
) -> Result<(), Diagnostic> {
    let method = state.delete.delete_method.as_ref().map(|it| &it.0);
    let method = method.unwrap_or(&session.settings.methods.delete).clone();
    let destruction = Destruction {
        name: "Delete",
        may_be_gone: method == Method::DELETE,
        method,
        content_type: DefaultContentType::WithBody,
        is_operation: false,
        id: state.id.as_deref().unwrap_or_default(),
        path: &state.path,
        arguments: &state.arguments,
        request: &state.delete.request,
        raw_body: state.delete.delete_body_raw.as_ref(),
        output: &state.output,
    };
    destruction.send(session, private).await
}

impl Destruction<'_> {
    /// Sends the request, and awaits its end.
    pub(in crate::restful) async fn send(
        self,
        session: &mut Session<'_>,
        private: &PrivateState,
    ) -> Result<(), Diagnostic> {
        if let Some(applied) = applied(private)? {
            session.hidden.add_shape(applied.shape());
        }
        let (id, request) = (self.id, self.request);
        let document = &self.output.document()?[..];
        let parameters = &session.parameters(self.arguments, &request.arguments, Some(document));
        let guarded = Guarded { attribute: "precheck_delete", path: id, document, parameters };
        let _locks = precheck(session, request.precheck_delete.as_ref(), &guarded).await?;
        let body = match Expression::new("delete_body_raw", self.raw_body).body(document)? {
            Some(raw) => Some(raw),
            None => json_of("delete_body", &request.delete_body)?,
        };
        let path = Expression::new("delete_path", request.delete_path.as_ref());
        let path = path.path(self.path, document)?.unwrap_or_else(|| id.to_owned());
        let outgoing = Outgoing {
            name: self.name,
            method: self.method,
            path: &path,
            parameters,
            body,
            content_type: self.content_type,
            is_operation: self.is_operation,
        };
        let answer = session.send(outgoing).await?;
        if self.may_be_gone && answer.status == StatusCode::NOT_FOUND {
            return Ok(());
        }
        let answer = &session.accepted(self.name, answer)?;
        let begun = Begun { attribute: "poll_delete", answer, url: &path, document, parameters };
        await_end(session, request.poll_delete.as_ref(), &begun).await
    }
}
