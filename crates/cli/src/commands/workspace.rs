//! The commands of `workspace`, and their old names below `env`.

use db::{Diagnostic, Sources, Summary};
use operations::{
    session::Failure,
    store::StateOptions,
    workspaces::{self, Deleted, Selected},
};

use crate::{
    args::{WorkspaceCommand, WorkspaceDeleteArgs, WorkspaceNewArgs, WorkspaceSelectArgs},
    exit::Exit,
    session::CommandSession,
};

/// Runs one of the commands under its old name, and warns about that name.
pub(crate) fn run_as_env(
    session: &CommandSession,
    command: &WorkspaceCommand,
) -> Result<Exit, Failure> {
    let detail = "\"Workspace\" is now the preferred term for what earlier versions called \
                  \"environment\", to reduce ambiguity caused by the latter term colliding with \
                  other concepts.\n\nThe \"mayfly workspace\" commands should be used instead.";
    let warning = Diagnostic::new(Summary::ENV_COMMAND, detail);
    session.ui.diagnostics(&[warning], &Sources::default());
    run(session, command)
}

/// Runs one of the commands.
pub(crate) fn run(session: &CommandSession, command: &WorkspaceCommand) -> Result<Exit, Failure> {
    match command {
        WorkspaceCommand::List(_) => list(session),
        WorkspaceCommand::Select(args) => select(session, args),
        WorkspaceCommand::New(args) => new(session, args),
        WorkspaceCommand::Delete(args) => delete(session, args),
        WorkspaceCommand::Show(_) => {
            session.ui.line(&workspaces::selected(session)?);
            Ok(Exit::Success)
        }
    }
}

fn list(session: &CommandSession) -> Result<Exit, Failure> {
    let found = workspaces::list(session)?;
    let (names, selected) = (&found.names, &found.selected);
    session.ui.text_or_json(&render::workspaces(names, selected), || {
        vec![render::workspaces_json(names, selected, &session.now())]
    });
    if found.is_overridden {
        session.ui.message(
            "\n\nThe active workspace is being overridden using the TF_WORKSPACE \
             environment\nvariable.\n",
            "The active workspace is being overridden using the TF_WORKSPACE environment variable",
        );
    }
    Ok(Exit::Success)
}

fn select(session: &CommandSession, args: &WorkspaceSelectArgs) -> Result<Exit, Failure> {
    match workspaces::select(session, &args.name, args.or_create)? {
        Selected::Unchanged => {}
        Selected::Changed => ended(session, &format!("Switched to workspace {:?}", args.name), "."),
        Selected::Created => created(session, &args.name),
    }
    Ok(Exit::Success)
}

fn new(session: &CommandSession, args: &WorkspaceNewArgs) -> Result<Exit, Failure> {
    let options = StateOptions { state: args.state.clone(), ..args.lock.options() };
    workspaces::create(session, &args.name, &options)?;
    created(session, &args.name);
    Ok(Exit::Success)
}

fn delete(session: &CommandSession, args: &WorkspaceDeleteArgs) -> Result<Exit, Failure> {
    let name = format!("{:?}", args.name);
    let deleted = workspaces::delete(session, &args.name, &args.lock.options(), args.force)?;
    ended(session, &format!("Deleted workspace {name}"), "!");
    if deleted == Deleted::WithObjects {
        let detail = "The resources managed by the deleted workspace may still exist, but are no \
                      longer manageable by Mayfly since the state has been deleted.";
        let warning = Diagnostic::new(Summary::workspace_lost(name), detail);
        session.ui.diagnostics(&[warning], &Sources::default());
    }
    Ok(Exit::Success)
}

fn created(session: &CommandSession, name: &str) {
    let message = format!(
        "Created and switched to workspace {name:?}. You're now on a new, empty workspace. Workspaces \
         isolate their state, so if you run \"mayfly plan\" Mayfly will not see any existing state for \
         this configuration"
    );
    session.ui.message(&render::workspace_created(name, &session.ui.out), &message);
}

fn ended(session: &CommandSession, message: &str, mark: &str) {
    let text = render::workspace_result(&format!("{message}{mark}"), &session.ui.out);
    session.ui.message(&text, message);
}
