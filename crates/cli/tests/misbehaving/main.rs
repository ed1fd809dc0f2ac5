//! A plugin that misbehaves in all ways, and a table that tests each way with the plugin client, or with the real
//! executable if that matters. If a core starts this program, it is the plugin; otherwise it runs the table.
//!
//! The table writes `docs/plugins-that-misbehave.md`. An argument selects rows by a part of their way.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the tests look at processes, files and clocks, and say what they do"
)]

#[expect(dead_code, reason = "the rest of it is for the tests of commands")]
#[path = "../e2e/bench.rs"]
mod bench;
mod client;
mod command;
mod good;
mod matrix;
mod page;
mod plant;
mod rows;
mod serve;
mod ways;
mod wire;

use std::{
    path::Path,
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use expect_test::expect_file;

use crate::{
    page::{Found, page, place, settled},
    rows::{How, Row},
};

/// The page that the table writes.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/plugins-that-misbehave.md");
/// The number of concurrent rows. Most rows mainly wait.
const AT_ONCE: usize = 8;
/// The time limit of a row.
const BOUND: Duration = Duration::from_secs(25);
/// The start timeout for a plugin that never starts.
const IMPATIENT: Duration = Duration::from_millis(1500);
const PATIENT: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    if std::env::var_os("TF_PLUGIN_MAGIC_COOKIE").is_some() {
        return serve::main();
    }
    let wanted: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    if std::env::args().any(|it| it == "--list") {
        return ExitCode::SUCCESS;
    }
    let mut rows = rows::all();
    rows.retain(|row| wanted.is_empty() || wanted.iter().any(|it| row.way.contains(it.as_str())));
    println!("running {} ways of misbehaving", rows.len());
    let begun = Instant::now();
    let (mut found, mut wrong) = run_all(&rows);
    if wanted.is_empty() {
        again_alone(&mut found, &mut wrong);
    }
    for it in &wrong {
        println!("{it}");
    }
    println!("{} ways, {} wrong, in {:?}", found.len(), wrong.len(), begun.elapsed());
    if wanted.is_empty() {
        expect_file![PAGE].assert_eq(&page(&found));
    } else {
        println!("{}", page(&found));
    }
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs all rows concurrently. Returns their results in the order of the table, and the violations.
fn run_all(rows: &[Row]) -> (Vec<Found<'_>>, Vec<String>) {
    // The last rows take the longest, so they begin first.
    let last_first: Vec<&Row> = rows.iter().rev().collect();
    let mut done = parallel::map_on(AT_ONCE, &last_first, |row| run_row(row));
    done.reverse();
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    for (it, faults) in done {
        wrong.extend(faults);
        found.push(it);
    }
    (found, wrong)
}

/// The number of repetitions for a row whose result differs from the page.
const AGAIN: usize = 3;

/// Repeats rows whose result differs from the page, one at a time. Under load, either of two transport errors may
/// come first. A real difference occurs every time.
fn again_alone(found: &mut [Found<'_>], wrong: &mut Vec<String>) {
    let page = std::fs::read_to_string(PAGE).unwrap_or_default();
    let is_known = |found: &Found<'_>| page.lines().any(|it| it == page::line(found));
    for it in found.iter_mut().filter(|it| !is_known(it)) {
        for _ in 0..AGAIN {
            println!("again, alone: {} ({})", it.row.way, place(it.row));
            let (came, faults) = run_row(it.row);
            wrong.extend(faults);
            *it = came;
            if is_known(it) {
                break;
            }
        }
    }
}

fn run_row(row: &Row) -> (Found<'_>, Vec<String>) {
    let begun = Instant::now();
    let result = std::panic::catch_unwind(|| match &row.how {
        How::Start => started(row, client::Ask::Schemas, patience(row)),
        How::Call(ask) => started(row, *ask, PATIENT),
        How::Command(run) => command::run(row, *run),
    });
    let mut came = result.unwrap_or_else(|panic| command::Came {
        said: panic.downcast_ref::<String>().cloned().unwrap_or_default(),
        after: String::new(),
        wrong: vec!["it panicked".to_owned()],
    });
    let elapsed = begun.elapsed();
    if elapsed > BOUND {
        came.wrong.push(format!("it took {elapsed:?}"));
    }
    let wrong = came.wrong.iter().map(|it| format!("WRONG: {} ({}): {it}", row.way, place(row)));
    let wrong = wrong.collect();
    (Found { row, said: came.said, after: came.after }, wrong)
}

/// The start timeout of a row: short if the plugin never starts, otherwise long enough for a slow machine.
fn patience(row: &Row) -> Duration {
    if row.says_nothing() { IMPATIENT } else { PATIENT }
}

/// The message of the client about a row's plugin.
fn started(row: &Row, ask: client::Ask, patience: Duration) -> command::Came {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(plant::plant(folder.path(), row));
    command.stdin(Stdio::null());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let said = runtime.expect("a runtime").block_on(client::run(command, ask, patience));
    let mut wrong = after(folder.path());
    if said.contains("hunter2") {
        wrong.push("the secret is in what was said".to_owned());
    }
    if matches!(row.how, How::Call(_)) && !names_all(row, ask, &said) {
        wrong.push(format!("provider or call is not named: {said}"));
    }
    command::Came { said: settled(&said, folder.path()), after: String::new(), wrong }
}

/// Returns true if an error names the provider and the call. Diagnostics of the provider itself are shown
/// unchanged, because their caller adds the context.
fn names_all(row: &Row, ask: client::Ask, said: &str) -> bool {
    let is_its_own = row.way.contains("says") || row.way.starts_with("fails at an argument");
    let is_named = |it: &str| {
        ["GRPCProvider", "GRPCProvisioner"]
            .iter()
            .any(|kind| said.contains(&format!("(*{kind}).{it}")))
    };
    // The call for the identity schemas belongs to the request for schemas.
    let is_call_named = is_named(ask.named()) || is_named("GetResourceIdentitySchemas");
    let refused = !said.contains("(accepted)");
    is_its_own || !refused || (said.contains("example.com/tests/bad") && is_call_named)
}

/// The violations after the plugin was stopped.
pub(crate) fn after(root: &Path) -> Vec<String> {
    let left = plant::orphans(root);
    plant::bury(root);
    left.into_iter().map(|it| format!("a process is left: {it}")).collect()
}
