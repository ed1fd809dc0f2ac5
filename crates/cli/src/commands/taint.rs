//! The commands `taint` and `untaint`.

use db::Sources;
use operations::{
    edit::taint::{self, Mark},
    session::Failure,
};

use crate::{args::TaintArgs, exit::Exit, session::CommandSession};

/// Runs `taint` or `untaint`.
pub(crate) fn run(session: &CommandSession, args: &TaintArgs, mark: Mark) -> Result<Exit, Failure> {
    let address = taint::address(&args.address)?;
    let options = args.state.options();
    if taint::mark(session, &options, &address, mark)? {
        let text = match mark {
            Mark::Taint => format!("Resource instance {address} has been marked as tainted."),
            Mark::Untaint => {
                format!("Resource instance {address} has been successfully untainted.")
            }
        };
        session.ui.message(&text, &text);
        return Ok(Exit::Success);
    }
    if args.allow_missing {
        let warning = taint::allowed_missing(&address);
        session.ui.diagnostics(&[warning], &Sources::default());
        return Ok(Exit::Success);
    }
    Err(taint::missing(session, &options, &address).into())
}
