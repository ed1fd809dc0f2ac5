//! No child process outlives Mayfly, however it dies. A signal that can be handled ends it in an orderly way.

use std::{
    fs::{self, File},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal};

use crate::bench::{Bench, Run, Started};

/// An environment variable that marks a run and, by inheritance, all processes that it starts.
const COOKIE: &str = "MAYFLY_TEST_BENCH";

/// The time limit for processes to end after Mayfly has died.
const BOUND: Duration = Duration::from_secs(10);

const HEAD: &str = r#"
terraform {
  required_providers {
    playground = { source = "registry.opentofu.org/mayfly/playground" }
  }
}
"#;

const SECRET: &str = r#"
ephemeral "playground_random" "value" {}
resource "playground_secret" "first" {
  name             = "first"
  value_wo         = ephemeral.playground_random.value.result
  value_wo_version = 1
}
"#;

/// A command that runs until the test creates a file.
const WAITS: &str = r#"
ephemeral "playground_random" "value" {}
resource "playground_secret" "first" {
  name             = "first"
  value_wo         = ephemeral.playground_random.value.result
  value_wo_version = 1
  provisioner "local-exec" {
    command = "touch started; while ! test -e go; do sleep 0.05; done; touch finished"
  }
}
resource "playground_secret" "second" {
  name       = "second"
  depends_on = [playground_secret.first]
}
"#;

fn bench(main: &str) -> Bench {
    Bench::with_main(&format!("{HEAD}{main}"))
}

fn marked(bench: &Bench, run: Run) -> Run {
    run.env(COOKIE, bench.root())
}

/// The processes of a bench with their command lines. If their environment cannot be read, the ledger identifies
/// the providers.
fn processes(bench: &Bench) -> Vec<(u32, String)> {
    let cookie = format!("{COOKIE}={}", bench.root().display());
    let served: Vec<u32> = match bench.path(".playground/ledger.jsonl").exists() {
        true => bench.ledger(".").0.iter().map(|it| it.pid).collect(),
        false => Vec::new(),
    };
    let mut found = Vec::new();
    for process in fs::read_dir("/proc").expect("there is /proc").flatten() {
        let Some(id) = process.file_name().to_str().and_then(|it| it.parse().ok()) else {
            continue;
        };
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        let has_cookie = environment.split(|byte| *byte == 0).any(|it| it == cookie.as_bytes());
        if has_cookie || (served.contains(&id) && line.contains("serve-bundled-provider")) {
            found.push((id, line));
        }
    }
    found
}

#[track_caller]
fn assert_none_is_left(bench: &Bench, when: &str) {
    let begun = Instant::now();
    loop {
        let left = processes(bench);
        if left.is_empty() {
            return;
        }
        if begun.elapsed() > BOUND {
            for (id, _) in &left {
                kill(*id, Signal::KILL);
            }
            panic!("{when}, these are left: {left:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until the supervisor has removed the temporary directories of the killed providers.
fn assert_no_temporary_files(bench: &Bench) {
    let end = Instant::now() + BOUND;
    let temporary = bench.root().join("tmp");
    while fs::read_dir(&temporary).expect("is there").next().is_some() {
        assert!(Instant::now() < end, "a temporary file is left in {}", temporary.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn kill(id: u32, signal: Signal) {
    if let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = rustix::process::kill_process(id, signal);
    }
}

fn names(bench: &Bench) -> Vec<String> {
    let state = bench.state(".");
    let resources = state["resources"].as_array().expect("a list").iter();
    resources.map(|it| it["name"].as_str().expect("a name").to_owned()).collect()
}

fn has_faulted(bench: &Bench) -> bool {
    bench.path(".playground/ledger.jsonl").exists()
        && bench.ledger(".").0.iter().any(|it| it.event == "faulted")
}

/// Starts a command whose provider never answers this call.
fn hanging(bench: &Bench, command: &[&str], call: &str) -> Started {
    let fault = format!("{{\"on\": \"{call}\", \"kind\": \"hang\"}}");
    let run = bench.mayfly(".", command).env("PLAYGROUND_FAULT", fault);
    let run = marked(bench, run).start();
    run.wait_until("the provider hangs", || has_faulted(bench));
    run
}

#[test]
fn providers_end_with_a_killed_command() {
    let moments = [
        (&["plan"][..], "plan"),
        (&["apply", "-auto-approve"][..], "create"),
        (&["apply", "-auto-approve"][..], "open"),
    ];
    for signal in [Signal::KILL, Signal::ABORT] {
        for (command, call) in moments {
            let bench = bench(SECRET);
            let run = hanging(&bench, command, call);
            assert!(processes(&bench).len() >= 2, "there is a provider to end");
            run.signal(signal);
            let ended = run.end();
            assert_eq!(ended.code, -signal.as_raw(), "{}", ended.printed());
            assert_none_is_left(&bench, &format!("after {signal:?} in {call}"));
            assert_no_temporary_files(&bench);
        }
    }
}

#[test]
fn hangup_quit_and_term_stop_gracefully() {
    for signal in [Signal::HUP, Signal::QUIT, Signal::TERM] {
        let bench = bench(WAITS);
        let run = marked(&bench, bench.mayfly(".", ["apply", "-auto-approve"])).start();
        run.wait_until("the provisioner runs", || bench.path("started").exists());
        // A terminal sends its signals to the whole foreground process group.
        match signal {
            Signal::TERM => run.signal(signal),
            _ => run.signal_group(signal),
        }
        run.wait_for("Gracefully shutting down...");
        bench.write("go", "");
        let ended = run.end().exits(1);
        ended.shows(&[
            "Interrupt received.",
            "playground_secret.first: Creation complete",
            "ephemeral.playground_random.value: Closing complete",
            "Error: execution halted",
        ]);
        assert!(bench.path("finished").exists(), "{signal:?}: the command was not disturbed");
        assert_eq!(names(&bench), ["first"], "{signal:?}");
        let ledger = bench.ledger(".");
        assert_eq!(
            ledger.count("opened", "playground_random"),
            ledger.count("closed", "playground_random"),
            "{signal:?}"
        );
        assert_none_is_left(&bench, &format!("after {signal:?}"));
    }
}

#[test]
fn second_hangup_ends_at_once_but_saves_and_closes() {
    let bench = bench(WAITS);
    let run = marked(&bench, bench.mayfly(".", ["apply", "-auto-approve"])).start();
    run.wait_until("the provisioner runs", || bench.path("started").exists());
    run.signal_group(Signal::HUP);
    run.wait_for("Gracefully shutting down...");
    run.signal_group(Signal::QUIT);
    let ended = run.end().exits(1);
    ended.shows(&["Two interrupts received. Exiting immediately."]);
    ended.shows(&["ephemeral.playground_random.value: Closing"]);
    assert!(!bench.path("finished").exists(), "the command was ended");
    assert_eq!(names(&bench), ["first"]);
    assert_none_is_left(&bench, "after two signals");
}

#[test]
fn hangup_ignored_at_start_stays_ignored() {
    let bench = bench(WAITS);
    let script = "trap '' HUP; exec \"$0\" apply -auto-approve";
    let run = bench.program("sh", ".", ["-c", script, env!("CARGO_BIN_EXE_mayfly")]);
    let run = marked(&bench, run).start();
    run.wait_until("the provisioner runs", || bench.path("started").exists());
    run.signal_group(Signal::HUP);
    std::thread::sleep(Duration::from_millis(300));
    bench.write("go", "");
    run.end().exits(0).shows(&["Apply complete! Resources: 2 added"]);
}

#[test]
fn interrupted_local_exec_ends_with_all_descendants() {
    let bench = bench(
        r#"
resource "terraform_data" "commands" {
  provisioner "local-exec" {
    command = "setsid sleep 301 & env -i sleep 302 & (setsid sh -c 'trap \"\" HUP TERM; sleep 303') & touch started; wait"
  }
}
"#,
    );
    let run = marked(&bench, bench.mayfly(".", ["apply", "-auto-approve"])).start();
    run.wait_until("the command runs", || {
        bench.path("started").exists()
            && ["sleep 301", "sleep 302", "sleep 303"].iter().all(|it| runs(it))
    });
    run.signal(Signal::KILL);
    run.end();
    assert_none_is_left(&bench, "after the kill");
    let begun = Instant::now();
    while runs("sleep 302") {
        assert!(begun.elapsed() < BOUND, "a child without an environment is left");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns true if a process runs with this command line.
fn runs(line: &str) -> bool {
    let processes = fs::read_dir("/proc").expect("there is /proc").flatten();
    let mut lines = processes.filter_map(|it| fs::read(it.path().join("cmdline")).ok());
    lines.any(|it| String::from_utf8_lossy(&it).replace('\0', " ").trim() == line)
}

#[test]
fn daemon_of_a_finished_command_keeps_running() {
    let bench = bench(
        r#"
resource "terraform_data" "daemon" {
  provisioner "local-exec" {
    command = "setsid sleep 60 >/dev/null 2>&1 & echo $! >daemon"
  }
}
"#,
    );
    let run = bench.mayfly(".", ["apply", "-auto-approve"]);
    marked(&bench, run).succeeds().shows(&["Apply complete!"]);
    std::thread::sleep(Duration::from_millis(300));
    let left = processes(&bench);
    left.iter().for_each(|(id, _)| kill(*id, Signal::KILL));
    assert_eq!(left.len(), 1, "{left:?}");
}

/// Waits for the supervisor of a run, and returns its process ID.
fn supervisor(run: &Started) -> u32 {
    let mut found = None;
    run.wait_until("there is a supervisor", || {
        found = fs::read_dir("/proc").expect("there is /proc").flatten().find_map(|process| {
            let id: u32 = process.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(process.path().join("stat")).ok()?;
            let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()?;
            let line = fs::read_to_string(process.path().join("cmdline")).ok()?;
            (parent == run.pid() && line.contains("supervise-processes")).then_some(id)
        });
        found.is_some()
    });
    found.expect("it was found")
}

#[test]
fn supervisor_survives_job_signals_and_ends_after_the_run() {
    let bench = bench(SECRET);
    let run = hanging(&bench, &["plan"], "plan");
    let supervisor = supervisor(&run);
    for signal in [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM] {
        kill(supervisor, signal);
    }
    std::thread::sleep(Duration::from_millis(100));
    let is_there = || Path::new(&format!("/proc/{supervisor}")).exists();
    assert!(is_there(), "it was ended by a signal");
    run.signal(Signal::KILL);
    run.end();
    assert_none_is_left(&bench, "after the kill");
    let begun = Instant::now();
    while is_there() {
        assert!(begun.elapsed() < BOUND, "the supervisor is left");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn providers_end_even_if_the_supervisor_is_killed() {
    // The provider ends by the parent-death signal, or because its output pipe is closed.
    let bench = bench(SECRET);
    let run = hanging(&bench, &["apply", "-auto-approve"], "create");
    kill(supervisor(&run), Signal::KILL);
    run.signal(Signal::KILL);
    run.end();
    assert_none_is_left(&bench, "after the supervisor and its parent were killed");
}

#[test]
fn next_run_ends_orphans_but_no_process_of_a_live_run() {
    let bench = bench(
        r#"
resource "terraform_data" "command" {
  provisioner "local-exec" {
    command = "setsid sleep 304 & touch started; wait"
  }
}
"#,
    );
    let first = marked(&bench, bench.mayfly(".", ["apply", "-auto-approve"])).start();
    first.wait_until("the command runs", || bench.path("started").exists());
    // Another run in the directory does not end the command.
    bench.mayfly(".", ["plan", "-lock=false"]).succeeds().lacks(&["earlier run"]);
    assert!(processes(&bench).len() >= 3, "{:?}", processes(&bench));
    // Kill the supervisor first, so that nothing ends the command.
    kill(supervisor(&first), Signal::KILL);
    first.signal(Signal::KILL);
    first.end();
    assert!(!processes(&bench).is_empty(), "there is something to end");
    assert!(bench.path(".terraform/processes").is_dir(), "it is on record");
    let next = bench.mayfly(".", ["plan"]).succeeds();
    next.shows(&["Processes of an earlier run were ended", "local-exec"]);
    assert_none_is_left(&bench, "after the next run");
    assert!(!bench.path(".terraform/processes").exists(), "nothing was to be kept there");
}

#[test]
fn out_of_memory_error_names_the_address_and_leaves_no_process() {
    let bench = bench(SECRET);
    // The allocation exceeds the limit, and needs no actual memory on the test machine.
    let script = "ulimit -v 6000000 && exec \"$0\" apply -auto-approve";
    let run = bench.program("sh", ".", ["-c", script, env!("CARGO_BIN_EXE_mayfly")]);
    let run = run.env("MAYFLY_FAILPOINT", "answer").env("MAYFLY_FAILPOINT_MEMORY", "8589934592");
    let ended = marked(&bench, run).end();
    assert_eq!(ended.code, -Signal::ABORT.as_raw(), "{}", ended.printed());
    ended.shows(&[
        "Mayfly ran out of memory while applying, at playground_secret.first: 8589934592 more \
         bytes could not be allocated.",
        "the next run recovers them",
    ]);
    assert_none_is_left(&bench, "after the abort");
    // The provider's answer was not recorded, so the outcome of the creation is unknown.
    bench.mayfly(".", ["plan"]).end().shows(&["state adopt playground_secret.first"]);
}

/// Runs a command as the only job of a terminal. Dropping the file closes the terminal.
fn on_terminal(bench: &Bench, arguments: &[&str]) -> Option<(Child, File)> {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    // Close on exec: a child with this file would keep its own terminal open.
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let terminal = openpt(flags).expect("a pseudo-terminal");
    grantpt(&terminal).expect("is ours");
    unlockpt(&terminal).expect("is ours");
    let name = ptsname(&terminal, Vec::new()).expect("has a name").into_string().expect("is text");
    let open = || File::options().read(true).write(true).open(&name).expect("can be opened");
    let child = Command::new("setsid")
        .args(["--ctty", env!("CARGO_BIN_EXE_mayfly")])
        .args(arguments)
        .current_dir(bench.path("."))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", bench.root().join("home"))
        .env("TMPDIR", bench.root().join("tmp"))
        .env("TERM", "xterm")
        .env(COOKIE, bench.root())
        .stdin(Stdio::from(open()))
        .stdout(Stdio::from(open()))
        .stderr(Stdio::from(open()))
        .spawn();
    match child {
        Ok(child) => Some((child, terminal.into())),
        Err(error) => {
            println!("skipped {arguments:?} on a terminal: no setsid ({error})");
            None
        }
    }
}

#[test]
fn second_interrupt_ends_a_command_whose_terminal_is_stopped() {
    let bench = bench(
        r#"
resource "terraform_data" "loud" {
  provisioner "local-exec" {
    command = "touch started; while :; do echo 0123456789012345678901234567890123456789; done"
  }
}
"#,
    );
    let arguments = ["apply", "-auto-approve"];
    // Nothing reads from the terminal, so it is full soon, and each write blocks.
    let Some((mut child, _terminal)) = on_terminal(&bench, &arguments) else { return };
    until("the provisioner runs", || bench.path("started").exists());
    std::thread::sleep(Duration::from_millis(500));
    let pid = Pid::from_child(&child);
    for _ in 0..2 {
        rustix::process::kill_process(pid, Signal::INT).expect("it runs");
        std::thread::sleep(Duration::from_millis(500));
    }
    assert_eq!(ends(&mut child), Some(1));
    assert_none_is_left(&bench, "after the second interrupt");
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}: never");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn ends(child: &mut Child) -> Option<i32> {
    let mut code = None;
    until("the command ends", || {
        let status = child.try_wait().expect("can be waited for");
        code = status.map(|it| it.code());
        status.is_some()
    });
    code.flatten()
}

#[test]
fn closed_terminal_ends_an_apply_gracefully() {
    let bench = bench(WAITS);
    let arguments = ["apply", "-auto-approve"];
    let Some((mut child, terminal)) = on_terminal(&bench, &arguments) else { return };
    until("the provisioner runs", || bench.path("started").exists());
    drop(terminal);
    std::thread::sleep(Duration::from_millis(300));
    bench.write("go", "");
    assert_eq!(ends(&mut child), Some(1));
    assert!(bench.path("finished").exists(), "the command was not disturbed");
    assert_eq!(names(&bench), ["first"]);
    let ledger = bench.ledger(".");
    assert_eq!(
        ledger.count("opened", "playground_random"),
        ledger.count("closed", "playground_random")
    );
    assert!(!bench.path(".terraform.tfstate.lock.info").exists(), "the lock was given back");
    assert_none_is_left(&bench, "after the terminal was closed");
}

#[test]
fn closed_terminal_ends_a_plan_and_closes_ephemerals() {
    let bench = bench(&format!(
        "{SECRET}
provider \"playground\" {{
  alias      = \"opened\"
  auth_token = ephemeral.playground_random.value.result
}}
resource \"playground_parameter\" \"slow\" {{
  provider = playground.opened
  name     = \"slow\"
  type     = \"String\"
  value    = \"v\"
  fault    = {{ on = \"plan\", kind = \"slow\", ms = 1500 }}
}}
"
    ));
    let Some((mut child, terminal)) = on_terminal(&bench, &["plan"]) else { return };
    until("the plan is slow", || has_faulted(&bench));
    drop(terminal);
    assert_eq!(ends(&mut child), Some(1));
    let ledger = bench.ledger(".");
    let opened = ledger.count("opened", "playground_random");
    assert_eq!((opened, ledger.count("closed", "playground_random")), (1, 1));
    assert_none_is_left(&bench, "after the terminal was closed");
}

#[test]
fn closed_terminal_ends_watch_console_and_lsp() {
    for command in ["watch", "console", "lsp"] {
        let bench = bench(SECRET);
        bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
        let before = bench.ledger(".").0.len();
        let Some((mut child, terminal)) = on_terminal(&bench, &[command]) else { return };
        match command {
            // `watch` reads the object for its plan.
            "watch" => until("it plans", || bench.ledger(".").0.len() > before + 3),
            _ => std::thread::sleep(Duration::from_secs(1)),
        }
        assert_eq!(child.try_wait().expect("can be waited for"), None, "{command} runs");
        drop(terminal);
        ends(&mut child);
        assert_none_is_left(&bench, &format!("after the terminal of {command} was closed"));
        let journals = fs::read_dir(bench.path("."))
            .expect("lists")
            .flatten()
            .filter(|it| it.file_name().to_string_lossy().contains("journal"));
        assert_eq!(journals.count(), 0, "{command} left something open");
        assert!(!bench.path(".terraform.tfstate.lock.info").exists(), "{command}");
    }
}
