//! `providers lock`, `providers mirror` and network mirrors, compared with the real `tofu` where it is available.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use registry::{Pages, Server, answer};

use crate::{
    bench::{Bench, Run},
    downloads::{archive, authority, trusting},
    tofu::{Program, both_streams, programs, words},
};

const MAIN: &str = "terraform {\n  required_providers {\n    thing = {\n      source  = \
                    \"example.com/tests/thing\"\n      version = \"~> 1.0\"\n    }\n  }\n}\n";

const LOCKED: &str = "# This file is maintained automatically by \"tofu init\".\n# Manual edits may be lost in future \
                      updates.\n\nprovider \"example.com/tests/thing\" {\n  version     = \"1.2.0\"\n  constraints = \
                      \"~> 1.0\"\n  hashes = [\n";

/// The hashes of the packages for `linux_amd64` and `darwin_arm64`, from OpenTofu.
const LINUX: &str = "h1:dowthA/WRUEJuiavlG5RlwgSxJU+1WqJVny7MN2lA9s=";
const DARWIN: &str = "h1:LKyMPBMH/e5NZ6PvbU+8cQEEUICidTdizK91TWlyAQ8=";

const FETCHED: &str = "- Fetching THING 1.2.0 for linux_amd64... - Retrieved THING 1.2.0 for linux_amd64 \
                       (unauthenticated) - Obtained THING checksums for linux_amd64; This was a new provider and the \
                       checksums for this platform are now tracked in the lock file";

const UPDATED: &str = "Success! Mayfly has updated the lock file. Review the changes in .terraform.lock.hcl and then \
                       commit to your version control system to retain the new checksums.";

const INDEX: &str = r#"{
  "archives": {
    "darwin_arm64": {
      "hashes": [
        "DARWIN"
      ],
      "url": "terraform-provider-thing_1.2.0_darwin_arm64.zip"
    },
    "linux_amd64": {
      "hashes": [
        "LINUX"
      ],
      "url": "terraform-provider-thing_1.2.0_linux_amd64.zip"
    }
  }
}"#;

const THING: &str = "example.com/tests/thing";

/// Creates a mirror with packages for two platforms.
fn bench() -> Bench {
    let bench = Bench::with_main(MAIN);
    for platform in ["linux_amd64", "darwin_arm64"] {
        let package = bench.path(&format!("../mirror/{THING}/1.2.0/{platform}"));
        fs::create_dir_all(&package).expect("can be made");
        let plugin = package.join("terraform-provider-thing_v1.2.0");
        fs::write(&plugin, format!("no program for {platform}")).expect("can be written");
        fs::set_permissions(plugin, fs::Permissions::from_mode(0o755)).expect("can be set");
    }
    let mirror = bench.root().join("mirror");
    bench
        .write("../rc", &configured(&format!("filesystem_mirror {{\n    path = {mirror:?}\n  }}")));
    bench
}

fn configured(method: &str) -> String {
    format!("provider_installation {{\n  {method}\n}}\n")
}

fn providers(program: &Program, bench: &Bench, arguments: &[&str]) -> Run {
    let arguments = std::iter::once("providers").chain(arguments.iter().copied());
    program.run(bench, ".", arguments).env("TF_CLI_CONFIG_FILE", bench.root().join("rc"))
}

fn lock_file(hashes: &[&str]) -> String {
    let lines: String = hashes.iter().map(|it| format!("    \"{it}\",\n")).collect();
    format!("{LOCKED}{lines}  ]\n}}\n")
}

#[track_caller]
fn assert_locked(bench: &Bench, hashes: &[&str]) {
    let text = String::from_utf8(bench.read(".terraform.lock.hcl")).expect("is text");
    assert_eq!(text, lock_file(hashes));
}

fn from_mirror(bench: &Bench) -> String {
    format!("-fs-mirror={}", bench.root().join("mirror").display())
}

#[test]
fn lock_adds_the_hashes_of_platforms_from_a_directory() {
    for program in programs() {
        let bench = bench();
        let mirror = from_mirror(&bench);
        let ended =
            providers(&program, &bench, &["lock", &mirror, "-platform=linux_amd64"]).succeeds();
        assert_eq!(
            words(&ended.out),
            format!("{} {}", FETCHED.replace("THING", THING), UPDATED),
            "{}",
            program.name()
        );
        assert_locked(&bench, &[LINUX]);
        let again = ["lock", &mirror, "-platform=linux_amd64", THING];
        providers(&program, &bench, &again).succeeds().shows(&[
            "All checksums for this platform were already tracked in the lock file",
            "found no need for changes.",
        ]);
        let both = ["lock", &mirror, "-platform=linux_amd64", "-platform=darwin_arm64"];
        providers(&program, &bench, &both).succeeds();
        assert_locked(&bench, &[DARWIN, LINUX]);
    }
}

#[test]
fn wrong_arguments_of_lock_are_refused() {
    for program in programs() {
        let bench = bench();
        let mirror = from_mirror(&bench);
        for (arguments, expected) in [
            (["lock", &mirror, "-platform=linux"], "Invalid target platform The string \"linux\""),
            (
                ["lock", &mirror, "example.com/tests/other"],
                "is not required by the current configuration.",
            ),
            (["lock", &mirror, "a/b/c/d"], "must be in the format \"[hostname/][namespace/]name\""),
            (["lock", &mirror, "-net-mirror=https://a.example/"], "are mutually-exclusive"),
            (
                ["lock", "-net-mirror=http://a.example/", THING],
                "requires a valid https: URL as the mirror base URL",
            ),
            (["lock", &mirror, "-platform=windows_386"], "1.2.0 is not available for windows_386"),
        ] {
            let (_, err) = both_streams(&providers(&program, &bench, &arguments).fails());
            let err = err.replace(['╷', '│', '╵'], "");
            let err = words(&err);
            assert!(err.contains(expected), "{} {arguments:?}: {err}", program.name());
            assert!(!bench.path(".terraform.lock.hcl").exists());
        }
    }
}

#[test]
fn mirror_copies_the_packages_that_the_lock_file_selects() {
    let bench = bench();
    let mirror = from_mirror(&bench);
    providers(&Program::Mayfly, &bench, &["lock", &mirror, "-platform=linux_amd64"]).succeeds();
    let both = ["mirror", "copy", "-platform=linux_amd64", "-platform=darwin_arm64"];
    let ended = providers(&Program::Mayfly, &bench, &both).succeeds();
    assert_eq!(
        ended.out,
        format!(
            "- Mirroring {THING}...\n  - Selected v1.2.0 to match dependency lock file\n  - Downloading package for \
             linux_amd64...\n  - Downloading package for darwin_arm64...\n"
        )
    );
    let index = bench.read(&format!("copy/{THING}/1.2.0.json"));
    let expected = INDEX.replace("DARWIN", DARWIN).replace("LINUX", LINUX);
    assert_eq!(String::from_utf8_lossy(&index), expected);
    // Both programs install from the copy what the lock file has.
    let copy = bench.path("copy");
    bench.write("../rc", &configured(&format!("filesystem_mirror {{\n    path = {copy:?}\n  }}")));
    for program in programs() {
        drop(fs::remove_dir_all(bench.path(".terraform")));
        providers(&program, &bench, &["lock", &format!("-fs-mirror={}", copy.display())])
            .succeeds();
    }
    bench.write("main.tf", &MAIN.replace("~> 1.0", "~> 2.0"));
    let ended = providers(&Program::Mayfly, &bench, &["mirror", "copy"]).fails();
    ended.shows(&["Error: Inconsistent dependency lock file", "mayfly init -upgrade"]);
}

/// A network mirror with the files that `providers mirror` wrote.
fn pages(directory: &Path) -> Pages {
    let mut pages = Pages::new();
    for entry in fs::read_dir(directory.join(THING)).expect("is there") {
        let path = entry.expect("is there").path();
        let name = path.file_name().and_then(|it| it.to_str()).expect("is text").to_owned();
        let kind = if name.ends_with(".json") { "application/json" } else { "application/zip" };
        let body = fs::read(&path).expect("is readable");
        pages.insert(format!("/mirror/{THING}/{name}"), answer(kind, &body));
    }
    pages
}

#[test]
fn packages_of_a_network_mirror_are_locked_and_installed() {
    for program in programs() {
        let bench = bench();
        providers(&Program::Mayfly, &bench, &["mirror", "copy"]).succeeds();
        let server = Server::start(&authority(&bench), pages(&bench.path("copy")));
        let url = format!("https://localhost:{}/mirror/", server.port);
        let token = format!("TF_TOKEN_localhost:{}", server.port);
        let run = |arguments: &[&str]| {
            trusting(&bench, providers(&program, &bench, arguments)).env(&token, "t0ken")
        };
        let ended = run(&["lock", &format!("-net-mirror={url}")]).succeeds();
        ended.shows(&["1.2.0 for", "(verified checksum)"]);
        ended.lacks(&["t0ken"]);
        let heads = server.heads();
        let index = format!("GET /mirror/{THING}/index.json HTTP/1.1\r\n");
        assert!(heads[0].starts_with(&index), "{heads:?}");
        assert!(heads[0].to_lowercase().contains("authorization: bearer t0ken"), "{heads:?}");
        // The packages may be elsewhere, so their server gets no token.
        let archive = heads.iter().find(|it| it.contains(".zip HTTP/1.1")).expect("is downloaded");
        assert!(!archive.to_lowercase().contains("authorization"), "{archive}");
        let lock = String::from_utf8(bench.read(".terraform.lock.hcl")).expect("is text");
        assert!(lock.contains("\"h1:") && !lock.contains("\"zh:"), "{lock}");
        bench.write("../rc", &configured(&format!("network_mirror {{\n    url = {url:?}\n  }}")));
        let init = program.run(&bench, ".", ["init"]);
        let init = init.env("TF_CLI_CONFIG_FILE", bench.root().join("rc")).env(&token, "t0ken");
        trusting(&bench, init)
            .succeeds()
            .shows(&["Installed example.com/tests/thing v1.2.0 (verified checksum)"]);
    }
}

#[test]
fn network_mirror_with_another_package_or_without_one_is_an_error() {
    let bench = bench();
    providers(&Program::Mayfly, &bench, &["mirror", "copy"]).succeeds();
    let mut pages = pages(&bench.path("copy"));
    let package = pages.keys().find(|it| it.ends_with(".zip")).expect("is there").clone();
    let text = |at: &str, text: &str| (at.to_owned(), answer("application/json", text.as_bytes()));
    pages.extend([
        (package, archive("another package")),
        text(&format!("/none/{THING}/index.json"), "{\"versions\":{\"1.3.0\":{}}}"),
        text(&format!("/none/{THING}/1.3.0.json"), "{\"archives\":{}}"),
        text(&format!("/odd/{THING}/index.json"), "[1]"),
        (format!("/html/{THING}/index.json"), answer("text/html", b"{}")),
    ]);
    let server = Server::start(&authority(&bench), pages);
    for (place, expected) in [
        ("mirror", "provider package doesn't match the expected checksum \"h1:"),
        ("none", "1.3.0 is not available for"),
        ("odd", "is not an index of packages"),
        ("html", "has another Content-Type than application/json"),
        ("nowhere", "was not found in any of the search locations"),
    ] {
        let url = format!("-net-mirror=https://localhost:{}/{place}/", server.port);
        let run = providers(&Program::Mayfly, &bench, &["lock", &url]);
        let (_, err) = both_streams(&trusting(&bench, run).fails());
        assert!(err.contains(expected), "{place}: {err}");
    }
}
