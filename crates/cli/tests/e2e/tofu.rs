//! The real `tofu` beside this program: the same arguments, the same words. `MAYFLY_TOFU` names it; without it the tests say
//! what they skip, and check this program alone.

use std::{ffi::OsStr, io::Write};

use crate::bench::{Bench, Ended, Run};

/// A program under test.
#[derive(Clone)]
pub(crate) enum Program {
    Mayfly,
    Tofu(String),
}

/// Both programs, or this one alone.
pub(crate) fn programs() -> Vec<Program> {
    match std::env::var("MAYFLY_TOFU") {
        Ok(path) => vec![Program::Mayfly, Program::Tofu(path)],
        Err(_) => {
            // Not by a macro whose output the test harness keeps: a person has to see it.
            let _ = writeln!(std::io::stderr(), "skipped in part: MAYFLY_TOFU is not set");
            vec![Program::Mayfly]
        }
    }
}

impl Program {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Program::Mayfly => "mayfly",
            Program::Tofu(_) => "tofu",
        }
    }

    /// A command in `folder`, without colours and without a configuration file of the machine.
    pub(crate) fn run<S: AsRef<OsStr>>(
        &self,
        bench: &Bench,
        folder: &str,
        arguments: impl IntoIterator<Item = S>,
    ) -> Run {
        match self {
            Program::Mayfly => bench.mayfly(folder, arguments),
            Program::Tofu(path) => bench.program(path, folder, arguments),
        }
        .env("TF_CLI_ARGS", "-no-color")
    }
}

/// The words of an output, with this program's names and without its line breaks.
pub(crate) fn words(text: &str) -> String {
    let text = text.replace("OpenTofu", "Mayfly").replace("tofu", "mayfly");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words of stdout and of stderr.
pub(crate) fn both_streams(ended: &Ended) -> (String, String) {
    (words(&ended.out), words(&ended.err))
}
