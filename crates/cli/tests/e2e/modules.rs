//! Module packages: each has one directory, is locked, and is compared with its lock before a plan or apply.

use std::{fs, path::PathBuf, process::Command};

use crate::bench::Bench;

const NET: &str = r#"
variable "name" {
  default = "net"
}
module "sub" {
  source = "./sub"
}
output "where" {
  value = "${var.name} in ${path.module} and ${module.sub.where}: ${file("${path.module}/hello.txt")}"
}
"#;

const CALLS: &str = r#"
module "a" {
  source = "git::file://REPOSITORY?ref=v1"
}
module "b" {
  source   = "git::file://REPOSITORY?ref=v1"
  for_each = toset(["x", "y"])
  name     = each.key
}
module "c" {
  source = "git::file://REPOSITORY//sub?ref=v1"
}
output "where" {
  value = [module.a.where, module.b["x"].where, module.c.where]
}
"#;

/// Creates a Git repository, and a configuration that calls it three times.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("net/main.tf", NET);
    bench.write("net/hello.txt", "hello");
    bench.write("net/sub/main.tf", "output \"where\" {\n  value = path.module\n}\n");
    git(&bench, &["init", "--quiet", "--initial-branch=main"]);
    commit(&bench, "v1");
    bench.write("main.tf", &with_repository(&bench, CALLS));
    bench
}

fn with_repository(bench: &Bench, text: &str) -> String {
    text.replace("REPOSITORY", &bench.path("net").display().to_string())
}

fn git(bench: &Bench, arguments: &[&str]) {
    let status = Command::new("git")
        .arg("-C")
        .arg(bench.path("net"))
        .args(["-c", "user.name=n", "-c", "user.email=n@example.com"])
        .args(arguments)
        .status();
    assert!(status.expect("git is there: it brought this repository").success());
}

fn commit(bench: &Bench, tag: &str) {
    git(bench, &["add", "-A"]);
    git(bench, &["commit", "--quiet", "-m", "m"]);
    git(bench, &["tag", "--force", tag]);
}

/// The only installed package.
fn package(bench: &Bench) -> PathBuf {
    let entries = fs::read_dir(bench.path(".terraform/modules")).expect("is there").flatten();
    let mut directories = entries.map(|it| it.path()).filter(|it| it.is_dir());
    let only = directories.next().expect("one is in place");
    assert!(directories.next().is_none(), "one is in place");
    only
}

fn text(bench: &Bench, name: &str) -> String {
    String::from_utf8(bench.read(name)).expect("is text")
}

#[test]
fn calls_of_one_package_share_a_locked_directory() {
    let bench = bench();
    bench.mayfly(".", ["plan"]).fails().shows(&["Error: Module not installed", "mayfly init"]);
    let name = {
        let ended = bench.mayfly(".", ["init"]).succeeds();
        let package = package(&bench);
        let name = package.file_name().expect("it has one").to_string_lossy().into_owned();
        ended.shows(&[
            "Initializing modules...\nDownloading git::file://",
            &format!(
                "- a in .terraform/modules/{name}\n- a.sub in \
                      .terraform/modules/{name}/sub\n- b in .terraform/modules/{name}\n"
            ),
            &format!("- c in .terraform/modules/{name}/sub\n"),
        ]);
        name
    };
    let lock = text(&bench, ".terraform.lock.hcl");
    let address = with_repository(
        &bench,
        "module \"git::file://REPOSITORY?ref=v1\" {\n  directory = \"a\"\n  revision  = \"",
    );
    assert!(lock.contains(&address) && lock.contains("\"h1:"), "{lock}");
    bench.mayfly(".", ["plan"]).succeeds().shows(&[
        &format!("net in .terraform/modules/{name} and .terraform/modules/{name}/sub: hello"),
        &format!("x in .terraform/modules/{name} and"),
    ]);
    // With only the repository, the lock file leads to the same package, and nothing is downloaded twice.
    fs::remove_dir_all(bench.path(".terraform")).expect("was there");
    bench.mayfly(".", ["init", "-lockfile=readonly"]).succeeds();
    fs::remove_dir_all(bench.path("net")).expect("was there");
    bench.mayfly(".", ["init"]).succeeds().lacks(&["Downloading"]);
    assert_eq!(text(&bench, ".terraform.lock.hcl"), lock);
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
}

#[test]
fn a_moved_tag_is_not_followed_until_an_upgrade() {
    let bench = bench();
    bench.mayfly(".", ["init"]).succeeds();
    bench.write("net/hello.txt", "moved");
    commit(&bench, "v1");
    fs::remove_dir_all(bench.path(".terraform")).expect("was there");
    bench.mayfly(".", ["init"]).succeeds();
    let ended = bench.mayfly(".", ["plan"]).succeeds();
    ended.shows(&["hello"]);
    ended.lacks(&["moved"]);
    bench
        .mayfly(".", ["init", "-upgrade", "-lockfile=readonly"])
        .fails()
        .shows(&["conflicts with -lockfile=readonly"]);
    bench.mayfly(".", ["init", "-upgrade"]).succeeds().shows(&["Upgrading modules..."]);
    bench.mayfly(".", ["plan"]).succeeds().shows(&["moved"]);
}

/// Changes to an installed package, and the messages of a plan and of the apply of a saved plan.
#[test]
fn changed_module_package_stops_plan_and_apply() {
    let bench = bench();
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["plan", "-out=saved.plan"]).succeeds();
    let package = package(&bench);
    let differs = "Error: Module package differs from its lock";
    let changed = "Error: File was changed after the plan was made";
    let ways: [(&str, &dyn Fn(), &str, &str); 4] = [
        (
            "a file that is read while planning",
            &|| fs::write(package.join("hello.txt"), "hallo").expect("is written"),
            "changed: \"hello.txt\"",
            "hello.txt\" was changed",
        ),
        (
            "configuration of a module that is not called",
            &|| {
                fs::create_dir(package.join("other")).expect("is made");
                fs::write(package.join("other/main.tf"), "").expect("is written");
            },
            "added: \"other/main.tf\"",
            "",
        ),
        (
            "a file that is gone",
            &|| fs::remove_file(package.join("hello.txt")).expect("was there"),
            "missing: \"hello.txt\"",
            "hello.txt\" is gone",
        ),
        (
            "a link that leads out",
            &|| {
                fs::remove_file(package.join("hello.txt")).expect("was there");
                std::os::unix::fs::symlink("/etc/hostname", package.join("hello.txt"))
                    .expect("is made");
            },
            "points outside of the package",
            "hello.txt\" was changed",
        ),
    ];
    for (what, change, found, read) in ways {
        println!("{what}");
        change();
        bench.mayfly(".", ["plan"]).fails().shows(&[differs, found, "mayfly init"]);
        bench.mayfly(".", ["destroy", "-auto-approve"]).fails().shows(&[differs, found]);
        let warning = "Warning: Module package differs from its lock";
        let applied = bench.mayfly(".", ["apply", "saved.plan"]);
        match read {
            // No function reads the file, and the plan file contains the configuration.
            "" => {
                applied.succeeds().shows(&[warning, found]);
                fs::remove_file(bench.path("terraform.tfstate")).expect("was written");
            }
            read => applied.fails().shows(&[changed, read]),
        }
        assert!(!bench.path("terraform.tfstate").exists());
        bench
            .mayfly(".", ["init"])
            .succeeds()
            .shows(&["again: the installed package does not match"]);
    }
    // Changing both the package and the lock file does not affect a saved plan.
    bench.write("net/hello.txt", "moved");
    commit(&bench, "v1");
    bench.mayfly(".", ["init", "-upgrade"]).succeeds();
    bench.mayfly(".", ["apply", "saved.plan"]).fails().shows(&[changed, "hello.txt"]);
    bench.mayfly(".", ["plan", "-out=saved.plan"]).succeeds();
    bench.mayfly(".", ["apply", "saved.plan"]).succeeds();
}

#[test]
fn saved_plan_applies_without_installed_packages() {
    let bench = bench();
    let main = "module \"c\" {\n  source = \"git::file://REPOSITORY//sub?ref=v1\"\n}\noutput \
                \"where\" {\n  value = module.c.where\n}\n";
    bench.write("main.tf", &with_repository(&bench, main));
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["plan", "-out=saved.plan"]).succeeds();
    fs::remove_dir_all(bench.path(".terraform/modules")).expect("was there");
    let applied = bench.mayfly(".", ["apply", "saved.plan"]).succeeds();
    applied.shows(&["where = \".terraform/modules/"]);
    applied.lacks(&["Warning"]);
}

#[test]
fn unlocked_module_package_is_a_warning() {
    let bench = bench();
    bench.mayfly(".", ["init"]).succeeds();
    fs::remove_file(bench.path(".terraform.lock.hcl")).expect("was there");
    let unlocked = ["Warning: Module packages without checksums", "mayfly init"];
    bench.mayfly(".", ["plan"]).succeeds().shows(&unlocked);
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["plan"]).succeeds().lacks(&["Warning"]);
}

const WRITES: &str = r#"
data "archive_file" "built" {
  type        = "zip"
  source_file = "${path.module}/hello.txt"
  output_path = "${DIRECTORY}/built.zip"
}
output "hash" {
  value = data.archive_file.built.output_sha256
}
"#;

const PROVIDER: &str = r#"
terraform {
  required_providers {
    archive = {
      source = "registry.opentofu.org/mayfly/archive"
    }
  }
}
"#;

#[test]
fn module_that_writes_into_its_directory_is_a_warning() {
    let bench = bench();
    let writes = |directory: &str| format!("{PROVIDER}{}", WRITES.replace("DIRECTORY", directory));
    bench.write("net/main.tf", &writes("path.module"));
    commit(&bench, "v2");
    let calls = "module \"package\" {\n  source = \"git::file://REPOSITORY?ref=v2\"\n}\nmodule \
                 \"beside\" {\n  source = \"./local/m\"\n}\n";
    bench.write("main.tf", &with_repository(&bench, calls));
    bench.write("local/m/main.tf", &writes("path.module"));
    bench.write("local/m/hello.txt", "hello");
    bench.mayfly(".", ["init"]).succeeds();
    let written = "Warning: Module writes into its own directory";
    let ended = bench.mayfly(".", ["plan", "-out=saved.plan"]).succeeds();
    ended.shows(&[
        written,
        "  - in the directory of module.beside: \"local/m/built.zip\"",
        "  - in the directory of module.package: \".terraform/modules/package/built.zip\"",
        "${path.temp}",
    ]);
    // Files that the module wrote are not part of the package, so it can still be used.
    let grown = "Warning: Module package has other files in it";
    bench.mayfly(".", ["apply", "saved.plan"]).succeeds().shows(&[grown, "built.zip"]);
    let ended = bench.mayfly(".", ["plan", "-json"]).succeeds();
    let lines = ended.json_lines();
    for summary in [written, grown] {
        let summary = summary.trim_start_matches("Warning: ");
        let is_there = lines.iter().any(|it| it["diagnostic"]["summary"] == summary);
        assert!(is_there, "{summary}: {lines:#?}");
    }
    // With `path.temp` there are no warnings.
    bench.write("net/main.tf", &writes("path.temp"));
    commit(&bench, "v2");
    bench.write("local/m/main.tf", &writes("path.temp"));
    fs::remove_file(bench.path("local/m/built.zip")).expect("was written");
    bench.mayfly(".", ["init", "-upgrade"]).succeeds();
    bench.mayfly(".", ["plan"]).succeeds().lacks(&["Warning"]);
}

#[test]
fn uninstallable_module_is_an_error_at_its_call() {
    let bench = bench();
    let cases = [
        ("/nowhere/at/all", "main.tf line 2", "No such file or directory"),
        ("git::file://REPOSITORY?ref=v9", "main.tf line 2", "couldn't find remote ref v9"),
        (
            "git::file://REPOSITORY//nothing?ref=v1",
            "main.tf line 2",
            "has no directory \"nothing\"",
        ),
        ("svn::https://example.com/x", "main.tf line 2", "does not download modules by \"svn\""),
        ("nonsense", "main.tf line 2", "is neither a path"),
        ("git::ext::sh -c id", "main.tf line 2", "is neither a path"),
        ("REPOSITORY//../other", "main.tf line 2", "must be a directory in the package"),
    ];
    for (source, place, words) in cases {
        let call = format!("module \"m\" {{\n  source = \"{source}\"\n}}\n");
        bench.write("main.tf", &with_repository(&bench, &call));
        bench.mayfly(".", ["init"]).fails().shows(&["Error: ", place, words]);
        assert!(!bench.path(".terraform.lock.hcl").exists());
        assert!(!bench.path(".terraform/modules/modules.json").exists());
    }
}

#[test]
fn module_path_must_not_leave_its_package() {
    let bench = bench();
    bench.write("net/sub/main.tf", "module \"out\" {\n  source = \"../../../beside\"\n}\n");
    commit(&bench, "v1");
    bench.write(".terraform/beside/main.tf", "");
    bench.mayfly(".", ["init"]).fails().shows(&[
        "Error: Local module path escapes module package",
        "sub/main.tf line 2",
        "refers to a directory outside of the package",
    ]);
}

#[test]
fn changed_module_source_needs_init() {
    let bench = bench();
    bench.mayfly(".", ["init"]).succeeds();
    let other = text(&bench, "main.tf").replace("?ref=v1", "");
    bench.write("main.tf", &other);
    bench.mayfly(".", ["plan"]).fails().shows(&["Error: Module source has changed", "ref=v1"]);
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["plan"]).succeeds();
    // No call uses the other package anymore.
    package(&bench);
    let lock = text(&bench, ".terraform.lock.hcl");
    assert!(!lock.contains("ref=v1"), "{lock}");
}

#[test]
fn password_of_a_module_source_is_not_written() {
    let bench = bench();
    bench.write(
        "main.tf",
        "module \"m\" {\n  source = \"git::https://user:hunter22@localhost:1/x.git\"\n}\n",
    );
    let ended = bench.mayfly(".", ["init"]).fails();
    ended.shows(&["Error: Failed to download module", "https://localhost:1/x.git"]);
    // The error quotes the line of the configuration. Nothing else contains the password.
    let quoted = "source = \"git::https://user:hunter22@localhost:1/x.git\"";
    assert_eq!(ended.err.matches("hunter22").count(), ended.err.matches(quoted).count());
    assert!(!ended.out.contains("hunter22"));
}

#[test]
fn registry_module_installed_by_another_tool_is_locked() {
    let bench = Bench::with_main(
        "module \"vpc\" {\n  source  = \"a/vpc/aws//modules/x\"\n  version = \"~> 1.0\"\n}\noutput \
         \"o\" {\n  value = module.vpc.o\n}\n",
    );
    bench.write(".terraform/modules/vpc/modules/x/main.tf", "output \"o\" {\n  value = 1\n}\n");
    let manifest = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"vpc","Source":"registry.terraform.io/a/vpc/aws//modules/x","Version":"1.2.3","Dir":".terraform/modules/vpc/modules/x"}]}"#;
    bench.write(".terraform/modules/modules.json", manifest);
    let unlocked = "Warning: Module packages without checksums";
    bench
        .mayfly(".", ["plan"])
        .succeeds()
        .shows(&[unlocked, "registry.terraform.io/a/vpc/aws?version=1.2.3"]);
    bench.mayfly(".", ["init"]).succeeds().shows(&["Initializing modules..."]);
    assert_eq!(text(&bench, ".terraform/modules/modules.json"), manifest);
    let lock = text(&bench, ".terraform.lock.hcl");
    assert!(
        lock.contains("module \"registry.terraform.io/a/vpc/aws?version=1.2.3\" {\n  hashes"),
        "{lock}"
    );
    bench.mayfly(".", ["plan"]).succeeds().lacks(&["Warning"]);
    bench.write(".terraform/modules/vpc/modules/x/main.tf", "output \"o\" {\n  value = 2\n}\n");
    let differs = "Error: Module package differs from its lock";
    bench.mayfly(".", ["plan"]).fails().shows(&[differs]);
    bench.mayfly(".", ["init"]).fails().shows(&["Error: Module package has changed"]);
    fs::remove_file(bench.path(".terraform.lock.hcl")).expect("was there");
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["plan"]).succeeds();
}

#[test]
fn module_package_that_calls_itself_is_an_error() {
    let bench = bench();
    bench.write(
        "net/main.tf",
        &with_repository(
            &bench,
            "module \"again\" {\n  source = \"git::file://REPOSITORY?ref=v1\"\n}\n",
        ),
    );
    commit(&bench, "v1");
    bench.mayfly(".", ["init"]).fails().shows(&["Error: Module calls itself", "main.tf line 2"]);
}

/// The directory of a package does not depend on its version, so planned values of `path.module` stay the same.
#[test]
fn upgrade_of_a_module_keeps_its_path() {
    let bench = bench();
    let source = |reference: &str| {
        with_repository(
            &bench,
            &format!(
                "module \"a\" {{\n  source = \
                 \"git::file://REPOSITORY?ref={reference}\"\n}}\noutput \"o\" {{\n  value = module.a.where\n}}\n"
            ),
        )
    };
    bench.write("main.tf", &source("v1"));
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    bench.write("net/sub/unused.tf", "# a later version\n");
    commit(&bench, "v2");
    bench.write("main.tf", &source("v2"));
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["plan", "-detailed-exitcode"]).end().exits(0);
}

/// The manifest is not locked. The directories that it names must contain the locked packages.
#[test]
fn manifest_that_names_another_directory_is_an_error() {
    let bench = bench();
    let two = "module \"a\" {\n  source = \"git::file://REPOSITORY//sub?ref=v1\"\n}\nmodule \"b\" \
               {\n  source = \"git::file://REPOSITORY?ref=v2\"\n}\n";
    bench.write("net/sub/main.tf", "output \"where\" {\n  value = \"second\"\n}\n");
    commit(&bench, "v2");
    bench.write("main.tf", &with_repository(&bench, two));
    bench.mayfly(".", ["init"]).succeeds();
    let manifest = text(&bench, ".terraform/modules/modules.json");
    let parsed: serde_json::Value = serde_json::from_str(&manifest).expect("is JSON");
    let dir_of = |key: &str| {
        let modules = parsed["Modules"].as_array().expect("is a list");
        let module = modules.iter().find(|it| it["Key"] == key).expect("is there");
        module["Dir"].as_str().expect("is text").to_owned()
    };
    bench.write("beside/sub/main.tf", "output \"where\" {\n  value = \"evil\"\n}\n");
    let other = format!("{}/sub", dir_of("b"));
    let around = format!("{}/../../../../beside/sub", dir_of("a"));
    for elsewhere in [
        "beside/sub",
        "./beside/sub",
        &*other,
        &*around,
        &*bench.path("beside/sub").display().to_string(),
    ] {
        let quoted = |dir: &str| format!("\"Dir\":\"{dir}\"");
        let changed = manifest.replace(&quoted(&dir_of("a")), &quoted(elsewhere));
        assert_ne!(changed, manifest);
        bench.write(".terraform/modules/modules.json", &changed);
        let differs = "Error: Module package differs from its lock";
        bench.mayfly(".", ["plan"]).fails().shows(&[differs]);
        bench.mayfly(".", ["init"]).succeeds();
        assert_eq!(text(&bench, ".terraform/modules/modules.json"), manifest, "{elsewhere}");
        bench.mayfly(".", ["plan"]).succeeds();
    }
}

#[test]
fn init_restores_a_damaged_package() {
    let bench = bench();
    bench.mayfly(".", ["init"]).succeeds();
    let main = package(&bench).join("main.tf");
    fs::write(&main, "}").expect("is written");
    // The package is verified before any of it is read.
    let differs = "Error: Module package differs from its lock";
    bench.mayfly(".", ["plan"]).fails().shows(&[differs, "changed: \"main.tf\""]);
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["plan"]).succeeds();
    // A package with errors does not replace a valid one.
    let good = text(&bench, ".terraform.lock.hcl");
    bench.write("net/main.tf", "output \"x\" {");
    commit(&bench, "v1");
    let ended = bench.mayfly(".", ["init", "-upgrade"]).fails();
    ended.shows(&["Error: ", ".terraform/modules/.new/a-", "main.tf line 1"]);
    bench.mayfly(".", ["plan"]).succeeds();
    assert_eq!(text(&bench, ".terraform.lock.hcl"), good);
    bench.write("net/main.tf", NET);
    commit(&bench, "v1");
    bench.mayfly(".", ["init", "-upgrade"]).succeeds().shows(&["Upgraded git::file://"]);
    bench.mayfly(".", ["plan"]).succeeds();
}

#[test]
fn lockfile_readonly_refuses_new_module_packages() {
    let bench = bench();
    bench.mayfly(".", ["init", "-lockfile=readonly"]).fails().shows(&[
        "Error: Module package is not locked",
        "main.tf line 3",
        "-lockfile=readonly",
    ]);
    assert!(!bench.path(".terraform/modules").exists());
    bench.mayfly(".", ["init"]).succeeds();
    bench.write("net/hello.txt", "second");
    commit(&bench, "v2");
    let other = text(&bench, "main.tf").replace("?ref=v1", "?ref=v2");
    let first = text(&bench, "main.tf");
    bench.write("main.tf", &other);
    bench.mayfly(".", ["init", "-lockfile=readonly"]).fails().shows(&["is not locked"]);
    bench.write("main.tf", &first);
    bench.mayfly(".", ["plan"]).succeeds().shows(&["hello"]);
    bench.write("main.tf", "");
    let summary = "Error: Module dependency changes detected";
    bench.mayfly(".", ["init", "-lockfile=readonly"]).fails().shows(&[summary]);
}

/// Various spellings of the data directory.
#[test]
fn packages_are_verified_for_any_spelling_of_the_data_directory() {
    let bench = bench();
    let absolute = bench.path("there/../data").display().to_string();
    let cases = [("./dd", "dd"), ("dd/../ee", "ee"), (".", "."), (&*absolute, "data")];
    for (number, (data_dir, place)) in cases.into_iter().enumerate() {
        let mayfly = |arguments: &[&str]| bench.mayfly(".", arguments).env("TF_DATA_DIR", data_dir);
        mayfly(&["init"]).succeeds();
        let hello = bench.path(place).join("modules/a/hello.txt");
        mayfly(&["plan"]).succeeds().shows(&["hello"]);
        fs::write(hello, format!("evil {number}")).expect("is written");
        mayfly(&["plan"]).fails().shows(&["Error: Module package differs from its lock"]);
        mayfly(&["init"]).succeeds();
        mayfly(&["plan"]).succeeds();
    }
}

#[test]
fn package_without_a_top_level_module_suggests_a_subdirectory() {
    let bench = bench();
    fs::remove_file(bench.path("net/main.tf")).expect("was there");
    commit(&bench, "v1");
    bench.mayfly(".", ["init"]).fails().shows(&[
        "Error: Unreadable module directory",
        "main.tf line 3",
        "holds no .tf file at its top",
        "\"…//sub\"",
    ]);
}

/// A package that cannot be downloaded is reported once, regardless of the number of calls.
#[test]
fn failed_package_download_is_reported_once() {
    let bench = bench();
    let calls = text(&bench, "main.tf").replace("?ref=v1", "?ref=v9").replace("//sub", "");
    bench.write("main.tf", &calls);
    let ended = bench.mayfly(".", ["init"]).fails();
    assert_eq!(ended.err.matches("Error: ").count(), 1, "{}", ended.err);
    assert_eq!(ended.out.matches("Downloading").count(), 1, "{}", ended.out);
}

/// Adding or removing another call does not move an installed package.
#[test]
fn package_keeps_its_directory_when_calls_change() {
    let bench = bench();
    let call = |name: &str, reference: &str| {
        with_repository(
            &bench,
            &format!(
                "module \"{name}\" {{\n  source = \"git::file://REPOSITORY?ref={reference}\"\n}}\n"
            ),
        )
    };
    let output = "output \"o\" {\n  value = module.m.where\n}\n";
    bench.write("main.tf", &format!("{}{output}", call("m", "v1")));
    bench.mayfly(".", ["init"]).succeeds();
    bench
        .mayfly(".", ["apply", "-auto-approve"])
        .succeeds()
        .shows(&["in .terraform/modules/m and"]);
    bench.write("net/hello.txt", "second");
    commit(&bench, "v2");
    for more in
        [call("a", "v1"), call("a", "v2"), format!("{}{}", call("a", "v2"), call("b", "v1"))]
    {
        bench.write("main.tf", &format!("{}{more}{output}", call("m", "v1")));
        bench.mayfly(".", ["init"]).succeeds();
        bench.mayfly(".", ["plan", "-detailed-exitcode"]).end().exits(0);
        // The directory is recorded in the lock file, so it is the same for all users.
        fs::remove_dir_all(bench.path(".terraform")).expect("was there");
        bench.mayfly(".", ["init"]).succeeds();
        bench.mayfly(".", ["plan", "-detailed-exitcode"]).end().exits(0);
    }
}

#[test]
fn concurrent_init_runs_succeed() {
    let bench = bench();
    let started: Vec<_> = (0..4).map(|_| bench.mayfly(".", ["init"]).start()).collect();
    for one in started {
        one.end().exits(0);
    }
    bench.mayfly(".", ["plan"]).succeeds().lacks(&["Warning"]);
}
