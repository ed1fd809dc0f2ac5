//! The language gives in a plan what it gives under the real `terraform`, where it is installed: values with their types, what
//! is not known yet, and which expressions are errors. The console knows no unknown values, so each expression is an output.
//!
//! The expressions are in `language/expressions.txt`, one a line with `␤` for a line feed; `LANGUAGE_FILE` names another file.

use std::{collections::BTreeMap, io::Write, process::Command};

use serde_json::{Value as Json, json};

use crate::bench::Bench;

const MAIN: &str = include_str!("language/main.tf");
const EXPRESSIONS: &str = include_str!("language/expressions.txt");

/// What an expression gives.
#[derive(Clone, PartialEq, Debug)]
enum Given {
    /// Value and type, and what of it is unknown or sensitive.
    Planned(Json),
    /// The summary of the error.
    Error(String),
}

/// Why a difference is meant to be, by the expression.
const ALLOWED: &[(&str, &str)] = &[
    ("local.flag && false", SIDES),
    ("local.flag || true", SIDES),
    ("null && true", SIDES),
    ("local.pick > 8", BOUNDS),
    ("local.pick >= 3", BOUNDS),
    ("local.pick + 1 > 3", BOUNDS),
    ("-local.pick < 0", BOUNDS),
    ("local.number >= 0", BOUNDS),
    ("local.number < 0", BOUNDS),
];

const SIDES: &str = "OpenTofu lets one side decide, and takes a null for false";
const BOUNDS: &str = "bounds are kept through arithmetic, and decide where they touch";

#[test]
fn the_language_plans_what_terraform_plans() {
    if Command::new("terraform").arg("version").output().is_err() {
        // Not by a macro whose output the test harness keeps: who runs the tests has to see it.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: the_language_plans_what_terraform_plans, because terraform is not on PATH"
        );
        return;
    }
    let other = std::env::var("LANGUAGE_FILE")
        .ok()
        .map(|path| std::fs::read_to_string(path).expect("it is there"));
    let text = other.as_deref().unwrap_or(EXPRESSIONS);
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("##"));
    let expressions: Vec<String> = lines.map(|line| line.replace('␤', "\n")).collect();
    let (theirs, ours) = (given("terraform", &expressions), given(MAYFLY, &expressions));
    let (mut wrong, mut worded, mut allowed) = (String::new(), 0, BTreeMap::<&str, usize>::new());
    for ((expression, theirs), ours) in expressions.iter().zip(&theirs).zip(&ours) {
        let reason = ALLOWED.iter().find(|(it, _)| it == expression).map(|(_, reason)| *reason);
        match (theirs, ours, reason) {
            (theirs, ours, None) if theirs == ours => {}
            (theirs, ours, Some(_)) if theirs == ours => {
                wrong += &format!("{expression} is allowed to differ and does not\n");
            }
            (.., Some(reason)) => *allowed.entry(reason).or_default() += 1,
            (Given::Error(theirs), Given::Error(ours), None) => {
                worded += 1;
                let _ = writeln!(std::io::stderr(), "{expression}\n  {theirs}\n  {ours}");
            }
            _ => {
                wrong += &format!("{expression}\n  terraform {theirs:?}\n  mayfly    {ours:?}\n");
            }
        }
    }
    let _ = writeln!(
        std::io::stderr(),
        "{} expressions; {worded} errors with another summary; allowed: {allowed:?}",
        expressions.len()
    );
    assert!(wrong.is_empty(), "{wrong}");
    assert!(worded * 20 <= expressions.len(), "{worded} errors have another summary");
}

const MAYFLY: &str = env!("CARGO_BIN_EXE_mayfly");

/// What each expression gives: those that are refused are taken out until the rest can be planned.
fn given(program: &str, expressions: &[String]) -> Vec<Given> {
    let bench = Bench::with_main(MAIN);
    let run = |arguments: &[&str]| {
        bench.program(program, ".", arguments).env("CHECKPOINT_DISABLE", "1").end()
    };
    assert_eq!(run(&["init"]).code, 0, "init");
    let mut given: Vec<Option<Given>> = vec![None; expressions.len()];
    loop {
        let mut starts = Vec::new();
        let mut text = String::new();
        for (at, expression) in
            expressions.iter().enumerate().filter(|(at, _)| given[*at].is_none())
        {
            starts.push((text.lines().count() + 1, at));
            text +=
                &format!("output \"o{at}\" {{\n  sensitive = true\n  value = {expression}\n}}\n");
        }
        bench.write("outputs.tf", &text);
        let mut refused = Vec::new();
        let validated = run(&["validate", "-json"]).json();
        refused.extend(validated["diagnostics"].as_array().into_iter().flatten().cloned());
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
            let line = diagnostic["range"]["start"]["line"].as_u64().unwrap_or_default() as usize;
            let summary = diagnostic["summary"].as_str().unwrap_or_default().to_owned();
            let found = starts.iter().rev().find(|(start, _)| *start <= line);
            let in_outputs = diagnostic["range"]["filename"] == "outputs.tf";
            let Some((_, at)) = found.filter(|_| in_outputs) else {
                panic!("{program}: {diagnostic}")
            };
            given[*at].get_or_insert(Given::Error(summary));
        }
        assert!(given.iter().flatten().count() > before, "{program}: {refused:?}");
    }
    let plan = run(&["show", "-json", "plan.bin"]).json();
    let planned = |at: usize| {
        let name = format!("o{at}");
        let value = &plan["planned_values"]["outputs"][&name];
        let change = &plan["output_changes"][&name];
        Given::Planned(json!({
            "type": value["type"],
            "value": change["after"],
            "unknown": change["after_unknown"],
        }))
    };
    let all = given.into_iter().enumerate();
    all.map(|(at, given)| given.unwrap_or_else(|| planned(at))).collect()
}
