//! Replays recorded sequences of edits and commands, and compares the results with those of OpenTofu.
//! `cargo xtask differential --record N` renews the recordings.

use std::{fs, path::Path};

use differential::{Program, Recording, replay};

#[test]
fn recorded_sequences_match_opentofu() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/differential");
    let entries = fs::read_dir(&data).expect("the recordings are there");
    let mut paths: Vec<_> = entries.map(|it| it.expect("can be read").path()).collect();
    paths.sort();
    assert!(paths.len() >= 20, "{} recordings are too few", paths.len());
    let mayfly = Program { executable: env!("CARGO_BIN_EXE_mayfly").into(), cli_config: None };
    let wrong = parallel::map_on(4, &paths, |path| {
        let folder = tempfile::tempdir().expect("can be made");
        let text = fs::read_to_string(path).expect("can be read");
        let json = serde_json::from_str(&text).expect("is JSON");
        let recording = Recording::from_json(&json).expect("is a recording");
        replay(&recording, &mayfly, folder.path()).err()
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
