//! Connections to other machines for provisioners: SSH sessions, uploads, commands.
//!
//! Start reading at [`Ssh`], which implements [`engine::Machines`]. `dial` opens the stream to a server, through a
//! `proxy` if there is one; `server` makes a session of a stream: it checks the host key, and `login` authenticates;
//! `machine` runs commands in the session; `scp` writes files. Retries, scripts and output are up to the engine.
//!
//! **Invariant:** no error text contains a credential, a command or a part of a file.
//! **Invariant:** to drop a machine, or a connection that is being made, closes its socket at once.
//! **Absent on purpose:** configuration blocks, the known hosts and the settings of OpenSSH (`~/.ssh`).
//!
//! `tests/provisioning` connects to a server in the same process, and to the `sshd` of the machine if there is one.

mod dial;
mod failure;
mod host_key;
mod keys;
mod login;
mod machine;
mod proxy;
mod scp;
mod server;

use engine::{ConnectError, Connection, Machine, Machines};
use provider::BoxFuture;

use crate::machine::SshMachine;

/// Connects to other machines with SSH.
pub struct Ssh;

impl Machines for Ssh {
    fn connect<'a>(
        &'a self,
        connection: &'a Connection,
    ) -> BoxFuture<'a, Result<Box<dyn Machine>, ConnectError>> {
        Box::pin(async {
            let connected = SshMachine::connect(connection).await?;
            Ok(Box::new(connected) as Box<dyn Machine>)
        })
    }
}
