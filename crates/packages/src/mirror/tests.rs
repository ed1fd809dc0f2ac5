use std::fs;

use expect_test::expect;

use super::*;
use crate::blocking::run;
use crate::install::tests::{Place, source};

fn mirrored(place: &Place, platforms: &[&str]) -> (Vec<MirrorEvent>, Vec<MirrorError>) {
    let platforms: Vec<_> =
        platforms.iter().map(|it| Platform::parse(it).expect("a platform")).collect();
    let mut events = Vec::new();
    let request = MirrorRequest {
        requirements: &place.requirements,
        locks: &place.locks,
        sources: &place.sources,
        platforms: &platforms,
        directory: &place.path("copy"),
    };
    let errors = run(mirror(&request, &mut |event| events.push(event)));
    (events, errors)
}

fn text(place: &Place, name: &str) -> String {
    let path = place.path("copy/registry.opentofu.org/a").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn packed_and_unpacked_packages_are_mirrored_with_an_index() {
    let place =
        Place::new(&[("a/b", ">= 1.0"), ("a/c", ""), ("terraform.io/builtin/terraform", "")]);
    for platform in ["linux_amd64", "darwin_arm64"] {
        place.unpacked("a/b", "1.0.0", platform);
    }
    place.packed("a/c", "2.0.0", &[("terraform-provider-c", "x")]);
    let (events, errors) = mirrored(&place, &["linux_amd64"]);
    assert_eq!(errors, []);
    let (b, version) = (source("a/b"), Version::new(1, 0, 0));
    let by = SelectedBy::Constraints(">= 1.0.0".to_owned());
    assert_eq!(events[0], MirrorEvent::Mirroring(b.clone()));
    assert_eq!(events[1], MirrorEvent::Selected(b.clone(), version.clone(), by));
    assert_eq!(
        events.last(),
        Some(&MirrorEvent::Builtin(source("terraform.io/builtin/terraform")))
    );
    let original = "mirror/registry.opentofu.org/a/c/terraform-provider-c_2.0.0_linux_amd64.zip";
    let original = fs::read(place.path(original)).expect("readable");
    let copy = "copy/registry.opentofu.org/a/c/terraform-provider-c_2.0.0_linux_amd64.zip";
    assert_eq!(fs::read(place.path(copy)).expect("is there"), original);
    expect![[r#"
        {
          "versions": {
            "1.0.0": {}
          }
        }"#]]
    .assert_eq(&text(&place, "b/index.json"));
    let unpacked = place.path("mirror/registry.opentofu.org/a/b/1.0.0/linux_amd64");
    let hash = run(crate::hash_of_directory(&unpacked)).expect("readable");
    let expected = format!(
        "{{\n  \"archives\": {{\n    \"linux_amd64\": {{\n      \"hashes\": [\n        \"{hash}\"\n      ],\n      \
         \"url\": \"terraform-provider-b_1.0.0_linux_amd64.zip\"\n    }}\n  }}\n}}"
    );
    assert_eq!(text(&place, "b/1.0.0.json"), expected);
    // The index of a second run has the packages of the first one, too.
    assert_eq!(mirrored(&place, &["darwin_arm64"]).1.len(), 1, "a/c has no such package");
    let index = text(&place, "b/1.0.0.json");
    assert!(index.contains("linux_amd64.zip") && index.contains("darwin_arm64.zip"), "{index}");
}

#[test]
fn mirror_is_a_source_of_the_same_packages() {
    let mut place = Place::new(&[("a/b", "")]);
    place.unpacked("a/b", "1.0.0", "linux_amd64");
    assert_eq!(mirrored(&place, &["linux_amd64"]).1, []);
    let first = fs::read(
        place.path("copy/registry.opentofu.org/a/b/terraform-provider-b_1.0.0_linux_amd64.zip"),
    );
    assert_eq!(mirrored(&place, &["linux_amd64"]).1, []);
    let second = fs::read(
        place.path("copy/registry.opentofu.org/a/b/terraform-provider-b_1.0.0_linux_amd64.zip"),
    );
    assert_eq!(first.expect("is there"), second.expect("is there"), "packing is reproducible");
    place.sources = place.sources.from_plugin_dirs(&[place.path("copy")]);
    let platforms = [Platform::parse("linux_amd64").expect("a platform")];
    let request = crate::LockRequest {
        requirements: &place.requirements,
        locks: &place.locks,
        sources: &place.sources,
        platforms: &platforms,
    };
    let locks = run(crate::lock_platforms(&request, &mut |_| {})).expect("is locked");
    let unpacked = place.path("mirror/registry.opentofu.org/a/b/1.0.0/linux_amd64");
    let hash = run(crate::hash_of_directory(&unpacked)).expect("readable");
    assert_eq!(locks.providers[&source("a/b")].hashes, [hash].into());
}

#[test]
fn locked_version_is_mirrored_and_errors_do_not_stop_the_others() {
    let mut place = Place::new(&[("a/b", ""), ("a/c", ""), ("a/d", "")]);
    place.unpacked("a/b", "1.0.0", "linux_amd64");
    place.unpacked("a/b", "1.1.0", "linux_amd64");
    place.unpacked("a/d", "1.0.0", "linux_amd64");
    let lock = crate::ProviderLock {
        version: Version::new(1, 0, 0),
        constraints: VersionConstraint::any(),
        hashes: TreeSet::new(),
    };
    place.locks.providers.insert(source("a/b"), lock);
    let (events, errors) = mirrored(&place, &["linux_amd64"]);
    let selected =
        MirrorEvent::Selected(source("a/b"), Version::new(1, 0, 0), SelectedBy::LockFile);
    assert!(events.contains(&selected), "{events:?}");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].step, MirrorStep::Select);
    assert!(errors[0].detail.contains("registry.opentofu.org/a/c"), "{errors:?}");
    assert!(text(&place, "d/index.json").contains("1.0.0"));
}
