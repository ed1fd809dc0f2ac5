use std::time::Duration;

use hir::{ItemKind, Origin, Ref, lower::lower_text};
use values::{Mark, Str};

use super::*;

/// Requests a local value whose expression may read `local.a`, which is "A".
fn request(text: &str) -> Request {
    let mut captured = Captured::new(Some("2025-01-01T00:00:00Z".to_owned()));
    assert!(captured.add(&Ref::Local("a".into()), Value::string("A")));
    let lowered = lower_text(&format!("locals {{\n  it = {text}\n}}\n"), "main.tf");
    let item = Arc::clone(&lowered.items[0]);
    let ItemKind::Local(local) = &item.kind else { panic!("a local value") };
    let expr = local.value;
    let entry = Entry { item, origin: Origin { file: 0, block: 0, item: 0 } };
    Request::value(NodeIx(0), &entry, expr, Arc::new(captured))
}

/// Requests evaluations for the nodes from zero on.
fn hand_over(ahead: &Ahead, requests: impl IntoIterator<Item = Request>) {
    let target = |index: usize| Target { node: NodeIx(index as u32), key: InstanceKey::None };
    let requests = requests.into_iter().enumerate();
    let requests = requests.map(|(index, it)| Request { target: target(index), ..it });
    ahead.request(requests.collect());
}

fn take(ahead: &Ahead, index: usize) -> Option<Foreseen> {
    ahead.take(NodeIx(index as u32), &InstanceKey::None)
}

/// Evaluates on this thread, as a worker would.
fn evaluate(text: &str) -> Option<Foreseen> {
    let ahead = Ahead::new(&CancelToken::new());
    request(text).evaluate(&ahead.shared)
}

#[test]
fn captured_values_and_pure_functions_count() {
    for (text, expected) in [
        ("\"${local.a}-${1 + 1}\"", "A-2"),
        ("upper(lower(local.a))", "A"),
        ("plantimestamp()", "2025-01-01T00:00:00Z"),
    ] {
        let foreseen = evaluate(text).expect("counts");
        assert_eq!(foreseen.value.as_str(), Some(expected), "{text}");
    }
}

#[test]
fn evaluations_that_read_more_or_report_something_do_not_count() {
    for text in [
        "local.b",
        "var.a",
        "try(local.b, 1)",
        "each.key",
        "module.m.out",
        "test_thing.a[local.a]",
        "file(\"a\")",
        "fileexists(\"a\")",
        "fileset(\".\", \"*\")",
        "abspath(\"a\")",
        "pathexpand(\"~\")",
        "templatefile(\"a\", {})",
        "templatestring(local.a, {})",
        "timestamp()",
        "uuid()",
        "bcrypt(local.a)",
        "provider::test::it(local.a)",
        "tonumber(local.a)",
        "local.a.b",
    ] {
        assert!(evaluate(text).is_none(), "{text}");
    }
}

#[test]
fn evaluation_that_needs_more_than_the_room_does_not_count() {
    let text = |width: usize| format!("join(local.a, [for i in range(1000) : \"{:0>width$}\"])", 0);
    let foreseen = evaluate(&text(100)).expect("counts");
    assert!(
        foreseen.charge > 100_000 && foreseen.peak > foreseen.charge,
        "first a list, then a text"
    );
    assert!(evaluate(&text(ROOM as usize / 1000)).is_none());
}

/// A run that waits lets the others evaluate only as much as there is room for, and goes on with them later.
#[test]
fn values_that_wait_take_a_bounded_amount_of_memory() {
    let ahead = Ahead::new(&CancelToken::new());
    let text = &format!("join(local.a, [for i in range(1000) : \"{:0>400}\"])", 0);
    hand_over(&ahead, (0..100).map(|_| request(text)));
    let workers_end = || {
        let mut queue = ahead.shared.lock();
        while queue.workers > 0 {
            queue = ahead.shared.ended.wait(queue).expect("not poisoned");
        }
        queue.waiting.len()
    };
    let each = evaluate(text).expect("counts").size();
    if parallel::processors() > 1 {
        let left = workers_end();
        let held = ahead.shared.held.load(Ordering::Relaxed);
        assert!(held >= ROOM && held < ROOM + each * parallel::processors() as u64, "{held}");
        (0..100 - left).for_each(|it| assert!(take(&ahead, it).is_some()));
        assert!(workers_end() < left, "the workers went on");
    }
    (0..100).for_each(|it| drop(take(&ahead, it)));
    assert_eq!(ahead.shared.held.load(Ordering::Relaxed), 0);
}

#[test]
fn ephemeral_values_are_not_captured() {
    let secret = Value::string("secret").with_mark(Mark::Ephemeral);
    let mut captured = Captured::new(None);
    assert!(!captured.add(&Ref::Local("a".into()), secret.clone()));
    assert!(captured.get(&Ref::Local("a".into())).is_none());

    let entry = request("1").entry;
    let (schema, captured) =
        (Arc::new(Schema::new(0, provider::Block::default())), Arc::new(captured));
    let each = |value: &Value| Each { key: Default::default(), value: Some(value.clone()) };
    assert!(Request::body(NodeIx(0), &entry, &schema, &each(&secret), &captured).is_none());
    let inside = Value::object_from([("a", secret)]);
    assert!(Request::body(NodeIx(0), &entry, &schema, &each(&inside), &captured).is_none());
    let plain = Value::string("a").with_mark(Mark::Sensitive);
    assert!(Request::body(NodeIx(0), &entry, &schema, &each(&plain), &captured).is_some());
}

#[test]
fn secrets_of_an_evaluation_are_returned() {
    let foreseen = evaluate("\"login ${sensitive(upper(local.a))}\"").expect("counts");
    let parts: Vec<_> = foreseen.parts.iter().filter_map(Value::as_str).map(Str::from).collect();
    assert_eq!(parts, ["A", "login A"].map(Str::from));
}

/// A worker evaluates a request, or the thread of the run does, whichever is faster. A second request changes nothing.
#[test]
fn values_are_taken_once() {
    let ahead = Ahead::new(&CancelToken::new());
    let requests = (0..500).map(|index| request(&format!("\"${{local.a}}${{{index} + 0}}\"")));
    hand_over(&ahead, requests);
    hand_over(&ahead, (0..500).map(|_| request("\"another value\"")));
    for index in 0..500 {
        if let Some(foreseen) = take(&ahead, index) {
            assert_eq!(foreseen.value.as_str(), Some(&*format!("A{index}")));
        }
        assert!(take(&ahead, index).is_none());
    }
}

#[test]
fn waiting_requests_are_evaluated_by_workers() {
    let ahead = Ahead::new(&CancelToken::new());
    hand_over(&ahead, (0..8).map(|_| request("local.a")));
    let mut queue = ahead.shared.lock();
    while queue.workers > 0 {
        queue = ahead.shared.ended.wait(queue).expect("not poisoned");
    }
    drop(queue);
    let taken = (0..8).filter(|it| take(&ahead, *it).is_some()).count();
    assert_eq!(taken, if parallel::processors() > 1 { 8 } else { 0 });
}

#[test]
fn others_are_evaluated_while_the_run_waits() {
    let ahead = Ahead::new(&CancelToken::new());
    let running = Arc::new(Task::new(request("local.a")));
    let other = Arc::new(Task::new(request("local.a")));
    let target = Target { node: NodeIx(0), key: InstanceKey::None };
    ahead.tasks.borrow_mut().insert(target, Arc::clone(&running));
    ahead.shared.lock().waiting.push_back(other);
    let (has_begun, begun) = std::sync::mpsc::channel();
    let shared = Arc::clone(&ahead.shared);
    let worker = parallel::thread("worker", move || {
        let mut is_other_done = false;
        running.run(|_| {
            let _ = has_begun.send(());
            let mut waits = 0..20_000;
            while !is_other_done && waits.next().is_some() {
                std::thread::sleep(Duration::from_millis(1));
                is_other_done = shared.held.load(Ordering::Relaxed) > 0;
            }
            None
        });
        is_other_done
    });
    begun.recv_timeout(Duration::from_secs(20)).expect("the work begins");
    assert!(take(&ahead, 0).is_none());
    assert!(worker.expect("starts").join().expect("ends"), "it ended before the one that ran");
}

/// The expression would take hours.
#[test]
fn no_evaluation_outlives_the_run() {
    let text = "[for a in range(1000) : [for b in range(1000) : [for c in range(1000) : a * b * c if c > 1000]]]";
    let ahead = Ahead::new(&CancelToken::new());
    hand_over(&ahead, (0..4).map(|_| request(text)));
    let tasks: Vec<_> = ahead.tasks.borrow().values().cloned().collect();
    drop(ahead);
    assert!(tasks.iter().all(|it| !matches!(it.take(), Ended::Done(Some(_)))));

    let cancel = CancelToken::new();
    cancel.cancel();
    cancel.cancel();
    let ahead = Ahead::new(&cancel);
    assert!(request(text).evaluate(&ahead.shared).is_none());
    assert!(!cancel.is_heard(), "only the thread of the run hears an abort");
}

/// Another run's evaluation may take long, and its worker may have the only thread of the pool.
#[test]
fn run_ends_although_another_one_evaluates() {
    let text =
        "[for a in range(1000) : [for b in range(1000) : [for c in range(1000) : a if c > 1000]]]";
    let slow = Ahead::new(&CancelToken::new());
    hand_over(&slow, (0..parallel::processors()).map(|_| request(text)));
    let fast = Ahead::new(&CancelToken::new());
    hand_over(&fast, [request("local.a")]);
    drop(fast);
    let workers = slow.shared.lock().workers;
    assert_eq!(workers, parallel::processors() - 1, "the slow evaluations have not ended");
}

#[test]
fn run_may_be_on_a_thread_of_the_pool() {
    let (done, is_done) = std::sync::mpsc::channel();
    let run = move || {
        let ahead = Ahead::new(&CancelToken::new());
        hand_over(&ahead, [request("local.a")]);
        drop(ahead);
        let _ = done.send(());
    };
    if parallel::spawn(run) {
        is_done.recv_timeout(Duration::from_secs(20)).expect("the run ends");
    }
}
