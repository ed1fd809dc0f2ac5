//! Plugins in a sandbox: the handshake, the temporary directory, and what the errors say.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use plugin::{GrpcProvider, LaunchError, LaunchOptions, Sandbox, launch};
use provider::Provider;
use sandbox::{Confinement, Grants, Policy, Ports};

use crate::{
    go::go_peer,
    support::{Heard, options, peer},
};

fn sandbox(launcher: PathBuf, grants: Grants) -> Sandbox {
    let confinement = Confinement {
        provider: "example.com/tests/peer".to_owned(),
        // Not required: on a kernel without Landlock, the rest is tested all the same.
        policy: Policy { grants, is_required: false },
        directory: std::env::current_dir().expect("is known"),
    };
    Sandbox { launcher, confinement }
}

/// A command whose temporary directory is below `temporary`, and the options with a sandbox that may read the peer.
fn launched(program: &Path, temporary: &Path, heard: &Heard) -> (Command, LaunchOptions) {
    let mut command = Command::new(program);
    command.env("TMPDIR", temporary);
    let grants = Grants { read: vec![peer()], ..Grants::default() };
    let sandbox = Some(sandbox(peer(), grants));
    (command, LaunchOptions { sandbox, ..options(heard) })
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("is there").flatten();
    entries.map(|it| it.file_name().to_string_lossy().into_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sandboxed_plugin_serves_from_its_own_temporary_directory() {
    let folder = tempfile::tempdir().expect("a directory");
    let other = folder.path().join("other-program");
    symlink(peer(), &other).expect("links");
    let temporary = folder.path().join("tmp");
    fs::create_dir(&temporary).expect("writable");
    // The launcher itself goes on as the plugin, or executes another program.
    for program in [peer(), other] {
        let heard = Heard::default();
        let (command, options) = launched(&program, &temporary, &heard);
        let process = launch(command, options).await.expect("starts");
        let [directory] = &names(&temporary)[..] else { panic!("{:?}", names(&temporary)) };
        assert!(directory.starts_with("mayfly-"), "{directory}");
        assert_eq!(names(&temporary.join(directory)).len(), 1, "the socket is there");
        let provider = GrpcProvider::new(process, None);
        let provider: Arc<dyn Provider> = Arc::new(provider);
        assert!(provider.schemas().await.is_ok());
        provider.close().await;
        drop(provider);
        assert_eq!(names(&temporary), Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_process_leaves_no_temporary_directory() {
    let folder = tempfile::tempdir().expect("a directory");
    let (command, options) = launched(&peer(), folder.path(), &Heard::default());
    drop(launch(command, options).await.expect("starts"));
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn process_that_cannot_restrict_itself_is_not_used() {
    let folder = tempfile::tempdir().expect("a directory");
    let launcher = folder.path().join("launcher");
    fs::write(&launcher, "#!/bin/sh\necho mayfly-cannot-restrict it lacks something\nexit 127\n")
        .expect("writable");
    fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755)).expect("is ours");
    let (command, options) = launched(&peer(), folder.path(), &Heard::default());
    let sandbox = Some(sandbox(launcher, Grants::default()));
    let error = launch(command, LaunchOptions { sandbox, ..options }).await.err();
    let error = error.expect("does not start");
    assert!(matches!(error, LaunchError::Sandbox(_)), "{error}");
    assert_eq!(error.to_string(), "its sandbox could not be set up: it lacks something");
}

/// A plugin that is a script with these lines.
#[cfg(target_os = "linux")]
fn script(folder: &Path, lines: &str) -> (Command, LaunchOptions) {
    let script = folder.join("script");
    fs::write(&script, format!("#!/bin/sh\n{lines}\n")).expect("writable");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("is ours");
    let (command, mut options) = launched(&script, folder, &Heard::default());
    options.sandbox = Some(sandbox(peer(), Grants { read: vec![script], ..Grants::default() }));
    (command, options)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg(target_os = "linux")]
async fn address_of_another_program_is_not_used() {
    let folder = tempfile::tempdir().expect("a directory");
    let other = folder.path().join("other.sock");
    let listener = std::os::unix::net::UnixListener::bind(&other).expect("listens");
    listener.set_nonblocking(true).expect("is set");
    let unix = |path: &str| format!("1|6|unix|{path}|grpc|");
    let certificate = "A".repeat(800);
    for address in [
        unix(&other.display().to_string()),
        unix("$TMPDIR/../other.sock"),
        unix("$TMPDIR/nothing"),
        format!("1|6|tcp|192.0.2.1:10001|grpc|{certificate}"),
    ] {
        let (command, options) = script(folder.path(), &format!("echo \"{address}\""));
        let error = launch(command, options).await.err().expect("is refused");
        assert!(matches!(error, LaunchError::ForeignAddress(_)), "{error}");
        assert!(error.to_string().contains("may belong to another program"), "{error}");
    }
    assert!(listener.accept().is_err() && other.exists(), "it is neither used nor removed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg(target_os = "linux")]
async fn files_of_the_caller_are_closed() {
    let folder = tempfile::tempdir().expect("a directory");
    let secret = fs::File::open("/proc/self/environ").expect("is readable");
    // A number that a program that starts Mayfly may leave open.
    rustix::io::fcntl_setfd(&secret, rustix::io::FdFlags::empty()).expect("is inherited");
    let number = std::os::fd::AsRawFd::as_raw_fd(&secret);
    let lines = format!(
        "for number in 0 {number}; do\n  if [ -e /proc/self/fd/$number ]; then\n    echo \"$number \
         is open\" >&2\n  fi\ndone\nread line || echo no input >&2"
    );
    let (command, options) = script(folder.path(), &lines);
    let error = launch(command, options).await.err().expect("it is no plugin").to_string();
    assert!(error.contains("0 is open"), "{error}");
    assert!(!error.contains(&format!("\n{number} is open")), "{error}");
    assert!(error.contains("no input"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg(target_os = "linux")]
async fn last_words_of_a_process_are_explained() {
    let folder = tempfile::tempdir().expect("a directory");
    let (command, options) = script(folder.path(), "/bin/true");
    let error = launch(command, options).await.err().expect("it is no plugin").to_string();
    assert!(error.contains("Cannot fork") || error.contains("fork"), "{error}");
    assert!(error.contains("in which it may not start other programs"), "{error}");
    assert!(error.contains("processes = true"), "{error}");
}

/// The Go runtime starts its threads, and go-plugin its server, under the same restrictions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the Go peer"]
async fn provider_of_the_go_framework_serves_in_a_sandbox() {
    let folder = tempfile::tempdir().expect("a directory");
    let program = PathBuf::from(go_peer().get_program()).canonicalize().expect("was built");
    for connect in [Ports::NONE, Ports::Only([443].into())] {
        let (command, mut options) = launched(&program, folder.path(), &Heard::default());
        let mut sandbox = sandbox(peer(), Grants { connect, ..Grants::default() });
        sandbox.confinement.policy.is_required = true;
        options.sandbox = Some(sandbox);
        let process = launch(command, options).await.expect("starts");
        let provider: Arc<dyn Provider> = Arc::new(GrpcProvider::new(process, None));
        assert!(provider.schemas().await.is_ok());
        provider.close().await;
    }
}
