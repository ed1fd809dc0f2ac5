//! Connections, commands and uploads with a server in this process, and with the `sshd` of the machine if it has one.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests use files of their own directory, and say what they skip"
)]

mod commands;
mod logins;
mod proxies;
mod server;
mod sink;
mod sshd;
mod uploads;

use std::{
    path::{Path, PathBuf},
    sync::Mutex,
};

use engine::{CommandStatus, ConnectError, Connection, Endpoint, Machine, Machines as _, Platform};
use remote::Ssh;

/// A server, and the directory in which its commands run.
pub(crate) struct Place {
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) directory: PathBuf,
    /// The record of the server; `None` for `sshd`.
    pub(crate) shared: Option<server::Shared>,
    _sshd: Option<sshd::Sshd>,
    _temporary: tempfile::TempDir,
}

impl Place {
    /// A server in this process.
    pub(crate) async fn here() -> Place {
        let temporary = tempfile::tempdir().expect("can be made");
        let directory = temporary.path().to_owned();
        let (port, shared) = server::start(&directory).await;
        Place {
            port,
            user: "tester".to_owned(),
            directory,
            shared: Some(shared),
            _sshd: None,
            _temporary: temporary,
        }
    }

    /// The `sshd` of the machine. `None` if there is none; the test is then skipped, and says so.
    pub(crate) async fn sshd(test: &str) -> Option<Place> {
        let temporary = tempfile::tempdir().expect("can be made");
        let directory = temporary.path().to_owned();
        let user = tokio::process::Command::new("id").arg("-un").output().await.ok()?;
        let Some(sshd) = sshd::start(&directory).await else {
            println!("skipped {test}: sshd is not installed, or does not start for this user");
            return None;
        };
        Some(Place {
            port: sshd.port,
            user: String::from_utf8_lossy(&user.stdout).trim().to_owned(),
            directory,
            shared: None,
            _sshd: Some(sshd),
            _temporary: temporary,
        })
    }

    /// A connection with the key `ed25519`.
    pub(crate) fn connection(&self) -> Connection {
        Connection {
            target: self.endpoint(),
            bastion: None,
            proxy: None,
            agent: None,
            platform: Platform::Unix,
        }
    }

    pub(crate) fn endpoint(&self) -> Endpoint {
        Endpoint {
            host: "127.0.0.1".to_owned(),
            port: self.port,
            user: self.user.clone(),
            password: None,
            private_key: Some(data("ed25519")),
            certificate: None,
            host_key: None,
        }
    }

    pub(crate) async fn connect(&self) -> Box<dyn Machine> {
        connect(&self.connection()).await.expect("connects")
    }

    /// A path in the directory, as text.
    pub(crate) fn path(&self, name: &str) -> String {
        self.directory.join(name).display().to_string()
    }
}

/// Runs one test with both servers.
macro_rules! with_both_servers {
    ($($name:ident),* $(,)?) => {
        mod here {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name(crate::Place::here().await).await;
            })*
        }
        mod sshd {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                if let Some(place) = crate::Place::sshd(stringify!($name)).await {
                    super::$name(place).await;
                }
            })*
        }
    };
}
pub(crate) use with_both_servers;

pub(crate) async fn connect(connection: &Connection) -> Result<Box<dyn Machine>, ConnectError> {
    Ssh.connect(connection).await
}

/// The error of a connection that fails.
pub(crate) async fn refusal(connection: &Connection) -> ConnectError {
    match connect(connection).await {
        Ok(_) => panic!("the connection should fail"),
        Err(error) => error,
    }
}

/// Runs a command. Returns its output and its end.
pub(crate) async fn run(
    machine: &dyn Machine,
    command: &str,
) -> (Vec<String>, Result<CommandStatus, String>) {
    let lines = Mutex::new(Vec::new());
    let keep = |line: &str| lines.lock().expect("not poisoned").push(line.to_owned());
    let end = machine.run(command, &keep).await;
    (lines.into_inner().expect("not poisoned"), end)
}

pub(crate) fn data_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// A file with a key or a certificate.
pub(crate) fn data(name: &str) -> String {
    std::fs::read_to_string(data_path(name)).expect("is there")
}
