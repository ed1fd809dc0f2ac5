//! The `sshd` of the machine, as a process of this user on a free port.

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::data_path;

/// A running `sshd`. It ends when it is dropped.
pub(crate) struct Sshd {
    pub(crate) port: u16,
    child: Child,
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Finds the program; it is usually not on the `PATH`.
fn program() -> Option<PathBuf> {
    let places = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/sbin/sshd", "/usr/bin/sshd"];
    places.into_iter().map(PathBuf::from).find(|it| it.is_file())
}

/// Starts `sshd` with its own keys and settings. `None` if the machine has none, or if it cannot be started here.
pub(crate) async fn start(directory: &Path) -> Option<Sshd> {
    let program = program()?;
    let free = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = free.local_addr().expect("is bound").port();
    drop(free);
    let config = directory.join("sshd_config");
    fs::write(&config, settings(directory, port)).expect("can be written");
    let child = Command::new(program)
        .args(["-D", "-e", "-f"])
        .arg(&config)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(directory.join("sshd.log")).expect("can be written"))
        .spawn();
    let mut sshd = Sshd { port, child: child.ok()? };
    for _ in 0..100 {
        if tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            return Some(sshd);
        }
        if sshd.child.try_wait().ok()?.is_some() {
            return None;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    None
}

fn settings(directory: &Path, port: u16) -> String {
    // sshd refuses host keys that other users may read.
    let private = |name: &str| {
        let copy = directory.join(name);
        fs::copy(data_path(name), &copy).expect("can be copied");
        fs::set_permissions(&copy, fs::Permissions::from_mode(0o600)).expect("is ours");
        copy.display().to_string()
    };
    let [ecdsa, rsa] = ["ecdsa", "rsa"].map(private);
    let certificate = private("host_cert.pub");
    let authority = private("authority.pub");
    let keys = ["ed25519.pub", "ecdsa.pub", "rsa.pub"].map(crate::data).concat();
    let authorized = directory.join("authorized_keys");
    fs::write(&authorized, keys).expect("can be written");
    // A certificate names the principal "tester", and the test runs as any user.
    let principals = directory.join("principals");
    fs::write(&principals, "tester\n").expect("can be written");
    format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {ecdsa}\nHostKey {rsa}\n\
         HostCertificate {certificate}\nTrustedUserCAKeys {authority}\n\
         AuthorizedPrincipalsFile {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\n\
         PidFile none\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
         PermitRootLogin yes\nLogLevel INFO\n",
        principals.display(),
        authorized.display()
    )
}
