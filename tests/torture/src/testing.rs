//! Kills of `mayfly test`: the objects of a killed test are in files beside the configuration.

use std::collections::BTreeSet;

use crate::{Torture, world::Ended};

/// A test that creates the objects of the configuration under other names, and then replaces them.
const TEST: &str = "variables {\n  prefix = \"t-\"\n}\nrun \"first\" {}\nrun \"second\" {\n  variables {\n    \
                    prefix = \"u-\"\n  }\n}\n";

/// A test that changes nothing.
const IDLE: &str = "run \"idle\" {\n  command = plan\n}\n";

/// The most attempts to destroy what a test left, each after uncertain objects were resolved.
const ATTEMPTS: usize = 3;

impl Torture {
    /// Kills a test, lets the next one find what it left, compares that with the ledger, and destroys it.
    pub(crate) fn test(&mut self) -> Result<(), String> {
        self.world.write_file("killed.tftest.hcl", TEST)?;
        self.world.write_file("idle.tftest.hcl", IDLE)?;
        let run = self.killed(&["test", "-filter=killed.tftest.hcl"])?;
        if run.was_killed {
            self.report.tests += 1;
        } else {
            self.report.too_late += 1;
        }
        let ended = self.world.run(&["test", "-filter=idle.tftest.hcl"])?;
        if ended.code != Some(0) && !ended.says_uncertain() {
            return Err(format!("the next test failed:\n{}", ended.printed));
        }
        self.compare_tests(&run.ended, &ended)?;
        for file in self.world.left_states()? {
            self.clean_up(&file)?;
        }
        match self.world.ledger()?.of_tests().next() {
            None => Ok(()),
            Some(name) => Err(format!("{name} is left after all was destroyed")),
        }
    }

    /// Checks that each object of a test is in exactly one file, or reported as uncertain: by the test itself, if only
    /// its provider was killed, or by the next test.
    fn compare_tests(&self, killed: &Ended, ended: &Ended) -> Result<(), String> {
        let files = self.world.left_states()?;
        let states =
            files.iter().map(|it| self.world.state_in(it)).collect::<Result<Vec<_>, _>>()?;
        let by_itself = killed.uncertain();
        let by_itself = by_itself.iter().filter_map(|it| it.strip_prefix("playground_secret."));
        let by_the_next = ended.printed.lines().filter_map(|it| {
            it.split_once("- playground_secret.")?.1.strip_suffix(", if it was created")
        });
        let uncertain: BTreeSet<&str> =
            by_itself.chain(by_the_next).filter_map(|it| it.get(1..)).collect();
        for name in self.world.ledger()?.of_tests() {
            let times: usize = states.iter().filter_map(|it| it.get(name)).sum();
            let index = name.get(3..).and_then(|it| it.split('-').next()).unwrap_or_default();
            match times {
                1 => {}
                0 if uncertain.contains(index) => {}
                times => {
                    return Err(format!(
                        "{name} of a test is in {times} files, and not uncertain:\n{}",
                        ended.printed
                    ));
                }
            }
        }
        Ok(())
    }

    /// Destroys the objects in a file that a test left, and removes the file.
    fn clean_up(&mut self, file: &str) -> Result<(), String> {
        let state = format!("-state={file}");
        let mut printed = String::new();
        for _ in 0..ATTEMPTS {
            let ended = self.world.run(&["destroy", "-auto-approve", "-input=false", &state])?;
            let uncertain = ended.uncertain();
            if ended.code == Some(0) && uncertain.is_empty() {
                return self.world.remove_state(file);
            }
            for address in uncertain {
                let there = self.world.ledger()?.of_test(&address, &self.world.state_in(file)?);
                let resolved = match &there {
                    Some(name) => self.world.run(&["state", "adopt", &state, &address, name])?,
                    None => self.world.run(&["state", "adopt", &state, "-gone", &address])?,
                };
                if resolved.code != Some(0) {
                    return Err(format!("state adopt {state} {address}:\n{}", resolved.printed));
                }
                *(if there.is_some() {
                    &mut self.report.adopted
                } else {
                    &mut self.report.gone
                }) += 1;
            }
            printed = ended.printed;
        }
        Err(format!("{file} cannot be destroyed:\n{printed}"))
    }
}
