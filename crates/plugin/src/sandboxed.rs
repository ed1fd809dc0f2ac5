//! The sandbox of a plugin: its temporary directory, the launcher that restricts it, and its explanations.

use std::{
    ffi::OsStr,
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use provider::ProviderDiagnostic;
use sandbox::{Confinement, Policy};
use tempfile::TempDir;

use crate::handshake::Address;

/// The begin of the names of the temporary directories. The supervisor removes no others. It is short, because the
/// path of a socket is limited to about a hundred bytes.
const PREFIX: &str = "mayfly-";
/// The variable with the directory for temporary files, which is also where a plugin puts its socket.
const TEMPORARY: &str = "TMPDIR";

/// The sandbox in which a plugin is to be started.
#[derive(Clone)]
pub struct Sandbox {
    /// The path of this program, which must call [`hidden_mode`](crate::hidden_mode) before anything else.
    pub launcher: PathBuf,
    /// The policy, and the names for explanations. The temporary directory of the plugin is added to it.
    pub confinement: Confinement,
}

/// The sandbox of a running plugin. Dropping this removes the temporary directory of the plugin.
pub(crate) struct Sandboxed {
    launcher: PathBuf,
    confinement: Arc<Confinement>,
    directory: TempDir,
}

impl Sandboxed {
    /// Creates the temporary directory, and adds it to the policy and to the environment of `command`.
    pub(crate) fn prepare(sandbox: Sandbox, command: &mut Command) -> io::Result<Sandboxed> {
        let named = command.get_envs().find(|it| it.0 == TEMPORARY).and_then(|it| it.1);
        let below =
            named.filter(|it| !it.is_empty()).map_or_else(std::env::temp_dir, PathBuf::from);
        let directory = tempfile::Builder::new().prefix(PREFIX).tempdir_in(below)?;
        // The process may run in another directory.
        let path = directory.path().canonicalize()?;
        command.env(TEMPORARY, &path);
        let Sandbox { launcher, mut confinement } = sandbox;
        confinement.policy.grants.write.push(path);
        Ok(Sandboxed { launcher, confinement: Arc::new(confinement), directory })
    }

    pub(crate) fn launcher(&self) -> &Path {
        &self.launcher
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.confinement.policy
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the address on which the process says that it listens. The error is its text, if it may be that of
    /// another program: this process is not restricted, so it must not connect there for a process that may not, nor
    /// remove the socket.
    pub(crate) fn own_address(&self, address: Address) -> Result<Address, String> {
        match address {
            Address::Unix(path) => {
                let own = self.directory.path().canonicalize().ok();
                // The process can link its own directory to others, so nothing below it counts.
                let socket = path.canonicalize().ok();
                socket
                    .filter(|it| it.parent() == own.as_deref())
                    .map(Address::Unix)
                    .ok_or_else(|| format!("{path:?}"))
            }
            Address::Tcp(address) if address.ip().is_loopback() => Ok(Address::Tcp(address)),
            Address::Tcp(address) => Err(address.to_string()),
        }
    }

    /// Adds an explanation to each diagnostic that names a refusal of the sandbox.
    pub(crate) fn explain(&self, diagnostics: &mut [ProviderDiagnostic]) {
        for diagnostic in diagnostics {
            let text = format!("{}\n{}", diagnostic.summary, diagnostic.detail);
            diagnostic.detail.push_str(&self.addition(&text));
        }
    }

    /// Returns the explanation of the refusals that an error names, as a paragraph to append. Empty if it names none.
    pub(crate) fn addition(&self, text: &str) -> String {
        let explained = self.confinement.explain(text);
        explained.map(|it| format!("\n\n{it}")).unwrap_or_default()
    }
}

/// Removes the temporary directory of a plugin whose run was killed. A record named the path, so only a directory that
/// can be one of these, and belongs to this user, is removed.
pub(crate) fn remove_directory(path: &Path) {
    let has_prefix = |name: &OsStr| name.as_encoded_bytes().starts_with(PREFIX.as_bytes());
    let is_ours = fs::symlink_metadata(path)
        .is_ok_and(|it| it.is_dir() && it.uid() == rustix::process::geteuid().as_raw());
    if path.is_absolute() && path.file_name().is_some_and(has_prefix) && is_ours {
        let _gone = fs::remove_dir_all(path);
    }
}
