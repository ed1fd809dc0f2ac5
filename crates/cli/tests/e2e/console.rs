//! Compares the console with that of the real `terraform`, where it is installed: values of an applied
//! configuration, types, and error summaries. Also tests the console on a terminal: editing, completion, and
//! expressions of several lines.
//!
//! The expressions are in `console/expressions.txt`, one per line; `CONSOLE_FILE` names another file.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use rustix::pty;

use crate::bench::Bench;

const MAIN: &str = include_str!("console/main.tf");
const CHILD: &str = include_str!("console/child.tf");
const EXPRESSIONS: &str = include_str!("console/expressions.txt");

/// The result of an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Given {
    /// The printed value.
    Shown(String),
    /// The summary of the error.
    Error(String),
}

/// The reasons for intended differences, by expression.
const ALLOWED: &[(&str, &str)] = &[
    ("false && null", "OpenTofu does not look at the other side"),
    ("terraform_data.each.x.input", "an instance is an attribute of the object of all of them"),
    ("module.child", "what is sensitive in a module stays so"),
    ("module.child.quiet", "what is sensitive in a module stays so"),
];

#[test]
fn console_output_matches_terraform() {
    if Command::new("terraform").arg("version").output().is_err() {
        // Write to stderr directly: the test harness captures the output of print macros.
        let _ = writeln!(
            io::stderr(),
            "skipped: console_output_matches_terraform, because terraform is not on PATH"
        );
        return;
    }
    let other = std::env::var("CONSOLE_FILE")
        .ok()
        .map(|path| fs::read_to_string(path).expect("it is there"));
    let text = other.as_deref().unwrap_or(EXPRESSIONS);
    let expressions: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let (theirs, ours) = std::thread::scope(|scope| {
        let (first, second) = expressions.split_at(expressions.len() / 2);
        let theirs = [first, second].map(|it| scope.spawn(|| answers("terraform", it)));
        let ours = answers(env!("CARGO_BIN_EXE_mayfly"), &expressions);
        (theirs.into_iter().flat_map(|it| it.join().expect("it ran")).collect::<Vec<_>>(), ours)
    });
    let (mut wrong, mut worded, mut allowed) = (String::new(), 0, BTreeMap::<&str, usize>::new());
    for ((expression, theirs), ours) in expressions.iter().zip(&theirs).zip(&ours) {
        match (theirs, ours, reason(expression)) {
            _ if theirs == ours => {}
            (.., Some(reason)) => *allowed.entry(reason).or_default() += 1,
            (Given::Error(_), Given::Error(_), None) => {
                worded += 1;
                let _ = writeln!(io::stderr(), "{expression}\n  {theirs:?}\n  {ours:?}");
            }
            _ => {
                wrong += &format!("{expression}\n  terraform {theirs:?}\n  mayfly    {ours:?}\n");
            }
        }
    }
    let _ = writeln!(
        io::stderr(),
        "{} expressions; {worded} errors with another summary; allowed: {allowed:?}",
        expressions.len()
    );
    let excused: usize = allowed.values().sum();
    assert!(excused * 20 <= expressions.len(), "too much is allowed: {allowed:?}");
    assert!(worded * 20 <= expressions.len(), "{worded} errors have another summary");
    assert!(wrong.is_empty(), "{wrong}");
}

fn reason(expression: &str) -> Option<&'static str> {
    ALLOWED.iter().find(|(it, _)| *it == expression).map(|(_, reason)| *reason)
}

/// Creates a bench with an applied configuration.
fn applied(program: &str) -> Bench {
    let bench = Bench::with_main(MAIN);
    bench.write("child/main.tf", CHILD);
    bench.program(program, ".", ["init"]).env("CHECKPOINT_DISABLE", "1").succeeds();
    let apply = bench.program(program, ".", ["apply", "-auto-approve"]);
    apply.env("CHECKPOINT_DISABLE", "1").succeeds();
    bench
}

/// The result of each expression. For several lines `terraform` prints only the last value, so each expression has
/// its own console.
fn answers(program: &str, expressions: &[&str]) -> Vec<Given> {
    let bench = applied(program);
    expressions.iter().map(|it| answer(&bench, program, it)).collect()
}

fn answer(bench: &Bench, program: &str, expression: &str) -> Given {
    let run = bench.program(program, ".", ["console"]).env("CHECKPOINT_DISABLE", "1");
    let ended = run.env("TF_CLI_ARGS", "-no-color").input(&format!("{expression}\n")).end();
    if ended.code == 0 {
        // Remove the message about a lock that takes long, which goes to stdout. Escape control characters, as
        // Mayfly does.
        let shown = ended.out.replace("Acquiring state lock. This may take a few moments...\n", "");
        return Given::Shown(shown.replace('\r', "\\r"));
    }
    let summary = ended.err.lines().find_map(|it| it.strip_prefix("Error: "));
    Given::Error(summary.unwrap_or_else(|| panic!("{}", ended.printed())).to_owned())
}

#[test]
fn console_expression_continues_while_a_bracket_is_open() {
    let bench = Bench::with_main("");
    let shown = |typed: &str| bench.mayfly(".", ["console"]).input(typed).succeeds().out;
    assert_eq!(shown("[\n  1,\n  2,\n]\n"), "[\n  1,\n  2,\n]\n");
    assert_eq!(shown("1 + \\\n2\n"), "3\n");
    assert_eq!(shown("<<E\na\nE\n\"b\"\n"), "<<EOT\na\n\nEOT\n\"b\"\n");
    assert_eq!(shown("upper(<<-E\n    a\n    E\n)\n"), "<<EOT\nA\n\nEOT\n");
    assert_eq!(shown("# only a comment\n\n1\n/* more\n */ 2"), "1\n2\n");
    let named = bench.mayfly(".", ["console"]).input("[\nexit\n]\n");
    named.fails().shows(&["Invalid reference"]);
}

#[test]
fn console_reports_unterminated_and_multiline_errors() {
    let bench = Bench::with_main("");
    let ended = bench.mayfly(".", ["console"]).input("1\n[2,\n3").fails();
    ended.shows(&["Error: Unterminated tuple constructor expression", "on <console-input> line 1"]);
    assert_eq!(ended.out, "1\n");
    let ended = bench.mayfly(".", ["console"]).input("[1,\n  nosuch(2)]\n3\n").fails();
    ended.shows(&["Call to unknown function", "on <console-input> line 2", "nosuch(2)"]);
    assert_eq!(ended.out, "");
}

#[test]
fn console_locks_the_state_while_it_runs() {
    let bench = Bench::with_main("resource \"terraform_data\" \"a\" {\n  input = 1\n}\n");
    let mut console = bench.mayfly(".", ["console"]).start();
    console.types("1 + 1");
    console.wait_for("2\n");
    bench
        .mayfly(".", ["apply", "-auto-approve"])
        .fails()
        .shows(&["Error acquiring the state lock", "Operation: console"]);
    bench.mayfly(".", ["console"]).input("1\n").fails().shows(&["Error acquiring the state lock"]);
    bench.mayfly(".", ["console", "-lock=false"]).input("1\n").succeeds();
    console.interrupt();
    console.end();
    assert!(!bench.path(".terraform.tfstate.lock.info").exists(), "the lock was given back");
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    let other = bench.mayfly(".", ["console", "-state=terraform.tfstate", "-lock-timeout=1s"]);
    assert_eq!(other.input("terraform_data.a.output\n").succeeds().out, "1\n");
}

#[test]
fn console_reports_invalid_variable_values_first() {
    let bench = Bench::with_main(
        "variable \"n\" {\n  default   = 1\n  ephemeral = true\n  validation {\n    condition     \
         = var.n < 5\n    error_message = \"${var.n} is too many.\"\n  }\n}\n",
    );
    let ended = bench.mayfly(".", ["console", "-var=n=7142"]).input("1\n").succeeds();
    ended.shows(&["Invalid value for variable", "Its message cannot be shown."]);
    ended.shows(&["some expressions may produce unexpected results"]);
    ended.lacks(&["7142"]);
    bench.write("m.tf", "variable \"m\" {\n  type      = number\n  sensitive = true\n}\n");
    let ended = bench.mayfly(".", ["console", "-var=m=kanarek"]).input("1\n").fails();
    ended.shows(&["Unsuitable value for var.m", "a number is required"]);
    ended.lacks(&["kanarek"]);
}

#[test]
fn console_selects_module_instances_by_key() {
    let bench = Bench::with_main(
        "variable \"on\" {\n  default = true\n}\nmodule \"each\" {\n  source   = \"./child\"\n  \
         for_each = { a = 1, b = 2 }\n  given    = \"${each.key}${each.value}\"\n}\nmodule \
         \"counted\" {\n  source = \"./child\"\n  count  = 2\n  given  = count.index\n}\nmodule \
         \"late\" {\n  source = \"./child\"\n  count  = length(terraform_data.nothing.id)\n  given  \
         = \"\"\n}\nresource \"terraform_data\" \"nothing\" {}\n",
    );
    bench.write(
        "child/main.tf",
        "variable \"given\" {}\noutput \"o\" {\n  value = \"<${var.given}>\"\n}\n",
    );
    bench.mayfly(".", ["init"]).succeeds();
    let typed = "module.each[\"b\"].o\nmodule.counted[*].o\nmodule.late\nlength(module.each)\n";
    let ended = bench.mayfly(".", ["console"]).input(typed).succeeds();
    assert_eq!(ended.out, "\"<b2>\"\n[\n  \"<0>\",\n  \"<1>\",\n]\n(known after apply)\n2\n");
    let ended = bench.mayfly(".", ["console"]).input("module.each[\"c\"].o\n").fails();
    ended.shows(&["Invalid index"]);
}

/// A command on a terminal.
pub(crate) struct Terminal {
    child: Child,
    keys: File,
    screen: Arc<Mutex<Vec<u8>>>,
    /// Reads the output until the terminal is closed.
    reader: Option<JoinHandle<()>>,
}

impl Terminal {
    fn open(bench: &Bench) -> Terminal {
        Terminal::run(bench, &["console"])
    }

    pub(crate) fn run(bench: &Bench, arguments: &[&str]) -> Terminal {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mayfly"));
        command
            .args(arguments)
            .current_dir(bench.path("."))
            .env_clear()
            .env("HOME", bench.root().join("home"))
            .env("TERM", "xterm");
        Terminal::of(command).expect("starts")
    }

    /// Starts a command on a new terminal.
    pub(crate) fn of(mut command: Command) -> io::Result<Terminal> {
        let flags = pty::OpenptFlags::RDWR | pty::OpenptFlags::NOCTTY;
        let ours = pty::openpt(flags).expect("there are terminals");
        pty::grantpt(&ours).and_then(|()| pty::unlockpt(&ours)).expect("can be used");
        let name = pty::ptsname(&ours, Vec::new()).expect("has a name");
        let name = name.to_str().expect("is text");
        let theirs = OpenOptions::new().read(true).write(true).open(name).expect("opens");
        let stream = || Stdio::from(theirs.try_clone().expect("can be shared"));
        let child = command.stdin(stream()).stdout(stream()).stderr(stream()).spawn()?;
        // The command keeps copies, which would keep the terminal open after its end.
        drop(command);
        let keys = File::from(ours);
        let screen = Arc::new(Mutex::new(Vec::new()));
        let (mut from, to) = (keys.try_clone().expect("can be shared"), Arc::clone(&screen));
        let reader = std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(read @ 1..) = from.read(&mut chunk) {
                to.lock().unwrap_or_else(PoisonError::into_inner).extend(&chunk[..read]);
            }
        });
        Ok(Terminal { child, keys, screen, reader: Some(reader) })
    }

    fn shown(&self) -> String {
        let screen = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&screen).into_owned()
    }

    /// Presses keys, and waits until the output after them contains `expected`.
    #[track_caller]
    pub(crate) fn press(&mut self, keys: &str, expected: &str) {
        let before = self.shown().len();
        self.keys.write_all(keys.as_bytes()).expect("is read");
        let end = Instant::now() + Duration::from_secs(20);
        while !self.shown()[before..].contains(expected) {
            assert!(Instant::now() < end, "no {expected:?} after {keys:?}: {:?}", self.shown());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().expect("ends");
        // The last output may not be read yet.
        self.reader.take().map(JoinHandle::join).transpose().expect("reads to the end");
        (status.code(), self.shown())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

#[test]
fn console_on_a_terminal_edits_and_completes_lines() {
    let bench = Bench::with_main(
        "variable \"password\" {\n  default   = \"kanarek\"\n  ephemeral = true\n}\nvariable \
         \"length\" {\n  default = 41\n}\nlocals {\n  shape = { round = 1, square = 2 }\n}\n",
    );
    let mut terminal = Terminal::open(&bench);
    terminal.press("", "> ");
    terminal.press("var.le\t", "var.length");
    terminal.press(" + 1\r", "42\r\n");
    terminal.press("local.shape.\t\t", "square");
    terminal.press("ro\t\r", "\r\n1\r\n");
    terminal.press("var.pass\t\r", "(ephemeral value)");
    // Ctrl-C discards the input, and an error does not end the console.
    terminal.press("nosuch(\x03", "> ");
    terminal.press("nosuch(1)\r", "Call to unknown function");
    // An open bracket continues the expression in the next line.
    terminal.press("[7,\r", "\r\n");
    terminal.press("8]\r", "  8,\r\n");
    // The history has the expression before the last one, which spans two lines.
    terminal.press("\x1b[A", "8]");
    terminal.press("\x1b[A\x1b[A", "nosuch(1)");
    terminal.press("\x03", "> ");
    terminal.press("upp\t\"x\")\r", "\"X\"");
    terminal.press("\x04", "\r\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains("kanarek"), "{shown}");
    let kept: Vec<_> = fs::read_dir(bench.root().join("home")).expect("is there").collect();
    assert!(kept.is_empty(), "nothing of what was typed is written: {kept:?}");
}
