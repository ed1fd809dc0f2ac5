//! Kills at random times. `cargo xtask torture` does the same for an arbitrary duration.

use std::path::Path;

use torture::Torture;

#[test]
fn random_kills_lose_and_duplicate_nothing() {
    parallel::map_on(4, &[0, 1, 2, 3], |&seed| {
        let folder = tempfile::tempdir().expect("can be made");
        let program = Path::new(env!("CARGO_BIN_EXE_mayfly"));
        let report = Torture::new(program, folder.path(), seed).run(6);
        let report = report.unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        assert!(report.kills >= 6, "{report}");
    });
}
