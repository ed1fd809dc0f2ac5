//! Module packages in git repositories. The `git` program fetches them, because it has access to the user's keys
//! and credential helpers.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Stdio;

use tokio::process::Command;

use super::contents::LEFT_OUT;
use super::error::FetchError;
use crate::blocking::blocking;

/// The settings for running `git`.
#[derive(Clone, Debug)]
pub struct Git {
    /// The path of the program.
    pub program: OsString,
    /// The environment variables that are not passed on.
    pub withheld: Vec<OsString>,
}

/// Variables that would make git use the repository of the working directory.
const OF_ANOTHER_REPOSITORY: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// Settings that make a checkout the same on every machine and prevent git from running other programs.
const SETTINGS: [&str; 13] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.autocrlf=false",
    "core.eol=lf",
    "core.symlinks=true",
    "core.attributesFile=/dev/null",
    "protocol.allow=never",
    "protocol.git.allow=always",
    "protocol.http.allow=always",
    "protocol.https.allow=always",
    "protocol.ssh.allow=always",
    // `user` excludes submodules: a repository could otherwise copy a local file to the package.
    "protocol.file.allow=user",
    "gc.auto=0",
];

impl Git {
    /// Checks out a repository at a revision, a `ref` or its default branch in an empty directory. Returns the
    /// revision.
    pub(super) async fn checkout(
        &self,
        url: &str,
        reference: Option<&str>,
        revision: Option<&str>,
        target: &Path,
    ) -> Result<String, FetchError> {
        let wanted = revision.or(reference).unwrap_or("HEAD");
        if !is_name(wanted) {
            return Err(FetchError::Refused(format!(
                "{wanted:?} cannot be the name of a branch, a tag or a revision"
            )));
        }
        self.run(target, &["init", "--quiet", "--template="]).await?;
        let shallow = ["fetch", "--quiet", "--no-tags", "--depth=1", "--", url, wanted];
        let whole = ["fetch", "--quiet", "--no-tags", "--", url, wanted];
        let fetched = match self.run(target, &shallow).await {
            // A server of plain files does not support shallow fetches.
            Err(FetchError::Program(words)) if words.contains("shallow capabilities") => {
                self.run(target, &whole).await
            }
            fetched => fetched,
        };
        let found = match fetched {
            Ok(_) => "FETCH_HEAD".to_owned(),
            // A server may refuse to send single revisions, and only the repository can resolve a short one.
            Err(error) if is_revision(wanted) => {
                self.search(url, wanted, target).await.ok_or(error)?
            }
            Err(error) => return Err(error),
        };
        self.run(target, &["checkout", "--quiet", "--detach", &found, "--"]).await?;
        if target.join(".gitmodules").exists() {
            // Most submodules have URLs relative to the repository that contains them.
            let origin = format!("remote.origin.url={url}");
            let update = ["submodule", "--quiet", "update", "--init", "--recursive"];
            self.run(target, &[&["-c", &origin], &update[..]].concat()).await?;
        }
        let revision = self.run(target, &["rev-parse", "--verify", "HEAD"]).await?;
        let checked_out = target.to_owned();
        blocking(move || remove_repositories(&checked_out)).await?;
        Ok(revision.trim().to_owned())
    }

    /// Fetches the whole repository and resolves a revision in it. `None` if it does not exist.
    async fn search(&self, url: &str, revision: &str, target: &Path) -> Option<String> {
        let all = ["fetch", "--quiet", "--", url, "+refs/*:refs/remotes/all/*"];
        self.run(target, &all).await.ok()?;
        let commit = format!("{revision}^{{commit}}");
        let parse = ["rev-parse", "--verify", "--quiet", &commit];
        let found = self.run(target, &parse).await.ok()?;
        Some(found.trim().to_owned())
    }

    /// A command of git in a directory, which runs no other program because of a repository's settings, and asks
    /// nothing. The caller adds the arguments.
    pub fn command(&self, directory: &Path) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command.arg("-C").arg(directory);
        command.args(SETTINGS.iter().flat_map(|it| ["-c", it]));
        command.stdin(Stdio::null()).env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
        let withheld = self.withheld.iter().map(OsString::as_os_str);
        for name in withheld.chain(OF_ANOTHER_REPOSITORY.iter().map(OsStr::new)) {
            command.env_remove(name);
        }
        command
    }

    async fn run(&self, target: &Path, arguments: &[&str]) -> Result<String, FetchError> {
        let mut command = Command::from(self.command(target));
        command.args(arguments).kill_on_drop(true);
        let output = command.output().await.map_err(|error| {
            let program = self.program.display();
            FetchError::Refused(format!(
                "{program}, which is needed for the download, cannot be run: {error}"
            ))
        })?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(FetchError::Program(last_words("git", &output.stderr))),
        }
    }
}

/// The last lines of the error output of a program, without passwords in URLs.
pub(super) fn last_words(program: &str, stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines = text.lines().map(str::trim_end).filter(|it| !it.is_empty());
    let last: Vec<&str> = lines.rev().take(8).collect();
    match last.is_empty() {
        true => format!("{program} failed without a word"),
        false => without_users(&last.into_iter().rev().collect::<Vec<_>>().join("\n")),
    }
}

/// Removes user information from the URLs in a text, because it often contains a password or token.
fn without_users(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + "://".len());
        shown.push_str(before);
        let end = after.find(|it: char| it.is_whitespace() || "/'\"".contains(it));
        let authority = &after[..end.unwrap_or(after.len())];
        rest = authority.rfind('@').map_or(after, |at| &after[at + 1..]);
    }
    shown.push_str(rest);
    shown
}

/// Returns true if the text can be a ref name, and neither an option nor a refspec.
fn is_name(text: &str) -> bool {
    let is_plain = |it: char| !it.is_control() && !it.is_whitespace() && !":+^~?*[\\".contains(it);
    !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain)
}

fn is_revision(text: &str) -> bool {
    (7..=64).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_hexdigit())
}

/// Removes the repository and those of its submodules from the fetched files, because they are not part of the
/// package.
pub(super) fn remove_repositories(target: &Path) -> Result<(), FetchError> {
    let mut pending = vec![target.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(&directory)?.flatten() {
            let (path, kind) = (entry.path(), entry.file_type()?);
            let is_left_out = LEFT_OUT.iter().any(|it| entry.file_name() == *it);
            match (is_left_out, kind.is_dir()) {
                (true, true) => std::fs::remove_dir_all(&path)?,
                (true, false) => std::fs::remove_file(&path)?,
                (false, true) => pending.push(path),
                (false, false) => {}
            }
        }
    }
    Ok(())
}
