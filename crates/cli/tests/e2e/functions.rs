//! Compares functions with the real `terraform`, where it is installed: values as its console prints them, and
//! error messages of its `validate`.
//!
//! The expressions are in `functions/expressions.txt`, one per line; `FUNCTIONS_FILE` names another file. If both
//! programs refuse an expression, the messages may differ in a limited number of cases. For example, the error
//! about a YAML document is worded by the YAML parser.

use std::{collections::BTreeMap, fs, io::Write, process::Command};

use serde_json::Value as Json;

use crate::bench::Bench;

const EXPRESSIONS: &str = include_str!("functions/expressions.txt");

/// The console of `terraform` truncates longer lines.
const LONGEST_LINE: usize = 50_000;

/// The number of expressions per process. With more, `terraform` exceeds the time limit of a test.
const PART: usize = 250;

/// The result of an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Given {
    /// The value as the console prints it.
    Value(String),
    /// The error message. `None` if only the console detected the error.
    Error(Option<String>),
}

/// The reasons for intended differences, by the start of the expression and a part of Terraform's output.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("", "panic in function implementation", "a crash of the reference"),
    ("element(", "invalid index", "OpenTofu counts negative indexes from the end"),
    ("base64gzip(", "", "another compressor"),
    ("templatestring(", "", "OpenTofu takes literal templates"),
    ("parseint(", "", "OpenTofu takes numbers"),
    ("", "(known after apply)", "an untyped null makes everything unknown there"),
    ("cidrsubnets(\"0.0.0.0/", "not enough remaining", "the first of all addresses"),
    ("cidrsubnets(\"::", "not enough remaining", "the first of all addresses, and mapped ones"),
    ("fileset(", "", "OpenTofu's patterns have `!` and nested braces"),
    ("cidrsubnet(", "<nil>", "an address that is none"),
    ("cidrhost(\"fe80", "", "zones"),
    ("textencodebase64(", "", "encodings that only one of them knows"),
    ("textdecodebase64(", "", "encodings that only one of them knows"),
    ("yamldecode(", "", "the edges of YAML"),
    ("pow(", "", "the last digit"),
    ("bcrypt(", "", "random"),
    ("set", "element types must all match", "unification goes further here"),
];

#[test]
fn function_results_match_terraform() {
    if Command::new("terraform").arg("version").output().is_err() {
        // Write to stderr directly: the test harness captures the output of print macros.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: function_results_match_terraform, because terraform is not on PATH"
        );
        return;
    }
    let other = std::env::var("FUNCTIONS_FILE")
        .ok()
        .map(|path| fs::read_to_string(path).expect("it is there"));
    let text = other.as_deref().unwrap_or(EXPRESSIONS);
    let expressions: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let all = |program: &str| -> Vec<Given> {
        expressions.chunks(PART).flat_map(|part| given(program, part)).collect()
    };
    let (theirs, ours) = (all("terraform"), all(env!("CARGO_BIN_EXE_mayfly")));
    let mut worded = 0;
    let mut allowed: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = String::new();
    for ((expression, theirs), ours) in expressions.iter().zip(&theirs).zip(&ours) {
        match (theirs, ours) {
            _ if theirs == ours => {}
            (Given::Error(Some(theirs)), Given::Error(Some(ours))) if theirs != ours => worded += 1,
            (Given::Error(_), Given::Error(_)) => {}
            _ => match reason(expression, theirs) {
                Some(reason) => *allowed.entry(reason).or_default() += 1,
                None => wrong.push_str(&format!(
                    "{expression}\n  terraform {theirs:?}\n  mayfly    {ours:?}\n"
                )),
            },
        }
    }
    let _ = writeln!(
        std::io::stderr(),
        "{} expressions; {worded} errors in other words; allowed: {allowed:?}",
        expressions.len()
    );
    let excused: usize = allowed.values().sum();
    assert!(excused * 20 <= expressions.len(), "too much is allowed: {allowed:?}");
    assert!(wrong.is_empty(), "{wrong}");
    assert!(
        worded * 10 <= expressions.len(),
        "{worded} of {} errors have other words",
        expressions.len()
    );
}

fn reason(expression: &str, theirs: &Given) -> Option<&'static str> {
    let said = match theirs {
        Given::Value(text) => text,
        Given::Error(message) => message.as_deref().unwrap_or(""),
    };
    let found = ALLOWED
        .iter()
        .find(|(start, part, _)| expression.starts_with(start) && said.contains(part));
    found.map(|(_, _, reason)| *reason)
}

/// The results of expressions. Errors are collected first, then the values of all valid expressions.
fn given(program: &str, expressions: &[&str]) -> Vec<Given> {
    let bench = Bench::new();
    for (name, content) in
        [("a.txt", "hello\n"), ("d/c.txt", "c"), (".hidden", "h"), ("t.tpl", "x=${x}\n")]
    {
        bench.write(name, content);
    }
    let mut given: Vec<Option<Given>> = vec![None; expressions.len()];
    loop {
        let found = refused(&bench, program, expressions, &given);
        if found.is_empty() {
            break;
        }
        found.into_iter().for_each(|(at, message)| given[at] = Some(Given::Error(Some(message))));
    }
    fs::remove_file(bench.path("main.tf")).expect("it was written");
    let open: Vec<usize> = (0..given.len()).filter(|at| given[*at].is_none()).collect();
    let mut start = 0;
    while start < open.len() {
        let mut size = 0;
        let fits = open[start..].iter().take_while(|at| {
            size += expressions[**at].len() + 40;
            size < LONGEST_LINE
        });
        let end = start + fits.count().max(1);
        for (at, value) in shown(&bench, program, expressions, &open[start..end]) {
            given[at] = Some(value);
        }
        start = end;
    }
    given.into_iter().map(|it| it.unwrap_or(Given::Error(None))).collect()
}

/// The expressions that `validate` refuses, with the error messages.
fn refused(
    bench: &Bench,
    program: &str,
    expressions: &[&str],
    given: &[Option<Given>],
) -> BTreeMap<usize, String> {
    let mut text = String::new();
    for (at, expression) in expressions.iter().enumerate() {
        let expression = if given[at].is_none() { expression } else { "null" };
        text.push_str(&format!(
            "output \"o{at}\" {{\n  sensitive = true\n  value = {expression}\n}}\n"
        ));
    }
    bench.write("main.tf", &text);
    let run = bench.program(program, ".", ["validate", "-json"]).env("HOME", "/home/me").end();
    let report: Json =
        serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.printed()));
    let errors = report["diagnostics"].as_array().into_iter().flatten();
    let errors = errors.filter(|it| it["severity"] == "error").filter_map(|it| {
        let line = usize::try_from(it["range"]["start"]["line"].as_u64()?).ok()?;
        let detail = it["detail"].as_str()?.split("\ngoroutine").next()?;
        Some(((line - 1) / 4, detail.replace("Terraform", "OpenTofu")))
    });
    errors.collect()
}

/// The values of expressions, all from a single line of the console.
fn shown(
    bench: &Bench,
    program: &str,
    expressions: &[&str],
    which: &[usize],
) -> Vec<(usize, Given)> {
    const FAILED: &str = "\"@@failed\"";
    let parts: Vec<String> =
        which.iter().map(|at| format!("\"@@{at}\", try({}, {FAILED})", expressions[*at])).collect();
    let line = format!("[{}, \"@@end\"]\n", parts.join(", "));
    let run = bench.program(program, ".", ["console"]).env("HOME", "/home/me").input(&line).end();
    let mut values = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for line in run.out.split_inclusive('\n') {
        let marker =
            line.strip_prefix("  \"@@").and_then(|rest| rest.trim_end().strip_suffix("\","));
        let marker = marker.filter(|it| *it == "end" || it.parse::<usize>().is_ok());
        let Some(marker) = marker else {
            if let Some((_, value)) = &mut open {
                value.push_str(line);
            }
            continue;
        };
        values.extend(open.take());
        open = marker.parse().ok().map(|at| (at, String::new()));
    }
    assert_eq!(values.len(), which.len(), "{}", run.printed());
    let value = |text: &str| match text.trim().trim_end_matches(',') {
        FAILED => Given::Error(None),
        // Escape control characters, as Mayfly does.
        value => Given::Value(value.replace('\r', "\\r")),
    };
    values.iter().map(|(at, text)| (*at, value(text))).collect()
}

#[test]
fn plantimestamp_in_apply_is_that_of_the_plan() {
    let bench = Bench::with_main(
        r#"
output "planned" {
  value = plantimestamp()
}
output "applied" {
  value = timestamp()
}
output "files" {
  value = fileset(".", "*.tf")
}
"#,
    );
    let planned = bench.mayfly(".", ["plan", "-out=saved"]).succeeds();
    planned.shows(&["+ applied = (known after apply)", "+ planned = \"20"]);
    let plan = bench.mayfly(".", ["show", "-json", "saved"]).succeeds();
    let plan: Json = serde_json::from_str(&plan.out).expect("it is JSON");
    bench.mayfly(".", ["apply", "saved"]).succeeds();
    let outputs = bench.mayfly(".", ["output", "-json"]).succeeds();
    let outputs: Json = serde_json::from_str(&outputs.out).expect("it is JSON");
    assert_eq!(outputs["planned"]["value"], plan["timestamp"]);
    assert_eq!(outputs["files"]["value"], serde_json::json!(["main.tf"]));
}

#[test]
fn type_is_a_function_of_the_console_only() {
    let bench = Bench::with_main("");
    let ask = |text: &str| bench.mayfly(".", ["console"]).input(text).end();
    assert_eq!(
        ask("type({a = [1]})\n").out,
        "object({\n    a: tuple([\n        number,\n    ]),\n})\n"
    );
    assert!(ask("[type(1)]\n").printed().contains("cannot be used as part of an expression"));
    assert!(ask("plantimestamp()\n").printed().contains("no function named \"plantimestamp\""));
}

#[test]
fn built_in_provider_functions_encode_and_decode() {
    const DECLARED: &str = "terraform {\n  required_providers {\n    terraform = { source = \
                            \"terraform.io/builtin/terraform\" }\n  }\n}\n";
    let bench = Bench::with_main(DECLARED);
    let file = "a   = 1\nbbb = \"$${x}\"\nc = {\n  d = [true]\n}\n";
    bench.write("values.txt", file);
    bench.write(
        "more.tf",
        "variable \"pin\" {\n  default   = \"kanarek\"\n  sensitive = true\n}\nlocals {\n  read = \
         provider::terraform::decode_tfvars(file(\"values.txt\"))\n}\noutput \"read\" {\n  value = \
         local.read\n}\noutput \"same\" {\n  value = \
         provider::terraform::encode_tfvars(local.read)\n}\noutput \"expr\" {\n  value = \
         provider::terraform::encode_expr({ \"b c\" = terraform_data.t.output })\n}\noutput \
         \"hidden\" {\n  value     = provider::terraform::encode_expr(var.pin)\n  sensitive = \
         true\n}\nresource \"terraform_data\" \"t\" {\n  input = 7\n}\n",
    );
    bench.mayfly(".", ["validate"]).succeeds();
    bench.mayfly(".", ["plan"]).succeeds().shows(&["+ expr   = (known after apply)"]);
    let applied = bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    applied.lacks(&["kanarek"]);
    let outputs = bench.mayfly(".", ["output", "-json"]).succeeds().json();
    assert_eq!(outputs["same"]["value"], file);
    assert_eq!(outputs["read"]["value"]["bbb"], "${x}");
    assert_eq!(outputs["expr"]["value"], "{\n  \"b c\" = 7\n}");
    let ask = |text: &str| bench.mayfly(".", ["console"]).input(&format!("{text}\n")).end();
    assert_eq!(ask("provider::terraform::encode_expr(var.pin)").out, "(sensitive value)\n");
    assert_eq!(ask("try(provider::terraform::decode_tfvars(\"a {}\"), 1)").out, "1\n");
    for (call, summary) in [
        (
            "encode_exp(1)",
            "is not available from the provider \"terraform\". Did you mean \"encode_expr\"?",
        ),
        ("decode_tfvars([1])", "Invalid value for \"src\" parameter: string required."),
        ("encode_expr(null)", "argument must not be null"),
        ("encode_expr()", "expects 1 argument(s). Missing value for \"value\"."),
        ("encode_expr(1, 2)", "expects only 1 argument(s)."),
        ("other::encode_expr(1)", "Unknown provider function"),
    ] {
        let name = format!("provider::terraform::{call}");
        ask(&name).exits(1).shows(&[summary]);
        bench.write("wrong.tf", &format!("locals {{\n  x = {name}\n}}\n"));
        let ended = bench.mayfly(".", ["validate"]).fails();
        ended.shows(&["on wrong.tf line 2"]);
        ended.shows(&[summary]);
        fs::remove_file(bench.path("wrong.tf")).expect("it was written");
    }
    bench.write("wrong.tf", "locals {\n  x = provider::nobody::f(1)\n}\n");
    bench.mayfly(".", ["validate"]).fails().shows(&["required_providers"]);
    fs::remove_file(bench.path("wrong.tf")).expect("it was written");
    let secret = "provider::terraform::decode_tfvars(\"a = kanarek\")";
    let ended = ask(secret).exits(1);
    assert!(!ended.err.replace(secret, "").contains("kanarek"), "{}", ended.err);
}

#[test]
fn recursive_template_is_an_error() {
    let bench = Bench::with_main("output \"a\" {\n  value = templatefile(\"t.tpl\", {})\n}\n");
    bench.write("t.tpl", "${templatefile(\"t.tpl\", {})}");
    let planned = bench.mayfly(".", ["plan"]).end();
    assert!(
        planned.printed().contains("maximum recursion depth 1024 reached in t.tpl"),
        "{}",
        planned.printed()
    );
}

#[test]
fn plugin_functions_are_called_in_all_commands() {
    let bench = Bench::with_main(PLUGIN_FUNCTIONS);
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["validate"]).succeeds();
    bench.mayfly(".", ["plan", "-out=plan"]).succeeds().shows(&[
        "+ hidden  = (sensitive value)",
        "+ service = \"ssm\"",
        "Check block assertion failed",
        "of no service",
    ]);
    bench.mayfly(".", ["apply", "plan"]).succeeds().shows(&["service = \"ssm\""]);
    let ask = |text: &str| bench.mayfly(".", ["console"]).input(&format!("{text}\n")).end();
    let parse = |argument: &str| format!("provider::playground::parse_arn({argument})");
    assert_eq!(
        ask(&parse("local.arn")).out,
        "{\n  \"resource\" = \"parameter/p\"\n  \"service\" = \"ssm\"\n}\n"
    );
    assert_eq!(ask(&parse("var.pin")).out, "", "it is no ARN");
    ask(&parse("\"x\"")).exits(1).shows(&[
        "Error: Invalid function argument",
        "while calling provider::playground::parse_arn(arn)",
        "Invalid value for \"arn\" parameter: this is no ARN of the playground.",
    ]);
    let ended = ask(&parse("\"kana${var.pin}\"")).exits(1);
    ended.shows(&["is not shown, because some of its arguments are secret"]);
    bench.write("wrong.tf", &format!("output \"w\" {{\n  value = {}\n}}\n", parse("local.arn, 1")));
    bench
        .mayfly(".", ["validate"])
        .fails()
        .shows(&["Too many function arguments", "wrong.tf line 2"]);
    bench.write(
        "wrong.tf",
        &format!("output \"w\" {{\n  value = {}\n}}\n", parse("\"x${local.arn}\"")),
    );
    for command in ["validate", "plan"] {
        let ended = bench.mayfly(".", [command]).fails();
        ended.shows(&["wrong.tf line 2", "this is no ARN of the playground"]);
    }
    let unless = format!("local.arn == \"\" ? {} : try({}, 1)", parse("\"x\""), parse("\"x\""));
    bench.write("wrong.tf", &format!("output \"w\" {{\n  value = {unless}\n}}\n"));
    bench.mayfly(".", ["validate"]).succeeds();
}

const PLUGIN_FUNCTIONS: &str = r#"
terraform {
  required_providers {
    playground = { source = "registry.opentofu.org/mayfly/playground" }
  }
}
variable "pin" {
  default   = "kanarek"
  sensitive = true
}
locals {
  arn = "arn:playground:ssm:local:000000000000:parameter/p"
}
output "service" {
  value = provider::playground::parse_arn(local.arn).service
}
output "hidden" {
  value     = try(provider::playground::parse_arn(var.pin), "none")
  sensitive = true
}
check "of" {
  assert {
    condition     = provider::playground::parse_arn(local.arn).service == "none"
    error_message = "of no service"
  }
}
"#;
