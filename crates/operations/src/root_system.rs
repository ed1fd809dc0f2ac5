//! The files and environment variables of one root module, which are not necessarily those of the process.

use std::{
    ffi::{OsStr, OsString},
    io::ErrorKind,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use db::{DirectoryEntry, OsSystem, System};
use sorted::TreeMap;

/// The environment variables of one root module.
#[derive(Clone, Default)]
pub enum Variables {
    /// The variables of the process. They are never copied, because they may hold secrets.
    #[default]
    OfProcess,
    /// The given variables, and no others.
    Fixed(Arc<TreeMap<OsString, OsString>>),
}

impl Variables {
    /// The value of a variable. `None` if it is not set.
    pub(crate) fn get(&self, name: &OsStr) -> Option<OsString> {
        match self {
            Variables::OfProcess => std::env::var_os(name),
            Variables::Fixed(variables) => variables.get(name).cloned(),
        }
    }

    /// The names of all variables.
    pub(crate) fn names(&self) -> Vec<OsString> {
        match self {
            Variables::OfProcess => std::env::vars_os().map(|(name, _)| name).collect(),
            Variables::Fixed(variables) => variables.keys().cloned().collect(),
        }
    }

    /// Gives a child process these variables, except for the withheld ones.
    pub(crate) fn pass_on(&self, command: &mut Command, withheld: &[OsString]) {
        if let Variables::Fixed(variables) = self {
            // `env_clear` would be lost: the supervision of processes copies single changes only.
            for (name, _) in std::env::vars_os() {
                command.env_remove(name);
            }
            command.envs(variables.iter());
        }
        for name in withheld {
            command.env_remove(name);
        }
    }
}

/// The operating system for one root module. Files are relative to its directory; `path.cwd` is the directory in which
/// the command was called.
pub struct RootSystem {
    os: OsSystem,
    called_in: PathBuf,
    variables: Variables,
    /// The contents of named pipes that the user gave as files. A pipe can be read only once.
    pipes: Mutex<TreeMap<PathBuf, Vec<u8>>>,
}

impl RootSystem {
    /// Creates the system with the environment variables of the process. `os` works relative to the directory of the
    /// root module.
    pub fn new(os: OsSystem, called_in: PathBuf) -> RootSystem {
        let variables = Variables::OfProcess;
        RootSystem { os, called_in, variables, pipes: Mutex::default() }
    }

    /// Returns the system with these environment variables.
    pub fn with_variables(self, variables: Variables) -> RootSystem {
        RootSystem { variables, ..self }
    }

    /// The environment variables.
    pub fn environment(&self) -> &Variables {
        &self.variables
    }
}

impl System for RootSystem {
    fn read_file(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        self.os.read_file(path)
    }

    fn read_file_or_pipe(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        let mut pipes = self.pipes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = pipes.get(path) {
            return Ok(bytes.clone());
        }
        match self.os.read_file(path) {
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                let bytes = self.os.read_file_or_pipe(path)?;
                pipes.insert(path.to_owned(), bytes.clone());
                Ok(bytes)
            }
            read => read,
        }
    }

    fn list_directory(&self, path: &Path) -> std::io::Result<Vec<DirectoryEntry>> {
        self.os.list_directory(path)
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.os.is_directory(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.os.is_file(path)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name.as_ref())?.into_string().ok()
    }

    fn variables(&self, prefix: &str) -> Vec<(String, String)> {
        match &self.variables {
            Variables::OfProcess => self.os.variables(prefix),
            Variables::Fixed(variables) => {
                let text = |(name, value): (&OsString, &OsString)| {
                    Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
                };
                variables
                    .iter()
                    .filter_map(text)
                    .filter(|(name, _)| name.starts_with(prefix))
                    .collect()
            }
        }
    }

    fn current_directory(&self) -> PathBuf {
        self.called_in.clone()
    }

    fn base_directory(&self) -> PathBuf {
        self.os.current_directory()
    }

    fn now(&self) -> SystemTime {
        self.os.now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_environment_replaces_that_of_the_process() {
        let variables =
            [("A", "1"), ("B_1", "2"), ("B_2", "3")].map(|(name, it)| (name.into(), it.into()));
        let variables = Variables::Fixed(Arc::new(variables.into()));
        let system =
            RootSystem::new(OsSystem::at("/".into()), "/".into()).with_variables(variables);
        assert_eq!(system.variable("A").as_deref(), Some("1"));
        assert_eq!(system.variable("PATH"), None);
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let expected: Vec<_> = [("B_1", "2"), ("B_2", "3")].iter().map(own).collect();
        assert_eq!(system.variables("B_"), expected);
        let mut command = Command::new("true");
        system.environment().pass_on(&mut command, &["B_1".into()]);
        let passed = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        assert_eq!(
            passed.collect::<Vec<_>>(),
            [("A".as_ref(), "1".as_ref()), ("B_2".as_ref(), "3".as_ref())] as [(&OsStr, &OsStr); 2]
        );
    }
}
