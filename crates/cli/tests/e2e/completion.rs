//! Completion of command lines: the candidates, and the scripts in the shells that are there.

use std::{fs, path::Path, process::Command};

use crate::{bench::Bench, console::Terminal};

const MAIN: &str = r#"
variable "name" {
  default = "x"
}
resource "terraform_data" "one" {
  for_each = toset(["a b"])
}
module "m" {
  source = "./m"
}
output "text" {
  value = "x"
}
"#;

/// An applied configuration, with another one in the directory `other`.
fn bench() -> Bench {
    let bench = Bench::with_main(MAIN);
    bench.write("m/main.tf", "resource \"terraform_data\" \"two\" {}\n");
    bench.write("other/main.tf", "resource \"terraform_data\" \"three\" {}\n");
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    bench.mayfly(".", ["workspace", "new", "wide"]).succeeds();
    bench.mayfly(".", ["workspace", "select", "default"]).succeeds();
    bench
}

#[test]
fn candidates_are_names_of_the_state_and_the_configuration() {
    let bench = bench();
    let candidates = |line: &str| {
        let word = line.rsplit([' ', '=']).next().unwrap_or_default();
        let run = bench.mayfly(".", ["mayfly", word]).env("COMP_LINE", line);
        let ended = run.succeeds();
        assert_eq!(ended.err, "", "{line}");
        ended.out.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(candidates("mayfly st"), ["state"]);
    assert_eq!(candidates("mayfly help st"), ["state"]);
    assert_eq!(candidates("mayfly state help m"), ["mv"]);
    assert!(candidates("mayfly hel").is_empty(), "the flag is shorter");
    assert_eq!(candidates("mayfly taint module"), ["module.m.terraform_data.two"]);
    assert_eq!(candidates("mayfly state show terraform_"), [r#"terraform_data.one\[\"a\ b\"\]"#]);
    // The part before the equals sign stays in the line.
    assert_eq!(
        candidates("mayfly plan -target=module.m"),
        ["module.m", "module.m.terraform_data.two"]
    );
    assert_eq!(candidates("mayfly workspace select w"), ["wide"]);
    assert_eq!(candidates("mayfly output "), ["text"]);
    assert_eq!(candidates("mayfly plan -var "), ["name="]);
    assert_eq!(candidates("mayfly -chdir=other plan -target t"), ["terraform_data.three"]);
    assert!(candidates("mayfly -chdir=none plan -target t").is_empty());
    assert!(candidates("mayfly nonsense -x ").is_empty());
    bench.write("terraform.tfstate", "{");
    assert!(candidates("mayfly taint module").is_empty());
}

/// The lines that a script prints in a shell. `None` if the shell is not there.
fn in_shell(bench: &Bench, shell: &str, arguments: &[&str], script: &str) -> Option<Vec<String>> {
    let directory = Path::new(env!("CARGO_BIN_EXE_mayfly")).parent().expect("is in a directory");
    let path = std::env::var("PATH").expect("is set");
    let output = Command::new(shell)
        .args(arguments)
        .args(["-c", script])
        .current_dir(bench.path("."))
        .env("PATH", format!("{}:{path}", directory.display()))
        .env("HOME", bench.root().join("home"))
        .output();
    let Ok(output) = output else {
        println!("skipped: {shell} is not installed");
        return None;
    };
    let text = String::from_utf8(output.stdout).expect("is text");
    assert!(output.status.success(), "{shell}: {}", String::from_utf8_lossy(&output.stderr));
    Some(text.lines().map(str::to_owned).collect())
}

#[test]
fn bash_registers_the_completion() {
    let bench = Bench::new();
    // Bash passes the line only to a command that it runs for a key press.
    let script = "source <(mayfly completion bash); complete -p mayfly";
    let Some(lines) = in_shell(&bench, "bash", &["--norc"], script) else { return };
    let lines: Vec<String> = lines.iter().map(|it| it.replace('\'', "")).collect();
    assert_eq!(lines, ["complete -o default -C mayfly mayfly"]);
}

#[test]
fn zsh_completes_with_its_script() {
    let bench = bench();
    let script = "compdef() { print -r -- compdef $@ }; compadd() { print -rl -- ${@:2} }\n\
                  source <(mayfly completion zsh)\n\
                  words=(mayfly taint terr); CURRENT=3; PREFIX=terr; _mayfly";
    let Some(lines) = in_shell(&bench, "zsh", &["-f"], script) else { return };
    assert_eq!(lines, ["compdef _mayfly mayfly", r#"terraform_data.one["a b"]"#]);
}

#[test]
fn fish_completes_with_its_script() {
    let bench = bench();
    let script = "mayfly completion fish | source; complete -C 'mayfly plan -target=module'";
    let Some(lines) = in_shell(&bench, "fish", &["--no-config"], script) else { return };
    assert_eq!(lines, ["-target=module.m", "-target=module.m.terraform_data.two"]);
}

#[test]
fn install_autocomplete_changes_start_files_once() {
    let bench = bench();
    let home = bench.root().join("home");
    fs::create_dir_all(&home).expect("can be made");
    bench.mayfly(".", ["-install-autocomplete"]).fails().shows(&["No start file of bash"]);
    fs::write(home.join(".bashrc"), "alias a=b\n").expect("can be written");
    let installed = bench.mayfly(".", ["-install-autocomplete"]).succeeds();
    installed.shows(&["Added the completion to ", ".bashrc."]);
    let again = bench.mayfly(".", ["-install-autocomplete"]).succeeds();
    again.shows(&["has the completion already."]);
    let text = fs::read_to_string(home.join(".bashrc")).expect("can be read");
    assert_eq!(text.lines().count(), 2, "{text}");
    let check = format!("source {}; complete -p mayfly", home.join(".bashrc").display());
    if let Some(lines) = in_shell(&bench, "bash", &["--norc"], &check) {
        assert!(lines[0].starts_with("complete -o default -C "), "{lines:?}");
    }
    bench.mayfly(".", ["-uninstall-autocomplete"]).succeeds();
    let text = fs::read_to_string(home.join(".bashrc")).expect("can be read");
    assert_eq!(text, "alias a=b\n");
}

/// A shell on a terminal, which loads the completion with its first line. `None` if the shell is not there.
fn interactive(bench: &Bench, shell: &str, arguments: &[&str], setup: &str) -> Option<Terminal> {
    let directory = Path::new(env!("CARGO_BIN_EXE_mayfly")).parent().expect("is in a directory");
    let path = std::env::var("PATH").expect("is set");
    let is_there = std::env::split_paths(&path).any(|it| it.join(shell).is_file());
    if !is_there {
        println!("skipped: {shell} is not installed");
        return None;
    }
    let mut command = Command::new("setsid");
    command
        .args(["--ctty", shell])
        .args(arguments)
        .current_dir(bench.path("."))
        .env_clear()
        .env("PATH", format!("{}:{path}", directory.display()))
        .env("HOME", bench.root().join("home"))
        .env("TERM", "dumb")
        .env("PS1", "ready> ")
        .env("NO_COLOR", "1");
    let Ok(mut terminal) = Terminal::of(command) else {
        println!("skipped: no setsid, so {shell} gets no terminal");
        return None;
    };
    terminal.press(&format!("{setup}; echo load''ed\r"), "loaded");
    Some(terminal)
}

/// Completes a command, a flag and an address with the Tab key, and runs what the shell makes of the lines.
fn complete_and_run(mut terminal: Terminal) {
    terminal.press("mayfly vers\t\r", "Mayfly v");
    terminal.press("mayfly version -js\t\r", "\"terraform_version\"");
    terminal.press("mayfly state show terraform_data.o\t\r", "# terraform_data.one[\"a b\"]:");
    terminal.press("mayfly plan -target=module\t\r", "No changes.");
    terminal.press("exit\r", "");
    terminal.end();
}

#[test]
fn interactive_bash_completes_commands_flags_and_addresses() {
    let bench = bench();
    let setup = "source <(mayfly completion bash)";
    let arguments = ["--norc", "--noprofile", "-i"];
    let Some(mut terminal) = interactive(&bench, "bash", &arguments, setup) else { return };
    terminal.press("mayfly pl\t", "mayfly plan ");
    terminal.press("-det\t", "-detailed-exitcode ");
    terminal.press("-target module.m.\t", "module.m.terraform_data.two ");
    terminal.press("\x15", "");
    complete_and_run(terminal);
}

#[test]
fn interactive_zsh_completes_commands_flags_and_addresses() {
    let bench = bench();
    let setup = "autoload -Uz compinit; compinit -u -D; source <(mayfly completion zsh)";
    let Some(terminal) = interactive(&bench, "zsh", &["-f", "-i"], setup) else { return };
    complete_and_run(terminal);
}

#[test]
fn interactive_fish_completes_commands_flags_and_addresses() {
    let bench = bench();
    let setup = "mayfly completion fish | source";
    let Some(terminal) = interactive(&bench, "fish", &["--no-config", "-i"], setup) else { return };
    complete_and_run(terminal);
}
