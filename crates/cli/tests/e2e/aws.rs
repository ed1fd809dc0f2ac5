//! Validates about a hundred resources of the AWS provider, valid and invalid ones, with Mayfly and the real
//! `terraform`, and compares the results. The tests are skipped unless `MAYFLY_AWS_MIRROR` names a folder with a
//! mirror of the provider.

use std::{
    collections::BTreeMap, fs, io::Write, os::unix::fs::symlink, path::Path, process::Command,
};

use serde_json::Value as Json;

use crate::bench::Bench;

const RIGHT: &str = include_str!("../../../../tests/data/aws/right.tf");
/// Errors that the schema reveals, without asking the provider.
const WRONG_SCHEMA: &str = include_str!("../../../../tests/data/aws/wrong_schema.tf");
/// Errors that only the provider detects.
const WRONG_VALUES: &str = include_str!("../../../../tests/data/aws/wrong_values.tf");

/// The provider version in `right.tf`.
const VERSION: &str = "5.100.0";

/// Errors, each with its line and summary.
type Errors = Vec<(u64, String)>;

struct Bed {
    bench: Bench,
    has_terraform: bool,
}

impl Bed {
    /// Creates the test directory. `None` if the AWS provider is not available.
    fn new() -> Option<Bed> {
        let Some(mirror) = std::env::var_os("MAYFLY_AWS_MIRROR") else {
            let _ = writeln!(std::io::stderr(), "skipped: MAYFLY_AWS_MIRROR is not set");
            return None;
        };
        let bench = Bench::with_main(RIGHT);
        link(Path::new(&mirror), &bench.path("mirror/registry.terraform.io/hashicorp/aws"));
        let folder = bench.path("mirror");
        let mirror = format!("filesystem_mirror {{\n    path = {folder:?}\n  }}");
        bench.write("terraformrc", &format!("provider_installation {{\n  {mirror}\n}}\n"));
        let has_terraform = Command::new("terraform").arg("version").output().is_ok();
        if !has_terraform {
            let _ = writeln!(std::io::stderr(), "skipped in part: terraform is not on PATH");
        }
        Some(Bed { bench, has_terraform })
    }

    /// The result of `validate -json` for the valid resources together with those of another file.
    fn validate(&self, program: &str, wrong: &str) -> Json {
        self.bench.write("wrong.tf", wrong);
        let run = |arguments: &[&str]| {
            let run = match program {
                "mayfly" => self.bench.mayfly(".", arguments),
                other => self.bench.program(other, ".", arguments),
            };
            run.env("TF_CLI_CONFIG_FILE", self.bench.path("terraformrc"))
                .env("CHECKPOINT_DISABLE", "1")
                .env("TF_DATA_DIR", self.bench.path(&format!(".{program}")))
                .end()
        };
        let installed = run(&["init", "-no-color"]);
        assert_eq!(installed.code, 0, "{program}:\n{}", installed.printed());
        run(&["validate", "-json"]).json()
    }

    /// The errors of each resource of a file, by its type. An error elsewhere fails the test.
    fn errors(&self, program: &str, wrong: &str) -> BTreeMap<String, Errors> {
        let said = self.validate(program, wrong);
        let mut errors: BTreeMap<String, Errors> = BTreeMap::new();
        for diagnostic in said["diagnostics"].as_array().expect("a list") {
            if diagnostic["severity"] != "error" {
                continue;
            }
            let range = &diagnostic["range"];
            assert_eq!(range["filename"], "wrong.tf", "{program}: {diagnostic:#}");
            let line = range["start"]["line"].as_u64().expect("a line");
            let summary = diagnostic["summary"].as_str().expect("a text").to_owned();
            errors.entry(resource_at(wrong, line)).or_default().push((line, summary));
        }
        errors.values_mut().for_each(|it| it.sort());
        errors
    }
}

/// Links the packages of a mirror to the registry host that the configuration names. The mirror may have been made
/// for another host.
fn link(mirror: &Path, folder: &Path) {
    let hosts = fs::read_dir(mirror).expect("the mirror can be listed");
    let packages = hosts.map(|host| host.expect("can be listed").path().join("hashicorp/aws"));
    let packages = packages.into_iter().find(|it| it.join(VERSION).is_dir());
    let packages = packages.unwrap_or_else(|| panic!("no version {VERSION} of it in {mirror:?}"));
    let folder = folder.join(VERSION);
    fs::create_dir_all(&folder).expect("can be made");
    for target in fs::read_dir(packages.join(VERSION)).expect("can be listed") {
        let target = target.expect("can be listed");
        symlink(target.path(), folder.join(target.file_name())).expect("can be made");
    }
}

/// The type of the resource block that contains a line.
fn resource_at(text: &str, line: u64) -> String {
    let lines: Vec<&str> = text.lines().take(line as usize).collect();
    let header = lines.iter().rev().find_map(|it| type_of(it));
    header.expect("a resource is around it").to_owned()
}

fn type_of(header: &str) -> Option<&str> {
    header.strip_prefix("resource \"")?.split('"').next()
}

fn types_of(text: &str) -> Vec<&str> {
    text.lines().filter_map(type_of).collect()
}

#[test]
fn hundred_valid_aws_resources_validate() {
    assert!(types_of(RIGHT).len() >= 100);
    let Some(bed) = Bed::new() else { return };
    let programs = if bed.has_terraform { vec!["mayfly", "terraform"] } else { vec!["mayfly"] };
    for program in programs {
        let said = bed.validate(program, "");
        assert_eq!(said["valid"], true, "{program}: {said:#}");
    }
}

#[test]
fn hundred_invalid_aws_resources_are_reported() {
    let mut wrong = [types_of(WRONG_SCHEMA), types_of(WRONG_VALUES)].concat();
    let mut right = types_of(RIGHT);
    wrong.sort_unstable();
    right.sort_unstable();
    assert_eq!(wrong, right, "each resource is there right and wrong");
    let Some(bed) = Bed::new() else { return };
    for text in [WRONG_SCHEMA, WRONG_VALUES] {
        let ours = bed.errors("mayfly", text);
        let missed: Vec<_> =
            types_of(text).into_iter().filter(|it| !ours.contains_key(*it)).collect();
        assert!(missed.is_empty(), "nothing is said of {missed:?}");
        if bed.has_terraform {
            compare(&ours, &bed.errors("terraform", text));
        }
    }
}

const FUNCTIONS: &str = r#"
locals {
  parsed = provider::aws::arn_parse("arn:aws:iam::444455556666:role/a/example")
}
output "parsed" { value = local.parsed }
output "built" {
  value = provider::aws::arn_build(local.parsed.partition, "iam", "", local.parsed.account_id, "role/b")
}
output "trimmed" {
  value = [for it in ["x", "y"] : provider::aws::trim_iam_role_path("arn:aws:iam::444455556666:role/a/${it}")]
}
"#;

/// No unknown function is among them: a configured provider may offer more functions than its schema, so the plan
/// decides, as in OpenTofu. `terraform` has only those of the schema.
const WRONG_FUNCTIONS: &str = r#"
output "null" { value = provider::aws::trim_iam_role_path(null) }
output "few" { value = provider::aws::arn_build("aws") }
"#;

const FAILING_FUNCTION: &str = r#"
output "fails" { value = provider::aws::arn_parse("nope") }
"#;

/// Compares the results and the errors of provider functions under both programs.
#[test]
fn aws_provider_functions_match_terraform() {
    let Some(bed) = Bed::new() else { return };
    let header = &RIGHT[..RIGHT.find("resource ").expect("it has resources")];
    bed.bench.write("main.tf", header);
    let programs = if bed.has_terraform { vec!["mayfly", "terraform"] } else { vec!["mayfly"] };
    let said: Vec<_> = programs.iter().map(|it| functions_under(&bed, it)).collect();
    let [(errors, outputs), rest @ ..] = &said[..] else { return };
    assert_eq!(errors.len(), 3, "{errors:?}");
    assert_eq!(outputs["built"]["after"], "arn:aws:iam::444455556666:role/b");
    assert!(rest.iter().all(|it| it.0 == *errors && it.1 == *outputs), "{said:#?}");
}

/// The errors of invalid calls as line and detail, and the planned outputs of valid calls.
fn functions_under(bed: &Bed, program: &str) -> (Vec<(u64, String)>, Json) {
    let error = |it: &Json| {
        // Only Mayfly suggests a name.
        let detail = it["detail"].as_str().expect("a text").split(" Did you mean").next();
        let detail = detail.unwrap_or_default().to_owned();
        (it["range"]["start"]["line"].as_u64().expect("a line"), detail)
    };
    let mut errors = Vec::new();
    for wrong in [WRONG_FUNCTIONS, FAILING_FUNCTION] {
        let said = bed.validate(program, wrong);
        errors.extend(said["diagnostics"].as_array().expect("a list").iter().map(error));
    }
    errors.sort();
    bed.bench.write("wrong.tf", FUNCTIONS);
    let run = |arguments: &[&str]| {
        let run = match program {
            "mayfly" => bed.bench.mayfly(".", arguments),
            other => bed.bench.program(other, ".", arguments),
        };
        run.env("TF_CLI_CONFIG_FILE", bed.bench.path("terraformrc"))
            .env("TF_DATA_DIR", bed.bench.path(&format!(".{program}")))
            .env("AWS_REGION", "eu-central-1")
            .end()
    };
    let planned = run(&["plan", "-no-color", "-out=p"]);
    assert_eq!(planned.code, 0, "{program}:\n{}", planned.printed());
    let shown = run(&["show", "-json", "p"]).json();
    (errors, shown["output_changes"].clone())
}

/// Requires the same summaries on the same lines. For an error in a nested block, `terraform` may point to the
/// header of the resource, and Mayfly to the nested block.
fn compare(ours: &BTreeMap<String, Errors>, theirs: &BTreeMap<String, Errors>) {
    let mut different = Vec::new();
    for (resource, theirs) in theirs {
        let ours = ours.get(resource).map(Vec::as_slice).unwrap_or_default();
        let is_same = ours.len() == theirs.len()
            && ours
                .iter()
                .zip(theirs)
                .all(|(ours, theirs)| ours.1 == theirs.1 && ours.0 >= theirs.0);
        if !is_same {
            different.push(format!("{resource}: mayfly {ours:?}, terraform {theirs:?}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// Security groups whose rules are written in all forms that generate no rule, and in some that generate one.
const RULES: &str = r#"
variable "rules" {
  default = []
}
resource "aws_security_group" "unset" {
  name = "unset"
}
resource "aws_security_group" "explicit" {
  name    = "explicit"
  ingress = []
}
resource "aws_security_group" "no_rules" {
  name = "no-rules"
  dynamic "ingress" {
    for_each = var.rules
    content {
      from_port = ingress.value
      to_port   = 443
      protocol  = "tcp"
    }
  }
}
resource "aws_security_group" "one_rule" {
  name = "one-rule"
  dynamic "ingress" {
    for_each = var.rules
    content {
      from_port = ingress.value
      to_port   = 443
      protocol  = "tcp"
    }
  }
  dynamic "ingress" {
    for_each = [443]
    content {
      from_port = ingress.value
      to_port   = 443
      protocol  = "tcp"
    }
  }
}
resource "aws_default_security_group" "adopted" {
  dynamic "ingress" {
    for_each = var.rules
    content {
      from_port = ingress.value
      to_port   = 443
      protocol  = "tcp"
    }
  }
}
resource "aws_route_table" "no_routes" {
  vpc_id = "vpc-1"
  dynamic "route" {
    for_each = var.rules
    content {
      cidr_block = route.value
    }
  }
}
"#;

const NO_ACCOUNT: &str = r#"
  skip_requesting_account_id  = true
  skip_metadata_api_check     = true
  access_key                  = "nobody"
  secret_key                  = "nothing"
"#;

const RULES_IN_JSON: &str = r#"{"resource": {"aws_security_group": {
  "json_none":     {"name": "a", "dynamic": {"ingress": {"for_each": [], "content": {"from_port": 1, "to_port": 2, "protocol": "tcp"}}}},
  "json_empty":    {"name": "b", "dynamic": {"ingress": []}},
  "json_explicit": {"name": "c", "ingress": []}
}}}"#;

/// Only an explicitly empty list asks the provider to remove all rules. A `dynamic` block without elements does
/// not.
#[test]
fn dynamic_block_without_elements_leaves_aws_rules_unset() {
    let Some(bed) = Bed::new() else { return };
    let header = &RIGHT[..RIGHT.find("resource ").expect("it has resources")];
    // Prevents requests to an AWS account.
    let skipped = "skip_credentials_validation = true";
    let header = header.replace(skipped, &format!("{skipped}\n{NO_ACCOUNT}"));
    bed.bench.write("main.tf", &format!("{header}{RULES}"));
    bed.bench.write("more.tf.json", RULES_IN_JSON);
    let ours = planned_rules(&bed, "mayfly");
    let is_unset = |name: &str, rules: &str| ours[name][rules]["after_unknown"] == true;
    for name in ["unset", "no_rules", "adopted", "json_none", "json_empty"] {
        assert!(is_unset(name, "ingress"), "{name}: {:#}", ours[name]);
    }
    assert!(is_unset("no_routes", "route"), "{:#}", ours["no_routes"]);
    for (name, count) in [("explicit", 0), ("json_explicit", 0), ("one_rule", 1)] {
        let rules = ours[name]["ingress"]["after"].as_array();
        assert_eq!(rules.map(Vec::len), Some(count), "{name}");
    }
    if bed.has_terraform {
        assert_eq!(ours, planned_rules(&bed, "terraform"));
    }
}

/// The planned rules of each resource, by its name.
fn planned_rules(bed: &Bed, program: &str) -> BTreeMap<String, Json> {
    let run = |arguments: &[&str]| {
        let run = match program {
            "mayfly" => bed.bench.mayfly(".", arguments),
            other => bed.bench.program(other, ".", arguments),
        };
        let of_program = bed.bench.path(&format!(".{program}"));
        run.env("TF_CLI_CONFIG_FILE", bed.bench.path("terraformrc"))
            .env("TF_DATA_DIR", of_program)
            .env("CHECKPOINT_DISABLE", "1")
            .succeeds()
    };
    run(&["init", "-no-color"]);
    run(&["plan", "-no-color", "-out=p"]);
    let shown = run(&["show", "-json", "p"]).json();
    let changes = shown["resource_changes"].as_array().expect("a list");
    let rules = |change: &Json| {
        let of = |rules: &str| {
            let change = &change["change"];
            serde_json::json!({
                "after": change["after"][rules],
                "after_unknown": change["after_unknown"][rules],
            })
        };
        let rules = ["ingress", "egress", "route"].map(|it| (it.to_owned(), of(it)));
        let name = change["name"].as_str().expect("a name").to_owned();
        (name, Json::Object(rules.into_iter().collect()))
    };
    changes.iter().map(rules).collect()
}
