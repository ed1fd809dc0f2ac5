//! `provider new`: the crate of a provider. That its code builds and works is shown by the tests of
//! `examples/terraform-provider-notes`, of which it is a copy.

use std::path::Path;

use crate::bench::Bench;

/// The root of this repository, which has the SDK.
fn checkout() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn crate_of_a_provider_is_created_once() {
    let bench = Bench::new();
    let sdk = format!("-sdk={}", checkout().display());
    let created =
        bench.mayfly(".", ["provider", "new", "fleet", "-namespace=acme", &sdk]).succeeds();
    created.shows(&["Created terraform-provider-fleet", "cargo test"]);
    let text = |path: &str| String::from_utf8(bench.read(path)).expect("text");
    let manifest = text("terraform-provider-fleet/Cargo.toml");
    assert!(manifest.contains("name = \"terraform-provider-fleet\""), "{manifest}");
    let provider = text("terraform-provider-fleet/src/lib.rs");
    assert!(provider.contains("\"registry.opentofu.org/acme/fleet\""), "{provider}");
    let tests = text("terraform-provider-fleet/tests/fleet.rs");
    assert!(tests.contains("fleet_note.a") && !tests.contains("notes_note"), "{tests}");

    bench.write("terraform-provider-fleet/src/lib.rs", "// mine");
    let again = bench.mayfly(".", ["provider", "new", "fleet", &sdk]).fails();
    again.shows(&["The provider cannot be created", "terraform-provider-fleet exists already"]);
    assert_eq!(text("terraform-provider-fleet/src/lib.rs"), "// mine");
}

#[test]
fn unusable_names_and_checkouts_are_refused() {
    let bench = Bench::new();
    let name = bench.mayfly(".", ["provider", "new", "My-Provider"]).fails();
    name.shows(&["cannot be the name of a provider", "lower-case letters and digits"]);
    let sdk = bench.mayfly(".", ["provider", "new", "fleet", "-sdk=."]).fails();
    sdk.shows(&["is not the root of a checkout of Mayfly"]);
    assert!(!bench.path("terraform-provider-fleet").exists());
}
