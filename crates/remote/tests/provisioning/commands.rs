//! Commands, and the end of a connection.

use std::time::Duration;

use crate::{Place, run, with_both_servers};

with_both_servers!(
    output_is_given_by_line_and_the_status_at_the_end,
    signal_is_an_exit_status,
    dropped_machine_closes_its_connection,
);

async fn output_is_given_by_line_and_the_status_at_the_end(place: Place) {
    let machine = place.connect().await;
    let (lines, end) = run(&*machine, "echo one; echo two >&2; printf 'a\\rb\\n\\nlast'").await;
    assert_eq!(lines, ["one", "two", "a", "b", "", "last"]);
    assert!(end.expect("ends").success);
    let (lines, end) = run(&*machine, "exit 3").await;
    assert!(lines.is_empty());
    let end = end.expect("ends");
    assert_eq!((end.success, end.text.as_str()), (false, "Process exited with status 3"));
    machine.close().await;
}

async fn signal_is_an_exit_status(place: Place) {
    let machine = place.connect().await;
    let (_, end) = run(&*machine, "kill -TERM $$; sleep 10").await;
    // The server in this process gives no status for a signal.
    match place.shared {
        Some(_) => assert_eq!(end, Err("the command ended without an exit status".to_owned())),
        None => {
            let text = end.expect("ends").text;
            assert_eq!(text, "Process exited with status 143 from signal TERM");
        }
    }
}

async fn dropped_machine_closes_its_connection(place: Place) {
    let machine = place.connect().await;
    let file = place.path("alive");
    // The command ends when its output has no reader any more.
    let command =
        format!("trap '' HUP; echo begun; while echo; do date > {file}; sleep 0.05; done");
    let begun = tokio::sync::Notify::new();
    let notify = |_: &str| begun.notify_one();
    tokio::select! {
        _ = machine.run(&command, &notify) => panic!("the command does not end"),
        () = begun.notified() => {}
    }
    drop(machine);
    if let Some(shared) = &place.shared {
        while shared.with(|it| it.open) > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_connection_is_reported() {
    let place = Place::here().await;
    let machine = place.connect().await;
    let shared = place.shared.clone().expect("is in this process");
    let last = shared.with(|it| it.last.clone()).expect("is connected");
    let ending = async {
        while shared.with(|it| it.commands.is_empty()) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let reason = russh::Disconnect::ByApplication;
        last.disconnect(reason, "going down".to_owned(), String::new()).await
    };
    let ((_, end), _) = tokio::join!(run(&*machine, "sleep 10"), ending);
    assert_eq!(end, Err("the connection was lost (going down)".to_owned()));
    let (_, end) = run(&*machine, "true").await;
    assert_eq!(end, Err("the connection was lost (going down)".to_owned()));
}
