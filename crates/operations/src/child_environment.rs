//! The environment variables that child processes do not inherit: values of secret input variables, and keys.
//!
//! Children inherit `TF_VAR_name` and `TF_CLI_ARGS*`, because a script that a provider or `local-exec` runs may
//! start this program or `tofu` again. Such a variable is withheld if it gives a value to an input variable that
//! the root module declares `sensitive` or `ephemeral`.
//!
//! **Invariant:** until the declarations are known, or if they cannot be read, every name that may hold a value is
//! withheld.

use std::{
    ffi::OsString,
    path::PathBuf,
    process::Command,
    sync::{Mutex, MutexGuard, PoisonError},
};

use project::Project;
use sorted::TreeSet;
use values::Str;

use crate::{
    root_system::Variables,
    variables::{flag::VarFlag, secrecy},
};

/// The prefix of environment variables that hold the value of one input variable.
const VARIABLE: &str = "TF_VAR_";

/// The prefix of environment variables that hold command line arguments, including `-var`.
const ARGUMENTS: &str = "TF_CLI_ARGS";

/// The keys of state and plan encryption. No child process needs them.
const ENCRYPTION: &str = "TF_ENCRYPTION";

/// The prefix of registry tokens. Only commands of `local-exec` inherit these, because such a command may run this
/// program again.
const TOKENS: &str = "TF_TOKEN_";

/// Reads the flags that set variables from the text of `TF_CLI_ARGS`. `None` if the text cannot be understood.
pub type ReadArguments = fn(&str) -> Option<Vec<VarFlag>>;

/// Decides which environment variables child processes inherit.
pub struct ChildEnvironment {
    arguments: ReadArguments,
    variables: Variables,
    /// The directory in which children run. Empty for the working directory of the process.
    directory: PathBuf,
    shared: Mutex<Shared>,
}

#[derive(Default)]
struct Shared {
    withheld: WithheldVariables,
    /// The value of `withheld` at the start of the oldest provider process that may still run.
    started_with: Option<WithheldVariables>,
}

/// The variables named `TF_VAR_…` and `TF_CLI_ARGS…` that children do not inherit.
#[derive(Clone, Default, PartialEq, Eq)]
enum WithheldVariables {
    /// All of them: the declarations are not known, or some of them cannot be read.
    #[default]
    All,
    Known(TreeSet<OsString>),
}

impl ChildEnvironment {
    /// Withholds everything that may hold a value, until the declarations are known.
    pub fn new(
        arguments: ReadArguments,
        variables: Variables,
        directory: PathBuf,
    ) -> ChildEnvironment {
        ChildEnvironment { arguments, variables, directory, shared: Mutex::default() }
    }

    /// Records which variables the root module of `project` declares as secrets.
    pub fn declare(&self, project: &Project) {
        let names: Vec<OsString> = self.names().filter(may_hold_values).collect();
        // Most environments have no such variable. Skip the search through every block then, because it takes
        // time.
        let secrets = match names.is_empty() {
            true => Some(TreeSet::new()),
            false => secrecy::secret_names(project),
        };
        self.shared().withheld = match secrets {
            Some(secrets) => WithheldVariables::Known(
                names.into_iter().filter(|name| self.holds_secret(name, &secrets)).collect(),
            ),
            None => WithheldVariables::All,
        };
    }

    /// Gives a provider process its variables and its directory. To be called just before the process starts.
    pub fn prepare_provider(&self, command: &mut Command) {
        let mut shared = self.shared();
        let withheld = shared.withheld.clone();
        shared.started_with.get_or_insert(withheld);
        drop(shared);
        self.variables.pass_on(command, &self.withheld_from_git());
        self.place(command, None);
    }

    /// Gives a command of `local-exec` its variables and its directory, which is relative to the root module.
    pub fn prepare_command(&self, command: &mut Command, directory: Option<&str>) {
        let withheld: Vec<OsString> = self.names().filter(|name| self.withholds(name)).collect();
        self.variables.pass_on(command, &withheld);
        self.place(command, directory);
    }

    fn place(&self, command: &mut Command, directory: Option<&str>) {
        match directory {
            Some(directory) => {
                command.current_dir(self.directory.join(directory));
            }
            None if self.directory.as_os_str().is_empty() => {}
            None => {
                command.current_dir(&self.directory);
            }
        }
    }

    /// The variables that `git` does not inherit when it downloads modules.
    pub fn withheld_from_git(&self) -> Vec<OsString> {
        self.names().filter(|name| begins(name, TOKENS) || self.withholds(name)).collect()
    }

    /// Returns true if provider processes may run with an environment that the current declarations no longer
    /// allow. The caller must end all of them; the next call covers processes that start after this one. Returns
    /// false as long as the declarations cannot be read, because nothing is planned then.
    pub fn take_outdated(&self) -> bool {
        let mut shared = self.shared();
        let is_outdated = shared.withheld != WithheldVariables::All
            && shared.started_with.as_ref().is_some_and(|it| *it != shared.withheld);
        if is_outdated {
            shared.started_with = None;
        }
        is_outdated
    }

    fn withholds(&self, name: &OsString) -> bool {
        let is_secret = || match &self.shared().withheld {
            WithheldVariables::All => true,
            WithheldVariables::Known(names) => names.contains(name),
        };
        begins(name, ENCRYPTION) || (may_hold_values(name) && is_secret())
    }

    fn holds_secret(&self, name: &OsString, secrets: &TreeSet<Str>) -> bool {
        // A name that is not UTF-8 is not an identifier, so no module can declare such a variable.
        let text = name.to_string_lossy();
        match text.strip_prefix(VARIABLE) {
            Some(variable) => secrets.contains(variable),
            None => self.variables.get(name).is_none_or(|it| {
                let flags = it.to_str().and_then(self.arguments);
                gives_secret(flags.as_deref(), secrets)
            }),
        }
    }

    fn names(&self) -> impl Iterator<Item = OsString> {
        self.variables.names().into_iter()
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn begins(name: &OsString, prefix: &str) -> bool {
    name.as_encoded_bytes().starts_with(prefix.as_bytes())
}

fn may_hold_values(name: &OsString) -> bool {
    begins(name, VARIABLE) || begins(name, ARGUMENTS)
}

/// Returns true if command line arguments give a value to a secret variable. `None`, for a text that cannot be
/// understood, counts as true.
pub fn gives_secret(flags: Option<&[VarFlag]>, secrets: &TreeSet<Str>) -> bool {
    let Some(flags) = flags else { return true };
    flags.iter().any(|flag| match flag {
        VarFlag::Value(text) => {
            text.split_once('=').is_none_or(|(name, _)| secrets.contains(name.trim()))
        }
        VarFlag::File(_) => false,
    })
}
