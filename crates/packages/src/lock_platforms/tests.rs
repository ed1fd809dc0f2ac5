use expect_test::{Expect, expect};

use super::*;
use crate::blocking::run;
use crate::install::tests::{Place, source};

fn platforms(texts: &[&str]) -> Vec<Platform> {
    texts.iter().map(|it| Platform::parse(it).expect("a platform")).collect()
}

/// Locks for the platforms and compares the events, the locks and the error.
#[track_caller]
fn check(place: &mut Place, wanted: &[&str], expected: Expect) {
    let platforms = platforms(wanted);
    let request = LockRequest {
        requirements: &place.requirements,
        locks: &place.locks,
        sources: &place.sources,
        platforms: &platforms,
    };
    let mut lines = Vec::new();
    let locked = run(lock_platforms(&request, &mut |event| lines.push(event.to_string())));
    match locked {
        Ok(locks) => {
            let entries = locks.providers.iter().map(|(source, it)| {
                let (version, hashes) = (&it.version, it.hashes.len());
                format!("= {source} {version} {:?} {hashes} hashes", it.constraints.canonical())
            });
            lines.extend(entries);
            place.locks = locks;
        }
        Err(error) => lines.push(error.to_string()),
    }
    let root = place.path("").display().to_string();
    expected.assert_eq(&lines.join("\n").replace(&root, "ROOT/"));
}

#[test]
fn hashes_of_several_platforms_are_added_to_the_locks() {
    let mut place = Place::new(&[("a/b", "~> 1.0"), ("a/c", "")]);
    for platform in ["linux_amd64", "darwin_arm64"] {
        let package = place.unpacked("a/b", "1.2.0", platform);
        std::fs::write(package.join("README"), platform).expect("writable");
    }
    place.packed("a/c", "2.0.0", &[("terraform-provider-c", "x")]);
    check(
        &mut place,
        &["linux_amd64"],
        expect![[r#"
            - Fetching a/b 1.2.0 for linux_amd64...
            - Retrieved a/b 1.2.0 for linux_amd64 (unauthenticated)
            - Fetching a/c 2.0.0 for linux_amd64...
            - Retrieved a/c 2.0.0 for linux_amd64 (unauthenticated)
            - Obtained a/b checksums for linux_amd64; This was a new provider and the checksums for this platform are now tracked in the lock file
            - Obtained a/c checksums for linux_amd64; This was a new provider and the checksums for this platform are now tracked in the lock file
            = registry.opentofu.org/a/b 1.2.0 "~> 1.0" 1 hashes
            = registry.opentofu.org/a/c 2.0.0 "" 1 hashes"#]],
    );
    place.requirements.remove(&source("a/c"));
    // A newer version does not replace the locked one.
    place.unpacked("a/b", "1.3.0", "linux_amd64");
    check(
        &mut place,
        &["linux_amd64", "darwin_arm64"],
        expect![[r#"
            - Fetching a/b 1.2.0 for linux_amd64...
            - Retrieved a/b 1.2.0 for linux_amd64 (unauthenticated)
            - Fetching a/b 1.2.0 for darwin_arm64...
            - Retrieved a/b 1.2.0 for darwin_arm64 (unauthenticated)
            - Obtained a/b checksums for linux_amd64; All checksums for this platform were already tracked in the lock file
            - Obtained a/b checksums for darwin_arm64; Additional checksums for this platform are now tracked in the lock file
            = registry.opentofu.org/a/b 1.2.0 "~> 1.0" 2 hashes
            = registry.opentofu.org/a/c 2.0.0 "" 1 hashes"#]],
    );
}

#[test]
fn missing_packages_are_reported_together_and_lock_nothing() {
    let mut place = Place::new(&[("a/b", ""), ("a/c", "> 2.0"), ("a/d", ""), ("a/e", "")]);
    place.unpacked("a/b", "1.0.0", "linux_amd64");
    place.unpacked("a/c", "2.0.0", "darwin_arm64");
    place.packed("a/e", "1.0.0", &[("README", "no plugin")]);
    let before = place.locks.clone();
    check(
        &mut place,
        &["linux_amd64"],
        expect![[r#"
            - Fetching a/b 1.0.0 for linux_amd64...
            - Retrieved a/b 1.0.0 for linux_amd64 (unauthenticated)
            - Fetching a/e 1.0.0 for linux_amd64...
            Mayfly failed to fetch the requested providers for linux_amd64 in order to calculate their checksums: some providers could not be installed:
            - registry.opentofu.org/a/c: no available releases match the given constraints > 2.0.0
            - registry.opentofu.org/a/d: provider registry.opentofu.org/a/d was not found in any of the search locations

              - ROOT/mirror
            - registry.opentofu.org/a/e: provider binary not found: could not find executable file starting with terraform-provider-e."#]],
    );
    assert_eq!(place.locks, before);
}

#[test]
fn version_must_be_the_same_for_all_platforms_and_match_the_lock() {
    let mut place = Place::new(&[("a/b", "")]);
    place.unpacked("a/b", "1.0.0", "linux_amd64");
    place.unpacked("a/b", "1.1.0", "darwin_arm64");
    check(
        &mut place,
        &["linux_amd64", "darwin_arm64"],
        expect![[r#"
            - Fetching a/b 1.0.0 for linux_amd64...
            - Retrieved a/b 1.0.0 for linux_amd64 (unauthenticated)
            - Fetching a/b 1.1.0 for darwin_arm64...
            - Retrieved a/b 1.1.0 for darwin_arm64 (unauthenticated)
            The version constraint for registry.opentofu.org/a/b selected different versions for different platforms. The source may have changed while this command ran, or it may have no version for all of them."#]],
    );
    let lock = ProviderLock {
        version: Version::parse("1.0.0").expect("a version"),
        constraints: VersionConstraint::any(),
        hashes: Default::default(),
    };
    place.locks.providers.insert(source("a/b"), lock);
    place.require("a/b", "> 1.0.0");
    check(
        &mut place,
        &["linux_amd64"],
        expect![[r#"
            Mayfly failed to fetch the requested providers for linux_amd64 in order to calculate their checksums: some providers could not be installed:
            - registry.opentofu.org/a/b: locked provider registry.opentofu.org/a/b 1.0.0 does not match configured version constraint > 1.0.0; must use mayfly init -upgrade to allow selection of new versions."#]],
    );
}
