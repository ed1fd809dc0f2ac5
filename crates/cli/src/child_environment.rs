//! The part of the environment that child processes do not inherit: values of secret input variables, and keys.
//!
//! `TF_VAR_name` and `TF_CLI_ARGS*` are inherited, because a script that a provider or `local-exec` runs may start this program or
//! `tofu` again. One of them is withheld if it has a value for a variable that the root module declares `sensitive` or `ephemeral`.
//!
//! **Invariant:** as long as the declarations are not known, or cannot be read, every name that may hold a value is withheld.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    sync::{Mutex, MutexGuard, PoisonError},
};

use project::Project;
use values::Str;

use crate::{
    args, shell_words,
    variables::{self, VarFlag},
};

/// The prefix of names that hold the value of one input variable.
const VARIABLE: &str = "TF_VAR_";

/// The prefix of names that hold arguments, `-var` among them.
const ARGUMENTS: &str = "TF_CLI_ARGS";

/// Keys of state and plan encryption: no child needs them.
const ENCRYPTION: &str = "TF_ENCRYPTION";

/// Tokens for the registries that this program talks to. A command may run this program again and need them then.
const TOKENS: &str = "TF_TOKEN_";

/// Decides which names of the environment children inherit.
#[derive(Default)]
pub(crate) struct ChildEnvironment {
    shared: Mutex<Shared>,
}

#[derive(Default)]
struct Shared {
    withheld: Withheld,
    /// The value of `withheld` when the oldest provider process that may still run was started.
    started_with: Option<Withheld>,
}

/// The names of `TF_VAR_` and `TF_CLI_ARGS` that children do not inherit.
#[derive(Clone, Default, PartialEq, Eq)]
enum Withheld {
    /// The declarations are not known, or not all of them can be read.
    #[default]
    All,
    Known(BTreeSet<OsString>),
}

impl ChildEnvironment {
    /// Takes over which variables the root module of `project` declares as secrets.
    pub(crate) fn declare(&self, project: &Project) {
        let names: Vec<OsString> = names().filter(may_hold_values).collect();
        // Most environments have none, and looking at every block takes time.
        let secrets = match names.is_empty() {
            true => Some(BTreeSet::new()),
            false => variables::secret_names(project),
        };
        self.shared().withheld = match secrets {
            Some(secrets) => Withheld::Known(
                names.into_iter().filter(|name| holds_secret(name, &secrets)).collect(),
            ),
            None => Withheld::All,
        };
    }

    /// The names that a provider's process does not inherit, when it is about to be started.
    pub(crate) fn withheld_from_provider(&self) -> Vec<OsString> {
        let mut shared = self.shared();
        let withheld = shared.withheld.clone();
        shared.started_with.get_or_insert(withheld);
        drop(shared);
        self.withheld_from_git()
    }

    /// The names that `git` does not inherit when it gets modules.
    pub(crate) fn withheld_from_git(&self) -> Vec<OsString> {
        names().filter(|name| begins(name, TOKENS) || self.withholds(name)).collect()
    }

    /// The names that the commands of `local-exec` do not inherit.
    pub(crate) fn withheld_from_commands(&self) -> Vec<OsString> {
        names().filter(|name| self.withholds(name)).collect()
    }

    /// Returns true if provider processes may run whose environment is not what the declarations ask for now. The caller ends them
    /// all: the next call is about those that are started later. False as long as declarations cannot be read, because nothing is
    /// planned then.
    pub(crate) fn take_outdated(&self) -> bool {
        let mut shared = self.shared();
        let is_outdated = shared.withheld != Withheld::All
            && shared.started_with.as_ref().is_some_and(|it| *it != shared.withheld);
        if is_outdated {
            shared.started_with = None;
        }
        is_outdated
    }

    fn withholds(&self, name: &OsString) -> bool {
        let is_secret = || match &self.shared().withheld {
            Withheld::All => true,
            Withheld::Known(names) => names.contains(name),
        };
        begins(name, ENCRYPTION) || (may_hold_values(name) && is_secret())
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn names() -> impl Iterator<Item = OsString> {
    std::env::vars_os().map(|(name, _)| name)
}

fn begins(name: &OsString, prefix: &str) -> bool {
    name.as_encoded_bytes().starts_with(prefix.as_bytes())
}

fn may_hold_values(name: &OsString) -> bool {
    begins(name, VARIABLE) || begins(name, ARGUMENTS)
}

fn holds_secret(name: &OsString, secrets: &BTreeSet<Str>) -> bool {
    // A name that is not UTF-8 is no identifier: no module can declare it.
    let text = name.to_string_lossy();
    match text.strip_prefix(VARIABLE) {
        Some(variable) => secrets.contains(variable),
        None => std::env::var_os(name).is_none_or(|it| gives_secret(it.to_str(), secrets)),
    }
}

/// Whether arguments give a value to a secret variable. `None` is a text that is not UTF-8.
fn gives_secret(arguments: Option<&str>, secrets: &BTreeSet<Str>) -> bool {
    let Some(words) = arguments.and_then(shell_words) else { return true };
    variables::ordered_flags(&args::normalize(words)).iter().any(|flag| match flag {
        VarFlag::Value(text) => {
            text.split_once('=').is_none_or(|(name, _)| secrets.contains(name.trim()))
        }
        VarFlag::File(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_withheld_where_they_give_a_secret_a_value_or_cannot_be_read() {
        let secrets = BTreeSet::from(["token".into()]);
        let given = |text: &str| gives_secret(Some(text), &secrets);
        for text in [
            "-var token=x",
            "-no-color --var=token=x",
            "-var 'token = x'",
            "-var region=x -var=\"token=x\"",
            "-var token",
            "-var 'token=x",
        ] {
            assert!(given(text), "{text}");
        }
        for text in ["", "-no-color", "-var region=token=x", "-var-file=token", "-var Token=x"] {
            assert!(!given(text), "{text}");
        }
        assert!(gives_secret(None, &secrets));
    }
}
