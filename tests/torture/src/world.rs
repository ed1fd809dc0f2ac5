//! A folder with a configuration, its state, and the remote system beside it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, kill_process, kill_process_group};
use serde_json::Value;

use crate::strike::{Reach, Strike, Target};

/// No command may take longer.
const LONGEST: Duration = Duration::from_secs(60);

/// No process that a run started may live longer than this after it.
const PROCESSES_END: Duration = Duration::from_secs(10);

/// How an entry of the ledger begins.
const ENTRY: &str = "{\"time\":";

/// In the environment of a run; all that it starts inherits it.
const COOKIE: &str = "MAYFLY_TORTURE";

pub(crate) struct World {
    program: PathBuf,
    folder: PathBuf,
}

/// A command that came to its end.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) printed: String,
}

impl Ended {
    /// The addresses of which it says that nobody knows whether there is an object.
    pub(crate) fn uncertain(&self) -> BTreeSet<String> {
        let ways_out = self.printed.lines().filter_map(|line| {
            let (_, rest) = line.split_once("mayfly state adopt ")?;
            Some(rest.split_once(" ID")?.0.to_owned())
        });
        ways_out.collect()
    }

    pub(crate) fn says_uncertain(&self) -> bool {
        !self.uncertain().is_empty()
    }
}

/// The end of a run that was to be killed.
pub(crate) enum Outcome {
    /// It ended before that.
    TooLate(Ended),
    /// It was killed and has ended; the last process that it had started ended so much later.
    Struck(Ended, Duration),
}

/// The objects of the remote system.
pub(crate) struct Deeds {
    /// How many objects it has made. A provider that is killed may have made one and not have said so.
    pub(crate) made: usize,
    /// The names of those that are there.
    alive: BTreeSet<String>,
}

impl Deeds {
    /// The name of the object that an address has made, if it is there. `playground_secret.s1` makes `s1-0`, `s1-1`, …
    pub(crate) fn of_address(&self, address: &str) -> Option<String> {
        let prefix = format!("{}-", address.strip_prefix("playground_secret.")?);
        self.alive.iter().find(|it| it.starts_with(&prefix)).cloned()
    }
}

impl World {
    pub(crate) fn new(program: &Path, folder: &Path) -> World {
        World { program: program.to_owned(), folder: folder.to_owned() }
    }

    pub(crate) fn write(&self, text: &str) -> Result<(), String> {
        fs::write(self.folder.join("main.tf"), text).map_err(|error| error.to_string())
    }

    pub(crate) fn has_journal(&self) -> bool {
        self.folder.join("terraform.tfstate.journal").exists()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .arg("-no-color")
            .current_dir(&self.folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.folder)
            .env(COOKIE, &self.folder)
            .process_group(0)
            .stdin(Stdio::null());
        command
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<Ended, String> {
        let mut child = self.start(arguments)?;
        let status = wait(&mut child, Instant::now() + LONGEST)?;
        let ended = self.ended(status)?;
        self.wait_for_processes(&child)?;
        Ok(ended)
    }

    /// Starts a command and strikes after some time.
    pub(crate) fn struck(
        &self,
        arguments: &[&str],
        after: Duration,
        strike: Strike,
    ) -> Result<Outcome, String> {
        let mut child = self.start(arguments)?;
        let begun = Instant::now();
        loop {
            let status = child.try_wait().map_err(|error| error.to_string())?;
            if let Some(status) = status {
                let ended = self.ended(status)?;
                self.wait_for_processes(&child)?;
                return Ok(Outcome::TooLate(ended));
            }
            let left = after.saturating_sub(begun.elapsed());
            if left.is_zero() && self.strike(&child, strike) {
                let status = wait(&mut child, Instant::now() + LONGEST)?;
                let longer = self.wait_for_processes(&child)?;
                return Ok(Outcome::Struck(self.ended(status)?, longer));
            }
            std::thread::sleep(left.min(Duration::from_millis(2)).max(Duration::from_micros(200)));
        }
    }

    fn start(&self, arguments: &[&str]) -> Result<Child, String> {
        // Into a file: a pipe has to be read, and a provider that lives on keeps it open.
        let out = fs::File::create(self.log()).map_err(|error| error.to_string())?;
        let err = out.try_clone().map_err(|error| error.to_string())?;
        let mut command = self.command(arguments);
        command.stdout(out).stderr(err).spawn().map_err(|error| error.to_string())
    }

    fn log(&self) -> PathBuf {
        self.folder.join(".printed")
    }

    fn ended(&self, status: ExitStatus) -> Result<Ended, String> {
        let printed = fs::read(self.log()).map_err(|error| error.to_string())?;
        Ok(Ended { code: status.code(), printed: String::from_utf8_lossy(&printed).into_owned() })
    }

    /// Strikes. Returns false if there is no provider yet that could be.
    fn strike(&self, child: &Child, strike: Strike) -> bool {
        let providers = match strike.target {
            Target::Client => Vec::new(),
            Target::Provider | Target::Both => self.processes(child, "serve-bundled-provider"),
        };
        if strike.target != Target::Client && providers.is_empty() {
            return false;
        }
        for provider in providers {
            // An error means that it has ended by itself.
            let _ended = kill_process(provider, strike.of_provider);
        }
        if strike.target == Target::Provider {
            return true;
        }
        if let Some(client) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            let _ended = match strike.reach {
                Reach::Process => kill_process(client, strike.of_client),
                Reach::Group => kill_process_group(client, strike.of_client),
            };
        }
        true
    }

    /// Waits until every process of a run has ended. Returns how long that was.
    fn wait_for_processes(&self, child: &Child) -> Result<Duration, String> {
        let begun = Instant::now();
        while !self.processes(child, "").is_empty() {
            if begun.elapsed() > PROCESSES_END {
                return Err(format!("a process outlived its run by {PROCESSES_END:?}"));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(begun.elapsed())
    }

    /// The processes that a run has started and that have this in their command line. Of one whose environment cannot be read,
    /// the command line says who started it.
    fn processes(&self, child: &Child, called: &str) -> Vec<Pid> {
        let cookie = format!("{COOKIE}={}", self.folder.display());
        let started = format!("start-process\0{}\0", child.id());
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ours = processes.filter_map(|process| {
            let id: i32 = process.file_name().to_str()?.parse().ok()?;
            let line = fs::read(process.path().join("cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line);
            let environment = fs::read(process.path().join("environ")).unwrap_or_default();
            let mut variables = environment.split(|byte| *byte == 0);
            let is_ours = variables.any(|it| it == cookie.as_bytes()) || line.contains(&started);
            let is_other = i64::from(id) != i64::from(child.id());
            (is_ours && is_other && line.contains(called)).then(|| Pid::from_raw(id)).flatten()
        });
        ours.collect()
    }

    /// Reads the objects and the ledger of the remote system.
    pub(crate) fn ledger(&self) -> Result<Deeds, String> {
        let objects = self.folder.join(".playground/objects/secret");
        let mut deeds = Deeds { made: 0, alive: BTreeSet::new() };
        for object in fs::read_dir(objects).into_iter().flatten().flatten() {
            let name = object.file_name().to_string_lossy().into_owned();
            deeds.alive.extend(name.strip_suffix(".json").map(str::to_owned));
        }
        let path = self.folder.join(".playground/ledger.jsonl");
        let text = if path.exists() { fs::read_to_string(&path) } else { Ok(String::new()) };
        for line in text.map_err(|error| error.to_string())?.lines() {
            // The line of a provider that was killed may be torn at the border of a page; the next one begins behind it.
            let whole = line.rfind(ENTRY).and_then(|at| line.get(at..)).unwrap_or(line);
            let Ok(it) = serde_json::from_str::<Value>(whole) else { continue };
            deeds.made +=
                usize::from(it["event"] == "created" && it["type"] == "playground_secret");
        }
        Ok(deeds)
    }

    /// How often each name is in the state.
    pub(crate) fn state(&self) -> Result<BTreeMap<String, usize>, String> {
        let path = self.folder.join("terraform.tfstate");
        if !path.exists() {
            return Ok(BTreeMap::new());
        }
        let bytes = fs::read(&path).map_err(|error| error.to_string())?;
        let state: Value = serde_json::from_slice(&bytes)
            .map_err(|error| format!("the state is damaged: {error}"))?;
        let mut names = BTreeMap::new();
        for resource in state["resources"].as_array().into_iter().flatten() {
            if resource["type"] != "playground_secret" || resource["mode"] != "managed" {
                continue;
            }
            for instance in resource["instances"].as_array().into_iter().flatten() {
                let name = instance["attributes"]["name"].as_str().unwrap_or_default();
                *names.entry(name.to_owned()).or_default() += 1;
            }
        }
        Ok(names)
    }

    /// Holds the state against the ledger: each object that is there is in the state exactly once, or said to be uncertain.
    pub(crate) fn compare(&self, ended: &Ended) -> Result<(), String> {
        let (ledger, state, uncertain) = (self.ledger()?, self.state()?, ended.uncertain());
        for name in &ledger.alive {
            let object = name.split_once('-').map_or(name.as_str(), |(object, _)| object);
            let is_uncertain = uncertain.contains(&format!("playground_secret.{object}"));
            match state.get(name) {
                Some(1) => {}
                Some(times) => return Err(format!("{name} is in the state {times} times")),
                None if is_uncertain => {}
                None => {
                    return Err(format!(
                        "{name} is there, and neither in the state nor uncertain:\n{}",
                        ended.printed
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Waits for the end of a run, which is killed if it takes too long.
fn wait(child: &mut Child, until: Instant) -> Result<ExitStatus, String> {
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(status);
        }
        if Instant::now() > until {
            child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
            return Err(format!("it took longer than {LONGEST:?}"));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
