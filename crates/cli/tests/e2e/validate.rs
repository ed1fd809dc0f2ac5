//! Compares the result of `validate` for small configurations with that of the real `terraform`, where it is
//! installed.
//!
//! The configurations are in `validate/*.txt`:
//!
//! ```text
//! === what it is about
//! note: why the two differ, where they should not agree
//! both: Missing resource to override @ override.tf:1
//! //- main.tf
//! …
//! ```
//!
//! In a file, `\BOM` stands for a byte order mark and `\CR` for a carriage return. The verdict is the first error,
//! the first warning, or `ok`. If the programs differ, there is a line for each.

use std::{fmt::Write as _, fs, io::Write as _, path::Path, process::Command};

use serde_json::Value as Json;

use crate::bench::Bench;

/// A configuration with its expected verdicts.
struct Case {
    name: String,
    mayfly: String,
    terraform: String,
    files: Vec<(String, String)>,
}

fn cases(text: &str) -> Vec<Case> {
    let of_case = |text: &str| {
        let (head, files) = text.split_once("//- ").expect("a case has a file");
        let mut head = head.lines();
        let name = head.next().unwrap_or_default().to_owned();
        let (mut mayfly, mut terraform) = (String::new(), String::new());
        for line in head {
            let (who, verdict) = line.split_once(": ").unwrap_or_default();
            match who {
                "both" => (mayfly, terraform) = (verdict.to_owned(), verdict.to_owned()),
                "mayfly" => verdict.clone_into(&mut mayfly),
                "terraform" => verdict.clone_into(&mut terraform),
                "note" | "" => {}
                other => panic!("{name}: {other:?} is no word of these files"),
            }
        }
        let files = files.split("//- ").map(|it| {
            let (path, text) = it.split_once('\n').unwrap_or((it, ""));
            (path.to_owned(), text.replace("\\BOM", "\u{feff}").replace("\\CR", "\r"))
        });
        Case { name, mayfly, terraform, files: files.collect() }
    };
    text.split("=== ").skip(1).map(of_case).collect()
}

/// A summary with the members of a cycle sorted, because Terraform begins with a random one.
fn in_one_order(summary: &str) -> String {
    let Some(members) = summary.strip_prefix("Cycle: ") else { return summary.to_owned() };
    let mut members: Vec<_> = members.split(", ").collect();
    members.sort_unstable();
    format!("Cycle: {}", members.join(", "))
}

/// The first error of `validate -json`, or the first warning.
fn verdict(json: &Json) -> String {
    let diagnostics = json["diagnostics"].as_array().map(Vec::as_slice).unwrap_or_default();
    let first = |severity: &str| diagnostics.iter().find(|it| it["severity"] == severity);
    let (word, found) = match (first("error"), first("warning")) {
        (Some(error), _) => ("", error),
        (None, Some(warning)) => ("warning ", warning),
        (None, None) => return "ok".to_owned(),
    };
    let summary = in_one_order(found["summary"].as_str().unwrap_or_default());
    let range = &found["range"];
    match range["filename"].as_str() {
        Some(file) => format!("{word}{summary} @ {file}:{}", range["start"]["line"]),
        None => format!("{word}{summary} @ -"),
    }
}

/// The differences between the actual and the expected verdicts of a case.
fn judge(case: &Case, with_terraform: bool) -> Vec<String> {
    let bench = Bench::new();
    case.files.iter().for_each(|(path, text)| bench.write(path, text));
    let mut wrong = Vec::new();
    let mut compare = |who: &str, found: String, expected: &str| {
        // The verdict `-` varies and is not compared.
        if expected != "-" && found != expected {
            wrong.push(format!("{}: {who} says {found}, not {expected}", case.name));
        }
    };
    if with_terraform {
        let terraform = |arguments: &[&str]| {
            bench.program("terraform", ".", arguments).env("CHECKPOINT_DISABLE", "1").end()
        };
        // `terraform` needs an `init` to find modules.
        if case.files.iter().any(|(path, _)| path.contains('/')) {
            terraform(&["init", "-backend=false"]);
        }
        let ask = || verdict(&terraform(&["validate", "-json"]).json());
        let mut found = ask();
        // `terraform` is concurrent, so its first error may vary.
        for _ in 0..3 {
            if case.terraform == "-" || found == case.terraform {
                break;
            }
            found = ask();
        }
        compare("terraform", found, &case.terraform);
    }
    let found = verdict(&bench.mayfly(".", ["validate", "-json"]).end().json());
    compare("mayfly", found, &case.mayfly);
    wrong
}

fn check(file: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/validate").join(file);
    let cases = cases(&fs::read_to_string(path).expect("is there"));
    assert!(cases.len() > 20, "there are cases");
    let with_terraform = Command::new("terraform").arg("version").output().is_ok();
    if !with_terraform {
        let _ = writeln!(
            std::io::stderr(),
            "skipped: comparing validate/{file} with terraform, which is not on PATH"
        );
    }
    let wrong = parallel::map_on(2, &cases, |case| judge(case, with_terraform)).concat();
    let mut shown = String::new();
    for it in &wrong {
        let _ = writeln!(shown, "{it}");
    }
    assert!(wrong.is_empty(), "\n{shown}");
}

#[test]
fn verdicts_on_override_files_match_opentofu() {
    check("overrides.txt");
}

#[test]
fn verdicts_on_blocks_match_opentofu() {
    check("blocks.txt");
}

#[test]
fn verdicts_on_syntax_match_opentofu() {
    check("syntax.txt");
}

#[test]
fn verdicts_on_json_syntax_match_opentofu() {
    check("json.txt");
}

#[test]
fn verdicts_on_argument_values_match_opentofu() {
    check("values.txt");
}
