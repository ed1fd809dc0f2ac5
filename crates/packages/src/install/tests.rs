use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use expect_test::{Expect, expect};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;
use crate::blocking::run;
use crate::locate::{LocateRequest, Located, locate};
use crate::{BundledProvider, CliConfig, ImpliedMirrors};

/// A mirror, a working directory, and the inputs of an installation.
pub(crate) struct Place {
    root: TempDir,
    pub(crate) sources: Sources,
    pub(crate) requirements: TreeMap<ProviderSource, VersionConstraint>,
    pub(crate) locks: Locks,
    upgrade: bool,
    cache: Option<PathBuf>,
    may_break: bool,
    unmanaged: TreeSet<ProviderSource>,
    platform: Platform,
}

pub(crate) fn source(text: &str) -> ProviderSource {
    ProviderSource::parse(text).expect("an address")
}

impl Place {
    pub(crate) fn new(requirements: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().expect("a temporary directory");
        let rc = format!(
            "provider_installation {{ filesystem_mirror {{ path = {:?} }} }}",
            root.path().join("mirror")
        );
        let (config, problems) = CliConfig::parse(&rc, "rc", &|_| None);
        assert_eq!(problems, []);
        let constraint = |text| VersionConstraint::parse_provider(text).expect("a constraint");
        let requirements = requirements.iter().map(|(name, it)| (source(name), constraint(it)));
        Self {
            sources: Sources::new(&config, &ImpliedMirrors::default(), Vec::new()),
            requirements: requirements.collect(),
            locks: Locks::default(),
            upgrade: false,
            cache: None,
            may_break: false,
            unmanaged: TreeSet::new(),
            platform: Platform::parse("linux_amd64").expect("a platform"),
            root,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Creates an unpacked package in the mirror.
    pub(crate) fn unpacked(&self, name: &str, version: &str, platform: &str) -> PathBuf {
        let type_name = name.rsplit('/').next().expect("a name");
        let directory =
            self.path(&format!("mirror/registry.opentofu.org/{name}/{version}/{platform}"));
        std::fs::create_dir_all(&directory).expect("writable");
        let binary = directory.join(format!("terraform-provider-{type_name}_v{version}"));
        std::fs::write(binary, format!("binary {version}")).expect("writable");
        directory
    }

    /// Creates a packed package in the mirror.
    pub(crate) fn packed(&self, name: &str, version: &str, entries: &[(&str, &str)]) {
        let type_name = name.rsplit('/').next().expect("a name");
        let folder = self.path(&format!("mirror/registry.opentofu.org/{name}"));
        std::fs::create_dir_all(&folder).expect("writable");
        let file = folder.join(format!("terraform-provider-{type_name}_{version}_linux_amd64.zip"));
        let mut zip = ZipWriter::new(File::create(file).expect("writable"));
        for (entry, content) in entries {
            let options = SimpleFileOptions::default().unix_permissions(0o755);
            zip.start_file(*entry, options).expect("writable");
            zip.write_all(content.as_bytes()).expect("writable");
        }
        zip.finish().expect("writable");
    }

    fn run(&self) -> (Installed, Vec<InstallEvent>) {
        let mut events = Vec::new();
        let request = InstallRequest {
            requirements: &self.requirements,
            locks: &self.locks,
            upgrade: self.upgrade,
            sources: &self.sources,
            target: &self.path("providers"),
            plugin_cache: self.cache.as_deref(),
            cache_may_break_locks: self.may_break,
            unmanaged: &self.unmanaged,
            platform: &self.platform,
        };
        (run(install(&request, &mut |it| events.push(it))), events)
    }

    /// Compares the events, errors and locks, without local paths.
    #[track_caller]
    fn check(&mut self, expected: Expect) {
        let (outcome, events) = self.run();
        let lines = events.iter().map(ToString::to_string);
        let errors = outcome.errors.iter().map(|it| it.to_string());
        let locks = outcome.locks.providers.iter().map(|(source, it)| {
            format!(
                "= {} {} {:?} {} hashes",
                source,
                it.version,
                it.constraints.canonical(),
                it.hashes.len()
            )
        });
        let text: Vec<_> = lines.chain(errors).chain(locks).collect();
        let text = text.join("\n").replace(&self.root.path().display().to_string(), "ROOT");
        expected.assert_eq(&text);
        if outcome.errors.is_empty() {
            self.locks = outcome.locks;
        }
    }

    fn locate(&self) -> Result<TreeMap<ProviderSource, Located>, String> {
        let located = run(locate(&LocateRequest {
            requirements: &self.requirements,
            locks: &self.locks,
            sources: &self.sources,
            installed: &self.path("providers"),
            platform: &self.platform,
            hash: &|package| Box::pin(async move { hash_of_directory(&package).await }),
        }));
        located
            .map_err(|it| it.to_string().replace(&self.root.path().display().to_string(), "ROOT"))
    }

    pub(crate) fn require(&mut self, name: &str, constraint: &str) {
        let constraint = VersionConstraint::parse_provider(constraint).expect("a constraint");
        self.requirements.insert(source(name), constraint);
    }
}

#[test]
fn newest_allowed_version_is_linked_locked_and_reused() {
    let mut place =
        Place::new(&[("hashicorp/aws", ">= 1.0, < 3.0.0"), ("terraform.io/builtin/terraform", "")]);
    for version in ["0.9.0", "1.2.0", "2.10.0", "2.9.0", "3.0.0", "2.11.0-beta1"] {
        place.unpacked("hashicorp/aws", version, "linux_amd64");
    }
    place.unpacked("hashicorp/aws", "2.12.0", "darwin_arm64");
    place.check(expect![[r#"
        - Finding hashicorp/aws versions matching ">= 1.0.0, < 3.0.0"...
        - terraform.io/builtin/terraform is built in to Mayfly
        - Installing hashicorp/aws v2.10.0...
        - Installed hashicorp/aws v2.10.0 (unauthenticated)
        = registry.opentofu.org/hashicorp/aws 2.10.0 ">= 1.0.0, < 3.0.0" 1 hashes"#]]);
    let link = place.path("providers/registry.opentofu.org/hashicorp/aws/2.10.0/linux_amd64");
    assert!(std::fs::read_link(link).expect("a link").is_absolute());
    place.check(expect![[r#"
        - Reusing previous version of hashicorp/aws from the dependency lock file
        - terraform.io/builtin/terraform is built in to Mayfly
        - Using previously-installed hashicorp/aws v2.10.0
        = registry.opentofu.org/hashicorp/aws 2.10.0 ">= 1.0.0, < 3.0.0" 1 hashes"#]]);
    let located = place.locate().expect("installed");
    let Located::Installed { executable, .. } = &located[&source("hashicorp/aws")] else {
        panic!("{located:?}")
    };
    assert!(executable.ends_with("terraform-provider-aws_v2.10.0"));
    place.require("hashicorp/aws", "~> 1.0");
    place.check(expect![[r#"
        - Reusing previous version of hashicorp/aws from the dependency lock file
        - terraform.io/builtin/terraform is built in to Mayfly
        Could not retrieve the list of available versions for provider hashicorp/aws: locked provider registry.opentofu.org/hashicorp/aws 2.10.0 does not match configured version constraint ~> 1.0; must use mayfly init -upgrade to allow selection of new versions

        Check its source and version in every required_providers block that names it."#]]);
    expect![[r#"
        The following dependency selections recorded in the lock file are inconsistent with the current configuration:
          - provider registry.opentofu.org/hashicorp/aws: locked version selection 2.10.0 doesn't match the updated version constraints "~> 1.0"

        To update the locked dependency selections to match a changed configuration, run:
          mayfly init -upgrade"#]].assert_eq(&place.locate().expect_err("the lock does not fit"));
    place.upgrade = true;
    place.check(expect![[r#"
        - Finding hashicorp/aws versions matching "~> 1.0"...
        - terraform.io/builtin/terraform is built in to Mayfly
        - Installing hashicorp/aws v1.2.0...
        - Installed hashicorp/aws v1.2.0 (unauthenticated)
        = registry.opentofu.org/hashicorp/aws 1.2.0 "~> 1.0" 1 hashes"#]]);
}

#[test]
fn zip_package_is_unpacked_also_through_the_cache() {
    let mut place = Place::new(&[("a/b", "")]);
    place.packed("a/b", "1.0.0", &[("terraform-provider-b", "x"), ("docs/README", "y")]);
    place.check(expect![[r#"
        - Finding latest version of a/b...
        - Installing a/b v1.0.0...
        - Installed a/b v1.0.0 (unauthenticated)
        = registry.opentofu.org/a/b 1.0.0 "" 1 hashes"#]]);
    let package = place.path("providers/registry.opentofu.org/a/b/1.0.0/linux_amd64");
    assert_eq!(std::fs::read_to_string(package.join("docs/README")).expect("unpacked"), "y");
    std::fs::remove_dir_all(place.path("providers")).expect("it exists");
    place.cache = Some(place.path("cache"));
    place.check(expect![[r#"
        - Reusing previous version of a/b from the dependency lock file
        - Installing a/b v1.0.0 to the shared cache directory...
        - Installed a/b v1.0.0 (unauthenticated)
        - Using a/b v1.0.0 from the shared cache directory
        = registry.opentofu.org/a/b 1.0.0 "" 1 hashes"#]]);
    assert!(package.is_symlink() && place.locate().is_ok());
    std::fs::remove_dir_all(place.path("providers")).expect("it exists");
    place.check(expect![[r#"
        - Reusing previous version of a/b from the dependency lock file
        - Detected previously-installed a/b v1.0.0 in the shared cache directory
        - Using a/b v1.0.0 from the shared cache directory
        = registry.opentofu.org/a/b 1.0.0 "" 1 hashes"#]]);
}

#[test]
fn mirror_directory_is_linked_through_the_cache() {
    let mut place = Place::new(&[("a/b", "")]);
    let mirrored = place.unpacked("a/b", "1.0.0", "linux_amd64");
    place.cache = Some(place.path("cache"));
    place.check(expect![[r#"
        - Finding latest version of a/b...
        - Installing a/b v1.0.0 to the shared cache directory...
        - Installed a/b v1.0.0 (unauthenticated)
        - Using a/b v1.0.0 from the shared cache directory
        = registry.opentofu.org/a/b 1.0.0 "" 1 hashes"#]]);
    let cached = place.path("cache/registry.opentofu.org/a/b/1.0.0/linux_amd64");
    let target = place.path("providers/registry.opentofu.org/a/b/1.0.0/linux_amd64");
    assert_eq!(std::fs::read_link(&target).expect("a link"), cached);
    assert_eq!(
        std::fs::read_link(&cached).expect("a link"),
        mirrored.canonicalize().expect("is there")
    );
    assert!(place.path("cache/registry.opentofu.org/a/b/1.0.0/linux_amd64.lock").is_file());
    place.check(expect![[r#"
        - Reusing previous version of a/b from the dependency lock file
        - Using previously-installed a/b v1.0.0
        = registry.opentofu.org/a/b 1.0.0 "" 1 hashes"#]]);
    std::fs::remove_dir_all(place.path("providers")).expect("it exists");
    place.check(expect![[r#"
        - Reusing previous version of a/b from the dependency lock file
        - Detected previously-installed a/b v1.0.0 in the shared cache directory
        - Using a/b v1.0.0 from the shared cache directory
        = registry.opentofu.org/a/b 1.0.0 "" 1 hashes"#]]);
    // A link to another place is replaced, although the package there has the right hash.
    let copy = place.path("copy");
    std::fs::create_dir(&copy).expect("writable");
    let binary = "terraform-provider-b_v1.0.0";
    std::fs::copy(mirrored.join(binary), copy.join(binary)).expect("writable");
    std::fs::remove_file(&cached).expect("it exists");
    std::os::unix::fs::symlink(&copy, &cached).expect("writable");
    std::fs::remove_dir_all(place.path("providers")).expect("it exists");
    place.check(expect![[r#"
        - Reusing previous version of a/b from the dependency lock file
        - Replacing a/b v1.0.0 in the shared cache directory: it is a link to ROOT/copy, which is in no mirror
        - Installing a/b v1.0.0 to the shared cache directory...
        - Installed a/b v1.0.0 (unauthenticated)
        - Using a/b v1.0.0 from the shared cache directory
        = registry.opentofu.org/a/b 1.0.0 "" 1 hashes"#]]);
    // A package in the cache needs no source.
    std::fs::remove_file(&cached).expect("it exists");
    std::fs::rename(&copy, &cached).expect("writable");
    std::fs::remove_dir_all(place.path("mirror")).expect("it exists");
    std::fs::remove_dir_all(place.path("providers")).expect("it exists");
    place.check(expect![[r#"
        - Reusing previous version of a/b from the dependency lock file
        - Detected previously-installed a/b v1.0.0 in the shared cache directory
        - Using a/b v1.0.0 from the shared cache directory
        = registry.opentofu.org/a/b 1.0.0 "" 1 hashes"#]]);
}

/// Another configuration may use the package at this moment.
#[test]
fn right_package_in_the_cache_is_not_replaced() {
    let mut place = Place::new(&[("a/b", "")]);
    place.packed("a/b", "1.0.0", &[("terraform-provider-b", "x")]);
    place.cache = Some(place.path("cache"));
    place.run();
    let cached = place.path("cache/registry.opentofu.org/a/b/1.0.0/linux_amd64");
    let inode = |it: &Path| std::os::unix::fs::MetadataExt::ino(&it.metadata().expect("is there"));
    let before = inode(&cached);
    // There are no locks, as in another configuration.
    place.run();
    assert_eq!(inode(&cached), before);
    std::fs::write(cached.join("terraform-provider-b"), "other").expect("writable");
    place.run();
    assert_ne!(inode(&cached), before);
    let names = |it: &Path| std::fs::read_dir(it).expect("readable").count();
    assert_eq!(names(cached.parent().expect("is below")), 2, "the package and its lock");
}

/// A cache entry is used if it is the locked package and replaced otherwise.
#[test]
fn invalid_cache_entry_is_replaced() {
    let junk: &[fn(&Path)] = &[
        |at| std::fs::write(at, "a file").expect("writable"),
        |at| std::os::unix::fs::symlink("/nowhere", at).expect("writable"),
        |at| std::os::unix::fs::symlink(at.parent().expect("is below"), at).expect("writable"),
        |at| std::fs::create_dir(at).expect("writable"),
        |at| {
            std::fs::create_dir(at).expect("writable");
            std::fs::write(at.join("terraform-provider-b"), "evil").expect("writable");
        },
        |at| {
            std::fs::create_dir(at).expect("writable");
            std::os::unix::fs::symlink("/bin/sh", at.join("terraform-provider-b"))
                .expect("writable");
        },
    ];
    for (number, plant) in junk.iter().enumerate() {
        let mut place = Place::new(&[("a/b", "")]);
        place.packed("a/b", "1.0.0", &[("terraform-provider-b", "x")]);
        place.run();
        place.locks = place.run().0.locks;
        std::fs::remove_dir_all(place.path("providers")).expect("it exists");
        place.cache = Some(place.path("cache"));
        let cached = place.path("cache/registry.opentofu.org/a/b/1.0.0/linux_amd64");
        std::fs::create_dir_all(cached.parent().expect("is below")).expect("writable");
        plant(&cached);
        let (installed, events) = place.run();
        assert!(installed.errors.is_empty(), "{number}: {:?}", installed.errors);
        let to_cache = |it: &InstallEvent| matches!(it, InstallEvent::InstallingToCache(..));
        assert!(events.iter().any(to_cache), "{number}: {events:?}");
        let target = place.path("providers/registry.opentofu.org/a/b/1.0.0/linux_amd64");
        let text = std::fs::read_to_string(target.join("terraform-provider-b"));
        assert_eq!(text.expect("is there"), "x", "{number}");
        assert!(place.locate().is_ok(), "{number}");
    }
}

/// Without a lock, a cached package is used only with the user's permission.
#[test]
fn unlocked_cache_entry_is_used_only_with_permission() {
    for (may_break, expected) in [(false, "of the mirror"), (true, "of the cache")] {
        let mut place = Place::new(&[("a/b", "")]);
        place.packed("a/b", "1.0.0", &[("terraform-provider-b", "of the mirror")]);
        place.cache = Some(place.path("cache"));
        place.may_break = may_break;
        let cached = place.path("cache/registry.opentofu.org/a/b/1.0.0/linux_amd64");
        std::fs::create_dir_all(&cached).expect("writable");
        std::fs::write(cached.join("terraform-provider-b"), "of the cache").expect("writable");
        place.check(expect![[r#"
            - Finding latest version of a/b...
            - Installing a/b v1.0.0 to the shared cache directory...
            - Installed a/b v1.0.0 (unauthenticated)
            - Using a/b v1.0.0 from the shared cache directory
            = registry.opentofu.org/a/b 1.0.0 "" 1 hashes"#]]);
        let target = place.path("providers/registry.opentofu.org/a/b/1.0.0/linux_amd64");
        let text = std::fs::read_to_string(target.join("terraform-provider-b")).expect("is there");
        assert_eq!(text, expected);
        assert!(place.locate().is_ok());
    }
}

#[test]
fn unmanaged_provider_is_neither_installed_nor_locked() {
    let mut place = Place::new(&[("a/b", ">= 7.0"), ("c/d", "")]);
    place.unpacked("c/d", "1.0.0", "linux_amd64");
    place.unmanaged.insert(source("a/b"));
    place.check(expect![[r#"
        - Finding latest version of c/d...
        - Installing c/d v1.0.0...
        - Installed c/d v1.0.0 (unauthenticated)
        = registry.opentofu.org/c/d 1.0.0 "" 1 hashes"#]]);
    // A locked provider stays locked.
    place.unmanaged.insert(source("c/d"));
    place.check(expect![[r#"= registry.opentofu.org/c/d 1.0.0 "" 1 hashes"#]]);
}

#[test]
fn package_with_another_hash_than_locked_is_refused() {
    let mut place = Place::new(&[("a/b", "")]);
    let package = place.unpacked("a/b", "1.0.0", "linux_amd64");
    place.check(expect![[r#"
        - Finding latest version of a/b...
        - Installing a/b v1.0.0...
        - Installed a/b v1.0.0 (unauthenticated)
        = registry.opentofu.org/a/b 1.0.0 "" 1 hashes"#]]);
    std::fs::write(package.join("terraform-provider-b_v1.0.0"), "tampered").expect("writable");
    place.check(expect![[r#"
        - Reusing previous version of a/b from the dependency lock file
        - Installing a/b v1.0.0...
        Error while installing a/b v1.0.0: the local package for registry.opentofu.org/a/b 1.0.0 doesn't match any of the checksums previously recorded in the dependency lock file (this might be because the available checksums are for packages targeting different platforms); for more information: https://opentofu.org/docs/language/files/dependency-lock/#checksum-verification"#]]);
    expect![[r#"
        The installed provider plugins are not consistent with the packages selected in the dependency lock file:
          - registry.opentofu.org/a/b: the cached package for registry.opentofu.org/a/b 1.0.0 (in ROOT/providers) does not match any of the checksums recorded in the dependency lock file

        Mayfly uses external plugins to integrate with a variety of different infrastructure services. To download the plugins required for this configuration, run:
          mayfly init"#]].assert_eq(&place.locate().expect_err("tampered"));
    std::fs::remove_dir_all(place.path("providers")).expect("it exists");
    expect![[r#"
        The installed provider plugins are not consistent with the packages selected in the dependency lock file:
          - registry.opentofu.org/a/b: there is no package for registry.opentofu.org/a/b 1.0.0 cached in ROOT/providers

        Mayfly uses external plugins to integrate with a variety of different infrastructure services. To download the plugins required for this configuration, run:
          mayfly init"#]].assert_eq(&place.locate().expect_err("not there"));
    place.locks = Locks::default();
    expect![[r#"
        The following dependency selections recorded in the lock file are inconsistent with the current configuration:
          - provider registry.opentofu.org/a/b: required by this configuration but no version is selected

        To make the initial dependency selections that will initialize the dependency lock file, run:
          mayfly init"#]].assert_eq(&place.locate().expect_err("not locked"));
}

#[test]
fn missing_provider_errors_match_opentofu() {
    let mut place = Place::new(&[
        ("a/none", ">= 1.0"),
        ("a/old", ">= 2.0"),
        ("a/other", ""),
        ("a/empty", ""),
        ("terraform.io/builtin/x", ""),
    ]);
    place.unpacked("a/old", "1.0.0", "linux_amd64");
    place.unpacked("a/other", "1.0.0", "darwin_arm64");
    let empty = place.unpacked("a/empty", "1.0.0", "linux_amd64");
    std::fs::remove_file(empty.join("terraform-provider-empty_v1.0.0")).expect("it exists");
    place.check(expect![[r#"
        - Finding latest version of a/empty...
        - Finding a/none versions matching ">= 1.0.0"...
        - Finding a/old versions matching ">= 2.0.0"...
        - Finding latest version of a/other...
        - Installing a/empty v1.0.0...
        Could not retrieve the list of available versions for provider a/none: provider registry.opentofu.org/a/none was not found in any of the search locations

          - ROOT/mirror

        Check its source and version in every required_providers block that names it.
        Could not retrieve the list of available versions for provider a/old: no available releases match the given constraints >= 2.0.0

        Check its source and version in every required_providers block that names it.
        Could not retrieve the list of available versions for provider a/other: provider registry.opentofu.org/a/other 1.0.0 is not available for linux_amd64

        Check its source and version in every required_providers block that names it.
        Cannot use terraform.io/builtin/x: this Mayfly release has no built-in provider of that name.
        Error while installing a/empty v1.0.0: provider binary not found: could not find executable file starting with terraform-provider-empty"#]]);
}

#[test]
fn package_entry_outside_its_directory_is_refused() {
    let mut place = Place::new(&[("a/b", "")]);
    place.packed("a/b", "1.0.0", &[("terraform-provider-b", "x"), ("../../escaped", "y")]);
    place.check(expect![[r#"
        - Finding latest version of a/b...
        - Installing a/b v1.0.0...
        Error while installing a/b v1.0.0: the package ROOT/mirror/registry.opentofu.org/a/b/terraform-provider-b_1.0.0_linux_amd64.zip has the unsafe entry "../../escaped""#]]);
    assert!(!place.path("providers/registry.opentofu.org/a/b/1.0.0/linux_amd64").exists());
}

#[test]
fn bundled_and_overridden_providers_need_no_package() {
    let mut place = Place::new(&[("mayfly/playground", ">= 0.1"), ("a/b", "> 9.0")]);
    place.sources.bundled.push(BundledProvider {
        source: source("mayfly/playground"),
        version: Version::new(0, 1, 0),
        executable: "/bin/self".into(),
        arguments: vec!["serve".to_owned()],
    });
    let package = place.unpacked("a/b", "1.0.0", "linux_amd64");
    place.sources.overrides.insert(source("a/b"), package.clone());
    place.check(expect![[r#"
        - a/b is overridden by the CLI configuration
        - mayfly/playground v0.1.0 is bundled with Mayfly"#]]);
    let located = place.locate().expect("nothing has to be installed");
    assert!(matches!(&located[&source("mayfly/playground")], Located::Bundled { .. }));
    let executable = package.join("terraform-provider-b_v1.0.0");
    assert_eq!(located[&source("a/b")], Located::Overridden { executable });
    place.require("mayfly/playground", "> 1.0");
    place.check(expect![[r#"
        - a/b is overridden by the CLI configuration
        - Finding mayfly/playground versions matching "> 1.0.0"...
        Could not retrieve the list of available versions for provider mayfly/playground: provider registry.opentofu.org/mayfly/playground was not found in any of the search locations

          - ROOT/mirror

        Version 0.1.0 is bundled with Mayfly, which the constraints "> 1.0.0" do not allow: change them in required_providers.

        Check its source and version in every required_providers block that names it."#]]);
}

#[test]
fn sources_without_configuration_are_implied_mirrors_and_remotes() {
    let place = Place::new(&[]);
    place.unpacked("a/b", "1.0.0", "linux_amd64");
    let implied = ImpliedMirrors { directories: vec![place.path("mirror"), place.path("nowhere")] };
    let sources = Sources::new(&CliConfig::default(), &implied, Vec::new());
    let available =
        |name| run(sources.available(&source(name), &place.platform, None)).expect("found");
    assert_eq!((available("a/b").packages.len(), available("a/b").remotes.len()), (1, 0));
    assert_eq!(available("a/c").remotes, ["the provider registry registry.opentofu.org"]);
    let none = place.sources.from_plugin_dirs(&[]);
    let none = run(none.available(&source("a/b"), &place.platform, None)).expect("found");
    assert!(none.packages.is_empty() && none.searched.is_empty());
}
