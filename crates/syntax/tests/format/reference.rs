//! Compares the output with that of `terraform fmt`, byte for byte. Many files share one directory, so that one
//! run of `terraform` formats them all.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::generate::{self, Content};
use super::{number, random};

/// The number of files in a directory.
const BATCH: u64 = 2_000;

#[test]
fn generated_configurations_format_as_with_terraform_fmt() {
    if !has_reference() {
        return;
    }
    let mut random = random();
    let mut left = number("FORMAT_COUNT").unwrap_or(600);
    let mut unusual = 0;
    while left > 0 {
        let count = left.min(BATCH);
        let texts: Vec<_> =
            (0..count).map(|_| generate::file(&mut random, Content::Kept)).collect();
        unusual += compare(&texts);
        left -= count;
    }
    eprintln!("{unusual} of them the reference writes as what cannot be read");
}

#[test]
fn formatter_differs_from_terraform_only_where_text_is_lost() {
    if !has_reference() {
        return;
    }
    let mut random = random();
    let texts: Vec<_> = (0..number("FORMAT_COUNT").unwrap_or(300).min(BATCH))
        .map(|_| generate::file(&mut random, Content::Lost))
        .collect();
    compare(&texts);
}

#[test]
fn corpus_formats_as_with_terraform_fmt() {
    if !has_reference() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/corpus");
    let files = std::fs::read_dir(folder).expect("the corpus is there");
    let texts =
        files.map(|it| std::fs::read_to_string(it.expect("readable").path()).expect("UTF-8"));
    let correct: Vec<_> = texts.filter(|text| syntax::format(text).is_ok()).collect();
    assert!(correct.len() > 3, "{} files", correct.len());
    compare(&correct);
}

fn has_reference() -> bool {
    let is_there = Command::new("terraform").arg("version").output().is_ok();
    if !is_there {
        eprintln!("skipped: terraform is not on the PATH, so nothing is compared with it");
    }
    is_there
}

/// Compares the outputs. Returns the number of texts that `terraform fmt` damages and that cannot be compared.
fn compare(texts: &[String]) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |index: usize| -> PathBuf { folder.path().join(format!("{index}.tf")) };
    for (index, text) in texts.iter().enumerate() {
        std::fs::write(path(index), text).expect("is written");
    }
    let output = Command::new("terraform")
        .args(["fmt", "-no-color", "-list=false"])
        .arg(folder.path())
        .output()
        .expect("terraform runs");
    let mut spoiled = 0;
    for (index, text) in texts.iter().enumerate() {
        let theirs = std::fs::read_to_string(path(index)).expect("UTF-8");
        let ours = syntax::format(text).unwrap_or_else(|errors| panic!("{text:?}: {errors:?}"));
        if theirs == ours {
            continue;
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said
            .split("Error: ")
            .find(|it| it.contains(&format!("/{index}.tf line")))
            .unwrap_or("");
        let file = std::env::temp_dir().join("mayfly-format-difference.tf");
        assert!(
            loses(text, &theirs),
            "terraform writes\n{theirs}\nand we write\n{ours}\nfor {text:?} ({said})\n{}",
            std::fs::write(&file, text).map(|()| file.display().to_string()).unwrap_or_default()
        );
        spoiled += 1;
    }
    spoiled
}

/// Returns true if the output of `terraform fmt` does not parse or has a different meaning.
fn loses(text: &str, theirs: &str) -> bool {
    syntax::format(theirs).is_err() || !syntax::fuzz::means_the_same(text, theirs)
}
