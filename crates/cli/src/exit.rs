//! Exit codes, all of them.

use std::process::ExitCode;

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0
    Success,
    /// 1: what was asked could not be done.
    Failure,
    /// 2: `plan -detailed-exitcode` found changes.
    Changes,
    /// 2: `fmt` could not format something.
    NotFormatted,
    /// 3: `fmt -check` found what is not formatted.
    Unformatted,
    /// 11, as the reference's for a panic.
    Crash,
    /// 127: no command was given.
    NoCommand,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Success => 0,
            Exit::Failure => 1,
            Exit::Changes | Exit::NotFormatted => 2,
            Exit::Unformatted => 3,
            Exit::Crash => 11,
            Exit::NoCommand => 127,
        })
    }
}
