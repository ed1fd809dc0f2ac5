//! One plugin that misbehaves in every way, and one table that meets every way: through the client, and through the real
//! executable where that is what matters. Called by a core, this program is the plugin; else it runs the table.
//!
//! The table writes `docs/plugins-that-misbehave.md`. An argument chooses rows by a part of their way.

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
mod page;
mod plant;
mod rows;
mod serve;
mod ways;
mod wire;

use std::{
    path::Path,
    process::{Command, ExitCode, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use expect_test::expect_file;

use crate::{
    page::{Found, page, place, settled},
    rows::{How, Row},
};

/// What the table writes.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/plugins-that-misbehave.md");
/// How many rows run at once: most wait more than they work.
const AT_ONCE: usize = 8;
/// No row may take longer.
const BOUND: Duration = Duration::from_secs(25);
/// How long a plugin that does not start is waited for here.
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

/// Runs all rows, several at once; what they said in the order of the table, and what is wrong.
fn run_all(rows: &[Row]) -> (Vec<Found<'_>>, Vec<String>) {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    // Those at the end wait the longest, so they begin first.
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(row) = rows.len().checked_sub(index + 1).map(|it| &rows[it]) else {
                        return;
                    };
                    let result = run_row(row);
                    done.lock()
                        .expect("no row panics while it holds this")
                        .push((rows.len() - index, result));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no row panics while it holds this");
    done.sort_by_key(|(index, _)| *index);
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    for (_, (it, faults)) in done {
        wrong.extend(faults);
        found.push(it);
    }
    (found, wrong)
}

/// How often a row that says something else than the page is run again.
const AGAIN: usize = 3;

/// Which of two errors of a transport comes first can depend on who else is at work: a row that says something else than
/// the page must say it alone, too, and every time.
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

/// What never starts need not be waited for long; what fails for another reason should not fail for being slow.
fn patience(row: &Row) -> Duration {
    if row.says_nothing() { IMPATIENT } else { PATIENT }
}

/// What the client says of a row's plugin.
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

/// Whether an error says which provider and which call it was. What a provider says itself is shown as it is: whoever shows
/// it knows what it is about.
fn names_all(row: &Row, ask: client::Ask, said: &str) -> bool {
    let is_its_own = row.way.contains("says") || row.way.starts_with("fails at an argument");
    let is_named = |it: &str| said.contains(&format!("(*GRPCProvider).{it}"));
    // A second call for the schemas belongs to the first.
    let is_call_named = is_named(ask.named()) || is_named("GetResourceIdentitySchemas");
    let refused = !said.contains("(accepted)");
    is_its_own || !refused || (said.contains("example.com/tests/bad") && is_call_named)
}

/// What is wrong once the plugin was let go.
pub(crate) fn after(root: &Path) -> Vec<String> {
    let left = plant::orphans(root);
    plant::bury(root);
    left.into_iter().map(|it| format!("a process is left: {it}")).collect()
}
