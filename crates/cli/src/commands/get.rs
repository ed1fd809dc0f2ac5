//! The `get` command.

use operations::{init, session::Failure};

use crate::{args::GetArgs, exit::Exit, session::CommandSession};

/// Runs `get`: installs the modules, without the providers and without the backend.
pub(crate) fn run(session: &CommandSession, args: &GetArgs) -> Result<Exit, Failure> {
    init::get(session, args.update, &args.test_directory)?;
    Ok(Exit::Success)
}
