//! How many examples came how far, and how many of them equally.

use std::{collections::BTreeSet, fmt};

use super::{
    judge::Differences,
    record::{Record, TIMED_OUT},
};

/// The counts over all examples.
#[derive(Default)]
pub(crate) struct Figures {
    modules: BTreeSet<String>,
    equal: usize,
    explained: usize,
    different: usize,
    not_installed: usize,
    not_planned: usize,
    planned: usize,
    not_applied: usize,
    applied: usize,
    destroyed: usize,
}

impl Figures {
    /// Counts one example, and prints how far the reference came and what differs.
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
        } else if differences.explained().is_empty() {
            self.equal += 1;
            "equal"
        } else {
            self.explained += 1;
            "explained"
        };
        print!("  {verdict}: {name} ({})\n{differences}", reached.join(", "));
    }

    /// The examples with a difference that nothing explains.
    pub(crate) fn different(&self) -> usize {
        self.different
    }

    fn reached(&mut self, reference: &Record) {
        let count = |figure: &mut usize, is_so: bool| *figure += usize::from(is_so);
        let exit = |command| reference.exit(command);
        count(&mut self.not_installed, exit("init") != Some(0));
        count(&mut self.not_planned, exit("init") == Some(0) && exit("plan") != Some(0));
        count(&mut self.planned, exit("plan") == Some(0));
        count(&mut self.applied, exit("apply") == Some(0));
        count(&mut self.not_applied, matches!(exit("apply"), Some(1 | TIMED_OUT)));
        count(&mut self.destroyed, exit("destroy") == Some(0));
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures { equal, explained, different, .. } = self;
        writeln!(
            f,
            "{} examples of {} modules: {equal} equal, {explained} explained, {different} different",
            equal + explained + different,
            self.modules.len(),
        )?;
        write!(
            f,
            "by the reference: {} not installed, {} not planned, {} planned; {} not applied, {} applied, {} destroyed",
            self.not_installed,
            self.not_planned,
            self.planned,
            self.not_applied,
            self.applied,
            self.destroyed,
        )
    }
}
