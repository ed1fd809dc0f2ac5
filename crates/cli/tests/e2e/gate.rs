//! The leak gate. Runs every command with every flag in a configuration with a secret from every origin in every
//! place, and searches all output and files for the secrets. Also covers invalid command lines, all examples and a
//! crash.
//!
//! **Invariant:** a new command, flag or example fails here until a row covers it. The program itself lists its
//! commands and flags.

use std::{collections::BTreeSet, fs, io::Read, path::Path};

use serde_json::json;

use crate::{
    bench::{Bench, Ended, Run},
    canaries::Everywhere,
    search::Canaries,
};

/// The sources of values for a command, in addition to its arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    /// The environment and the automatic variables files.
    Around,
    /// Also `-var` and `-var-file`, and the answer to a question.
    Typed,
    /// Also `-var` and `-var-file`, and an environment variable instead of the answer.
    All,
}

/// The end of a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// It ends by itself.
    Its,
    /// It is interrupted after it has printed this text.
    Until(&'static str),
    /// It ends when the editor disconnects.
    Editing,
}

/// A command of the gate.
struct Row {
    arguments: &'static [&'static str],
    given: Given,
    takes: Takes,
    /// The input after the answer.
    typed: &'static str,
    fault: &'static str,
    code: i32,
    shows: &'static [&'static str],
}

const fn around(arguments: &'static [&'static str]) -> Row {
    Row {
        arguments,
        given: Given::Around,
        takes: Takes::Its,
        typed: "",
        fault: "",
        code: 0,
        shows: &[],
    }
}

const fn all(arguments: &'static [&'static str]) -> Row {
    Row { given: Given::All, ..around(arguments) }
}

const fn typed(arguments: &'static [&'static str]) -> Row {
    Row { given: Given::Typed, ..around(arguments) }
}

impl Row {
    const fn exits(self, code: i32) -> Row {
        Row { code, ..self }
    }

    const fn shows(self, shows: &'static [&'static str]) -> Row {
        Row { shows, ..self }
    }

    const fn types(self, typed: &'static str) -> Row {
        Row { typed, ..self }
    }

    const fn takes(self, takes: Takes) -> Row {
        Row { takes, ..self }
    }

    const fn with_fault(self, fault: &'static str) -> Row {
        Row { fault, ..self }
    }

    /// The words of the command, such as `state adopt`.
    fn command(&self) -> Vec<&str> {
        let words = self.arguments.iter().filter(|it| !it.starts_with('-'));
        let is_group =
            |it: &&&str| ["state", "workspace", "provider", "providers", "metadata"].contains(*it);
        let groups = if self.arguments.iter().any(|it| is_group(&it)) { 2 } else { 1 };
        words.copied().take(groups).collect()
    }

    fn run(&self, everywhere: &Everywhere, outside: &Path) -> Run {
        let run = match self.given {
            Given::Around => everywhere.without_flags(self.arguments).input(self.typed),
            Given::Typed => everywhere.run(self.arguments, self.typed),
            Given::All => everywhere.run(self.arguments, "").input(self.typed),
        };
        let run = match self.given {
            Given::Typed => run,
            Given::Around | Given::All => run.env("TF_VAR_from_prompt", &everywhere.prompt),
        };
        let run = match self.fault {
            "" => run,
            fault => run.env("PLAYGROUND_FAULT", fault),
        };
        // The directory in which a provisioner writes the secrets that providers chose, so that they can be
        // searched for.
        run.env("TF_VAR_outside", outside)
    }
}

const VAULT: &str = "playground_vault.vault";

/// The commands in a realistic order. The file `more.tf` is added before `import`.
const ROWS: &[Row] = &[
    around(&["version"]),
    around(&["-version=true"]),
    around(&["version", "-json"]),
    around(&["version", "-json-into=version.json", "-deprecation=module:local"]),
    around(&["help", "plan"]),
    around(&["-help"]),
    around(&["explain", "-ids"]).shows(&["ephemeral-value-misuse "]),
    around(&["explain", "ephemeral-value-misuse", "-no-color"]).shows(&["value_wo_version"]),
    all(&["init", "-input=false", "-backend=true", "-get=true", "-upgrade"])
        .shows(&["successfully initialized"]),
    all(&["init", "-from-module=nowhere"]).exits(1).shows(&["already contains files"]),
    all(&["init", "-cloud=false", "-lock=false", "-lock-timeout=1s", "-ignore-remote-version"]),
    all(&["init", "-json"]).shows(&["successfully initialized"]),
    all(&["get", "-update", "-test-directory=checks"]),
    all(&["providers", "-test-directory=checks"]).shows(&["Providers required by configuration:"]),
    all(&["login", "-input=false", "localhost:1"]).exits(1).shows(&["an interactive command"]),
    around(&["logout", "localhost:1"]).shows(&["No credentials for localhost:1"]),
    all(&["providers", "lock", "-platform=linux_amd64", "-fs-mirror=../mirror"])
        .shows(&["bundled with Mayfly"]),
    all(&["providers", "lock", "-fs-mirror=nowhere", "-net-mirror=https://127.0.0.1/"]).exits(1),
    all(&["providers", "mirror", "copied", "-json"]).shows(&["bundled with Mayfly"]),
    all(&["show", "-config", "-json"]).shows(&["\"root_module\""]),
    all(&["show", "-module=.", "-json"]).shows(&["\"root_module\""]),
    all(&["show", "-state"]),
    all(&["show", "-plan=nowhere"]).exits(1),
    all(&["init", "-lockfile=readonly", "-plugin-dir=nowhere"]),
    all(&["init", "-reconfigure", "-test-directory=checks"]),
    all(&["init", "-backend-config=path=terraform.tfstate"]),
    all(&["init", "-migrate-state", "-force-copy"]),
    all(&["validate", "-no-tests", "-consolidate-warnings=false", "-consolidate-errors"])
        .shows(&["Success!"]),
    all(&["validate", "-json", "-test-directory=checks"]).shows(&["\"valid\": true"]),
    all(&["test", "-verbose", "-parallelism=2", "-test-directory=checks", "-junit-xml=report.xml"])
        .exits(1)
        .shows(&["run \"mocked\"... fail", "run \"planned\"... fail"]),
    all(&["test", "-json-into=test.jsonl", "-filter=checks/none.tftest.hcl"]),
    all(&["test", "-json", "-filter=secret.tftest.hcl"])
        .exits(1)
        .shows(&["\"type\":\"test_summary\""]),
    around(&["fmt", "-list=true", "-write=false", "-diff", "-recursive", "-no-color"]),
    around(&["fmt", "-check"]),
    around(&["completion", "zsh"]).shows(&["COMP_LINE"]),
    around(&["provider", "new", "Unusable", "-namespace=a", "-sdk=."])
        .exits(1)
        .shows(&["cannot be the name of a provider"]),
    around(&["-install-autocomplete"]).exits(1),
    around(&["-uninstall-autocomplete"]).exits(1),
    all(&["graph", "-draw-cycles", "-verbose", "-module-depth=1", "-type=plan-destroy"]),
    around(&["metadata", "functions", "-json"]).shows(&["\"ephemeralasnull\""]),
    around(&["providers", "schema", "-json"]).shows(&["\"write_only\":true"]),
    typed(&["plan", "-out=plan.bin", "-parallelism=2", "-lock=true", "-lock-timeout=1s"])
        .shows(&["(write-only attribute)", "Plan: 7 to add"]),
    all(&["graph", "-plan=plan.bin"]).shows(&["digraph"]),
    around(&["show", "plan.bin"]).shows(&["(write-only attribute)"]),
    around(&["show", "-show-sensitive", "plan.bin"]),
    around(&["show", "-json", "plan.bin"]).shows(&["\"format_version\""]),
    around(&["show", "-html=shown.html", "-show-sensitive", "plan.bin"]).shows(&["shown.html"]),
    all(&["plan", "-since=HEAD", "-html=since.html"])
        .exits(1)
        .shows(&["Failed to compare with a revision"]),
    all(&["plan", "-html=plan.html", "-show-sensitive", "-input=false"]).shows(&["plan.html"]),
    around(&["explain", "-plan=plan.bin"]).shows(&[VAULT]),
    around(&["explain", VAULT, "-plan=plan.bin", "-json"]).shows(&["\"format_version\""]),
    all(&["apply", "plan.bin"]).shows(&[
        "(output suppressed due to ephemeral value in config)",
        "Resources: 7 added",
        // The log of the plugin whose functions are called.
        "the phrases are {\"greet\": \"(redacted)",
        "the argument is (redacted)",
    ]),
    typed(&["plan", "-detailed-exitcode", "-concise", "-compact-warnings"]).shows(&["No changes."]),
    all(&["plan", "-json", "-input=false"]).shows(&["\"type\":\"change_summary\""]),
    all(&["plan", "-destroy", "-refresh=false", "-show-sensitive", "-no-color"])
        .shows(&["7 to destroy"]),
    all(&["plan", "-replace", VAULT, "-state=terraform.tfstate"])
        .shows(&["will be replaced, as requested"]),
    all(&["plan", "-target", VAULT]).shows(&["Resource targeting is in effect"]),
    all(&["plan", "-exclude", VAULT]).shows(&["Resource targeting is in effect"]),
    // A file that is none, and may have secrets in each line.
    all(&["plan", "-target-file=main.tf"]).exits(1).shows(&["Error: "]),
    all(&["plan", "-exclude-file=main.tf"]).exits(1).shows(&["Error: "]),
    all(&["plan", "-refresh-only"]).shows(&["No changes."]),
    all(&["explain", VAULT, "-refresh=false", "-input=false"]).shows(&["does not change"]),
    all(&["explain", "-replace", VAULT]).shows(&["is named by the option -replace"]),
    all(&["refresh", "-target", VAULT, "-exclude-file=/dev/null"]).exits(1).shows(&["Error: "]),
    typed(&["refresh", "-state=terraform.tfstate", "-lock=true", "-parallelism=2"])
        .shows(&["Outputs:"]),
    all(&["refresh", "-json", "-input=false", "-lock-timeout=1s", "-target-file=/dev/null"])
        .shows(&["\"type\":\"outputs\""]),
    all(&["plan", "-generate-config-out=generated.tf", "-input=false"]).shows(&["No changes."]),
    all(&["import", "-input=false", "-config=.", "playground_parameter.imported", "imported"])
        .shows(&["Import successful!"]),
    all(&["import", "-input=false", "playground_parameter.adopted", "nobody"])
        .exits(1)
        .shows(&["Error: "]),
    all(&["apply", "-auto-approve"])
        .with_fault(
            r#"{"on": "create", "kind": "die", "type": "playground_parameter", "late": true}"#,
        )
        .exits(1)
        .shows(&["Error: "]),
    all(&["state", "adopt", "-gone", VAULT]).exits(1).shows(&["Nothing is uncertain there"]),
    all(&["state", "adopt", "playground_parameter.adopted", "adopted"])
        .shows(&["Import successful!"]),
    all(&[
        "apply",
        "-auto-approve",
        "-json",
        "-retry-uncertain",
        "-strict-secrets",
        "-state-out=terraform.tfstate",
        "-backup=before.tfstate",
        "-var=secrets_version=2",
    ])
    .shows(&["Apply complete!"]),
    around(&["show"]).shows(&["(write-only attribute)"]),
    around(&["show", "-json"]),
    around(&["show", "-show-sensitive"]),
    around(&["output"]),
    all(&["output"]),
    all(&["state", "list"]),
    around(&["output", "-json"]).shows(&["structure"]),
    around(&["output", "-show-sensitive", "-state=terraform.tfstate"]),
    around(&["output", "structure"]),
    around(&["output", "-raw", "structure"]).exits(1),
    around(&["state", "list"]).shows(&[VAULT]),
    around(&["state", "list", "-id=imported"]).shows(&["playground_parameter.imported"]),
    around(&["state", "show", VAULT]).shows(&["(write-only attribute)"]),
    around(&["state", "show", "-show-sensitive", VAULT]),
    around(&["state", "show", "-json", VAULT]).shows(&["\"format_version\""]),
    around(&["state", "list", "-json-into=list.jsonl"]).shows(&[VAULT]),
    all(&["taint", "-json", VAULT]).shows(&["marked as tainted"]),
    all(&["untaint", "-allow-missing", "-ignore-remote-version", VAULT])
        .shows(&["successfully untainted"]),
    all(&["state", "mv", "-dry-run", "-backup-out=b.tfstate", VAULT, "playground_vault.w"])
        .shows(&["Would move"]),
    all(&["state", "rm", "-dry-run", VAULT]).shows(&["Would remove"]),
    around(&["state", "pull"]).shows(&["\"lineage\""]),
    all(&["state", "push", "-force", "terraform.tfstate"]),
    all(&["state", "push", "nowhere"]).exits(1),
    all(&["state", "replace-provider", "-auto-approve", "acme/none", "acme/other"])
        .shows(&["No matching resources found."]),
    all(&["workspace", "new", "-state=terraform.tfstate", "copy"]).shows(&["Created and switched"]),
    around(&["workspace", "list"]).shows(&["* copy"]),
    around(&["workspace", "show"]).shows(&["copy"]),
    all(&["workspace", "select", "-or-create", "default"]).shows(&["Switched to workspace"]),
    all(&["workspace", "delete", "-force", "copy"]).shows(&["was non-empty"]),
    all(&["console"])
        .types(concat!(
            "var.from_flag\nlocal.mixed\nmodule.passing.secret\n",
            "jsonencode(var.structured)\nplayground_vault.vault\n",
        ))
        .shows(&["(ephemeral value)"]),
    all(&["console", "-json-into=console.jsonl"])
        .types("local.mixed[var.from_flag].nowhere\n")
        .exits(1),
    around(&["-chdir=passing", "validate"]).exits(1).shows(&["Unallowed ephemeral output"]),
    around(&["force-unlock", "-force", "nothing"]).exits(1),
    around(&["lsp", "-stdio"]).takes(Takes::Editing),
    all(&["watch", "-json", "-input=false"]).takes(Takes::Until("plan_finished")),
    typed(&["destroy", "-suppress-forget-errors", "-var=secrets_version=2"])
        .types("yes\n")
        .shows(&["9 destroyed"]),
];

/// A test whose assertion fails, with secrets in the condition and in the message.
const TEST: &str = r#"
variables {
  secrets_version = 1
}
run "planned" {
  command = plan
  assert {
    condition     = var.from_flag == "nothing" || length(local.mixed) < 0
    error_message = "it is ${var.from_flag}"
  }
}
"#;

/// A test of the same configuration with a mocked provider.
const MOCKED_TEST: &str = r#"
mock_provider "playground" {}
run "mocked" {
  command = plan
}
"#;

/// Resources whose provider returns secrets, when the first one is imported and when the unconfirmed creation of
/// the second one is adopted.
const MORE: &str = r#"
resource "playground_parameter" "imported" {
  name             = "imported"
  type             = "SecureString"
  value_wo         = local.upper
  value_wo_version = 1
}
resource "playground_parameter" "adopted" {
  name             = "adopted"
  type             = "SecureString"
  value_wo         = var.from_file
  value_wo_version = 1
}
"#;

#[test]
fn no_command_prints_or_writes_a_secret() {
    let mut everywhere = Everywhere::new();
    let outside = tempfile::tempdir().expect("a directory can be made");
    let mut left_open = 0;
    everywhere.bench.write("everywhere/secret.tftest.hcl", TEST);
    everywhere.bench.write("everywhere/checks/mocked.tftest.hcl", MOCKED_TEST);
    for row in ROWS {
        if row.arguments.starts_with(&["import"]) {
            everywhere.bench.write("everywhere/more.tf", MORE);
        }
        let ended = ended(&everywhere, row, outside.path());
        let what = row.arguments.join(" ");
        assert_eq!(ended.code, row.code, "{what}:\n{}", ended.printed());
        let ended = everywhere.check(ended);
        ended.shows(row.shows);
        if row.arguments.starts_with(&["apply", "plan.bin"]) {
            everywhere.learn(&outside);
            everywhere.check(ended);
        }
        let open = open(&everywhere);
        // A process that dies cannot close its ephemeral resources.
        assert!(open == left_open || !row.fault.is_empty(), "{what}: {open} are left open");
        left_open = open;
    }
    everywhere.bench.assert_no_orphans("everywhere");
}

/// The number of ephemeral resources that were opened and not closed.
fn open(everywhere: &Everywhere) -> usize {
    if !everywhere.bench.path("everywhere/.playground/ledger.jsonl").exists() {
        return 0;
    }
    let ledger = everywhere.bench.ledger("everywhere");
    let kinds = ["playground_secret", "playground_random", "playground_lease"];
    let count = |event: &str| kinds.iter().map(|kind| ledger.count(event, kind)).sum::<usize>();
    count("opened") - count("closed")
}

fn ended(everywhere: &Everywhere, row: &Row, outside: &Path) -> Ended {
    let run = row.run(everywhere, outside);
    match row.takes {
        Takes::Its => run.end(),
        Takes::Until(printed) => {
            let started = run.start();
            started.wait_for(printed);
            started.signal(rustix::process::Signal::INT);
            started.end()
        }
        Takes::Editing => edited(everywhere, run),
    }
}

/// Opens the files with secrets in an editor session, and introduces errors.
fn edited(everywhere: &Everywhere, run: Run) -> Ended {
    let mut child = run.spawn();
    let from_server = child.stdout.take().expect("is piped");
    let to_server = child.stdin.take().expect("is piped");
    let root = everywhere.bench.path("everywhere");
    let capabilities = editor::usual_capabilities();
    let mut editor = editor::Editor::connect(from_server, to_server, &root, capabilities);
    let mut said = vec![editor.server.clone()];
    for path in ["main.tf", "terraform.tfvars"] {
        editor.open_file(path);
        said.extend(editor.pull(path));
    }
    let at = editor.text("main.tf").find("var.from_flag").expect("is there");
    for question in ["textDocument/hover", "textDocument/completion", "textDocument/definition"] {
        said.push(editor.ask_at(question, "main.tf", at + 6));
    }
    let broken = editor.text("terraform.tfvars").replace("structured = {", "structured = { = ");
    editor.set("terraform.tfvars", &broken);
    let faults = editor.pull("terraform.tfvars");
    assert!(!faults.is_empty(), "the file is broken");
    said.extend(faults);
    said.extend(editor.left_over());
    editor.leave();
    let mut err = String::new();
    child.stderr.take().expect("is piped").read_to_string(&mut err).expect("is text");
    let code = child.wait().expect("can be waited for").code().unwrap_or(-1);
    Ended { code, out: json!(said).to_string(), err, elapsed: std::time::Duration::ZERO }
}

/// Collects the commands below `path` with their flags, from the program's own help.
fn known_to_help(bench: &Bench, path: &[&str], found: &mut Vec<(String, BTreeSet<String>)>) {
    let arguments: Vec<&str> = path.iter().copied().chain(["-help"]).collect();
    let help = bench.mayfly(".", arguments).succeeds().out;
    let mut commands = Vec::new();
    let mut flags = BTreeSet::new();
    let mut lists_commands = false;
    for line in help.lines() {
        if !line.starts_with(' ') {
            lists_commands = line == "Commands:";
        }
        let word = line.split_whitespace().next().unwrap_or_default();
        if lists_commands && line.starts_with("  ") && !line.starts_with("   ") {
            commands.push(word.to_owned());
        }
        let flag = line.split_whitespace().find_map(|it| it.strip_prefix("--"));
        if let (false, Some(flag)) = (lists_commands, flag.filter(|_| word.starts_with('-'))) {
            flags.insert(flag.split(['[', '=']).next().unwrap_or_default().to_owned());
        }
    }
    found.push((path.join(" "), flags));
    for command in commands.iter().filter(|it| *it != "help") {
        known_to_help(bench, &[path, &[command.as_str()]].concat(), found);
    }
}

#[test]
fn secret_gate_covers_every_command_and_flag() {
    let mut found = Vec::new();
    known_to_help(&Bench::new(), &[], &mut found);
    assert!(found.len() > 15, "the help lists commands: {found:?}");
    let used: BTreeSet<String> = ROWS.iter().map(|it| it.command().join(" ")).collect();
    // A command group is not a command.
    let is_group = |name: &str| found.iter().any(|(it, _)| it.starts_with(&format!("{name} ")));
    let commands = found.iter().map(|(name, _)| name);
    let missing: Vec<&String> = commands
        .filter(|name| !name.is_empty() && !is_group(name) && !used.contains(*name))
        .collect();
    assert!(missing.is_empty(), "no row of the gate runs: {missing:?}");
    let words = ROWS.iter().flat_map(|it| it.arguments);
    let mut used: BTreeSet<&str> = words
        .filter_map(|it| it.strip_prefix('-'))
        .map(|it| it.split('=').next().unwrap_or_default())
        .collect();
    // Every row has these flags.
    used.extend(["var", "var-file"]);
    let flags: BTreeSet<&String> = found.iter().flat_map(|(_, flags)| flags).collect();
    assert!(flags.len() > 30, "the help lists flags: {flags:?}");
    let missing: Vec<&&String> = flags.iter().filter(|it| !used.contains(it.as_str())).collect();
    assert!(missing.is_empty(), "no row of the gate gives: {missing:?}");
}

/// Invalid command lines with a secret. `SECRET` is one with spaces and quotes, `WORD` one that consists of
/// letters.
const MISTYPED: &[&[&str]] = &[
    &["WORD"],
    &["-WORD"],
    &["state", "WORD"],
    &["providers", "WORD"],
    &["metadata", "WORD"],
    &["plan", "SECRET"],
    &["plan", "-WORD"],
    &["plan", "-var", "SECRET"],
    &["plan", "-var", "WORD"],
    &["plan", "-var=WORD="],
    &["plan", "-var=WORD=="],
    &["plan", "-var=SECRET=x"],
    &["plan", "-var", "from_flag=a", "SECRET"],
    &["plan", "-vars=from_flag=SECRET"],
    &["plan", "-var=structured=SECRET"],
    &["plan", "-var=structured={ inner = WORD }"],
    &["plan", "-var=structured={ WORD = 1 }"],
    &["plan", "-var=secrets_version=SECRET"],
    &["plan", "-parallelism=WORD"],
    &["plan", "-input=WORD"],
    &["plan", "-lock-timeout=WORD"],
    &["init", "-backend-config=SECRET"],
    &["init", "-backend-config=SECRET=x"],
    &["init", "-backend-config", "WORD"],
    &["apply", "plan.bin", "SECRET"],
    &["validate", "SECRET"],
    &["console", "SECRET"],
    &["version", "SECRET"],
    &["lsp", "SECRET"],
    &["state", "list", "-id=WORD"],
    &["state", "push", "WORD", "SECRET"],
    &["workspace", "WORD"],
    &["workspace", "select", "default", "SECRET"],
    &["state", "list", "-state=a", "-WORD"],
];

#[test]
fn invalid_command_line_is_not_quoted() {
    let mut everywhere = Everywhere::new();
    let (secret, word) = (everywhere.canaries.add("typed"), everywhere.canaries.add_word("word"));
    let told = |text: &str| text.replace("SECRET", &secret).replace("WORD", &word);
    for arguments in MISTYPED {
        let arguments: Vec<String> = arguments.iter().map(|it| told(it)).collect();
        let run = everywhere.bench.mayfly("everywhere", &arguments).env("TF_LOG", "TRACE");
        let ended = run.input("").end();
        assert_ne!(ended.code, 0, "{arguments:?}:\n{}", ended.printed());
        everywhere.canaries.assert_not_printed(&ended);
        ended.shows(&["Error: "]);
    }
    for (name, value) in [
        ("TF_CLI_ARGS", "-var 'from_flag=SECRET"),
        ("TF_CLI_ARGS_plan", "-vars=SECRET"),
        ("TF_VAR_structured", "SECRET"),
        ("TF_VAR_structured", "{ WORD = [1, }"),
        ("TF_VAR_secrets_version", "SECRET"),
    ] {
        let run = everywhere.without_flags(&["plan", "-input=false"]).env(name, told(value));
        let ended = run.fails();
        everywhere.canaries.assert_not_printed(&ended);
        ended.shows(&["Error: "]);
    }
    everywhere.canaries.assert_not_written(&everywhere.bench);
}

/// A folder of `examples/`, and its secrets.
struct Example {
    folder: &'static str,
    /// An expression for a secret that a provider returns in a run.
    opens: Option<&'static str>,
    /// Variables for secrets that are not ephemeral, as in the RFC. A saved plan contains them.
    values: &'static [&'static str],
}

const EXAMPLES: &[Example] = &[
    Example {
        folder: "lease",
        opens: Some("ephemeral.playground_lease.example.data[\"auth_token\"]"),
        values: &[],
    },
    Example {
        folder: "tunnel",
        opens: Some("ephemeral.playground_tunnel.example.local_address"),
        values: &[],
    },
    Example { folder: "secrets/store", opens: None, values: &["access_key", "secret_key"] },
    // Runs in the folder of the previous example, with the objects that it stored.
    Example {
        folder: "secrets/read",
        opens: Some("jsonencode(module.secret_management.secrets)"),
        values: &[],
    },
];

/// Modules of examples, examples that need an AWS account, and one that needs a server, which `restful` runs.
const NOT_RUN: &[&str] = &[
    "lambda-aws",
    "lambda-aws/function",
    "restful",
    "secrets/mod",
    "secrets-aws/mod",
    "secrets-aws/read",
    "secrets-aws/store",
];

fn folders_with_configurations(directory: &Path, root: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).expect("can be listed").flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() && !name.to_string_lossy().starts_with('.') {
            folders_with_configurations(&path, root, found);
        } else if path.extension().is_some_and(|it| it == "tf") {
            let folder = directory.strip_prefix(root).expect("lies below");
            found.insert(folder.display().to_string());
        }
    }
}

#[test]
fn secret_gate_covers_every_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut found = BTreeSet::new();
    folders_with_configurations(&root, &root, &mut found);
    let known = EXAMPLES.iter().map(|it| it.folder).chain(NOT_RUN.iter().copied());
    assert_eq!(found, known.map(str::to_owned).collect(), "a row of the gate is for each example");
}

/// Runs the commands of an example, with logs at level TRACE in a file.
fn check_example(bench: &Bench, example: &Example, canaries: &mut Canaries, values: &[String]) {
    let outside = tempfile::tempdir().expect("a directory can be made");
    let told = outside.path().join("told");
    if let Some(opens) = example.opens {
        let learning = format!(
            "resource \"terraform_data\" \"learning\" {{\n  provisioner \"local-exec\" {{\n    \
             command     = \"printf '%s' \\\"$TOLD\\\" > '{}'\"\n    environment = {{ TOLD = {opens} }}\n  }}\n}}\n",
            told.display()
        );
        bench.write(&format!("{}/learning.tf", example.folder), &learning);
    }
    let commands: &[&[&str]] = match example.values {
        [] => &[
            &["validate", "-json"],
            &["plan", "-out=plan.bin"],
            &["show", "-json", "plan.bin"],
            &["apply", "plan.bin"],
            &["show", "-json"],
            &["plan", "-json"],
            &["destroy", "-auto-approve"],
        ],
        // The next example reads the stored objects.
        _ => &[&["plan"], &["apply", "-auto-approve", "-json"], &["show", "-json"]],
    };
    let run = |arguments: &&[&str]| {
        let takes_values = match arguments[0] {
            "plan" | "destroy" => true,
            _ => arguments.contains(&"-auto-approve"),
        };
        let values = if takes_values { values } else { &[] };
        let arguments = arguments.iter().map(|it| (*it).to_owned()).chain(values.iter().cloned());
        let run = bench.mayfly(example.folder, arguments).env("TF_LOG", "TRACE");
        run.env("TF_LOG_PATH", bench.path("trace.log")).succeeds()
    };
    let all: Vec<Ended> = commands.iter().map(run).collect();
    if example.opens.is_some() {
        canaries.know(example.folder, &fs::read_to_string(&told).expect("was told"));
    }
    all.iter().for_each(|ended| canaries.assert_not_printed(ended));
    canaries.assert_not_written(bench);
    assert!(bench.path("trace.log").is_file(), "the log is kept");
}

#[test]
fn no_example_prints_or_writes_a_secret() {
    for name in ["lease", "tunnel"] {
        let example = EXAMPLES.iter().find(|it| it.folder == name).expect("is there");
        check_example(&Bench::with_example(name), example, &mut Canaries::new(), &[]);
    }
    let bench = Bench::with_example("secrets");
    let mut canaries = Canaries::new();
    let mut values = Vec::new();
    for example in EXAMPLES.iter().filter(|it| it.folder.starts_with("secrets/")) {
        let given = example.values.iter().map(|it| format!("-var={it}={}", canaries.add(it)));
        values.extend(given);
        check_example(&bench, example, &mut canaries, &values);
        let arn =
            bench.mayfly("secrets/store", ["output", "-raw", "secret_manager_arn"]).succeeds();
        values = vec![format!("-var=secret_manager_arn={}", arn.out)];
    }
}

#[test]
fn crash_message_has_a_location_and_no_value() {
    for point in ["answered", "ended"] {
        let everywhere = Everywhere::new();
        let run = everywhere
            .run(&["apply", "-auto-approve"], "")
            .env("MAYFLY_FAILPOINT", point)
            .env("MAYFLY_FAILPOINT_PANIC", &everywhere.flag)
            .env("RUST_BACKTRACE", "full");
        let ended = everywhere.check(run.end());
        assert_ne!(ended.code, 0, "{point}: {}", ended.printed());
        ended.shows(&["Mayfly crashed at crates/durability/src/failpoint.rs:"]);
        everywhere.bench.assert_no_orphans("everywhere");
    }
}
