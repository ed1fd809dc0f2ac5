//! Test cases.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use mayfly_sdk::{Definition, Server};
use provider::Provider;
use serde_json::Value as Json;

use crate::{
    checks::{Kind, Step, contains},
    core::{Core, File},
    in_process::{InProcess, MakeProvider},
    outcome::{Action, Outcome},
    program::Program,
    written::finds,
};

/// The environment variable with the programs that tests with an executable run under too, separated like `PATH`:
/// `tofu`, `terraform` or `mayfly`.
pub const PROGRAMS: &str = "PROVIDER_TEST_PROGRAMS";

/// A test of a provider: steps that follow each other, with one state.
pub struct Case {
    source: String,
    make: MakeProvider,
    executable: Option<PathBuf>,
    files: Vec<File>,
    secrets: Vec<String>,
    steps: Vec<Step>,
}

impl Case {
    /// Creates a test of a provider. `definition` is called for each start of the provider: what objects it shares with
    /// other starts is its remote system.
    pub fn new<D: Definition>(definition: impl Fn() -> D + Send + Sync + 'static) -> Case {
        let source = definition().source();
        Case::of_provider(source, move || Arc::new(Server::new(definition())))
    }

    /// Creates a test of a provider that is not made by a [`Server`] alone.
    pub fn of_provider(
        source: &str,
        provider: impl Fn() -> Arc<dyn Provider> + Send + Sync + 'static,
    ) -> Case {
        Case {
            source: source.to_owned(),
            make: Arc::new(provider),
            executable: None,
            files: Vec::new(),
            secrets: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// Names the executable of the provider, usually `env!("CARGO_BIN_EXE_terraform-provider-NAME")`. The test then
    /// runs under the programs in [`PROGRAMS`] too.
    #[must_use]
    pub fn executable(mut self, path: impl Into<PathBuf>) -> Case {
        self.executable = Some(path.into());
        self
    }

    /// Adds a file beside the configuration.
    #[must_use]
    pub fn file(mut self, path: &str, text: &str) -> Case {
        self.files.push(File { path: path.to_owned(), text: text.to_owned() });
        self
    }

    /// Names a secret that must be in no state, plan, private data, message or diagnostic.
    ///
    /// # Panics
    /// If the text is empty, which every file contains.
    #[must_use]
    pub fn secret(mut self, text: &str) -> Case {
        assert!(!text.is_empty(), "a secret is not empty");
        self.secrets.push(text.to_owned());
        self
    }

    /// Adds a step.
    #[must_use]
    pub fn step(mut self, step: Step) -> Case {
        self.steps.push(step);
        self
    }

    /// Runs the test.
    ///
    /// # Panics
    /// If an expectation is not met, with the step and the core.
    #[track_caller]
    pub fn run(&self) {
        if let Err(failure) = self.try_run() {
            panic!("{failure}");
        }
    }

    /// Runs the test.
    ///
    /// # Errors
    /// The first expectation that is not met.
    pub fn try_run(&self) -> Result<(), String> {
        self.run_with(&mut InProcess::new(&self.source, Arc::clone(&self.make))?)?;
        let Some(executable) = &self.executable else { return Ok(()) };
        let programs = programs();
        if programs.is_empty() {
            say_skipped();
        }
        for program in programs {
            self.run_with(&mut Program::new(&program, &self.source, executable)?)?;
        }
        Ok(())
    }

    fn run_with(&self, core: &mut dyn Core) -> Result<(), String> {
        // Nothing is applied yet.
        let mut applied = vec![File { path: "main.tf".to_owned(), text: String::new() }];
        let mut outcome = Ok(());
        for (index, step) in self.steps.iter().enumerate() {
            let ended = self.take(core, step, &mut applied);
            outcome = ended.map_err(|it| format!("step {} under {}: {it}", index + 1, core.name()));
            if outcome.is_err() {
                break;
            }
        }
        let destroyed = self.check_destroyed(&core.destroy(&applied));
        let destroyed =
            destroyed.map_err(|it| format!("the destruction under {}: {it}", core.name()));
        match (outcome, destroyed) {
            (Err(step), Err(destruction)) => Err(format!("{step}\n{destruction}")),
            (outcome, destroyed) => outcome.and(destroyed),
        }
    }

    /// The files of a configuration: its text, the given files, and the requirement of the provider.
    fn files_with(&self, configuration: &str) -> Vec<File> {
        let name = self.source.rsplit('/').next().unwrap_or_default();
        let requirement = format!(
            "terraform {{\n  required_providers {{\n    {name} = {{ source = {:?} }}\n  }}\n}}\n",
            self.source
        );
        let file = |path: &str, text: String| File { path: path.to_owned(), text };
        let mut files = vec![file("main.tf", configuration.to_owned())];
        if !configuration.contains("required_providers") {
            files.push(file("required_providers.tf", requirement));
        }
        files.extend(self.files.iter().cloned());
        files
    }

    fn take(
        &self,
        core: &mut dyn Core,
        step: &Step,
        applied: &mut Vec<File>,
    ) -> Result<(), String> {
        let outcome = match &step.kind {
            Kind::Apply(configuration) => {
                *applied = self.files_with(configuration);
                let outcome = self.succeeded(core.apply(applied))?;
                let after = self.succeeded(core.plan(applied))?;
                if !step.is_unsettled {
                    settled(&after)?;
                }
                outcome
            }
            Kind::Plan(configuration) => {
                self.succeeded(core.plan(&self.files_with(configuration)))?
            }
            Kind::Fail { configuration, text } => {
                let files = self.files_with(configuration);
                let outcome = core.apply(&files);
                // The configuration of a failed apply destroys what it has created, if there is no better one.
                if !outcome.objects.is_empty() && applied.iter().all(|it| it.text.is_empty()) {
                    *applied = files;
                }
                self.check_secrets(&outcome)?;
                failed(outcome, text)?
            }
            Kind::Import { address, id } => {
                let before = self.succeeded(core.plan(applied))?;
                let imported = self.succeeded(core.import(applied, address, id))?;
                same_object(&before, &imported, address, &step.ignored)?;
                imported
            }
        };
        step.checks.iter().try_for_each(|check| check(&outcome))
    }

    /// Returns the outcome if it has no error and no secret.
    fn succeeded(&self, outcome: Outcome) -> Result<Outcome, String> {
        if !outcome.errors.is_empty() {
            return Err(outcome.errors.join("\n"));
        }
        self.check_secrets(&outcome).map(|()| outcome)
    }

    fn check_secrets(&self, outcome: &Outcome) -> Result<(), String> {
        let is_written = |secret: &&String| outcome.written.iter().any(|it| finds(it, secret));
        match self.secrets.iter().position(|it| is_written(&it)) {
            Some(index) => Err(format!("secret {} was written to a file or a message", index + 1)),
            None => Ok(()),
        }
    }

    fn check_destroyed(&self, outcome: &Outcome) -> Result<(), String> {
        if !outcome.errors.is_empty() {
            return Err(outcome.errors.join("\n"));
        }
        match outcome.objects.keys().next() {
            Some(address) => Err(format!("{address} is left in the state")),
            None => self.check_secrets(outcome),
        }
    }
}

#[expect(clippy::print_stdout, reason = "a test that is skipped in part says so")]
fn say_skipped() {
    println!("skipped in part: {PROGRAMS} is not set");
}

/// The programs in [`PROGRAMS`].
fn programs() -> Vec<PathBuf> {
    let listed = std::env::var_os(PROGRAMS).unwrap_or_default();
    std::env::split_paths(&listed).filter(|it| it != Path::new("")).collect()
}

fn failed(outcome: Outcome, text: &str) -> Result<Outcome, String> {
    match outcome.errors.iter().any(|it| contains(it, text)) {
        true => Ok(outcome),
        false if outcome.errors.is_empty() => {
            Err(format!("no error, but one with the text {text:?} is expected"))
        }
        false => Err(format!("no error has the text {text:?}:\n{}", outcome.errors.join("\n"))),
    }
}

/// Returns an error if a plan after an apply has changes.
fn settled(outcome: &Outcome) -> Result<(), String> {
    let mut changes =
        outcome.actions.iter().filter(|(_, it)| !matches!(it, Action::NoOp | Action::Read));
    match (changes.next(), outcome.drifted.first()) {
        (Some((address, action)), _) => {
            Err(format!("a second plan has changes: {address}: {action:?}"))
        }
        (None, Some(address)) => {
            Err(format!("{address} differs from the state as soon as it is read again"))
        }
        (None, None) => Ok(()),
    }
}

/// Returns an error if the imported object differs from the one in the state.
fn same_object(
    before: &Outcome,
    imported: &Outcome,
    address: &str,
    ignored: &[String],
) -> Result<(), String> {
    let object = |outcome: &Outcome| {
        let mut object = outcome.objects.get(address).cloned();
        if let Some(Json::Object(attributes)) = &mut object {
            attributes.retain(|name, _| !ignored.contains(name));
        }
        object.ok_or_else(|| format!("{address} is not in the state"))
    };
    let (known, found) = (object(before)?, object(imported)?);
    let names = known.as_object().into_iter().flatten().map(|(name, _)| name);
    for name in names {
        if known[name] != found[name] {
            return Err(format!(
                "{address}: the import found {} for {name}, not {}",
                found[name], known[name]
            ));
        }
    }
    Ok(())
}
