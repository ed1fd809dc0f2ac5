//! Expressions and files without bounds are refused, interrupted, or read up to a limit.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::bench::Bench;

/// Eleven locals, each of which applies `expression` to the one before, so that values grow exponentially.
fn growing(expression: &str) -> String {
    let mut text = "locals {\n  l0 = \"0123456789\"\n".to_owned();
    for i in 1..12 {
        text.push_str(&format!(
            "  l{i} = {}\n",
            expression.replace('@', &format!("local.l{}", i - 1))
        ));
    }
    text + "}\noutput \"length\" {\n  value = length(jsonencode(local.l11))\n}\n"
}

const LOOPS: &str = "variable \"n\" {\n  default = 1000\n}\noutput \"x\" {\n  value = length([for a in range(var.n) : \
                     length([for b in range(var.n) : length([for c in range(var.n) : \"x${c}\"])])])\n}\n";

#[test]
fn plan_refuses_values_beyond_the_memory_limit() {
    for expression in [
        "join(\"\", [for i in range(10) : @])",
        "replace(\"xxxxxxxxxx\", \"x\", @)",
        "\"@@@@@@@@@@\"",
        "concat([for i in range(10) : @]...)",
        "jsonencode([for i in range(10) : @])",
        "[@, @, @, @, @, @, @, @, @, @]",
    ] {
        let expression = match expression {
            "\"@@@@@@@@@@\"" => format!("\"{}\"", "${@}".repeat(10)),
            other if other.starts_with("concat") => {
                "concat([for i in range(10) : try(tolist(@), [@])]...)".to_owned()
            }
            other => other.to_owned(),
        };
        let bench = Bench::with_main(&growing(&expression));
        bench.mayfly(".", ["init"]).succeeds();
        let ended = bench.mayfly(".", ["plan"]).env("MAYFLY_EVALUATION_MEMORY", "100MiB").fails();
        ended.shows(&[
            "Error: Value too large",
            "main.tf line",
            "the limit is 100.0 MiB",
            "MAYFLY_EVALUATION_MEMORY",
        ]);
        ended.lacks(&["crashed", "allocation"]);
    }
}

/// `validate` evaluates constants that analysis does not keep, with the memory limit of a run.
#[test]
fn validate_refuses_constants_beyond_the_memory_limit() {
    let text = format!("\"{}\"", "${@}".repeat(10));
    for expression in [
        "join(\"\", [for i in range(10) : @])",
        "replace(\"xxxxxxxxxx\", \"x\", @)",
        &text,
        "jsonencode([for i in range(10) : @])",
        "[@, @, @, @, @, @, @, @, @, @]",
        "{ a = @, b = @, c = @, d = @, e = @, f = @, g = @, h = @ }",
    ] {
        let bench = Bench::with_main(&growing(expression));
        bench.mayfly(".", ["init"]).succeeds();
        let validate = || bench.mayfly(".", ["validate"]).env("MAYFLY_EVALUATION_MEMORY", "100MiB");
        let ended = validate().fails();
        ended.shows(&["Error: Value too large", "main.tf line", "the limit is 100.0 MiB"]);
        ended.lacks(&["Warning", "crashed"]);
    }
}

#[test]
fn constant_beyond_the_analysis_limit_is_a_warning_at_its_line() {
    let main =
        "locals {\n  a = 1\n  b = length([for i in range(1000) : format(\"%0100000d\", i)])\n}\n";
    let bench = Bench::with_main(main);
    bench.mayfly(".", ["init"]).succeeds();
    let ended = bench.mayfly(".", ["validate"]).succeeds();
    ended.shows(&["Warning: Value too large", "main.tf line 3", "not computed beyond 64 MiB"]);
}

#[test]
fn invalid_memory_limit_is_an_error() {
    let bench = Bench::with_main("output \"a\" {\n  value = 1\n}\n");
    let ended = bench.mayfly(".", ["plan"]).env("MAYFLY_EVALUATION_MEMORY", "lots").fails();
    ended.shows(&["Error: Invalid memory limit", "\"lots\", which is no size"]);
}

#[test]
fn slow_constants_do_not_delay_init_and_validate() {
    let bench = Bench::with_main(&LOOPS.replace("var.n", "1000"));
    let begun = Instant::now();
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["validate"]).succeeds();
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn an_interrupt_ends_an_evaluation() {
    let bench = Bench::with_main(LOOPS);
    bench.mayfly(".", ["init"]).succeeds();
    for arguments in [&["plan"][..], &["apply", "-auto-approve"]] {
        let run = bench.mayfly(".", arguments.iter().copied()).start();
        // The start of the evaluation is not observable.
        std::thread::sleep(Duration::from_secs(2));
        run.interrupt();
        let ended = run.end().exits(1);
        ended.shows(&["Interrupt received.", "Error: execution halted"]);
        ended.lacks(&["Two interrupts received"]);
    }
    assert!(!bench.path(".terraform.tfstate.lock.info").exists(), "the lock was given back");
}

#[test]
fn an_interrupt_ends_the_expansion_of_a_module() {
    let bench = Bench::with_main("module \"m\" {\n  source = \"./m\"\n  count  = 1000000\n}\n");
    bench.write("m/main.tf", "output \"x\" {\n  value = 1\n}\n");
    bench.mayfly(".", ["init"]).succeeds();
    let run = bench.mayfly(".", ["plan"]).start();
    std::thread::sleep(Duration::from_secs(2));
    run.interrupt();
    run.end().exits(1).shows(&["Interrupt received.", "Error: execution halted"]);
}

fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().expect("starts");
    assert!(made.success());
}

#[test]
fn pipes_and_devices_in_place_of_files_are_errors_with_the_path() {
    let bench = Bench::with_main("output \"a\" {\n  value = fileexists(\"pipe\")\n}\n");
    make_pipe(&bench.path("pipe"));
    bench.mayfly(".", ["plan"]).fails().shows(&["pipe: it is a named pipe, not a regular file"]);
    for call in ["file", "filebase64", "filesha256"] {
        bench.write("main.tf", &format!("output \"a\" {{\n  value = {call}(\"pipe\")\n}}\n"));
        let ended = bench.mayfly(".", ["plan"]).fails();
        ended.shows(&["main.tf line 2", "it is a named pipe, not a regular file"]);
    }
    bench.write("main.tf", "output \"a\" {\n  value = templatefile(\"/dev/zero\", {})\n}\n");
    bench.mayfly(".", ["plan"]).fails().shows(&["it is a device, not a regular file"]);
    bench.write("main.tf", "output \"a\" {\n  value = 1\n}\n");
    bench.mayfly(".", ["plan", "-state=pipe"]).fails().shows(&["not a regular file"]);
    bench
        .mayfly(".", ["apply", "-auto-approve", "-state=pipe"])
        .fails()
        .shows(&["not a regular file"]);
    bench.mayfly(".", ["apply", "pipe"]).fails().shows(&["it is a named pipe, not a regular file"]);
    make_pipe(&bench.path("more.auto.tfvars"));
    bench.mayfly(".", ["plan"]).fails().shows(&["it is a named pipe, not a regular file"]);
    std::fs::remove_file(bench.path("more.auto.tfvars")).expect("removes");
    make_pipe(&bench.path("more.tf"));
    bench.mayfly(".", ["validate"]).fails().shows(&["it is a named pipe, not a regular file"]);
    let ended = bench.mayfly(".", ["fmt", "more.tf"]).end().exits(2);
    ended.shows(&["Failed to read file more.tf"]);
}

#[test]
fn variables_and_backend_arguments_are_read_from_pipes() {
    let bench = Bench::with_main(
        "terraform {\n  backend \"local\" {}\n}\nvariable \"dir\" {}\nmodule \"m\" {\n  source = \
         var.dir\n}\noutput \"a\" {\n  value = var.dir\n}\n",
    );
    bench.write("m/main.tf", "");
    let through = |arguments: &str, text: &str| {
        let script = format!("mayfly {arguments}").replace('@', &format!("<(echo '{text}')"));
        let mut shell = Command::new("bash");
        shell.arg("-c").arg(script.replace("mayfly", env!("CARGO_BIN_EXE_mayfly")));
        shell.current_dir(bench.path(".")).stdin(Stdio::null()).env("NO_COLOR", "1");
        let output = shell.output().expect("starts");
        let printed = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&printed).into_owned())
    };
    let (ok, printed) = through("init -var dir=./m -backend-config=@", "path = \"piped.tfstate\"");
    assert!(ok, "{printed}");
    let (ok, printed) = through("plan -var-file=@", "dir = \"./m\"");
    assert!(ok && printed.contains("+ a = \"./m\""), "{printed}");
}

const PARAMETERS: &str = r#"
terraform {
  required_providers {
    playground = { source = "registry.opentofu.org/mayfly/playground" }
  }
}
resource "playground_parameter" "a" {
  count = 100
  name  = "n${count.index}"
  type  = "String"
  value = format("%1000d", count.index)
}
"#;

/// Runs the command with a file size limit, in blocks of 1,024 bytes.
fn limited(bench: &Bench, blocks: u32, arguments: &str) -> (Option<i32>, String) {
    let mut shell = Command::new("bash");
    let program = env!("CARGO_BIN_EXE_mayfly");
    shell.arg("-c").arg(format!("ulimit -f {blocks}; exec '{program}' {arguments}"));
    shell.current_dir(bench.path(".")).stdin(Stdio::null());
    let output = shell.output().expect("starts");
    let printed = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&printed).into_owned())
}

#[test]
fn plan_file_beyond_the_file_size_limit_is_an_error() {
    let bench = Bench::with_main("resource \"terraform_data\" \"a\" {\n  count = 200\n}\n");
    bench.mayfly(".", ["init"]).succeeds();
    let (code, printed) = limited(&bench, 2, "plan -out=plan");
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("File too large"), "{printed}");
}

#[test]
fn journal_beyond_the_file_size_limit_ends_the_apply_without_loss() {
    let bench = Bench::with_main(PARAMETERS);
    bench.mayfly(".", ["init"]).succeeds();
    let (code, printed) = limited(&bench, 60, "apply -auto-approve");
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("Failed to write the journal"), "{printed}");
    assert!(printed.contains("File too large"), "{printed}");
    let created = printed.matches(": Creation complete").count();
    let begun = printed.matches(": Creating...").count();
    assert!(0 < created && begun < 100, "the run ends early: {printed}");
    // The next run knows the recorded objects, and gives advice about the others.
    let ended = bench.mayfly(".", ["apply", "-auto-approve"]).fails();
    ended.shows(&["Error: Object may exist already"]);
}

#[test]
fn second_interrupt_ends_a_busy_process() {
    // A single function call that takes minutes and does not check for interrupts.
    let bench = Bench::with_main(
        "variable \"n\" {\n  default = \"200000000\"\n}\noutput \"x\" {\n  value = \
         length(strrev(format(\"%${var.n}s\", \"a\")))\n}\n",
    );
    bench.mayfly(".", ["init"]).succeeds();
    let run = bench.mayfly(".", ["plan"]).start();
    std::thread::sleep(Duration::from_secs(2));
    run.interrupt();
    run.wait_for("Gracefully shutting down...");
    let second = Instant::now();
    run.interrupt();
    let ended = run.end().exits(1);
    ended.shows(&["Two interrupts received. Exiting immediately."]);
    assert!(second.elapsed() < Duration::from_secs(8), "{:?}", second.elapsed());
}
