//! An executable in a directory: runs the steps of a case and returns their observations.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value as Json;

use crate::{
    generate::OUTSIDE_COMMAND,
    model::{Case, Files},
    names::Names,
    observation::{self, Observation, Raw},
    server,
};

/// The time after which a command counts as hanging.
const LIMIT: Duration = Duration::from_secs(90);
const POLL: Duration = Duration::from_millis(2);
/// The file to which provisioners append a line.
const ORDER_LOG: &str = "order.log";
const STATE: &str = "terraform.tfstate";
/// The plan file of `-out` and of `apply`.
pub(crate) const SAVED: &str = "saved.tfplan";

/// An executable under test.
#[derive(Clone, Debug)]
pub struct Program {
    /// The path of the executable.
    pub executable: PathBuf,
    /// The CLI configuration, which gives the installation sources of providers.
    pub cli_config: Option<PathBuf>,
}

/// A program with a directory of its own.
pub(crate) struct Bench<'a> {
    program: &'a Program,
    folder: PathBuf,
    names: Names,
    /// The modules and providers of the last `init`.
    initialized: Option<Vec<String>>,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(program: &'a Program, folder: PathBuf) -> io::Result<Bench<'a>> {
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        Ok(Bench { program, folder, names: Names::default(), initialized: None })
    }

    /// The observation of `init`, or of `validate` if `init` succeeds, for a configuration that the other
    /// program's `init` refused.
    pub(crate) fn refused(&mut self, files: &Files) -> io::Result<Observation> {
        self.write(files)?;
        let raw = self.run(&["init".to_owned()])?;
        self.initialized = None;
        let refused = if raw.exit == 0 { self.run(&["validate".to_owned()])? } else { raw };
        Ok(observation::of_init(&refused))
    }

    /// Writes the files, runs `init` if modules or providers changed, then runs the command.
    pub(crate) fn step(&mut self, files: &Files, command: &[String]) -> io::Result<Observation> {
        self.write(files)?;
        if let [first, change] = command
            && first == OUTSIDE_COMMAND
        {
            self.change_outside(change)?;
            return Ok(Observation::default());
        }
        let needs = needs(files);
        if self.initialized.as_ref() != Some(&needs) {
            let raw = self.run(&["init".to_owned()])?;
            self.initialized = Some(needs);
            if raw.exit != 0 {
                self.initialized = None;
                return Ok(observation::of_init(&raw));
            }
        }
        let before = self.state();
        let log = self.folder.join(ORDER_LOG);
        let _ = fs::remove_file(&log);
        let raw = self.run(command)?;
        let after = self.state();
        self.names.learn(&after);
        let log = fs::read_to_string(log).unwrap_or_default();
        let plan = self.saved_plan(command, &raw)?;
        Ok(observation::of_command(command, &raw, [&before, &after], &log, plan, &self.names))
    }

    /// Changes or removes files that a provider has written.
    fn change_outside(&self, change: &str) -> io::Result<()> {
        let Ok(entries) = fs::read_dir(self.folder.join("files")) else { return Ok(()) };
        let entries: io::Result<Vec<PathBuf>> = entries.map(|it| Ok(it?.path())).collect();
        let mut files = entries?;
        files.sort();
        let count = if change == "remove all" { files.len() } else { 1 };
        for file in files.iter().take(count) {
            if change == "change" {
                fs::write(file, "changed by others")?;
            } else {
                fs::remove_file(file)?;
            }
        }
        Ok(())
    }

    /// The JSON of the plan that the command saved. `None` if it saved none.
    fn saved_plan(&self, command: &[String], raw: &Raw) -> io::Result<Option<Raw>> {
        let saved = command.iter().find_map(|it| it.strip_prefix("-out="));
        let Some(saved) = saved.filter(|it| raw.exit != 1 && self.folder.join(it).exists()) else {
            return Ok(None);
        };
        self.run(&["show".to_owned(), "-json".to_owned(), saved.to_owned()]).map(Some)
    }

    fn write(&self, files: &Files) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path().join("main.tf");
            if path.exists() {
                fs::remove_file(path)?;
            }
        }
        for (path, text) in files {
            let path = self.folder.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&self.folder))?;
            fs::write(path, server::with_real_address(text)?)?;
        }
        Ok(())
    }

    /// The state file; null if there is none.
    fn state(&self) -> Json {
        let text = fs::read_to_string(self.folder.join(STATE)).unwrap_or_default();
        serde_json::from_str(&server::without_real_address(text)).unwrap_or_default()
    }

    fn run(&self, command: &[String]) -> io::Result<Raw> {
        let output = |name: &str| -> io::Result<(PathBuf, fs::File)> {
            let path = self.folder.with_extension(name);
            Ok((path.clone(), fs::File::create(path)?))
        };
        let (out_path, out) = output("stdout")?;
        let (err_path, err) = output("stderr")?;
        let mut process = Command::new(&self.program.executable);
        process.args(arguments(command)).current_dir(&self.folder);
        process.stdin(Stdio::null()).stdout(out).stderr(err);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("TF_") {
                process.env_remove(name);
            }
        }
        process.env("CHECKPOINT_DISABLE", "1");
        if let Some(path) = &self.program.cli_config {
            process.env("TF_CLI_CONFIG_FILE", path);
        }
        let exit = wait(&mut process)?;
        let read = |path: &Path| {
            let text = fs::read(path).map(|it| plain(&String::from_utf8_lossy(&it)))?;
            Ok::<_, io::Error>(server::without_real_address(text))
        };
        Ok(Raw { exit, out: read(&out_path)?, err: read(&err_path)? })
    }
}

/// Runs a case under one program, without a comparison.
///
/// # Errors
/// If the program cannot be started, or a file cannot be written.
pub fn run(case: &Case, program: &Program, folder: &Path) -> io::Result<()> {
    let mut bench = Bench::new(program, folder.to_owned())?;
    for step in &case.steps {
        bench.step(&step.files(), &step.command)?;
    }
    Ok(())
}

/// The text without ANSI sequences, which the reference also writes to files.
fn plain(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').map_or(part, |it| it.1))
}

/// Waits for the exit code; 124 if the process had to be killed, as with the program `timeout`.
fn wait(process: &mut Command) -> io::Result<i32> {
    let begun = Instant::now();
    let mut child = process.spawn()?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code().unwrap_or(-1));
        }
        if begun.elapsed() > LIMIT {
            child.kill()?;
            child.wait()?;
            return Ok(124);
        }
        std::thread::sleep(POLL);
    }
}

/// The command with the flags that it needs to run without a terminal.
pub(crate) fn arguments(command: &[String]) -> Vec<String> {
    let mut all = command.to_vec();
    let is = |name: &str| command.first().is_some_and(|it| it == name);
    if is("plan") || is("apply") || is("destroy") || is("refresh") || is("import") {
        all.insert(1, "-input=false".to_owned());
        all.insert(1, "-no-color".to_owned());
        if (is("apply") || is("destroy")) && !command.iter().any(|it| it == SAVED) {
            all.insert(1, "-auto-approve".to_owned());
        }
    } else if is("init") {
        all.extend(["-input=false".to_owned(), "-no-color".to_owned()]);
    } else if is("validate") || is("show") || is("output") {
        all.insert(1, "-no-color".to_owned());
    }
    all
}

/// The inputs of `init`: the module calls and the providers in use.
fn needs(files: &Files) -> Vec<String> {
    let mut needs = Vec::new();
    for (path, text) in files {
        let mut is_call = false;
        for line in text.lines() {
            if !line.starts_with(' ') {
                is_call = line.starts_with("module ");
            }
            let line = line.trim();
            let is_source = line.starts_with("source =");
            let names_provider = ["resource ", "data ", "ephemeral ", "provider "]
                .iter()
                .any(|it| line.starts_with(it));
            if (is_call && line.starts_with("module ")) || is_source {
                needs.push(format!("{path}: {line}"));
            } else if names_provider {
                let kind = line.split('"').nth(1).unwrap_or_default();
                needs.push(kind.split('_').next().unwrap_or_default().to_owned());
            }
        }
    }
    needs.sort();
    needs.dedup();
    needs
}
