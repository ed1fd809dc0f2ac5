//! Compares this program with the real `tofu`: the same arguments and the same output. `MAYFLY_TOFU` names the
//! executable. Without it, the tests print a note and check this program alone.

use std::{ffi::OsStr, io::Write};

use crate::bench::{Bench, Ended, Run};

/// A program under test.
#[derive(Clone)]
pub(crate) enum Program {
    Mayfly,
    Tofu(String),
}

/// Both programs, or only this one if `tofu` is not available.
pub(crate) fn programs() -> Vec<Program> {
    match std::env::var("MAYFLY_TOFU") {
        Ok(path) => vec![Program::Mayfly, Program::Tofu(path)],
        Err(_) => {
            // Write to stderr directly: the test harness captures the output of print macros.
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

    /// A command in `folder`, without colors and without the configuration file of the machine.
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

/// The words of an output, with the names of this program and without line breaks.
pub(crate) fn words(text: &str) -> String {
    let text = text.replace("OpenTofu", "Mayfly").replace("tofu", "mayfly");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words of stdout and of stderr.
pub(crate) fn both_streams(ended: &Ended) -> (String, String) {
    (words(&ended.out), words(&ended.err))
}
