//! Another program as a core: `tofu`, `terraform` or `mayfly`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::{
    core::{Core, File},
    outcome::{Action, Outcome},
};

const STATE: &str = "terraform.tfstate";
const PLAN: &str = "saved.tfplan";

/// A program with a working directory. The provider's executable is found by `dev_overrides`.
pub(crate) struct Program {
    program: PathBuf,
    directory: TempDir,
    /// The CLI configuration.
    settings: PathBuf,
}

impl Program {
    /// Creates the working directory.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(crate) fn new(program: &Path, source: &str, executable: &Path) -> Result<Program, String> {
        let failed =
            |error: std::io::Error| format!("the working directory cannot be made: {error}");
        let directory = TempDir::new().map_err(failed)?;
        let settings = directory.path().join("cli.tfrc");
        let folder = executable.parent().unwrap_or(Path::new("."));
        let text = format!(
            "provider_installation {{\n  dev_overrides {{\n    {source:?} = {folder:?}\n  }}\n  direct {{}}\n}}\n"
        );
        fs::write(&settings, text).map_err(failed)?;
        Ok(Program { program: program.to_owned(), directory, settings })
    }

    fn run(&self, folder: &Path, arguments: &[&str]) -> Result<Output, String> {
        let mut command = Command::new(&self.program);
        // A setting of the user, such as another workspace, would change the meaning of the test.
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_setting(name)) {
            command.env_remove(name);
        }
        command
            .args(arguments)
            .current_dir(folder)
            .env("TF_CLI_CONFIG_FILE", &self.settings)
            .env("TF_IN_AUTOMATION", "1")
            .env("CHECKPOINT_DISABLE", "1")
            .output()
            .map_err(|error| format!("{} cannot be started: {error}", self.program.display()))
    }

    /// Runs a command, adds its diagnostics, and returns true if it succeeded.
    fn step(&self, outcome: &mut Outcome, folder: &Path, arguments: &[&str]) -> bool {
        match self.run(folder, arguments) {
            Ok(output) => {
                let before = outcome.errors.len();
                outcome.read_lines(&output.stdout);
                let succeeded = output.status.success();
                if !succeeded && outcome.errors.len() == before {
                    let text = [&*output.stdout, &*output.stderr].concat();
                    outcome.errors.push(String::from_utf8_lossy(&text).into_owned());
                }
                outcome.written.extend([output.stdout, output.stderr]);
                succeeded
            }
            Err(error) => {
                outcome.errors.push(error);
                false
            }
        }
    }

    /// Writes a configuration in place of the one of the step before.
    fn write(&self, folder: &Path, files: &[File]) -> Result<(), String> {
        let known = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
        for left in known.filter(|it| it.extension().is_some_and(|it| it == "tf")) {
            fs::remove_file(&left).map_err(|error| format!("{} stays: {error}", left.display()))?;
        }
        for file in files {
            let path = folder.join(&file.path);
            let made = path.parent().map_or(Ok(()), fs::create_dir_all);
            let written = made.and_then(|()| fs::write(&path, &file.text));
            written.map_err(|error| format!("{} cannot be written: {error}", file.path))?;
        }
        Ok(())
    }

    /// Plans with these further arguments. Returns true if there is a plan.
    fn saved_plan(&self, outcome: &mut Outcome, files: &[File], more: &[&str]) -> bool {
        let folder = self.directory.path();
        if let Err(error) = self.write(folder, files) {
            outcome.errors.push(error);
            return false;
        }
        let out = format!("-out={PLAN}");
        let arguments = ["plan", "-input=false", "-no-color", "-json", &out];
        if !self.step(outcome, folder, &[&arguments, more].concat()) {
            return false;
        }
        outcome.written.extend(fs::read(folder.join(PLAN)));
        match self.run(folder, &["show", "-json", PLAN]) {
            Ok(shown) => outcome.read_plan(&shown.stdout),
            Err(error) => outcome.errors.push(error),
        }
        outcome.errors.is_empty()
    }

    fn change(&self, files: &[File], more: &[&str], applying: bool) -> Outcome {
        let (mut outcome, folder) = (Outcome::default(), self.directory.path());
        if self.saved_plan(&mut outcome, files, more) && applying {
            let arguments = ["apply", "-input=false", "-no-color", "-json", PLAN];
            let applied = self.step(&mut outcome, folder, &arguments);
            if applied && !folder.join(STATE).is_file() {
                outcome.errors.push(format!("the apply has written no {STATE}"));
            }
        }
        outcome.read_file(&folder.join(STATE));
        outcome
    }
}

/// Returns true for a variable that changes the behaviour of the program.
fn is_setting(name: &std::ffi::OsStr) -> bool {
    name.to_string_lossy().starts_with("TF_")
}

impl Core for Program {
    fn name(&self) -> String {
        self.program.display().to_string()
    }

    fn plan(&mut self, files: &[File]) -> Outcome {
        self.change(files, &[], false)
    }

    fn apply(&mut self, files: &[File]) -> Outcome {
        self.change(files, &[], true)
    }

    fn import(&mut self, files: &[File], address: &str, id: &str) -> Outcome {
        let mut outcome = Outcome::default();
        let folder = match TempDir::new() {
            Ok(folder) => folder,
            Err(error) => {
                outcome.errors.push(format!("a directory cannot be made: {error}"));
                return outcome;
            }
        };
        if let Err(error) = self.write(folder.path(), files) {
            outcome.errors.push(error);
            return outcome;
        }
        let arguments = ["import", "-input=false", "-no-color", address, id];
        if self.step(&mut outcome, folder.path(), &arguments) {
            outcome.read_file(&folder.path().join(STATE));
        }
        outcome
    }

    fn destroy(&mut self, files: &[File]) -> Outcome {
        self.change(files, &["-destroy"], true)
    }
}

impl Outcome {
    /// Adds the diagnostics of the JSON lines of a command.
    fn read_lines(&mut self, stdout: &[u8]) {
        for line in stdout.split(|it| *it == b'\n') {
            let Ok(line) = serde_json::from_slice::<Json>(line) else { continue };
            let diagnostic = &line["diagnostic"];
            let text = |name: &str| diagnostic[name].as_str().unwrap_or_default();
            let place = match text("severity") {
                "error" => &mut self.errors,
                "warning" => &mut self.warnings,
                _ => continue,
            };
            place.push(format!("{}: {}", text("summary"), text("detail")));
        }
    }

    /// Reads the actions of a plan.
    fn read_plan(&mut self, stdout: &[u8]) {
        let plan: Json = match serde_json::from_slice(stdout) {
            Ok(plan) => plan,
            Err(error) => return self.errors.push(format!("The plan is no JSON: {error}")),
        };
        for change in plan["resource_changes"].as_array().into_iter().flatten() {
            let names = change["change"]["actions"].as_array().into_iter().flatten();
            let names: Vec<_> = names.filter_map(Json::as_str).collect();
            let action = match names.as_slice() {
                ["no-op"] => Action::NoOp,
                ["create"] => Action::Create,
                ["read"] => Action::Read,
                ["update"] => Action::Update,
                ["delete"] => Action::Delete,
                ["forget"] => Action::Forget,
                [_, _] => Action::Replace,
                _ => continue,
            };
            self.actions.insert(change["address"].as_str().unwrap_or_default().to_owned(), action);
        }
        let drifted = plan["resource_drift"].as_array().into_iter().flatten();
        let address = |it: &Json| it["address"].as_str().map(str::to_owned);
        self.drifted = drifted.filter_map(address).collect();
    }

    /// Reads the state file. A state that was never written has no objects.
    fn read_file(&mut self, path: &Path) {
        let Ok(bytes) = fs::read(path) else { return };
        if let Err(error) = self.read_state(&bytes) {
            self.errors.push(format!("The state file cannot be read: {error}"));
        }
        self.written.push(bytes);
    }
}
