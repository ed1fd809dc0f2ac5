//! The operations `import`, which takes an existing object into the state, and `adopt`, which records the outcome of
//! a creation that a provider never confirmed.

use std::sync::Arc;

use addr::{ResourceInstance, ResourceMode};
use db::{Diagnostic, Summary};
use engine::Number;

use crate::{
    apply::write,
    prepare::{self, Prepared, Purpose},
    session::{Failure, Session},
    store::{self, OpenState, StateOptions},
    temp::TempFiles,
    variables::{self, flag::VarFlag},
    view::Run,
};

/// The options of an import.
pub struct ImportOptions<'a> {
    /// The address of the object in the configuration.
    pub address: &'a str,
    /// The location of the state.
    pub state: StateOptions,
    /// The maximum number of concurrent calls of providers.
    pub parallelism: usize,
    /// True if the user is asked for missing values of variables.
    pub input: bool,
}

/// The object to import, and the options of the import.
struct Request<'a> {
    address: ResourceInstance,
    id: &'a str,
    answers: Option<u64>,
    parallelism: usize,
    input: bool,
    purpose: store::Purpose,
}

/// Imports the object with this ID. Returns true if it is in the state.
pub fn import(
    session: &Session,
    options: &ImportOptions<'_>,
    id: &str,
    flags: Vec<VarFlag>,
) -> Result<bool, Failure> {
    let address = address(options.address)?;
    let open = store::open(session, &options.state, store::Purpose::Import)?;
    // An import to the address of an unconfirmed creation also records its outcome, as `adopt` does.
    let answers =
        open.uncertain.iter().rfind(|it| it.object.instance == address).map(|it| it.number);
    let request = Request {
        address,
        id,
        answers,
        parallelism: options.parallelism,
        input: options.input,
        purpose: store::Purpose::Import,
    };
    take_over(session, open, &request, flags)
}

/// The result of [`adopt`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Adopted {
    /// The object is in the state.
    Imported,
    /// The object could not be imported.
    Failed,
    /// The creation is recorded as one that did not happen.
    Gone,
}

/// Records the outcome of a creation that was never confirmed: the object has this ID, or does not exist (`None`).
pub fn adopt(
    session: &Session,
    options: &ImportOptions<'_>,
    id: Option<&str>,
    flags: Vec<VarFlag>,
) -> Result<Adopted, Failure> {
    let address = address(options.address)?;
    let open = store::open(session, &options.state, store::Purpose::Adopt)?;
    let of_address = open.uncertain.iter().filter(|it| it.object.instance == address);
    let numbers: Vec<u64> = of_address.map(|it| it.number).collect();
    let Some(last) = numbers.last() else {
        open.close(session)?;
        return Err(certain(&address).into());
    };
    let Some(id) = id else {
        open.settle(numbers.into_iter());
        open.close(session)?;
        return Ok(Adopted::Gone);
    };
    let request = Request {
        answers: Some(*last),
        id,
        parallelism: options.parallelism,
        input: options.input,
        purpose: store::Purpose::Adopt,
        address,
    };
    let is_imported = take_over(session, open, &request, flags)?;
    Ok(if is_imported { Adopted::Imported } else { Adopted::Failed })
}

/// Parses the address of a managed resource instance.
///
/// # Errors
/// A diagnostic for any other address.
pub fn address(text: &str) -> Result<ResourceInstance, Failure> {
    let address = addr::parse_resource_instance(text)
        .map_err(|error| Diagnostic::new(Summary::INVALID_ADDRESS, format!("{text:?}: {error}")))?;
    let kind = match address.resource.mode {
        ResourceMode::Managed => return Ok(address),
        ResourceMode::Data => "a data",
        ResourceMode::Ephemeral => "an ephemeral",
    };
    let detail = format!(
        "A managed resource address is required. Importing into {kind} resource is not allowed."
    );
    Err(Diagnostic::new(Summary::INVALID_TARGET_ADDRESS, detail).into())
}

fn certain(address: &ResourceInstance) -> Diagnostic {
    let detail = format!(
        "No unconfirmed creation of {address} is recorded, so there is nothing to adopt. To import \
         an existing object into the state, use \"mayfly import\"."
    );
    Diagnostic::new(Summary::NOT_UNCERTAIN, detail)
}

fn take_over(
    session: &Session,
    open: OpenState,
    request: &Request<'_>,
    flags: Vec<VarFlag>,
) -> Result<bool, Failure> {
    if open.file.state.current(&request.address).is_some() {
        open.close(session)?;
        return Err(occupied(&request.address).into());
    }
    match prepared(session, &open, request, flags) {
        Ok((prepared, prior)) => ask(session, open, request, prepared, prior),
        Err(failure) => {
            open.close(session)?;
            Err(failure)
        }
    }
}

fn occupied(address: &ResourceInstance) -> Diagnostic {
    let detail = format!(
        "Mayfly is already managing a remote object for {address}. To import to this address you \
         must first remove the existing object from the state."
    );
    Diagnostic::new(Summary::IMPORT_OCCUPIED, detail)
}

fn prepared(
    session: &Session,
    open: &OpenState,
    request: &Request<'_>,
    flags: Vec<VarFlag>,
) -> Result<(Prepared, state::State), Failure> {
    let mut prior = open.file.state.clone();
    let mut prepared = prepare::prepare(session, flags, &mut prior, Purpose::Import)?;
    if request.input && session.may_ask() {
        let Prepared { ephemeral_inputs, program, values, .. } = &mut prepared;
        variables::ask(session, program.root(), values, ephemeral_inputs)?;
    }
    Ok((prepared, prior))
}

fn ask(
    session: &Session,
    open: OpenState,
    request: &Request<'_>,
    mut prepared: Prepared,
    prior: state::State,
) -> Result<bool, Failure> {
    let keeper = Arc::new(open.keeper(session, request.purpose));
    let files = TempFiles::new(session);
    let (environment, show) =
        prepare::environment(session, Run::Apply, &prepared, keeper.clone(), &files);
    let values = std::mem::take(&mut prepared.values);
    std::mem::take(&mut prepared.ephemeral_inputs).teach(&session.redactor);
    let options = engine::ImportOptions {
        address: request.address.clone(),
        id: request.id.into(),
        answers: request.answers.map(Number),
        parallelism: request.parallelism,
        workspace: session.workspace(),
        temp: files.root(),
    };
    let import = engine::import(&prepared.program, prior, values, &environment, options);
    let outcome = session.runtime.block_on(import);
    show.end_log();
    session.redactor.forget();
    let mut diagnostics = outcome.diagnostics;
    if !diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.extend(write(session, &keeper, &outcome.state));
    }
    diagnostics.extend(files.end(diagnostics.iter().any(Diagnostic::is_error)));
    session.view.diagnostics(&diagnostics, &prepared.program.sources);
    store::close(session, &keeper)?;
    Ok(!diagnostics.iter().any(Diagnostic::is_error))
}
