//! The exit codes of all commands.

use std::process::ExitCode;

/// The result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0
    Success,
    /// 1: the command failed.
    Failure,
    /// 2: `plan -detailed-exitcode` found changes.
    Changes,
    /// 2: `fmt` could not format a file.
    NotFormatted,
    /// 3: `fmt -check` found a file that is not formatted.
    Unformatted,
    /// 11, the exit code of OpenTofu for a panic.
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
