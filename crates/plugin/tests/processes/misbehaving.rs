//! Plugins that fail at the start in ways that need more than a script, or that misbehave later. The table in the
//! executable's tests (`crates/cli/tests/misbehaving`) covers each kind of failure by itself.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use crate::support::{Heard, eventually, exists, options, peer, shell};
use plugin::{LaunchError, LaunchOptions, LogLevel, PluginEvent, TlsMode, launch};

/// Starts `script` and checks that it fails, that the first line of the error is `expected`, and that no process
/// is left.
async fn check(script: &str, expected: &str) -> LaunchError {
    let folder = tempfile::tempdir().expect("a folder");
    let id_file = folder.path().join("id");
    let command = shell(&format!("echo $$ > {}; {script}", id_file.display()));
    let begin = Instant::now();
    let timeout = Duration::from_millis(1500);
    let result =
        launch(command, LaunchOptions { start_timeout: timeout, ..options(&Heard::default()) })
            .await;
    let Err(error) = result else { panic!("it started: {script}") };
    assert!(begin.elapsed() < Duration::from_secs(8), "took {:?}: {script}", begin.elapsed());
    let text = error.to_string();
    assert_eq!(text.lines().next(), Some(expected), "{script}");
    let id = std::fs::read_to_string(id_file).expect("it ran").trim().parse().expect("an id");
    assert!(!exists(id), "process {id} is still there: {script}");
    error
}

#[tokio::test]
async fn early_exit_error_quotes_the_output_of_the_plugin() {
    let error = check(
        "echo 'missing library hunter2' >&2; exit 127",
        "plugin exited before we could connect (exit status: 127):",
    )
    .await;
    assert_eq!(error.to_string().lines().nth(1), Some("missing library ***"));
    let LaunchError::Exited { status, stderr } = error else { panic!("another error") };
    assert_eq!((status.and_then(|it| it.code()), stderr.len()), (Some(127), 1));
}

#[tokio::test]
async fn start_error_names_the_program() {
    let result = launch(Command::new("/nowhere/plugin"), options(&Heard::default())).await;
    let error = result.err().map(|it| it.to_string()).unwrap_or_default();
    assert!(error.starts_with("failed to start /nowhere/plugin: No such file"), "{error}");
}

#[tokio::test]
async fn silent_plugin_socket_times_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s");
    let _deaf = std::os::unix::net::UnixListener::bind(&path).expect("it listens");
    // A field that looks like a certificate makes the client wait for a TLS handshake.
    let line = format!("1|6|unix|{}|grpc|{}", path.display(), "A".repeat(100));
    let script = format!("echo '{line}'; sleep 60");
    check(&script, "timeout while waiting for plugin to start (1.5 s)").await;
}

#[tokio::test]
async fn certificate_other_than_announced_is_refused() {
    let certificate = "MIIBszCCAVmgAwIBAgIUQ".repeat(8);
    let script = format!(
        "exec 3>&1; \"{}\" | while read -r line; do echo \"${{line%|*}}|{certificate}\" >&3; cat >/dev/null; done",
        peer().display()
    );
    check(
        &script,
        "failed to connect to the plugin: transport error: unexpected error: the peer \
                    presents another certificate than the one it announced",
    )
    .await;
}

#[tokio::test]
async fn dropped_launch_kills_the_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let id_file = folder.path().join("id");
    let command = shell(&format!("echo $$ > {}; exec sleep 60", id_file.display()));
    let heard = Heard::default();
    let mut id = None;
    tokio::select! {
        _ = launch(command, options(&heard)) => panic!("it cannot start"),
        () = eventually("it runs", || {
            id = std::fs::read_to_string(&id_file).ok().and_then(|it| it.trim().parse().ok());
            id.is_some()
        }) => {}
    }
    let id = id.expect("it ran");
    eventually("the process is reaped", || !exists(id)).await;
}

#[tokio::test]
async fn flood_of_plugin_output_neither_blocks_nor_fills_memory() {
    let heard = Heard::default();
    let peer = peer();
    let folder = tempfile::tempdir().expect("a folder");
    let started = folder.path().join("started");
    // One line of a megabyte on stderr before the handshake, and more on both streams after it.
    let script = format!(
        "head -c 1048576 /dev/zero | tr '\\0' x >&2; echo >&2; (until test -e {}; do sleep 0.02; done; \
         head -c 1048576 /dev/zero; head -c 3000000 /dev/zero >&2; echo >&2; echo 'panic: hunter2' >&2; \
         echo 'goroutine 1' >&2) & exec {}",
        started.display(),
        peer.display()
    );
    let process =
        launch(shell(&script), LaunchOptions { tls: TlsMode::Off, ..options(&heard) }).await;
    let process = process.unwrap_or_else(|error| panic!("{error}"));
    std::fs::write(started, "").expect("can be written");
    eventually("the panic is heard", || {
        heard.events().contains(&PluginEvent::Panicked { line: "goroutine 1".to_owned() })
    })
    .await;
    process.shutdown().await;
    let logs = heard.logs();
    let longest = logs.iter().map(|it| it.message.len()).max();
    assert!(longest.is_some_and(|it| it < 70_000), "{longest:?}");
    assert!(logs[0].message.ends_with("... (983040 bytes left out)"));
    assert!(logs.iter().any(|it| it.message == "panic: ***" && it.level == LogLevel::Error));
}

#[tokio::test]
async fn plugin_that_ignores_shutdown_is_killed() {
    // The shell is the child process and outlives the peer.
    let script = format!("trap '' TERM; {}; sleep 60", peer().display());
    let heard = Heard::default();
    let process =
        launch(shell(&script), options(&heard)).await.unwrap_or_else(|error| panic!("{error}"));
    let id = process.id().expect("it runs");
    let begin = Instant::now();
    process.shutdown().await;
    assert!(begin.elapsed() < Duration::from_secs(8), "took {:?}", begin.elapsed());
    assert!(!exists(id));
}
