//! Explains the refusals of a sandbox that the error text of a provider names, with the lines that would permit them.
//!
//! Landlock and seccomp report a refusal to the process as an ordinary error (`EACCES`, `EPERM`), and to the log of the
//! kernel, which only an administrator may read. So the text of the provider is all that there is. It is compared with
//! the policy and with the permissions of the user: a path that the policy permits, or that the user may not use
//! either, was not refused by the sandbox.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    path::{Path, PathBuf},
};

use rustix::fs::{Access, access};

use crate::{Policy, policy::DNS, system, token};

/// Texts of the errors with which the kernel refuses something, in the words of Go, Rust, the C library and shells.
const REFUSED: &[&str] = &[
    "permission denied",
    "operation not permitted",
    "eacces",
    "eperm",
    "os error 13",
    "os error 1)",
    "cannot fork",
];
/// Texts of a resolver that could not open a socket.
const UNRESOLVED: &[&str] = &["name resolution", "failed to lookup address", "no such host"];
/// Words about starting a program.
const STARTS: &[&str] = &["fork/exec", "fork:", "cannot fork", "exec:", "exec ", "spawn "];
/// Words about the network.
const NETWORK: &[&str] = &["dial", "connect", "socket", "listen", "bind", "tcp"];
/// Words about connections, without which an address in a line is only mentioned.
const CONNECTS: &[&str] = &["dial", "connect", "os error"];
/// Words about listening.
const LISTENS: &[&str] = &["listen", "bind"];
/// Words about changing files.
const WRITES: &[&str] = &[
    "write ", "writing", "written", "creat", "mkdir", "remov", "unlink", "rename", "delet", "chmod",
];

/// The calls that Go names before the path in an error.
const CALLS: &[&str] =
    &["open", "openat", "mkdir", "mkdirat", "remove", "unlinkat", "unlink", "link", "rmdir"];

/// The most parts of a text that are looked at. Texts come from providers, and may be long.
const MOST_PARTS: usize = 100;

/// The sandbox of one provider, for explanations.
#[derive(Clone, Debug)]
pub struct Confinement {
    /// The source address of the provider, as the CLI configuration names it.
    pub provider: String,
    /// The policy of its processes.
    pub policy: Policy,
    /// The directory that its processes run in, for the relative paths in its texts.
    pub directory: PathBuf,
}

/// The actions of a provider that its policy does not permit.
#[derive(Default)]
struct Attempts {
    read: BTreeSet<PathBuf>,
    write: BTreeSet<PathBuf>,
    /// Permitted paths that do not exist, so that the kernel could not permit them.
    absent: BTreeSet<PathBuf>,
    connect: BTreeSet<u16>,
    bind: BTreeSet<u16>,
    is_network: bool,
    is_process: bool,
}

impl Confinement {
    /// Explains the refusals that an error text names: the paths, ports and programs that the policy does not permit,
    /// and the lines for the CLI configuration that would permit them. `None` if the text names none.
    #[must_use]
    pub fn explain(&self, text: &str) -> Option<String> {
        let lower = text.to_lowercase();
        let is_offline = self.policy.is_offline();
        let has = |words: &[&str], text: &str| words.iter().any(|it| text.contains(it));
        let is_unresolved = is_offline && has(UNRESOLVED, &lower);
        if !has(REFUSED, &lower) && !is_unresolved {
            return None;
        }
        let words: String = text.lines().map(token::words).collect();
        let mut attempts = Attempts {
            is_process: !self.policy.grants.processes && has(STARTS, &words),
            is_network: is_unresolved || (is_offline && has(NETWORK, &words)),
            ..Attempts::default()
        };
        let is_written = has(WRITES, &words);
        // The line with the error names what was refused. Other lines count only if it names nothing.
        let (named, others): (Vec<&str>, Vec<&str>) =
            text.lines().partition(|it| has(REFUSED, &it.to_lowercase()));
        for lines in [named, others] {
            if attempts.has_object() {
                break;
            }
            let parts =
                lines.into_iter().flat_map(|line| token::parts(line).map(move |it| (line, it)));
            for (line, part) in parts.take(MOST_PARTS) {
                if let Some(port) = token::port(part) {
                    self.look_at_port(port, &token::words(line), &mut attempts);
                } else if is_path(part, &lower) && !attempts.is_process {
                    self.look_at_path(&self.directory.join(part), is_written, &mut attempts);
                }
            }
        }
        attempts.explained(&self.provider)
    }

    /// Looks at a port of a line with these words.
    fn look_at_port(&self, port: u16, words: &str, attempts: &mut Attempts) {
        let has = |searched: &[&str]| searched.iter().any(|it| words.contains(it));
        let grants = &self.policy.grants;
        let (ports, permitted) = match has(LISTENS) {
            true => (&mut attempts.bind, &grants.bind),
            false if has(CONNECTS) || has(UNRESOLVED) => (&mut attempts.connect, &grants.connect),
            false => return,
        };
        // The port of DNS needs no line of its own.
        if !permitted.contains(port) && port != DNS {
            ports.insert(port);
        }
    }

    fn look_at_path(&self, path: &Path, is_written: bool, attempts: &mut Attempts) {
        let Some((existing, path)) = resolved(path) else { return };
        let grants = &self.policy.grants;
        let is_below = |root: &&PathBuf| resolved(root).is_some_and(|(_, it)| path.starts_with(it));
        let mut permitting = grants.write.iter().filter(is_below).peekable();
        if permitting.peek().is_some() {
            // The kernel permits only what exists when the process starts.
            let permitting: Vec<&PathBuf> = permitting.collect();
            if !permitting.iter().any(|it| it.exists()) {
                attempts.absent.extend(permitting.into_iter().cloned());
            }
            return;
        }
        let is_readable =
            grants.read.iter().any(|it| is_below(&it)) || system::is_always_readable(&path);
        let exists = existing == path;
        if exists && !is_written && !is_readable {
            if access(&path, Access::READ_OK).is_ok() {
                attempts.read.insert(path);
            }
            return;
        }
        // A file is replaced by way of another one beside it, so the directory must be writable.
        let directory = if existing.is_dir() { existing } else { parent(&existing) };
        if access(&directory, Access::WRITE_OK).is_err() {
            return;
        }
        attempts.write.insert(if directory == Path::new("/") { parent(&path) } else { directory });
    }
}

/// Returns true if a part is a path. A part without a dot or slash at its begin is one only directly before the error:
/// with a slash in it, at the begin of the line, or as Go writes it there.
fn is_path(part: &str, lower: &str) -> bool {
    if ["/", "./", "../"].iter().any(|it| part.starts_with(it)) {
        return true;
    }
    let error = format!("{}: permission denied", part.to_lowercase());
    let is_name = part.contains(['.', '/']) && !part.contains("://");
    let is_refused = |line: &str| {
        let has_place = part.contains('/') && line.contains(&format!(" {error}"));
        is_name && (has_place || line.trim_start().starts_with(&error))
    };
    lower.lines().any(is_refused) || CALLS.iter().any(|it| lower.contains(&format!("{it} {error}")))
}

/// Returns a path without links, and the longest part of it that exists.
fn resolved(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let existing = path.ancestors().find(|it| it.exists())?;
    let rest = path.strip_prefix(existing).ok()?;
    let existing = existing.canonicalize().ok()?;
    let whole = if rest.as_os_str().is_empty() { existing.clone() } else { existing.join(rest) };
    Some((existing, whole))
}

fn parent(path: &Path) -> PathBuf {
    path.parent().unwrap_or(path).to_owned()
}

impl Attempts {
    fn has_object(&self) -> bool {
        let has_path = !self.read.is_empty() || !self.write.is_empty();
        has_path
            || !self.absent.is_empty()
            || !self.connect.is_empty()
            || !self.bind.is_empty()
            || self.is_process
    }

    fn explained(self, provider: &str) -> Option<String> {
        let texts: Vec<String> = [self.explained_absence(provider), self.suggested(provider)]
            .into_iter()
            .flatten()
            .collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    /// Explains that permitted paths do not exist.
    fn explained_absence(&self, provider: &str) -> Option<String> {
        (!self.absent.is_empty()).then(|| {
            format!(
                "The provider {provider} runs in a sandbox, in which it may write in {}, but a path can be \
                 permitted only if it exists when the provider starts: create it first.",
                list(&self.absent)
            )
        })
    }

    /// Suggests the lines that would permit the rest.
    fn suggested(self, provider: &str) -> Option<String> {
        let ports = |ports: &BTreeSet<u16>| {
            let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
            ports.join(", ")
        };
        let (mut refused, mut lines) = (Vec::new(), String::new());
        let mut add = |what: String, name: &str, value: String| {
            refused.push(what);
            let _ = write!(lines, "\n    {name} = {value}");
        };
        if !self.read.is_empty() {
            add(format!("read {}", list(&self.read)), "read", format!("[{}]", list(&self.read)));
        }
        if !self.write.is_empty() {
            add(
                format!("write in {}", list(&self.write)),
                "write",
                format!("[{}]", list(&self.write)),
            );
        }
        if !self.connect.is_empty() {
            let ports = ports(&self.connect);
            add(format!("connect to the TCP port {ports}"), "connect", format!("[{ports}]"));
        } else if self.bind.is_empty() && self.is_network {
            add(
                "use a network".to_owned(),
                "connect",
                "[443] # or the port that it needs".to_owned(),
            );
        }
        if !self.bind.is_empty() {
            let ports = ports(&self.bind);
            add(format!("listen on the TCP port {ports}"), "bind", format!("[{ports}]"));
        }
        if self.is_process {
            add("start other programs".to_owned(), "processes", "true".to_owned());
        }
        if refused.is_empty() {
            return None;
        }
        Some(format!(
            "The provider {provider} runs in a sandbox, in which it may not {}. If you trust it with \
             that, add to the CLI configuration:\n\n  provider_sandbox {{\n    include = \
             [\"{provider}\"]{lines}\n  }}",
            refused.join(", nor ")
        ))
    }
}

/// Paths as elements of a list of the CLI configuration.
fn list(paths: &BTreeSet<PathBuf>) -> String {
    let paths: Vec<String> = paths.iter().map(|it| quoted(it)).collect();
    paths.join(", ")
}

/// A path as a string of the CLI configuration.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests;
