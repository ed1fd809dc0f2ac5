//! The commands `import`, which takes an existing object into the state, and `state adopt`, which records the
//! outcome of a creation that a provider never confirmed.

use std::sync::Arc;

use addr::{ResourceInstance, ResourceMode};
use db::Diagnostic;
use engine::{ImportOptions, Number};

use crate::{
    args::{ImportArgs, StateAdoptArgs},
    events::Format,
    exit::Exit,
    operation::{self, Purpose},
    session::{Failure, Session},
    signals,
    store::{self, OpenState},
    temp::TempFiles,
    variables::{self, VarFlag},
};

/// The object to import, and the options of the import.
struct Request<'a> {
    address: ResourceInstance,
    id: &'a str,
    answers: Option<u64>,
    parallelism: usize,
    input: bool,
    purpose: store::Purpose,
}

/// Runs `import`.
pub(crate) fn run(
    session: &Session,
    args: &ImportArgs,
    flags: Vec<VarFlag>,
) -> Result<Exit, Failure> {
    let address = address(&args.address)?;
    signals::listen(session);
    let open = store::open(session, &args.state, store::Purpose::Import)?;
    // An `import` to the address of an unconfirmed creation also records its outcome, as `state adopt` does.
    let answers = open.uncertain.iter().rfind(|it| it.address == address).map(|it| it.number);
    let request = Request {
        address,
        id: &args.id,
        answers,
        parallelism: args.parallelism.get(),
        input: args.input,
        purpose: store::Purpose::Import,
    };
    import(session, open, &request, flags)
}

/// Runs `state adopt`.
pub(crate) fn adopt(
    session: &Session,
    args: &StateAdoptArgs,
    flags: Vec<VarFlag>,
) -> Result<Exit, Failure> {
    let address = address(&args.address)?;
    signals::listen(session);
    let open = store::open(session, &args.state, store::Purpose::Adopt)?;
    let of_address = open.uncertain.iter().filter(|it| it.address == address);
    let numbers: Vec<u64> = of_address.map(|it| it.number).collect();
    let Some(last) = numbers.last() else {
        open.close(session)?;
        return Err(certain(&address).into());
    };
    let Some(id) = &args.id else {
        open.settle(numbers.into_iter());
        open.close(session)?;
        session.ui.line(&format!(
            "{address} is recorded as not created. The next plan creates it if the configuration \
             declares it."
        ));
        return Ok(Exit::Success);
    };
    let request = Request {
        answers: Some(*last),
        id,
        parallelism: 1,
        input: args.input,
        purpose: store::Purpose::Adopt,
        address,
    };
    import(session, open, &request, flags)
}

fn address(text: &str) -> Result<ResourceInstance, Failure> {
    let address = addr::parse_resource_instance(text).map_err(|error| {
        Diagnostic::error("invalid-address", "Invalid address", format!("{text:?}: {error}"))
    })?;
    let kind = match address.resource.mode {
        ResourceMode::Managed => return Ok(address),
        ResourceMode::Data => "a data",
        ResourceMode::Ephemeral => "an ephemeral",
    };
    let detail = format!(
        "A managed resource address is required. Importing into {kind} resource is not allowed."
    );
    Err(Diagnostic::error("invalid-address", "Invalid target resource address", detail).into())
}

fn certain(address: &ResourceInstance) -> Diagnostic {
    let detail = format!(
        "No unconfirmed creation of {address} is recorded, so there is nothing to adopt. To import \
         an existing object into the state, use \"mayfly import\"."
    );
    Diagnostic::error("not-uncertain", "Nothing is uncertain there", detail)
}

fn import(
    session: &Session,
    open: OpenState,
    request: &Request<'_>,
    flags: Vec<VarFlag>,
) -> Result<Exit, Failure> {
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
    Diagnostic::error("import-occupied", "Resource already managed by OpenTofu", detail)
}

fn prepared(
    session: &Session,
    open: &OpenState,
    request: &Request<'_>,
    flags: Vec<VarFlag>,
) -> Result<(operation::Prepared, state::State), Failure> {
    let mut prior = open.file.state.clone();
    let mut prepared = operation::prepare(session, flags, &mut prior, Purpose::Import)?;
    if request.input && session.may_ask() {
        let operation::Prepared { typed, program, values, .. } = &mut prepared;
        variables::ask(session, program.root(), values, typed)?;
    }
    Ok((prepared, prior))
}

fn ask(
    session: &Session,
    open: OpenState,
    request: &Request<'_>,
    mut prepared: operation::Prepared,
    prior: state::State,
) -> Result<Exit, Failure> {
    let keeper = Arc::new(open.keeper(session, request.purpose));
    let files = TempFiles::new(session);
    let (environment, show) =
        operation::environment(session, Format::Human, &prepared, keeper.clone(), &files);
    let values = std::mem::take(&mut prepared.values);
    std::mem::take(&mut prepared.typed).teach(&session.redactor);
    let options = ImportOptions {
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
    if !diagnostics.iter().any(Diagnostic::is_error)
        && let Err(problem) = keeper.write(&outcome.state)
    {
        diagnostics.push(operation::rescued(&keeper, &outcome.state, *problem));
    }
    diagnostics.extend(files.end(diagnostics.iter().any(Diagnostic::is_error)));
    session.ui.diagnostics(&diagnostics, &prepared.program.sources);
    keeper.close(session)?;
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Ok(Exit::Failure);
    }
    session.ui.print(
        "\nImport successful!\n\nThe resources that were imported are shown above. These resources \
         are now in\nyour OpenTofu state and will henceforth be managed by OpenTofu.\n\n",
    );
    Ok(Exit::Success)
}
