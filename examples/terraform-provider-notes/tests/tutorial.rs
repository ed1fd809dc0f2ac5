//! The code of `docs/writing-providers.md` is that of this provider.

use std::{fs, path::Path};

/// The texts of all Rust files of this crate.
fn sources() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files =
        ["src", "tests"].iter().flat_map(|it| fs::read_dir(root.join(it)).expect("is there"));
    files.map(|it| fs::read_to_string(it.expect("is there").path()).expect("is text")).collect()
}

#[test]
fn code_of_the_tutorial_is_part_of_the_provider() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/writing-providers.md");
    let tutorial = fs::read_to_string(path).expect("the tutorial is there");
    let sources = sources();
    let blocks = tutorial.split("```rust\n").skip(1).map(|it| it.split("```").next().unwrap_or(it));
    let blocks: Vec<&str> = blocks.collect();
    assert!(blocks.len() > 10, "the tutorial shows the provider");
    for block in blocks {
        assert!(sources.iter().any(|it| it.contains(block)), "no file has this code:\n{block}");
    }
}
