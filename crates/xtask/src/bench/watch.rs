//! Measures `watch`: the time from saving a file to the new plan. The output stream is checked.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value as Json;
use wait4::Wait4 as _;

use super::{
    Place, budget,
    options::Options,
    report::{Measured, Row},
    tool::{self, Usage},
    workload::{Kind, Workload},
};

/// The title of the rows.
const TITLE: &str = "watch: one-line edit to new plan";

/// The number of edits for each run of a command; an edit takes little time.
const EDITS_PER_RUN: usize = 7;

/// The time limit of a plan.
const PATIENCE: Duration = Duration::from_secs(120);

/// Measures every selected size.
///
/// # Errors
/// Returns an error if the watcher does not report the plan that the edit requires.
pub(crate) fn measure(options: &Options, place: &Place) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (kind, title) in
        [(Kind::Builtin, TITLE.to_owned()), (Kind::Playground, format!("{TITLE}, over a plugin"))]
    {
        for &size in options.sizes.iter().filter(|_| options.wants(&title)) {
            if kind == Kind::Playground && size > 1_000 {
                continue;
            }
            println!("measuring {title} at {size} …");
            let usages = edits(place, kind, size, options.runs * EDITS_PER_RUN)?;
            let figures = vec![Measured::median(&place.mayfly.name, &usages)];
            rows.push(Row::new(title.clone(), size, figures, budget::of_watch(kind, size)));
        }
    }
    Ok(rows)
}

/// Returns the time from each save to the end of its plan. The processor time is the duration that the watcher
/// reports.
fn edits(place: &Place, kind: Kind, size: usize, count: usize) -> Result<Vec<Usage>> {
    let folder = place.work.join(format!("watch-{}-{size}", kind.resource_type()));
    let workload = Workload::write(folder, kind, size)?;
    let configuration = workload.folder.join("cli.tfrc");
    fs::write(&configuration, kind.overrides(&place.plugins))?;
    tool::forget_own_peak();
    let mut child = Command::new(&place.mayfly.program)
        .args(["watch", "-json"])
        .current_dir(&workload.folder)
        .env("TF_CLI_CONFIG_FILE", &configuration)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("failed to start {}", place.mayfly.program.display()))?;
    let out = child.stdout.take().context("stdout is piped")?;
    let stream = Stream::read(out);
    let result = follow(&stream, &workload, count);
    // End the watcher as Ctrl-C does, even after a failed measurement, so that it does not keep running.
    let ended = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    let ended = ended.context("failed to end the watcher").and_then(|_| Ok(child.wait4()?))?;
    let mut usages = result?;
    ensure!(ended.status.success(), "the watcher ended with {:?}", ended.status.code());
    usages.iter_mut().for_each(|it| it.bytes = ended.rusage.maxrss);
    Ok(usages)
}

fn follow(stream: &Stream, workload: &Workload, count: usize) -> Result<Vec<Usage>> {
    let first = stream.plan()?;
    ensure!(first.finished["ok"] == true, "the first plan failed: {}", first.problems.join("\n"));
    let mut usages = Vec::new();
    for round in 0..count {
        // Each round edits another resource in another file.
        let index = (round * 337 + 5) % workload.resources;
        let path = workload.file_of(index);
        let text = edited(&path, workload.kind, index, round)?;
        let saved = Instant::now();
        fs::write(&path, text)?;
        let plan = stream.plan()?;
        let wall = plan.at - saved;
        assert(&plan, workload, index)?;
        let own = plan.finished["duration_ms"].as_f64().context("there is no duration")?;
        let cpu = Duration::from_secs_f64(own / 1000.0);
        usages.push(Usage { wall, cpu, bytes: 0 });
    }
    Ok(usages)
}

/// Returns the file with another value for one local value that is visible in a plan. In the playground this is
/// the name, because the text is write-only.
fn edited(path: &Path, kind: Kind, index: usize, round: usize) -> Result<String> {
    let text = fs::read_to_string(path)?;
    let key = match kind {
        Kind::Builtin => format!("  text_{index} = upper(\""),
        Kind::Playground | Kind::Fleet => format!("  name_{index} = \""),
    };
    let (before, after) = text.split_once(&key).context("the local is not there")?;
    Ok(format!("{before}{key}{round} {after}"))
}

/// Checks that the plan reflects the edit: as many changes as before, and only the edited one differs.
fn assert(plan: &Finished, workload: &Workload, index: usize) -> Result<()> {
    let address = format!("{}.item_{index}", workload.kind.resource_type());
    ensure!(plan.finished["ok"] == true, "the plan failed: {}", plan.problems.join("\n"));
    ensure!(
        plan.finished["since_last"]["changed"] == serde_json::json!([address]),
        "not {address} alone changed: {}",
        plan.finished
    );
    ensure!(plan.adds == Some(workload.resources as u64), "{:?} are to be added", plan.adds);
    ensure!(plan.changed == [address], "planned are {:?}", plan.changed);
    Ok(())
}

/// The report of one plan in the stream.
struct Finished {
    at: Instant,
    finished: Json,
    adds: Option<u64>,
    changed: Vec<String>,
    problems: Vec<String>,
}

/// The lines of a watcher, each with the time of its arrival.
struct Stream {
    lines: Receiver<(Instant, String)>,
}

impl Stream {
    fn read(out: impl std::io::Read + Send + 'static) -> Stream {
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if sender.send((Instant::now(), line)).is_err() {
                    return;
                }
            }
        });
        Stream { lines }
    }

    /// Reads up to the end of the next plan.
    fn plan(&self) -> Result<Finished> {
        let (mut adds, mut changed, mut problems) = (None, Vec::new(), Vec::new());
        loop {
            let (at, line) = match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => bail!("no plan came in {PATIENCE:?}"),
                Err(RecvTimeoutError::Disconnected) => bail!("the watcher ended"),
            };
            let line: Json = serde_json::from_str(&line)?;
            match line["type"].as_str() {
                Some("planned_change") => {
                    let address = line["change"]["resource"]["addr"].as_str();
                    changed.push(address.context("has an address")?.to_owned());
                }
                Some("diagnostic") => problems.push(line["diagnostic"].to_string()),
                Some("change_summary") => adds = line["changes"]["add"].as_u64(),
                Some("plan_finished") => {
                    return Ok(Finished { at, finished: line, adds, changed, problems });
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bench_reads_a_watch_plan_and_refuses_a_wrong_one() {
        let text = concat!(
            r#"{"type":"plan_started"}"#,
            "\n",
            r#"{"type":"planned_change","change":{"resource":{"addr":"terraform_data.item_3"}}}"#,
            "\n",
            r#"{"type":"change_summary","changes":{"add":5}}"#,
            "\n",
            r#"{"type":"plan_finished","ok":true,"since_last":{"changed":["terraform_data.item_3"]}}"#,
            "\n"
        );
        let plan = Stream::read(text.as_bytes()).plan().expect("is whole");
        let folder = tempfile::tempdir().expect("a folder");
        let workload =
            Workload::write(folder.path().join("w"), Kind::Builtin, 5).expect("is written");
        assert(&plan, &workload, 3).expect("is right");
        assert(&plan, &workload, 2).expect_err("is of another resource");
        for (kind, expected) in [
            (Kind::Builtin, "text_3 = upper(\"0 ${local.name_3}"),
            (Kind::Playground, "name_3 = \"0 ${var.name}"),
        ] {
            let workload = Workload::write(folder.path().join("w"), kind, 5).expect("is written");
            let text = edited(&workload.file_of(3), kind, 3, 0).expect("is there");
            assert!(text.contains(expected), "{text}");
        }
    }
}
