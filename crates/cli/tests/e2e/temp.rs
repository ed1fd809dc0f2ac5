//! `path.temp` on disk: its files during a run, in a saved plan, and after a run.

use std::{fs, os::unix::fs::symlink, path::Path};

use state::{PlanFile, TempEntry, TempKind};

use crate::{bench::Bench, read_only::Guarded};

/// A provider that writes its store below `path.temp` while it is planned.
const STORED: &str = r#"
terraform {
  required_providers {
    playground = {
      source = "registry.opentofu.org/mayfly/playground"
    }
  }
}
provider "playground" {
  store = "${path.temp}/store"
}
variable "fails" {
  default = false
}
resource "playground_secret" "s" {
  name = "s"
}
resource "terraform_data" "lists" {
  input = path.temp
  provisioner "local-exec" {
    command = "cat ${path.temp}/store/ledger.jsonl > seen; ${var.fails ? "exit 3" : "true"}"
  }
}
"#;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("c/main.tf", STORED);
    bench
}

/// The entries of `tmp` in a data directory.
fn left(bench: &Bench, data_dir: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(bench.path(&format!("{data_dir}/tmp"))) else {
        return Vec::new();
    };
    entries.map(|it| it.expect("is there").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn temporary_files_are_removed_on_success_and_reported_on_failure() {
    let bench = bench();
    bench.mayfly("c", ["plan"]).succeeds();
    assert!(left(&bench, "c/.terraform").is_empty());
    bench.mayfly("c", ["apply", "-auto-approve"]).succeeds().lacks(&["left behind"]);
    assert!(left(&bench, "c/.terraform").is_empty());
    let seen = fs::read_to_string(bench.path("c/seen")).expect("the files were there");
    assert!(seen.contains("playground_secret"), "{seen}");
    // The store was removed with the directory, so the objects are planned again.
    bench.mayfly("c", ["apply"]).input("no\n").fails().shows(&["Apply cancelled"]);
    assert!(left(&bench, "c/.terraform").is_empty());
    let ended = bench
        .mayfly("c", ["apply", "-auto-approve", "-var=fails=true", "-replace=terraform_data.lists"])
        .fails();
    let left = left(&bench, "c/.terraform");
    let [id] = &left[..] else { panic!("one is left: {left:?}") };
    ended.shows(&["Temporary files were left behind", &format!(".terraform/tmp/{id}")]);
}

#[test]
fn json_output_reports_temporary_files_left_behind() {
    let bench = bench();
    let ended = bench.mayfly("c", ["apply", "-json", "-auto-approve", "-var=fails=true"]).fails();
    let lines = ended.json_lines();
    let warnings: Vec<_> = lines
        .iter()
        .filter(|it| it["diagnostic"]["summary"] == "Temporary files were left behind")
        .collect();
    assert_eq!(warnings.len(), 1, "{lines:#?}");
}

#[test]
fn saved_plan_restores_temporary_files_in_another_directory() {
    let bench = bench();
    bench.mayfly("c", ["plan", "-out=plan.bin"]).succeeds();
    assert!(left(&bench, "c/.terraform").is_empty(), "the plan file has them");
    bench.write("elsewhere/d/main.tf", STORED);
    fs::copy(bench.path("c/plan.bin"), bench.path("elsewhere/d/plan.bin")).expect("is copied");
    bench.mayfly("elsewhere/d", ["apply", "plan.bin"]).succeeds();
    assert!(left(&bench, "elsewhere/d/.terraform").is_empty());
    let seen = fs::read_to_string(bench.path("elsewhere/d/seen")).expect("the files were there");
    let calls = seen.lines().filter(|it| it.contains(r#""rpc":"plan""#)).count();
    assert!(calls >= 1, "the ledger of the plan goes on in the apply: {seen}");
}

#[test]
fn saved_plan_can_be_applied_by_another_user() {
    let guarded = Guarded::with_main(STORED);
    // If the tests run as root, root plans and an unprivileged user applies.
    guarded.bench.mayfly(".", ["plan", "-out=plan.bin"]).succeeds();
    for name in ["home", "work"] {
        guarded.hand_over(&guarded.bench.root().join(name));
    }
    guarded.mayfly(["apply", "plan.bin"]).succeeds();
    let seen = fs::read_to_string(guarded.bench.path("seen")).expect("the files were there");
    assert!(seen.contains(r#""rpc":"plan""#), "{seen}");
    assert!(left(&guarded.bench, ".terraform").is_empty());
}

#[test]
fn ephemeral_value_in_a_temporary_file_prevents_saving_the_plan() {
    let bench = bench();
    bench.write("c/main.tf", &format!("{STORED}\nvariable \"token\" {{ ephemeral = true }}\n"));
    let plan = ["plan", "-out=plan.bin", "-var=token=playground_secret"];
    let ended = bench.mayfly("c", plan).fails();
    ended.shows(&["Ephemeral value in a temporary file", "ledger.jsonl", "must not keep"]);
    assert!(!bench.path("c/plan.bin").exists());
}

#[test]
fn temporary_files_follow_the_data_directory() {
    let bench = bench();
    let plan = || bench.mayfly("c", ["plan", "-out=plan.bin"]);
    plan().env("TF_DATA_DIR", "data").succeeds();
    bench.mayfly("c", ["apply", "plan.bin"]).succeeds();
    assert!(left(&bench, "c/data").is_empty());
    fs::remove_file(bench.path("c/terraform.tfstate")).expect("is there");
    let (here, there) = (bench.path("here"), bench.path("there"));
    plan().env("TF_DATA_DIR", &here).succeeds();
    let ended = bench.mayfly("c", ["apply", "plan.bin"]).env("TF_DATA_DIR", &there).fails();
    let names = [here, there].map(|it| it.display().to_string());
    ended.shows(&["another TF_DATA_DIR", &names[0], &names[1]]);
}

/// Applies a plan that was tampered with.
#[track_caller]
fn check_tampered(tamper: impl FnOnce(&mut PlanFile), parts: &[&str]) {
    let bench = bench();
    bench.write("precious/kept", "kept");
    bench.mayfly("c", ["plan", "-out=plan.bin"]).succeeds();
    let program = concat!("mayfly ", env!("CARGO_PKG_VERSION"));
    let bytes = bench.read("c/plan.bin");
    let mut file = PlanFile::read(&bytes, program).expect("is a plan");
    tamper(&mut file);
    fs::write(bench.path("c/plan.bin"), file.write().expect("can be written")).expect("is written");
    bench.mayfly("c", ["apply", "plan.bin"]).fails().shows(parts);
    assert_eq!(bench.read("precious/kept"), b"kept");
    assert!(!bench.path("c/seen").exists(), "nothing was applied");
}

#[test]
fn tampered_plan_cannot_redirect_temporary_files() {
    check_tampered(|file| file.plan.id = "..".to_owned(), &["another TF_DATA_DIR"]);
    check_tampered(|file| file.plan.id = "../../../precious".to_owned(), &["another TF_DATA_DIR"]);
    check_tampered(|file| file.plan.data_dir = "../precious".to_owned(), &["another TF_DATA_DIR"]);
    check_tampered(|file| file.plan.data_dir = "/etc".to_owned(), &["another TF_DATA_DIR", "/etc"]);
    check_tampered(|file| file.plan.data_dir = String::new(), &["another TF_DATA_DIR"]);
}

#[test]
fn planned_temporary_files_replace_existing_files() {
    let bench = bench();
    bench.mayfly("c", ["plan", "-out=plan.bin"]).succeeds();
    let program = concat!("mayfly ", env!("CARGO_PKG_VERSION"));
    let mut file = PlanFile::read(&bench.read("c/plan.bin"), program).expect("is a plan");
    let module = file.temp[0].path.split('/').next().expect("is there").to_owned();
    let kind = TempKind::Symlink { target: "store/ledger.jsonl".to_owned() };
    file.temp.push(TempEntry { path: format!("{module}/link"), kind });
    fs::write(bench.path("c/plan.bin"), file.write().expect("can be written")).expect("is written");
    // An attacker has placed a link and other files in the directory.
    let directory = bench.path(&format!("c/.terraform/tmp/{}", file.plan.id));
    fs::create_dir_all(directory.join(&module)).expect("can be made");
    bench.write("victim/ledger.jsonl", "kept");
    symlink(bench.path("victim"), directory.join(&module).join("store")).expect("can be made");
    fs::write(directory.join(&module).join("foreign"), "").expect("is written");
    bench.write("c/main.tf", STORED);
    bench.mayfly("c", ["apply", "plan.bin"]).succeeds();
    assert_eq!(bench.read("victim/ledger.jsonl"), b"kept");
    assert!(!Path::new(&directory).exists());
}

const PROVIDERS: &str = r#"
terraform {
  required_providers {
    archive = {
      source = "registry.opentofu.org/mayfly/archive"
    }
    local = {
      source = "registry.opentofu.org/mayfly/local"
    }
  }
}
"#;

/// The first example of the RFC's appendix, with a file in place of the bucket.
const PACKAGE: &str = r#"
data "archive_file" "sources" {
  source_dir  = "${path.module}/lambda-sources"
  output_path = "${path.temp}/lambda-sources.zip"
  type        = "zip"
}
resource "local_file" "uploaded" {
  filename = "bucket/${data.archive_file.sources.output_sha256}.zip"
  source   = data.archive_file.sources.output_path
}
output "etag" {
  value = filemd5(data.archive_file.sources.output_path)
}
"#;

#[test]
fn archive_packed_in_plan_is_uploaded_elsewhere() {
    let bench = Bench::new();
    for folder in ["c", "elsewhere"] {
        bench.write(&format!("{folder}/main.tf"), &format!("{PROVIDERS}{PACKAGE}"));
    }
    bench.write("c/lambda-sources/index.js", "exports.example = () => 1;\n");
    bench.mayfly("c", ["plan", "-out=plan.bin"]).succeeds();
    fs::copy(bench.path("c/plan.bin"), bench.path("elsewhere/plan.bin")).expect("is copied");
    // The sources do not exist here, only the archive.
    bench.mayfly("elsewhere", ["apply", "plan.bin"]).succeeds().shows(&["1 added"]);
    let uploaded: Vec<_> =
        fs::read_dir(bench.path("elsewhere/bucket")).expect("is there").collect();
    let uploaded = uploaded.into_iter().next().expect("there is one").expect("is there").path();
    let package = fs::read(uploaded).expect("is there");
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(package)).expect("is a zip");
    let mut text = String::new();
    let mut file = zip.by_name("index.js").expect("is in it");
    std::io::Read::read_to_string(&mut file, &mut text).expect("is text");
    assert_eq!(text, "exports.example = () => 1;\n");
    // The archive has a different path in every plan, which is not a change.
    bench.write("elsewhere/lambda-sources/index.js", "exports.example = () => 1;\n");
    let again = bench.mayfly("elsewhere", ["plan", "-detailed-exitcode"]);
    again.succeeds().shows(&["No changes."]);
}

/// The second example of the appendix, with `terraform_data` in place of `null_resource`.
const WORKAROUND: &str = r#"
resource "terraform_data" "workaround" {
  triggers_replace = {
    meta_file = "${path.temp}/infrastructure-meta.json"
  }
  provisioner "local-exec" {
    command = "echo '{\"made\": \"by a tool\"}' > ${self.triggers_replace.meta_file}"
  }
}
data "local_file" "meta" {
  filename = terraform_data.workaround.triggers_replace.meta_file
}
output "meta" {
  value = jsondecode(data.local_file.meta.content)
}
"#;

#[test]
fn temporary_file_of_a_provisioner_is_read_in_every_run() {
    let bench = Bench::new();
    bench.write("c/main.tf", &format!("{PROVIDERS}{WORKAROUND}"));
    for _ in 0..2 {
        bench.mayfly("c", ["apply", "-auto-approve"]).succeeds().shows(&["by a tool"]);
        assert!(left(&bench, "c/.terraform").is_empty());
    }
    bench.mayfly("c", ["plan", "-out=plan.bin"]).succeeds();
    bench.mayfly("c", ["apply", "plan.bin"]).succeeds().shows(&["by a tool"]);
}

#[test]
fn temporary_files_of_module_instances_do_not_collide() {
    let bench = Bench::new();
    let calls = r#"
module "m" {
  for_each = { one = "1", two = "2", "a/b" = "3" }
  source   = "./mod"
  text     = each.value
}
module "n" {
  count  = 2
  source = "./mod"
  text   = "n${count.index}"
}
output "texts" {
  value = join(",", concat(values(module.m)[*].text, module.n[*].text))
}
"#;
    bench.write("c/main.tf", calls);
    let module = r#"
variable "text" {}
data "archive_file" "a" {
  type                    = "zip"
  output_path             = "${path.temp}/a.zip"
  source_content          = var.text
  source_content_filename = "text"
}
resource "terraform_data" "reads" {
  input = data.archive_file.a.output_sha256
  provisioner "local-exec" {
    command = "sha256sum < ${data.archive_file.a.output_path} | cut -c 1-64 >> ../sums"
  }
}
output "text" {
  value = var.text
}
"#;
    bench.write("c/mod/main.tf", &format!("{PROVIDERS}{module}"));
    bench.mayfly("c", ["plan", "-out=plan.bin"]).succeeds();
    bench.mayfly("c", ["apply", "plan.bin"]).succeeds().shows(&["3,1,2,n0,n1"]);
    let sums = fs::read_to_string(bench.path("sums")).expect("was written");
    let state = bench.state("c").to_string();
    let sums: std::collections::BTreeSet<&str> = sums.lines().collect();
    assert_eq!(sums.len(), 5, "each has a package of its own: {sums:?}");
    assert!(sums.iter().all(|it| state.contains(it)), "{sums:?} in {state}");
}
