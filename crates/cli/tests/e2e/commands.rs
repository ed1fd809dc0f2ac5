//! Commands, flags, exit codes, prompts and errors.

use serde_json::{Value as Json, json};

use crate::bench::Bench;

const MAIN: &str = r#"
terraform {
  required_providers {
    playground = {
      source = "registry.opentofu.org/mayfly/playground"
    }
  }
}

variable "name" {
  type    = string
  default = "blue"
}

resource "playground_parameter" "key" {
  name  = "key"
  type  = "String"
  value = var.name
}

resource "terraform_data" "list" {
  count = 2
  input = "${var.name}-${count.index}"
}

output "text" {
  value = var.name
}

output "hidden" {
  value     = "hush"
  sensitive = true
}

output "list" {
  value = ["a", 1, true, null]
}
"#;

#[test]
fn exit_codes_tell_success_failure_and_changes() {
    let bench = Bench::with_main(MAIN);
    let steps: &[(&[&str], i32)] = &[
        (&["init"], 0),
        (&["validate"], 0),
        (&["plan"], 0),
        (&["plan", "-detailed-exitcode"], 2),
        (&["apply", "-auto-approve"], 0),
        (&["plan", "-detailed-exitcode"], 0),
        (&["plan", "-detailed-exitcode", "-var", "name=red"], 2),
        (&["plan", "-detailed-exitcode", "-var", "nonsense"], 1),
        (&["output", "nothing"], 1),
        (&["state", "show", "playground_parameter.other"], 1),
        (&["apply", "nowhere.plan"], 1),
        (&["nonsense"], 1),
        (&["plan", "-nonsense"], 1),
        (&["destroy", "-auto-approve"], 0),
        (&["plan", "-destroy", "-detailed-exitcode"], 0),
    ];
    for (arguments, expected) in steps {
        let ended = bench.mayfly(".", *arguments).end();
        assert_eq!(ended.code, *expected, "{arguments:?}:\n{}\n{}", ended.out, ended.err);
        assert!(
            ended.code != 1 || !ended.err.is_empty(),
            "{arguments:?} fails without a word on stderr"
        );
    }
    bench.mayfly(".", ["apply"]).input("no\n").fails().shows(&["Apply cancelled."]);
}

#[test]
fn output_show_and_state_print_applied_values() {
    let bench = Bench::with_main(MAIN);
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds().shows(&[
        "Outputs:\n\n",
        "hidden = <sensitive>\n",
        "list = [\n",
        "text = \"blue\"\n",
    ]);
    let out = |arguments: &[&str]| bench.mayfly(".", arguments).succeeds().out;
    assert_eq!(out(&["output", "text"]), "\"blue\"\n");
    assert_eq!(out(&["output", "-raw", "text"]), "blue");
    assert_eq!(out(&["output", "-raw", "hidden"]), "hush");
    assert_eq!(out(&["output", "-json", "list"]).trim(), r#"["a",1,true,null]"#);
    bench
        .mayfly(".", ["output", "-raw", "list"])
        .fails()
        .shows(&["Unsupported value for raw output"]);
    let outputs = bench.mayfly(".", ["output", "-json"]).succeeds().json();
    assert_eq!(outputs["hidden"], json!({"sensitive": true, "type": "string", "value": "hush"}));
    assert_eq!(
        out(&["state", "list"]),
        "playground_parameter.key\nterraform_data.list[0]\nterraform_data.list[1]\n"
    );
    assert_eq!(
        out(&["state", "list", "terraform_data.list"]),
        "terraform_data.list[0]\nterraform_data.list[1]\n"
    );
    bench.mayfly(".", ["state", "show", "playground_parameter.key"]).succeeds().shows(&[
        "# playground_parameter.key:\nresource \"playground_parameter\" \"key\" {\n",
        "name",
        "\"key\"\n",
        "}\n",
    ]);
    bench.mayfly(".", ["show"]).succeeds().shows(&[
        "# playground_parameter.key:",
        "# terraform_data.list[0]:",
        "Outputs:",
    ]);
    let state = bench.mayfly(".", ["show", "-json"]).succeeds().json();
    assert_eq!(state["format_version"], "1.0");
    assert_eq!(state["values"]["outputs"]["text"]["value"], "blue");
    let resources = state["values"]["root_module"]["resources"].as_array().expect("are there");
    assert_eq!(resources[0]["address"], "playground_parameter.key");
    assert_eq!(resources[0]["provider_name"], "registry.opentofu.org/mayfly/playground");
}

#[test]
fn concise_commands_show_no_lines_of_progress() {
    let bench = Bench::with_main("resource \"terraform_data\" \"a\" {}\n");
    let ended = bench.mayfly(".", ["init", "-backend=false", "-input=false"]).succeeds();
    ended.lacks(&["Initializing the backend"]);
    bench.mayfly(".", ["validate", "-no-tests"]).succeeds();
    let ended = bench.mayfly(".", ["apply", "-auto-approve", "-concise"]).succeeds();
    ended.shows(&["# terraform_data.a will be created", "Apply complete! Resources: 1 added"]);
    ended.lacks(&["Creating...", "Creation complete"]);
    let ended = bench.mayfly(".", ["destroy", "-auto-approve", "-concise"]).succeeds();
    ended.shows(&["Destroy complete! Resources: 1 destroyed."]);
    ended.lacks(&["Refreshing state", "Destroying..."]);
}

#[test]
fn secret_error_message_warns_once_per_command() {
    let bench = Bench::with_main(
        r#"
variable "s" {
  default   = "hush"
  sensitive = true
}
resource "terraform_data" "a" {
  count = 2
  lifecycle {
    precondition {
      condition     = var.s != ""
      error_message = "It is ${var.s}."
    }
  }
}
"#,
    );
    for arguments in [&["validate"][..], &["plan"], &["apply", "-auto-approve"]] {
        let ended = bench.mayfly(".", arguments).succeeds();
        let warned = ended.printed().matches("Error message refers to sensitive values").count();
        assert_eq!(warned, 1, "{}", ended.printed());
    }
}

#[test]
fn providers_schema_and_version_print_json() {
    let bench = Bench::with_main(MAIN);
    let schemas = bench.mayfly(".", ["providers", "schema", "-json"]).succeeds().json();
    assert_eq!(schemas["format_version"], "1.0");
    let playground = &schemas["provider_schemas"]["registry.opentofu.org/mayfly/playground"];
    assert!(playground["ephemeral_resource_schemas"]["playground_random"].is_object());
    let value_wo =
        &playground["resource_schemas"]["playground_secret"]["block"]["attributes"]["value_wo"];
    assert_eq!(value_wo["write_only"], true);
    bench.mayfly(".", ["providers", "schema"]).fails().shows(&["The -json flag is required"]);
    let version = bench.mayfly(".", ["version", "-json"]).succeeds().json();
    assert_eq!(version["terraform_version"], "1.12.6");
    assert!(version["platform"].as_str().is_some_and(|it| it.contains('_')));
    for arguments in [["version"], ["-version"], ["--version"], ["-v"]] {
        bench.mayfly(".", arguments).succeeds().shows(&["Mayfly v", "OpenTofu v1.12.6", "\non "]);
    }
}

#[test]
fn console_evaluates_one_expression_per_line() {
    let bench = Bench::with_main(&format!(
        "{MAIN}\nvariable \"secret\" {{\n  type      = string\n  default   = \"hush\"\n  ephemeral = true\n}}\n"
    ));
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    let typed = "1 + 2\nvar.name\nterraform_data.list[1].output\nvar.secret\nlength(\"abc\")\n[for \
                 x in [1, 2] : x * 2]\nexit\n1\n";
    let ended = bench.mayfly(".", ["console", "-var=name=green"]).input(typed).succeeds();
    assert_eq!(ended.out, "3\n\"green\"\n\"blue-1\"\n(ephemeral value)\n3\n[\n  2,\n  4,\n]\n");
    bench.mayfly(".", ["console"]).input("1 +\n").fails();
    bench.mayfly(".", ["console"]).input("nothing.here\n").fails().shows(&["Error: "]);
    let asking = bench.mayfly(".", ["console"]).input("provider::x::f(1)\n");
    asking.fails().shows(&["Error: Unknown provider function", "required_providers"]);
}

/// The types of the lines of a `-json` output, in order.
fn kinds(lines: &[Json]) -> Vec<&str> {
    lines.iter().map(|it| it["type"].as_str().expect("each line has a type")).collect()
}

#[track_caller]
fn check_lines(lines: &[Json], expected: &[&str]) {
    assert_eq!(lines[0]["type"], "version", "the first line says what speaks");
    for line in lines {
        for field in ["@level", "@message", "@module", "@timestamp"] {
            assert!(line[field].is_string(), "{line} has no {field}");
        }
    }
    let times: Vec<&str> = lines.iter().filter_map(|it| it["@timestamp"].as_str()).collect();
    assert!(times.iter().all(|it| it.contains('.')), "all are of the same exactness: {times:?}");
    let found = kinds(lines);
    for kind in expected {
        assert!(found.contains(kind), "{kind} is not among {found:?}");
    }
}

#[test]
fn json_streams_have_one_object_per_line() {
    let ephemeral = "ephemeral \"playground_random\" \"r\" {}\nresource \"playground_secret\" \
                     \"s\" {\n  name             = \"s\"\n  value_wo         = \
                     ephemeral.playground_random.r.result\n  value_wo_version = 1\n}\n";
    let bench = Bench::with_main(&format!("{MAIN}\n{ephemeral}"));
    let lines = bench.mayfly(".", ["plan", "-json"]).succeeds().json_lines();
    check_lines(&lines, &["version", "planned_change", "change_summary", "outputs"]);
    assert!(
        !lines
            .iter()
            .any(|it| it["type"] == "planned_change" && it.to_string().contains("\"ephemeral."))
    );
    let lines = bench.mayfly(".", ["apply", "-json", "-auto-approve"]).succeeds().json_lines();
    check_lines(
        &lines,
        &[
            "version",
            "planned_change",
            "change_summary",
            "apply_start",
            "apply_complete",
            "ephemeral_action_started",
            "ephemeral_action_complete",
            "outputs",
        ],
    );
    let summaries: Vec<&Json> = lines.iter().filter(|it| it["type"] == "change_summary").collect();
    assert_eq!(summaries.last().map(|it| &it["changes"]["add"]), Some(&json!(4)));
    let lines = bench.mayfly(".", ["plan", "-json"]).succeeds().json_lines();
    check_lines(&lines, &["refresh_start", "refresh_complete"]);
    bench.mayfly(".", ["apply", "-json"]).fails().shows(&["Plan file or auto-approve required"]);
    let lines = bench.mayfly(".", ["destroy", "-json", "-auto-approve"]).succeeds().json_lines();
    check_lines(&lines, &["apply_start", "apply_complete", "change_summary"]);
    bench.write("broken.tf", "output \"o\" {\n  value = nothing.at.all\n}\n");
    let lines = bench.mayfly(".", ["plan", "-json"]).fails().json_lines();
    check_lines(&lines, &["diagnostic"]);
    let verdict = bench.mayfly(".", ["validate", "-json"]).fails().json();
    assert_eq!((&verdict["valid"], &verdict["error_count"]), (&json!(false), &json!(1)));
    assert_eq!(verdict["diagnostics"][0]["range"]["filename"], "broken.tf");
}

#[test]
fn variable_sources_have_the_documented_precedence() {
    let bench = Bench::with_main(
        "variable \"v\" {\n  type = string\n}\n\noutput \"v\" {\n  value = var.v\n}\n",
    );
    let value = |arguments: &[&str], environment: Option<&str>| {
        let mut run = bench.mayfly(".", ["apply", "-auto-approve", "-input=false"]);
        for argument in arguments {
            run = run.arg(argument);
        }
        if let Some(text) = environment {
            run = run.env("TF_VAR_v", text);
        }
        run.succeeds();
        bench.mayfly(".", ["output", "-raw", "v"]).succeeds().out
    };
    assert_eq!(value(&[], Some("environment")), "environment");
    bench.write("terraform.tfvars", "v = \"tfvars\"\n");
    assert_eq!(value(&[], Some("environment")), "tfvars");
    bench.write("a.auto.tfvars", "v = \"auto\"\n");
    bench.write("b.auto.tfvars.json", "{\"v\": \"auto json\"}");
    assert_eq!(value(&[], None), "auto json");
    bench.write("some.file", "v = \"file\"\n");
    assert_eq!(value(&["-var-file=some.file"], None), "file");
    assert_eq!(value(&["-var", "v=flag", "-var-file", "some.file"], None), "file");
    assert_eq!(value(&["-var-file=some.file", "-var=v=flag"], None), "flag");
    bench.write("heredoc.file", "v = <<EOT\ntwo\nlines\nEOT\n");
    assert_eq!(value(&["-var-file=heredoc.file"], None), "two\nlines\n");
}

#[test]
fn prompt_names_the_variable_and_marks_ephemeral_ones() {
    let bench = Bench::with_main(
        "variable \"plain\" {\n  type        = string\n  description = \"What it is \
         for.\"\n}\n\nvariable \"password\" {\n  type      = string\n  ephemeral = \
         true\n}\n\noutput \"plain\" {\n  value = var.plain\n}\n",
    );
    let ended = bench.mayfly(".", ["plan"]).input("typed secret\nyellow\n").succeeds();
    ended.shows(&[
        "var.password (ephemeral)\n  Enter a value: ",
        "var.plain\n  What it is for.\n\n  Enter a value: ",
        "\"yellow\"",
    ]);
    ended.lacks(&["typed secret"]);
    bench
        .mayfly(".", ["plan", "-input=false"])
        .fails()
        .shows(&["No value for required variable", "password"]);
}

#[test]
fn invalid_variable_value_is_reported_without_the_value() {
    let bench = Bench::with_main(
        "variable \"n\" {\n  type      = number\n  ephemeral = true\n}\n\nvariable \"l\" {\n  type      \
         = list(string)\n  ephemeral = true\n  default   = []\n}\n\nvariable \"long\" {\n  type      \
         = string\n  ephemeral = true\n  default   = \"long enough\"\n  validation {\n    \
         condition     = length(var.long) > 8\n    error_message = \"It is too short.\"\n  }\n}\n",
    );
    let cases: &[(&[&str], &str)] = &[
        (&["-var=n=kanarek"], "a number is required"),
        (&["-var=n=1", "-var=l=kanarek kanarek"], "list of string"),
        (&["-var=n=1", "-var=l=[kanarek"], "list of string"),
        (&["-var=n=1", "-var=kanarek"], "-var"),
        (&["-var=n=1", "-var=long=kanarek"], "It is too short."),
        (&["-var=n=1", "-var=other=kanarek"], "other"),
    ];
    for (arguments, expected) in cases {
        let ended = bench.mayfly(".", ["plan"].iter().chain(*arguments)).fails();
        ended.shows(&["Error: ", expected]);
        ended.lacks(&["kanarek"]);
    }
}

#[test]
fn errors_of_variables_files_show_no_values() {
    let bench =
        Bench::with_main("variable \"long\" {\n  type      = string\n  ephemeral = true\n}\n");
    let cases = [
        (
            "open.tfvars",
            "# kanarek\nlong = \"kanarek\n",
            "line 2:\n   2: (not shown: this file may hold secrets)",
        ),
        ("unquoted.tfvars", "long = kanarek\n", "Variables not allowed"),
        ("call.tfvars", "long = file(\"kanarek\")\n", "Error: "),
        ("directive.tfvars", "long = \"%{kanarek}\"\n", "cannot be read"),
        ("key.tfvars", "long = { a = \"kanarek\" }.kanarek\n", "Error: "),
        ("sum.tfvars", "long = \"kanarek\" + 1\n", "Error: "),
        ("heredoc.tfvars", "long = <<EOT\nkanarek\n", "Error: "),
        ("list.tfvars", "long = [\n  \"kanarek\",\n  \"kanarek\n]\n", "Error: "),
        (
            "block.tfvars",
            "variable \"kanarek\" {\n  default = \"kanarek\"\n}\n",
            "Variable declaration in .tfvars file",
        ),
        ("bad.json", "{\"long\": \"kanarek}", "cannot be read"),
        ("list.json", "[\"kanarek\"]", "Incorrect JSON value type"),
        ("text.json", "\"kanarek\"", "Root value must be object"),
        ("twice.json", "{\"long\": {\"kanarek\": 1,\n \"kanarek\": 2}}", "on twice.json line 2"),
    ];
    for (name, text, expected) in cases {
        bench.write(name, text);
        let ended =
            bench.mayfly(".", ["plan", "-input=false", &format!("-var-file={name}")]).fails();
        ended.shows(&[name]);
        ended.shows(&[expected]);
        ended.lacks(&["kanarek"]);
    }
}

#[test]
fn chdir_works_in_another_directory() {
    let bench = Bench::new();
    bench.write(
        "deep/er/main.tf",
        "output \"cwd\" {\n  value = basename(path.cwd)\n}\n\noutput \
                                    \"root\" {\n  value = path.root\n}\n",
    );
    bench.mayfly(".", ["-chdir=deep/er", "apply", "-auto-approve"]).succeeds();
    assert!(bench.path("deep/er/terraform.tfstate").is_file());
    let outputs = bench.mayfly("deep", ["-chdir=er", "output", "-json"]).succeeds().json();
    assert_eq!(
        (&outputs["cwd"]["value"], &outputs["root"]["value"]),
        (&json!("work"), &json!("."))
    );
    bench
        .mayfly(".", ["-chdir=nowhere", "plan"])
        .fails()
        .shows(&["Error handling -chdir option", "nowhere"]);
}

#[test]
fn configuration_errors_are_shown_with_file_and_line() {
    let bench = Bench::with_main("resource \"terraform_data\" \"a\" {\n  input = [1, 2\n}\n");
    for command in [&["validate"][..], &["plan"], &["apply", "-auto-approve"], &["init"]] {
        bench.mayfly(".", command).fails().shows(&["Error: ", "on main.tf line "]);
    }
    bench.write("main.tf", "resource \"terraform_data\" \"a\" {\n  inptu = 1\n}\n");
    bench.mayfly(".", ["validate"]).fails().shows(&[
        "Error: Unsupported argument",
        "on main.tf line 2, in resource \"terraform_data\" \"a\":",
        "2:   inptu = 1",
        "An argument named \"inptu\" is not expected here.",
    ]);
    let empty = Bench::new();
    empty.mayfly(".", ["plan"]).fails().shows(&["No configuration files"]);
    empty.mayfly(".", ["init"]).succeeds().shows(&["empty directory"]);
    empty.mayfly(".", ["output"]).succeeds().shows(&["No outputs found"]);
    empty.mayfly(".", ["state", "list"]).fails().shows(&["No state file was found"]);
    empty.write("main.tf", "resource \"strange_thing\" \"a\" {}\n");
    let shown = empty.mayfly(".", ["show", "-json"]).succeeds().json();
    assert_eq!(shown, serde_json::json!({ "format_version": "1.0" }), "no provider is needed");
    empty.write("terraform.tfstate", "{ damaged");
    empty.write("main.tf", "output \"o\" {\n  value = 1\n}\n");
    empty.mayfly(".", ["plan"]).fails().shows(&["Error: "]);
}

#[test]
fn init_lists_modules_and_writes_the_manifest() {
    let bench = Bench::with_main(
        "module \"b\" {\n  source = \"./b\"\n}\n\nmodule \"a\" {\n  source   = \"./a/../b\"\n  \
         for_each = toset([\"x\"])\n}\n",
    );
    bench.write("b/main.tf", "module \"inner\" {\n  source = \"../c\"\n}\n");
    bench.write("c/main.tf", "output \"o\" {\n  value = 1\n}\n");
    bench.mayfly(".", ["init"]).succeeds().shows(&[
        "Initializing modules...\n- a in b\n- a.inner in c\n- b in b\n- b.inner in c\n",
        "successfully initialized",
    ]);
    let manifest = ".terraform/modules/modules.json";
    let written = bench.read(manifest);
    assert_eq!(
        String::from_utf8_lossy(&written),
        r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a","Source":"./b","Dir":"b"},{"Key":"a.inner","Source":"../c","Dir":"c"},{"Key":"b","Source":"./b","Dir":"b"},{"Key":"b.inner","Source":"../c","Dir":"c"}]}"#
    );
    bench.mayfly(".", ["init", "-upgrade"]).succeeds().shows(&["Upgrading modules...\n"]);
    bench.mayfly(".", ["validate"]).succeeds();
    bench.write(manifest, "damaged");
    bench.mayfly(".", ["validate"]).fails().shows(&["modules.json is damaged", "mayfly init"]);
    bench.mayfly(".", ["init"]).succeeds();
    assert_eq!(bench.read(manifest), written);
}

#[test]
fn state_with_terraform_registry_addresses_is_adopted() {
    let bench = Bench::with_main(MAIN);
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    let ours = String::from_utf8(bench.read("terraform.tfstate")).expect("is text");
    let theirs = ours.replace("registry.opentofu.org/", "registry.terraform.io/");
    assert_ne!(ours, theirs);
    bench.write("terraform.tfstate", &theirs);
    bench.mayfly(".", ["plan", "-detailed-exitcode"]).end().exits(0);
    bench.mayfly(".", ["state", "show", "playground_parameter.key"]).succeeds();
    bench.mayfly(".", ["show"]).succeeds().shows(&["playground_parameter.key"]);
    bench.mayfly(".", ["apply", "-auto-approve", "-var=name=red"]).succeeds();
    let after = String::from_utf8(bench.read("terraform.tfstate")).expect("is text");
    assert!(!after.contains("registry.terraform.io/"), "{after}");
}

#[test]
fn unreadable_configuration_file_never_destroys_objects() {
    let bench = Bench::with_main("resource \"terraform_data\" \"a\" {}\n");
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    bench.write("main.tf", "output \"o\" {\n  value = 1\n}\n");
    bench.write("x.tf.json", r#"{"resource": {"terraform_data": {"a": {}}},}"#);
    for command in ["init", "validate", "plan", "console"] {
        let ended = bench.mayfly(".", [command]).fails();
        ended.shows(&["Error: Trailing comma in object", "x.tf.json"]);
        ended.lacks(&["destroyed"]);
    }
    std::fs::remove_file(bench.path("x.tf.json")).expect("was written");
    std::os::unix::fs::symlink("nowhere", bench.path("more.tf")).expect("links");
    for command in ["init", "validate", "plan"] {
        bench.mayfly(".", [command]).fails().shows(&["Error: Failed to read file", "more.tf"]);
    }
}

#[test]
fn every_command_refuses_encryption_and_remote_backends() {
    let bench = Bench::with_main("output \"o\" {\n  value = 1\n}\n");
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    for command in
        [&["plan"][..], &["apply", "-auto-approve"], &["output"], &["state", "list"], &["show"]]
    {
        let ended = bench.mayfly(".", command).env("TF_ENCRYPTION", "state {}").fails();
        ended.shows(&["Error: Not supported yet", "TF_ENCRYPTION"]);
    }
    bench.write("main.tf", "terraform {\n  backend \"s3\" {\n  }\n}\n");
    for command in
        [&["init"][..], &["validate"], &["plan"], &["output"], &["state", "list"], &["show"]]
    {
        bench.mayfly(".", command).fails().shows(&["Error: Not supported yet", "backend \"s3\""]);
    }
    bench.mayfly(".", ["plan"]).fails().shows(&["on main.tf line 2"]);
}

#[test]
fn syntax_errors_are_reported_before_provider_errors() {
    let bench = Bench::with_main("resource \"foo_bar\" \"x\" {\n  input = \"a\n}\n");
    for command in ["init", "validate", "plan"] {
        let ended = bench.mayfly(".", [command]).fails();
        ended.shows(&["Error: Invalid multi-line string", "on main.tf line 2"]);
        ended.lacks(&["lock file"]);
    }
}

#[test]
fn init_refuses_missing_unreachable_and_cyclic_modules() {
    for (source, problem) in [
        ("./nowhere", "Unreadable module directory"),
        ("registry.invalid/hashicorp/consul/aws", "No version of the module"),
        ("svn::https://svn.invalid/vpc", "Module not installed"),
        (".", "Module calls itself"),
    ] {
        let bench = Bench::with_main(&format!("module \"m\" {{\n  source = \"{source}\"\n}}\n"));
        bench.mayfly(".", ["init"]).fails().shows(&[problem, "on main.tf line 2"]);
        assert!(!bench.path(".terraform").exists());
    }
}

#[test]
fn unmet_required_version_stops_every_command() {
    let bench = Bench::new();
    // In a `.tf` file, `required_version` would refer to Terraform.
    bench.write("main.tofu", "terraform {\n  required_version = \"< 1.6\"\n}\n");
    for command in
        [&["init"][..], &["validate"], &["plan"], &["apply", "-auto-approve"], &["console"]]
    {
        bench.mayfly(".", command).fails().shows(&[
            "Error: Unsupported OpenTofu version",
            "on main.tofu line 2, in terraform:",
            "The configuration requires OpenTofu < 1.6",
        ]);
    }
}

#[test]
fn unsupported_backend_is_reported_beside_other_errors() {
    let text = "terraform {\n  backend \"s3\" {}\n}\noutput \"o\" {\n  value = local.nowhere\n}\n";
    let bench = Bench::with_main(text);
    for command in ["validate", "plan"] {
        bench.mayfly(".", [command]).fails().shows(&[
            "Error: Not supported yet",
            "does not support the backend \"s3\"",
            // The error is reported together with the unsupported backend, so that fixing the backend does not
            // reveal it.
            "A local value with the name \"nowhere\" has not been declared.",
        ]);
    }
}

#[test]
fn held_state_lock_stops_other_commands() {
    let bench = Bench::with_main(
        "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \
         \"while ! test -e go; do sleep 0.05; done\"\n  }\n}\n",
    );
    let holder = bench.mayfly(".", ["apply", "-auto-approve"]).start();
    holder.wait_for("Provisioning with 'local-exec'...");
    let refused = bench.mayfly(".", ["plan"]).fails();
    refused.shows(&[
        "Error: Error acquiring the state lock",
        "ID:",
        "Operation: OperationTypeApply",
        "Who:",
        "Created:   2",
        "force-unlock",
        "-lock=false",
    ]);
    let (_, id) = refused.err.split_once("ID:        ").expect("is shown");
    let (id, _) = id.split_once('\n').expect("is a line");
    refused.shows(&[&format!("\"mayfly force-unlock {id}\" releases it")]);
    bench
        .mayfly(".", ["plan", "-lock-timeout=200ms"])
        .fails()
        .shows(&["Error acquiring the state lock"]);
    bench.mayfly(".", ["plan", "-lock=false"]).succeeds();
    let waiter = bench.mayfly(".", ["plan", "-lock-timeout=30s", "-detailed-exitcode"]).start();
    bench.write("go", "");
    holder.end().exits(0);
    waiter.end().exits(0);
    bench.mayfly(".", ["plan"]).succeeds();
}

#[test]
fn unwritable_state_or_plan_path_is_an_error() {
    let bench = Bench::with_main(MAIN);
    bench
        .mayfly(".", ["apply", "-auto-approve", "-state=main.tf/no.tfstate"])
        .fails()
        .shows(&["Error: "]);
    assert!(
        !bench.path(".playground").exists()
            || bench.ledger(".").count("created", "playground_parameter") == 0
    );
    bench.mayfly(".", ["plan", "-out=nowhere/plan"]).fails().shows(&["Failed to write plan file"]);
    bench.mayfly(".", ["plan", "-var-file=nowhere.tfvars"]).fails().shows(&["nowhere.tfvars"]);
}

#[test]
fn damaged_state_error_names_the_backup() {
    let bench = Bench::with_main("output \"o\" {\n  value = 1\n}\n");
    bench.write("terraform.tfstate", "{\"version\": 4, \"lineage\": [\"kanarek\"]}");
    for command in [&["plan"][..], &["show"], &["show", "terraform.tfstate"]] {
        let ended = bench.mayfly(".", command).fails();
        ended.shows(&["line 1 column", "terraform.tfstate", "there is no backup next to it"]);
        ended.lacks(&["kanarek"]);
    }
    bench.write("terraform.tfstate.backup", "{\"version\": 4}");
    for command in [&["plan"][..], &["show"], &["show", "terraform.tfstate"]] {
        bench.mayfly(".", command).fails().shows(&["is in terraform.tfstate.backup", "copy it to"]);
    }
}

#[test]
fn arguments_are_read_from_tf_cli_args() {
    let bench = Bench::with_main(MAIN);
    let ended = bench
        .mayfly(".", ["plan"])
        .env("TF_CLI_ARGS_plan", "-var 'name=from here' -detailed-exitcode")
        .end()
        .exits(2);
    ended.shows(&["from here"]);
    bench.mayfly(".", ["plan"]).env("TF_CLI_ARGS", "-nonsense").fails();
}

#[test]
fn workspaces_have_separate_states() {
    let bench = Bench::with_main("output \"w\" {\n  value = terraform.workspace\n}\n");
    for (workspace, path) in
        [("default", "terraform.tfstate"), ("blue", "terraform.tfstate.d/blue/terraform.tfstate")]
    {
        bench.mayfly(".", ["apply", "-auto-approve"]).env("TF_WORKSPACE", workspace).succeeds();
        assert!(bench.path(path).is_file(), "{path}");
        assert_eq!(
            bench
                .mayfly(".", ["output", "-raw", "w"])
                .env("TF_WORKSPACE", workspace)
                .succeeds()
                .out,
            workspace
        );
    }
}

#[test]
fn help_is_printed_by_flag_and_command() {
    let bench = Bench::new();
    for arguments in [&["-help"][..], &["--help"], &["plan", "-help"], &["help"]] {
        let ended = bench.mayfly(".", arguments).succeeds();
        ended.shows(&["mayfly"]);
    }
}
