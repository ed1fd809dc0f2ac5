//! The commands of `state` that change the state.

use std::{io::Read, path::Path};

use db::{Diagnostic, Summary};
use operations::{
    edit::{
        Execution,
        moves::{self, Request},
        push::{self, Succession},
        remove,
        replace_provider::{self, Pending, Replacement},
    },
    session::Failure,
    store::StateOptions,
};

use crate::{
    args::{LockArgs, MvArgs, PushArgs, ReplaceProviderArgs, RmArgs},
    exit::Exit,
    session::CommandSession,
    signals,
};

fn execution(is_dry: bool) -> Execution {
    if is_dry { Execution::Dry } else { Execution::Real }
}

/// Runs `state mv`.
pub(super) fn mv(session: &CommandSession, args: &MvArgs) -> Result<Exit, Failure> {
    let request = Request {
        from: &args.from,
        to: &args.to,
        state_out: args.state.state_out.clone(),
        backup_out: args.backup_out.clone(),
        execution: execution(args.dry_run),
    };
    let moved = moves::move_objects(session, &args.state.options(), &request)?;
    let verb = if args.dry_run { "Would move" } else { "Move" };
    for it in &moved {
        let text = format!("{verb} {:?} to {:?}", it.from, it.to);
        session.ui.message(&text, &text);
    }
    if !args.dry_run {
        ended(session, &format!("Successfully moved {} object(s)", moved.len()));
    }
    Ok(Exit::Success)
}

/// Runs `state rm`.
pub(super) fn rm(session: &CommandSession, args: &RmArgs) -> Result<Exit, Failure> {
    let options = options(&args.lock, args.state.as_deref(), args.backup.as_deref());
    let found = remove::remove(session, &options, &args.addresses, execution(args.dry_run))?;
    let verb = if args.dry_run { "Would remove" } else { "Removed" };
    for address in &found {
        let text = format!("{verb} {address}");
        session.ui.message(&text, &text);
    }
    match args.dry_run {
        true if found.is_empty() => ended(session, "Would have removed nothing"),
        true => {}
        false => {
            ended(session, &format!("Successfully removed {} resource instance(s)", found.len()));
        }
    }
    Ok(Exit::Success)
}

/// Runs `state pull`.
pub(super) fn pull(session: &CommandSession) -> Result<Exit, Failure> {
    if let Some(text) = push::pull(session)? {
        session.ui.print(&text);
    }
    Ok(Exit::Success)
}

/// Runs `state push`.
pub(super) fn push(session: &CommandSession, args: &PushArgs) -> Result<Exit, Failure> {
    let bytes = match args.path.as_os_str() == "-" {
        true => {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
        }
        false => session.system.read_file(&args.path),
    };
    let bytes = bytes.map_err(|error| {
        let detail = format!("{}: {error}.", args.path.display());
        Diagnostic::new(Summary::UNOPENED_PUSHED_STATE, detail)
    })?;
    let pushed = push::parse(&args.path.to_string_lossy(), &bytes)?;
    let succession = if args.force { Succession::Any } else { Succession::Checked };
    push::push(session, &options(&args.lock, None, None), pushed, succession)?;
    Ok(Exit::Success)
}

/// Runs `state replace-provider`.
pub(super) fn replace_provider(
    session: &CommandSession,
    args: &ReplaceProviderArgs,
) -> Result<Exit, Failure> {
    if args.json.json && !args.auto_approve {
        let detail = "Mayfly cannot ask for approval when -json is set. Add -auto-approve.";
        return Err(Diagnostic::new(Summary::JSON_APPROVAL, detail).into());
    }
    let replacement = Replacement::parse(&args.from, &args.to)?;
    signals::listen(session);
    let options = options(&args.lock, args.state.as_deref(), args.backup.as_deref());
    let Some(pending) = replace_provider::begin(session, &options, replacement.clone())? else {
        ended(session, "No matching resources found");
        return Ok(Exit::Success);
    };
    announce(session, &replacement, &pending);
    if !args.auto_approve {
        let prompt = "\nDo you want to make these changes?\n  Only 'yes' will be accepted to \
                      continue.\n\n  Enter a value: ";
        let Ok(answer) = session.ui.ask(prompt, false) else {
            pending.cancel(session)?;
            let detail =
                "The answer could not be read. Use -auto-approve to run without questions.";
            return Err(Diagnostic::new(Summary::NO_APPROVAL, detail).into());
        };
        session.ui.line("");
        if answer != "yes" {
            pending.cancel(session)?;
            ended(session, "Cancelled replacing providers");
            return Ok(Exit::Success);
        }
    }
    let count = pending.resources().len();
    pending.finish(session)?;
    ended(session, &format!("Successfully replaced provider for {count} resources"));
    Ok(Exit::Success)
}

fn announce(session: &CommandSession, replacement: &Replacement, pending: &Pending) {
    let Replacement { from, to } = replacement;
    let resources = pending.resources();
    let text = render::provider_replacement(from, to, resources, &session.ui.out);
    session.ui.text_or_json(text.trim_end_matches('\n'), || {
        vec![render::replace_provider_json(from, to, resources, &session.now())]
    });
}

/// Prints the result. The text is a sentence, the message in JSON has no period.
fn ended(session: &CommandSession, message: &str) {
    session.ui.message(&format!("{message}."), message);
}

fn options(lock: &LockArgs, state: Option<&Path>, backup: Option<&str>) -> StateOptions {
    let (state, backup) = (state.map(Path::to_owned), backup.map(str::to_owned));
    StateOptions { state, backup, ..lock.options() }
}
