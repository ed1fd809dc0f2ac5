//! The line that shows running downloads on a terminal.

use std::time::Duration;

use registry::{AuthorKey, Pace, Release, Server, packed, pages_with};

use crate::{
    bench::Bench,
    downloads::{authority, trusting},
    watch::terminal,
};

/// Starts a registry that takes two seconds to send the package of `tests/thing`.
fn slow_registry(bench: &Bench) -> Server {
    let key = AuthorKey::new();
    let release = Release { key: Some(&key), ..Release::default() };
    let mut random = fastrand::Rng::with_seed(1);
    let plugin: Vec<u8> = (0..2_000_000).map(|_| random.u8(..)).collect();
    let package = packed("terraform-provider-thing_v1.2.0", plugin);
    let pages = pages_with(&[release], |_, _| package.clone());
    let pace = Pace { bytes: 100_000, pause: Duration::from_millis(100) };
    let server = Server::start_slow(&authority(bench), pages, pace);
    let source = format!("localhost:{}/tests/thing", server.port);
    bench.write(
        "main.tf",
        &format!("terraform {{\n  required_providers {{\n    thing = {{ source = \"{source}\" }}\n  }}\n}}\n"),
    );
    server
}

#[test]
fn downloads_are_shown_on_a_terminal_until_they_end() {
    let bench = Bench::new();
    let server = slow_registry(&bench);
    let name = format!("Downloading localhost:{}/tests/thing v1.2.0 ", server.port);
    let Some(run) = terminal(&bench, "init") else { return };
    let started = trusting(&bench, run).env("NO_COLOR", "").start();
    started.wait_for(&format!("{name}1."));
    let ended = started.end().exits(0);
    ended.shows(&[" of 2.0 MB", "v1.2.0 (signed, key ID", "successfully initialized"]);
    let last = ended.out.rfind(&name).expect("it is shown");
    assert!(ended.out[last..].contains("\r\u{1b}[K"), "the line is removed: {}", ended.out);
}

#[test]
fn downloads_are_not_shown_in_other_places() {
    let bench = Bench::new();
    let _server = slow_registry(&bench);
    let again = |bench: &Bench| {
        std::fs::remove_dir_all(bench.path(".terraform")).expect("can be removed");
    };
    let piped = trusting(&bench, bench.mayfly(".", ["init"])).env("NO_COLOR", "");
    piped.succeeds().lacks(&["Downloading", "\r"]);
    for (arguments, no_color) in [("init", "1"), ("init -json", "")] {
        again(&bench);
        let Some(run) = terminal(&bench, arguments) else { return };
        let run = trusting(&bench, run).env("NO_COLOR", no_color);
        run.end().exits(0).lacks(&["Downloading", "\u{1b}[K"]);
    }
}
