//! `state list`, `state show`, and the summary after a destruction, compared with the real `tofu` where it is
//! available.

use crate::{
    bench::Bench,
    tofu::{Program, both_streams, programs, words},
};

const MAIN: &str = r#"
resource "terraform_data" "a" {
  input = "x"
}
module "m" {
  source = "./m"
}
module "k" {
  source   = "./m"
  for_each = toset(["x"])
}
output "o" {
  value = "v"
}
"#;

fn bench(program: &Program) -> Bench {
    let bench = Bench::with_main(MAIN);
    bench.write("m/main.tf", "resource \"terraform_data\" \"b\" {\n  count = 2\n}\n");
    program.run(&bench, ".", ["init"]).succeeds();
    bench
}

fn apply(program: &Program, bench: &Bench) {
    program.run(bench, ".", ["apply", "-auto-approve"]).succeeds();
}

fn unknown_resource(address: &str) -> String {
    format!(
        "Error: Unknown resource The current state contains no resource {address}. If you've just \
         added this resource to the configuration, you must run \"mayfly apply\" first to create \
         the resource's entry in the state."
    )
}

fn unknown_instance(address: &str) -> String {
    format!(
        "Error: Unknown resource instance The current state contains no resource instance \
         {address}. If you've just added its resource to the configuration or have changed the \
         count or for_each arguments, you must run \"mayfly apply\" first to update the resource's entry in the state."
    )
}

fn unknown_module(address: &str) -> String {
    format!(
        "Error: Unknown module The current state contains no module at {address}. If you've just \
         added this module to the configuration, you must run \"mayfly apply\" first to create the \
         module's entry in the state."
    )
}

const ONE_INSTANCE: &str = "This command requires that the address references one specific \
                            instance. To view the available instances, use \"mayfly state list\". \
                            Please modify the address to reference a specific instance.";

const NO_STATE: &str = "Error: No state file was found State management commands require a state \
                        file. Run this command in a directory where Mayfly has been run or use the \
                        -state flag to point the command to a specific state location.";

#[test]
fn state_commands_select_by_address_or_fail() {
    for program in programs() {
        let bench = bench(&program);
        apply(&program, &bench);
        bench.write(
            "empty.tfstate",
            r#"{"version":4,"terraform_version":"1.12.0","serial":1,"lineage":"l","outputs":{},"resources":[]}"#,
        );
        let of_m = "module.m.terraform_data.b[0] module.m.terraform_data.b[1]";
        let of_k = "module.k[\"x\"].terraform_data.b[0] module.k[\"x\"].terraform_data.b[1]";
        let all = format!("terraform_data.a {of_k} {of_m}");
        let found: &[(&[&str], &str)] = &[
            (&["list"], &all),
            (&["list", "-id="], &all),
            (&["list", "-id=nothing"], ""),
            (&["list", "terraform_data.a"], "terraform_data.a"),
            (&["list", "module.m"], of_m),
            (&["list", "module.k"], of_k),
            (&["list", "module.k[\"x\"]"], of_k),
            (&["list", "module.m.terraform_data.b"], of_m),
            (&["list", "module.m.terraform_data.b[1]"], "module.m.terraform_data.b[1]"),
            (
                &["list", "module.m", "terraform_data.a", "module.m"],
                &format!("{of_m} terraform_data.a {of_m}"),
            ),
            (&["list", "-state=empty.tfstate"], ""),
        ];
        for (arguments, expected) in found {
            let ended = program.run(&bench, ".", [&["state"], *arguments].concat()).succeeds();
            let expected = ((*expected).to_owned(), String::new());
            assert_eq!(both_streams(&ended), expected, "{} {arguments:?}", program.name());
        }
        let not_found = format!("Error: No instance found for the given address {ONE_INSTANCE}");
        let no_address =
            |text: &str| format!("Error: Error parsing instance address {text:?} {ONE_INSTANCE}");
        let failures: &[(&[&str], String)] = &[
            (&["list", "terraform_data.zz"], unknown_resource("terraform_data.zz")),
            (&["list", "module.k.terraform_data.b"], unknown_resource("module.k.terraform_data.b")),
            (&["list", "-state=empty.tfstate", "a.b"], unknown_resource("a.b")),
            (&["list", "module.zz"], unknown_module("module.zz")),
            (&["list", "module.m[0]"], unknown_module("module.m[0]")),
            (&["list", "terraform_data.a[\"x\"]"], unknown_instance("terraform_data.a[\"x\"]")),
            (
                &["list", "module.m.terraform_data.b[7]"],
                unknown_instance("module.m.terraform_data.b[7]"),
            ),
            (
                &["list", "terraform_data.a", "terraform_data.zz", "module.yy"],
                format!(
                    "{} {}",
                    unknown_resource("terraform_data.zz"),
                    unknown_module("module.yy")
                ),
            ),
            (&["list", "-state=nowhere"], NO_STATE.to_owned()),
            (&["list", "-state=nowhere", "terraform_data.a"], NO_STATE.to_owned()),
            (&["show", "terraform_data.zz"], not_found.clone()),
            (&["show", "terraform_data.a[0]"], not_found.clone()),
            (&["show", "module.m.terraform_data.b"], not_found.clone()),
            (&["show", "-state=empty.tfstate", "a.b"], not_found),
            (&["show", "module.m"], no_address("module.m")),
            (&["show", "!!"], no_address("!!")),
            (&["show", "-state=nowhere", "terraform_data.a"], NO_STATE.to_owned()),
            (&["show", "-state=nowhere", "module.m"], no_address("module.m")),
        ];
        for (arguments, expected) in failures {
            let ended = program.run(&bench, ".", [&["state"], *arguments].concat()).fails();
            let expected = (String::new(), expected.clone());
            assert_eq!(both_streams(&ended), expected, "{} {arguments:?}", program.name());
        }
        for (text, summary) in [
            ("!!", "Error: Variable name required"),
            ("", "Error: Variable name required"),
            ("terraform_data", "Error: Invalid address"),
        ] {
            let ended = program.run(&bench, ".", ["state", "list", text]).fails();
            let (out, err) = both_streams(&ended);
            assert!(
                out.is_empty() && err.starts_with(summary),
                "{} {text:?}: {err}",
                program.name()
            );
        }
    }
}

#[test]
fn state_commands_fail_without_a_state() {
    for program in programs() {
        let bench = Bench::new();
        for arguments in
            [&["state", "list"][..], &["state", "list", "a.b"], &["state", "show", "a.b"]]
        {
            let ended = program.run(&bench, ".", arguments).fails();
            assert_eq!(words(&ended.err), NO_STATE, "{} {arguments:?}", program.name());
        }
    }
}

/// `destroy` prints a different summary than the other ways to destroy, which are applies.
#[test]
fn only_the_destroy_command_prints_destroy_complete() {
    const APPLIED: &str = "Apply complete! Resources: 0 added, 0 changed, 5 destroyed.";
    const DESTROYED: &str = "Destroy complete! Resources: 5 destroyed.";
    for program in programs() {
        let bench = bench(&program);
        let ways: &[(&[&str], &str, &str)] = &[
            (&["apply", "-destroy", "-auto-approve"], APPLIED, "apply"),
            (&["destroy", "-auto-approve"], DESTROYED, "destroy"),
            (&["apply", "saved.plan"], APPLIED, "apply"),
            (&["apply", "-destroy", "saved.plan"], APPLIED, "apply"),
        ];
        for (arguments, expected, operation) in ways {
            for json in [false, true] {
                apply(&program, &bench);
                program.run(&bench, ".", ["plan", "-destroy", "-out=saved.plan"]).succeeds();
                let at = format!("{} {arguments:?} {json}", program.name());
                let mut arguments = arguments.to_vec();
                if !json {
                    let ended = program.run(&bench, ".", &arguments).succeeds();
                    assert_eq!(ended.out.trim_end().lines().last(), Some(*expected), "{at}");
                    continue;
                }
                arguments.insert(1, "-json");
                let lines = program.run(&bench, ".", &arguments).succeeds().json_lines();
                let last =
                    lines.iter().rfind(|it| it["type"] == "change_summary").expect("is there");
                assert_eq!(last["@message"], *expected, "{at}");
                assert_eq!(last["changes"]["operation"], *operation, "{at}");
                assert_eq!(last["changes"]["remove"], 5, "{at}");
            }
        }
        let ended = program.run(&bench, ".", ["destroy", "saved.plan"]).fails();
        let expected = "Error: Destroy can't be called with a plan file If this plan was created \
                        using plan -destroy, apply it using: mayfly apply \"saved.plan\"";
        assert_eq!(words(&ended.err), expected, "{}", program.name());
        for (arguments, expected) in [
            (["apply", "-destroy"], "Destroy cancelled."),
            (["destroy", "-lock=true"], "Destroy cancelled."),
            (["apply", "-lock=true"], "Apply cancelled."),
        ] {
            if expected.starts_with("Destroy") {
                apply(&program, &bench);
            } else {
                program.run(&bench, ".", ["destroy", "-auto-approve"]).succeeds();
            }
            let ended = program.run(&bench, ".", arguments).input("no\n").fails();
            assert_eq!(ended.out.trim_end().lines().last(), Some(expected), "{}", program.name());
        }
    }
}
