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
    let folder = tempfile::tempdir().expect("can be made");
    let next = std::sync::atomic::AtomicUsize::new(0);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|worker| {
                let folder = folder.path().join(worker.to_string());
                let (next, paths, mayfly) = (&next, &paths, &mayfly);
                scope.spawn(move || {
                    let mut wrong = Vec::new();
                    while let Some(path) =
                        paths.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                    {
                        let text = fs::read_to_string(path).expect("can be read");
                        let json = serde_json::from_str(&text).expect("is JSON");
                        let recording = Recording::from_json(&json).expect("is a recording");
                        wrong.extend(replay(&recording, mayfly, &folder).err());
                    }
                    wrong
                })
            })
            .collect();
        workers.into_iter().flat_map(|it| it.join().expect("ends")).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
