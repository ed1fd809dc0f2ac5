//! Definitions of commands that are only created when the command is run.

use std::ops::{Deref, DerefMut};

use clap::{ArgMatches, Args, Command, FromArgMatches, builder::Resettable};

use super::flags;

/// The arguments of a command that has no subcommands. Their definition is created when clap parses the command, or
/// builds the whole definition for help and completion.
///
/// To create the arguments of all commands would take a process 0.7 milliseconds more, of 2.4 for `mayfly version`.
#[derive(Default)]
pub(crate) struct Deferred<A>(pub(crate) A);

impl<A> Deref for Deferred<A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.0
    }
}

impl<A> DerefMut for Deferred<A> {
    fn deref_mut(&mut self) -> &mut A {
        &mut self.0
    }
}

impl<A: FromArgMatches> FromArgMatches for Deferred<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Deferred<A>, clap::Error> {
        A::from_arg_matches(matches).map(Deferred)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<A: Args> Args for Deferred<A> {
    fn augment_args(command: Command) -> Command {
        command.defer(define::<A>)
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(define::<A>)
    }
}

/// Adds the arguments to a command, whose description stays: clap would replace it with that of the arguments.
fn define<A: Args>(command: Command) -> Command {
    let (about, long_about) = (command.get_about().cloned(), command.get_long_about().cloned());
    let command = flags::with_valued_flags(A::augment_args(command));
    flags::with_refused_flags(command)
        .about(Resettable::from(about))
        .long_about(Resettable::from(long_about))
}
