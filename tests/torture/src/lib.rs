//! Kills the real executable, its providers, or both at random moments during applies, replacements, imports,
//! destroys and tests. After each kill, checks that nothing was lost or created twice and that no process is left.
//!
//! ```text
//!   another configuration ─► apply or destroy ─► killed ─► plan: recovers the killed run ─► compared with the ledger
//!        ▲                                                   └─ is killed, too, sometimes    of the remote system
//!        └──────────── the remote system's objects resolve what is uncertain ◄──────────────────┘
//! ```
//!
//! A killed test leaves files with its objects; they are compared with the ledger and destroyed (`testing.rs`).
//!
//! Start reading at [`Torture::run`]. The same seed produces the same configurations; the exact moment of a kill
//! depends on the machine.
//!
//! **Invariant:** each comparison is between the output of two programs: the provider writes the ledger, Mayfly
//! the state.
#![expect(
    clippy::disallowed_methods,
    reason = "it runs programs, sleeps and looks at files: that is what it is for"
)]

mod strike;
mod testing;
mod world;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::Path,
    time::{Duration, Instant},
};

use fastrand::Rng;
use serde_json::{Value, json};
use strike::Strike;
use world::{Ended, Outcome, World};

/// The maximal number of objects in a configuration.
const OBJECTS: usize = 6;

/// The statistics of a torture run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of killed runs.
    pub kills: usize,
    /// The number of runs that ended before their kill.
    pub too_late: usize,
    /// The number of applies among the killed runs.
    pub applies: usize,
    /// The number of destroys among the killed runs.
    pub destroys: usize,
    /// The number of tests among the killed runs.
    pub tests: usize,
    /// The number of objects that were removed from the state, to be imported again.
    pub released: usize,
    /// The number of killed commands that were to recover from an earlier kill.
    pub recoveries: usize,
    /// The number of runs that recovered provider answers from a journal.
    pub taken_over: usize,
    /// The number of uncertain objects that existed.
    pub adopted: usize,
    /// The number of uncertain objects that did not exist.
    pub gone: usize,
    /// The number of objects that the remote system created.
    pub made: usize,
    /// The number of kills of each kind.
    pub ways: BTreeMap<String, usize>,
    /// The longest time that a process outlived its run.
    pub longest: Duration,
}

impl Report {
    /// Adds the statistics of another run.
    pub fn add(&mut self, other: &Report) {
        let pairs = [
            (&mut self.kills, other.kills),
            (&mut self.too_late, other.too_late),
            (&mut self.applies, other.applies),
            (&mut self.destroys, other.destroys),
            (&mut self.tests, other.tests),
            (&mut self.released, other.released),
            (&mut self.recoveries, other.recoveries),
            (&mut self.taken_over, other.taken_over),
            (&mut self.adopted, other.adopted),
            (&mut self.gone, other.gone),
            (&mut self.made, other.made),
        ];
        for (sum, more) in pairs {
            *sum += more;
        }
        for (way, times) in &other.ways {
            *self.ways.entry(way.clone()).or_default() += times;
        }
        self.longest = self.longest.max(other.longest);
    }

    /// The statistics as JSON, which [`Report::from_json`] reads.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "tests": self.tests, "released": self.released,
            "kills": self.kills, "too_late": self.too_late, "applies": self.applies, "destroys": self.destroys,
            "recoveries": self.recoveries, "taken_over": self.taken_over, "adopted": self.adopted, "gone": self.gone,
            "made": self.made, "ways": self.ways, "longest_ms": self.longest.as_millis() as u64,
        })
    }

    /// Reads statistics from JSON; missing numbers are 0.
    #[must_use]
    pub fn from_json(figures: &Value) -> Report {
        let number = |name: &str| figures[name].as_u64().unwrap_or_default();
        let count = |name: &str| usize::try_from(number(name)).unwrap_or_default();
        let ways = figures["ways"].as_object().into_iter().flatten();
        let ways = ways.map(|(way, times)| {
            let times = times.as_u64().and_then(|it| usize::try_from(it).ok());
            (way.clone(), times.unwrap_or_default())
        });
        Report {
            kills: count("kills"),
            too_late: count("too_late"),
            applies: count("applies"),
            destroys: count("destroys"),
            tests: count("tests"),
            released: count("released"),
            recoveries: count("recoveries"),
            taken_over: count("taken_over"),
            adopted: count("adopted"),
            gone: count("gone"),
            made: count("made"),
            ways: ways.collect(),
            longest: Duration::from_millis(number("longest_ms")),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { kills, too_late, applies, destroys, tests, released, recoveries, .. } = self;
        let Report { taken_over, adopted, gone, made, .. } = self;
        write!(
            f,
            "{kills} kills ({applies} of apply, {destroys} of destroy, {tests} of test, \
             {recoveries} of what recovers), {too_late} too late; {made} objects made, \
             {released} to import again, \
             {taken_over} journals taken over, {} uncertain: {adopted} were there, {gone} were not; \
             no process lived on for more than {} ms",
            adopted + gone,
            self.longest.as_millis()
        )?;
        self.ways.iter().try_for_each(|(way, times)| write!(f, "; {times} {way}"))
    }
}

/// A torture run in a folder.
pub struct Torture {
    world: World,
    random: Rng,
    /// The usual duration of a run that is not killed.
    usual: Duration,
    /// The version of each object's name; each replacement increments it.
    versions: [usize; OBJECTS],
    /// True for each object whose address is `m1` instead of `s1`.
    is_moved: [bool; OBJECTS],
    /// True for each object that the configuration has.
    is_present: [bool; OBJECTS],
    /// The names of the objects that are not in the state and that the configuration imports.
    released: BTreeSet<String>,
    report: Report,
}

/// A run that was to be killed.
pub(crate) struct Run {
    /// False if it had ended before.
    pub(crate) was_killed: bool,
    pub(crate) ended: Ended,
}

impl Torture {
    /// Creates a torture run of an executable in an empty folder.
    #[must_use]
    pub fn new(program: &Path, folder: &Path, seed: u64) -> Torture {
        Torture {
            world: World::new(program, folder),
            random: Rng::with_seed(seed),
            usual: Duration::from_millis(500),
            versions: [0; OBJECTS],
            is_moved: [false; OBJECTS],
            is_present: [false; OBJECTS],
            released: BTreeSet::new(),
            report: Report::default(),
        }
    }

    /// Runs until the given number of kills.
    ///
    /// # Errors
    /// If an object is lost or created twice, or Mayfly cannot recover. The error describes the problem.
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
        if self.released.is_empty() && self.random.usize(..6) == 0 {
            return self.test();
        }
        let destroys = self.random.usize(..8) == 0;
        let arguments = if destroys { "destroy" } else { "apply" };
        if self.killed(&[arguments, "-auto-approve", "-input=false"])?.was_killed {
            *(if destroys { &mut self.report.destroys } else { &mut self.report.applies }) += 1;
        } else {
            self.report.too_late += 1;
        }
        if self.random.usize(..6) == 0 && self.killed(&["plan", "-input=false"])?.was_killed {
            self.report.recoveries += 1;
        }
        self.check()?;
        if self.random.usize(..5) == 0 {
            self.settle()?;
            if self.random.bool() {
                self.release()?;
            }
        }
        Ok(())
    }

    /// Removes an object from the state. The next configurations import it.
    fn release(&mut self) -> Result<(), String> {
        let index = self.random.usize(..OBJECTS);
        let name = self.name(index);
        let state = self.world.state()?;
        let of_address = state.keys().filter(|it| it.starts_with(&format!("s{index}-"))).count();
        if !self.is_present[index] || of_address != 1 || state.get(&name) != Some(&1) {
            return Ok(());
        }
        let address = format!("playground_secret.{}", self.label(index));
        let ended = self.world.run(&["state", "rm", &address])?;
        if ended.code != Some(0) {
            return Err(format!("state rm {address}:\n{}", ended.printed));
        }
        self.released.insert(name);
        self.report.released += 1;
        Ok(())
    }

    fn name(&self, index: usize) -> String {
        format!("s{index}-{}", self.versions[index])
    }

    fn label(&self, index: usize) -> String {
        format!("{}{index}", if self.is_moved[index] { "m" } else { "s" })
    }

    /// Starts a command and kills it at a random moment. Tells if it ended before the kill.
    fn killed(&mut self, arguments: &[&str]) -> Result<Run, String> {
        let longest = self.usual.as_micros() as usize * 11 / 10;
        let after = Duration::from_micros(self.random.usize(..longest.max(1)) as u64);
        let begun = Instant::now();
        let strike = Strike::random(&mut self.random);
        let struck = self.world.struck(arguments, after, strike);
        let what = format!("{strike} in {} after {after:?}", arguments.join(" "));
        let (ended, longer) = match struck.map_err(|wrong| format!("{what}: {wrong}"))? {
            Outcome::TooLate(ended) => {
                if ended.code != Some(0) && !ended.says_uncertain() {
                    return Err(format!("{} failed:\n{}", arguments.join(" "), ended.printed));
                }
                self.took(begun.elapsed());
                return Ok(Run { was_killed: false, ended });
            }
            Outcome::Struck(ended, longer) => (ended, longer),
        };
        // After a signal that can be handled, the run ends in order or had already ended; other signals give no
        // exit code.
        let is_in_order = matches!(ended.code, None | Some(0 | 1));
        if !is_in_order || ended.printed.contains("Mayfly crashed") {
            return Err(format!("{what}: code {:?}:\n{}", ended.code, ended.printed));
        }
        self.report.kills += 1;
        *self.report.ways.entry(strike.to_string()).or_default() += 1;
        self.report.longest = self.report.longest.max(longer);
        Ok(Run { was_killed: true, ended })
    }

    /// Updates the usual duration from a run that was not killed.
    fn took(&mut self, time: Duration) {
        self.usual = (self.usual * 3 + time) / 4;
    }

    /// Recovers with a plan, compares the state with the ledger, and resolves uncertain objects.
    fn check(&mut self) -> Result<(), String> {
        self.world.state()?;
        if self.world.has_journal() {
            self.report.taken_over += 1;
        }
        let ended = self.world.run(&["plan", "-input=false"])?;
        if ended.code != Some(0) && !ended.says_uncertain() {
            return Err(format!("plan failed:\n{}", ended.printed));
        }
        self.world.compare(&ended, &self.released)?;
        self.resolve(&ended)
    }

    fn resolve(&mut self, ended: &Ended) -> Result<(), String> {
        for address in ended.uncertain() {
            let ledger = self.world.ledger()?;
            let there = ledger.of_address(&address, &self.world.state()?);
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

    /// Applies without a kill, and checks that a plan then has no changes.
    fn settle(&mut self) -> Result<(), String> {
        let begun = Instant::now();
        let ended = self.world.run(&["apply", "-auto-approve", "-input=false"])?;
        self.took(begun.elapsed());
        if ended.code != Some(0) {
            return Err(format!("apply failed:\n{}", ended.printed));
        }
        let planned = self.world.run(&["plan", "-input=false", "-detailed-exitcode"])?;
        match planned.code {
            // Everything is imported now.
            Some(0) => self.released.clear(),
            _ => return Err(format!("not all was done:\n{}", planned.printed)),
        }
        self.world.compare(&planned, &self.released)
    }

    /// Writes another configuration: objects appear, disappear, move, change and are replaced in both orders.
    fn edit(&mut self) -> Result<(), String> {
        let (ledger, state) = (self.world.ledger()?, self.world.state()?);
        self.released.retain(|it| ledger.is_alive(it) && !state.contains_key(it));
        let mut text = String::from(HEAD);
        let mut earlier: Vec<String> = Vec::new();
        for index in 0..OBJECTS {
            let is_released = self.released.contains(&self.name(index));
            if self.random.usize(..5) == 0 && !is_released {
                self.versions[index] += 1;
            }
            self.is_present[index] = self.random.usize(..4) != 0 || is_released;
            if !self.is_present[index] {
                continue;
            }
            self.is_moved[index] ^= self.random.usize(..6) == 0;
            let (from, to) = if self.is_moved[index] { ("s", "m") } else { ("m", "s") };
            let name = self.name(index);
            if is_released {
                text += &format!(
                    "import {{\n  to = playground_secret.{to}{index}\n  id = \"{name}\"\n}}\n"
                );
            }
            let description = match earlier.last() {
                Some(other) if self.random.usize(..3) == 0 => {
                    format!("playground_secret.{other}.id")
                }
                _ => format!("\"{}\"", self.random.usize(..1000)),
            };
            text += &format!(
                "resource \"playground_secret\" \"{to}{index}\" {{\n  name             = \"${{var.prefix}}{name}\"\n  \
                 description      = {description}\n  value_wo         = \
                 ephemeral.playground_random.value.result\n  value_wo_version = {}\n  lifecycle {{\n    \
                 create_before_destroy = {}\n  }}\n}}\nmoved {{\n  from = playground_secret.{from}{index}\n  \
                 to   = playground_secret.{to}{index}\n}}\n",
                self.random.usize(..3),
                self.random.usize(..3) == 0
            );
            earlier.push(format!("{to}{index}"));
        }
        text += &format!(
            "resource \"terraform_data\" \"t\" {{\n  input            = {}\n  triggers_replace = {}\n  \
             provisioner \"local-exec\" {{\n    command = \"sleep 0.{}\"\n  }}\n}}\n",
            self.random.usize(..1000),
            self.random.usize(..3),
            self.random.usize(..3)
        );
        self.world.write(&text)
    }
}

const HEAD: &str = "terraform {\n  required_providers {\n    playground = { source = \
                    \"registry.opentofu.org/mayfly/playground\" }\n  }\n}\n\
                    variable \"prefix\" {\n  default = \"\"\n}\n\
                    ephemeral \"playground_random\" \"value\" {}\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torture_report_round_trips_and_adds() {
        let mut report = Report {
            kills: 3,
            made: 2,
            ways: [("KILL of both".to_owned(), 3)].into(),
            longest: Duration::from_millis(40),
            ..Report::default()
        };
        assert_eq!(Report::from_json(&report.to_json()), report);
        report.add(&report.clone());
        assert_eq!((report.kills, report.made, report.ways["KILL of both"]), (6, 4, 6));
        assert_eq!(report.longest, Duration::from_millis(40));
    }
}
