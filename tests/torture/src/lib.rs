//! Kills the real executable at random moments while it applies, replaces and destroys, and looks after each kill whether
//! anything was lost or made twice.
//!
//! ```text
//!   another configuration ─► apply or destroy ─► killed ─► plan: takes over what the killed run left ─► held against the ledger
//!        ▲                                                   └─ is killed, too, now and then            of the remote system
//!        └──────────── what is uncertain is resolved by what the remote system knows ◄──────────────────────────┘
//! ```
//!
//! Start reading at [`Torture::run`]. The same seed makes the same configurations; at which instruction a kill comes is up to
//! the machine.
//!
//! **Invariant:** what is held against each other was written by two programs: the ledger is the provider's.
#![expect(
    clippy::disallowed_methods,
    reason = "it runs programs, sleeps and looks at files: that is what it is for"
)]

mod world;

use std::{
    fmt,
    path::Path,
    time::{Duration, Instant},
};

use fastrand::Rng;
use world::{Ended, World};

/// Objects that a configuration may have.
const OBJECTS: usize = 6;

/// What happened in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Runs that were killed.
    pub kills: usize,
    /// Runs that ended before their kill came.
    pub too_late: usize,
    /// Applies among the killed runs.
    pub applies: usize,
    /// Destroys among them.
    pub destroys: usize,
    /// Commands that were to take over what a killed run left, and were killed too.
    pub recoveries: usize,
    /// Runs that had answers to take over from a journal.
    pub taken_over: usize,
    /// Objects that a killed run left uncertain and that were there.
    pub adopted: usize,
    /// Those that were not.
    pub gone: usize,
    /// Objects that the remote system made.
    pub made: usize,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { kills, too_late, applies, destroys, recoveries, .. } = self;
        let Report { taken_over, adopted, gone, made, .. } = self;
        write!(
            f,
            "{kills} kills ({applies} of apply, {destroys} of destroy, {recoveries} of what recovers), {too_late} too late; \
             {made} objects made, {taken_over} journals taken over, {} uncertain: {adopted} were there, {gone} were not",
            adopted + gone
        )
    }
}

/// A place where things are made and killed.
pub struct Torture {
    world: World,
    random: Rng,
    /// How long a run takes that nobody kills.
    usual: Duration,
    /// The name of each object, which is another after each replacement.
    versions: [usize; OBJECTS],
    report: Report,
}

impl Torture {
    /// One in an empty folder, with the executable that is tortured.
    #[must_use]
    pub fn new(program: &Path, folder: &Path, seed: u64) -> Torture {
        Torture {
            world: World::new(program, folder),
            random: Rng::with_seed(seed),
            usual: Duration::from_millis(500),
            versions: [0; OBJECTS],
            report: Report::default(),
        }
    }

    /// Kills so many runs.
    ///
    /// # Errors
    /// What was lost, made twice, or cannot be gone on from.
    pub fn run(&mut self, kills: usize) -> Result<Report, String> {
        self.edit()?;
        self.settle()?;
        while self.report.kills < kills {
            self.round().map_err(|wrong| format!("after {}: {wrong}", self.report))?;
        }
        self.edit()?;
        self.settle()?;
        self.report.made = self.world.ledger()?.made;
        Ok(self.report.clone())
    }

    fn round(&mut self) -> Result<(), String> {
        self.edit()?;
        let destroys = self.random.usize(..8) == 0;
        let arguments = if destroys { "destroy" } else { "apply" };
        if self.killed(&[arguments, "-auto-approve", "-input=false"])? {
            self.report.kills += 1;
            *(if destroys { &mut self.report.destroys } else { &mut self.report.applies }) += 1;
        } else {
            self.report.too_late += 1;
        }
        if self.random.usize(..6) == 0 && self.killed(&["plan", "-input=false"])? {
            self.report.kills += 1;
            self.report.recoveries += 1;
        }
        self.check()?;
        if self.random.usize(..5) == 0 { self.settle() } else { Ok(()) }
    }

    /// Starts a command and kills it at some moment. Gives whether it was still running.
    fn killed(&mut self, arguments: &[&str]) -> Result<bool, String> {
        let longest = self.usual.as_micros() as usize * 11 / 10;
        let after = Duration::from_micros(self.random.usize(..longest.max(1)) as u64);
        let begun = Instant::now();
        let ended = self.world.killed_after(arguments, after)?;
        if let Some(ended) = ended {
            if ended.code != Some(0) && !ended.says_uncertain() {
                return Err(format!("{} failed:\n{}", arguments.join(" "), ended.printed));
            }
            self.took(begun.elapsed());
            return Ok(false);
        }
        self.world.wait_for_providers()?;
        Ok(true)
    }

    /// A run that was not killed says how long the next ones take.
    fn took(&mut self, time: Duration) {
        self.usual = (self.usual * 3 + time) / 4;
    }

    /// Lets a command take over what was left, holds everything against the ledger, and resolves what is uncertain.
    fn check(&mut self) -> Result<(), String> {
        self.world.state()?;
        if self.world.has_journal() {
            self.report.taken_over += 1;
        }
        let ended = self.world.run(&["plan", "-input=false"])?;
        if ended.code != Some(0) && !ended.says_uncertain() {
            return Err(format!("plan failed:\n{}", ended.printed));
        }
        self.world.compare(&ended)?;
        self.resolve(&ended)
    }

    fn resolve(&mut self, ended: &Ended) -> Result<(), String> {
        for address in ended.uncertain() {
            let ledger = self.world.ledger()?;
            let there = ledger.of_address(&address);
            let arguments = match &there {
                Some(name) => vec!["state", "adopt", &address, name],
                None => vec!["state", "adopt", "-gone", &address],
            };
            let resolved = self.world.run(&arguments)?;
            if resolved.code != Some(0) {
                return Err(format!("{}:\n{}", arguments.join(" "), resolved.printed));
            }
            *(if there.is_some() { &mut self.report.adopted } else { &mut self.report.gone }) += 1;
        }
        Ok(())
    }

    /// Lets a run come to its end; all is as the configuration says then.
    fn settle(&mut self) -> Result<(), String> {
        let begun = Instant::now();
        let ended = self.world.run(&["apply", "-auto-approve", "-input=false"])?;
        self.took(begun.elapsed());
        if ended.code != Some(0) {
            return Err(format!("apply failed:\n{}", ended.printed));
        }
        let planned = self.world.run(&["plan", "-input=false", "-detailed-exitcode"])?;
        match planned.code {
            Some(0) => self.world.compare(&planned),
            _ => Err(format!("not all was done:\n{}", planned.printed)),
        }
    }

    /// Writes another configuration: objects come, go, change and are replaced.
    fn edit(&mut self) -> Result<(), String> {
        let mut text = String::from(HEAD);
        let mut earlier: Vec<usize> = Vec::new();
        for index in 0..OBJECTS {
            if self.random.usize(..5) == 0 {
                self.versions[index] += 1;
            }
            if self.random.usize(..4) == 0 {
                continue;
            }
            let name = format!("s{index}-{}", self.versions[index]);
            let description = match earlier.last() {
                Some(other) if self.random.usize(..3) == 0 => {
                    format!("playground_secret.s{other}.id")
                }
                _ => format!("\"{}\"", self.random.usize(..1000)),
            };
            text += &format!(
                "resource \"playground_secret\" \"s{index}\" {{\n  name             = \"{name}\"\n  description      = {description}\n  \
                 value_wo         = ephemeral.playground_random.value.result\n  value_wo_version = {}\n}}\n",
                self.random.usize(..3)
            );
            earlier.push(index);
        }
        text += &format!(
            "resource \"terraform_data\" \"t\" {{\n  input            = {}\n  triggers_replace = {}\n}}\n",
            self.random.usize(..1000),
            self.random.usize(..3)
        );
        self.world.write(&text)
    }
}

const HEAD: &str = "terraform {\n  required_providers {\n    playground = { source = \"registry.opentofu.org/mayfly/playground\" }\n  }\n}\n\
                    ephemeral \"playground_random\" \"value\" {}\n";
