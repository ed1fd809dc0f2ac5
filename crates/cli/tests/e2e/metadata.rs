//! Compares the signatures of functions with the real `terraform`, where it is installed. A table lists the
//! differences with reasons.

use std::{collections::BTreeMap, io::Write, process::Command};

use serde_json::{Value as Json, json};

use crate::bench::Bench;

/// The differences: function name, part of the signature, Terraform's value, Mayfly's value, and the reason.
const DIFFERENT: &[(&str, &str, &str, &str, &str)] = &[
    ("can", "parameters.0.is_nullable", "null", "true", "can(null) is true"),
    ("try", "variadic_parameter.is_nullable", "null", "true", "try(null) is null"),
    ("contains", "return_type", "\"dynamic\"", "\"bool\"", "whatever its arguments are"),
    ("format", "return_type", "\"dynamic\"", "\"string\"", "whatever its arguments are"),
    (
        "formatlist",
        "return_type",
        "\"dynamic\"",
        "[\"list\",\"string\"]",
        "whatever its arguments are",
    ),
    ("index", "return_type", "\"dynamic\"", "\"number\"", "whatever its arguments are"),
    ("parseint", "return_type", "\"dynamic\"", "\"number\"", "whatever its arguments are"),
    ("sum", "return_type", "\"dynamic\"", "\"number\"", "whatever its arguments are"),
    ("templatestring", "parameters.0.name", "\"template\"", "\"data\"", "as in OpenTofu"),
    (
        "templatestring",
        "return_type",
        "\"string\"",
        "\"dynamic\"",
        "OpenTofu keeps the type of a lone interpolation",
    ),
];

/// Functions that `terraform` 1.11 does not have. They come from OpenTofu 1.7 and 1.13.
const MORE: &[&str] = &[
    "assumeequal",
    "assumelistlength",
    "assumelistlengthmax",
    "assumelistlengthmin",
    "assumemaplength",
    "assumemaplengthmax",
    "assumemaplengthmin",
    "assumenotnull",
    "assumesetlength",
    "assumesetlengthmax",
    "assumesetlengthmin",
    "assumestringprefix",
    "base64gunzip",
    "cidrcontains",
    "convert",
    "urldecode",
];

#[test]
fn function_signatures_match_terraform() {
    if Command::new("terraform").arg("version").output().is_err() {
        // Write to stderr directly: the test harness captures the output of print macros.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: function_signatures_match_terraform, because terraform is not on PATH"
        );
        return;
    }
    let (theirs, ours) = (signatures("terraform"), signatures(env!("CARGO_BIN_EXE_mayfly")));
    let more = ours.keys().filter(|name| !theirs.contains_key(*name)).map(String::as_str);
    let expected = MORE.iter().flat_map(|name| [(*name).to_owned(), format!("core::{name}")]);
    let mut expected: Vec<String> = expected.collect();
    expected.sort_unstable();
    assert_eq!(more.collect::<Vec<_>>(), expected);
    let mut found: Vec<[String; 4]> = Vec::new();
    for (name, signature) in &theirs {
        let ours = ours.get(name).unwrap_or_else(|| panic!("{name} is missing"));
        compare(name, "", signature, ours, &mut found);
    }
    let mut expected: Vec<[String; 4]> = Vec::new();
    for (name, part, theirs, ours, _) in DIFFERENT {
        for name in [(*name).to_owned(), format!("core::{name}")] {
            expected.push([name, (*part).to_owned(), (*theirs).to_owned(), (*ours).to_owned()]);
        }
    }
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

fn compare(name: &str, part: &str, theirs: &Json, ours: &Json, found: &mut Vec<[String; 4]>) {
    let inner =
        |step: &str| if part.is_empty() { step.to_owned() } else { format!("{part}.{step}") };
    match (theirs, ours) {
        (Json::Object(a), Json::Object(b)) => {
            for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                // Descriptions are worded differently, and parameters have none here.
                if key != "description" {
                    let [a, b] = [a, b].map(|it| it.get(key).unwrap_or(&Json::Null));
                    compare(name, &inner(key), a, b, found);
                }
            }
        }
        (Json::Array(a), Json::Array(b)) if a.len() == b.len() && !part.ends_with("type") => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                compare(name, &inner(&at.to_string()), a, b, found);
            }
        }
        _ if theirs == ours => {}
        _ => found.push([name.to_owned(), part.to_owned(), theirs.to_string(), ours.to_string()]),
    }
}

fn signatures(program: &str) -> BTreeMap<String, Json> {
    let bench = Bench::new();
    let run = bench.program(program, ".", ["metadata", "functions", "-json"]);
    let document = run.env("CHECKPOINT_DISABLE", "1").succeeds().json();
    assert_eq!(document["format_version"], "1.0");
    let signatures = document["function_signatures"].as_object().expect("an object");
    signatures.iter().map(|(name, it)| (name.clone(), it.clone())).collect()
}

#[test]
fn function_signatures_have_descriptions() {
    let signatures = signatures(env!("CARGO_BIN_EXE_mayfly"));
    assert_eq!(
        signatures["convert"],
        json!({
            "description": "Converts a value to a type, written as the type of a variable is. \
                            Defaults of optional attributes are filled in.",
            "return_type": "dynamic",
            "parameters": [
                { "name": "value", "is_nullable": true, "type": "dynamic" },
                { "name": "type", "type": "dynamic" },
            ],
        })
    );
    assert_eq!(signatures["core::convert"], signatures["convert"]);
    for removed in ["list", "map", "type"] {
        assert!(!signatures.contains_key(removed), "{removed} is for no configuration");
    }
    for (name, signature) in &signatures {
        let description = signature["description"].as_str().unwrap_or_default();
        assert!(description.ends_with('.'), "{name}: {description}");
    }
    Bench::new()
        .mayfly(".", ["metadata", "functions"])
        .fails()
        .shows(&["The -json flag is required"]);
}
