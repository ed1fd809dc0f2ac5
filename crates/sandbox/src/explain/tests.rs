use expect_test::{Expect, expect};

use super::*;
use crate::{Grants, Ports};

/// Explains a text for a sandbox with these grants. `DIR` stands for a directory with the file `secret`, and with the
/// directory `project`, in which the provider runs and may read.
#[track_caller]
fn check(grants: Grants, text: &str, expected: Expect) {
    let folder = tempfile::tempdir().expect("a directory");
    let directory = folder.path().canonicalize().expect("is there");
    std::fs::write(directory.join("secret"), "").expect("writable");
    std::fs::create_dir(directory.join("project")).expect("writable");
    let name = directory.display().to_string();
    let project = directory.join("project");
    let grants = Grants { read: vec![project.clone()], ..grants };
    let confinement = Confinement {
        provider: "hashicorp/aws".to_owned(),
        policy: Policy { grants, is_required: true },
        directory: project,
    };
    let explained = confinement.explain(&text.replace("DIR", &name)).unwrap_or_default();
    expected.assert_eq(&explained.replace(&name, "DIR"));
}

fn online() -> Grants {
    Grants { connect: Ports::Only([443].into()), ..Grants::default() }
}

#[test]
fn refused_paths_are_named_with_the_line_to_add() {
    check(
        online(),
        "failed to load shared config, open DIR/secret: permission denied",
        expect![[r#"
            The provider hashicorp/aws runs in a sandbox, in which it may not read "DIR/secret". If you trust it with that, add to the CLI configuration:

              provider_sandbox {
                include = ["hashicorp/aws"]
                read = ["DIR/secret"]
              }"#]],
    );
    // A new file, and one that is there, in a directory that may only be read.
    for text in [
        "open out/a.txt: permission denied",
        "open a.txt: permission denied",
        "File Cannot Be Written\na.txt: permission denied.",
        "Failed: failed to use the store at .store/objects: Permission denied (os error 13).",
        "cannot write \"DIR/project/a b.txt\": Permission denied (os error 13)",
    ] {
        check(
            Grants::default(),
            text,
            expect![[r#"
                The provider hashicorp/aws runs in a sandbox, in which it may not write in "DIR/project". If you trust it with that, add to the CLI configuration:

                  provider_sandbox {
                    include = ["hashicorp/aws"]
                    write = ["DIR/project"]
                  }"#]],
        );
    }
}

#[test]
fn refused_ports_and_programs_are_named() {
    check(
        online(),
        "Get \"http://example.com:8080/x\": dial tcp 192.0.2.1:8080: connect: permission denied",
        expect![[r#"
            The provider hashicorp/aws runs in a sandbox, in which it may not connect to the TCP port 8080. If you trust it with that, add to the CLI configuration:

              provider_sandbox {
                include = ["hashicorp/aws"]
                connect = [8080]
              }"#]],
    );
    check(
        online(),
        "listen tcp 127.0.0.1:9000: bind: permission denied",
        expect![[r#"
            The provider hashicorp/aws runs in a sandbox, in which it may not listen on the TCP port 9000. If you trust it with that, add to the CLI configuration:

              provider_sandbox {
                include = ["hashicorp/aws"]
                bind = [9000]
              }"#]],
    );
    check(
        Grants::default(),
        "dns error: failed to lookup address information: Temporary failure in name resolution",
        expect![[r#"
            The provider hashicorp/aws runs in a sandbox, in which it may not use a network. If you trust it with that, add to the CLI configuration:

              provider_sandbox {
                include = ["hashicorp/aws"]
                connect = [443] # or the port that it needs
              }"#]],
    );
    check(
        online(),
        "fork/exec /usr/bin/git: operation not permitted",
        expect![[r#"
            The provider hashicorp/aws runs in a sandbox, in which it may not start other programs. If you trust it with that, add to the CLI configuration:

              provider_sandbox {
                include = ["hashicorp/aws"]
                processes = true
              }"#]],
    );
}

#[test]
fn permitted_access_and_access_denied_to_the_user_are_not_explained() {
    for text in [
        "open DIR/secret: no such file or directory",
        "AccessDenied: permission denied for the bucket a/b of https://s3.example.com",
        "dial tcp 192.0.2.1:443: connect: permission denied",
        "unix:///run/x.sock: permission denied",
        "",
    ] {
        check(online(), text, expect![""]);
    }
    let everything = Grants {
        write: vec!["/".into()],
        connect: Ports::All,
        bind: Ports::All,
        processes: true,
        ..Grants::default()
    };
    for text in [
        "open DIR/secret: permission denied",
        "fork/exec /bin/sh: operation not permitted",
        "dial tcp 192.0.2.1:80: connect: permission denied",
    ] {
        check(everything.clone(), text, expect![""]);
    }
}

proptest::proptest! {
    #[test]
    fn hostile_texts_are_explained_without_a_panic(
        text in "(.{0,9}(/|:|://|\"|'|\0|\\.\\.|tcp|exec:|permission denied|os error 13\\)|\n)){0,12}.{0,9}",
    ) {
        let confinement = Confinement {
            provider: "a/b".to_owned(),
            policy: Policy { grants: online(), is_required: true },
            directory: "/".into(),
        };
        let _either = confinement.explain(&format!("permission denied {text}"));
    }
}

/// The lines that are added for a text, with single spaces.
#[track_caller]
fn added(grants: &Grants, text: &str) -> String {
    let confinement = Confinement {
        provider: "a/b".to_owned(),
        policy: Policy { grants: grants.clone(), is_required: true },
        directory: "/".into(),
    };
    let explained = confinement.explain(text).unwrap_or_default();
    let lines = explained.split_once("[\"a/b\"]").map(|it| it.1.trim_end_matches('}'));
    lines.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The texts come from a Go program in a sandbox without a network, and in one with port 443.
#[test]
fn errors_of_go_are_understood() {
    let check = |text: &str, offline: &str, online_lines: &str| {
        let lines = (added(&Grants::default(), text), added(&online(), text));
        assert_eq!(lines, (offline.to_owned(), online_lines.to_owned()), "{text}");
    };
    let some_port = "connect = [443] # or the port that it needs";
    check("fork/exec /bin/true: operation not permitted", "processes = true", "processes = true");
    check(
        "dial tcp 127.0.0.1:9999: socket: operation not permitted",
        "connect = [9999]",
        "connect = [9999]",
    );
    check(
        "dial tcp 127.0.0.1:9999: connect: permission denied",
        "connect = [9999]",
        "connect = [9999]",
    );
    check(
        "Get \"https://example.com/\": dial tcp: lookup example.com on 192.0.2.53:53: dial udp \
         192.0.2.53:53: socket: operation not permitted",
        "connect = [443]",
        "",
    );
    check(
        "listen tcp 127.0.0.1:9998: socket: operation not permitted",
        "bind = [9998]",
        "bind = [9998]",
    );
    check("socket: operation not permitted", some_port, "");
    check("Get \"https://example.com/\": lookup example.com: no such host", "connect = [443]", "");
}

#[test]
fn words_in_paths_and_mentioned_addresses_are_no_attempts() {
    let api = "the API at https://example.com:8443 says: Permission denied";
    assert_eq!(added(&online(), api), "");
    let connected = "https://example.com:8443: tcp connect error: Permission denied (os error 13)";
    assert_eq!(added(&online(), connected), "connect = [8443]");
    check(
        Grants::default(),
        "DIR/secret cannot be written: Permission denied",
        expect![[r#"
            The provider hashicorp/aws runs in a sandbox, in which it may not write in "DIR". If you trust it with that, add to the CLI configuration:

              provider_sandbox {
                include = ["hashicorp/aws"]
                write = ["DIR"]
              }"#]],
    );
    check(
        Grants::default(),
        "open DIR/secret: permission denied (see https://example.com/create/connect)",
        expect![[r#"
            The provider hashicorp/aws runs in a sandbox, in which it may not read "DIR/secret". If you trust it with that, add to the CLI configuration:

              provider_sandbox {
                include = ["hashicorp/aws"]
                read = ["DIR/secret"]
              }"#]],
    );
}

#[test]
fn permitted_path_that_does_not_exist_is_explained() {
    let grants = Grants { write: vec!["/nothing/out".into()], ..Grants::default() };
    check(
        grants.clone(),
        "mkdir /nothing/out/a: permission denied",
        expect![[
            r#"The provider hashicorp/aws runs in a sandbox, in which it may write in "/nothing/out", but a path can be permitted only if it exists when the provider starts: create it first."#
        ]],
    );
    let existing = Grants { write: vec!["/nothing/out".into(), "/".into()], ..grants };
    check(existing, "mkdir /nothing/out/a: permission denied", expect![""]);
}

#[test]
fn line_with_the_error_is_preferred() {
    check(
        online(),
        "in DIR/project/new/main.tf:\nopen DIR/secret: permission denied\nsee DIR/other/log",
        expect![[r#"
            The provider hashicorp/aws runs in a sandbox, in which it may not read "DIR/secret". If you trust it with that, add to the CLI configuration:

              provider_sandbox {
                include = ["hashicorp/aws"]
                read = ["DIR/secret"]
              }"#]],
    );
}
