//! Providers that fail, hang or die while an ephemeral resource is open. A close is attempted, the command ends in
//! bounded time with a clear error, and no process is left.

use std::time::Duration;

use rustix::process::{Pid, Signal};

use crate::bench::{Bench, Ended};

/// A configuration in which a lease is used by a resource of another provider process and by one of its own.
fn main_with(lease: &str, other: &str, own: &str) -> String {
    format!(
        r#"
terraform {{
  required_providers {{
    playground = {{ source = "registry.opentofu.org/mayfly/playground" }}
  }}
}}
provider "playground" {{
  store = ".playground"
}}
provider "playground" {{
  alias      = "other"
  store      = ".playground"
  auth_token = ephemeral.playground_lease.lease.data["auth_token"]
}}
ephemeral "playground_lease" "lease" {{
  path = "p"
  {lease}
}}
resource "playground_parameter" "other" {{
  provider         = playground.other
  name             = "other"
  type             = "SecureString"
  value_wo         = ephemeral.playground_lease.lease.data["auth_token"]
  value_wo_version = 1
  {other}
}}
resource "playground_parameter" "own" {{
  name             = "own"
  type             = "SecureString"
  value_wo         = ephemeral.playground_lease.lease.data["auth_token"]
  value_wo_version = 1
  {own}
}}
"#
    )
}

fn fault(on: &str, kind: &str) -> String {
    format!("fault = {{ on = \"{on}\", kind = \"{kind}\" }}")
}

const OPENING: &str = "ephemeral.playground_lease.lease: Opening...";
const CLOSING: &str = "ephemeral.playground_lease.lease: Closing...";

/// The state of the lease in the provider at the end.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Close {
    /// Every open lease is closed.
    Done,
    /// The close was called, and the provider failed or did not answer.
    Called,
    /// The process that could close it is gone, or it was never open.
    Impossible,
}

struct Case {
    what: &'static str,
    lease: String,
    other: String,
    own: String,
    shows: &'static [&'static str],
    close: Close,
}

impl Case {
    fn new(what: &'static str, shows: &'static [&'static str], close: Close) -> Case {
        Case { what, lease: String::new(), other: String::new(), own: String::new(), shows, close }
    }
}

#[track_caller]
fn check(case: &Case) -> Ended {
    let bench = Bench::with_main(&main_with(&case.lease, &case.other, &case.own));
    let ended = bench.mayfly(".", ["apply", "-auto-approve"]).end();
    println!("{}: {:?}\n{}", case.what, ended.elapsed, ended.printed());
    assert_eq!(ended.code, 1, "{}", case.what);
    ended.shows(&["Error: "]);
    ended.shows(&[OPENING]);
    ended.shows(case.shows);
    assert!(ended.elapsed < Duration::from_secs(25), "{} took {:?}", case.what, ended.elapsed);
    let ledger = bench.ledger(".");
    let (opened, closed) =
        (ledger.count("opened", "playground_lease"), ledger.count("closed", "playground_lease"));
    let called = ledger.calls("close", "playground_lease");
    match case.close {
        Close::Done => {
            assert_eq!((opened, called), (closed, closed), "{}: each open has one close", case.what)
        }
        Close::Called => {
            assert!(called > 0 && called == opened, "{}: {called} closes of {opened}", case.what)
        }
        Close::Impossible => {}
    }
    if case.close != Close::Impossible {
        ended.shows(&[CLOSING]);
    }
    bench.assert_no_orphans(".");
    // The lock is released, and the state file is valid.
    if bench.path("terraform.tfstate").exists() {
        assert_eq!(bench.state(".")["version"], 4);
    }
    assert!(
        !bench.path(".terraform.tfstate.lock.info").exists(),
        "{}: the lock is left",
        case.what
    );
    ended
}

/// Runs all cases concurrently, because they mostly wait.
fn check_all(cases: &[Case]) {
    parallel::map_on(cases.len(), cases, check);
}

#[test]
fn failed_provider_call_is_followed_by_close() {
    let mut cases = Vec::new();
    for (on, kind) in [
        ("plan", "fail"),
        ("create", "fail"),
        ("create", "panic"),
        ("create", "inconsistent"),
        ("plan", "write_only"),
    ] {
        let case = |what| Case::new(what, &[CLOSING], Close::Done);
        cases.push(Case { other: fault(on, kind), ..case("another process fails") });
        cases.push(Case { own: fault(on, kind), ..case("the same process fails") });
    }
    check_all(&cases);
}

#[test]
fn failed_open_or_close_is_an_error() {
    let case = |on: &str, kind: &str, what, shows, close| Case {
        lease: fault(on, kind),
        ..Case::new(what, shows, close)
    };
    check_all(&[
        case("open", "fail", "open fails", &["Provoked fault"], Close::Impossible),
        case("open", "null", "open gives nothing", &["produced null object"], Close::Done),
        case("open", "unknown", "open gives unknowns", &["not wholly known"], Close::Done),
        case("open", "inconsistent", "open differs", &["invalid ephemeral"], Close::Done),
        case("close", "fail", "close fails", &["Provoked fault"], Close::Called),
    ]);
}

#[test]
fn dead_provider_is_followed_by_close_in_other_processes() {
    const GONE: &[&str] = &["Plugin did not respond"];
    let mut cases = Vec::new();
    for on in ["plan", "create"] {
        let other =
            Case::new("another process dies", &[CLOSING, "Plugin did not respond"], Close::Done);
        cases.push(Case { other: fault(on, "die"), ..other });
        let own = Case::new("the process that opened dies", GONE, Close::Impossible);
        cases.push(Case { own: fault(on, "die"), ..own });
    }
    for on in ["open", "close"] {
        let lease = Case::new("it dies on a call about the lease", GONE, Close::Impossible);
        cases.push(Case { lease: fault(on, "die"), ..lease });
    }
    check_all(&cases);
}

/// A creation that takes so long that a renewal becomes due.
const SLOW: &str = "fault = { on = \"create\", kind = \"slow\", ms = 1500 }";

/// A renewal that is due at once and fails.
fn renewal(kind: &str, shows: &'static [&'static str], close: Close) -> Case {
    Case {
        lease: format!("ttl_ms = 60000\n  renew_after_ms = 1\n  {}", fault("renew", kind)),
        other: SLOW.into(),
        ..Case::new("a renewal goes wrong", shows, close)
    }
}

#[test]
fn failed_renewal_fails_its_dependents_and_closes() {
    check_all(&[
        renewal("fail", &["Renewing...", "Provoked fault"], Close::Done),
        renewal("die", &["Renewing...", "Plugin did not respond"], Close::Impossible),
    ]);
}

#[test]
fn hanging_renewal_or_close_times_out() {
    let shows = &["Creation complete", "Closing ephemeral resource timed out", "after 10s"];
    let lease = "fault = { on = \"close\", kind = \"hang\", after = 1 }".into();
    check_all(&[
        renewal("hang", &["Renewing...", "Closing..."], Close::Called),
        Case { lease, ..Case::new("close hangs", shows, Close::Called) },
    ]);
}

#[test]
fn failed_destroy_closes_ephemerals() {
    for kind in ["fail", "die"] {
        let bench = Bench::with_main(&main_with("", &fault("delete", kind), ""));
        bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
        let ended = bench.mayfly(".", ["destroy", "-auto-approve"]).fails();
        ended.shows(&[OPENING, "playground_parameter.other: Destroying...", CLOSING, "Error: "]);
        let ledger = bench.ledger(".");
        let (opened, closed) = (
            ledger.count("opened", "playground_lease"),
            ledger.count("closed", "playground_lease"),
        );
        assert_eq!(opened, closed, "{kind}");
        assert!(bench.state(".").to_string().contains("\"other\""), "what is not gone is kept");
        bench.assert_no_orphans(".");
    }
}

#[test]
fn second_interrupt_ends_a_hanging_call_and_closes() {
    for (on, own) in [("create", false), ("plan", true), ("open", false)] {
        let (mut lease, mut other, mut mine) = (String::new(), String::new(), String::new());
        match (on, own) {
            ("open", _) => lease = fault(on, "hang"),
            (_, true) => mine = fault(on, "hang"),
            _ => other = fault(on, "hang"),
        }
        let bench = Bench::with_main(&main_with(&lease, &other, &mine));
        let run = bench.mayfly(".", ["apply", "-auto-approve"]).start();
        let hangs = || {
            bench.path(".playground/ledger.jsonl").exists()
                && bench.ledger(".").0.iter().any(|it| it.event == "faulted")
        };
        run.wait_until("the call hangs", hangs);
        run.interrupt();
        run.wait_for("Interrupt received.");
        run.interrupt();
        run.wait_for("Two interrupts received.");
        let interrupted = std::time::Instant::now();
        let ended = run.end();
        assert!(
            interrupted.elapsed() < Duration::from_secs(8),
            "{on}: {:?}",
            interrupted.elapsed()
        );
        assert_eq!(ended.code, 1);
        ended.shows(&["Error: "]);
        let ledger = bench.ledger(".");
        assert_eq!(
            ledger.count("opened", "playground_lease"),
            ledger.count("closed", "playground_lease"),
            "{on}:\n{}",
            ended.printed()
        );
        if on != "open" {
            ended.shows(&[CLOSING]);
        }
        bench.assert_no_orphans(".");
    }
}

#[test]
fn first_interrupt_ends_a_call_that_waits_for_stop() {
    let bench = Bench::with_main(&main_with("", &fault("create", "wait"), ""));
    let run = bench.mayfly(".", ["apply", "-auto-approve"]).start();
    // Wait until the call has arrived: a stop request that comes earlier does not end the call.
    run.wait_until("the call waits", || bench.ledger(".").0.iter().any(|it| it.event == "faulted"));
    run.interrupt();
    let ended = run.end().exits(1);
    ended.shows(&["Interrupt received.", CLOSING]);
    ended.shows(&["Error: Provoked fault"]);
    assert!(ended.elapsed < Duration::from_secs(8));
    bench.assert_no_orphans(".");
}

#[test]
fn killed_provider_is_an_error_and_other_ephemerals_close() {
    let bench = Bench::with_main(&main_with("", &fault("create", "hang"), ""));
    let run = bench.mayfly(".", ["apply", "-auto-approve"]).start();
    run.wait_for("playground_parameter.other: Creating...");
    let faulted =
        || bench.ledger(".").0.into_iter().find(|it| it.event == "faulted" && it.rpc == "create");
    run.wait_until("the call hangs", || faulted().is_some());
    let pid = faulted().expect("was seen").pid;
    let _ =
        rustix::process::kill_process(Pid::from_raw(pid as i32).expect("is a pid"), Signal::KILL);
    let ended = run.end().exits(1);
    ended.shows(&[CLOSING, "Error: Plugin did not respond"]);
    let ledger = bench.ledger(".");
    assert_eq!(
        ledger.count("opened", "playground_lease"),
        ledger.count("closed", "playground_lease")
    );
    bench.assert_no_orphans(".");
}

#[test]
fn providers_end_when_mayfly_is_killed() {
    let bench = Bench::with_main(&main_with("", &fault("create", "hang"), ""));
    let run = bench.mayfly(".", ["apply", "-auto-approve"]).start();
    run.wait_for("playground_parameter.other: Creating...");
    run.signal(Signal::KILL);
    run.end();
    bench.assert_no_orphans(".");
}
