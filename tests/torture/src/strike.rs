//! A kill: its target and its signal.

use std::fmt;

use fastrand::Rng;
use rustix::process::Signal;

/// The processes to kill.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// Mayfly itself.
    Client,
    /// The providers.
    Provider,
    /// The providers, and Mayfly right after.
    Both,
}

/// The processes that receive a signal to Mayfly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reach {
    Process,
    /// The process group, as with a signal from a terminal.
    Group,
}

/// A kill.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strike {
    pub(crate) target: Target,
    pub(crate) reach: Reach,
    pub(crate) of_client: Signal,
    pub(crate) of_provider: Signal,
}

/// The signals to Mayfly.
const CLIENT: [(Signal, &str); 6] = [
    (Signal::KILL, "KILL"),
    (Signal::ABORT, "ABRT"),
    (Signal::HUP, "HUP"),
    (Signal::QUIT, "QUIT"),
    (Signal::TERM, "TERM"),
    (Signal::INT, "INT"),
];

/// The signals to providers. Other signals reach them through the process group.
const PROVIDER: [(Signal, &str); 3] =
    [(Signal::KILL, "KILL"), (Signal::ABORT, "ABRT"), (Signal::TERM, "TERM")];

impl Strike {
    /// Draws a random kill; three in five have Mayfly alone as their target.
    pub(crate) fn random(random: &mut Rng) -> Strike {
        let target = match random.usize(..5) {
            0 => Target::Provider,
            1 => Target::Both,
            _ => Target::Client,
        };
        let reach = if random.bool() { Reach::Process } else { Reach::Group };
        let of_client = CLIENT[random.usize(..CLIENT.len())].0;
        let of_provider = PROVIDER[random.usize(..PROVIDER.len())].0;
        Strike { target, reach, of_client, of_provider }
    }
}

impl fmt::Display for Strike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |signal: Signal| CLIENT.iter().find(|it| it.0 == signal).map_or("?", |it| it.1);
        match self.target {
            Target::Client => write!(f, "{} of the client", name(self.of_client)),
            Target::Provider => write!(f, "{} of the provider", name(self.of_provider)),
            Target::Both => write!(f, "{} of both", name(self.of_client)),
        }
    }
}
