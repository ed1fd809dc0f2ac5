//! The commands of `state`.

mod edit;

use addr::ResourceInstance;
use db::{Diagnostic, Summary};
use operations::{
    edit::{no_state, select},
    session::Failure,
    store::{self, OpenState},
    variables::flag::VarFlag,
};
use render::StateJson;
use state::{Instance, State, StateFile};
use values::json::Json;

use crate::{
    args::{StateCommand, StateListArgs, StateShowArgs},
    commands::import,
    exit::Exit,
    session::CommandSession,
};

/// Runs one of the commands.
pub(crate) fn run(
    session: &CommandSession,
    command: &StateCommand,
    flags: Vec<VarFlag>,
) -> Result<Exit, Failure> {
    match command {
        StateCommand::List(args) => list(session, args),
        StateCommand::Show(args) => show(session, args),
        StateCommand::Mv(args) => edit::mv(session, args),
        StateCommand::Rm(args) => edit::rm(session, args),
        StateCommand::Pull(_) => edit::pull(session),
        StateCommand::Push(args) => edit::push(session, args),
        StateCommand::ReplaceProvider(args) => edit::replace_provider(session, args),
        StateCommand::Adopt(args) => import::adopt(session, args, flags),
    }
}

/// Runs `state list`: prints the addresses of the selected instances.
fn list(session: &CommandSession, args: &StateListArgs) -> Result<Exit, Failure> {
    let open = existing(session, args.state.as_deref())?;
    let state = &open.file.state;
    let found: Vec<ResourceInstance> = match args.addresses.as_slice() {
        [] => state.instances().map(|it| it.address).collect(),
        addresses => select::selected(state, addresses)?,
    };
    let wanted = args.id.as_deref().filter(|id| !id.is_empty());
    let has_wanted_id = |address: &&ResourceInstance| {
        wanted.is_none_or(|id| state.instance(address).is_some_and(|it| has_id(it, id)))
    };
    for address in found.iter().filter(has_wanted_id) {
        session.ui.text_or_json(&address.to_string(), || {
            vec![render::resource_address_json(address, &session.now())]
        });
    }
    Ok(Exit::Success)
}

fn has_id(instance: &Instance, id: &str) -> bool {
    let Some(object) = &instance.current else { return false };
    let state::Attributes::Json(json) = &object.attributes else { return false };
    let Ok(Json::Object(attributes)) = values::json::parse(json.as_bytes()) else { return false };
    let found = attributes.iter().rfind(|(name, _)| name == "id");
    found.is_some_and(|(_, it)| matches!(it, Json::String(text) if text == id))
}

/// The detail of both errors about the address of `state show`.
const ONE_INSTANCE: &str = "This command requires that the address references one specific \
                            instance. To view the available instances, use \"mayfly state list\". \
                            Please modify the address to reference a specific instance.";

/// Runs `state show`: prints the attributes of one instance.
fn show(session: &CommandSession, args: &StateShowArgs) -> Result<Exit, Failure> {
    // Check the address before the state, as OpenTofu does: with an invalid address there is no error about the
    // state.
    let address = addr::parse_resource_instance(&args.address).map_err(|_| {
        let summary = Summary::invalid_instance_address(format!("{:?}", args.address));
        Diagnostic::new(summary, ONE_INSTANCE)
    })?;
    let mut open = existing(session, args.state.as_deref())?;
    let loaded = session.load(Some(&mut open.file.state))?;
    let schemas = |source: &addr::ProviderSource| loaded.executables.schemas(session, source).ok();
    let state = &open.file.state;
    let one = state.instance(&address).zip(state.provider_of(&address).cloned());
    let Some((instance, provider)) = one else {
        return Err(Diagnostic::new(Summary::NO_SUCH_INSTANCE, ONE_INSTANCE).into());
    };
    if session.ui.prints_text() {
        let style = &session.ui.out;
        let shown =
            render::resource_instance(state, &address, &schemas, args.show_sensitive, style);
        let Some(text) = shown else {
            return Err(Diagnostic::new(Summary::NO_SUCH_INSTANCE, ONE_INSTANCE).into());
        };
        session.ui.print(&text);
    }
    if session.ui.has_json_lines() {
        let mut only = State::default();
        only.set_instance(&address, Some(&provider), instance.clone());
        let written_by = written_by(&open.file);
        let (state, schemas) = (Some(&only), &schemas as render::Schemas<'_>);
        let document = StateJson { state, written_by: &written_by, schemas };
        session.ui.json_line(&render::state_json(&document));
    }
    Ok(Exit::Success)
}

/// The version in the documents for a state.
pub(crate) fn written_by(file: &StateFile) -> String {
    let version = file.written_by.as_ref();
    version.map_or_else(|| state::WRITTEN_VERSION.to_owned(), ToString::to_string)
}

fn existing(
    session: &CommandSession,
    path: Option<&std::path::Path>,
) -> Result<OpenState, Failure> {
    let open = store::open_unlocked(session, path)?;
    // A journal may have changes for a state that was never written.
    if !open.exists() && open.file.state.is_empty() {
        return Err(no_state().into());
    }
    Ok(open)
}
