//! Connections to other machines, as the provisioners `remote-exec` and `file` need them.
//!
//! The engine decides when to connect, to which machine and for how long it tries; the protocol is up to the
//! implementation of [`Machines`].

use std::path::{Path, PathBuf};

use provider::BoxFuture;

use crate::request::CommandStatus;

/// Opens connections to other machines.
pub trait Machines: Send + Sync {
    /// Connects and authenticates, once. The caller bounds the time, and drops the future to give up.
    ///
    /// # Errors
    /// Fails with the reason, which contains no secret of the connection.
    fn connect<'a>(
        &'a self,
        connection: &'a Connection,
    ) -> BoxFuture<'a, Result<Box<dyn Machine>, ConnectError>>;
}

/// No machines, for environments whose configurations have no provisioners that connect.
pub struct NoMachines;

impl Machines for NoMachines {
    fn connect<'a>(
        &'a self,
        _: &'a Connection,
    ) -> BoxFuture<'a, Result<Box<dyn Machine>, ConnectError>> {
        let reason = "there is no connection to other machines here".to_owned();
        Box::pin(async move { Err(ConnectError { reason, is_final: true }) })
    }
}

/// A connected machine. To drop it closes the connection at once, also while a command runs.
pub trait Machine: Send + Sync {
    /// Runs a command of the machine's shell to its end. `output` receives each line immediately, without the line
    /// end.
    ///
    /// # Errors
    /// Fails with the reason if the machine does not run the command, or if the connection is lost before it ends.
    fn run<'a>(
        &'a self,
        command: &'a str,
        output: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Result<CommandStatus, String>>;

    /// Writes a file or a directory to the machine. A relative destination counts from the user's home directory.
    ///
    /// # Errors
    /// Fails with the reason, for example the message of the machine. It contains no content of a file.
    fn upload<'a>(
        &'a self,
        source: Source<'a>,
        destination: &'a str,
    ) -> BoxFuture<'a, Result<(), String>>;

    /// Closes the connection in an orderly way, within a bounded time.
    fn close(self: Box<Self>) -> BoxFuture<'static, ()>;
}

/// The content of an upload.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// A text, and the permissions of the file that gets it.
    Text { text: &'a [u8], permissions: Permissions },
    /// A file of this computer.
    File(&'a Path),
    /// A directory of this computer with everything in it. It is created in the destination, unless `contents_only`
    /// is set: then the destination gets its entries.
    Directory { path: &'a Path, contents_only: bool },
}

/// The permissions of an uploaded file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Permissions {
    /// Every user of the machine may read the file; its owner may write it.
    Readable,
    /// Only the owner may read, write and execute the file.
    OwnExecutable,
}

/// The arguments of a connection, with all defaults. No `Debug`, because they contain secrets.
pub struct Connection {
    /// The machine that the provisioner works on.
    pub target: Endpoint,
    /// The machine through which the target is reached.
    pub bastion: Option<Endpoint>,
    /// The proxy through which the first of these machines is reached.
    pub proxy: Option<Proxy>,
    /// The agent that holds keys. It is forwarded to the target.
    pub agent: Option<Agent>,
    /// The operating system of the target.
    pub platform: Platform,
}

/// An SSH server, and the credentials for it.
pub struct Endpoint {
    /// The name or the address, without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The user.
    pub user: String,
    /// The password.
    pub password: Option<String>,
    /// The private key, as the text of a key file.
    pub private_key: Option<String>,
    /// The certificate of the private key, as the text of a certificate file.
    pub certificate: Option<String>,
    /// The public key that the server must have, or that of the authority that signed its certificate. `None` if
    /// every key is accepted.
    pub host_key: Option<String>,
}

/// A proxy.
pub struct Proxy {
    /// The protocol.
    pub scheme: ProxyScheme,
    /// The name or the address, without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The user.
    pub user: Option<String>,
    /// The password.
    pub password: Option<String>,
}

/// The protocol of a proxy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProxyScheme {
    /// `CONNECT` of HTTP. The connection to the proxy itself is not encrypted, also with the scheme `https`.
    Http,
    /// SOCKS version 5.
    Socks5,
}

/// The SSH agent of the user.
#[derive(Clone)]
pub struct Agent {
    /// Its socket: `SSH_AUTH_SOCK`.
    pub socket: PathBuf,
    /// The comment of the key to try first, or the path of its file.
    pub identity: Option<String>,
    /// The directory for a relative path of a key file.
    pub directory: PathBuf,
}

/// The operating system of a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Platform {
    /// A POSIX shell; commands get a terminal.
    Unix,
    /// The shell of Windows; commands get no terminal.
    Windows,
}

/// The reason why a machine cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectError {
    /// The reason, without secrets of the connection.
    pub reason: String,
    /// Set if no later attempt can succeed, for example because the private key cannot be read.
    pub is_final: bool,
}
