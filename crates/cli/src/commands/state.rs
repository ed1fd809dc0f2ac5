//! `state list` and `state show`.

use addr::Target;
use db::Diagnostic;

use crate::{
    args::{StateListArgs, StateShowArgs},
    exit::Exit,
    session::{Failure, Session},
    store::{self, OpenState},
};

pub(crate) fn list(session: &Session, args: &StateListArgs) -> Result<Exit, Failure> {
    let open = existing(session, args.state.as_deref())?;
    let targets: Vec<Target> =
        args.addresses.iter().map(|text| parse_target(text)).collect::<Result<_, _>>()?;
    for (address, _, instance) in open.file.state.instances() {
        if !targets.is_empty() && !targets.iter().any(|target| target.covers(&address)) {
            continue;
        }
        if let Some(id) = &args.id
            && !instance.current.as_ref().is_some_and(|object| has_id(object, id))
        {
            continue;
        }
        session.ui.line(&address.to_string());
    }
    Ok(Exit::Success)
}

fn has_id(object: &state::Object, id: &str) -> bool {
    let state::Attributes::Json(json) = &object.attributes else { return false };
    let attributes: Option<serde_json::Value> = serde_json::from_str(json).ok();
    attributes.is_some_and(|it| it.get("id").and_then(serde_json::Value::as_str) == Some(id))
}

pub(crate) fn show(session: &Session, args: &StateShowArgs) -> Result<Exit, Failure> {
    let mut open = existing(session, args.state.as_deref())?;
    let address = addr::parse_resource_instance(&args.address).map_err(|error| {
        Diagnostic::error(
            "invalid-address",
            "Error parsing instance address",
            format!("{:?}: {error}", args.address),
        )
    })?;
    let loaded = session.load(Some(&mut open.file.state))?;
    let schemas = |source: &addr::ProviderSource| loaded.executables.schemas(session, source).ok();
    match render::resource_instance(
        &open.file.state,
        &address,
        &schemas,
        args.show_sensitive,
        &session.ui.out,
    ) {
        Some(text) => session.ui.print(&text),
        None => {
            let detail = format!(
                "No instance found for the given address {address}. \"mayfly state list\" shows what there is."
            );
            return Err(Diagnostic::error("no-such-instance", "No instance found", detail).into());
        }
    }
    Ok(Exit::Success)
}

fn existing(session: &Session, path: Option<&std::path::Path>) -> Result<OpenState, Failure> {
    let open = store::open_unlocked(session, path)?;
    // A journal may have what no state was written of so far.
    if !open.exists() && open.file.state.is_empty() {
        let detail = "State management commands require a state file. Run this command in a directory where Mayfly has been run or use the -state \
                      flag to point the command to a specific state location.";
        return Err(Diagnostic::error("no-state", "No state file was found!", detail).into());
    }
    Ok(open)
}

fn parse_target(text: &str) -> Result<Target, Failure> {
    addr::parse_target(text).map_err(|error| {
        Diagnostic::error("invalid-address", "Invalid address", format!("{text:?}: {error}")).into()
    })
}
