//! A folder with a configuration, its state, and the remote system.

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

/// The maximal duration of a command.
const LONGEST: Duration = Duration::from_secs(60);

/// The maximal time that a process may outlive its run.
const PROCESSES_END: Duration = Duration::from_secs(10);

/// The beginning of a ledger entry.
const ENTRY: &str = "{\"time\":";

/// An environment variable that marks a run; all processes that it starts inherit it.
const COOKIE: &str = "MAYFLY_TORTURE";

pub(crate) struct World {
    program: PathBuf,
    folder: PathBuf,
}

/// A command that has ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) printed: String,
}

impl Ended {
    /// The addresses that the output reports as uncertain: their objects may or may not exist.
    pub(crate) fn uncertain(&self) -> BTreeSet<String> {
        let ways_out = self.printed.lines().filter_map(|line| {
            let (_, rest) = line.split_once("mayfly state adopt ")?;
            let (named, _) = rest.split_once(" ID")?;
            // A state of another name stands before the address.
            Some(named.rsplit(' ').next()?.to_owned())
        });
        ways_out.collect()
    }

    pub(crate) fn says_uncertain(&self) -> bool {
        !self.uncertain().is_empty()
    }
}

/// The outcome of a run that was to be killed.
pub(crate) enum Outcome {
    /// The run ended before the kill.
    TooLate(Ended),
    /// The run was killed and has ended; the duration is the time that its last process outlived it.
    Struck(Ended, Duration),
}

/// The objects of the remote system.
pub(crate) struct Deeds {
    /// The number of created objects. A killed provider may have created one that the ledger lacks.
    pub(crate) made: usize,
    /// The names of the existing objects.
    alive: BTreeSet<String>,
}

impl Deeds {
    /// Returns true if the object with this name exists.
    pub(crate) fn is_alive(&self, name: &str) -> bool {
        self.alive.contains(name)
    }

    /// The names of the objects that tests created: `t-s1-0` or `u-s1-0`.
    pub(crate) fn of_tests(&self) -> impl Iterator<Item = &str> {
        self.alive.iter().map(String::as_str).filter(|it| is_of_test(it))
    }

    /// The name of an existing object that a test created for an address, and that the state does not have.
    pub(crate) fn of_test(&self, address: &str, state: &BTreeMap<String, usize>) -> Option<String> {
        let object = object_of(address)?;
        let prefixes = ["t", "u"].map(|it| format!("{it}-{object}-"));
        let mut of_it = self.of_tests().filter(|it| prefixes.iter().any(|of| it.starts_with(of)));
        of_it.find(|it| !state.contains_key(*it)).map(str::to_owned)
    }

    /// The name of an existing object of an address that the state does not have: `playground_secret.s1` and, after a
    /// move, `playground_secret.m1` create `s1-0`, `s1-1`, …
    pub(crate) fn of_address(
        &self,
        address: &str,
        state: &BTreeMap<String, usize>,
    ) -> Option<String> {
        let prefix = format!("{}-", object_of(address)?);
        let mut of_it = self.alive.iter().filter(|it| it.starts_with(&prefix));
        of_it.find(|it| !state.contains_key(*it)).cloned()
    }
}

impl World {
    pub(crate) fn new(program: &Path, folder: &Path) -> World {
        World { program: program.to_owned(), folder: folder.to_owned() }
    }

    pub(crate) fn write(&self, text: &str) -> Result<(), String> {
        self.write_file("main.tf", text)
    }

    pub(crate) fn write_file(&self, name: &str, text: &str) -> Result<(), String> {
        fs::write(self.folder.join(name), text).map_err(|error| error.to_string())
    }

    /// The names of the files with objects that tests left.
    pub(crate) fn left_states(&self) -> Result<Vec<String>, String> {
        let files = fs::read_dir(&self.folder).map_err(|error| error.to_string())?;
        let names = files.flatten().filter_map(|it| it.file_name().into_string().ok());
        let is_left = |it: &String| it.starts_with("errored_test") && it.ends_with(".tfstate");
        let mut names: Vec<String> = names.filter(is_left).collect();
        names.sort();
        Ok(names)
    }

    /// Removes a state whose objects are destroyed, with the files beside it.
    pub(crate) fn remove_state(&self, name: &str) -> Result<(), String> {
        for ending in ["", ".backup", ".journal"] {
            let path = self.folder.join(format!("{name}{ending}"));
            if path.exists() {
                fs::remove_file(path).map_err(|error| error.to_string())?;
            }
        }
        Ok(())
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
            // A provider may not write to a directory that contains the home directory.
            .env("HOME", self.folder.with_extension("home"))
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

    /// Starts a command and kills it after the given time.
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
        // The output goes to a file: a pipe would have to be read, and a surviving provider would keep it open.
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

    /// Sends the signals of a kill. Returns false if the target includes providers and none is running yet.
    fn strike(&self, child: &Child, strike: Strike) -> bool {
        let providers = match strike.target {
            Target::Client => Vec::new(),
            Target::Provider | Target::Both => self.processes(child, "serve-bundled-provider"),
        };
        if strike.target != Target::Client && providers.is_empty() {
            return false;
        }
        for provider in providers {
            // An error means that the process has already ended.
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

    /// Waits until every process of a run has ended. Returns the waiting time.
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

    /// The processes that a run started and whose command lines contain a text. If the environment of a process
    /// cannot be read, its command line identifies the run.
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
            // The entry of a killed provider may be cut off at a page boundary; the next entry begins right after
            // it.
            let whole = line.rfind(ENTRY).and_then(|at| line.get(at..)).unwrap_or(line);
            let Ok(it) = serde_json::from_str::<Value>(whole) else { continue };
            deeds.made +=
                usize::from(it["event"] == "created" && it["type"] == "playground_secret");
        }
        Ok(deeds)
    }

    /// The number of occurrences of each object's name in the state.
    pub(crate) fn state(&self) -> Result<BTreeMap<String, usize>, String> {
        self.state_in("terraform.tfstate")
    }

    /// Like [`state`](World::state), for a state in another file.
    pub(crate) fn state_in(&self, name: &str) -> Result<BTreeMap<String, usize>, String> {
        let path = self.folder.join(name);
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

    /// Compares the state with the ledger: each existing object is in the state exactly once, or is reported as
    /// uncertain. The `released` ones need not be in the state.
    pub(crate) fn compare(&self, ended: &Ended, released: &BTreeSet<String>) -> Result<(), String> {
        let (ledger, state) = (self.ledger()?, self.state()?);
        let uncertain: BTreeSet<String> =
            ended.uncertain().iter().filter_map(|it| object_of(it)).collect();
        for name in ledger.alive.iter().filter(|it| !is_of_test(it)) {
            let object = name.split_once('-').map_or(name.as_str(), |(object, _)| object);
            let is_uncertain = uncertain.contains(object);
            match state.get(name) {
                Some(1) => {}
                Some(times) => return Err(format!("{name} is in the state {times} times")),
                None if is_uncertain || released.contains(name) => {}
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

fn is_of_test(name: &str) -> bool {
    name.starts_with("t-") || name.starts_with("u-")
}

/// The beginning of the names of an address's objects: `s1` for `playground_secret.s1` and `playground_secret.m1`.
fn object_of(address: &str) -> Option<String> {
    let label = address.strip_prefix("playground_secret.")?;
    Some(format!("s{}", label.get(1..)?))
}

/// Waits for the end of a run, and kills it if it takes too long.
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
