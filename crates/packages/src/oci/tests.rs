use super::*;
use crate::blocking::run;
use crate::cli_config::{CliConfig, ConfigEnvironment, OciSecret};

/// The secret for a repository of `r.example`, by a CLI configuration and the file of Docker.
fn secret(text: &str, docker: &str, name: &str) -> String {
    let home = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(home.path().join(".docker")).expect("can be made");
    std::fs::write(home.path().join(".docker/config.json"), docker).expect("can be written");
    let rc = home.path().join("rc").display().to_string();
    let (config, problems) = CliConfig::parse(text, &rc, &|_| None);
    assert_eq!(problems, []);
    let environment = ConfigEnvironment {
        config_file: None,
        home: Some(home.path().to_owned()),
        xdg_config_home: None,
        variable: &|_| None,
    };
    let (blocks, defaults) = (config.oci_credentials, config.oci_defaults.unwrap_or_default());
    let credentials = OciCredentials::new(blocks, defaults, &environment, Vec::new());
    match run(credentials.secret("r.example", name)) {
        Ok(None) => "none".to_owned(),
        Ok(Some(OciSecret::Password { user, password })) => format!("{user}:{password}"),
        Ok(Some(OciSecret::AccessToken(token))) => format!("access {token}"),
        Ok(Some(OciSecret::RefreshToken(token))) => format!("refresh {token}"),
        Ok(Some(OciSecret::Helper(name))) => format!("helper {name}"),
        Err(error) => error.replace(&home.path().display().to_string(), "HOME"),
    }
}

/// `a:b` and `c:d` in base64.
const DOCKER: &str = r#"{"auths": {"r.example": {"auth": "YTpi"}, "r.example/team/x": {"auth": "Yzpk"},
    "other.example": {"auth": "eDp5"}, "r.example/none": {}, "r.example/odd": {"auth": "?"}}}"#;

#[test]
fn most_specific_credentials_are_used() {
    let block = |prefix: &str| {
        format!("oci_credentials \"{prefix}\" {{\n  username = \"u\"\n  password = \"p\"\n}}\n")
    };
    for (text, name, expected) in [
        (String::new(), "team/y", "a:b"),
        (String::new(), "team/x/deeper", "c:d"),
        (String::new(), "team/xy", "a:b"),
        (String::new(), "none", "a:b"),
        (block("r.example"), "team/y", "u:p"),
        (block("r.example"), "team/x", "c:d"),
        (block("r.example/team/x/deeper"), "team/x/deeper", "u:p"),
        (block("other.example"), "team/y", "a:b"),
        ("oci_default_credentials {\n  discover_ambient_credentials = false\n}\n".to_owned(), "y", "none"),
        (
            "oci_credentials \"r.example\" {\n  access_token = \"t\"\n}\n".to_owned(),
            "y",
            "access t",
        ),
        (
            "oci_credentials \"r.example\" {\n  access_token = \"t\"\n  refresh_token = \"r\"\n}\n".to_owned(),
            "y",
            "refresh r",
        ),
        (
            "oci_default_credentials {\n  docker_style_config_files = [\"missing.json\"]\n}\n".to_owned(),
            "y",
            "HOME/missing.json cannot be read: No such file or directory (os error 2)",
        ),
        (
            "oci_default_credentials {\n  docker_style_config_files = [\".docker/config.json\"]\n}\n".to_owned(),
            "y",
            "a:b",
        ),
    ] {
        assert_eq!(secret(&text, DOCKER, name), expected, "{text} {name}");
    }
    let identity = r#"{"auths": {"r.example": {"identitytoken": "i"}}}"#;
    assert_eq!(secret("", identity, "y"), "refresh i");
    assert_eq!(secret("", "damaged", "y"), "none");
    let missing = r#"{"credsStore": "absent"}"#;
    assert!(secret("", missing, "y").contains("failed to run docker-credential-absent"));
    let odd = r#"{"credHelpers": {"r.example": "../x"}}"#;
    assert_eq!(secret("", odd, "y"), "\"../x\" cannot be the name of a credential helper");
}

#[test]
fn wrong_settings_are_problems() {
    for (text, expected) in [
        ("oci_credentials {\n}", "must have one label"),
        ("oci_credentials \"a\" {\n}", "must set either username+password"),
        ("oci_credentials \"a\" {\n  username = \"u\"\n}", "must set either username+password"),
        ("oci_credentials \"a\" {\n  username = []\n}", "must have strings"),
        ("oci_credentials \"a/b\" {\n  docker_credentials_helper = \"h\"\n}", "for whole domains"),
        (
            "oci_credentials \"a\" {\n  docker_credentials_helper = \"../h\"\n}",
            "part of a file name",
        ),
        ("oci_default_credentials \"a\" {\n}", "must not have any labels"),
        ("oci_default_credentials {\n  discover_ambient_credentials = 1\n}", "true or false"),
        ("oci_default_credentials {\n  docker_style_config_files = \"x\"\n}", "a list of paths"),
        (
            "oci_default_credentials {\n  discover_ambient_credentials = false\n  docker_style_config_files = []\n}",
            "disables discovery",
        ),
    ] {
        let (_, problems) = CliConfig::parse(text, "rc", &|_| None);
        let [problem] = &problems[..] else { panic!("{text}: {problems:?}") };
        assert!(problem.detail.contains(expected), "{text}: {problem:?}");
    }
}

#[test]
fn templates_of_mirrors_name_every_open_part() {
    for (template, include, expected) in [
        ("r.example/${hostname}/${namespace}/${type}", "", None),
        ("r.example/${ namespace }-${type}", "include = [\"a.example/*/*\"]", None),
        ("r.example/thing", "include = [\"a.example/b/thing\"]", None),
        ("r.example/${namespace}/${type}", "", Some("must refer to the \"hostname\" symbol")),
        (
            "r.example/${type}",
            "include = [\"a.example/b/*\", \"a.example/c/*\"]",
            Some("must refer to the \"namespace\" symbol"),
        ),
        ("r.example/x", "include = [\"a.example/b/*\"]", Some("must refer to the \"type\" symbol")),
        ("r.example/${host}", "", Some("the symbol \"host\" is not available")),
        ("r.example/${type", "", Some("has no end")),
        ("${type}", "", Some("must generate a valid OCI repository address")),
    ] {
        let text = format!(
            "provider_installation {{\n  oci_mirror {{\n    repository_template = \"{template}\"\n    {include}\n  \
             }}\n}}\n"
        );
        let (_, problems) = CliConfig::parse(&text, "rc", &|_| None);
        match expected {
            None => assert_eq!(problems, [], "{template}"),
            Some(expected) => {
                let [problem] = &problems[..] else { panic!("{template}: {problems:?}") };
                assert!(problem.detail.contains(expected), "{template}: {problem:?}");
            }
        }
    }
}

#[test]
fn addresses_of_repositories_are_checked() {
    for part in ["a", "a-b", "a.b_c", "1"] {
        assert!(is_name(part), "{part}");
    }
    for part in ["", "A", "-a", "a-", "..", "a b", "a:b", "a@b"] {
        assert!(!is_name(part), "{part}");
    }
    let digest = format!("sha256:{}", "a".repeat(64));
    assert!(sha256_digits(&digest).is_some());
    for digest in ["", "sha256:a", "sha512:", &digest.to_uppercase(), "../x"] {
        assert!(sha256_digits(digest).is_none(), "{digest}");
    }
}
