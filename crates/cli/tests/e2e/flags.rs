//! Compares the flags in `-help` with a run of each: exactly the refused flags are marked.

use std::collections::BTreeSet;

use crate::bench::Bench;

const MARK: &str = "(not for this command)";

const COMMANDS: &[&[&str]] = &[
    &["init"],
    &["get"],
    &["providers"],
    &["validate"],
    &["test"],
    &["fmt"],
    &["completion"],
    &["graph"],
    &["plan"],
    &["watch"],
    &["apply"],
    &["destroy"],
    &["refresh"],
    &["console"],
    &["import"],
    &["show"],
    &["output"],
    &["state", "list"],
    &["state", "show"],
    &["state", "adopt"],
    &["state", "mv"],
    &["state", "rm"],
    &["state", "pull"],
    &["state", "push"],
    &["state", "replace-provider"],
    &["workspace", "list"],
    &["workspace", "select"],
    &["workspace", "new"],
    &["workspace", "delete"],
    &["workspace", "show"],
    &["taint"],
    &["untaint"],
    &["providers", "schema"],
    &["providers", "lock"],
    &["providers", "mirror"],
    &["metadata", "functions"],
    &["provider", "new"],
    &["explain"],
    &["version"],
    &["lsp"],
    &["login"],
    &["logout"],
    &["force-unlock"],
];

/// A flag in the help text.
#[derive(Debug)]
struct Flag {
    name: String,
    takes_value: bool,
    is_marked: bool,
}

fn flags_of(bench: &Bench, command: &[&str]) -> Vec<Flag> {
    let help = bench.mayfly(".", [command, &["-help"]].concat()).succeeds().out;
    let (_, options) = help.split_once("\nOptions:\n").expect("there are options");
    let mut flags: Vec<(String, String)> = Vec::new();
    for line in options.lines() {
        match line.trim_start().strip_prefix("--").filter(|_| line.starts_with("      --")) {
            Some(entry) => {
                let (name, rest) = entry.split_at(entry.find([' ', '[']).unwrap_or(entry.len()));
                flags.push((name.to_owned(), rest.to_owned()));
            }
            // The description of a flag may continue in the next line.
            None => {
                if let Some((_, text)) = flags.last_mut() {
                    text.push(' ');
                    text.push_str(line.trim());
                }
            }
        }
    }
    let flag = |(name, text): (String, String)| Flag {
        name,
        takes_value: text.trim_start().starts_with('<'),
        is_marked: text.contains(MARK),
    };
    flags.into_iter().map(flag).collect()
}

#[test]
fn flag_tests_cover_every_command() {
    let bench = Bench::new();
    let listed = |help: &str| -> Vec<String> {
        let (_, rest) = help.split_once("Commands:\n").expect("there are commands");
        let lines = rest.lines().take_while(|it| !it.is_empty());
        let names = lines.filter(|it| it.starts_with("  ") && !it.starts_with("    "));
        names.filter_map(|it| it.split_whitespace().next()).map(str::to_owned).collect()
    };
    let all: BTreeSet<&str> = COMMANDS.iter().map(|it| it[0]).collect();
    let mut found: BTreeSet<String> =
        listed(&bench.mayfly(".", ["-help"]).succeeds().out).into_iter().collect();
    found.remove("help");
    assert_eq!(found.iter().map(String::as_str).collect::<BTreeSet<_>>(), all);
    for group in ["state", "workspace", "provider", "providers", "metadata"] {
        for name in listed(&bench.mayfly(".", [group, "-help"]).succeeds().out) {
            let is_known = COMMANDS.iter().any(|it| *it == [group, name.as_str()]);
            assert!(name == "help" || is_known, "{group} {name}");
        }
    }
}

#[test]
fn refused_flags_equal_those_marked_in_help_and_readme() {
    // A command that is not refused fails quickly, because of `TF_ENCRYPTION` or the invalid configuration.
    let bench = Bench::with_main("resource {\n");
    let readme = include_str!("../../../../README.md");
    let mut refused = BTreeSet::new();
    for command in COMMANDS {
        for flag in flags_of(&bench, command) {
            let positional: &[&str] = match *command {
                ["import"] | ["state", "adopt"] => &["a.b", "id"],
                ["state", "mv" | "replace-provider"] => &["a.b", "a.c"],
                ["workspace", "select" | "new" | "delete"] => &["w"],
                ["state", "show" | "rm" | "push"] | ["taint"] | ["untaint"] => &["a.b"],
                ["force-unlock"] => &["id"],
                ["completion"] => &["bash"],
                ["login" | "logout"] => &["localhost:1"],
                ["providers", "mirror"] => &["copied"],
                ["provider", "new"] => &["Unusable"],
                _ => &[],
            };
            let value = match flag.name.as_str() {
                "parallelism" => "1",
                "lock-timeout" => "1s",
                "lockfile" => "readonly",
                "type" => "plan",
                "module-depth" => "-1",
                "deprecation" => "module:none",
                "target-file" | "exclude-file" => "/dev/null",
                _ => "a.b",
            };
            let argument = match flag.takes_value {
                true => format!("-{}={value}", flag.name),
                false => format!("-{}", flag.name),
            };
            let all = [command, &[argument.as_str()][..], positional].concat();
            let run = bench.mayfly(".", &all).env("TF_ENCRYPTION", "x").input("\n");
            let ended = match *command == ["watch"] && !flag.is_marked {
                true => {
                    let started = run.start();
                    started.wait_for("TF_ENCRYPTION configures");
                    started.interrupt();
                    started.end()
                }
                false => run.end(),
            };
            let printed = format!("{}{}", ended.out, ended.err);
            assert!(!printed.contains("This command has no flag"), "{all:?}: {printed}");
            let is_refused = ended.code == 1 && printed.contains("Error: Unsupported option");
            assert_eq!(is_refused, flag.is_marked, "{all:?}: {printed}");
            if is_refused {
                assert_eq!(ended.code, 1, "{all:?}");
                refused.insert((command.join(" "), flag.name));
            }
        }
    }
    // The table in the README lists the same flags.
    let rows: Vec<&str> = readme
        .lines()
        .filter(|it| it.starts_with('|') && it.contains("refused as not supported yet"))
        .collect();
    let named = |flag: &str| rows.iter().any(|it| it.contains(&format!("`-{flag}`")));
    for (command, flag) in &refused {
        assert!(
            named(flag) || ["console", "watch"].contains(&command.as_str()),
            "README has nothing of {command} -{flag}"
        );
    }
    for row in &rows {
        for word in row.split('`').filter(|it| it.starts_with('-')) {
            let flag = &word[1..];
            assert!(refused.iter().any(|(_, it)| it == flag), "README says that {word} is refused");
        }
    }
}

/// The arguments of the environment variable are inserted after the full command name, and the variable is named
/// after the full name.
#[test]
fn tf_cli_args_follow_the_full_command_name() {
    let bench = Bench::with_main("resource \"terraform_data\" \"a\" {\n}\n");
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    let list =
        |name: &str| bench.mayfly(".", ["state", "list"]).env(name, "-id=none").succeeds().out;
    assert_eq!(list("TF_CLI_ARGS_state_list"), "");
    assert_eq!(list("TF_CLI_ARGS"), "");
    assert_eq!(list("TF_CLI_ARGS_state"), "terraform_data.a\n");
    let unlock =
        bench.mayfly(".", ["force-unlock", "id"]).env("TF_CLI_ARGS_force_unlock", "-nothing");
    unlock.fails().shows(&["This command has no flag -nothing", "TF_CLI_ARGS_force_unlock"]);
}
