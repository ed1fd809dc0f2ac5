//! Ephemeral resources and variables on the command line: their addresses, and errors about invalid values.

use crate::bench::{Bench, Ended};

const SECRET: &str = "kanarek-7351";

const MAIN: &str = r#"
terraform {
  required_providers {
    playground = { source = "registry.opentofu.org/mayfly/playground" }
  }
}
variable "name" {
  type      = string
  ephemeral = true
  default   = "kanarek-7351"
}
ephemeral "playground_random" "r" {
  length = 12
}
resource "playground_secret" "s" {
  name             = "s"
  value_wo         = "${var.name}${ephemeral.playground_random.r.result}"
  value_wo_version = 1
}
"#;

/// An ephemeral resource has no object in the state. It cannot be replaced, imported, shown or listed.
#[test]
fn ephemeral_resources_cannot_be_replaced_imported_or_listed() {
    let bench = Bench::with_main(MAIN);
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    let state = bench.read("terraform.tfstate");
    let of_key = "module.m[\"a\"].ephemeral.playground_random.r[0]";
    for address in ["ephemeral.playground_random.r", of_key] {
        let ended = bench.mayfly(".", ["plan", &format!("-replace={address}")]).fails();
        ended.shows(&[
            &format!("Error: Invalid force-replace address {address:?}"),
            "Only managed resources can be used with the -replace=... option.",
        ]);
        let ended = bench.mayfly(".", ["import", address, "id"]).fails();
        ended.shows(&[
            "Error: Invalid target resource address",
            "Importing into an ephemeral resource",
        ]);
        bench.mayfly(".", ["state", "show", address]).fails().shows(&["No instance found"]);
        bench.mayfly(".", ["state", "list", address]).fails().shows(&["Unknown resource"]);
        for option in ["-target", "-exclude"] {
            let ended = bench.mayfly(".", ["plan", &format!("{option}={address}")]).succeeds();
            ended.shows(&["No changes.", "Resource targeting is in effect"]);
        }
    }
    let ended = bench.mayfly(".", ["import", "data.playground_secret.d", "id"]).fails();
    ended.shows(&["Importing into a data resource is not allowed."]);
    let ended = bench.mayfly(".", ["plan", "-replace=ephemeral[0].b"]).fails();
    ended.shows(&["An ephemeral resource name is required."]);
    assert_eq!(bench.read("terraform.tfstate"), state, "nothing was done");
}

#[test]
fn console_opens_no_ephemeral_and_shows_no_secret() {
    let bench = Bench::with_main(MAIN);
    bench.mayfly(".", ["init"]).succeeds();
    for (typed, shown) in [
        // The object itself is known; only its attributes are unknown.
        ("ephemeral.playground_random.r", "(ephemeral value)\n"),
        ("ephemeral.playground_random.r == null", "(ephemeral value)\n"),
        ("ephemeral.playground_random.r.result", "(known after apply)\n"),
        ("keys(tomap({ a = ephemeral.playground_random.r.result }))", "tolist([\n  \"a\",\n])\n"),
        ("type(ephemeral.playground_random.r.result)", "string\n"),
        ("var.name", "(ephemeral value)\n"),
        ("\"<${var.name}>\"", "(ephemeral value)\n"),
        ("[var.name, \"x\"]", "[\n  (ephemeral value),\n  \"x\",\n]\n"),
        ("ephemeralasnull(var.name)", "tostring(null)\n"),
        ("ephemeralasnull(sensitive(var.name))", "(sensitive value)\n"),
        ("sensitive(var.name)", "(sensitive value)\n"),
        ("type(var.name)", "string\n"),
        ("length([var.name])", "1\n"),
    ] {
        let ended = bench.mayfly(".", ["console"]).input(&format!("{typed}\n")).succeeds();
        assert_eq!(ended.out, shown, "{typed}");
        ended.lacks(&[SECRET]);
    }
    for (typed, said) in [
        ("tonumber(var.name)", "cannot convert this ephemeral string to number"),
        ("tobool(sensitive(var.name))", "cannot convert this ephemeral sensitive string to bool"),
        ("parseint(var.name, 10)", "cannot parse (ephemeral value) as a base 10 integer"),
        ("file(var.name)", "the file cannot be read; its path is sensitive"),
        ("ephemeral", "must be followed by two attribute names"),
        ("ephemeral.playground_random.s", "has not been declared"),
        ("ephemeral.playground_random.r.nothing", "Unsupported attribute"),
    ] {
        let ended = bench.mayfly(".", ["console"]).input(&format!("{typed}\n")).fails();
        ended.shows(&[said]);
        ended.lacks(&[SECRET]);
    }
    assert!(!bench.path(".playground").exists(), "nothing was opened");
}

/// The error names the source of the value, and neither the value nor the names in it.
#[test]
fn invalid_ephemeral_variable_error_names_only_the_source() {
    const VARIABLES: &str = r#"
variable "number" {
  type      = number
  ephemeral = true
}
variable "parts" {
  type      = map(object({ port = number }))
  ephemeral = true
  default   = {}
}
"#;
    let wrong = format!("{{ {SECRET} = {{ port = \"{SECRET}\" }} }}");
    let check = |bench: &Bench, flags: &[&str], env: Option<(&str, &str)>, told: &[&str]| {
        let run = bench.mayfly(".", ["plan"].iter().chain(flags)).env("TF_CLI_ARGS", "-no-color");
        let run = match env {
            Some((name, value)) => run.env(name, value),
            None => run,
        };
        let ended: Ended = run.input(&format!("{SECRET}\n")).fails();
        ended.shows(&["Error: Invalid value for input variable"]);
        ended.shows(told);
        ended.lacks(&[SECRET]);
    };
    let bench = Bench::with_main(VARIABLES);
    check(
        &bench,
        &["-input=false", &format!("-var=number={SECRET}")],
        None,
        &["Unsuitable value for var.number set using -var=\"number=...\": a number is required."],
    );
    check(
        &bench,
        &["-input=false"],
        Some(("TF_VAR_number", SECRET)),
        &[
            "Unsuitable value for var.number set using the TF_VAR_number environment",
            "a number is required.",
        ],
    );
    check(
        &bench,
        &[],
        None,
        &[
            "var.number (ephemeral)",
            "Unsuitable value for var.number set using an interactive prompt",
        ],
    );
    check(
        &bench,
        &["-input=false", "-var=number=1", &format!("-var=parts={wrong}")],
        None,
        &["Unsuitable value for var.parts set using -var=\"parts=...\""],
    );
    let files = [
        (
            "number.tfvars",
            format!("number = \"{SECRET}\"\n"),
            "var.number",
            "a number is required.",
        ),
        (
            "parts.tfvars",
            format!("number = 1\nparts = {wrong}\n"),
            "var.parts",
            "a number is required.",
        ),
        (
            "parts.tfvars.json",
            format!("{{\"number\": 1, \"parts\": {{\"{SECRET}\": \"{SECRET}\"}}}}"),
            "var.parts",
            "object required",
        ),
    ];
    for (file, text, variable, why) in files {
        bench.write(file, &text);
        let said = format!("The given value is not suitable for {variable}, which is ephemeral");
        let flag = format!("-var-file={file}");
        check(&bench, &["-input=false", &flag], None, &[&format!("on {file} line"), &said, why]);
        let ending = file.split_once('.').map_or("", |(_, ending)| ending);
        let automatic = format!("x.auto.{ending}");
        bench.write(&automatic, &text);
        let place = format!("on {automatic} line");
        check(&bench, &["-input=false"], None, &[&place, &said, why]);
        std::fs::remove_file(bench.path(&automatic)).expect("it is there");
    }
}

const DEPENDS_ON_A_VALUE: &str = r#"
variable "password" {
  ephemeral = true
}
variable "use" {
  type = bool
}
locals {
  login = join("", [for it in [var.password] : it if var.use])
}
resource "terraform_data" "kept" {
  input = { login = local.login }
}
resource "terraform_data" "counted" {
  count = length(local.login) > 0 ? 1 : 0
}
module "m" {
  source = "./m"
  in     = local.login
}
output "shown" {
  value = local.login
}
"#;

/// A possible misuse that `validate` only warns about is an error of the run, with the same explanation.
#[test]
fn plan_and_apply_show_the_path_of_a_misused_ephemeral_value() {
    let bench = Bench::with_main(DEPENDS_ON_A_VALUE);
    bench.write("m/main.tf", "variable \"in\" {}\noutput \"out\" {\n  value = var.in\n}\n");
    let run = |arguments: &[&str]| bench.mayfly(".", arguments).env("TF_VAR_password", SECRET);
    run(&["init"]).succeeds();
    run(&["validate"]).succeeds().shows(&["Warning: Possibly ephemeral value", "var.use is true"]);
    run(&["plan", "-var=use=false"]).succeeds();
    for command in [&["plan", "-var=use=true"][..], &["apply", "-auto-approve", "-var=use=true"]] {
        let ended = run(command).fails();
        let places = [
            ("Invalid use of an ephemeral value", 12),
            ("Invalid count argument", 15),
            ("Invalid usage of ephemeral value", 19),
            ("Output not marked as ephemeral", 22),
        ];
        for (summary, line) in places {
            let error = error_with(&ended, summary, line);
            assert!(error.contains("  - var.password is ephemeral "), "{error}");
            let declared =
                error.lines().find(|it| it.contains("\"password\" is declared ephemeral"));
            assert!(declared.is_some_and(|it| it.ends_with("  main.tf:3")), "{error}");
        }
        ended.shows(&["\n\nThe value is ephemeral because:\n  - local.login is ephemeral "]);
        ended.lacks(&[SECRET]);
    }
}

/// The text of the error with this summary and line.
fn error_with(ended: &Ended, summary: &str, line: usize) -> String {
    let printed = ended.printed();
    let place = format!("on main.tf line {line},");
    let mut errors = printed.split("\nError: ");
    let found = errors.find(|it| it.starts_with(summary) && it.contains(&place));
    found.unwrap_or_else(|| panic!("no {summary:?} at line {line}:\n{printed}")).to_owned()
}
