//! Measures `lsp`: the time from a keystroke to its diagnostics, over standard input and output, and the server's
//! memory.
//!
//! ```text
//!  typing ── text and what is wrong with it ──► editor ── didChange ──► server
//!                                                 ▲                        │
//!                          asserted, and timed ───┴──── publishDiagnostics ◄
//! ```
//!
//! **Invariant:** everything that the server publishes is compared with the expected diagnostics. Wrong
//! diagnostics, repeated ones, and diagnostics of a file that was not touched fail the bench.

use std::{
    fs,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use editor::{Editor, Published};
use serde_json::{Value as Json, json};
use wait4::Wait4 as _;

use super::{
    Place,
    budget::{self, Lsp},
    options::Options,
    report::{Measured, Row},
    tool,
    typing::{self, Problem, Random, State},
    workload::{Kind, Workload, item},
};

/// The number of keystrokes for the percentiles.
const KEYS: usize = 1_000;
/// The number of keystrokes after which memory must stop growing, and the number after which it is measured again.
const FEW_KEYS: usize = 1_000;
const MANY_KEYS: usize = 100_000;
/// The number of files that are open at once.
const OPEN: usize = 5;
/// The longest pause between two keystrokes, in microseconds. It is so short that a keystroke can interrupt every
/// stage of the work on the whole module.
const LONGEST_PAUSE: usize = 20_000;
/// The file that is never opened. It refers to every resource whose number has this remainder.
const CLOSED: &str = "uses.tf";
const USED: (usize, usize) = (100, 7);
/// Larger sizes are measured only if the options select them.
const LARGE: usize = 100_000;
/// The largest size for the measurements of memory and of a configuration in a single file, since larger sizes
/// give no new insight.
const LARGEST_FILE: usize = 5_000;

/// Measures every selected size.
///
/// # Errors
/// Returns an error if the server does not publish the expected diagnostics.
pub(crate) fn measure(options: &Options, place: &Place) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let large = options.large.then_some(LARGE);
    let sizes: Vec<usize> = options.sizes.iter().copied().chain(large).collect();
    for size in sizes {
        rows.extend(rows_of(options, place, size)?);
    }
    Ok(rows)
}

fn rows_of(options: &Options, place: &Place, size: usize) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let bench = Bench { place, size, per_file: 100 };
    let wants = |what: Lsp| {
        let is_wanted = options.wants(what.title());
        if is_wanted {
            println!("measuring {} at {size} …", what.title());
        }
        is_wanted
    };
    if wants(Lsp::Cold) {
        rows.extend(bench.cold(options.runs)?);
    }
    if wants(Lsp::Key) {
        rows.extend(bench.keys(Lsp::Key, options.runs)?);
    }
    if wants(Lsp::Module) {
        rows.extend(bench.module(options.runs)?);
    }
    if size <= LARGEST_FILE && wants(Lsp::KeyInOneFile) {
        rows.extend(Bench { per_file: size, ..bench }.keys(Lsp::KeyInOneFile, options.runs)?);
    }
    if size <= LARGEST_FILE && wants(Lsp::Memory) {
        rows.extend(bench.memory()?);
    }
    Ok(rows)
}

struct Bench<'p> {
    place: &'p Place,
    size: usize,
    per_file: usize,
}

impl Bench<'_> {
    /// Measures the time from the start of the process to the first diagnostics of a file.
    fn cold(&self, runs: usize) -> Result<Vec<Row>> {
        let workload = self.workload("cold")?;
        let mut usages = Vec::new();
        for run in 0..runs {
            let start = Instant::now();
            let mut session = Session::start(self.place, &workload)?;
            let file = workload.name_of_file_of(run * 337 % self.size);
            let text = fs::read_to_string(workload.folder.join(&file))?;
            // The error is in no file on disk: the editor's text counts.
            let broken = format!("{text}output \"broken\" {{\n  value = local.gone\n}}\n");
            session.editor.open(&file, &broken);
            let published = session.editor.published();
            let at = broken.len() - "local.gone\n}\n".len();
            let code = "undeclared-reference";
            let problem = Problem { code, range: at..at + "local.gone".len() };
            session.assert(&published, &file, 0, &[problem])?;
            usages.push((published.read - start, session.leave()?));
        }
        usages.sort_by_key(|(wall, _)| *wall);
        let (wall, usage) = usages.swap_remove(usages.len() / 2);
        Ok(vec![self.row(Lsp::Cold, "", wall, usage.cpu, usage.bytes)])
    }

    /// Measures the percentiles of the time from a keystroke to the diagnostics of the edited file. Each is the
    /// median of several runs, because other work on the machine affects only few of them.
    fn keys(&self, what: Lsp, runs: usize) -> Result<Vec<Row>> {
        let workload = self.workload("keys")?;
        let (mut halves, mut slowest, mut cpu, mut bytes) = (vec![], vec![], vec![], 0);
        for run in 0..runs {
            let mut typist = Typist::start(self, &workload, OPEN, run)?;
            while typist.times.len() < KEYS {
                typist.stroke(true)?;
            }
            typist.say_own_share();
            halves.push(percentile(&mut typist.times, 50));
            slowest.push(percentile(&mut typist.times, 99));
            let keys = typist.times.len() as u32;
            let used = typist.session.leave()?;
            cpu.push(used.cpu / keys);
            bytes = used.bytes.max(bytes);
        }
        let cpu = percentile(&mut cpu, 50);
        let row = |name, walls: &mut Vec<Duration>| {
            self.row(what, name, percentile(walls, 50), cpu, bytes)
        };
        Ok(vec![row(", p50", &mut halves), row(", p99", &mut slowest)])
    }

    /// Measures the time from a keystroke to the diagnostics of a file that is not open.
    fn module(&self, runs: usize) -> Result<Vec<Row>> {
        let workload = self.workload("module")?;
        let mut typist = Typist::start(self, &workload, 1, 0)?;
        let mut times = Vec::new();
        while times.len() < runs * 14 {
            times.extend(typist.stroke_with_module()?);
        }
        let (count, wall) = (times.len() as u32, percentile(&mut times, 50));
        let usage = typist.session.leave()?;
        Ok(vec![self.row(Lsp::Module, "", wall, usage.cpu / count, usage.bytes)])
    }

    /// Measures the memory after few keystrokes and after many.
    fn memory(&self) -> Result<Vec<Row>> {
        let workload = self.workload("memory")?;
        let mut typist = Typist::start(self, &workload, OPEN, 0)?;
        let mut after = |keys: usize| {
            for count in 0.. {
                if typist.keys >= keys {
                    break;
                }
                // From time to time, a pause lets the server check the whole module.
                match count % 50 {
                    0 => drop(typist.stroke_with_module()?),
                    // The first keys come with pauses too, so that some interrupt that check: the first
                    // interruption maps the unwinder's tables, whose 1.5 MB are no growth.
                    _ => typist.stroke(typist.keys < FEW_KEYS)?,
                }
            }
            typist.session.resident()
        };
        let earlier = after(FEW_KEYS)?;
        let bytes = after(MANY_KEYS)?;
        let median = percentile(&mut typist.times, 50);
        let keys = typist.keys as u32;
        let usage = typist.session.leave()?;
        let mut row = self.row(Lsp::Memory, "", median, usage.cpu / keys, bytes);
        row.earlier = Some(earlier);
        Ok(vec![row])
    }

    fn workload(&self, name: &str) -> Result<Workload> {
        let folder = self.place.work.join(format!("lsp-{name}-{}-{}", self.size, self.per_file));
        let kind = Kind::Builtin;
        let workload = Workload::write_in_files_of(self.per_file, folder, kind, self.size)?;
        fs::write(workload.folder.join("cli.tfrc"), kind.overrides(&self.place.plugins))?;
        let used = (0..self.size).filter(|it| is_used(*it)).map(use_of);
        fs::write(workload.folder.join(CLOSED), used.collect::<String>())?;
        Ok(workload)
    }

    fn row(&self, what: Lsp, name: &str, wall: Duration, cpu: Duration, bytes: u64) -> Row {
        let figures = vec![Measured::new(&self.place.mayfly.name, wall, cpu, bytes)];
        let work = format!("{}{name}", what.title());
        let budget = budget::of_lsp(what, name, self.size);
        Row::new(work, self.size, figures, budget)
    }
}

/// Returns the time that `percent` of a hundred measurements do not exceed.
fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    let index = (times.len() * percent).div_ceil(100).saturating_sub(1);
    times.get(index).copied().unwrap_or_default()
}

fn is_used(index: usize) -> bool {
    index % USED.0 == USED.1
}

/// Returns three lines of the file that is never opened.
fn use_of(index: usize) -> String {
    format!("output \"use_{index}\" {{\n  value = terraform_data.item_{index}.output\n}}\n")
}

/// A running server with the editor that it serves.
struct Session {
    editor: Editor,
    child: Running,
}

/// A process that is killed when it is dropped, so that it does not survive a failure.
struct Running(Option<Child>);

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The resources that a server used from its start to its end.
struct ResourceUsage {
    cpu: Duration,
    bytes: u64,
}

impl Session {
    fn start(place: &Place, workload: &Workload) -> Result<Session> {
        tool::forget_own_peak();
        let mut child = Command::new(&place.mayfly.program)
            .args(["lsp", "--stdio"])
            .current_dir(&workload.folder)
            .env("TF_CLI_CONFIG_FILE", workload.folder.join("cli.tfrc"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("failed to start {}", place.mayfly.program.display()))?;
        let from_server = child.stdout.take().context("stdout is piped")?;
        let to_server = child.stdin.take().context("stdin is piped")?;
        let child = Running(Some(child));
        let mut capabilities = editor::usual_capabilities();
        capabilities["workspace"]["didChangeWatchedFiles"] = json!({ "dynamicRegistration": true });
        let editor = Editor::connect(from_server, to_server, &workload.folder, capabilities);
        Ok(Session { editor, child })
    }

    /// Compares the published diagnostics with the expected problems of a file, whose ranges are in bytes from
    /// `start` on.
    fn assert(
        &self,
        published: &Published,
        file: &str,
        start: usize,
        problems: &[Problem],
    ) -> Result<()> {
        let version = self.editor.version(file);
        ensure!(
            published.uri == self.editor.uri(file) && published.version == Some(version),
            "not version {version} of {file}, but {published:?}"
        );
        let range = |it: &Problem| {
            (it.code, self.editor.range(file, it.range.start + start..it.range.end + start))
        };
        let expected: Vec<(&str, Json)> = problems.iter().map(range).collect();
        assert_codes(published, &expected)
    }

    /// Returns the bytes of memory that the server uses now.
    fn resident(&self) -> Result<u64> {
        let id = self.child.0.as_ref().context("the server runs")?.id().to_string();
        let output = Command::new("ps").args(["-o", "rss=", "-p", &id]).output();
        let output = output.context("failed to ask for the memory of the server")?;
        let kilobytes: u64 = String::from_utf8_lossy(&output.stdout).trim().parse()?;
        Ok(kilobytes * 1024)
    }

    fn leave(mut self) -> Result<ResourceUsage> {
        let mut child = self.child.0.take().context("the server runs")?;
        self.editor.leave();
        let ended = child.wait4()?;
        ensure!(ended.status.success(), "the server ended with {:?}", ended.status.code());
        let usage = ended.rusage;
        Ok(ResourceUsage { cpu: usage.utime + usage.stime, bytes: usage.maxrss })
    }
}

fn assert_codes(published: &Published, expected: &[(&str, Json)]) -> Result<()> {
    let mut found: Vec<(&str, Json)> = Vec::new();
    for diagnostic in &published.diagnostics {
        let code = diagnostic["code"].as_str().context("a diagnostic has a code")?;
        found.push((code, diagnostic["range"].clone()));
    }
    ensure!(
        found == expected,
        "wrong diagnostics of {}:\nthere are {found:?}\nexpected {expected:?}",
        published.uri
    );
    Ok(())
}

/// A simulated user.
struct Typist<'w> {
    session: Session,
    workload: &'w Workload,
    random: Random,
    /// The open files, each with the range of its resources.
    open: Vec<(String, Range)>,
    /// The times from each keystroke to its diagnostics.
    times: Vec<Duration>,
    keys: usize,
    /// The time that the editor itself needed, which is not part of the times.
    own: Duration,
}

type Range = std::ops::Range<usize>;

impl<'w> Typist<'w> {
    /// Opens some files, and waits until the server has reported that they have no errors.
    fn start(bench: &Bench<'_>, workload: &'w Workload, files: usize, run: usize) -> Result<Self> {
        let session = Session::start(bench.place, workload)?;
        let random = Random::new((bench.size + run) as u64);
        let (open, times) = (Vec::new(), Vec::new());
        let own = Duration::ZERO;
        let mut typist = Typist { session, workload, random, open, times, keys: 0, own };
        for _ in 0..files {
            let index = typist.random.below(bench.size);
            typist.open(index / bench.per_file * bench.per_file, bench.per_file)?;
        }
        Ok(typist)
    }

    fn open(&mut self, first: usize, per_file: usize) -> Result<()> {
        let file = self.workload.name_of_file_of(first);
        if self.open.iter().any(|(open, _)| *open == file) {
            return Ok(());
        }
        self.session.editor.open_file(&file);
        let published = self.session.editor.published();
        self.session.assert(&published, &file, 0, &[])?;
        self.open.push((file, first..self.workload.resources.min(first + per_file)));
        Ok(())
    }

    /// Returns one of the open files and a resource in it.
    fn place(&mut self, wanted: impl Fn(usize) -> bool) -> (String, usize) {
        loop {
            let (file, items) = self.open[self.random.below(self.open.len())].clone();
            let index = items.start + self.random.below(items.len());
            if wanted(index) {
                return (file, index);
            }
        }
    }

    /// Types somewhere, and waits after each keystroke for the diagnostics.
    fn stroke(&mut self, is_pausing: bool) -> Result<()> {
        let (file, index) = self.place(|index| !is_used(index));
        let states = typing::stroke(index, &mut self.random);
        let (start, mut before) = self.original(&file, index)?;
        for state in states {
            if is_pausing {
                let pause = self.random.below(LONGEST_PAUSE);
                thread::sleep(Duration::from_micros(pause as u64));
            }
            self.type_key(&file, start, &before, &state.text);
            let published = self.session.editor.published();
            self.take(&published, &file, start, &state).with_context(|| {
                format!("after a key in item_{index}, which is now\n{}", state.text)
            })?;
            before = state.text;
        }
        Ok(())
    }

    /// Types in a resource that the closed file refers to. Returns the times until the diagnostics of the closed
    /// file.
    fn stroke_with_module(&mut self) -> Result<Vec<Duration>> {
        let (file, index) = self.place(is_used);
        let states = typing::label_broken(index, &mut self.random);
        let (start, mut before) = self.original(&file, index)?;
        let closed = self.session.editor.uri(CLOSED);
        let mut times = Vec::new();
        for state in states {
            self.type_key(&file, start, &before, &state.text);
            for _ in 0..2 {
                let published = self.session.editor.published();
                if published.uri == closed {
                    times.push(published.read - self.session.editor.sent);
                    assert_codes(&published, &expected_of_closed(index, &state))?;
                } else {
                    self.take(&published, &file, start, &state)?;
                }
            }
            before = state.text;
        }
        if times.len() != 2 {
            bail!("something was said of {file} twice, and nothing of {CLOSED}");
        }
        Ok(times)
    }

    /// Returns the offset of a resource in its file, and its text.
    fn original(&self, file: &str, index: usize) -> Result<(usize, String)> {
        let text = item(Kind::Builtin, index);
        let start = self.session.editor.text(file).find(&text);
        Ok((start.with_context(|| format!("{file} does not have item_{index}"))?, text))
    }

    /// Sends the bytes that differ, as an editor does.
    fn type_key(&mut self, file: &str, start: usize, before: &str, after: &str) {
        let (old, new) = (before.as_bytes(), after.as_bytes());
        let most = old.len().min(new.len());
        let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let same = |(a, b): &(&u8, &u8)| a == b;
        let ends = old.iter().rev().zip(new.iter().rev());
        let tail = ends.take(most - head).take_while(same).count();
        let replaced = start + head..start + before.len() - tail;
        self.session.editor.edit(file, replaced, &after[head..after.len() - tail]);
        self.keys += 1;
    }

    fn take(
        &mut self,
        published: &Published,
        file: &str,
        start: usize,
        state: &State,
    ) -> Result<()> {
        self.times.push(published.read - self.session.editor.sent);
        self.own += published.understood - published.read;
        self.session.assert(published, file, start, &state.problems)
    }

    fn say_own_share(&self) {
        let each = self.own / self.times.len().max(1) as u32;
        println!("  {} keys; the client's own time, not counted: {each:?} a key", self.times.len());
    }
}

/// Returns the expected problems of the closed file. It refers to a broken resource too, so it has a problem as
/// well.
fn expected_of_closed(index: usize, state: &State) -> Vec<(&'static str, Json)> {
    let Some(problem) = state.problems.first() else { return Vec::new() };
    let line = 3 * (index / USED.0) + 1;
    let column = "  value = ".len();
    let end = column + format!("terraform_data.item_{index}").len();
    let at = |column| json!({ "line": line, "character": column });
    vec![(problem.code, json!({ "start": at(column), "end": at(end) }))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentile_is_a_measured_time() {
        let mut times: Vec<Duration> = (1..=200).rev().map(Duration::from_millis).collect();
        assert_eq!(percentile(&mut times, 50), Duration::from_millis(100));
        assert_eq!(percentile(&mut times, 99), Duration::from_millis(198));
        assert_eq!(percentile(&mut [Duration::from_millis(3)], 50), Duration::from_millis(3));
    }

    #[test]
    fn bench_rejects_diagnostics_with_a_wrong_code_range_or_number() {
        let range = |end: u32| {
            let [start, end] = [2, end].map(|it| json!({ "line": 1, "character": it }));
            json!({ "start": start, "end": end })
        };
        let published = |diagnostics: Vec<Json>| {
            let (read, understood) = (Instant::now(), Instant::now());
            let (uri, version) = ("file:///a.tf".to_owned(), Some(1));
            Published { uri, version, diagnostics, read, understood }
        };
        let found = json!({ "code": "a", "range": range(5), "message": "text" });
        let once = published(vec![found.clone()]);
        assert_codes(&once, &[("a", range(5))]).expect("is right");
        assert_codes(&once, &[("b", range(5))]).expect_err("has another code");
        assert_codes(&once, &[("a", range(6))]).expect_err("is elsewhere");
        assert_codes(&once, &[]).expect_err("should not be there");
        assert_codes(&published(vec![found.clone(), found]), &[("a", range(5))])
            .expect_err("is there twice");
    }

    #[test]
    fn bench_expects_the_range_of_a_use_in_the_closed_file() {
        let index = 307;
        let state = typing::label_broken(index, &mut Random::new(1)).remove(0);
        let (_, range) = expected_of_closed(index, &state).remove(0);
        let text: String = (0..=index).filter(|it| is_used(*it)).map(use_of).collect();
        let line = text.lines().nth(range["start"]["line"].as_u64().expect("a line") as usize);
        let column = |end: &str| range[end]["character"].as_u64().expect("a column") as usize;
        let reference = line.and_then(|it| it.get(column("start")..column("end")));
        assert_eq!(reference, Some("terraform_data.item_307"));
    }
}
