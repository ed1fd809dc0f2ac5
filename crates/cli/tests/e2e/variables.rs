//! Compares the values of variables with the real `terraform`, where it is installed: output values, and errors
//! and warnings with their locations.
//!
//! The cases are in `variables/cases.txt`, each in its own directory with `variables/main.tf`. A case has a name
//! after `##`, a command after `$`, and files after `--`. The other tests in this file cover behavior that only
//! OpenTofu and Mayfly have.

use std::{collections::BTreeMap, io::Write, process::Command};

use serde_json::Value as Json;

use crate::bench::{Bench, Run};

const MAIN: &str = include_str!("variables/main.tf");
const CASES: &str = include_str!("variables/cases.txt");

/// A text that no message may contain.
const SECRET: &str = "kanarek";

/// A command with its files.
#[derive(Default)]
struct Case {
    name: String,
    environment: Vec<(String, String)>,
    arguments: Vec<String>,
    files: BTreeMap<String, String>,
}

/// The result of a command.
#[derive(PartialEq, Eq, Debug)]
struct Came {
    succeeded: bool,
    /// The severity, the summary, and the file with the line.
    said: Vec<(String, String, Option<String>)>,
    outputs: BTreeMap<String, Json>,
}

/// The reasons for differences, other than the place of a value on the command line.
const DIFFERENT: &[(&str, &str)] = &[
    ("no name", "a name that is none is no undeclared variable"),
    ("file with a syntax error", "one error for one fault"),
    ("json without anything", "one error for one fault"),
    ("json that ends early", "one error for one fault"),
    ("json with a comma too much", "one error for one fault"),
    ("json with single quotes", "one error for one fault"),
    ("nullable that is an expression", "one error for one fault"),
    ("required and missing, with a wrong one", "both errors at once"),
    ("validation of a sensitive value", "OpenTofu says at the message why it is not shown"),
    ("validation of an ephemeral value", "validate warns of the message as well"),
    ("sensitive output is needed", "at the value, not at the block"),
    ("ephemeral output is refused", "the words of the RFC"),
    ("module argument that fails a validation", "what can be planned is shown"),
];

#[test]
fn variable_values_match_terraform() {
    if Command::new("terraform").arg("version").output().is_err() {
        // Write to stderr directly: the test harness captures the output of print macros.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: variable_values_match_terraform, because terraform is not on PATH"
        );
        return;
    }
    let cases = cases();
    let (mut wrong, mut alike) = (String::new(), 0);
    for case in &cases {
        let theirs = came("terraform", case);
        let ours = came(env!("CARGO_BIN_EXE_mayfly"), case);
        match DIFFERENT.iter().any(|(name, _)| *name == case.name) {
            true if theirs == ours => {
                wrong += &format!("{} is allowed to differ and does not\n", case.name);
            }
            true if theirs.succeeded == ours.succeeded => {}
            false if theirs == ours => alike += 1,
            _ => {
                wrong += &format!("{}\n  terraform {theirs:?}\n  mayfly    {ours:?}\n", case.name);
            }
        }
    }
    let _ = writeln!(std::io::stderr(), "{} cases, {alike} of them alike", cases.len());
    assert!(wrong.is_empty(), "{wrong}");
    assert!(cases.len() >= 80 && alike + DIFFERENT.len() == cases.len());
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut file = None;
    for line in CASES.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            file = None;
            cases.push(Case { name: name.to_owned(), ..Case::default() });
            continue;
        }
        let Some(case) = cases.last_mut() else { continue };
        match (line.strip_prefix("-- "), line.strip_prefix("$ "), &file) {
            (Some(name), _, _) => {
                case.files.insert(name.to_owned(), String::new());
                file = Some(name.to_owned());
            }
            (_, Some(command), None) => read_command(command, case),
            (_, _, Some(name)) => {
                if let Some(text) = case.files.get_mut(name) {
                    text.push_str(line);
                    text.push('\n');
                }
            }
            _ => {}
        }
    }
    cases
}

/// Parses a command line. `NAME=VALUE` before the command sets an environment variable. Quotes are single quotes
/// as in a shell.
fn read_command(text: &str, case: &mut Case) {
    let quoted = text.split('\'').enumerate();
    let words = quoted.flat_map(|(at, part)| match at % 2 {
        1 => vec![part.to_owned()],
        _ => part.split_whitespace().map(str::to_owned).collect(),
    });
    for word in words {
        match word.split_once('=') {
            Some((name, value)) if case.arguments.is_empty() => {
                case.environment.push((name.to_owned(), value.to_owned()));
            }
            _ => case.arguments.push(word),
        }
    }
}

fn came(program: &str, case: &Case) -> Came {
    let bench = Bench::with_main(MAIN);
    case.files.iter().for_each(|(name, text)| bench.write(name, text));
    if case.files.keys().any(|name| name.contains('/')) {
        bench.program(program, ".", ["init"]).env("CHECKPOINT_DISABLE", "1").succeeds();
    }
    let (command, rest) = case.arguments.split_first().expect("has a command");
    let mut run = bench.program(program, ".", [&**command, "-json"]).env("CHECKPOINT_DISABLE", "1");
    if command == "apply" {
        run = run.arg("-input=false").arg("-auto-approve");
    }
    let named = |run: Run, (name, value): &(String, String)| run.env(name, value);
    let run = case.environment.iter().fold(run, named);
    let ended = rest.iter().fold(run, |run, it| run.arg(it)).end();
    if program != "terraform" {
        ended.lacks(&[SECRET]);
    }
    let succeeded = ended.code == 0;
    let lines = match &**command {
        "validate" => vec![&*ended.out],
        _ => ended.out.lines().collect(),
    };
    let mut came = Came { succeeded, said: Vec::new(), outputs: BTreeMap::new() };
    for line in lines {
        let message: Json = serde_json::from_str(line).expect("every line is JSON");
        match (&message["type"], message["diagnostics"].as_array()) {
            (_, Some(said)) => came.said.extend(said.iter().map(one_said)),
            (kind, _) if kind == "diagnostic" => came.said.push(one_said(&message["diagnostic"])),
            (kind, _) if kind == "outputs" => came.outputs = outputs(&message["outputs"]),
            _ => {}
        }
    }
    came.said.sort();
    came
}

fn one_said(diagnostic: &Json) -> (String, String, Option<String>) {
    let text = |name: &str| diagnostic[name].as_str().unwrap_or_default().to_owned();
    let range = diagnostic["range"].as_object();
    let place = range.map(|it| format!("{}:{}", it["filename"], it["start"]["line"]));
    // Mayfly has no location for a value on the command line, because the value must not be shown.
    let place = place.filter(|it| !it.contains("<value for"));
    (text("severity"), text("summary"), place)
}

fn outputs(outputs: &Json) -> BTreeMap<String, Json> {
    let outputs = outputs.as_object().into_iter().flatten();
    outputs.map(|(name, it)| (name.clone(), it["value"].clone())).collect()
}

#[test]
fn deprecated_variable_warns_at_the_argument_that_sets_it() {
    let bench = Bench::with_main(
        "module \"a\" {\n  source = \"./m\"\n  old    = 1\n}\nmodule \"b\" {\n  source = \"./m\"\n  \
         old    = null\n}\nmodule \"c\" {\n  source = \"./m\"\n}\n",
    );
    bench.write(
        "m/main.tf",
        "variable \"old\" {\n  default    = 0\n  deprecated = \"Use new instead.\"\n}\n",
    );
    bench.mayfly(".", ["init"]).succeeds();
    for command in ["validate", "plan"] {
        let ended = bench.mayfly(".", [command]).succeeds();
        ended.shows(&[
            "Variable marked as deprecated by the module author",
            "on main.tf line 3",
            "Use new instead.",
        ]);
        ended.lacks(&["on main.tf line 7", "on main.tf line 9"]);
    }
}

const DEPRECATED_OUTPUTS: &str = r#"
module "m" {
  source = "./m"
}
module "n" {
  source = "./m"
  count  = 2
}
locals {
  once  = module.m.old
  twice = "${module.m.old}!"
  fine  = local.once
  names = keys(module.m)
  new   = module.m.new
}
output "counted" {
  value = module.n[*].old
}
"#;

#[test]
fn deprecated_output_warns_at_the_reference() {
    let bench = Bench::with_main(DEPRECATED_OUTPUTS);
    bench.write(
        "m/main.tf",
        "output \"old\" {\n  value      = 1\n  deprecated = \"Use new.\"\n}\noutput \"new\" {\n  value = 2\n}\n",
    );
    bench.mayfly(".", ["init"]).succeeds();
    for command in ["validate", "plan"] {
        let ended = bench.mayfly(".", [command]).succeeds();
        ended.shows(&[
            "Warning: Value derived from a deprecated source\n\n  on main.tf line 10, in locals:\n",
            "This value is derived from module.m.old, which is deprecated with the following message:\n\nUse new.\n",
            "  - the output is declared here  m/main.tf:1\n",
            "  on main.tf line 17, in output \"counted\":\n",
            "This value is derived from module.n.old, which is deprecated",
        ]);
        // One output is reported once, as in OpenTofu.
        ended.lacks(&["line 11", "line 12", "line 13", "line 14", "similar warning"]);
    }
    let found = bench.mayfly(".", ["validate", "-json"]).succeeds().json();
    let lines: Vec<u64> = found["diagnostics"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| {
            assert_eq!(it["summary"], "Value derived from a deprecated source");
            it["range"]["start"]["line"].as_u64().expect("a line")
        })
        .collect();
    assert_eq!(lines, [10, 11, 17]);
}

#[test]
fn const_variable_requires_a_static_value() {
    let call = |value: &str| {
        let bench = Bench::with_main(&format!(
            "variable \"v\" {{\n  default = 1\n}}\nresource \"terraform_data\" \"r\" {{\n  input = \
             1\n}}\nlocals {{\n  plain = var.v + 1\n  late  = terraform_data.r.id\n}}\nmodule \
             \"m\" {{\n  source = \"./m\"\n  other  = terraform_data.r.id\n  c      = {value}\n}}\n"
        ));
        bench.write(
            "m/main.tf",
            "variable \"c\" {\n  const = true\n}\nvariable \"other\" {}\noutput \"c\" {\n  value = var.c\n}\n",
        );
        bench.mayfly(".", ["init"]).succeeds();
        bench.mayfly(".", ["validate"]).end()
    };
    for value in ["1", "var.v", "local.plain", "\"${path.module}-${terraform.workspace}\""] {
        call(value).exits(0);
    }
    for (value, part) in [
        ("local.late", "terraform_data.r is not"),
        ("[terraform_data.r.input]", "terraform_data.r is not"),
        ("ephemeralasnull(tofu.applying)", "applying is not"),
    ] {
        call(value).exits(1).shows(&["Error: ", "on main.tf line 14", part]);
    }
}

#[test]
fn overridden_variable_value_is_not_checked() {
    let bench = Bench::with_main(
        "variable \"l\" {\n  type = list(number)\n}\noutput \"l\" {\n  value = var.l\n}\n",
    );
    let plan = |flags: &[&str]| {
        bench.mayfly(".", ["plan", "-input=false"].iter().chain(flags)).env("TF_VAR_l", "kanarek")
    };
    plan(&["-var=l=[1]"]).succeeds().shows(&["+ l = ["]);
    plan(&["-var=l=]", "-var=l=[1]"]).succeeds();
    let ended = plan(&[]).fails();
    ended.shows(&["TF_VAR_l", "list of number"]);
    ended.lacks(&[SECRET]);
}

#[test]
fn validate_reads_variables_files_but_requires_no_values() {
    let bench = Bench::with_main("variable \"n\" {\n  type = number\n}\n");
    bench.mayfly(".", ["validate"]).succeeds();
    bench.mayfly(".", ["validate", "-var=other=1", "-var=n=x"]).succeeds();
    bench.mayfly(".", ["validate", "-var=n"]).fails().shows(&["Invalid -var option"]);
    bench.write("x.auto.tfvars", "n = [\"kanarek\"\n");
    let ended = bench.mayfly(".", ["validate"]).fails();
    ended.shows(&["on x.auto.tfvars line 1", "(not shown: this file may hold secrets)"]);
    ended.lacks(&[SECRET]);
    let report = bench.mayfly(".", ["validate", "-json"]).fails().json();
    assert_eq!(report["diagnostics"][0]["range"]["filename"], "x.auto.tfvars");
    assert!(!report.to_string().contains(SECRET));
}

#[test]
fn plan_apply_destroy_and_import_accept_variables() {
    let bench = Bench::with_main(
        "variable \"n\" {\n  type = number\n}\nresource \"terraform_data\" \"a\" {\n  input = var.n\n}\n",
    );
    bench.write("n.json", "{\"n\": \"7\"}");
    let commands: &[&[&str]] = &[
        &["plan", "-input=false"],
        &["apply", "-auto-approve", "-input=false"],
        &["destroy", "-auto-approve", "-input=false"],
        &["import", "-input=false", "terraform_data.a", "an-id"],
    ];
    for command in commands {
        let (name, rest) = command.split_first().expect("has a name");
        let with = |flag: &str| bench.mayfly(".", [name, flag].iter().chain(rest)).end();
        with("-var=n=x").exits(1).shows(&["Unsuitable value for var.n", "a number is required"]);
        with("-var=m=1").exits(1).shows(&["Value for undeclared variable"]);
        let without = bench.mayfly(".", *command).fails();
        without.shows(&["No value for required variable"]);
        with("-var-file=n.json").exits(0);
    }
    let both = &["Value for undeclared variable", "No value for required variable"];
    bench.mayfly(".", ["plan", "-input=false", "-var=m=1"]).fails().shows(both);
    let console = bench.mayfly(".", ["console", "-var-file=n.json"]).input("var.n + 1\n").end();
    assert_eq!(console.out, "8\n");
    let console = bench.mayfly(".", ["console", "-var=n=x"]).input("var.n\n").end();
    console.exits(1).shows(&["Unsuitable value for var.n"]);
}

/// After an error of analysis nothing runs. Failed validations of defaults are reported with the other errors, so
/// that fixing those does not reveal them.
#[test]
fn failed_validation_of_a_default_is_reported_beside_other_errors() {
    let bench = Bench::with_main("module \"m\" {\n  source = \"./m\"\n}\n");
    bench.write(
        "m/main.tf",
        r#"
variable "n" {
  default = 3
  validation {
    condition     = var.n < 2
    error_message = "At most one."
  }
}
output "o" {
  value = terraform_data.missing.id
}
"#,
    );
    bench.mayfly(".", ["init"]).succeeds();
    for command in [&["validate"][..], &["plan"], &["apply", "-auto-approve"]] {
        let failed = bench.mayfly(".", command.iter().copied()).fails();
        failed.shows(&["Reference to undeclared", "Invalid value for variable", "At most one."]);
    }
    let text = String::from_utf8(bench.read("m/main.tf")).expect("it is text");
    bench.write("m/main.tf", &text.replace("terraform_data.missing.id", "1"));
    let failed = bench.mayfly(".", ["validate"]).fails();
    failed.shows(&["Invalid value for variable", "on m/main.tf line 2, in variable \"n\""]);
}
