use expect_test::{Expect, expect};

use super::*;

fn parse(text: &str) -> (CliConfig, Vec<ConfigProblem>) {
    CliConfig::parse(text, "rc", &|name| (name == "HOME").then(|| "/home/u".to_owned()))
}

#[track_caller]
fn problems(text: &str, expected: Expect) {
    let lines = parse(text).1.into_iter().flat_map(|it| {
        let detail = (!it.detail.is_empty()).then(|| format!("  {}\n", it.detail));
        [Some(format!("{}\n", it.summary)), detail]
    });
    let shown: String = lines.flatten().collect();
    expected.assert_eq(&shown);
}

#[test]
fn complete_cli_configuration_is_parsed() {
    let (config, problems) = parse(
        r#"
        plugin_cache_dir = "$HOME/.cache/${NOTHING}plugins"
        disable_checkpoint = true
        credentials "App.example.com" { token = "hunter2" }
        provider_installation {
          dev_overrides { "hashicorp/null" = "/src/null" }
          filesystem_mirror {
            path    = "/mirror"
            include = ["example.com/*/*", "hashicorp/*"]
          }
          network_mirror { url = "https://m.example.com/" }
          direct { exclude = ["hashicorp/aws"] }
        }"#,
    );
    assert_eq!(problems, []);
    assert_eq!(config.plugin_cache_dir.as_deref(), Some(Path::new("/home/u/.cache/plugins")));
    assert_eq!(config.credentials["app.example.com"].expose(), "hunter2");
    assert!(!format!("{config:?}").contains("hunter2"));
    let methods = config.installation.expect("there is a block");
    let source = |text| ProviderSource::parse(text).expect("an address");
    let served = |text| {
        let served: Vec<bool> = methods.iter().map(|it| it.serves(&source(text))).collect();
        (served[0], served[1], served[2])
    };
    assert_eq!(served("hashicorp/aws"), (true, true, false));
    assert_eq!(served("example.com/a/b"), (true, true, true));
    assert_eq!(served("a/b"), (false, true, true));
    assert_eq!(config.dev_overrides[&source("hashicorp/null")], Path::new("/src/null"));
}

#[test]
fn strict_secrets_is_a_switch() {
    for (text, is_strict) in
        [("", false), ("strict_secrets = true", true), ("strict_secrets = false", false)]
    {
        let (config, problems) = parse(text);
        assert_eq!((config.strict_secrets, problems.len()), (is_strict, 0), "{text}");
    }
    let (config, problems) = parse("strict_secrets = \"yes\"");
    assert!(!config.strict_secrets);
    assert_eq!(problems[0].summary, "The setting strict_secrets must be true or false");
}

#[test]
fn sandboxes_of_all_blocks_are_kept_in_order() {
    let native = r#"
        provider_sandbox {
          include   = ["hashicorp/*"]
          exclude   = ["hashicorp/aws"]
          read      = ["$HOME/.aws", "data"]
          write     = ["/srv/out"]
          connect   = [443, 8443]
          bind      = "all"
          processes = true
        }
        provider_sandbox { enabled = false }"#;
    let json = r#"{ "provider_sandbox": [
        { "include": ["hashicorp/*"], "exclude": ["hashicorp/aws"], "read": ["$HOME/.aws", "data"],
          "write": ["/srv/out"], "connect": [443, 8443], "bind": "all", "processes": true },
        { "enabled": false } ] }"#;
    let source = |text| ProviderSource::parse(text).expect("an address");
    for text in [native, json] {
        let (config, problems) = parse(text);
        assert_eq!(problems, [], "{text}");
        let [first, second] = &config.sandbox[..] else { panic!("{config:?}") };
        let applies = ["hashicorp/null", "hashicorp/aws", "example.com/hashicorp/null"]
            .map(|it| (first.applies_to(&source(it)), second.applies_to(&source(it))));
        assert_eq!(applies, [(true, true), (false, true), (false, true)]);
        assert_eq!(first.read, [Path::new("/home/u/.aws"), Path::new("data")]);
        assert_eq!(first.write, [Path::new("/srv/out")]);
        assert_eq!(first.connect.as_ref().map(ToString::to_string).as_deref(), Some("443,8443"));
        assert_eq!(first.bind.as_ref().map(ToString::to_string).as_deref(), Some("all"));
        assert_eq!((first.processes, first.is_enabled), (Some(true), None));
        assert_eq!((second.processes, second.is_enabled), (None, Some(false)));
    }
}

#[test]
fn invalid_sandbox_is_refused_as_a_whole() {
    for (argument, cause) in [
        ("enabled = 1", "\"enabled\" must be true or false"),
        ("include = \"a/b\"", "\"include\" must be a list of providers, such as [\"hashicorp/*\"]"),
        (
            "include = [\"a\"]",
            "invalid provider matching pattern \"a\": must have either two or three slash-separated segments",
        ),
        (
            "include = []",
            "\"include\" names no provider: add one, or leave out \"include\" for a block that applies \
             to all",
        ),
        ("read = \"/x\"", "\"read\" must be a list of paths, such as [\"$HOME/.aws\"]"),
        (
            "read = [\"~/.aws\"]",
            "\"~/.aws\" begins with \"~\", which is not expanded: write \"$HOME\"",
        ),
        (
            "write = [\"$NOTHING/\"]",
            "\"$NOTHING/\" names the variable \"NOTHING\", which is not set",
        ),
        ("write = [\"\"]", "a path is empty"),
        (
            "connect = 443",
            "\"connect\" must be a list of TCP ports from 1 to 65535, such as [443], or \"all\"",
        ),
        (
            "bind = [0]",
            "\"bind\" must be a list of TCP ports from 1 to 65535, such as [443], or \"all\"",
        ),
        (
            "bind = [65536]",
            "\"bind\" must be a list of TCP ports from 1 to 65535, such as [443], or \"all\"",
        ),
        (
            "paths = []",
            "\"paths\" is not an argument of this block, which may have \"include\", \"exclude\", \
             \"enabled\", \"read\", \"write\", \"connect\", \"bind\" and \"processes\"",
        ),
        ("read = []\n  read = []", "\"read\" is set twice"),
    ] {
        let text = format!("provider_sandbox {{\n  {argument}\n}}");
        let (config, problems) = parse(&text);
        assert_eq!(config.sandbox, [], "{text}");
        assert_eq!(problems[0].summary, "Invalid provider_sandbox block");
        assert!(problems[0].is_error);
        assert_eq!(problems[0].detail, format!("In rc at 2:3: {cause}."));
    }
    problems(
        "provider_sandbox \"a/b\" {}\nprovider_sandbox = true",
        expect![[r#"
            Invalid provider_sandbox block
              In rc at 1:1: provider_sandbox must be a block without labels.
            Invalid provider_sandbox block
              In rc at 2:1: provider_sandbox must be a block without labels.
        "#]],
    );
}

/// The forms that OpenTofu accepts, and plain objects, which it reads as labels and then refuses.
#[test]
fn cli_configuration_may_be_json_under_any_name() {
    for methods in [
        r#"{ "dev_overrides": { "hashicorp/null": "\/src\u002fnull" }, "filesystem_mirror": [{ "path": "/a" }, { "path": "/b" }], "direct": [{ "exclude": ["a/b"] }] }"#,
        r#"{ "dev_overrides": { "hashicorp/null": "/src/null" }, "filesystem_mirror": { "path": "/a" }, "filesystem_mirror": { "path": "/b" }, "direct": { "exclude": ["a/b"] } }"#,
        r#"[{ "dev_overrides": [{ "hashicorp/null": "/src/null" }], "filesystem_mirror": { "path": "/a" }, "filesystem_mirror": [{ "path": "/b" }], "direct": { "exclude": ["a/b"] } }]"#,
    ] {
        let text = format!(
            r#" {{ "plugin_cache_dir": "$HOME/c\ud83d\ude00", "plugin_cache_may_break_dependency_lock_file": true, "nothing": null,
              "credentials": {{ "App.example.com": {{ "token": "hunter2" }} }}, "provider_installation": {methods}, }}"#
        );
        let (config, problems) = parse(&text);
        assert_eq!(problems, [], "{methods}");
        assert_eq!(config.plugin_cache_dir.as_deref(), Some(Path::new("/home/u/c\u{1f600}")));
        assert!(config.cache_may_break_locks);
        assert_eq!(config.credentials["app.example.com"].expose(), "hunter2");
        let source = ProviderSource::parse("hashicorp/null").expect("an address");
        assert_eq!(config.dev_overrides[&source], Path::new("/src/null"));
        let kinds: Vec<_> =
            config.installation.expect("is there").into_iter().map(|it| it.kind).collect();
        let mirror = |path: &str| MethodKind::FilesystemMirror { path: path.into() };
        assert_eq!(kinds, [mirror("/a"), mirror("/b"), MethodKind::Direct], "{methods}");
    }
    problems(
        "{",
        expect![[r#"
        Error parsing rc: At 1:2: expected "}", found the end of the file
    "#]],
    );
    problems(
        "{ \"a\" = 1 }",
        expect![[r#"
        Error parsing rc: At 1:7: "=" has no meaning here
    "#]],
    );
    problems(
        "{ \"a\": secret }",
        expect![[r#"
        Error parsing rc: At 1:8: expected a literal value, found a word without quotes
    "#]],
    );
    problems(
        "{ \"a\": \"\\ud800\" } // x",
        expect![[r#"
        Error parsing rc: At 1:15: half of a character stands alone
    "#]],
    );
    problems(
        "{ \"credentials\": 7 }",
        expect![[r#"
        Invalid credentials block
          The credentials block at 1:3 must have one label, a host name.
    "#]],
    );
}

#[test]
fn environment_overrides_the_plugin_cache_setting() {
    let home = tempfile::tempdir().expect("a temporary directory");
    let path = |name: &str| home.path().join(name);
    for name in ["a", "b", "c", ".terraform.d"] {
        std::fs::create_dir(path(name)).expect("writable");
    }
    let write = |file: &str, cache: &str| {
        let text = format!("{{ \"plugin_cache_dir\": {:?} }}", path(cache));
        std::fs::write(path(file), text).expect("writable");
    };
    let load = |variables: &[(&str, &str)]| {
        let variable =
            |name: &str| variables.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
        let environment = ConfigEnvironment {
            config_file: None,
            home: Some(home.path().to_owned()),
            xdg_config_home: None,
            variable: &variable,
        };
        let (config, problems) = CliConfig::load(&environment);
        (config.plugin_cache_dir, config.cache_may_break_locks, problems.len())
    };
    assert_eq!(load(&[]), (None, false, 0));
    write(".terraform.d/z.tfrc.json", "b");
    assert_eq!(load(&[]), (Some(path("b")), false, 0));
    write(".terraform.d/a.tfrc", "c");
    assert_eq!(load(&[]), (Some(path("c")), false, 0));
    write(".tofurc", "a");
    assert_eq!(load(&[]), (Some(path("a")), false, 0));
    let c = path("c");
    let c = c.to_str().expect("is text");
    const BREAK: &str = "TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE";
    assert_eq!(load(&[("TF_PLUGIN_CACHE_DIR", c), (BREAK, "0")]), (Some(path("c")), false, 0));
    assert_eq!(load(&[("TF_PLUGIN_CACHE_DIR", ""), (BREAK, "1")]), (Some(path("a")), true, 0));
    assert_eq!(load(&[("TF_PLUGIN_CACHE_DIR", "/no/where")]), (Some("/no/where".into()), false, 1));
}

#[test]
fn cli_configuration_errors_match_opentofu() {
    problems(
        "a {",
        expect![[r#"
            Error parsing rc: At 1:4: expected "}", found the end of the file
        "#]],
    );
    problems(
        "provider_installation {\n  direct {}\n  dev_overrides {\n  }\n  network_mirror { }\n  \
         bogus {\n  }\n  filesystem_mirror { path = 1 }\n x = 1 }\nprovider_installation {}",
        expect![[r#"
            Invalid provider_installation method block
              The dev_overrides block at 3:3 must appear before all other installation methods, because development overrides always have the highest priority.
            Invalid provider_installation method block
              Invalid network_mirror block at 5:3: "url" argument is required.
            Invalid provider_installation method block
              Unknown provider installation method "bogus" at 6:3.
            Invalid provider_installation method block
              Invalid filesystem_mirror block at 8:3: "path" must be a string.
            Invalid provider_installation method block
              The items inside the provider_installation block at 9:2 must all be blocks.
            No more than one provider_installation block may be specified
        "#]],
    );
    problems(
        "provider_installation {\n dev_overrides { \"a b\" = \"/x\" }\n filesystem_mirror { path = \
         \"/m\" include = [\"a/b/c/d\"] }\n direct { exclude = \"x\" }\n}",
        expect![[r#"
            Invalid provider source address in provider development overrides
              The entry "a b" in the dev_overrides block at 2:18 is not a valid provider source string.

            Invalid provider type in source "a b": must contain only letters, digits, and dashes, and may not use leading or trailing dashes.
            Invalid provider source inclusion patterns
              CLI config specifies invalid provider inclusion patterns: invalid provider matching pattern "a/b/c/d": must have either two or three slash-separated segments.
            Invalid provider_installation method block
              Invalid direct block at 4:2: "exclude" must be a list of strings.
        "#]],
    );
    problems(
        "credentials { token = \"x\" }",
        expect![[r#"
        Invalid credentials block
          The credentials block at 1:1 must have one label, a host name.
    "#]],
    );
}

#[test]
fn cli_configuration_files_are_searched_as_in_opentofu() {
    let home = tempfile::tempdir().expect("a temporary directory");
    let load = |config_file: Option<PathBuf>| {
        let environment = ConfigEnvironment {
            config_file,
            home: Some(home.path().to_owned()),
            xdg_config_home: None,
            variable: &|_| None,
        };
        CliConfig::load(&environment)
    };
    let write = |name: &str, host: &str| {
        let path = home.path().join(name);
        std::fs::create_dir_all(path.parent().expect("in home")).expect("writable");
        std::fs::write(&path, format!("credentials \"{host}\" {{ token = \"x\" }}"))
            .expect("writable");
        path
    };
    let hosts = |config: CliConfig| config.credentials.into_keys().collect::<Vec<_>>();
    assert_eq!(load(None), (CliConfig::default(), vec![]));
    write(".terraformrc", "old");
    assert_eq!(hosts(load(None).0), ["old"]);
    write(".tofurc", "new");
    write(".terraform.d/more.tfrc", "more");
    assert_eq!(hosts(load(None).0), ["more", "new"]);
    let named = write("named", "named");
    assert_eq!(hosts(load(Some(named)).0), ["named"]);
    let (_, problems) = load(Some(home.path().join("nowhere")));
    assert!(!problems[0].is_error && problems[0].detail.ends_with("nowhere\" does not exist."));
}

#[test]
fn requests_of_registries_have_settings() {
    let text = "registry_protocols {\n  retry_count = 4\n  request_timeout_seconds = 30\n}\n\
                provider_installation {\n  direct {\n    download_retry_count = 7\n  }\n}\n";
    let (config, problems) = CliConfig::parse(text, "rc", &|_| None);
    assert_eq!(problems, []);
    let protocols = RegistryProtocols { retries: Some(4), timeout_seconds: Some(30) };
    assert_eq!(config.registry_protocols, protocols);
    let methods = config.installation.expect("a block");
    assert_eq!(methods[0].download_retries, Some(7));
    for (text, expected) in [
        ("registry_protocols = 1", "must be a block without labels"),
        ("registry_protocols \"x\" {\n}", "must be a block without labels"),
        ("registry_protocols {\n  retry_count = -1\n}", "must have a whole number as retry_count"),
        (
            "registry_protocols {\n  request_timeout_seconds = \"long\"\n}",
            "must have a whole number as request_timeout_seconds",
        ),
        (
            "provider_installation {\n  direct {\n    download_retry_count = 1.5\n  }\n}",
            "\"download_retry_count\" must be a whole number",
        ),
    ] {
        let (_, problems) = CliConfig::parse(text, "rc", &|_| None);
        let [problem] = &problems[..] else { panic!("{text}: {problems:?}") };
        assert!(problem.detail.contains(expected), "{text}: {problem:?}");
    }
}
