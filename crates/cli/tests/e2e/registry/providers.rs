//! Providers of registries.

use std::fs;

use registry::{AuthorKey, Pages, Release, Server, answer, package, packed, pages, sha256};

use crate::{
    bench::{Bench, Ended, Run},
    downloads::{authority, trusting},
    tofu::{Program, both_streams, programs, words},
};

const PACKAGE: &str = "/files/1.2.0/terraform-provider-thing_1.2.0_linux_amd64.zip";

/// A configuration that requires `tests/thing` of a host, with these other arguments.
fn requires(host: &str, arguments: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    thing = {{\n      source = \"{host}/tests/thing\"\n      \
         {arguments}\n    }}\n  }}\n}}\n"
    )
}

/// Starts a registry at `localhost` and writes a configuration that requires its provider.
fn bench(pages: Pages) -> (Bench, Server, String) {
    let bench = Bench::new();
    let server = Server::start(&authority(&bench), pages);
    let host = format!("localhost:{}", server.port);
    bench.write("main.tf", &requires(&host, "version = \"~> 1.0\""));
    (bench, server, host)
}

fn init(program: &Program, bench: &Bench, arguments: &[&str]) -> Run {
    let arguments = std::iter::once("init").chain(arguments.iter().copied());
    trusting(bench, program.run(bench, ".", arguments))
}

fn lock(bench: &Bench) -> String {
    String::from_utf8(bench.read(".terraform.lock.hcl")).expect("is text")
}

/// The hashes of a scheme in the lock file.
fn locked(bench: &Bench, scheme: &str) -> Vec<String> {
    let text = lock(bench);
    let lines = text.lines().map(|it| it.trim().trim_matches([',', '"']));
    lines.filter(|it| it.starts_with(scheme)).map(str::to_owned).collect()
}

fn zip_hashes(version: &str) -> Vec<String> {
    let mut hashes = ["linux_amd64", "darwin_arm64"]
        .map(|it| format!("zh:{}", sha256(&package(version, it))))
        .to_vec();
    hashes.sort();
    hashes
}

/// The text of an error without its frame.
fn error_of(ended: Ended) -> String {
    let (_, err) = both_streams(&ended);
    words(&err.replace(['╷', '│', '╵'], ""))
}

#[test]
fn the_newest_allowed_release_is_installed_and_its_signed_checksums_are_locked() {
    let key = AuthorKey::new();
    for program in programs() {
        let releases = ["0.9.0", "1.1.0", "1.2.0", "2.0.0", "1.3.0-beta1"].map(|version| Release {
            version,
            key: Some(&key),
            ..Release::default()
        });
        let (bench, server, host) = bench(pages(&releases));
        let ended = init(&program, &bench, &[]).succeeds();
        let found = format!("- Finding {host}/tests/thing versions matching \"~> 1.0\"...");
        let installed =
            format!("- Installed {host}/tests/thing v1.2.0 (signed, key ID {})", key.id());
        ended.shows(&[&found, &installed]);
        ended.lacks(&["Incomplete lock file"]);
        assert_eq!(locked(&bench, "zh:"), zip_hashes("1.2.0"), "{}", program.name());
        assert_eq!(locked(&bench, "h1:").len(), 1, "{}", program.name());
        let heads = server.heads();
        let first = "GET /.well-known/terraform.json HTTP/1.1\r\n";
        assert!(heads[0].starts_with(first), "{heads:?}");
        let of_registry = heads.iter().filter(|it| it.contains(" /v1/"));
        for head in of_registry {
            assert!(head.to_lowercase().contains("x-terraform-version: 1."), "{head}");
        }
        // The locked and installed package needs no registry.
        init(&Program::Mayfly, &bench, &[]).succeeds().shows(&["Using previously-installed"]);
        assert!(server.heads().is_empty());
    }
}

#[test]
fn services_of_the_cli_configuration_replace_the_discovery() {
    let key = AuthorKey::new();
    for program in programs() {
        let (bench, server, host) =
            bench(pages(&[Release { key: Some(&key), ..Release::default() }]));
        bench.write("main.tf", &requires("example.com", ""));
        bench.write(
            "../rc",
            &format!(
                "host \"example.com\" {{\n  services = {{\n    \"providers.v1\" = \
                 \"https://{host}/v1/providers\"\n  }}\n}}\n"
            ),
        );
        let run = init(&program, &bench, &[]).env("TF_CLI_CONFIG_FILE", bench.root().join("rc"));
        // OpenTofu replaces the last part of a URL without a slash at its end.
        if let Program::Tofu(_) = program {
            continue;
        }
        run.succeeds().shows(&["- Installed example.com/tests/thing v1.2.0 (signed"]);
        assert!(server.heads().iter().all(|it| !it.contains("well-known")));
    }
}

#[test]
fn tokens_reach_the_registry_alone() {
    let key = AuthorKey::new();
    let mut all = pages(&[Release { key: Some(&key), ..Release::default() }]);
    // The package is elsewhere: the same server, but under a name that is another origin.
    let elsewhere = b"HTTP/1.1 302 Found\r\nlocation: https://localhost:PORT/moved.zip\r\nconnection: close\r\n\
                      content-length: 0\r\n\r\n";
    let archive = all.insert(PACKAGE.to_owned(), elsewhere.to_vec()).expect("is there");
    all.insert("/moved.zip".to_owned(), archive);
    let (bench, server, host) = bench(all);
    let run = init(&Program::Mayfly, &bench, &[]).env(&format!("TF_TOKEN_{host}"), "t0ken");
    run.succeeds().lacks(&["t0ken"]);
    let (asked, downloaded): (Vec<_>, Vec<_>) = server
        .heads()
        .into_iter()
        .partition(|it| !it.contains(" /files/") && !it.contains(" /moved"));
    assert_eq!(downloaded.len(), 4, "{downloaded:?}");
    assert!(downloaded.iter().all(|it| !it.contains("t0ken")), "{downloaded:?}");
    assert!(asked.iter().all(|it| it.contains("Bearer t0ken")), "{asked:?}");
}

#[test]
fn releases_without_keys_and_lists_of_packages_follow_the_policy() {
    let key = AuthorKey::new();
    // Only the default registry may lack keys, and no server here has its name: the CLI configuration leads there.
    let of_default_registry = |bench: &Bench, host: &str| {
        bench.write("main.tf", &requires("registry.opentofu.org", ""));
        bench.write(
            "../rc",
            &format!(
                "host \"registry.opentofu.org\" {{\n  services = {{\n    \"providers.v1\" = \
                 \"https://{host}/v1/providers/\"\n  }}\n}}\n"
            ),
        );
    };
    for program in programs() {
        for key in [None, Some(&key)] {
            let (bench, _server, host) =
                bench(pages(&[Release { key, lists_packages: true, ..Release::default() }]));
            of_default_registry(&bench, &host);
            let rc = bench.root().join("rc");
            let ended = init(&program, &bench, &[]).env("TF_CLI_CONFIG_FILE", &rc).succeeds();
            let expected = match key {
                Some(key) => format!("v1.2.0 (signed, key ID {})", key.id()),
                None => "v1.2.0. Signature validation was skipped due to the registry not containing GPG keys \
                         for this provider"
                    .to_owned(),
            };
            ended.shows(&[&format!("- Installed tests/thing {expected}")]);
            assert_eq!(locked(&bench, "zh:"), zip_hashes("1.2.0"), "{}", program.name());
            // The real hash, and those that the registry lists.
            assert_eq!(locked(&bench, "h1:").len(), 3, "{}: {}", program.name(), lock(&bench));
            fs::remove_dir_all(bench.path(".terraform")).expect("can be removed");
            fs::remove_file(bench.path(".terraform.lock.hcl")).expect("can be removed");
            let strict = init(&program, &bench, &[]).env("TF_CLI_CONFIG_FILE", &rc);
            let strict = strict.env("OPENTOFU_ENFORCE_GPG_VALIDATION", "true");
            match key {
                Some(_) => strict.succeeds(),
                None => strict.fails(),
            };
        }
    }
}

#[test]
fn keyless_release_of_another_registry_is_refused() {
    for program in programs() {
        let (bench, _server, _host) = bench(pages(&[Release::default()]));
        let error = error_of(init(&program, &bench, &[]).fails());
        let expected = "the provider is not signed with a valid signing key; please contact the provider author";
        assert!(error.contains(expected), "{}: {error}", program.name());
        assert!(!bench.path(".terraform.lock.hcl").exists());
    }
}

#[test]
fn wrong_packages_and_signatures_are_refused() {
    let (key, other) = (AuthorKey::new(), AuthorKey::new());
    let signed = || pages(&[Release { key: Some(&key), ..Release::default() }]);
    let by_other = pages(&[Release { key: Some(&other), ..Release::default() }]);
    let (sums, signature) = ("/files/1.2.0/SHA256SUMS", "/files/1.2.0/SHA256SUMS.sig");
    let changed = packed("terraform-provider-thing_v1.2.0", "another program");
    for program in programs() {
        for (path, answer, expected) in [
            (PACKAGE, answer("application/zip", &changed), "archive has incorrect checksum zh:"),
            (
                sums,
                answer("text/plain", b"nothing"),
                "checksum list has no SHA-256 hash for \"terraform-",
            ),
            (signature, by_other[signature].clone(), "signature from unknown issuer"),
            (
                signature,
                answer("text/plain", b"no signature"),
                "not signed with a valid signing key",
            ),
            (signature, b"HTTP/1.1 404 No\r\nconnection: close\r\n\r\n".to_vec(), "404"),
        ] {
            let mut pages = signed();
            pages.insert(path.to_owned(), answer);
            let (bench, _server, _host) = bench(pages);
            let error = error_of(init(&program, &bench, &[]).fails());
            assert!(error.contains(expected), "{} {path}: {error}", program.name());
            assert!(!bench.path(".terraform.lock.hcl").exists());
            let installed = bench.path(".terraform/providers");
            assert!(!installed.join("localhost").exists(), "nothing is installed");
        }
    }
}

#[test]
fn registry_that_lacks_the_provider_is_an_error_with_a_reason() {
    let key = AuthorKey::new();
    let all = || pages(&[Release { key: Some(&key), ..Release::default() }]);
    let versions = "/v1/providers/tests/thing/versions";
    let download = "/v1/providers/tests/thing/1.2.0/download/linux/amd64";
    let discovery = "/.well-known/terraform.json";
    let missing = || b"HTTP/1.1 404 No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".to_vec();
    let denied = b"HTTP/1.1 401 No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".to_vec();
    let failing =
        b"HTTP/1.1 500 No\r\nretry-after: 0\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
            .to_vec();
    let json = |text: &str| answer("application/json", text.as_bytes());
    let old = "{\"versions\":[{\"version\":\"1.2.0\",\"protocols\":[\"4.0\"]},{\"version\":\"1.1.0\",\
               \"protocols\":[\"5.1\"]}]}";
    let of_old = String::from_utf8(all()[download].clone()).expect("is text");
    let of_old = of_old.split("\r\n\r\n").last().expect("a body").replace("5.0", "4.0");
    for (pages, expected) in [
        (vec![(versions, missing())], "search locations - provider registry localhost:"),
        (vec![(download, missing())], "1.2.0 is not available for linux_amd64"),
        (vec![(discovery, missing())], "does not provide a providers service"),
        (
            vec![(discovery, json("{\"providers.v9\": \"/\"}"))],
            "does not support providers version 1",
        ),
        (vec![(discovery, json("[]"))], "could not connect to localhost"),
        (vec![(versions, denied)], "requires authentication credentials"),
        (vec![(versions, failing)], "the status 500"),
        (vec![(versions, json("{\"versions\": 7}"))], "is not understood in line 1"),
        (
            vec![(versions, json("{\"versions\": []}"))],
            "was not found in any of the search locations",
        ),
        (vec![(download, json("{}"))], "is not understood in line 1"),
        (
            vec![(versions, json(old)), (download, json(&of_old))],
            "version 1.1.0 is the newest one that can be used",
        ),
    ] {
        let mut served = all();
        served.extend(pages.into_iter().map(|(path, answer)| (path.to_owned(), answer)));
        let (bench, _server, _host) = bench(served);
        let error = error_of(init(&Program::Mayfly, &bench, &[]).fails());
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn warnings_of_the_registry_are_shown() {
    let key = AuthorKey::new();
    for program in programs() {
        let mut all = pages(&[Release { key: Some(&key), ..Release::default() }]);
        let versions =
            "{\"versions\":[{\"version\":\"1.2.0\"}],\"warnings\":[\"Moved \\u001b[31mto a/b.\"]}";
        all.insert(
            "/v1/providers/tests/thing/versions".to_owned(),
            answer("application/json", versions.as_bytes()),
        );
        let (bench, _server, _host) = bench(all);
        let ended = init(&program, &bench, &[]).succeeds();
        ended.shows(&["Warning: Additional provider information from registry", "- Moved "]);
        if let Program::Mayfly = program {
            ended.lacks(&["\u{1b}"]);
        }
    }
}

#[test]
fn platforms_are_locked_from_the_registry() {
    let key = AuthorKey::new();
    let (bench, _server, _host) =
        bench(pages(&[Release { key: Some(&key), ..Release::default() }]));
    // `lock` asks the registry even if providers are installed from elsewhere.
    let nowhere = "provider_installation {\n  filesystem_mirror {\n    path = \"none\"\n  }\n}\n";
    bench.write("../rc", nowhere);
    let arguments = ["providers", "lock", "-platform=linux_amd64", "-platform=darwin_arm64"];
    let run = trusting(&bench, Program::Mayfly.run(&bench, ".", arguments));
    let run = run.env("TF_CLI_CONFIG_FILE", bench.root().join("rc")).succeeds();
    run.shows(&["1.2.0 for darwin_arm64 (signed, key ID"]);
    assert!(!bench.path(".terraform").exists(), "nothing is installed");
    assert_eq!((locked(&bench, "h1:").len(), locked(&bench, "zh:").len()), (2, 2));
    // The copy is a mirror from which `init` installs what is locked.
    let copied = Program::Mayfly.run(&bench, ".", ["providers", "mirror", "copy"]);
    trusting(&bench, copied).succeeds();
    let copy = bench.path("copy");
    bench.write(
        "../rc",
        &format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = {copy:?}\n  }}\n}}\n"
        ),
    );
    let run =
        init(&Program::Mayfly, &bench, &[]).env("TF_CLI_CONFIG_FILE", bench.root().join("rc"));
    run.succeeds().shows(&["v1.2.0 (unauthenticated)"]);
}

#[test]
fn checksums_of_one_platform_alone_are_warned_of() {
    let key = AuthorKey::new();
    for program in programs() {
        let (bench, _server, _host) =
            bench(pages(&[Release { key: Some(&key), ..Release::default() }]));
        let copied = Program::Mayfly.run(&bench, ".", ["providers", "mirror", "copy"]);
        trusting(&bench, copied).succeeds();
        let copy = bench.path("copy");
        bench.write(
            "../rc",
            &format!(
                "provider_installation {{\n  filesystem_mirror {{\n    path = {copy:?}\n  }}\n}}\n"
            ),
        );
        let rc = bench.root().join("rc");
        let ended = init(&program, &bench, &[]).env("TF_CLI_CONFIG_FILE", &rc).succeeds();
        ended.shows(&[
            "Warning: Incomplete lock file information for providers",
            "providers lock -platform=linux_amd64",
        ]);
        // Only new packages are worth the warning.
        let again = init(&program, &bench, &[]).env("TF_CLI_CONFIG_FILE", &rc).succeeds();
        again.lacks(&["Incomplete lock file"]);
    }
}
