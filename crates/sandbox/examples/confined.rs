//! A process that restricts itself and then does one thing, for the tests of this crate.
//!
//! With the variable `WITHOUT_LANDLOCK`, it first makes the kernel look like one without Landlock, and with
//! `WITHOUT_FILTERS` like one that permits no filter of system calls. With `UNRESTRICTED`, it
//! does not restrict itself, which shows that an action would have another result.
//!
//! Its arguments are a policy, an action, and the object of the action. It prints `done`, or the number of the error.
//! The action `exec` executes a program, as the launcher of a provider does, and `call` makes a system call with Perl.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the actions that are refused, and their results for the test"
)]

use std::{
    ffi::OsString,
    fs, io,
    net::{TcpListener, TcpStream, UdpSocket},
    os::unix::{
        fs::{PermissionsExt as _, lchown},
        net::{UnixDatagram, UnixStream},
        process::CommandExt,
    },
    process::{Command, ExitCode},
};

use sandbox::{Policy, Start, restrict};

/// The interpreter that makes system calls by number.
const PERL: &str = "/usr/bin/perl";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let Some((policy, [action, object @ ..])) = Policy::from_arguments(&arguments) else {
        return ExitCode::from(2);
    };
    let object = object.first().cloned().unwrap_or_default();
    let start = match action.to_str() {
        Some("exec") => Start::Program(object.as_ref()),
        Some("call") => Start::Program(PERL.as_ref()),
        _ => Start::InProcess,
    };
    if std::env::var_os("WITHOUT_LANDLOCK").is_some() {
        #[cfg(target_os = "linux")]
        without_landlock();
    }
    if std::env::var_os("WITHOUT_FILTERS").is_some() {
        #[cfg(target_os = "linux")]
        without_filters();
    }
    let is_restricted = std::env::var_os("UNRESTRICTED").is_none();
    match is_restricted.then(|| restrict(&policy, start)).transpose() {
        Ok(refused) => refused.iter().flatten().for_each(|it| eprintln!("incomplete: {it}")),
        Err(error) => {
            println!("not restricted: {error}");
            return ExitCode::FAILURE;
        }
    }
    let action = action.to_string_lossy();
    match act(&action, &object) {
        Ok(()) => println!("done"),
        Err(error) => println!("{}", error.raw_os_error().unwrap_or(-1)),
    }
    ExitCode::SUCCESS
}

/// Makes the calls of Landlock fail as on a kernel that does not have them.
#[cfg(target_os = "linux")]
fn without_landlock() {
    let calls = [libc::SYS_landlock_create_ruleset, libc::SYS_landlock_restrict_self];
    without(&calls, libc::ENOSYS);
}

/// Makes further filters of system calls fail, as a container may.
#[cfg(target_os = "linux")]
fn without_filters() {
    without(&[libc::SYS_seccomp], libc::EPERM);
}

#[cfg(target_os = "linux")]
fn without(calls: &[libc::c_long], error: i32) {
    use seccompiler::{SeccompAction, SeccompFilter, apply_filter};
    let rules = calls.iter().map(|it| (*it, Vec::new())).collect();
    let arch = std::env::consts::ARCH.try_into().expect("there are filters");
    let action = SeccompAction::Errno(error.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, arch);
    let program = filter.and_then(|it| it.try_into()).expect("is a filter");
    let program: seccompiler::BpfProgram = program;
    apply_filter(&program).expect("is applied");
}

fn act(action: &str, object: &OsString) -> io::Result<()> {
    let port = || object.to_string_lossy().parse::<u16>().unwrap_or_default();
    match action {
        "read" => fs::read(object).map(drop),
        "list" => fs::read_dir(object).map(drop),
        "write" => fs::write(object, "x"),
        "mkdir" => fs::create_dir(object),
        "remove" => fs::remove_file(object),
        "truncate" => fs::OpenOptions::new().write(true).truncate(true).open(object).map(drop),
        "connect" => TcpStream::connect(("127.0.0.1", port())).map(drop),
        "bind" => TcpListener::bind(("127.0.0.1", port())).map(drop),
        "udp" => UdpSocket::bind("127.0.0.1:0").map(drop),
        "unix" => UnixStream::connect(object).map(drop),
        "datagram" => UnixDatagram::unbound()?.send_to(b"x", object).map(drop),
        "thread" => std::thread::Builder::new().spawn(|| {}).map(drop),
        "start" => Command::new(object).status().map(drop),
        "signal" => {
            let id = object.to_string_lossy().parse().ok().and_then(rustix::process::Pid::from_raw);
            let id = id.ok_or_else(|| io::Error::other("no process"))?;
            rustix::process::kill_process(id, rustix::process::Signal::TERM)
                .map_err(io::Error::from)
        }
        #[cfg(target_os = "linux")]
        "socket" | "socketpair" => socket(action, &object.to_string_lossy()),
        "chmod" => fs::set_permissions(object, fs::Permissions::from_mode(0o600)),
        "fchmod" => fs::File::open(object)?.set_permissions(fs::Permissions::from_mode(0o600)),
        "chown" => lchown(object, None, None),
        #[cfg(target_os = "linux")]
        "limits" => {
            use rustix::process::{Pid, Resource, getrlimit, prlimit};
            let core = getrlimit(Resource::Core);
            let id = object.to_string_lossy().parse().ok().and_then(Pid::from_raw);
            prlimit(id, Resource::Core, core).map(drop).map_err(io::Error::from)
        }
        "call" => call(&object.to_string_lossy()),
        "exec" => {
            Err(Command::new(object).arg("-c").arg("echo executed; /bin/true; echo $?").exec())
        }
        _ => Err(io::Error::other("no such action")),
    }
}

/// Makes the system call whose number and arguments are the object, through Perl: no library has a safe interface for
/// all calls that are refused.
fn call(object: &str) -> io::Result<()> {
    const SCRIPT: &str = concat!(
        "my ($number, @arguments) = map { $_ + 0 } @ARGV; ",
        "my $result = syscall($number, @arguments); ",
        "print $result == -1 ? ($! + 0) : 'done', qq(\\n);",
    );
    Err(Command::new(PERL).args(["-e", SCRIPT, "--"]).args(object.split(' ')).exec())
}

/// Opens a socket of the family and kind whose numbers are the object.
#[cfg(target_os = "linux")]
fn socket(action: &str, object: &str) -> io::Result<()> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socket, socketpair};
    let numbers = object.split_once(' ').and_then(|(family, kind)| {
        let family = AddressFamily::from_raw(family.parse().ok()?);
        Some((family, SocketType::from_raw(kind.parse().ok()?)))
    });
    let (family, kind) = numbers.ok_or_else(|| io::Error::other("no numbers"))?;
    match action {
        "socket" => socket(family, kind, None).map(drop),
        _ => socketpair(family, kind, SocketFlags::CLOEXEC, None).map(drop),
    }
    .map_err(io::Error::from)
}
