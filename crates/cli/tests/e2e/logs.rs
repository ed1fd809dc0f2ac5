//! `TF_LOG` and related variables: the log lines, their destination, and content that must not be in them.

use std::{fs, os::unix::fs::PermissionsExt};

use crate::{
    bench::{Bench, Ended, Run},
    script_provider::with_script,
    tofu::programs,
};

const MAIN: &str = "variable \"v\" {\n  default = \"\"\n}\n\nresource \"terraform_data\" \"a\" {\n  \
                    input = 1\n}\n\noutput \"o\" {\n  value = 1\n}\n";

/// Every command, successful in a directory with an applied configuration.
const COMMANDS: &[&[&str]] = &[
    &["init"],
    &["validate"],
    &["fmt"],
    &["plan"],
    &["apply", "-auto-approve"],
    &["console"],
    &["show"],
    &["output"],
    &["state", "list"],
    &["state", "show", "terraform_data.a"],
    &["providers", "schema", "-json"],
    &["metadata", "functions", "-json"],
    &["explain", "no-state"],
    &["version"],
    &["lsp"],
    &["destroy", "-auto-approve"],
];

/// Commands that fail here and log the error.
const FAILURES: &[&[&str]] = &[
    &["state", "adopt", "terraform_data.a", "id"],
    &["import", "terraform_data.nothing", "id"],
    &["force-unlock", "-force", "id"],
    &["state", "show", "terraform_data.nothing"],
    &["plan", "-target=a b"],
    &["watch", "-destroy"],
];

fn bench() -> Bench {
    let bench = Bench::with_main(MAIN);
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    bench
}

/// The time and the level of a log line. `None` if it is not a log line.
fn parsed(line: &str) -> Option<(&str, &str)> {
    let (time, rest) = line.split_once(' ')?;
    let is_time = time.len() >= 24
        && time.is_char_boundary(23)
        && time[..23].bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            10 => byte == b'T',
            13 | 16 => byte == b':',
            19 => byte == b'.',
            _ => byte.is_ascii_digit(),
        })
        && (&time[23..] == "Z" || (time[23..].len() == 5 && time[23..].starts_with(['+', '-'])));
    let (level, text) = rest.split_once(']')?;
    let level = level.strip_prefix('[')?;
    let width = if level.len() == 4 { "  " } else { " " };
    (is_time && text.starts_with(width)).then_some((time, level))
}

fn levels(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| Some(parsed(line)?.1)).collect()
}

fn run(bench: &Bench, arguments: &[&str]) -> Run {
    bench.mayfly(".", arguments).input("\n")
}

#[test]
fn every_command_logs_at_the_requested_level() {
    let bench = bench();
    for arguments in [COMMANDS, FAILURES].concat() {
        // `lsp` ends with an error if the client does not shut it down.
        let plain = run(&bench, arguments).end();
        assert_eq!(levels(&plain.err), Vec::<&str>::new(), "{arguments:?}: {}", plain.err);
        if arguments[0] == "destroy" {
            run(&bench, &["apply", "-auto-approve"]).succeeds();
        }
        let logged = |level: &str| -> Ended { run(&bench, arguments).env("TF_LOG", level).end() };
        let trace = logged("TRACE");
        assert_eq!(trace.code, plain.code, "{arguments:?}: {}", trace.err);
        let found = levels(&trace.err);
        for level in ["TRACE", "DEBUG", "INFO"] {
            assert!(found.contains(&level), "{arguments:?} has no {level}: {}", trace.err);
        }
        let first = format!("cli: command: {}", arguments[0]);
        assert!(trace.err.contains(&first), "{arguments:?}: {}", trace.err);
        if arguments[0] == "destroy" {
            run(&bench, &["apply", "-auto-approve"]).succeeds();
        }
        let info = logged("info");
        let found = levels(&info.err);
        assert!(found.contains(&"INFO"), "{arguments:?}: {}", info.err);
        assert!(
            !found.iter().any(|it| ["TRACE", "DEBUG"].contains(it)),
            "{arguments:?}: {}",
            info.err
        );
        assert_eq!(levels(&logged("off").err), Vec::<&str>::new(), "{arguments:?}");
    }
    for arguments in FAILURES {
        let ended = run(&bench, arguments).env("TF_LOG", "ERROR").fails();
        assert_eq!(levels(&ended.err), ["ERROR"], "{arguments:?}: {}", ended.err);
    }
}

#[test]
fn log_file_is_private_and_appended_to() {
    let bench = bench();
    let path = bench.path("some.log");
    let run = || run(&bench, &["plan"]).env("TF_LOG", "DEBUG").env("TF_LOG_PATH", &path);
    let ended = run().succeeds();
    assert_eq!(ended.err, "");
    assert_eq!(fs::metadata(&path).expect("is there").permissions().mode() & 0o777, 0o600);
    let first = fs::read_to_string(&path).expect("is text");
    assert!(first.lines().all(|it| parsed(it).is_some()), "{first}");
    run().succeeds();
    let second = fs::read_to_string(&path).expect("is text");
    assert!(second.starts_with(&first) && second.len() > first.len());
    // A log file that cannot be opened does not disable the log.
    let ended = run().env("TF_LOG_PATH", "/nowhere/some.log").succeeds();
    assert!(ended.err.starts_with(
        "Error opening log file: open /nowhere/some.log: no such file or directory\n"
    ));
    assert!(levels(&ended.err).contains(&"DEBUG"), "{}", ended.err);
}

#[test]
fn json_log_has_one_object_per_line() {
    let bench = bench();
    let path = bench.path("json.log");
    run(&bench, &["plan"]).env("TF_LOG", "json").env("TF_LOG_PATH", &path).succeeds();
    let text = fs::read_to_string(&path).expect("is text");
    let lines: Vec<serde_json::Value> =
        text.lines().map(|it| serde_json::from_str(it).expect("is JSON")).collect();
    assert!(lines.iter().any(|it| it["@level"] == "trace"), "{text}");
    for line in &lines {
        assert!(line["@message"].is_string() && line["@module"].is_string(), "{line}");
        let time = line["@timestamp"].as_str().expect("is text");
        assert!(time.len() >= 27 && time.as_bytes()[10] == b'T', "{time}");
    }
}

/// Both programs print the same warning to stderr.
#[test]
fn unknown_log_level_prints_a_warning() {
    for program in programs() {
        let bench = Bench::new();
        let ended = program.run(&bench, ".", ["version"]).env("TF_LOG", "loud").succeeds();
        let warning = "[WARN] Invalid log level: \"LOUD\". Defaulting to level: TRACE. Valid \
                       levels are: [TRACE DEBUG INFO WARN ERROR OFF]";
        assert!(ended.err.contains(warning), "{}: {}", program.name(), ended.err);
        assert!(ended.err.contains(" [TRACE] "), "{}: {}", program.name(), ended.err);
    }
}

/// `TF_LOG` sets both levels. `TF_LOG_CORE` sets the level of this program if `TF_LOG` is not set, and
/// `TF_LOG_PROVIDER` overrides `TF_LOG` for providers.
#[test]
fn core_and_provider_log_levels_are_independent() {
    let bench = with_script("#!/bin/sh\necho '[INFO] from the script' >&2\nexit 1\n");
    let rc = bench.path("home/rc");
    let logged = |variables: &[(&str, &str)]| {
        let run = bench.mayfly(".", ["validate"]).env("TF_CLI_CONFIG_FILE", &rc);
        let run = variables.iter().fold(run, |run, (name, value)| run.env(name, value));
        let err = run.fails().err;
        let own = err
            .lines()
            .any(|it| parsed(it).is_some() && it.contains("] cli: ") || it.contains("]  cli: "));
        let of_provider = err
            .lines()
            .any(|it| parsed(it).is_some() && it.contains("provider.example.com/tests/script: "));
        (own, of_provider)
    };
    assert_eq!(logged(&[]), (false, false));
    assert_eq!(logged(&[("TF_LOG", "INFO")]), (true, true));
    assert_eq!(logged(&[("TF_LOG_CORE", "INFO")]), (true, false));
    assert_eq!(logged(&[("TF_LOG_PROVIDER", "INFO")]), (false, true));
    assert_eq!(logged(&[("TF_LOG", "INFO"), ("TF_LOG_PROVIDER", "OFF")]), (true, false));
    assert_eq!(logged(&[("TF_LOG", "OFF"), ("TF_LOG_CORE", "INFO")]), (false, false));
}

/// Values of variables, of the environment and of resources are never logged.
#[test]
fn log_lines_contain_no_values() {
    let bench = Bench::with_main(
        "variable \"v\" {}\n\nvariable \"e\" {\n  ephemeral = true\n}\n\nresource \
         \"terraform_data\" \"a\" {\n  input = var.v\n}\n\noutput \"o\" {\n  value = var.v\n}\n",
    );
    bench.write("some.tfvars", "e = \"kanarek-file\"\n");
    let log = bench.root().join("home/all.log");
    for arguments in [
        &["init"][..],
        &["validate"],
        &["plan", "-var", "v=kanarek-flag", "-var-file=some.tfvars", "-out=kanarek-plan"],
        &["apply", "-auto-approve", "-var=v=kanarek-flag"],
        &["plan", "-var", "v=-kanarek", "-replace=terraform_data.kanarek"],
        &["apply", "kanarek-plan"],
        &["state", "list", "kanarek.kanarek"],
        &["state", "list", "-id=kanarek"],
        &["output", "kanarek"],
        &["explain", "kanarek"],
        &["force-unlock", "-force", "kanarek"],
        &["import", "-var=v=kanarek", "terraform_data.a", "kanarek"],
        &["console", "-var=v=kanarek"],
        &["destroy", "-auto-approve", "-var=v=kanarek"],
    ] {
        let run = bench.mayfly(".", arguments).input("\"kanarek\"\n");
        run.env("TF_LOG", "TRACE")
            .env("TF_LOG_PATH", &log)
            .env("TF_VAR_e", "kanarek-environment")
            .env("TF_WORKSPACE", "kanarek")
            .env("TF_DATA_DIR", ".kanarek")
            .env("TF_TOKEN_example_com", "kanarek-token")
            .env("OTHER", "kanarek-other")
            .end();
    }
    let text = fs::read_to_string(&log).expect("is text");
    assert!(text.lines().count() > 100, "{text}");
    let with_value: Vec<&str> = text.lines().filter(|it| it.contains("kanarek")).collect();
    // The address of an instance is a name of the configuration.
    assert_eq!(with_value, Vec::<&str>::new());
}
