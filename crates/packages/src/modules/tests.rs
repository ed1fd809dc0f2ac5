//! Tests of packages from repositories, directories and archives, without a network.

mod archives;
mod buckets;
mod mercurial;
mod registry;
mod web;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use addr::{ModulePackage, ModuleSource};
use expect_test::{Expect, expect};
use http_client::{ClientConfig, Trust, header};
use tar::{EntryType, Header};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::verify::verify_module_package;
use super::*;
use crate::blocking::run;
use crate::cli_config::{CliConfig, ConfigEnvironment};
use crate::hash::hash_of_directory;
use crate::hosts::HostCredentials;
use crate::locks::Locks;
use crate::network::Network;

/// A directory with the sources of packages and the modules directory.
struct Bench {
    root: TempDir,
    locks: Locks,
    upgrade: bool,
    readonly: bool,
}

impl Bench {
    fn new() -> Bench {
        let root = tempfile::tempdir().expect("a temporary directory");
        Bench { root, locks: Locks::default(), upgrade: false, readonly: false }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it has one")).expect("writable");
        fs::write(path, text).expect("writable");
    }

    fn git(&self, repository: &str, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .arg("-C")
            .arg(self.path(repository))
            .args(["-c", "user.name=n", "-c", "user.email=n@example.com"])
            .args(arguments)
            .output()
            .expect("git is there: it brought this repository");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Creates a repository with one tagged commit.
    fn repository(&self, name: &str) -> ModulePackage {
        self.write(&format!("{name}/main.tf"), "# one\n");
        self.write(&format!("{name}/sub/main.tf"), "# sub\n");
        self.git(name, &["init", "--quiet", "--initial-branch=main"]);
        self.commit(name, "v1");
        self.package(&format!("git::file://{}?ref=v1", self.path(name).display()))
    }

    fn commit(&self, name: &str, tag: &str) -> String {
        self.git(name, &["add", "-A"]);
        self.git(name, &["commit", "--quiet", "-m", "m"]);
        self.git(name, &["tag", "--force", tag]);
        self.git(name, &["rev-parse", "HEAD"])
    }

    fn package(&self, source: &str) -> ModulePackage {
        ModuleSource::parse(source).expect("a source").package
    }

    fn at(&self, name: &str) -> ModulePackage {
        self.package(&self.path(name).display().to_string())
    }

    /// Installs packages, and locks them if there is no error. Returns the events and the directories.
    fn install(&mut self, packages: &[&ModulePackage]) -> Result<Vec<String>, String> {
        let names: Vec<_> = (0..packages.len()).map(|it| format!("call{it}")).collect();
        self.install_as(&names, packages)
    }

    fn install_as<N: AsRef<str>>(
        &mut self,
        names: &[N],
        packages: &[&ModulePackage],
    ) -> Result<Vec<String>, String> {
        let git = Git { program: "git".into(), withheld: Vec::new() };
        let target = self.path("modules");
        let (locks, upgrade, readonly) = (self.locks.clone(), self.upgrade, self.readonly);
        let network = network();
        let request = ModuleRequest {
            target: &target,
            locks: &locks,
            upgrade,
            readonly,
            git: &git,
            network: &network,
        };
        let mut installer = ModuleInstaller::new(request);
        let wanted = names.iter().zip(packages).map(|(name, package)| WantedModule {
            package: (*package).clone(),
            name: name.as_ref().to_owned(),
        });
        let wanted: Vec<_> = wanted.collect();
        let mut seen = Vec::new();
        let mut errors =
            run(installer.install(&wanted, &mut |wanted, it| seen.push((wanted.clone(), it))));
        if let Some(error) = wanted.iter().find_map(|it| errors.remove(&it.package.to_string())) {
            return Err(self.shown(&error.to_string()));
        }
        let event = |wanted| seen.iter().find(|(it, _)| it == wanted).map(|(_, event)| event);
        let events: Vec<_> = wanted.iter().map(event).collect();
        run(installer.settle()).expect("can be moved");
        run(installer.remove_others());
        self.locks.modules = installer.locks().clone();
        let name = |package: &&ModulePackage| {
            let directory = &installer.placed()[&package.to_string()];
            directory.file_name().expect("it has one").to_string_lossy().into_owned()
        };
        let names = packages.iter().map(name);
        let done = names.zip(events).map(|(name, event)| match event {
            Some(event) => format!("{event:?} {name}"),
            None => name,
        });
        Ok(done.collect())
    }

    /// Returns a text without the path of the test directory.
    fn shown(&self, text: &str) -> String {
        text.replace(&self.root.path().display().to_string(), "ROOT")
    }

    fn only_directory(&self) -> std::path::PathBuf {
        let entries = fs::read_dir(self.path("modules")).expect("readable").flatten();
        let mut directories = entries.map(|it| it.path()).filter(|it| it.is_dir());
        let only = directories.next().expect("there is one");
        assert!(directories.next().is_none(), "there is no other");
        only
    }

    fn verdict(&self, package: &ModulePackage) -> Verdict {
        let lock = &self.locks.modules[&package.to_string()];
        verify_module_package(&self.only_directory(), lock).expect("readable")
    }
}

/// The access to hosts, where the registry `registry.test` is at this URL.
fn network_with(registry: &str) -> Network {
    network_in(registry, &|_| None)
}

/// As [`network_with`], with these environment variables.
fn network_in(registry: &str, variable: &dyn Fn(&str) -> Option<String>) -> Network {
    let user_agent = header::HeaderValue::from_static("Test/1");
    let mut config = ClientConfig::from_environment(user_agent, &|_| None);
    config.trust = Trust::default();
    let client = http_client::Client::new(config);
    let text =
        format!("host \"registry.test\" {{ services = {{ \"modules.v1\" = \"{registry}\" }} }}");
    let (config, problems) = CliConfig::parse(&text, "rc", &|_| None);
    assert!(problems.is_empty(), "{problems:?}");
    let environment =
        ConfigEnvironment { config_file: None, home: None, xdg_config_home: None, variable };
    Network::new(client, &config, &environment, HostCredentials::default(), Vec::new())
}

fn network() -> Network {
    network_with("http://127.0.0.1:1/")
}

fn files(root: &Path) -> String {
    Contents::of(root).expect("readable").to_text().lines().fold(String::new(), |all, line| {
        let name = line.split_once("  ").expect("a name").1;
        format!("{all}{name}\n")
    })
}

#[test]
fn package_called_twice_has_one_directory() {
    let mut bench = Bench::new();
    let package = bench.repository("net");
    let done = bench.install(&[&package, &package]).expect("is installed");
    let [first, second] = &done[..] else { panic!("{done:?}") };
    assert_eq!((&**first, &**second), ("Fetching call0", "call0"));
    let directory = bench.only_directory();
    // The package does not contain the repository.
    expect![[r#"
        main.tf
        sub/main.tf
    "#]]
    .assert_eq(&files(&directory));
    assert!(!directory.join(".git").exists());
    assert_eq!(
        Contents::of(&directory).expect("readable").hash(),
        run(hash_of_directory(&directory)).expect("readable"),
        "the hash is the one that packages of providers have"
    );
    // An installed and locked package is not fetched again.
    fs::remove_dir_all(bench.path("net")).expect("was there");
    assert_eq!(bench.install(&[&package]).expect("is in place"), [second.as_str()]);
}

#[test]
fn installed_package_keeps_its_directory() {
    let mut bench = Bench::new();
    let first = bench.repository("net");
    bench.write("net/main.tf", "# two\n");
    bench.commit("net", "v2");
    let second = bench.package(&first.to_string().replace("v1", "v2"));
    assert_eq!(bench.install(&[&first]).expect("is installed"), ["Fetching call0"]);
    // Another version in the same call gets the directory, because it is free.
    assert_eq!(bench.install(&[&second]).expect("is installed"), ["Fetching call0"]);
    assert_eq!(fs::read(bench.only_directory().join("main.tf")).expect("is there"), b"# two\n");
    // An installed package keeps its directory if another one is added before it.
    let both = bench.install(&[&first, &second]).expect("is installed");
    let [new, old] = &both[..] else { panic!("{both:?}") };
    assert_eq!(old, "call0");
    assert!(new.starts_with("Fetching call0-"), "{new}");
    // The remaining package keeps its directory, even on a new machine.
    fs::remove_dir_all(bench.path("modules")).expect("was there");
    assert_eq!(bench.install(&[&first]).expect("is installed"), [new.as_str()]);
    bench.only_directory();
    let lists = fs::read_dir(bench.path("modules")).expect("readable").flatten();
    let is_list = |it: &fs::DirEntry| it.file_name().to_string_lossy().ends_with(".h1");
    assert_eq!(lists.filter(is_list).count(), 1);
}

#[test]
fn readonly_lock_file_prevents_fetching_unlocked_packages() {
    let mut bench = Bench::new();
    let package = bench.repository("net");
    bench.readonly = true;
    let error = bench.install(&[&package]).expect_err("is not locked");
    assert!(error.contains("may not be changed"), "{error}");
    assert!(!bench.path("modules").exists());
    bench.readonly = false;
    bench.install(&[&package]).expect("is installed");
    fs::remove_dir_all(bench.path("modules")).expect("was there");
    bench.readonly = true;
    bench.install(&[&package]).expect("is locked");
}

/// A failed installation leaves the installed packages unchanged; fetched packages stay in the staging directory.
#[test]
fn failed_installation_changes_nothing() {
    let mut bench = Bench::new();
    let package = bench.repository("net");
    bench.install(&[&package]).expect("is installed");
    bench.write("net/main.tf", "# two\n");
    bench.commit("net", "v1");
    let missing = bench.package(&package.to_string().replace("v1", "v9"));
    bench.upgrade = true;
    bench.install(&[&package, &missing]).expect_err("one is not there");
    assert_eq!(fs::read(bench.path("modules/call0/main.tf")).expect("is there"), b"# one\n");
    bench.upgrade = false;
    assert_eq!(bench.install(&[&package]).expect("is in place"), ["call0"]);
}

/// The name of a list determines which directory is removed with it.
#[test]
fn entries_without_a_package_name_are_not_removed() {
    let mut bench = Bench::new();
    let package = bench.repository("net");
    bench.install(&[&package]).expect("is installed");
    for name in ["...h1", "..h1", ".h1", "a b.h1"] {
        bench.write(&format!("modules/{name}"), "");
    }
    bench.install(&[&package]).expect("is in place");
    assert!(bench.path("modules/call0/main.tf").exists() && bench.path("net").exists());
}

/// A call `json` in a call `modules` would have the name of the manifest, and a call `h1` that of a list.
#[test]
fn package_directory_name_avoids_reserved_names() {
    let mut bench = Bench::new();
    let [first, second, third] = ["net", "app", "dns"].map(|it| bench.repository(it));
    let done = bench.install_as(&["net", "net.h1", "modules.json"], &[&first, &second, &third]);
    let names = ["Fetching net", "Fetching module-net-h1", "Fetching module-modules-json"];
    assert_eq!(done.expect("is installed"), names);
    assert!(bench.path("modules/net.h1").is_file());
}

#[test]
fn a_moved_tag_is_not_followed_until_an_upgrade() {
    let mut bench = Bench::new();
    let package = bench.repository("net");
    bench.install(&[&package]).expect("is installed");
    let locked = bench.locks.clone();
    bench.write("net/main.tf", "# two\n");
    let moved = bench.commit("net", "v1");
    fs::remove_dir_all(bench.path("modules")).expect("was there");
    bench.install(&[&package]).expect("the locked revision is still there");
    assert_eq!(bench.locks, locked);
    assert_eq!(fs::read(bench.only_directory().join("main.tf")).expect("is there"), b"# one\n");
    bench.upgrade = true;
    bench.install(&[&package]).expect("is installed");
    assert_ne!(bench.locks, locked);
    let lock = &bench.locks.modules[&package.to_string()];
    assert_eq!(lock.revision.as_ref(), Some(&moved));
    assert_eq!(fs::read(bench.only_directory().join("main.tf")).expect("is there"), b"# two\n");
}

#[test]
fn git_short_revision_and_branch_are_fetched() {
    let mut bench = Bench::new();
    bench.repository("net");
    let revision = bench.git("net", &["rev-parse", "HEAD"]);
    bench.git("net", &["checkout", "--quiet", "-b", "feature/x"]);
    bench.write("net/main.tf", "# branch\n");
    let branch = bench.commit("net", "later");
    for (reference, expected) in
        [(&revision[..8], &revision), (&*revision, &revision), ("feature%2Fx", &branch)]
    {
        let source = format!("git::file://{}?ref={reference}", bench.path("net").display());
        let package = bench.package(&source);
        bench.install(&[&package]).unwrap_or_else(|it| panic!("{reference}: {it}"));
        let lock = &bench.locks.modules[&package.to_string()];
        assert_eq!(lock.revision.as_ref(), Some(expected), "{reference}");
    }
}

#[test]
fn git_submodule_is_fetched() {
    let mut bench = Bench::new();
    bench.repository("inner");
    bench.repository("net");
    let url = format!("file://{}", bench.path("inner").display());
    let allowed = ["-c", "protocol.file.allow=always"];
    bench.git("net", &[&allowed[..], &["submodule", "--quiet", "add", &url, "inner"]].concat());
    bench.commit("net", "v1");
    let package = bench.package(&format!("git::file://{}?ref=v1", bench.path("net").display()));
    // By default, git refuses submodules from local files.
    let error = bench.install(&[&package]).expect_err("not allowed");
    assert!(error.contains("transport 'file' not allowed"), "{error}");
    assert!(bench.locks.modules.is_empty());
}

#[test]
fn git_errors_are_passed_on() {
    let mut bench = Bench::new();
    let package = bench.repository("net");
    let missing = bench.package(&package.to_string().replace("v1", "v9"));
    expect!["fatal: couldn't find remote ref v9"]
        .assert_eq(&bench.install(&[&missing]).expect_err("is not there"));
    for reference in ["--upload-pack=x", "a:b", "%2Ba", "a b"] {
        let option = bench.package(&package.to_string().replace("v1", reference));
        let error = bench.install(&[&option]).expect_err("is refused");
        assert!(error.contains("cannot be the name"), "{error}");
    }
    let key = bench.package(&format!("{package}&sshkey=c2VjcmV0"));
    let error = bench.install(&[&key]).expect_err("is refused");
    assert!(error.contains("agent") && !error.contains("c2VjcmV0"), "{error}");
    let nowhere = bench.package("git::https://u:hunter22@localhost:1/x.git");
    let error = bench.install(&[&nowhere]).expect_err("nobody listens");
    assert!(!error.contains("hunter22"), "{error}");
}

#[test]
fn directory_and_its_archives_have_the_same_hash() {
    let mut bench = Bench::new();
    bench.write("net/main.tf", "# one\n");
    bench.write("net/bin/run", "#!/bin/sh\n");
    symlink("../main.tf", bench.path("net/bin/link")).expect("possible");
    bench.write("net/.terraform/providers/x", "not of the package");
    bench.write("net/.git/config", "not of the package");
    let tar = |name: &str, arguments: &[&str]| {
        let archive = bench.path(name);
        let mut command = Command::new("tar");
        command.args(arguments).arg(&archive).arg("-C").arg(bench.path("net")).arg(".");
        assert!(command.status().expect("tar is there").success());
    };
    tar("net.tar.gz", &["-czf"]);
    tar("net.tar", &["-cf"]);
    let packages = [bench.at("net"), bench.at("net.tar.gz"), bench.at("net.tar")];
    for package in &packages {
        bench.install(&[package]).unwrap_or_else(|it| panic!("{package}: {it}"));
        expect![[r#"
            bin/link
            bin/run
            main.tf
        "#]]
        .assert_eq(&files(&bench.only_directory()));
    }
    let mut hashes = Vec::new();
    for package in &packages {
        bench.install(&[package]).expect("is installed");
        hashes.push(bench.locks.modules[&package.to_string()].hashes.clone());
    }
    assert!(hashes.iter().all(|it| *it == hashes[0]), "{hashes:?}");
    // The package is locked now, so it must not change.
    bench.write("net/main.tf", "# two\n");
    bench.install(&[&packages[0]]).expect("is taken over, since it was not locked last");
    bench.write("net/main.tf", "# three\n");
    bench.install(&[&packages[0]]).expect("is in place");
    fs::remove_dir_all(bench.path("modules")).expect("was there");
    let error = bench.install(&[&packages[0]]).expect_err("is another one");
    assert!(error.contains("and the lock file has h1:"), "{error}");
    assert!(!bench.path("modules/call0").exists());
}

#[test]
fn installed_package_is_verified_against_its_lock() {
    let mut bench = Bench::new();
    let package = bench.repository("net");
    bench.install(&[&package]).expect("is installed");
    assert_eq!(bench.verdict(&package), Verdict::Same);
    let directory = bench.only_directory();
    fs::write(directory.join("built.zip"), "by the module").expect("writable");
    assert_eq!(bench.verdict(&package), Verdict::Grown(vec!["built.zip".to_owned()]));
    fs::write(directory.join("sub/more.tofu"), "# configuration").expect("writable");
    fs::write(directory.join("main.tf"), "# changed").expect("writable");
    fs::remove_file(directory.join("sub/main.tf")).expect("was there");
    let names = |it: &str| vec![it.to_owned()];
    let altered = Alteration {
        changed: names("main.tf"),
        missing: names("sub/main.tf"),
        added: names("sub/more.tofu"),
    };
    assert_eq!(bench.verdict(&package), Verdict::Altered(altered));
    // Without a valid list, the changed files cannot be named.
    let list = format!("{}.h1", directory.display());
    fs::write(list, "0  main.tf\n").expect("writable");
    assert_eq!(bench.verdict(&package), Verdict::Altered(Alteration::default()));
    let done = bench.install(&[&package]).expect("is put in place again");
    assert!(done[0].starts_with("Restoring "), "{done:?}");
    assert_eq!(bench.verdict(&package), Verdict::Same);
}

#[test]
fn symlink_in_place_of_a_file_is_detected() {
    let mut bench = Bench::new();
    let package = bench.repository("net");
    bench.install(&[&package]).expect("is installed");
    let directory = bench.only_directory();
    // The link leads to a file with the same content.
    fs::copy(directory.join("main.tf"), directory.join("same.txt")).expect("possible");
    fs::remove_file(directory.join("main.tf")).expect("was there");
    symlink("same.txt", directory.join("main.tf")).expect("possible");
    assert!(matches!(bench.verdict(&package), Verdict::Altered(_)));
    fs::remove_file(directory.join("main.tf")).expect("was there");
    symlink("/etc/hostname", directory.join("main.tf")).expect("possible");
    let lock = &bench.locks.modules[&package.to_string()];
    let error = verify_module_package(&directory, lock).expect_err("it leads out");
    assert!(error.to_string().contains("points outside of the package"), "{error}");
}

#[test]
fn package_installed_by_another_tool_is_locked_unchanged() {
    let bench = Bench::new();
    bench.write("modules/vpc/main.tf", "# theirs\n");
    let git = Git { program: "git".into(), withheld: Vec::new() };
    let (target, network) = (bench.path("modules"), network());
    let locks = Locks::default();
    let request = |locks| ModuleRequest {
        target: &target,
        locks,
        upgrade: false,
        readonly: false,
        git: &git,
        network: &network,
    };
    let mut installer = ModuleInstaller::new(request(&locks));
    let address = "registry.opentofu.org/a/vpc/aws?version=1.2.3";
    run(installer.adopt(address, &target.join("vpc"), "")).expect("is readable");
    run(installer.remove_others());
    let locks = Locks { modules: installer.locks().clone(), ..Locks::default() };
    let lock = &locks.modules[address];
    assert_eq!(verify_module_package(&target.join("vpc"), lock).expect("readable"), Verdict::Same);
    bench.write("modules/vpc/main.tf", "# changed\n");
    let mut installer = ModuleInstaller::new(request(&locks));
    let error = run(installer.adopt(address, &target.join("vpc"), "")).expect_err("is another one");
    assert!(matches!(error, ModuleInstallError::Changed { .. }), "{error}");
}

#[test]
fn snapshot_lists_changed_files() {
    let bench = Bench::new();
    for name in ["d/a", "d/b", "d/c/d", "d/.git/x", "d/.terraform/x"] {
        bench.write(name, "1");
    }
    let before = Snapshot::of_directory(&bench.path("d")).expect("readable");
    let now = || Snapshot::of_directory(&bench.path("d")).expect("readable");
    assert!(before.changes(&now()).is_empty());
    bench.write("d/.git/x", "22");
    bench.write("d/.terraform/y", "22");
    assert!(before.changes(&now()).is_empty());
    bench.write("d/a", "22");
    bench.write("d/e", "22");
    fs::remove_file(bench.path("d/c/d")).expect("was there");
    assert_eq!(before.changes(&now()), ["a", "c/d", "e"]);
    let package = Snapshot::of_package(&bench.path("d")).expect("readable");
    bench.write("d/.terraform/z", "22");
    assert_eq!(
        package.changes(&Snapshot::of_package(&bench.path("d")).expect("readable")),
        [".terraform/z"]
    );
}

/// Every step of a link must lead to a real enclosing directory or downwards.
#[test]
fn package_links_must_stay_inside() {
    let inside = [
        ("a", "b"),
        ("a/b", "../c"),
        ("a/b/c", "../../d/e"),
        ("a", "./b/"),
        ("a", "b//c"),
        ("a/b", ".."),
    ];
    for (name, target) in inside {
        assert!(contents::stays_inside(name, target), "{name} {target}");
    }
    let outside = [
        ("a", ""),
        ("a", "/b"),
        ("a", ".."),
        ("a/b", "../.."),
        ("a", "b/../../c"),
        ("a", "b/.."),
        ("a", ".git/x"),
        ("a", ".terraform"),
    ];
    for (name, target) in outside {
        assert!(!contents::stays_inside(name, target), "{name} {target}");
    }
}

#[test]
fn working_files_are_not_part_of_a_package() {
    let mut bench = Bench::new();
    bench.repository("net");
    bench.write("net/.terraform/evil/main.tf", "# not of the package\n");
    bench.git("net", &["add", "--force", ".terraform/evil/main.tf"]);
    bench.commit("net", "v1");
    let package = bench.package(&format!("git::file://{}?ref=v1", bench.path("net").display()));
    bench.install(&[&package]).expect("is installed");
    assert!(!bench.only_directory().join(".terraform").exists());
    // A directory that is added later is detected.
    bench.write("modules/call0/.terraform/evil/main.tf", "# evil\n");
    assert!(
        matches!(bench.verdict(&package), Verdict::Altered(it) if it.added == [".terraform/evil/main.tf"])
    );
}
