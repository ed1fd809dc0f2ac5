//! The commands of `workspace`, compared with the real `tofu` where it is available.

use std::fs;

use crate::{
    bench::Bench,
    tofu::{Program, both_streams, programs, words},
};

const MAIN: &str = r#"
resource "terraform_data" "a" {
  input = [terraform.workspace, tofu.workspace]
}
output "o" {
  value = terraform_data.a.output[0]
}
"#;

const CREATED: &str = "You're now on a new, empty workspace. Workspaces isolate their state, so if \
                       you run \"mayfly plan\" Mayfly will not see any existing state for this configuration.";

/// A command with its exit code and the words of both streams.
fn check(program: &Program, bench: &Bench, command: &str, code: i32, out: &str, err: &str) {
    let ended = program.run(bench, ".", command.split(' ')).end();
    assert_eq!(ended.code, code, "{} {command}: {}", program.name(), ended.printed());
    let expected = (out.to_owned(), err.to_owned());
    assert_eq!(both_streams(&ended), expected, "{} {command}", program.name());
}

#[test]
fn workspaces_are_created_selected_listed_and_deleted() {
    for program in programs() {
        let bench = Bench::with_main(MAIN);
        program.run(&bench, ".", ["init"]).succeeds();
        let check = |command: &str, code: i32, out: &str, err: &str| {
            check(&program, &bench, command, code, out, err);
        };
        let missing = |name: &str| {
            format!(
                "Error: Workspace {name:?} doesn't exist You can create this workspace with the \
                 \"new\" subcommand or include the \"-or-create\" flag with the \"select\" subcommand."
            )
        };
        let invalid = "Error: Invalid workspace name The workspace name \"x/y\" is not allowed. The \
                       name must contain only URL safe characters, and no path separators.";
        check("workspace list", 0, "* default", "");
        check("workspace show", 0, "default", "");
        check(
            "workspace new a",
            0,
            &format!("Created and switched to workspace \"a\"! {CREATED}"),
            "",
        );
        assert_eq!(bench.read(".terraform/environment"), b"a", "{}", program.name());
        assert!(bench.path("terraform.tfstate.d/a").is_dir(), "{}", program.name());
        check("workspace new x/y", 1, "", invalid);
        check("workspace select x/y", 1, "", invalid);
        check("workspace list", 0, "default * a", "");
        check("workspace select a", 0, "", "");
        check("workspace select nope", 1, "", &missing("nope"));
        check("workspace delete nope", 1, "", &missing("nope"));
        check("workspace select default", 0, "Switched to workspace \"default\".", "");
        check("workspace delete a", 0, "Deleted workspace \"a\"!", "");
        assert!(!bench.path("terraform.tfstate.d/a").exists(), "{}", program.name());
        check(
            "workspace select -or-create b",
            0,
            &format!("Created and switched to workspace \"b\"! {CREATED}"),
            "",
        );
        let active = "Error: Workspace \"b\" is your active workspace You cannot delete the \
                      currently active workspace. Please switch to another workspace and try again.";
        check("workspace delete -force b", 1, "", active);
        let shown = words(&program.run(&bench, ".", ["workspace", "new", "b"]).fails().err);
        assert!(shown.starts_with("Error: Workspace \"b\" already exists"), "{shown}");
        let json = program.run(&bench, ".", ["workspace", "list", "-json"]).succeeds().json_lines();
        assert_eq!(json[1]["type"], "workspace_list");
        assert_eq!(json[1]["current_workspace"], "b");
        assert_eq!(json[1]["workspaces"], serde_json::json!(["default", "b"]));
    }
}

#[test]
fn each_workspace_has_its_own_state() {
    for program in programs() {
        let bench = Bench::with_main(MAIN);
        let run = |arguments: &[&str]| program.run(&bench, ".", arguments);
        run(&["init"]).succeeds();
        run(&["workspace", "new", "a"]).succeeds();
        run(&["apply", "-auto-approve"]).succeeds().shows(&["o = \"a\""]);
        assert!(bench.path("terraform.tfstate.d/a/terraform.tfstate").exists());
        run(&["workspace", "select", "default"]).succeeds();
        run(&["state", "list"]).fails();
        run(&["output", "-raw", "o"]).env("TF_WORKSPACE", "a").succeeds().shows(&["a"]);
        let refused = run(&["workspace", "delete", "a"]).fails();
        refused.shows(&["Error: Workspace is not empty", "- terraform_data.a"]);
        let forced = run(&["workspace", "delete", "-force", "a"]).succeeds();
        forced.shows(&["Deleted workspace \"a\"!", "Warning: \"a\" was non-empty"]);
        assert!(!bench.path("terraform.tfstate.d/a").exists(), "{}", program.name());
    }
}

#[test]
fn environment_variable_overrides_the_selection() {
    for program in programs() {
        let bench = Bench::with_main(MAIN);
        let run = |arguments: &[&str]| program.run(&bench, ".", arguments).env("TF_WORKSPACE", "q");
        program.run(&bench, ".", ["init"]).succeeds();
        program.run(&bench, ".", ["workspace", "new", "a"]).succeeds();
        let listed = run(&["workspace", "list"]).succeeds();
        assert_eq!(
            words(&listed.out),
            "default a The active workspace is being overridden using the TF_WORKSPACE environment variable.",
            "{}",
            program.name()
        );
        assert_eq!(run(&["workspace", "show"]).succeeds().out, "q\n");
        run(&["workspace", "select", "a"]).fails().shows(&["is overridden using the TF_WORKSPACE"]);
        run(&["workspace", "new", "b"]).fails().shows(&["is overridden using the TF_WORKSPACE"]);
        run(&["workspace", "new", "q"]).succeeds();
        run(&["workspace", "delete", "a"]).succeeds();
    }
}

#[test]
fn old_name_of_the_command_warns() {
    for program in programs() {
        let bench = Bench::with_main(MAIN);
        program.run(&bench, ".", ["init"]).succeeds();
        let listed = program.run(&bench, ".", ["env", "list"]).succeeds();
        let (out, _) = both_streams(&listed);
        assert!(
            out.starts_with("Warning: The \"mayfly env\" family of commands is deprecated")
                && out.ends_with("* default"),
            "{}: {out}",
            program.name()
        );
        program.run(&bench, ".", ["env", "new", "e"]).succeeds();
        program.run(&bench, ".", ["env", "select", "default"]).succeeds();
        program.run(&bench, ".", ["env", "delete", "e"]).succeeds();
    }
}

#[test]
fn workspace_begins_with_a_given_state() {
    let bench = Bench::with_main(MAIN);
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    let before = bench.state(".");
    bench.mayfly(".", ["workspace", "new", "-state=nowhere", "a"]).fails();
    assert!(!bench.path("terraform.tfstate.d").exists(), "nothing is created");
    bench.mayfly(".", ["workspace", "new", "-state=terraform.tfstate", "a"]).succeeds();
    let path = bench.path("terraform.tfstate.d/a/terraform.tfstate");
    let after: serde_json::Value =
        serde_json::from_slice(&fs::read(path).expect("is written")).expect("is a state");
    assert_eq!(after["resources"], before["resources"]);
    assert_ne!(after["lineage"], before["lineage"], "it is another state");
}
