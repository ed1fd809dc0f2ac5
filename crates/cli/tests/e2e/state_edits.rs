//! `taint`, `untaint` and the commands of `state` that change the state, compared with the real `tofu` where it is
//! available.

use std::fs;

use crate::{
    bench::Bench,
    tofu::{Program, both_streams, programs, words},
};

const MAIN: &str = r#"
resource "terraform_data" "a" {
  input = "x"
}
resource "terraform_data" "b" {
  count = 2
  input = terraform_data.a.output
}
module "m" {
  source = "./m"
  in     = terraform_data.b[0].output
}
output "o" {
  value = terraform_data.a.output
}
"#;

const MODULE: &str = r#"
variable "in" {}
resource "terraform_data" "c" {
  for_each = toset(["x", "y"])
  input    = var.in
}
"#;

/// A directory with an applied configuration.
fn applied(program: &Program) -> Bench {
    let bench = Bench::with_main(MAIN);
    bench.write("m/main.tf", MODULE);
    program.run(&bench, ".", ["init"]).succeeds();
    program.run(&bench, ".", ["apply", "-auto-approve"]).succeeds();
    bench
}

/// A command, the words that it prints, and the addresses that are in the state afterwards.
type Step<'a> = (&'a [&'a str], &'a str, &'a [&'a str]);

fn addresses(program: &Program, bench: &Bench) -> Vec<String> {
    let ended = program.run(bench, ".", ["state", "list"]).succeeds();
    ended.out.lines().map(str::to_owned).collect()
}

/// The files in the directory whose name has this part.
fn files(bench: &Bench, part: &str) -> Vec<String> {
    let entries = fs::read_dir(bench.path(".")).expect("is a directory");
    let names = entries.map(|it| it.expect("is there").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|it| it.contains(part)).collect();
    names.sort();
    names
}

fn serial(bench: &Bench) -> u64 {
    bench.state(".")["serial"].as_u64().expect("is a number")
}

#[test]
fn taint_and_untaint_change_the_status_of_one_object() {
    for program in programs() {
        let bench = applied(&program);
        let name = program.name();
        let run = |arguments: &[&str]| program.run(&bench, ".", arguments);
        let before = serial(&bench);
        let ended = run(&["taint", "terraform_data.a"]).succeeds();
        let marked = "Resource instance terraform_data.a has been marked as tainted.";
        assert_eq!(both_streams(&ended), (marked.to_owned(), String::new()), "{name}");
        assert_eq!(bench.state(".")["resources"][0]["instances"][0]["status"], "tainted");
        assert_eq!(serial(&bench), before + 1);
        assert_eq!(files(&bench, "backup"), ["terraform.tfstate.backup"]);
        // A second mark changes nothing, so the state is not written.
        run(&["taint", "terraform_data.a"]).succeeds();
        assert_eq!(serial(&bench), before + 1, "{name}");
        run(&["plan"]).succeeds().shows(&["is tainted, so it must be replaced"]);
        let lines = run(&["untaint", "-json", "terraform_data.a"]).succeeds().json_lines();
        let message = "Resource instance terraform_data.a has been successfully untainted.";
        assert_eq!(lines[0]["type"], "version", "{name}");
        assert_eq!(lines[1]["@message"], message, "{name}");
        assert_eq!(lines.len(), 2, "{name}: {lines:?}");
        run(&["plan", "-detailed-exitcode"]).succeeds();
        let ended = run(&["untaint", "terraform_data.a"]).fails();
        ended.shows(&["Error: Resource instance is not tainted"]);
        let ended = run(&["taint", "terraform_data.b"]).fails();
        ended.shows(&["Error: No such resource instance", "with the address"]);
        let ended = run(&["taint", "-allow-missing", "terraform_data.b[7]"]).succeeds();
        ended.shows(&["Warning: No such resource instance", "-allow-missing was set"]);
        run(&["taint", "data.local_file.f"]).fails().shows(&["Error: Invalid resource address"]);
    }
}

#[test]
fn removed_instances_stay_in_a_backup() {
    for program in programs() {
        let bench = applied(&program);
        let all = addresses(&program, &bench);
        let of_m = "module.m.terraform_data.c[\"x\"] module.m.terraform_data.c[\"y\"]";
        let (x, y) = of_m.split_once(' ').expect("there are two");
        let steps: &[Step<'_>] = &[
            (
                &["rm", "-dry-run", "module.m", "terraform_data.nope"],
                &format!("Would remove {x} Would remove {y}"),
                &["terraform_data.a", "terraform_data.b[0]", "terraform_data.b[1]", x, y],
            ),
            (
                &["rm", "terraform_data.b[0]", "module.m"],
                &format!(
                    "Removed terraform_data.b[0] Removed {x} Removed {y} Successfully removed 3 \
                     resource instance(s)."
                ),
                &["terraform_data.a", "terraform_data.b[1]"],
            ),
            (
                &["remove", "-backup=mine", "terraform_data.a", "terraform_data.b"],
                "Removed terraform_data.a Removed terraform_data.b[1] Successfully removed 2 \
                 resource instance(s).",
                &[],
            ),
        ];
        assert_eq!(all.len(), 5);
        for (arguments, printed, left) in steps {
            let ended = program.run(&bench, ".", [&["state"], *arguments].concat()).succeeds();
            let expected = ((*printed).to_owned(), String::new());
            assert_eq!(both_streams(&ended), expected, "{} {arguments:?}", program.name());
            assert_eq!(addresses(&program, &bench), *left, "{} {arguments:?}", program.name());
        }
        let backups = files(&bench, ".backup");
        assert_eq!(backups.len(), 1, "{backups:?}");
        let before: serde_json::Value =
            serde_json::from_slice(&bench.read(&backups[0])).expect("is a state");
        assert_eq!(before["resources"].as_array().map(Vec::len), Some(3));
        assert!(bench.path("mine").exists());
        let ended = program.run(&bench, ".", ["state", "rm", "terraform_data.a"]).fails();
        assert_eq!(
            words(&ended.err),
            "Error: Invalid target address No matching objects found. To view the available \
             instances, use \"mayfly state list\". Please modify the address to reference a \
             specific instance."
        );
    }
}

#[test]
fn modules_resources_and_instances_move() {
    for program in programs() {
        let bench = applied(&program);
        let moves: &[(&str, &str, Result<&str, &str>)] = &[
            ("terraform_data.a", "terraform_data.z", Ok("terraform_data.z")),
            ("terraform_data.b", "terraform_data.y", Ok("terraform_data.y[1]")),
            ("terraform_data.z", "terraform_data.y[5]", Ok("terraform_data.y[5]")),
            ("terraform_data.y", "terraform_data.w[5]", Err("so the target must also be a whole")),
            (
                "terraform_data.y[0]",
                "terraform_data.y[1]",
                Err("there is already a resource instance"),
            ),
            (
                "module.m",
                "module.n[3].module.p",
                Ok("module.n[3].module.p.terraform_data.c[\"x\"]"),
            ),
            ("module.n", "module.x", Err("does not match anything in the current state")),
            ("module.n[3].module.p", "module.x", Ok("module.x.terraform_data.c[\"y\"]")),
            ("module.x", "module.x", Err("Destination module already exists")),
            ("module.x.terraform_data.c[\"x\"]", "terraform_data.c", Ok("terraform_data.c")),
            ("terraform_data.c", "local_file.c", Err("resource types don't match")),
            ("terraform_data.c", "data.terraform_data.c", Err("another managed resource address")),
            ("terraform_data.c", "module.c", Err("the target must also be a resource instance")),
            ("module.x", "terraform_data.c", Err("the target must also be a module")),
            ("terraform_data.y", "terraform_data.c", Err("there is already a resource at that")),
            ("terraform_data.nope", "terraform_data.o", Err("Invalid source address")),
        ];
        for (from, to, expected) in moves {
            let before = bench.read("terraform.tfstate");
            let run = program.run(&bench, ".", ["state", "mv", from, to]);
            match expected {
                Ok(address) => {
                    let printed =
                        format!("Move {from:?} to {to:?}\nSuccessfully moved 1 object(s).\n");
                    assert_eq!(run.succeeds().out, printed, "{}", program.name());
                    let found = addresses(&program, &bench);
                    assert!(found.contains(&(*address).to_owned()), "{to}: {found:?}");
                }
                Err(reason) => {
                    let ended = run.fails();
                    let shown = words(&ended.err);
                    assert!(shown.contains(reason), "{} {from} {to}: {shown}", program.name());
                    assert_eq!(bench.read("terraform.tfstate"), before, "{from} {to}");
                }
            }
        }
        // Objects that depend on a moved one forget their dependencies.
        let state = bench.state(".").to_string();
        assert!(!state.contains("\"dependencies\""), "{}: {state}", program.name());
    }
}

#[test]
fn objects_move_to_another_state() {
    for program in programs() {
        let bench = applied(&program);
        let mv = |arguments: &[&str]| {
            program.run(
                &bench,
                ".",
                [&["state", "mv", "-state-out=other.tfstate"], arguments].concat(),
            )
        };
        mv(&["-dry-run", "terraform_data.a", "terraform_data.o"]).succeeds();
        assert!(!bench.path("other.tfstate").exists(), "{}", program.name());
        mv(&["terraform_data.a", "terraform_data.o"]).succeeds();
        let other = || -> serde_json::Value {
            serde_json::from_slice(&bench.read("other.tfstate")).expect("is a state")
        };
        assert_eq!(other()["serial"], 1);
        assert_eq!(other()["resources"][0]["name"], "o");
        assert!(!addresses(&program, &bench).contains(&"terraform_data.a".to_owned()));
        mv(&["terraform_data.b", "terraform_data.o"]).fails();
        mv(&["-backup=b1", "-backup-out=b2", "terraform_data.b", "terraform_data.p"]).succeeds();
        assert!(bench.path("b1").exists() && bench.path("b2").exists(), "{}", program.name());
        assert_eq!(other()["serial"], 2);
        assert_eq!(addresses(&program, &bench).len(), 2, "only the module is left");
    }
}

#[test]
fn moves_within_one_named_state_lose_nothing() {
    let bench = applied(&Program::Mayfly);
    let arguments =
        ["state", "mv", "-state=s", "-state-out=s", "terraform_data.a", "terraform_data.z"];
    fs::copy(bench.path("terraform.tfstate"), bench.path("s")).expect("is copied");
    bench.mayfly(".", arguments).succeeds();
    let listed = bench.mayfly(".", ["state", "list", "-state=s"]).succeeds().out;
    assert_eq!(listed.lines().count(), 5, "{listed}");
    assert!(listed.contains("terraform_data.z"), "{listed}");
}

#[test]
fn pushed_state_must_be_a_successor() {
    for program in programs() {
        let bench = applied(&program);
        let name = program.name();
        let run = |arguments: &[&str]| program.run(&bench, ".", [&["state"], arguments].concat());
        let pulled = run(&["pull"]).succeeds().out;
        assert!(pulled.starts_with("{\"version\":4,") && pulled.ends_with("}\n\n"), "{name}");
        let serial = serial(&bench);
        let variant = |file: &str, serial: u64, lineage: &str| {
            let mut state: serde_json::Value = serde_json::from_str(&pulled).expect("is JSON");
            state["serial"] = serial.into();
            if !lineage.is_empty() {
                state["lineage"] = lineage.into();
            }
            state["resources"][0]["name"] = "aa".into();
            bench.write(file, &state.to_string());
        };
        bench.write("same", &pulled);
        variant("older", serial - 1, "");
        variant("equal", serial, "");
        variant("newer", serial + 9, "");
        variant("unrelated", serial + 9, "e");
        bench.write("bad", "{");
        bench.write("empty", "");
        let before = bench.read("terraform.tfstate");
        for (file, error) in [
            ("older", "cannot import state with serial"),
            ("equal", "cannot overwrite existing state with serial"),
            ("unrelated", "over unrelated state with lineage"),
            ("bad", "Failed to read source state"),
            ("empty", "Failed to read source state"),
            ("nowhere", "Failed to open the given state file"),
        ] {
            let shown = words(&run(&["push", file]).fails().err);
            assert!(shown.contains(error), "{name} {file}: {shown}");
        }
        run(&["push", "same"]).succeeds();
        assert_eq!(bench.read("terraform.tfstate"), before, "{name}");
        run(&["push", "newer"]).succeeds();
        assert_eq!(bench.state(".")["resources"][0]["name"], "aa", "{name}");
        run(&["push", "-force", "unrelated"]).succeeds();
        assert_eq!(bench.state(".")["lineage"], "e", "{name}");
        run(&["push", "-force", "-"]).input(&pulled).succeeds();
        assert_eq!(bench.state(".")["resources"][0]["name"], "a", "{name}");
    }
}

#[test]
fn provider_is_replaced_after_approval() {
    const FROM: &str = "terraform.io/builtin/terraform";
    for program in programs() {
        let bench = applied(&program);
        let name = program.name();
        let run = |arguments: &[&str]| {
            program.run(&bench, ".", [&["state", "replace-provider"], arguments].concat())
        };
        let before = bench.read("terraform.tfstate");
        let ended = run(&["acme/none", "acme/other"]).succeeds();
        assert_eq!(ended.out, "No matching resources found.\n", "{name}");
        run(&["a!", "x/y/z/w"]).fails().shows(&[
            "Error: Invalid \"from\" provider \"a!\"",
            "Error: Invalid \"to\" provider \"x/y/z/w\"",
        ]);
        let ended = run(&[FROM, "hashicorp/null"]).input("no\n").succeeds();
        ended.shows(&["Changing 3 resources", "Cancelled replacing providers."]);
        run(&[FROM, "hashicorp/null"]).input("").fails().shows(&["Error asking for approval"]);
        run(&["-json", FROM, "hashicorp/null"]).fails();
        assert_eq!(bench.read("terraform.tfstate"), before, "{name}");
        let ended = run(&[FROM, "hashicorp/null"]).input("yes\n").succeeds();
        ended.shows(&["Successfully replaced provider for 3 resources."]);
        let provider = bench.state(".")["resources"][2]["provider"].clone();
        assert_eq!(provider, "provider[\"registry.opentofu.org/hashicorp/null\"]", "{name}");
        let lines =
            run(&["-auto-approve", "-json", "hashicorp/null", FROM]).succeeds().json_lines();
        assert_eq!(lines[1]["type"], "replace_provider", "{name}");
        assert_eq!(lines[1]["from"], "registry.opentofu.org/hashicorp/null", "{name}");
        assert_eq!(lines[1]["resources"].as_array().map(Vec::len), Some(3), "{name}");
    }
}

#[test]
fn json_goes_into_a_file_beside_the_text() {
    for program in programs() {
        let bench = applied(&program);
        let name = program.name();
        let cases: &[(&[&str], &str)] = &[
            (&["state", "list"], "terraform_data.b[1]"),
            (&["state", "show", "terraform_data.a"], "resource \"terraform_data\" \"a\""),
            (&["taint", "terraform_data.a"], "has been marked as tainted."),
            (&["plan"], "must be replaced"),
            (&["apply", "-auto-approve"], "Apply complete!"),
            (&["output"], "o = \"x\""),
            (&["show"], "# terraform_data.a:"),
            (&["validate"], "Success!"),
        ];
        for (arguments, printed) in cases {
            // The flags of `tofu` precede the arguments.
            let words = if *arguments.first().expect("is a command") == "state" { 2 } else { 1 };
            let (command, rest) = arguments.split_at(words);
            let into = [command, &["-json-into=out.jsonl"], rest].concat();
            program.run(&bench, ".", &into).succeeds().shows(&[printed]);
            let written = String::from_utf8(bench.read("out.jsonl")).expect("is text");
            assert!(written.starts_with('{'), "{name} {into:?}: {written}");
            let kinds = |text: &str| -> Vec<serde_json::Value> {
                let lines = text.lines().map(serde_json::from_str::<serde_json::Value>);
                lines.map_while(Result::ok).map(|it| it["type"].clone()).collect()
            };
            if words == 2 {
                let alone = [command, &["-json"], rest].concat();
                let same = program.run(&bench, ".", &alone).succeeds().out;
                assert_eq!(kinds(&written), kinds(&same), "{name} {into:?}");
            }
        }
        let both = ["state", "list", "-json", "-json-into=out.jsonl"];
        program.run(&bench, ".", both).fails();
        let nowhere = ["state", "list", "-json-into=no/such/directory"];
        program.run(&bench, ".", nowhere).fails().shows(&["specified by"]);
    }
}
