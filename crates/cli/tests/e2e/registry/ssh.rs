//! Modules of a git repository over SSH, from a real `sshd`. The test is skipped if the program is missing.

use std::{
    io::Write as _,
    net::TcpListener,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::git::{commit, repositories};
use crate::{
    bench::{Bench, Run},
    tofu::{Program, programs},
};

/// The places of the program, which must be started by its absolute path.
const PROGRAMS: [&str; 3] = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/local/bin/sshd"];

/// A server for the rest of the test process, with the key of a user and its own.
struct Sshd {
    port: u16,
    /// The directory with the keys.
    keys: PathBuf,
}

impl Sshd {
    /// Starts a server in the directory of a bench. `None` if the program is missing.
    fn start(bench: &Bench) -> Option<Sshd> {
        let Some(program) = PROGRAMS.iter().find(|it| Path::new(it).exists()) else {
            let _ = writeln!(std::io::stderr(), "skipped: the program sshd is missing");
            return None;
        };
        if rustix::process::geteuid().is_root() {
            // A server of root wants this directory, which the scripts of the system make.
            std::fs::create_dir_all("/run/sshd").expect("can be made");
        }
        let keys = bench.root().join("keys");
        std::fs::create_dir_all(&keys).expect("can be made");
        for name in ["host", "user", "stranger"] {
            let mut command = Command::new("ssh-keygen");
            command.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(keys.join(name));
            assert!(command.status().expect("ssh-keygen runs").success());
        }
        let shown = keys.display();
        let configuration = format!(
            "HostKey {shown}/host\nAuthorizedKeysFile {shown}/user.pub\nPasswordAuthentication no\n\
             KbdInteractiveAuthentication no\nPermitRootLogin yes\nStrictModes no\nUsePAM no\nPidFile none\n"
        );
        std::fs::write(keys.join("config"), configuration).expect("can be written");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let host = std::fs::read_to_string(keys.join("host.pub")).expect("was made");
        std::fs::write(keys.join("known"), format!("[localhost]:{port} {host}"))
            .expect("can be written");
        let configuration = keys.join("config");
        let program = *program;
        std::thread::spawn(move || {
            // Each connection has a process, as under inetd, so that no port must be free.
            for stream in listener.incoming() {
                let stream = OwnedFd::from(stream.expect("a connection"));
                let output = stream.try_clone().expect("can be shared");
                let mut command = Command::new(program);
                command.args(["-i", "-e", "-f"]).arg(&configuration).stderr(Stdio::null());
                let child = command.stdin(Stdio::from(stream)).stdout(Stdio::from(output)).spawn();
                std::thread::spawn(move || child.expect("sshd starts").wait());
            }
        });
        Some(Sshd { port, keys })
    }

    /// A command whose SSH has a key and a list of known servers, and no other settings.
    fn run(&self, run: Run, key: &str, known: &str) -> Run {
        let keys = self.keys.display();
        let ssh = format!(
            "ssh -F none -i {keys}/{key} -o IdentitiesOnly=yes -o BatchMode=yes -o StrictHostKeyChecking=yes -o \
             UserKnownHostsFile={keys}/{known} -o GlobalKnownHostsFile=/dev/null"
        );
        run.env("GIT_SSH_COMMAND", ssh)
    }
}

fn call(bench: &Bench, sshd: &Sshd, root: &Path) {
    let user = rustix::process::geteuid().as_raw();
    let user = Command::new("id").args(["-un", &user.to_string()]).output().expect("id runs");
    let user = String::from_utf8(user.stdout).expect("is text");
    let source = format!(
        "git::ssh://{}@localhost:{}{}/net.git//vpc?ref=v1.0.0",
        user.trim(),
        sshd.port,
        root.display()
    );
    bench.write(
        "main.tf",
        &format!(
            "module \"net\" {{\n  source = \"{source}\"\n}}\noutput \"where\" {{\n  value = module.net.where\n}}\n"
        ),
    );
}

#[test]
fn repository_over_ssh_is_fetched_at_the_revision_that_the_lock_file_has() {
    for program in programs() {
        let bench = Bench::new();
        let Some(sshd) = Sshd::start(&bench) else { return };
        let root = repositories(&bench);
        call(&bench, &sshd, &root);
        let run =
            |arguments: &[&str]| sshd.run(program.run(&bench, ".", arguments), "user", "known");
        run(&["init"]).succeeds();
        run(&["plan"]).succeeds().shows(&[".terraform/modules/net/vpc"]);
        if let Program::Tofu(_) = program {
            continue;
        }
        let lock = String::from_utf8(bench.read(".terraform.lock.hcl")).expect("is text");
        assert!(lock.contains("module \"git::ssh://") && lock.contains("revision  = \""), "{lock}");
        // The tag moves, and a new machine still gets the locked revision.
        commit(&bench, &root, "# another\n");
        std::fs::remove_dir_all(bench.path(".terraform")).expect("was there");
        run(&["init"]).succeeds();
        run(&["plan"]).succeeds().shows(&[".terraform/modules/net/vpc"]);
        run(&["init", "-upgrade"]).succeeds();
        run(&["plan"]).fails();
    }
}

#[test]
fn unknown_server_and_wrong_key_are_errors_at_the_call() {
    let bench = Bench::new();
    let Some(sshd) = Sshd::start(&bench) else { return };
    let root = repositories(&bench);
    call(&bench, &sshd, &root);
    for (key, known, expected) in [
        ("user", "none", "Host key verification failed."),
        ("stranger", "known", "Permission denied (publickey)"),
    ] {
        let failed = sshd.run(bench.mayfly(".", ["init"]), key, known).fails();
        failed.shows(&["Error: Failed to download module", "main.tf line 2", expected]);
        assert!(!bench.path(".terraform.lock.hcl").exists());
    }
    let main = String::from_utf8(bench.read("main.tf")).expect("is text");
    bench.write("main.tf", &main.replace("net.git", "none.git"));
    let failed = sshd.run(bench.mayfly(".", ["init"]), "user", "known").fails();
    failed.shows(&["main.tf line 2", "does not appear to be a git repository"]);
}
