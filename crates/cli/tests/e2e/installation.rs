//! `init` with providers that are linked, cached, already running, or not executable.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
};

use crate::{
    bench::{Bench, Run},
    tofu::{Program, programs},
};

const MAIN: &str = "terraform {\n  required_providers {\n    thing = {\n      source = \
                    \"example.com/tests/thing\"\n    }\n  }\n}\n\nresource \"thing_one\" \"a\" {\n}\n";

/// The content of a plugin that cannot run.
const NO_PROGRAM: &str = "this is no program";

/// The path of a provider package in a mirror or a cache.
const PACKAGE: &str = "example.com/tests/thing/1.2.0/PLATFORM";

/// Creates a mirror with one package, whose plugin is `content`.
fn bench(content: &[u8]) -> Bench {
    let bench = Bench::with_main(MAIN);
    let package = bench.path(&format!("../mirror/{}", package()));
    fs::create_dir_all(&package).expect("can be made");
    let plugin = package.join("terraform-provider-thing_v1.2.0");
    fs::write(&plugin, content).expect("can be written");
    fs::set_permissions(plugin, fs::Permissions::from_mode(0o755)).expect("can be set");
    bench.write("../rc", &format!("provider_installation {{\n  {}\n}}\n", mirror(&bench)));
    bench
}

fn package() -> String {
    PACKAGE.replace("PLATFORM", &packages_platform())
}

fn packages_platform() -> String {
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    let os = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    format!("{os}_{arch}")
}

fn mirror(bench: &Bench) -> String {
    format!("filesystem_mirror {{\n    path = {:?}\n  }}", bench.root().join("mirror"))
}

fn init(program: &Program, bench: &Bench) -> Run {
    program.run(bench, ".", ["init"]).env("TF_CLI_CONFIG_FILE", bench.root().join("rc"))
}

/// The output of `init`, with the names of this program. Removes the warning about a lock file with the hashes of only
/// one platform, which `registry::providers` tests.
fn lines(out: &str) -> String {
    let text = out.replace("OpenTofu", "Mayfly").replace("tofu", "mayfly");
    match (
        text.find("\nWarning: Incomplete lock file"),
        text.find("\nMayfly has been successfully"),
    ) {
        (Some(begin), Some(end)) => {
            format!("{}\n{}", text[..begin].trim_end_matches('\n'), &text[end..])
        }
        _ => text,
    }
}

fn steps(out: &str) -> Vec<String> {
    lines(out).lines().filter(|it| it.starts_with("- ")).map(str::to_owned).collect()
}

const SUCCESS: &str = "\nMayfly has been successfully initialized!\n\nYou may now begin working \
                       with Mayfly. Try running \"mayfly plan\" to see\nany changes that are \
                       required for your infrastructure. All Mayfly commands\nshould now \
                       work.\n\nIf you ever set or change modules or backend configuration for \
                       Mayfly,\nrerun this command to reinitialize your working directory. If you \
                       forget, other\ncommands will detect it and remind you to do so if necessary.\n";

const BEGIN: &str = "\nInitializing the backend...\n";
const MODULES: &str = "Initializing modules...\n- m in m\n";
const PROVIDERS: &str = "\nInitializing provider plugins...\n";

#[test]
fn init_output_matches_opentofu() {
    for program in programs() {
        let bench = bench(NO_PROGRAM.as_bytes());
        bench.write("modules.tf", "module \"m\" {\n  source = \"./m\"\n}\n");
        bench.write("m/main.tf", "");
        let first = "- Finding latest version of example.com/tests/thing...\n- Installing \
                     example.com/tests/thing v1.2.0...\n- Installed example.com/tests/thing v1.2.0 (unauthenticated)\n";
        let lock = "\nMayfly has created a lock file .terraform.lock.hcl to record the \
                    provider\nselections it made above. Include this file in your version control \
                    repository\nso that Mayfly can guarantee to make the same selections by \
                    default when\nyou run \"mayfly init\" in the future.\n";
        let out = lines(&init(&program, &bench).succeeds().out);
        assert_eq!(
            out,
            format!("{BEGIN}{MODULES}{PROVIDERS}{first}{lock}{SUCCESS}"),
            "{}",
            program.name()
        );
        let again = "- Reusing previous version of example.com/tests/thing from the dependency \
                     lock file\n- Using previously-installed example.com/tests/thing v1.2.0\n";
        let out = lines(&init(&program, &bench).succeeds().out);
        assert_eq!(
            out,
            format!("{BEGIN}Initializing modules...\n{PROVIDERS}{again}{SUCCESS}"),
            "{}",
            program.name()
        );
        let empty = Bench::new();
        let out = lines(&program.run(&empty, ".", ["init"]).succeeds().out);
        assert_eq!(
            out,
            "Mayfly initialized in an empty directory!\n\nThe directory has no Mayfly \
             configuration files. You may begin working\nwith Mayfly immediately by creating \
             Mayfly configuration files.\n"
        );
        empty.write("main.tf", "resource {\n}\n");
        let ended = program.run(&empty, ".", ["init"]).fails();
        let begin = "\nMayfly encountered problems during initialization, including problems\nwith \
                     the configuration, described below.\n\nThe Mayfly configuration must be valid \
                     before initialization so that\nMayfly can determine which modules and \
                     providers need to be installed.\n";
        assert!(lines(&ended.err).starts_with(begin), "{}: {}", program.name(), ended.err);
    }
}

/// The cache is set by the environment, by a file in either syntax, or by a file in the configuration directory.
#[test]
fn plugin_cache_is_used_from_every_setting() {
    type Name = fn(&Bench, Run, &Path) -> Run;
    let ways: &[(&str, Name)] = &[
        ("TF_PLUGIN_CACHE_DIR", |_, run, cache| run.env("TF_PLUGIN_CACHE_DIR", cache)),
        ("a file", |bench, run, cache| {
            let text = format!(
                "plugin_cache_dir = {cache:?}\nprovider_installation {{\n  {}\n}}\n",
                mirror(bench)
            );
            bench.write("../rc", &text);
            run
        }),
        ("a file in JSON", |bench, run, cache| {
            bench.write("../x.tfrc.json", &json(bench, cache));
            run.env("TF_CLI_CONFIG_FILE", bench.root().join("x.tfrc.json"))
        }),
        ("JSON under another name", |bench, run, cache| {
            bench.write("../rc", &json(bench, cache));
            run
        }),
        ("the directory", |bench, run, cache| {
            bench.write("../home/.terraform.d/x.tfrc.json", &json(bench, cache));
            run.env("TF_CLI_CONFIG_FILE", "")
        }),
        (".tofurc", |bench, run, cache| {
            bench.write("../home/.tofurc", &json(bench, cache));
            run.env("TF_CLI_CONFIG_FILE", "")
        }),
        ("XDG_CONFIG_HOME", |bench, run, cache| {
            bench.write("../xdg/opentofu/tofurc", &json(bench, cache));
            run.env("TF_CLI_CONFIG_FILE", "").env("XDG_CONFIG_HOME", bench.root().join("xdg"))
        }),
    ];
    for program in programs() {
        for (way, name) in ways {
            let bench = bench(NO_PROGRAM.as_bytes());
            let cache = bench.root().join("cache");
            fs::create_dir(&cache).expect("can be made");
            let at = format!("{}: {way}", program.name());
            let run = || name(&bench, init(&program, &bench), &cache).succeeds();
            let ended = run();
            assert_eq!(
                steps(&ended.out),
                [
                    "- Finding latest version of example.com/tests/thing...",
                    "- Installing example.com/tests/thing v1.2.0 to the shared cache directory...",
                    "- Installed example.com/tests/thing v1.2.0 (unauthenticated)",
                    "- Using example.com/tests/thing v1.2.0 from the shared cache directory",
                ],
                "{at}"
            );
            let cached = cache.join(package());
            let linked = bench.path(&format!(".terraform/providers/{}", package()));
            assert_eq!(fs::read_link(&linked).expect("is a link"), cached, "{at}");
            fs::remove_dir_all(bench.path(".terraform")).expect("is there");
            assert_eq!(
                steps(&run().out),
                [
                    "- Reusing previous version of example.com/tests/thing from the dependency lock file",
                    "- Detected previously-installed example.com/tests/thing v1.2.0 in the shared cache directory",
                    "- Using example.com/tests/thing v1.2.0 from the shared cache directory",
                ],
                "{at}"
            );
        }
    }
}

fn json(bench: &Bench, cache: &Path) -> String {
    format!(
        r#"{{ "plugin_cache_dir": {cache:?}, "provider_installation": [{{ "filesystem_mirror": [{{ "path": {:?} }}] }}] }}"#,
        bench.root().join("mirror")
    )
}

/// Without a lock, a cached package is compared with its source, unless the user disables that.
#[test]
fn unlocked_cached_package_is_used_only_if_allowed() {
    for program in programs() {
        for (value, expected) in [("", NO_PROGRAM), ("0", NO_PROGRAM), ("1", "of the cache")] {
            let bench = bench(NO_PROGRAM.as_bytes());
            let plugin = format!("../cache/{}/terraform-provider-thing_v1.2.0", package());
            bench.write(&plugin, "of the cache");
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(bench.path(&plugin), mode).expect("can be set");
            let run = init(&program, &bench).env("TF_PLUGIN_CACHE_DIR", bench.root().join("cache"));
            run.env("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE", value).succeeds();
            let installed =
                format!(".terraform/providers/{}/terraform-provider-thing_v1.2.0", package());
            let text = String::from_utf8(bench.read(&installed)).expect("is text");
            assert_eq!(text, expected, "{} {value:?}", program.name());
        }
    }
}

/// A provider that already runs needs no package, no lock and no process. In this test, no process listens at the
/// address.
#[test]
fn reattached_providers_are_neither_installed_nor_locked() {
    let address = r#"{"Protocol":"grpc","ProtocolVersion":6,"Pid":1,"Test":true,"Addr":{"Network":"unix","String":"/nowhere/socket"}}"#;
    for program in programs() {
        let bench = Bench::with_main(MAIN);
        let reattach = format!("{{\"example.com/tests/thing\":{address}}}");
        let run = |value: &str| {
            let run = program.run(&bench, ".", ["init"]).env("TF_CLI_CONFIG_FILE", "");
            run.env("TF_REATTACH_PROVIDERS", value)
        };
        let ended = run(&reattach).succeeds();
        assert_eq!(lines(&ended.out), format!("{BEGIN}{PROVIDERS}{SUCCESS}"), "{}", program.name());
        assert!(!bench.path(".terraform.lock.hcl").exists(), "{}", program.name());
        let ended = run("{").fails();
        assert!(ended.err.contains("Invalid format for TF_REATTACH_PROVIDERS"), "{}", ended.err);
    }
}

/// Plugins for another platform, invalid executables, files without execute permission, and plugins that fail.
#[test]
fn init_succeeds_with_providers_that_cannot_run() {
    // An ELF header for a machine that does not exist (0xffff).
    let mut foreign = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0];
    foreign.resize(64, 0);
    (foreign[16], foreign[18], foreign[19]) = (2, 0xff, 0xff);
    let fails: &[u8] = b"#!/bin/sh\necho 'cannot run here' >&2\nexit 7\n";
    for (what, content, mode) in [
        ("another platform's", foreign.as_slice(), 0o755),
        ("no program", NO_PROGRAM.as_bytes(), 0o755),
        ("not executable", b"#!/bin/sh\n", 0o644),
        ("one that fails", fails, 0o755),
        ("empty", b"", 0o755),
    ] {
        let bench = bench(content);
        let plugin =
            bench.path(&format!("../mirror/{}/terraform-provider-thing_v1.2.0", package()));
        fs::set_permissions(plugin, fs::Permissions::from_mode(mode)).expect("can be set");
        let ended = init(&Program::Mayfly, &bench).succeeds();
        assert!(ended.out.ends_with(SUCCESS), "{what}: {}", ended.out);
        assert_eq!(ended.err, "", "{what}");
        assert!(bench.path(".terraform.lock.hcl").is_file(), "{what}");
        // `validate` needs the provider, and reports that it cannot start.
        let ended = bench.mayfly(".", ["validate"]).fails();
        ended.shows(&["Error: Failed to start provider", "example.com/tests/thing"]);
    }
}

/// The first command that needs schemas reads those that `init` could not read.
#[test]
fn schemas_unread_by_init_are_read_when_needed() {
    let source = providers::playground::SOURCE;
    let mayfly = env!("CARGO_BIN_EXE_mayfly");
    let script = format!(
        "#!/bin/sh\n[ -n \"$CANNOT_RUN\" ] && exit 1\nexec '{mayfly}' serve-bundled-provider {source}\n"
    );
    let bench = bench(script.as_bytes());
    bench.write("main.tf", &MAIN.replace("resource \"thing_one\" \"a\" {\n}\n", "resource \"playground_parameter\" \
                                                                                 \"a\" {\n  provider \
                                                                                 = thing\n  name     \
                                                                                 = \"n\"\n  type     \
                                                                                 = \"String\"\n  \
                                                                                 value    = \"v\"\n}\n"));
    init(&Program::Mayfly, &bench).env("CANNOT_RUN", "1").succeeds();
    bench.mayfly(".", ["validate"]).env("CANNOT_RUN", "1").fails();
    bench.mayfly(".", ["validate"]).succeeds();
    bench.mayfly(".", ["plan"]).succeeds().shows(&["Plan: 1 to add"]);
}

/// Mirrors often consist of links.
#[test]
fn symlinked_mirror_package_is_installed() {
    let bench = bench(NO_PROGRAM.as_bytes());
    let package = bench.path(&format!("../mirror/{}", package()));
    fs::rename(&package, bench.path("../elsewhere")).expect("is there");
    symlink(bench.root().join("elsewhere"), &package).expect("can be made");
    init(&Program::Mayfly, &bench).succeeds().shows(&["Installed example.com/tests/thing v1.2.0"]);
}

/// Providers of objects in the state are installed even if the configuration no longer names them, because they
/// must destroy the objects.
#[test]
fn providers_of_the_state_are_installed() {
    for program in programs() {
        let bench = bench(NO_PROGRAM.as_bytes());
        bench.write("main.tf", "output \"o\" {\n  value = 1\n}\n");
        let object = r#"{"mode":"managed","type":"thing_one","name":"a","provider":"provider[\"example.com/tests/thing\"]","instances":[{"schema_version":0,"attributes":{}}]}"#;
        let state = format!(
            r#"{{"version":4,"terraform_version":"1.12.0","serial":1,"lineage":"l","outputs":{{}},"resources":[{object}]}}"#
        );
        bench.write("terraform.tfstate", &state);
        let ended = init(&program, &bench).succeeds();
        let expected = "- Installed example.com/tests/thing v1.2.0 (unauthenticated)";
        assert!(
            steps(&ended.out).iter().any(|it| it == expected),
            "{}: {}",
            program.name(),
            ended.out
        );
    }
    // `init` ignores a state that cannot be read. The command that needs it reports the error.
    let bench = bench(NO_PROGRAM.as_bytes());
    bench.write("terraform.tfstate", "{");
    init(&Program::Mayfly, &bench).succeeds();
}

/// The directories that are searched without a CLI configuration.
#[test]
fn implied_mirrors_are_found_in_data_directories() {
    for program in programs() {
        for (place, variable, value) in [
            ("work/terraform.d/plugins", "A", ""),
            ("home/.terraform.d/plugins", "A", ""),
            ("home/.local/share/terraform/plugins", "A", ""),
            ("data/terraform/plugins", "XDG_DATA_HOME", "data"),
            ("data/opentofu/plugins", "XDG_DATA_HOME", "data"),
            ("shared/terraform/plugins", "XDG_DATA_DIRS", "shared"),
        ] {
            let bench = bench(NO_PROGRAM.as_bytes());
            let mirror = bench.root().join(place);
            fs::create_dir_all(mirror.parent().expect("is below")).expect("can be made");
            fs::rename(bench.root().join("mirror"), &mirror).expect("is there");
            let run = program.run(&bench, ".", ["init"]).env("TF_CLI_CONFIG_FILE", "");
            let ended = run.env(variable, bench.root().join(value)).succeeds();
            let expected = "- Installed example.com/tests/thing v1.2.0 (unauthenticated)";
            assert!(
                steps(&ended.out).iter().any(|it| it == expected),
                "{}: {place}: {}",
                program.name(),
                ended.out
            );
        }
    }
}

/// A cache directory that does not exist causes a warning and is created.
#[test]
fn missing_plugin_cache_is_created_with_a_warning() {
    for program in programs() {
        let bench = bench(NO_PROGRAM.as_bytes());
        let cache = bench.root().join("nowhere/cache");
        let ended = init(&program, &bench).env("TF_PLUGIN_CACHE_DIR", &cache).succeeds();
        let expected =
            format!("The specified plugin cache dir {} cannot be opened: ", cache.display());
        let err = crate::tofu::words(&ended.err);
        assert!(err.contains(&expected), "{}: {err}", program.name());
        assert!(cache.join(package()).exists(), "{}", program.name());
    }
}

/// The errors that OpenTofu's `init` reports for an invalid configuration, and errors that only its `validate`
/// finds.
#[test]
fn init_reports_the_configuration_errors_of_opentofu_init() {
    let refused = [
        ("resourc \"terraform_data\" \"a\" {\n}\n", "Unsupported block type"),
        ("variable \"a\" {\n  typ = string\n}\n", "Unsupported argument"),
        ("variable \"a\" {\n  type = strin\n}\n", "Invalid type specification"),
        (
            "variable \"a\" {\n  type    = number\n  default = \"abc\"\n}\n",
            "Invalid default value for variable",
        ),
        ("variable \"a\" {}\nvariable \"a\" {}\n", "Duplicate variable declaration"),
        ("output \"a\" {}\n", "Missing required argument"),
        ("locals {\n  a = 1\n}\nlocals {\n  a = 1\n}\n", "Duplicate local value definition"),
        (
            "resource \"terraform_data\" \"a\" {\n}\nresource \"terraform_data\" \"a\" {\n}\n",
            "Duplicate resource \"terraform_data\" configuration",
        ),
        (
            "resource \"terraform_data\" \"a\" {\n  lifecycle {\n    prevent_destro = true\n  }\n}\n",
            "Unsupported argument",
        ),
        (
            "resource \"terraform_data\" \"a\" {\n  count = 1\n  for_each = {}\n}\n",
            "Invalid combination of \"count\" and \"for_each\"",
        ),
        ("module \"a\" {\n}\n", "Missing required argument"),
        ("module \"a\" {\n  source = \"./missing\"\n}\n", "Unreadable module directory"),
        ("check \"x\" {\n}\n", "Zero assert blocks"),
        (
            "moved {\n  from = terraform_data.a\n  to   = module.b\n}\n",
            "Invalid \"moved\" addresses",
        ),
        ("terraform {\n  backend \"nope\" {}\n}\n", "Unsupported backend type"),
        ("resource \"terraform_data\" \"a\" {\n  input = [\n}\n", "Invalid expression"),
    ];
    for (main, summary) in refused {
        let ended = Bench::with_main(main).mayfly(".", ["init"]).fails();
        ended.shows(&[&format!("Error: {summary}")]);
    }
    let taken = [
        "output \"a\" {\n  value = 1 + \"a\"\n}\noutput \"b\" {\n  value = var.none\n}\n",
        "locals {\n  a = local.b\n  b = local.a\n}\n",
        "resource \"terraform_data\" \"a\" {\n  inputs = foo\n}\n",
    ];
    for main in taken {
        let bench = Bench::with_main(main);
        bench.mayfly(".", ["init"]).succeeds();
        bench.mayfly(".", ["validate"]).fails();
    }
}
