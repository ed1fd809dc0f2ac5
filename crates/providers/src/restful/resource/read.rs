//! The read of an object, by a refresh and after each change.

use http_client::Method;

use super::{arguments::ApiObject, import::identity};
use crate::restful::{
    document::{
        convert::{from_json, from_json_implied, to_json},
        edit::set_raw,
        overlap::masked,
        select::Document,
        tree::Tree,
    },
    ephemeral_body,
    request::build::DefaultContentType,
    schema::text_values,
    session::{Expression, Outgoing, Session, json_of, selected, sentence, unusable},
};
use mayfly_sdk::{Call, Diagnostic};

/// A read that is to be made.
pub(super) struct Reading<'a> {
    /// The object with its `id` and the attributes of reads.
    pub(super) of: ApiObject,
    /// The document for expressions: the answer that is known.
    pub(super) reference: &'a [u8],
    /// True if the state gets the body that the API has.
    pub(super) updates_body: bool,
}

/// Reads the object of the state. `None` if it no longer exists.
pub(super) async fn refresh(
    session: &mut Session<'_>,
    state: ApiObject,
    call: &mut Call,
) -> Result<Option<ApiObject>, Diagnostic> {
    let reference = state.output.document()?;
    let applied = ephemeral_body::applied(&call.private)?;
    if let Some(applied) = &applied {
        session.hidden.add_shape(applied.shape());
    }
    let reading = Reading { of: state, reference: &reference, updates_body: true };
    let found = read(session, reading, applied.as_ref().map(|it| it.shape())).await;
    let Some(found) = found.map_err(of_state)? else { return Ok(None) };
    call.identity = Some(identity(&found.state)?);
    found.misfit.into_iter().for_each(|it| call.diagnostics.push(it));
    Ok(Some(found.state))
}

/// Adds the way out of an error that arguments in the state cause: a refresh does not see the configuration.
fn of_state(mut error: Diagnostic) -> Diagnostic {
    if error.path.is_some() {
        error.detail = format!(
            "{} A refresh uses the arguments that are in the state. After the configuration is corrected, apply it \
             once with -refresh=false.",
            error.detail
        );
    }
    error
}

/// Reads the object after a change, when it must be there.
pub(super) async fn read_back(
    session: &Session<'_>,
    reading: Reading<'_>,
    shape: Option<&Tree>,
    change: &str,
) -> Result<ApiObject, Diagnostic> {
    let id = reading.of.id.clone().unwrap_or_default();
    let missing = || {
        let detail = format!(
            "After its {change}, the API has no object at {id}. If the API needs time for it, use \
             `poll_create` or `poll_update`; else check `read_path` and `read_selector`."
        );
        Diagnostic::error("Missing Resource State After Change", detail)
    };
    let found = read(session, reading, shape).await?.ok_or_else(missing)?;
    match found.misfit {
        None => Ok(found.state),
        Some(misfit) => Err(Diagnostic { severity: provider::Severity::Error, ..misfit }),
    }
}

/// An object that was read.
struct Found {
    state: ApiObject,
    /// The reason why the answer is not in the state.
    misfit: Option<Diagnostic>,
}

/// Reads an object. `None` if the API does not have it.
async fn read(
    session: &Session<'_>,
    reading: Reading<'_>,
    shape: Option<&Tree>,
) -> Result<Option<Found>, Diagnostic> {
    let Reading { of: mut state, reference, updates_body } = reading;
    let arguments = &state.read;
    let outgoing = Outgoing {
        name: "Read",
        method: Method::GET,
        path: state.id.as_deref().unwrap_or_default(),
        parameters: &session.parameters(&state.arguments, &arguments.arguments, Some(reference)),
        body: None,
        content_type: DefaultContentType::Never,
        is_operation: false,
    };
    let answer = session.send(outgoing).await?;
    if answer.status.as_u16() == 404 {
        return Ok(None);
    }
    let answer = session.accepted("Read", answer)?;
    let selector = Expression::new("read_selector", arguments.read_selector.as_ref());
    let selector = selector.body(reference)?;
    let Some(part) = selected("read_selector", selector.as_deref(), &answer.body)? else {
        return Ok(None);
    };
    let template = arguments.read_response_template.as_ref();
    let document = Expression::new("read_response_template", template).body(&part)?;
    let document = document.map_or(part, String::into_bytes);
    if updates_body {
        update_body(&mut state, &document, shape)?;
    }
    let misfit = state.output.store_what_fits(&document, shape)?;
    Ok(Some(Found { state, misfit }))
}

/// Sets the body to the parts of the answer that it tracks. If the answer has another structure, the body becomes the
/// whole answer, so that the difference is visible. The parts that `ephemeral_body` set are in neither.
fn update_body(
    state: &mut ApiObject,
    document: &[u8],
    shape: Option<&Tree>,
) -> Result<(), Diagnostic> {
    let invalid = |it: &dyn std::fmt::Display| {
        Diagnostic::error("Answer Cannot Be Read", sentence(&it.to_string()))
    };
    let mut document = with_write_only(state, document)?;
    if let (Some(shape), false) = (shape, document.is_empty()) {
        let tree = Tree::parse(&document).map_err(|it| invalid(&it))?;
        document = masked(tree, shape).text().into_bytes();
    }
    let body = &state.body;
    let typed = match body.is_null() {
        true => from_json_implied(&document),
        false => from_json(&document, &body.ty()),
    };
    let read = typed.or_else(|_| from_json_implied(&document)).map_err(|it| invalid(&it))?;
    // A number of the configuration can have more digits than a document has for it.
    let is_same = !body.is_null() && body.ty() == read.ty() && to_json(body) == to_json(&read);
    if !is_same {
        state.body = read;
    }
    Ok(())
}

/// Adds the values of `write_only_attrs` that the API does not return.
fn with_write_only(state: &ApiObject, document: &[u8]) -> Result<Vec<u8>, Diagnostic> {
    let paths = text_values(state.write_only_attrs.as_ref());
    let known = match paths.is_empty() || document.is_empty() {
        true => None,
        false => json_of("body", &state.body)?,
    };
    let Some(known) = known else { return Ok(document.to_vec()) };
    let unusable = |it: &dyn std::fmt::Display| unusable("write_only_attrs", &it.to_string());
    let known = Document::parse(known.as_bytes()).map_err(|it| unusable(&it))?;
    let mut document = document.to_vec();
    for path in paths {
        let answered = Document::parse(&document).map_err(|it| unusable(&it))?;
        let is_answered = answered.select(&path).map_err(|it| unusable(&it))?.is_some();
        let own = known.select(&path).map_err(|it| unusable(&it))?;
        if let (Some(own), false) = (own, is_answered) {
            let added = set_raw(&document, &path, own.raw().as_bytes());
            document = added.map_err(|it| unusable(&it))?.into_bytes();
        }
    }
    Ok(document)
}
