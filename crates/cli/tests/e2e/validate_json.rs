//! Compares `validate -json` with that of the real `terraform`, where it is installed, for configurations with one
//! error each. All fields except details must be equal.
//!
//! Known differences are listed with a reason, and must actually occur.

use std::{collections::BTreeMap, io::Write, process::Command};

use db::fixture::split_fixture;
use serde_json::Value as Json;

use crate::bench::Bench;

/// The reason for a difference.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Why {
    /// OpenTofu, or the ephemeral resources RFC, words it like Mayfly.
    OpenTofusWords,
    /// Mayfly shows a missing argument at the header of the block, Terraform at its opening brace.
    AtTheHeader,
    /// Mayfly shows the invalid value, Terraform the header of the enclosing block.
    AtTheValue,
    /// Mayfly shows the whole reference or string, Terraform its first name or the text between the quotes.
    WholeExpression,
    /// Only Terraform has an object with the signature of a function, and context lines.
    FewerFacts,
    /// The values that are listed below the code.
    OtherValues,
    /// Only Terraform reports consequential errors. Only Mayfly reports errors after a syntax error.
    OtherErrors,
    /// Mayfly finds it in `validate`, Terraform in `plan`.
    Earlier,
}

use Why::{
    AtTheHeader, AtTheValue, Earlier, FewerFacts, OpenTofusWords, OtherErrors, OtherValues,
    WholeExpression,
};

/// Writes the files of a case into their own directory, and validates them with a program.
fn validated(program: &str, number: usize, fixture: &str) -> (i32, Json) {
    let bench = Bench::new();
    let folder = format!("case{number}");
    for (path, text) in split_fixture(fixture) {
        bench.write(&format!("{folder}/{path}"), &text);
    }
    std::fs::create_dir_all(bench.path(&folder)).expect("can be made");
    let run = |arguments: &[&str]| {
        let run = match program {
            "terraform" => bench.program("terraform", &folder, arguments),
            _ => bench.mayfly(&folder, arguments),
        };
        run.env("CHECKPOINT_DISABLE", "1").end()
    };
    if fixture.contains("module \"") {
        run(&["init", "-backend=false"]);
    }
    let ended = run(&["validate", "-json"]);
    (ended.code, comparable(ended.json()))
}

/// A document without details and without fields that Terraform does not have. Diagnostics are sorted by location,
/// because Terraform's order depends on its threads.
fn comparable(mut document: Json) -> Json {
    let diagnostics = document["diagnostics"].as_array_mut().expect("a list");
    let place =
        |it: &Json| (it["range"]["filename"].to_string(), it["range"]["start"]["byte"].as_u64());
    diagnostics.sort_by_key(place);
    for diagnostic in diagnostics {
        let fields = diagnostic.as_object_mut().expect("an object");
        let detail = fields.remove("detail").expect("there is one");
        assert!(detail.is_string());
        fields.remove("id");
        fields.remove("related");
    }
    document
}

#[test]
fn validate_json_matches_terraform() {
    if Command::new("terraform").arg("version").output().is_err() {
        let _ = writeln!(std::io::stderr(), "skipped: terraform is not on PATH");
        return;
    }
    for (number, fixture) in SAME.iter().enumerate() {
        let [ours, theirs] = ["mayfly", "terraform"].map(|it| validated(it, number, fixture));
        assert_eq!(ours, theirs, "{fixture}");
    }
    let mut counts: BTreeMap<Why, usize> = BTreeMap::new();
    for (number, (why, fixture)) in OTHER.iter().enumerate() {
        let [ours, theirs] = ["mayfly", "terraform"].map(|it| validated(it, number, fixture));
        assert_ne!(ours, theirs, "{why:?} is no reason any more: {fixture}");
        *counts.entry(*why).or_default() += 1;
    }
    let _ = writeln!(std::io::stderr(), "validate -json: {} the same, {counts:?}", SAME.len());
}

const SAME: &[&str] = &[
    "//- /main.tf\nmodule \"m\" {\n  source = \"./m\"\n  a = \"x\"\n}\n//- /m/m.tf\nvariable \"a\" \
     {\n  type = number\n}\n",
    "locals {\n  a = var.nope\n}\n",
    "module \"m\" {\n  source = 5\n}\n",
    "variable \"region\" {}\nlocals {\n  a = var.regoin\n}\n",
    "locals {\n  a = local.b\n}\n",
    "output \"o\" {\n  value = terraform_data.x.id\n}\n",
    "resource \"terraform_data\" \"x\" {\n  inptu = 1\n}\n",
    "resource \"terraform_data\" \"x\" {\n  blk {}\n}\n",
    "resource \"terraform_data\" \"x\" {}\nresource \"terraform_data\" \"x\" {}\n",
    "variable \"a\" {}\nvariable \"a\" {}\n",
    "output \"o\" {\n  value = 1\n  sensitve = true\n}\n",
    "variable \"a\" {\n  type = strnig\n}\n",
    "variable \"a\" {\n  type = number\n  default = \"x\"\n}\n",
    "locals {\n  a = 1 +\n}\n",
    "locals {\n",
    "locals {\n  a = 1\n  a = 2\n}\n",
    "resource \"terraform_data\" \"a\" \"b\" {}\n",
    "variable \"a\" \"b\" {}\n",
    "stray = 1\n",
    "resorce \"a\" \"b\" {}\n",
    "output \"o\" {\n  value = uper(\"x\")\n}\n",
    "output \"o\" {\n  value = {a = 1}.b\n}\n",
    "output \"o\" {\n  value = [1][3]\n}\n",
    "output \"o\" {\n  value = 1 + \"x\"\n}\n",
    "output \"o\" {\n  value = \"a${[1]}\"\n}\n",
    "output \"o\" {\n  value = [for x in 1 : x]\n}\n",
    "output \"o\" {\n  value = \"x\" ? 1 : 2\n}\n",
    "output \"o\" {\n  value = true ? {a = 1} : \"x\"\n}\n",
    "resource \"terraform_data\" \"x\" {\n  count = \"two\"\n}\n",
    "resource \"terraform_data\" \"x\" {\n  count = -1\n}\n",
    "resource \"terraform_data\" \"x\" {\n  for_each = [\"a\"]\n}\n",
    "resource \"terraform_data\" \"x\" {\n  count = 1\n  for_each = {}\n}\n",
    "resource \"terraform_data\" \"x\" {\n  count = 2\n}\noutput \"o\" {\n  value = terraform_data.x.id\n}\n",
    "resource \"terraform_data\" \"x\" {\n}\noutput \"o\" {\n  value = terraform_data.x[0].id\n}\n",
    "output \"o\" {\n  value = each.key\n}\n",
    "output \"o\" {\n  value = count.index\n}\n",
    "output \"o\" {\n  value = self.id\n}\n",
    "output \"o\" {\n  value = path.nope\n}\n",
    "output \"o\" {\n  value = data.x\n}\n",
    "resource \"terraform_data\" \"x\" {\n  depends_on = [terraform_data.y]\n}\n",
    "resource \"terraform_data\" \"x\" {\n  depends_on = [\"terraform_data.y\"]\n}\nresource \
     \"terraform_data\" \"y\" {}\n",
    "resource \"terraform_data\" \"x\" {\n  lifecycle {\n    ignore_changes = [inptu]\n  }\n}\n",
    "resource \"terraform_data\" \"x\" {\n  lifecycle {\n  }\n  lifecycle {\n  }\n}\n",
    "variable \"s\" {\n  ephemeral = true\n}\nresource \"terraform_data\" \"x\" {\n  count = var.s\n}\n",
    "check \"c\" {\n}\n",
    "terraform {\n  required_providers {\n    a = {\n      source = \"a/b/c/d\"\n    }\n  }\n}\n",
    "//- /main.tf\nmodule \"m\" {\n  source = \"./m\"\n  b = 1\n}\n//- /m/m.tf\nvariable \"a\" {\n  default = 1\n}\n",
    "//- /main.tf\nmodule \"m\" {\n  source = \"./m\"\n}\n//- /m/m.tf\noutput \"y\" {\n  value = local.x\n}\n",
    "resource \"terraform_data\" \"x\" {\n  provisioner \"local-exec\" {\n    when = later\n    \
     command = \"x\"\n  }\n}\n",
    "resource \"terraform_data\" \"x\" {\n  provisioner \"local-exec\" {\n    when = destroy\n    \
     command = var.x\n  }\n}\nvariable \"x\" {}\n",
    "resource \"terraform_dat\" \"x\" {\n}\n",
    "data \"terraform_data\" \"x\" {\n}\n",
    "locals {\n  é = \"ä\" + 1\n  b = \"😀\" + 2\n}\noutput \"o\" {\n value = local.é\n}\n",
    "locals {\n  a = \"${1 2}\"\n}\n",
    "locals {\n  a = <<EOT\nx\n",
    "locals {\n  a = \"\\q\"\n}\n",
    "locals {\n  a = { b }\n}\n",
    "\"a\" = 1\n",
    "",
    "variable \"ok\" {}\n",
    "locals {\n  p = null\n  h = local.p.x\n}\n",
    "locals {\n  t = {\n    a = 1\n  }\n}\noutput \"o\" {\n  value = [\n    local.t.a,\n    local.t.bb,\n  ]\n}\n",
    "variable \"x\" {\n  default = \"v\"\n}\nlocals {\n  n = { a = \"b\" }\n  k = \"q\"\n  u = local.n[local.k]\n}\n",
];

const OTHER: &[(Why, &str)] = &[
    (AtTheHeader, "output \"o\" {\n}\n"),
    (AtTheHeader, "resource \"terraform_data\" {}\n"),
    (AtTheHeader, "variable \"v\" {\n  validation {\n    condition = true\n  }\n}\n"),
    (AtTheHeader, "module \"m\" {\n}\n"),
    (
        AtTheHeader,
        "//- /main.tf\nmodule \"m\" {\n  source = \"./m\"\n}\n//- /m/m.tf\nvariable \"a\" {}\n",
    ),
    (AtTheHeader, "resource \"terraform_data\" \"x\" {\n  provisioner \"local-exec\" {\n  }\n}\n"),
    (AtTheValue, "variable \"s\" {\n  sensitive = true\n}\noutput \"o\" {\n  value = var.s\n}\n"),
    (AtTheValue, "module \"m\" {\n  source = \"./nope\"\n}\n"),
    (Earlier, "resource \"terraform_data\" \"x\" {\n  input = terraform_data.x.id\n}\n"),
    (
        Earlier,
        "variable \"v\" {\n  validation {\n    condition = length(var.v)\n    error_message = \"No.\"\n  }\n}\n",
    ),
    (FewerFacts, "locals {\n  a = [1, 2\n}\n"),
    (FewerFacts, "output \"o\" {\n  value = replace(\"a\", \"b\")\n}\n"),
    (
        OpenTofusWords,
        "variable \"s\" {\n  ephemeral = true\n}\nresource \"terraform_data\" \"x\" {\n  input = var.s\n}\n",
    ),
    (
        OpenTofusWords,
        "variable \"s\" {\n  ephemeral = true\n}\noutput \"o\" {\n  value = var.s\n}\n",
    ),
    (
        OpenTofusWords,
        "variable \"s\" {\n  ephemeral = true\n}\noutput \"o\" {\n  value = 1\n  ephemeral = true\n}\n",
    ),
    (OtherErrors, "locals {\n  a = \"x\n}\n"),
    (OtherErrors, "locals {\n  a = local.b\n  b = local.a\n}\n"),
    (OtherErrors, "output \"o\" {\n  value = var\n}\n"),
    (
        OtherErrors,
        "resource \"terraform_data\" \"x\" {\n  lifecycle {\n    create_before_destroy = var.x\n  \
         }\n}\nvariable \"x\" {}\n",
    ),
    (OtherErrors, "resource \"terraform_data\" \"x\" {\n  provisioner \"local-exe\" {}\n}\n"),
    (OtherErrors, "locals {\n  a = 'x'\n}\n"),
    (OtherErrors, "locals {\n  a =\n"),
    (OtherErrors, "locals {\n  a = f(1 2)\n}\n"),
    (OtherValues, "output \"o\" {\n  value = {for x in [\"a\", \"a\"] : x => 1}\n}\n"),
    (
        OtherValues,
        "//- /main.tf\nmodule \"m\" {\n  source = \"./m\"\n}\noutput \"o\" {\n  value = \
         module.m.x\n}\n//- /m/m.tf\noutput \"y\" {\n  value = 1\n}\n",
    ),
    (
        OtherValues,
        "//- /main.tf\nmodule \"m\" {\n  source = \"./m\"\n  count = 2\n}\noutput \"o\" {\n  value \
         = module.m.y\n}\n//- /m/m.tf\noutput \"y\" {\n  value = 1\n}\n",
    ),
    (WholeExpression, "variable \"a\" {\n  default = local.b\n}\nlocals {\n  b = 1\n}\n"),
    (
        WholeExpression,
        "locals {\n  a = upper(\"x\", \"y\")\n}\noutput \"o\" {\n  value = local.a\n}\n",
    ),
    (WholeExpression, "output \"o\" {\n  value = upper([])\n}\n"),
    (
        WholeExpression,
        "resource \"terraform_data\" \"x\" {\n  lifecycle {\n    prevent_destroy = \"maybe\"\n  }\n}\n",
    ),
];
