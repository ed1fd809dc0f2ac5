//! Processes that restrict themselves, on the kernel of this machine.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the tests look at processes and files, and say what they skip"
)]

use std::{
    ffi::OsStr,
    net::TcpListener,
    os::unix::net::{UnixDatagram, UnixListener},
    path::PathBuf,
    process::Command,
};

use sandbox::{Grants, Policy, Ports};

const DONE: &str = "done";
const EPERM: &str = "1";
const EACCES: &str = "13";

/// The executable of `examples/confined.rs`, which cargo builds with the tests.
fn confined() -> PathBuf {
    let mut path = std::env::current_exe().expect("a test has an executable");
    path.pop();
    if path.ends_with("deps") {
        path.pop();
    }
    path.join("examples/confined")
}

/// Returns true, and says so, on a kernel that reports that it has no Landlock. Any other kernel must pass.
fn skips(policy: &Policy) -> bool {
    let active = std::fs::read_to_string("/sys/kernel/security/lsm");
    let lacks_landlock = active.is_ok_and(|it| !it.contains("landlock"));
    match sandbox::missing(policy) {
        Some(missing) if lacks_landlock => {
            println!("skipped: {missing}");
            true
        }
        _ => false,
    }
}

/// Does one thing in a process with these grants. Returns `done`, or the number of the error.
#[track_caller]
fn does(grants: &Grants, action: &str, object: impl AsRef<OsStr>) -> String {
    let policy = Policy { grants: grants.clone(), is_required: true };
    if skips(&policy) {
        return String::new();
    }
    let ended = Command::new(confined())
        .args(policy.to_arguments())
        .arg(action)
        .arg(object)
        .output()
        .expect("starts");
    let printed = String::from_utf8_lossy(&ended.stdout).trim().to_owned();
    assert!(!printed.is_empty() && !printed.contains("not restricted"), "{printed} {ended:?}");
    printed
}

/// A call with arguments that change nothing, and its result without a sandbox. `None` if that depends on the
/// privileges of the user or on the configuration of the kernel.
struct Call {
    name: &'static str,
    number: libc::c_long,
    arguments: [i64; 5],
    unrestricted: Option<i32>,
}

/// An argument for which there is no process, file or object.
const NONE: i64 = -1;
/// A key of System V that no program uses.
const KEY: i64 = 0x6b61_6e61;

const fn call(
    name: &'static str,
    number: libc::c_long,
    arguments: [i64; 5],
    unrestricted: Option<i32>,
) -> Call {
    Call { name, number, arguments, unrestricted }
}

/// Shared memory, semaphores and queues of all programs of the user, and keyrings.
const SHARED: &[Call] = &[
    call("shmget", libc::SYS_shmget, [KEY, 0, 0, 0, 0], Some(libc::ENOENT)),
    call("shmat", libc::SYS_shmat, [NONE, 0, 0, 0, 0], Some(libc::EINVAL)),
    call("shmctl", libc::SYS_shmctl, [NONE, 0, 0, 0, 0], Some(libc::EINVAL)),
    call("semget", libc::SYS_semget, [KEY, 0, 0, 0, 0], Some(libc::ENOENT)),
    call("semop", libc::SYS_semop, [NONE, 0, 1, 0, 0], None),
    call("semctl", libc::SYS_semctl, [NONE, 0, 0, 0, 0], Some(libc::EINVAL)),
    call("msgget", libc::SYS_msgget, [KEY, 0, 0, 0, 0], Some(libc::ENOENT)),
    call("msgsnd", libc::SYS_msgsnd, [NONE, 0, 1, 0, 0], None),
    call("msgrcv", libc::SYS_msgrcv, [NONE, 0, 1, 0, 0], None),
    call("msgctl", libc::SYS_msgctl, [NONE, 0, 0, 0, 0], Some(libc::EINVAL)),
    call("mq_open", libc::SYS_mq_open, [0, 0, 0, 0, 0], Some(libc::EFAULT)),
    call("mq_unlink", libc::SYS_mq_unlink, [0, 0, 0, 0, 0], Some(libc::EFAULT)),
    call("add_key", libc::SYS_add_key, [0, 0, 0, 0, 0], None),
    call("request_key", libc::SYS_request_key, [0, 0, 0, 0, 0], None),
    call("keyctl", libc::SYS_keyctl, [NONE, 0, 0, 0, 0], None),
];

/// The memory and files of other processes, namespaces, mounts, and subsystems of the kernel.
const OTHERS: &[Call] = &[
    call("ptrace", libc::SYS_ptrace, [NONE, NONE, 0, 0, 0], Some(libc::ESRCH)),
    call("process_vm_readv", libc::SYS_process_vm_readv, [NONE, 0, 0, 0, 0], None),
    call("process_vm_writev", libc::SYS_process_vm_writev, [NONE, 0, 0, 0, 0], None),
    call("pidfd_getfd", libc::SYS_pidfd_getfd, [NONE, 0, 0, 0, 0], Some(libc::EBADF)),
    call("kcmp", libc::SYS_kcmp, [NONE, NONE, 0, 0, 0], None),
    // Without a flag, it does nothing.
    call("unshare", libc::SYS_unshare, [0, 0, 0, 0, 0], Some(0)),
    call("setns", libc::SYS_setns, [NONE, 0, 0, 0, 0], Some(libc::EBADF)),
    // A user namespace cannot share the file system, so that no process is made.
    call(
        "clone",
        libc::SYS_clone,
        [(libc::CLONE_NEWUSER | libc::CLONE_FS | libc::CLONE_THREAD) as i64, 0, 0, 0, 0],
        Some(libc::EINVAL),
    ),
    call("mount", libc::SYS_mount, [0, 0, 0, 0, 0], None),
    call("umount2", libc::SYS_umount2, [0, 0, 0, 0, 0], None),
    call("fsopen", libc::SYS_fsopen, [0, 0, 0, 0, 0], None),
    call("open_tree", libc::SYS_open_tree, [NONE, 0, 0, 0, 0], None),
    call("open_by_handle_at", libc::SYS_open_by_handle_at, [NONE, 0, 0, 0, 0], None),
    call("bpf", libc::SYS_bpf, [NONE, 0, 0, 0, 0], None),
    call("io_uring_setup", libc::SYS_io_uring_setup, [0, 0, 0, 0, 0], None),
    call("perf_event_open", libc::SYS_perf_event_open, [0, 0, 0, 0, 0], None),
    call("userfaultfd", libc::SYS_userfaultfd, [NONE, 0, 0, 0, 0], None),
    call("init_module", libc::SYS_init_module, [0, 0, 0, 0, 0], None),
    call("execveat", libc::SYS_execveat, [NONE, 0, 0, 0, 0], Some(libc::EFAULT)),
    call("reboot", libc::SYS_reboot, [0, 0, 0, 0, 0], None),
    call(
        "ioctl TIOCSTI",
        libc::SYS_ioctl,
        [NONE, libc::TIOCSTI as i64, 0, 0, 0],
        Some(libc::EBADF),
    ),
    call(
        "sendto MSG_FASTOPEN",
        libc::SYS_sendto,
        [NONE, 0, 0, libc::MSG_FASTOPEN as i64, 0],
        Some(libc::EBADF),
    ),
];

/// Returns true, and says so, on a system without the interpreter that makes system calls by number.
fn lacks_perl() -> bool {
    let is_there = std::path::Path::new("/usr/bin/perl").exists();
    if !is_there {
        println!("skipped: there is no Perl");
    }
    !is_there
}

/// Makes calls in a process with these grants, and each also without a sandbox.
#[track_caller]
fn refuses(grants: &Grants, calls: &[Call]) {
    if lacks_perl() {
        return;
    }
    for Call { name, number, arguments, unrestricted } in calls {
        let [a, b, c, d, e] = arguments;
        let object = format!("{number} {a} {b} {c} {d} {e}");
        let result = does(grants, "call", &object);
        assert!(result.is_empty() || result == EPERM, "{name}: {result}");
        let Some(expected) = unrestricted else { continue };
        let mut command = Command::new(confined());
        command.args(Policy { grants: grants.clone(), is_required: true }.to_arguments());
        let ended = command.args(["call", &object]).env("UNRESTRICTED", "1").output();
        let printed = ended.expect("starts").stdout;
        let expected = if *expected == 0 { DONE.to_owned() } else { expected.to_string() };
        let result = String::from_utf8_lossy(&printed).trim().to_owned();
        assert_eq!(result, expected, "{name} without a sandbox");
    }
}

/// Checks an action without grants and with grants.
#[track_caller]
fn check(grants: &Grants, action: &str, object: impl AsRef<OsStr>, refusal: &str) {
    let object = object.as_ref();
    let (without, with) = (does(&Grants::default(), action, object), does(grants, action, object));
    if !without.is_empty() {
        assert_eq!((without.as_str(), with.as_str()), (refusal, DONE), "{action} {object:?}");
    }
}

#[test]
fn files_are_readable_and_writable_only_where_granted() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("secret"), "s").expect("writable");
    let readable = Grants { read: vec![path("secret")], ..Grants::default() };
    check(&readable, "read", path("secret"), EACCES);
    let listed = Grants { read: vec![folder.path().into()], ..Grants::default() };
    check(&listed, "list", folder.path(), EACCES);
    for (action, name) in
        [("write", "new"), ("mkdir", "folder"), ("truncate", "secret"), ("remove", "secret")]
    {
        if !does(&listed, action, path(name)).is_empty() {
            assert_eq!(does(&listed, action, path(name)), EACCES, "{action}");
        }
        let writable = Grants { write: vec![folder.path().into()], ..Grants::default() };
        check(&writable, action, path(name), EACCES);
    }
}

#[test]
fn system_is_readable_without_secrets_and_other_processes() {
    let none = Grants::default();
    for path in
        ["/etc/hosts", "/etc/passwd", "/usr/bin/env", "/proc/self/status", "/dev/urandom/.."]
    {
        if std::fs::metadata(path).is_ok() && !does(&none, "read", path).is_empty() {
            assert_eq!(does(&none, "read", path), DONE, "{path}");
        }
    }
    for path in ["/etc/shadow", "/etc/ssl/private", "/root", "/home", "/proc/1/status", "/var/log"]
    {
        // As root, the tests may read all of these.
        if std::fs::read(path).is_ok() && !does(&none, "read", path).is_empty() {
            assert_eq!(does(&none, "read", path), EACCES, "{path}");
        }
    }
    let other = format!("/proc/{}/environ", std::process::id());
    if !does(&none, "read", &other).is_empty() {
        assert_eq!(does(&none, "read", &other), EACCES);
    }
}

#[test]
fn links_lead_out_of_a_granted_directory_to_nothing() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("granted")).expect("writable");
    std::fs::write(path("secret"), "s").expect("writable");
    std::os::unix::fs::symlink(path("secret"), path("granted/link")).expect("links");
    let grants = Grants { write: vec![path("granted")], ..Grants::default() };
    for object in [path("granted/link"), path("granted/../secret")] {
        for action in ["read", "write"] {
            let result = does(&grants, action, &object);
            assert!(result.is_empty() || result == EACCES, "{action} {object:?}: {result}");
        }
    }
}

#[test]
fn tcp_is_limited_to_granted_ports() {
    let listeners = [0, 0].map(|_| TcpListener::bind(("127.0.0.1", 0)).expect("listens"));
    let ports = listeners.each_ref().map(|it| it.local_addr().expect("is bound").port());
    let [granted, other] = ports.map(|it| it.to_string());
    let one = Grants { connect: Ports::Only([ports[0]].into()), ..Grants::default() };
    // Without any network, not even a socket can be made.
    check(&one, "connect", &granted, EPERM);
    let all = Grants { connect: Ports::All, ..Grants::default() };
    check(&all, "connect", &other, EPERM);
    if !does(&one, "connect", &other).is_empty() {
        assert_eq!(does(&one, "connect", &other), EACCES);
        assert_eq!(does(&one, "bind", "0"), EACCES, "listening is granted on its own");
    }
    drop(listeners);
    let bind = Grants { bind: Ports::Only([ports[1]].into()), ..Grants::default() };
    check(&bind, "bind", &other, EPERM);
    if !does(&bind, "bind", &granted).is_empty() {
        assert_eq!(does(&bind, "bind", &granted), EACCES);
    }
    // Landlock does not limit UDP, so it is refused only if there is no network at all.
    check(&one, "udp", "", EPERM);
}

#[test]
fn sockets_of_other_programs_are_unreachable_without_a_network() {
    let folder = tempfile::tempdir().expect("a directory");
    let (stream, datagram) = (folder.path().join("s"), folder.path().join("d"));
    let _listener = UnixListener::bind(&stream).expect("listens");
    let _socket = UnixDatagram::bind(&datagram).expect("listens");
    let grants = Grants { write: vec![folder.path().into()], ..Grants::default() };
    for (action, object) in [("unix", &stream), ("datagram", &datagram)] {
        let result = does(&grants, action, object);
        assert!(result.is_empty() || result == EPERM, "{action}: {result}");
    }
}

#[test]
fn sockets_of_other_kinds_are_refused() {
    let socket = |grants: &Grants, action: &str, family: i32, kind: i32| {
        does(grants, action, format!("{family} {kind}"))
    };
    let is = |result: &str, expected: &str| result.is_empty() || result == expected;
    let offline = Grants::default();
    for action in ["socket", "socketpair"] {
        for (kind, expected) in [
            (libc::SOCK_STREAM, DONE),
            (libc::SOCK_SEQPACKET, DONE),
            (libc::SOCK_DGRAM, EPERM),
            // It makes a datagram socket.
            (libc::SOCK_RAW, EPERM),
            (libc::SOCK_RAW | libc::SOCK_CLOEXEC, EPERM),
        ] {
            let result = socket(&offline, action, libc::AF_UNIX, kind);
            assert!(is(&result, expected), "{action} {kind}: {result}");
        }
    }
    let online = Grants { connect: Ports::All, ..Grants::default() };
    for (kind, expected) in [
        (libc::SOCK_STREAM | libc::SOCK_CLOEXEC, DONE),
        (libc::SOCK_DGRAM, DONE),
        (libc::SOCK_RAW, EPERM),
        (10, EPERM),
    ] {
        let result = socket(&online, "socket", libc::AF_INET, kind);
        assert!(is(&result, expected), "{kind}: {result}");
    }
}

#[test]
fn attributes_are_not_changed_by_path() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("file");
    std::fs::write(&file, "s").expect("writable");
    let writable = Grants { write: vec![folder.path().into()], ..Grants::default() };
    let modes = Grants { modes: true, ..Grants::default() };
    check(&modes, "chmod", &file, EPERM);
    for (grants, action, expected) in
        [(&writable, "chmod", EPERM), (&writable, "fchmod", DONE), (&modes, "chown", EPERM)]
    {
        let result = does(grants, action, &file);
        assert!(result.is_empty() || result == expected, "{action}: {result}");
    }
}

#[test]
fn other_processes_and_the_kernel_are_out_of_reach() {
    let all = Grants {
        write: vec!["/".into()],
        connect: Ports::All,
        bind: Ports::All,
        processes: true,
        modes: true,
        ..Grants::default()
    };
    // No grant permits any of these calls.
    for grants in [Grants::default(), all] {
        refuses(&grants, SHARED);
        refuses(&grants, OTHERS);
    }
}

#[test]
fn other_protocols_than_tcp_are_refused() {
    if lacks_perl() {
        return;
    }
    let online = Grants { connect: Ports::All, ..Grants::default() };
    let socket = |family: i32, kind: i32, protocol: i32| {
        let number = libc::SYS_socket;
        does(&online, "call", format!("{number} {family} {kind} {protocol} 0 0"))
    };
    let is = |result: &str, expected: &str| result.is_empty() || result == expected;
    let stream = libc::SOCK_STREAM;
    assert!(is(&socket(libc::AF_INET, stream, libc::IPPROTO_TCP), DONE));
    for (family, kind, protocol) in [
        (libc::AF_INET, stream, libc::IPPROTO_MPTCP),
        (libc::AF_INET6, stream, libc::IPPROTO_SCTP),
        (libc::AF_PACKET, libc::SOCK_RAW, 0),
        (libc::AF_VSOCK, stream, 0),
        (libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_KOBJECT_UEVENT),
        (libc::AF_ALG, libc::SOCK_SEQPACKET, 0),
    ] {
        let result = socket(family, kind, protocol);
        assert!(is(&result, EPERM), "{family} {kind} {protocol}: {result}");
    }
}

#[test]
fn limits_of_other_processes_are_not_changed() {
    for (object, expected) in [("", DONE), (&std::process::id().to_string(), EPERM)] {
        let result = does(&Grants::default(), "limits", object);
        assert!(result.is_empty() || result == expected, "{object:?}: {result}");
    }
}

#[test]
fn programs_start_only_if_granted_and_stay_in_the_sandbox() {
    let none = Grants::default();
    let granted = Grants { processes: true, ..Grants::default() };
    check(&granted, "start", "/bin/true", EPERM);
    let thread = does(&none, "thread", "");
    assert!(thread.is_empty() || thread == DONE, "{thread}");
    let folder = tempfile::tempdir().expect("a directory");
    let script = folder.path().join("script");
    std::fs::write(&script, "#!/bin/sh\ntrue\n").expect("writable");
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("is ours");
    let written = Grants { write: vec![folder.path().into()], ..granted };
    let result = does(&written, "start", &script);
    assert!(result.is_empty() || result == EACCES, "what was written is not executed: {result}");
}

#[test]
fn launcher_executes_one_program_and_its_interpreter() {
    let result = does(&Grants::default(), "exec", "/bin/sh");
    // The shell runs, and cannot start another program.
    assert!(result.is_empty() || result == "executed", "{result}");
    let granted = Grants { processes: true, ..Grants::default() };
    let result = does(&granted, "exec", "/bin/sh");
    assert!(result.is_empty() || result == "executed\n0", "{result}");
}

#[test]
fn signals_reach_only_the_sandbox() {
    let mut other = Command::new("sleep").arg("60").spawn().expect("starts");
    let result = does(&Grants::default(), "signal", other.id().to_string());
    let is_running = other.try_wait().expect("is ours").is_none();
    other.kill().expect("can be killed");
    other.wait().expect("is reaped");
    assert!(result.is_empty() || (result == EPERM && is_running), "{result}");
}

#[test]
fn mechanism_that_the_system_refuses_is_reported() {
    let run = |is_required| {
        let policy = Policy { grants: Grants::default(), is_required };
        if skips(&policy) {
            return None;
        }
        let mut command = Command::new(confined());
        command.args(policy.to_arguments()).args(["read", "/root"]).env("WITHOUT_FILTERS", "1");
        let ended = command.output().expect("starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        Some((text(&ended.stdout), text(&ended.stderr)))
    };
    let Some((result, reported)) = run(false) else { return };
    // Files are limited all the same.
    assert_eq!(result, EACCES);
    assert!(reported.starts_with("incomplete: the system refused it: "), "{reported}");
    assert_eq!(reported.lines().count(), 1, "{reported}");
    let (result, _) = run(true).expect("as before");
    assert!(result.starts_with("not restricted: the system refused it: "), "{result}");
}

#[test]
fn kernel_without_landlock_refuses_required_policies_and_limits_calls() {
    let run = |is_required, action: &str, object: &str| {
        let policy = Policy { grants: Grants::default(), is_required };
        let mut command = Command::new(confined());
        command.args(policy.to_arguments()).arg(action).arg(object).env("WITHOUT_LANDLOCK", "1");
        let ended = command.output().expect("starts");
        String::from_utf8_lossy(&ended.stdout).trim().to_owned()
    };
    let refused = run(true, "thread", "");
    assert!(refused.starts_with("not restricted: it needs Landlock in version 3"), "{refused}");
    let file = std::env::current_exe().expect("is known").display().to_string();
    assert_eq!(run(false, "read", &file), DONE, "files are not limited");
    assert_eq!(run(false, "start", "/bin/true"), EPERM);
    assert_eq!(run(false, "udp", ""), EPERM);
}
