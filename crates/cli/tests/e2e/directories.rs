//! The paths that `-chdir` affects, and those that it does not.

use std::os::unix::fs::symlink;

use serde_json::Value as Json;

use crate::{bench::Bench, tofu::programs};

/// Expressions in the root module with their values. `ROOT` is the parent of the directory in which the command is
/// called.
const EXPRESSIONS: &[(&str, &str)] = &[
    ("path.cwd", "ROOT/outer"),
    ("path.root", "."),
    ("path.module", "."),
    ("abspath(\".\")", "ROOT/outer/inner"),
    ("abspath(\"../x\")", "ROOT/outer/x"),
    ("abspath(path.root)", "ROOT/outer/inner"),
    ("abspath(path.cwd)", "ROOT/outer"),
    ("module.m.cwd", "ROOT/outer"),
    ("module.m.root", "."),
    ("module.m.module", "mod"),
    ("module.m.abspath", "ROOT/outer/inner/mod"),
    ("module.m.text", "in the inner one"),
    ("file(\"here.txt\")", "in the inner one"),
    ("templatefile(\"here.txt\", {})", "in the inner one"),
    ("join(\" \", fileset(\".\", \"*.txt\"))", "here.txt"),
    ("tostring(fileexists(\"there.txt\"))", "false"),
    ("var.from_file", "of the inner one"),
    ("pathexpand(\"~\")", "HOME"),
];

fn bench() -> Bench {
    let bench = Bench::new();
    let outputs: String = EXPRESSIONS
        .iter()
        .enumerate()
        .map(|(number, (text, _))| format!("output \"o{number:02}\" {{\n  value = {text}\n}}\n"))
        .collect();
    bench.write(
        "outer/inner/main.tf",
        &format!(
            "variable \"from_file\" {{\n  default = \"\"\n}}\nmodule \"m\" {{\n  source = \"./mod\"\n}}\n\
             resource \"terraform_data\" \"a\" {{\n  provisioner \"local-exec\" {{\n    command = \
             \"pwd > pwd.out\"\n  }}\n  provisioner \"local-exec\" {{\n    command     = \"pwd > \
             pwd.out\"\n    working_dir = \"mod\"\n  }}\n}}\n{outputs}"
        ),
    );
    bench.write(
        "outer/inner/mod/main.tf",
        "output \"cwd\" {\n  value = path.cwd\n}\noutput \"root\" {\n  value = \
         path.root\n}\noutput \"module\" {\n  value = path.module\n}\n\
         output \"abspath\" {\n  value = abspath(path.module)\n}\noutput \"text\" {\n  value = file(\"here.txt\")\n}\n",
    );
    bench.write("outer/inner/here.txt", "in the inner one");
    bench.write("outer/here.txt", "in the outer one");
    bench.write("outer/there.txt", "");
    bench.write("outer/inner/some.tfvars", "from_file = \"of the inner one\"\n");
    bench.write("outer/some.tfvars", "from_file = \"of the outer one\"\n");
    bench
}

/// The canonical path of the test directory, which may be behind symbolic links.
fn root(bench: &Bench) -> String {
    let root = bench.path("").canonicalize().expect("is there");
    root.to_str().expect("is text").trim_end_matches('/').to_owned()
}

fn line_of(bench: &Bench, file: &str) -> String {
    String::from_utf8(bench.read(file)).expect("is text").trim().to_owned()
}

#[test]
fn relative_paths_resolve_in_the_directory_of_chdir() {
    for program in programs() {
        let name = program.name();
        let bench = bench();
        let run = |arguments: &[&str]| {
            let arguments = [&["-chdir=inner"], arguments].concat();
            program.run(&bench, "outer", arguments).env("TF_DATA_DIR", "data").succeeds()
        };
        run(&["init"]);
        assert!(bench.path("outer/inner/data").is_dir(), "{name}: TF_DATA_DIR");
        run(&["plan", "-var-file=some.tfvars", "-out=saved.plan"]);
        assert!(bench.path("outer/inner/saved.plan").is_file(), "{name}: -out");
        run(&["show", "saved.plan"]);
        run(&["apply", "saved.plan"]);
        assert!(bench.path("outer/inner/terraform.tfstate").is_file(), "{name}: the state");
        let root = root(&bench);
        for (folder, file) in [("inner", "inner/pwd.out"), ("inner/mod", "inner/mod/pwd.out")] {
            let line = line_of(&bench, &format!("outer/{file}"));
            assert_eq!(line, format!("{root}/outer/{folder}"), "{name}: local-exec");
        }
        let outputs = run(&["output", "-json"]).json();
        let home = bench.root().join("home");
        for (number, (text, expected)) in EXPRESSIONS.iter().enumerate() {
            let expected =
                expected.replace("ROOT", &root).replace("HOME", home.to_str().expect("is text"));
            let value = &outputs[format!("o{number:02}")]["value"];
            assert_eq!(*value, Json::from(expected), "{name}: {text}");
        }
    }
}

/// The console evaluates without a plan, and `source` is evaluated before one.
#[test]
fn abspath_is_equal_in_console_and_source() {
    let bench = bench();
    let typed = "\"${path.cwd} ${abspath(\".\")}\"\n";
    let root = root(&bench);
    bench.mayfly("outer", ["-chdir=inner", "init"]).succeeds();
    let ended = bench.mayfly("outer", ["-chdir=inner", "console"]).input(typed).succeeds();
    assert_eq!(ended.out.trim(), format!("\"{root}/outer {root}/outer/inner\""));
    let bench = Bench::new();
    bench.write(
        "outer/inner/main.tf",
        "locals {\n  at = basename(abspath(\".\"))\n}\nmodule \"m\" {\n  source = \"./${local.at}-module\"\n}\n",
    );
    bench.write("outer/inner/inner-module/main.tf", "");
    bench.mayfly("outer", ["-chdir=inner", "init"]).succeeds().shows(&["- m in inner-module"]);
}

/// The CLI configuration and the log file are opened before the directory is changed.
#[test]
fn cli_configuration_and_log_resolve_in_the_calling_directory() {
    for program in programs() {
        let name = program.name();
        let bench = bench();
        let run = program.run(&bench, "outer", ["-chdir=inner", "version"]);
        run.env("TF_LOG", "INFO").env("TF_LOG_PATH", "some.log").succeeds();
        assert!(bench.path("outer/some.log").is_file(), "{name}");
        assert!(!bench.path("outer/inner/some.log").exists(), "{name}");
        bench.write("outer/some.rc", "}");
        let run = program.run(&bench, "outer", ["-chdir=inner", "init"]);
        let ended = run.env("TF_CLI_CONFIG_FILE", "some.rc").end();
        assert!(ended.err.contains("Error parsing"), "{name}: {}", ended.err);
    }
}

/// A provider process runs in the working directory of the command.
#[test]
fn provider_runs_in_the_directory_of_chdir() {
    for program in programs() {
        let bench =
            crate::script_provider::with_script("#!/bin/sh\npwd > \"$HOME/pwd.out\"\nexit 1\n");
        let run = program.run(&bench, ".", ["-chdir=plugins/..", "validate"]);
        run.env("TF_CLI_CONFIG_FILE", bench.path("home/rc")).fails();
        let seen = std::fs::read_to_string(bench.root().join("home/pwd.out")).expect("was started");
        assert_eq!(seen.trim(), root(&bench), "{}", program.name());
    }
}

/// After following a symbolic link, a shell sets `PWD` to the path of the link. A directory given to `-chdir` has
/// its real path.
#[test]
fn working_directory_keeps_the_symlink_name_of_pwd() {
    for program in programs() {
        let bench = bench();
        symlink("outer", bench.path("link")).expect("can be made");
        let text = "\"${path.cwd} ${abspath(\"x\")}\"\n";
        let root = root(&bench);
        let init = program.run(&bench, "outer/inner", ["init"]);
        init.succeeds();
        let typed = |chdir: Option<&str>, folder: &str, pwd: String| {
            let arguments: Vec<&str> = chdir.into_iter().chain(["console"]).collect();
            let run = program.run(&bench, folder, arguments).env("PWD", pwd).input(text);
            run.succeeds().out.trim().replace(&root, "ROOT")
        };
        let name = program.name();
        let linked = typed(None, "outer/inner", format!("{root}/link/inner"));
        assert_eq!(linked, "\"ROOT/link/inner ROOT/link/inner/x\"", "{name}");
        let elsewhere = typed(None, "outer/inner", "/".to_owned());
        assert_eq!(elsewhere, "\"ROOT/outer/inner ROOT/outer/inner/x\"", "{name}");
        let entered = typed(Some("-chdir=inner"), "outer", format!("{root}/link"));
        assert_eq!(entered, "\"ROOT/link ROOT/outer/inner/x\"", "{name}");
    }
}

#[test]
fn chdir_errors_match_opentofu() {
    for program in programs() {
        let bench = bench();
        for (flag, expected) in [
            (
                "-chdir=nowhere",
                "Error handling -chdir option: chdir nowhere: no such file or directory",
            ),
            ("-chdir=here.txt", "Error handling -chdir option: chdir here.txt: not a directory"),
            (
                "-chdir=",
                "Invalid -chdir option: must include an equals sign followed by a directory path, like -chdir=example",
            ),
            (
                "-chdir",
                "Invalid -chdir option: must include an equals sign followed by a directory path, like -chdir=example",
            ),
        ] {
            let ended = program.run(&bench, "outer", [flag, "plan"]).fails();
            assert!(ended.err.contains(expected), "{} {flag}: {}", program.name(), ended.err);
            assert_eq!(ended.out, "", "{} {flag}", program.name());
        }
    }
}
