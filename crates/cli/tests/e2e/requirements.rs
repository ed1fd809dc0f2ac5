//! `get`, `providers` and `show -config`, compared with the real `tofu` where it is available.

use crate::{
    bench::Bench,
    tofu::{programs, words},
};

const MAIN: &str = r#"
resource "terraform_data" "a" {
  input = "x"
}
module "m" {
  source = "./m"
}
"#;

fn bench() -> Bench {
    let bench = Bench::with_main(MAIN);
    bench.write("m/main.tf", "resource \"terraform_data\" \"b\" {\n  count = 2\n}\n");
    bench
}

#[test]
fn get_installs_modules_only() {
    for program in programs() {
        let bench = bench();
        let name = program.name();
        let ended = program.run(&bench, ".", ["get"]).succeeds();
        assert_eq!(ended.out, "- m in m\n", "{name}");
        assert!(bench.path(".terraform/modules/modules.json").exists(), "{name}");
        assert!(!bench.path(".terraform.lock.hcl").exists(), "{name}");
        assert_eq!(program.run(&bench, ".", ["get"]).succeeds().out, "", "{name}");
        assert_eq!(program.run(&bench, ".", ["get", "-update"]).succeeds().out, "- m in m\n");
        let lines = program.run(&bench, ".", ["get", "-update", "-json"]).succeeds().json_lines();
        assert_eq!(lines[1]["@message"], "installing m in m", "{name}");
    }
}

#[test]
fn providers_are_shown_as_a_tree_of_modules() {
    for program in programs() {
        let bench = bench();
        program.run(&bench, ".", ["init"]).succeeds();
        let configured = "Providers required by configuration: . ├── \
                          provider[terraform.io/builtin/terraform] └── module.m └── \
                          provider[terraform.io/builtin/terraform]";
        let shown = || words(&program.run(&bench, ".", ["providers"]).succeeds().out);
        assert_eq!(shown(), configured, "{}", program.name());
        program.run(&bench, ".", ["apply", "-auto-approve"]).succeeds();
        let with_state = format!(
            "{configured} Providers required by state: provider[terraform.io/builtin/terraform]"
        );
        assert_eq!(shown(), with_state, "{}", program.name());
    }
}

#[test]
fn show_selects_state_plan_or_configuration_by_flag() {
    for program in programs() {
        let bench = bench();
        let name = program.name();
        let run = |arguments: &[&str]| program.run(&bench, ".", arguments);
        run(&["init"]).succeeds();
        run(&["apply", "-auto-approve"]).succeeds();
        run(&["plan", "-destroy", "-out=p"]).succeeds();
        assert_eq!(run(&["show", "-state"]).succeeds().out, run(&["show"]).succeeds().out);
        assert_eq!(run(&["show", "-plan=p"]).succeeds().out, run(&["show", "p"]).succeeds().out);
        let configuration = run(&["show", "-config", "-json"]).succeeds().json();
        let of_plan = run(&["show", "-json", "p"]).succeeds().json()["configuration"].clone();
        assert_eq!(configuration, of_plan, "{name}");
        assert_eq!(configuration["root_module"]["resources"][0]["address"], "terraform_data.a");
        run(&["show", "-config"]).fails().shows(&["requires -json to be specified"]);
        run(&["show", "-config", "-state", "-json"]).fails();
        run(&["show", "-state", "p"]).fails();
    }
}
