//! The commands `login` and `logout`.

use operations::{login, session::Failure};

use crate::{
    args::{LoginArgs, LogoutArgs},
    exit::Exit,
    session::CommandSession,
};

/// Runs `login`: obtains a token and stores it. JSON output has no place for questions.
pub(crate) fn run(session: &CommandSession, args: &LoginArgs) -> Result<Exit, Failure> {
    let may_ask = args.input && !args.json.json && session.may_ask();
    login::login(session, &args.host, may_ask)?;
    Ok(Exit::Success)
}

/// Runs `logout`: removes a stored token.
pub(crate) fn run_logout(session: &CommandSession, args: &LogoutArgs) -> Result<Exit, Failure> {
    login::logout(session, &args.host)?;
    Ok(Exit::Success)
}
