//! Compares planned values with the real `terraform`, where it is installed: values with their types, unknown
//! values, and expressions that are errors. The console has no unknown values, so each expression is an output.
//!
//! The expressions are in `language/expressions.txt`, one per line with `␤` for a line feed; `LANGUAGE_FILE` names
//! another file.

use std::{collections::BTreeMap, fs, io::Write, os::unix::fs::PermissionsExt, process::Command};

use serde_json::{Value as Json, json};

use crate::bench::Bench;

const MAIN: &str = include_str!("language/main.tf");
const EXPRESSIONS: &str = include_str!("language/expressions.txt");

/// The result of an expression.
#[derive(Clone, PartialEq, Debug)]
enum Given {
    /// The value, its type, and its unknown and sensitive parts.
    Planned(Json),
    /// The summary of the error.
    Error(String),
}

/// The reasons for intended differences, by expression.
const ALLOWED: &[(&str, &str)] = &[
    ("local.flag && false", SIDES),
    ("local.flag || true", SIDES),
    ("null && true", SIDES),
    ("local.pick + 1 > 3", BOUNDS),
    ("-local.pick < 0", BOUNDS),
];

const SIDES: &str = "OpenTofu lets one side decide, and takes a null for false";
const BOUNDS: &str = "bounds are kept through arithmetic";

#[test]
fn planned_expressions_match_terraform() {
    if Command::new("terraform").arg("version").output().is_err() {
        // Write to stderr directly: the test harness captures the output of print macros.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: planned_expressions_match_terraform, because terraform is not on PATH"
        );
        return;
    }
    let other = std::env::var("LANGUAGE_FILE")
        .ok()
        .map(|path| fs::read_to_string(path).expect("it is there"));
    let text = other.as_deref().unwrap_or(EXPRESSIONS);
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("##"));
    let expressions: Vec<String> = lines.map(|line| line.replace('␤', "\n")).collect();
    let (theirs, ours) = (given("terraform", &expressions), given(MAYFLY, &expressions));
    report(&expressions, &theirs, &ours, ALLOWED);
}

/// Fails if results differ without a reason.
fn report(texts: &[String], theirs: &[Given], ours: &[Given], reasons: &[(&str, &str)]) {
    let (mut wrong, mut worded, mut allowed) = (String::new(), 0, BTreeMap::<&str, usize>::new());
    for ((text, theirs), ours) in texts.iter().zip(theirs).zip(ours) {
        let reason = reasons.iter().find(|(it, _)| it == text).map(|(_, reason)| *reason);
        match (theirs, ours, reason) {
            (theirs, ours, None) if theirs == ours => {}
            (theirs, ours, Some(_)) if theirs == ours => {
                wrong += &format!("{text} is allowed to differ and does not\n");
            }
            (.., Some(reason)) => *allowed.entry(reason).or_default() += 1,
            (Given::Error(theirs), Given::Error(ours), None) => {
                worded += 1;
                let _ = writeln!(std::io::stderr(), "{text}\n  {theirs}\n  {ours}");
            }
            _ => {
                wrong += &format!("{text}\n  terraform {theirs:?}\n  mayfly    {ours:?}\n");
            }
        }
    }
    let _ = writeln!(
        std::io::stderr(),
        "{} texts; {worded} errors with another summary; allowed: {allowed:?}",
        texts.len()
    );
    assert!(wrong.is_empty(), "{wrong}");
    assert!(worded * 20 <= texts.len(), "{worded} errors have another summary");
}

const MAYFLY: &str = env!("CARGO_BIN_EXE_mayfly");

/// The results of expressions as outputs.
fn given(program: &str, expressions: &[String]) -> Vec<Given> {
    let bench = Bench::with_main(MAIN);
    let text = |at: usize| {
        let value = &expressions[at];
        format!("output \"o{at}\" {{\n  sensitive = true\n  value = {value}\n}}\n")
    };
    let (given, plan) = planned(&bench, program, expressions.len(), &text);
    let output = |at: usize| {
        let name = format!("o{at}");
        let change = &plan["output_changes"][&name];
        Given::Planned(json!({
            "type": plan["planned_values"]["outputs"][&name]["type"],
            "value": change["after"],
            "unknown": change["after_unknown"],
        }))
    };
    let all = given.into_iter().enumerate();
    all.map(|(at, given)| given.unwrap_or_else(|| output(at))).collect()
}

/// The planned resource for each body.
fn planned_bodies(program: &str, bodies: &[String]) -> Vec<Given> {
    let source = providers::playground::SOURCE;
    let bench = Bench::with_main(&format!(
        "terraform {{\n  required_providers {{\n    playground = {{ source = \"{source}\" }}\n  }}\n}}\n{MAIN}"
    ));
    let executable = "plugins/terraform-provider-playground";
    bench.write(
        executable,
        &format!("#!/bin/sh\nexec '{MAYFLY}' serve-bundled-provider {source}\n"),
    );
    fs::set_permissions(bench.path(executable), fs::Permissions::from_mode(0o755))
        .expect("can be set");
    let folder = bench.path("plugins");
    bench.write(
        "terraformrc",
        &format!(
            "provider_installation {{\n  dev_overrides {{\n    \"{source}\" = \"{}\"\n  }}\n}}\n",
            folder.display()
        ),
    );
    let text = |at: usize| {
        let body = &bodies[at];
        format!("resource \"playground_vault\" \"r{at}\" {{\n  name = \"n{at}\"\n{body}\n}}\n")
    };
    let (given, plan) = planned(&bench, program, bodies.len(), &text);
    let changes = plan["resource_changes"].as_array().expect("a list");
    let resource = |at: usize| {
        let name = format!("r{at}");
        let found = changes.iter().find(|it| it["name"] == *name).expect("it is planned");
        let change = &found["change"];
        Given::Planned(json!({ "value": change["after"], "unknown": change["after_unknown"] }))
    };
    let all = given.into_iter().enumerate();
    all.map(|(at, given)| given.unwrap_or_else(|| resource(at))).collect()
}

/// Plans all valid texts together. Removes texts with errors until the plan succeeds, and records the summary of
/// each error.
fn planned(
    bench: &Bench,
    program: &str,
    count: usize,
    text_of: &dyn Fn(usize) -> String,
) -> (Vec<Option<Given>>, Json) {
    let run = |arguments: &[&str]| {
        let run = bench.program(program, ".", arguments).env("CHECKPOINT_DISABLE", "1");
        let settings = bench.path("terraformrc");
        let run = match program != MAYFLY && settings.exists() {
            true => run.env("TF_CLI_CONFIG_FILE", settings),
            false => run,
        };
        run.end()
    };
    // With an overridden provider, `init` has nothing to install.
    run(&["init"]);
    let mut given: Vec<Option<Given>> = vec![None; count];
    loop {
        let mut starts = Vec::new();
        let mut text = String::new();
        for at in (0..count).filter(|at| given[*at].is_none()) {
            starts.push((text.lines().count() + 1, at));
            text += &text_of(at);
        }
        bench.write("texts.tf", &text);
        let validated = run(&["validate", "-json"]).json();
        let mut refused: Vec<Json> =
            validated["diagnostics"].as_array().cloned().unwrap_or_default();
        if !refused.iter().any(|it| it["severity"] == "error") {
            let planned = run(&["plan", "-json", "-out=plan.bin"]);
            if planned.code == 0 {
                break;
            }
            let lines = planned.out.lines().filter_map(|it| serde_json::from_str::<Json>(it).ok());
            refused = lines.map(|it| it["diagnostic"].clone()).collect();
        }
        let before = given.iter().flatten().count();
        for diagnostic in refused.iter().filter(|it| it["severity"] == "error") {
            let line = diagnostic["range"]["start"]["line"].as_u64().unwrap_or_default();
            let found = starts.iter().rev().find(|(start, _)| *start as u64 <= line);
            let is_here = diagnostic["range"]["filename"] == "texts.tf";
            let Some((_, at)) = found.filter(|_| is_here) else {
                panic!("{program}: {diagnostic}")
            };
            let summary = diagnostic["summary"].as_str().unwrap_or_default().to_owned();
            given[*at].get_or_insert(Given::Error(summary));
        }
        assert!(given.iter().flatten().count() > before, "{program}: {refused:?}");
    }
    let plan = run(&["show", "-json", "plan.bin"]).json();
    (given, plan)
}

const BLOCKS: &str = include_str!("language/blocks.txt");

/// The reasons for intended differences of blocks, by their text.
const BLOCKS_ALLOWED: &[(&str, &str)] = &[
    ("dynamic \"replica\" {\nfor_each = []\ncontent {\n}\n}", NO_ELEMENTS),
    ("dynamic \"replica\" {\nfor_each = []\ncontent {\nnope = 1\nname = \"x\"\n}\n}", NO_ELEMENTS),
];

const NO_ELEMENTS: &str = "what a content may say does not depend on how many blocks it makes";

/// Bodies of a resource type with nested blocks of every kind, one per line with `␤` for a line feed.
#[test]
fn planned_nested_blocks_match_terraform() {
    if Command::new("terraform").arg("version").output().is_err() {
        // Write to stderr directly: the test harness captures the output of print macros.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: planned_nested_blocks_match_terraform, because terraform is not on PATH"
        );
        return;
    }
    let bodies: Vec<String> = BLOCKS.lines().map(|line| line.replace('␤', "\n")).collect();
    let (theirs, ours) = (planned_bodies("terraform", &bodies), planned_bodies(MAYFLY, &bodies));
    report(&bodies, &theirs, &ours, BLOCKS_ALLOWED);
}
