//! The creation of an object.

use http_client::Method;

use super::{
    arguments::ApiObject,
    import::identity,
    read::{Reading, read_back},
};
use crate::restful::{
    ephemeral_body::{Bodies, remember},
    expression::expand::{expand_body, expand_path},
    request::{build::DefaultContentType, client::Answer},
    session::{Expression, Outgoing, Parameters, Session, selected, unusable},
    waiting::{Begun, Guarded, await_end, precheck},
};
use mayfly_sdk::{Call, Diagnostic};

/// Creates the object. After the answer of the API, an error leaves a state with what is known of it.
pub(super) async fn create(
    session: &mut Session<'_>,
    planned: ApiObject,
    call: &mut Call,
) -> Result<ApiObject, Diagnostic> {
    let bodies = Bodies::of(&planned.body, &planned.ephemeral_body)?;
    if let Some(ephemeral) = &bodies.ephemeral {
        session.hidden.add_body(&ephemeral.tree);
    }
    let arguments = &planned.create;
    if arguments.check_existance == Some(true) {
        check_absence(session, &planned).await?;
    }
    let parameters = session.parameters(&planned.arguments, &arguments.arguments, None);
    let guarded =
        Guarded { attribute: "precheck_create", path: "", document: &[], parameters: &parameters };
    let _locks = precheck(session, arguments.precheck_create.as_ref(), &guarded).await?;
    let method = arguments.create_method.as_ref().map(|it| &it.0);
    let answer = session
        .send(Outgoing {
            name: "Create",
            method: method.unwrap_or(&session.settings.methods.create).clone(),
            path: &planned.path,
            parameters: &parameters,
            body: bodies.merged().map(|it| it.text()),
            content_type: DefaultContentType::Always,
            is_operation: false,
        })
        .await?;
    let answer = session.accepted("Create", answer)?;
    let document = created(&planned, &answer).map_err(orphaned)?;
    let id = identify(&planned, &document).map_err(orphaned)?;
    remember(&mut call.private, bodies.applied());
    let created = Created { planned: &planned, parameters: &parameters, bodies: &bodies };
    created.finish(session, call, &answer, &document, id).await
}

/// An object that the API has created.
struct Created<'a> {
    planned: &'a ApiObject,
    parameters: &'a Parameters,
    bodies: &'a Bodies,
}

impl Created<'_> {
    async fn finish(
        &self,
        session: &Session<'_>,
        call: &mut Call,
        answer: &Answer,
        document: &[u8],
        id: String,
    ) -> Result<ApiObject, Diagnostic> {
        let mut kept = self.keep(call, document, &id);
        let begun = Begun {
            attribute: "poll_create",
            answer,
            url: &id,
            document,
            parameters: self.parameters,
        };
        await_end(session, self.planned.create.poll_create.as_ref(), &begun).await?;
        let session = &session.finishing();
        let reread = self.read_after(session, document).await?;
        let document = reread.as_deref().unwrap_or(document);
        if reread.is_some() {
            let id = identify(self.planned, document)?;
            kept = self.keep(call, document, &id);
        }
        let reading = Reading { of: kept, reference: document, updates_body: false };
        let shape = self.bodies.applied().map(|it| it.shape());
        let state = read_back(session, reading, shape, "creation").await?;
        call.identity = Some(identity(&state)?);
        Ok(state)
    }

    /// Keeps what is known of the object, in case that a later step fails.
    fn keep(&self, call: &mut Call, document: &[u8], id: &str) -> ApiObject {
        let mut state = self.planned.clone();
        state.id = Some(id.to_owned());
        let shape = self.bodies.applied().map(|it| it.shape());
        if state.output.store(document, shape).is_err() {
            state.output.clear();
        }
        call.identity = identity(&state).ok();
        call.keep(&state);
        state
    }

    /// Makes the request of `post_create_read`. `None` if there is none.
    async fn read_after(
        &self,
        session: &Session<'_>,
        document: &[u8],
    ) -> Result<Option<Vec<u8>>, Diagnostic> {
        let Some(read) = &self.planned.create.post_create_read else { return Ok(None) };
        let invalid =
            |error: &dyn std::fmt::Display| unusable("post_create_read", &error.to_string());
        let path = expand_path(&read.path, &self.planned.path, document);
        let read_arguments = &self.planned.read.arguments;
        let parameters =
            session.parameters(&self.planned.arguments, read_arguments, Some(document));
        let outgoing = Outgoing {
            name: "Post-create read",
            method: Method::GET,
            path: &path.map_err(|it| invalid(&it))?,
            parameters: &parameters.with(&read.arguments, Some(document)),
            body: None,
            content_type: DefaultContentType::Never,
            is_operation: false,
        };
        let answer = session.send(outgoing).await?;
        let answer = session.accepted("Post-create read", answer)?;
        let selector = read.selector.as_ref().map(|it| expand_body(it, &answer.body));
        let selector = selector.transpose().map_err(|it| invalid(&it))?;
        let part = selected("post_create_read", selector.as_deref(), &answer.body)?;
        part.map(Some).ok_or_else(|| invalid(&"the answer has nothing at `selector`"))
    }
}

/// Checks that the object does not exist yet.
async fn check_absence(session: &Session<'_>, planned: &ApiObject) -> Result<(), Diagnostic> {
    let path = &planned.path;
    let outgoing = Outgoing {
        name: "Existence check",
        method: Method::GET,
        path,
        parameters: &session.parameters(&planned.arguments, &planned.read.arguments, None),
        body: None,
        content_type: DefaultContentType::Never,
        is_operation: false,
    };
    let answer = session.send(outgoing).await?;
    if answer.status.as_u16() == 404 {
        return Ok(());
    }
    let detail = format!(
        "{path} answers {} to a read, so there is an object already, or it cannot be ruled out. \
         Import it, or remove `check_existance`.",
        answer.status.as_u16()
    );
    Err(Diagnostic::error("Resource already exists", detail))
}

/// The part of the answer that is the object.
fn created(planned: &ApiObject, answer: &Answer) -> Result<Vec<u8>, Diagnostic> {
    let selector = planned.create.create_selector.as_deref();
    selected("create_selector", selector, &answer.body)?
        .ok_or_else(|| unusable("create_selector", "the answer has nothing at this path"))
}

/// The path of the object.
fn identify(planned: &ApiObject, document: &[u8]) -> Result<String, Diagnostic> {
    let read_path = Expression::new("read_path", planned.read.read_path.as_ref());
    Ok(read_path.path(&planned.path, document)?.unwrap_or_else(|| planned.path.clone()))
}

/// Tells that the object exists without a state.
fn orphaned(mut error: Diagnostic) -> Diagnostic {
    error.detail = format!(
        "{} The API has created the object, but where it is cannot be told from the answer, so it \
         is not in the state. Remove it from the API, or import it.",
        error.detail
    );
    error
}
