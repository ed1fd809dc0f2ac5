//! A folder with a configuration, its state, and the remote system beside it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

/// No command may take longer.
const LONGEST: Duration = Duration::from_secs(60);

/// A provider whose core was killed ends by itself in this time.
const PROVIDERS_END: Duration = Duration::from_secs(20);

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

/// What the remote system wrote down.
pub(crate) struct Deeds {
    /// How many objects it has made.
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
            .stdin(Stdio::null());
        command
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<Ended, String> {
        match self.killed_after(arguments, LONGEST)? {
            Some(ended) => Ok(ended),
            None => Err(format!("{} took longer than {LONGEST:?}", arguments.join(" "))),
        }
    }

    /// Starts a command and kills it after some time; none if that came before its end.
    pub(crate) fn killed_after(
        &self,
        arguments: &[&str],
        after: Duration,
    ) -> Result<Option<Ended>, String> {
        // Into a file: a pipe has to be read, and a provider that lives on keeps it open.
        let log = self.folder.join(".printed");
        let to = |path: &Path| fs::File::create(path).map_err(|error| error.to_string());
        let out = to(&log)?;
        let err = out.try_clone().map_err(|error| error.to_string())?;
        let mut command = self.command(arguments);
        let begun = Instant::now();
        let mut child =
            command.stdout(out).stderr(err).spawn().map_err(|error| error.to_string())?;
        loop {
            if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                let printed = fs::read(&log).map_err(|error| error.to_string())?;
                let printed = String::from_utf8_lossy(&printed).into_owned();
                return Ok(Some(Ended { code: status.code(), printed }));
            }
            let left = after.saturating_sub(begun.elapsed());
            if left.is_zero() {
                child.kill().map_err(|error| error.to_string())?;
                child.wait().map_err(|error| error.to_string())?;
                return Ok(None);
            }
            std::thread::sleep(left.min(Duration::from_millis(2)));
        }
    }

    /// Waits until every provider of this folder has ended: until then the remote system may still change.
    pub(crate) fn wait_for_providers(&self) -> Result<(), String> {
        let begun = Instant::now();
        while self.runs_provider() {
            if begun.elapsed() > PROVIDERS_END {
                return Err(format!("a provider outlived its core by {PROVIDERS_END:?}"));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    fn runs_provider(&self) -> bool {
        let folder = fs::canonicalize(&self.folder).unwrap_or_default();
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        processes.map(|it| it.path()).any(|process| {
            fs::read_link(process.join("cwd")).is_ok_and(|it| it == folder)
                && fs::read(process.join("cmdline")).is_ok_and(|line| {
                    String::from_utf8_lossy(&line).contains("serve-bundled-provider")
                })
        })
    }

    /// What the remote system did.
    pub(crate) fn ledger(&self) -> Result<Deeds, String> {
        let path = self.folder.join(".playground/ledger.jsonl");
        let mut deeds = Deeds { made: 0, alive: BTreeSet::new() };
        let text = if path.exists() { fs::read_to_string(&path) } else { Ok(String::new()) };
        for line in text.map_err(|error| error.to_string())?.lines() {
            let it: Value = serde_json::from_str(line)
                .map_err(|error| format!("the ledger is damaged: {error}"))?;
            let name = it["name"].as_str().unwrap_or_default();
            match it["event"].as_str() {
                _ if it["type"] != "playground_secret" => {}
                Some("created") => {
                    deeds.made += 1;
                    if !deeds.alive.insert(name.to_owned()) {
                        return Err(format!("{name} was made twice"));
                    }
                }
                Some("deleted") => drop(deeds.alive.remove(name)),
                _ => {}
            }
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
