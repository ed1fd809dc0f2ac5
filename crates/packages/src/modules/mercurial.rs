//! Module packages in Mercurial repositories. The program `hg` fetches them.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Stdio;

use tokio::process::Command;

use super::error::FetchError;
use super::git::{last_words, remove_repositories};
use crate::blocking::blocking;

/// The access to repositories.
#[derive(Clone, Copy)]
pub(super) struct Mercurial<'a> {
    /// The environment variables that are not passed on.
    pub(super) withheld: &'a [OsString],
}

const PROGRAM: &str = "hg";

/// Variables that make a checkout the same on every machine, and prevent `hg` from running other programs: extensions
/// and hooks are settings of files, of the user and of a repository on this machine.
const ENVIRONMENT: [(&str, &str); 5] = [
    ("HGENCODING", "UTF-8"),
    ("HGPLAIN", "+strictflags"),
    ("HGRCPATH", ""),
    ("HGRCSKIPREPO", "1"),
    ("LC_ALL", "C"),
];

/// Settings for every command. A subrepository could otherwise copy a repository of this machine to the package, and
/// the server could name another one for the first download.
const SETTINGS: [&str; 3] =
    ["subrepos.allowed=false", "ui.clonebundles=false", "ui.interactive=false"];

impl Mercurial<'_> {
    /// Checks out a repository at a revision, a `rev` or the tip of its default branch in an empty directory. Returns
    /// the revision.
    pub(super) async fn checkout(
        self,
        url: &str,
        rev: Option<&str>,
        revision: Option<&str>,
        target: &Path,
    ) -> Result<String, FetchError> {
        let wanted = revision.or(rev);
        if let Some(wanted) = wanted.filter(|it| !is_name(it)) {
            let why = format!("{wanted:?} cannot be the name of a branch, a tag or a revision");
            return Err(FetchError::Refused(why));
        }
        let here = OsStr::new(".");
        self.run(target, &["clone", "--noupdate", "--pull", "--quiet", "--", url], Some(here))
            .await?;
        let update = match wanted {
            Some(wanted) => vec!["update", "--clean", "--quiet", "--rev", wanted],
            None => vec!["update", "--clean", "--quiet"],
        };
        self.run(target, &update, None).await?;
        let found = self.run(target, &["log", "--rev", ".", "--template", "{node}"], None).await?;
        let checked_out = target.to_owned();
        blocking(move || {
            std::fs::remove_dir_all(checked_out.join(".hg"))?;
            remove_repositories(&checked_out)
        })
        .await?;
        Ok(found.trim().to_owned())
    }

    async fn run(
        self,
        directory: &Path,
        arguments: &[&str],
        last: Option<&OsStr>,
    ) -> Result<String, FetchError> {
        let mut command = Command::new(PROGRAM);
        command.current_dir(directory).stdin(Stdio::null()).kill_on_drop(true);
        command.args(SETTINGS.iter().flat_map(|it| ["--config", it]));
        command.args(arguments).args(last).envs(ENVIRONMENT);
        for name in self.withheld {
            command.env_remove(name);
        }
        let output = command.output().await.map_err(|error| {
            FetchError::Refused(format!(
                "{PROGRAM}, which is needed for the download, cannot be run: {error}"
            ))
        })?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(FetchError::Program(last_words(PROGRAM, &output.stderr))),
        }
    }
}

/// Returns true if the text can be a name, and neither an option nor an expression over revisions.
fn is_name(text: &str) -> bool {
    let is_plain = |it: char| it.is_alphanumeric() || "-_./+@".contains(it);
    let is_plain = !text.is_empty() && text.chars().all(is_plain);
    is_plain && !text.starts_with(['-', '.']) && !text.contains("..")
}
