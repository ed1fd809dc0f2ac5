//! Checks that the corpus of every target, and mutations of it from a fixed seed, keep the invariants.

#![expect(
    clippy::disallowed_methods,
    reason = "the corpus lies in files; the environment asks for more rounds"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use fastrand::Rng;
use hostile::{TARGETS, Target, mutated};

/// The environment variable that multiplies the number of mutations.
const MORE: &str = "HOSTILE_ROUNDS";

fn folder(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(target.name)
}

fn corpus(target: &Target) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder(target));
    let entries = entries.unwrap_or_else(|error| panic!("{}: {error}", target.name));
    let mut corpus: Vec<_> = entries
        .map(|entry| {
            let path = entry.expect("readable").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, std::fs::read(path).expect("readable"))
        })
        .collect();
    corpus.sort();
    corpus
}

#[track_caller]
fn check(target: &Target, origin: &str, input: &[u8]) {
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.check)(input)));
    assert!(
        outcome.is_ok(),
        "{} of {origin} breaks the invariant of {}: {:?}",
        if input.len() < 2000 { String::from_utf8_lossy(input) } else { "an input".into() },
        target.name,
        input.iter().take(2000).collect::<Vec<_>>(),
    );
}

fn replay(names: &[&str]) {
    let more = std::env::var(MORE).ok().and_then(|it| it.parse().ok()).unwrap_or(1);
    for name in names {
        let target = hostile::named(name);
        let corpus = corpus(target);
        assert!(!corpus.is_empty(), "{name} has no corpus");
        check(target, "nothing", b"");
        let mut random = Rng::with_seed(23);
        for (origin, input) in &corpus {
            check(target, origin, input);
            for _ in 0..target.mutations * more {
                let (_, other) = &corpus[random.usize(..corpus.len())];
                check(target, origin, &mutated(input, other, &mut random));
            }
        }
    }
}

#[test]
fn addresses_versions_and_numbers_keep_their_invariants() {
    replay(&["address", "version", "number"]);
}

#[test]
fn values_and_types_keep_their_invariants() {
    replay(&["value_msgpack", "value_json", "type_json"]);
}

#[test]
fn functions_keep_their_invariants() {
    replay(&["conversion", "function"]);
}

#[test]
fn states_and_plans_keep_their_invariants() {
    replay(&["journal", "journal_frames", "lock"]);
    replay(&["state", "plan_message", "plan_file", "plan_entries"]);
}

#[test]
fn plugin_messages_keep_their_invariants() {
    replay(&["cached_schema", "handshake", "reattach", "provider_log"]);
    replay(&["provider_schemas", "provider_answer"]);
}

#[test]
fn files_beside_the_configuration_keep_their_invariants() {
    replay(&["cli_config", "lock_file", "module_manifest", "module_archive", "variables_file"]);
    replay(&["object_list", "profiles"]);
}

#[test]
fn configurations_keep_their_invariants() {
    replay(&["configuration", "json_configuration", "json_syntax"]);
}

#[test]
fn typing_keeps_its_invariants() {
    replay(&["typing"]);
}

#[test]
fn language_server_input_keeps_its_invariants() {
    replay(&["lsp_edits", "lsp_frames"]);
}

#[test]
fn every_fuzz_target_is_replayed() {
    let source = include_str!("replay.rs");
    let manifest = include_str!("../../../fuzz/Cargo.toml");
    for target in TARGETS {
        let (quoted, name) = (format!("\"{}\"", target.name), target.name);
        assert!(source.contains(&quoted), "{name} is not replayed");
        assert!(manifest.contains(&format!("name = {quoted}")), "{name} has no fuzz target");
    }
}
