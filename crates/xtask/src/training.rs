//! The runs that a build is trained on: examples and an installation for the order of functions, and for a
//! profile-guided build also a configuration of the AWS provider and random modules.
//!
//! **Invariant:** none of them is a workload of `bench`, so that a figure never shows a build that was optimized
//! for it. The installation is that of one small package; the bench installs forty.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use differential::{Program, generate};
use registry::{AuthorKey, Release, Server};

/// The seed and the number of the random cases.
const RANDOM: (u64, u64) = (20_261, 150);

/// The names of the examples that need neither network nor another provider.
const EXAMPLES: &[&str] = &["lease", "tunnel"];

/// The folder of a filesystem mirror with the AWS provider, as for `bench`.
const MIRROR: &str = "MAYFLY_AWS_MIRROR";

/// The commands that run for an example.
const COMMANDS: &[&[&str]] = &[
    &["version"],
    &["init"],
    &["fmt", "-check"],
    &["validate"],
    &["plan"],
    &["apply", "-auto-approve"],
    &["plan"],
    &["show"],
    &["output"],
    &["state", "list"],
    &["destroy", "-auto-approve"],
];

/// A program in a sandbox could not write what it has counted.
const NO_SANDBOX: &str = "provider_sandbox {\n  enabled = false\n}\n";

/// Runs all of them with an executable.
///
/// # Errors
/// Returns an error if a program cannot be started, or if an example fails.
pub(crate) fn run(root: &Path, program: &Path, work: &Path) -> Result<()> {
    let trainee = Trainee::new(program, work)?;
    trainee.usual(root)?;
    trainee.aws(&root.join("tests/data/aws"))?;
    trainee.random()
}

/// Runs only the examples and the installation, which succeed.
///
/// # Errors
/// As for [`run`].
pub(crate) fn run_usual(root: &Path, program: &Path, work: &Path) -> Result<()> {
    Trainee::new(program, work)?.usual(root)
}

struct Trainee {
    program: PathBuf,
    work: PathBuf,
    /// The CLI configuration.
    settings: PathBuf,
}

impl Trainee {
    fn new(program: &Path, work: &Path) -> Result<Trainee> {
        if work.exists() {
            fs::remove_dir_all(work)?;
        }
        fs::create_dir_all(work)?;
        let work = work.canonicalize()?;
        Ok(Trainee { program: program.to_owned(), settings: work.join("cli.tfrc"), work })
    }

    fn usual(&self, root: &Path) -> Result<()> {
        fs::write(&self.settings, NO_SANDBOX)?;
        self.examples(&root.join("examples"))?;
        self.installation()
    }

    fn examples(&self, examples: &Path) -> Result<()> {
        let copies = self.work.join("examples");
        copy(examples, &copies)?;
        for name in EXAMPLES {
            let folder = copies.join(name);
            for arguments in COMMANDS {
                let ended = self.run(&folder, arguments, &[])?;
                ensure!(ended, "{} of the example {name} failed", arguments.join(" "));
            }
        }
        for argument in ["apply", "apply", "destroy"] {
            let mut script = command_of(&copies.join("secrets/run.sh"));
            script.arg(argument).env("MAYFLY_BIN", &self.program);
            script.env("TF_CLI_CONFIG_FILE", &self.settings);
            ensure!(quiet(&mut script)?, "the example secrets failed");
        }
        Ok(())
    }

    /// Installs a signed package from a registry on this machine.
    fn installation(&self) -> Result<()> {
        let folder = self.work.join("installation");
        fs::create_dir_all(&folder)?;
        let key = AuthorKey::new();
        let release = Release { key: Some(&key), ..Release::default() };
        let authority = folder.join("ca.pem");
        let server = Server::start(&authority, registry::pages(&[release]));
        let source = format!("localhost:{}/tests/thing", server.port);
        let text = format!(
            "terraform {{\n  required_providers {{\n    thing = {{ source = {source:?} }}\n  }}\n}}\n"
        );
        fs::write(folder.join("main.tf"), text)?;
        let none = folder.join("none");
        let variables = [
            ("SSL_CERT_FILE", authority),
            ("SSL_CERT_DIR", none),
            ("XDG_CACHE_HOME", folder.join("cache")),
            ("NO_PROXY", "localhost".into()),
        ];
        ensure!(self.run(&folder, &["init"], &variables)?, "the installation failed");
        Ok(())
    }

    /// Validates configurations with a hundred resources: one without errors, two with an error for each resource.
    /// Without a mirror of the provider only the errors about missing schemas are trained.
    fn aws(&self, configurations: &Path) -> Result<()> {
        let mirror = std::env::var_os(MIRROR).map(PathBuf::from);
        let text = mirror.as_ref().map(|path| {
            format!(
                "provider_installation {{\n  filesystem_mirror {{\n    path = {path:?}\n  }}\n}}\n"
            )
        });
        fs::write(&self.settings, NO_SANDBOX.to_owned() + &text.unwrap_or_default())?;
        for name in ["right.tf", "wrong_schema.tf", "wrong_values.tf"] {
            let folder = self.work.join(name.trim_end_matches(".tf"));
            fs::create_dir_all(&folder)?;
            fs::copy(configurations.join(name), folder.join("main.tf"))?;
            let commands: &[&str] = match mirror {
                Some(_) => &["init", "validate", "validate"],
                None => &["validate", "validate"],
            };
            for command in commands {
                // Their errors are typical output too.
                let _failed = self.run(&folder, &[command], &[])?;
            }
        }
        Ok(())
    }

    fn random(&self) -> Result<()> {
        let settings = Some(self.settings.clone());
        let program = Program { executable: self.program.clone(), cli_config: settings };
        let features = ["playground".to_owned()];
        let vocabulary = generate::Vocabulary { features: features.into() };
        let (seed, count) = RANDOM;
        for number in 0..count {
            let case = generate::case(seed, number, &vocabulary);
            differential::run(&case, &program, &self.work.join("random"))
                .with_context(|| format!("random case {number}"))?;
        }
        Ok(())
    }

    /// Runs the executable with these variables. Returns true if it succeeds.
    fn run(
        &self,
        folder: &Path,
        arguments: &[&str],
        variables: &[(&str, PathBuf)],
    ) -> Result<bool> {
        let mut command = command_of(&self.program);
        command.args(arguments).current_dir(folder).env("TF_CLI_CONFIG_FILE", &self.settings);
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        quiet(&mut command)
    }
}

/// Returns a command without the variables that configure the executable, on which a training run must not depend.
fn command_of(program: &Path) -> Command {
    let mut command = Command::new(program);
    let configures = |name: &OsString| {
        name.to_str().is_some_and(|it| it.starts_with("TF_") || it.starts_with("PLAYGROUND_"))
    };
    for (name, _) in std::env::vars_os().filter(|(name, _)| configures(name)) {
        command.env_remove(name);
    }
    command
}

/// Runs a command without its output. Returns true if it succeeds.
fn quiet(command: &mut Command) -> Result<bool> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let what = command.get_program().to_owned();
    Ok(command.status().with_context(|| format!("failed to start {what:?}"))?.success())
}

/// Copies a folder without hidden files, which are leftovers of earlier runs.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_left =
            ["terraform.tfstate", "terraform.tfstate.backup"].iter().any(|it| name == *it);
        if is_left || name.to_string_lossy().starts_with('.') {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &to.join(name))?,
            false => drop(fs::copy(entry.path(), to.join(name))?),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_of_earlier_runs_are_not_copied() {
        let folder = tempfile::tempdir().expect("a folder");
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("part/.terraform")).expect("is made");
        for path in ["part/main.tf", "part/terraform.tfstate", "run.sh"] {
            fs::write(from.join(path), path).expect("is written");
        }
        copy(&from, &to).expect("is copied");
        assert!(to.join("part/main.tf").is_file() && to.join("run.sh").is_file());
        assert!(
            !to.join("part/terraform.tfstate").exists() && !to.join("part/.terraform").exists()
        );
    }

    #[test]
    fn every_named_example_exists() {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        for name in EXAMPLES {
            assert!(examples.join(name).join("main.tf").is_file(), "{name}");
        }
        assert!(examples.join("secrets/run.sh").is_file());
    }
}
