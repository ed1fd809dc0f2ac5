//! The `force-unlock` command.

use db::{Diagnostic, Summary};

use operations::{session::Failure, store};

use crate::{args::ForceUnlockArgs, exit::Exit, session::CommandSession};

/// Runs `force-unlock`: removes the lock of the selected workspace's state after a confirmation.
pub(crate) fn run(session: &CommandSession, args: &ForceUnlockArgs) -> Result<Exit, Failure> {
    session.refuse_other_backends()?;
    if !args.force {
        let prompt = "Do you really want to force-unlock?\n  Mayfly will remove the lock on the \
                      state.\n  This will allow local Mayfly commands to modify this state, even \
                      though it\n  may still be in use. Only 'yes' will be accepted to confirm.\n\n  Enter a value: ";
        if session.ui.ask(prompt, false).ok().as_deref() != Some("yes") {
            session.ui.line("force-unlock cancelled.");
            return Ok(Exit::Failure);
        }
    }
    store::force_unlock(session, &args.id)
        .map_err(|error| Diagnostic::new(Summary::FORCE_UNLOCK, format!("{error}.")))?;
    session.ui.line(
        "Mayfly state has been successfully unlocked!\n\nThe state has been unlocked, \
                     and Mayfly commands should now be able to\nobtain a new lock on the state.",
    );
    Ok(Exit::Success)
}
