//! Counts the examples by the last command that succeeded, and those with equal results.

use std::{collections::BTreeSet, fmt};

use super::{
    judge::Differences,
    record::{Record, TIMED_OUT},
};

/// The counts over all examples. An example is equal if all its commands have equal results. Examples that the
/// reference cannot plan count separately, because only their errors are compared.
#[derive(Default)]
pub(crate) struct Figures {
    modules: BTreeSet<String>,
    equal: usize,
    explained: usize,
    different: usize,
    /// A provider is missing, or a source cannot be reached.
    not_installed: usize,
    /// The example or the local API lacks something.
    not_planned: usize,
    planned: usize,
    not_applied: usize,
    applied: usize,
    destroyed: usize,
}

impl Figures {
    /// Counts one example. Prints the exit codes of the reference's commands, and the differences.
    pub(crate) fn add(&mut self, name: &str, reference: &Record, differences: &Differences) {
        self.modules.insert(name.split(": ").next().unwrap_or(name).to_owned());
        self.reached(reference);
        let reached: Vec<String> = reference
            .commands
            .iter()
            .map(|it| format!("{} {}", it.command, it.exit.unwrap_or(-1)))
            .collect();
        let verdict = if !differences.is_empty() {
            self.different += 1;
            "DIFFERENT"
        } else if reference.exit("init") != Some(0) {
            self.not_installed += 1;
            "not installed"
        } else if reference.exit("plan") != Some(0) {
            self.not_planned += 1;
            "not planned"
        } else if differences.explained().is_empty() {
            self.equal += 1;
            "equal"
        } else {
            self.explained += 1;
            "explained"
        };
        print!("  {verdict}: {name} ({})\n{differences}", reached.join(", "));
    }

    /// Returns the number of examples with an unexplained difference.
    pub(crate) fn different(&self) -> usize {
        self.different
    }

    fn reached(&mut self, reference: &Record) {
        let count = |figure: &mut usize, is_so: bool| *figure += usize::from(is_so);
        let exit = |command| reference.exit(command);
        count(&mut self.planned, exit("plan") == Some(0));
        count(&mut self.applied, exit("apply") == Some(0));
        count(&mut self.not_applied, matches!(exit("apply"), Some(1 | TIMED_OUT)));
        count(&mut self.destroyed, exit("destroy") == Some(0));
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures { equal, explained, different, not_installed, not_planned, .. } = self;
        writeln!(
            f,
            "{} examples of {} modules: {equal} planned equally, {explained} but for what is \
             explained, {different} different; {not_planned} fail to plan equally, {not_installed} cannot be installed",
            equal + explained + different + not_planned + not_installed,
            self.modules.len(),
        )?;
        write!(
            f,
            "by the reference: {} planned; {} applied, {} not applied, {} destroyed",
            self.planned, self.applied, self.not_applied, self.destroyed,
        )
    }
}
