//! The user interface of a command: printing, questions, and whether output is colored.

use std::{
    fs::File,
    io::{self, IsTerminal, Write},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use db::{Diagnostic, Severity, Sources, System as _};
use engine::{CancelLevel, CancelToken, LogLevel};
use operations::{root_system::RootSystem, view::Unanswered};
use render::Style;

use crate::{
    args::{JsonArgs, ViewArgs},
    deprecations::DeprecationFilter,
    log::Log,
    status_line::StatusLine,
    terminal,
};

/// The use of stdout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stdout {
    /// Text for humans.
    Text,
    /// JSON objects only, one per line.
    JsonLines,
    /// Messages of a protocol only. Any other text would break the protocol.
    Protocol,
}

/// The destinations of a command's output.
pub(crate) struct Outputs {
    /// The use of stdout.
    pub(crate) stdout: Stdout,
    /// The file of `-json-into`.
    pub(crate) into: Option<File>,
    /// The form of the JSON that the command writes.
    pub(crate) json: JsonForm,
}

/// The form of a command's JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum JsonForm {
    /// One object per line: messages, diagnostics and events.
    Lines,
    /// One document, which is the result of the command.
    Document,
}

/// The standard streams, with the style in which text is written to them.
pub(crate) struct Ui {
    /// The style of stdout.
    pub(crate) out: Style,
    /// The style of stderr.
    pub(crate) err: Style,
    /// True if progress lines are hidden.
    pub(crate) is_concise: bool,
    /// True if no text suggests a next step (`TF_IN_AUTOMATION`).
    pub(crate) is_automation: bool,
    compact_warnings: bool,
    consolidate_warnings: bool,
    consolidate_errors: bool,
    /// Selects warnings about deprecated things.
    pub(crate) deprecations: DeprecationFilter,
    outputs: Outputs,
    /// The last line of the terminal. Its lock serializes output, so that lines of several threads do not mix.
    status: Mutex<StatusLine>,
    /// True when the process is being ended. Errors that this causes are not printed.
    is_silent: AtomicBool,
    /// Ends pending questions.
    cancel: CancelToken,
    /// The log. Its methods are in the module [`crate::log`].
    pub(crate) log: Log,
}

/// The interval in which a question checks for an interrupt.
const PATIENCE: rustix::event::Timespec =
    rustix::event::Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// The number of bytes that are written at once.
const BLOCK: usize = 64 << 10;

/// The environment variables that determine how text looks.
#[derive(Default)]
pub(crate) struct StyleVariables {
    /// `NO_COLOR`
    pub(crate) no_color: bool,
    /// `COLUMNS`: the columns of a text that goes to no terminal.
    pub(crate) columns: Option<usize>,
    /// `TF_IN_AUTOMATION`: no text suggests a next step.
    pub(crate) is_automation: bool,
    /// True if the terminal cannot move its cursor (`TERM=dumb`).
    pub(crate) is_dumb: bool,
}

impl StyleVariables {
    /// Reads the variables. One with an unusable value counts as unset.
    pub(crate) fn read(system: &RootSystem) -> StyleVariables {
        let columns = system.variable("COLUMNS").and_then(|it| it.parse().ok());
        StyleVariables {
            no_color: system.variable("NO_COLOR").is_some_and(|it| !it.is_empty()),
            columns: columns.filter(|it| *it >= terminal::MIN_COLUMNS),
            is_automation: system.variable("TF_IN_AUTOMATION").is_some_and(|it| !it.is_empty()),
            is_dumb: system.variable("TERM").is_some_and(|it| it == "dumb"),
        }
    }
}

/// Writes pieces of a text, in few calls of the system.
fn write_pieces(pieces: &[impl AsRef<str>], out: &mut impl Write) -> io::Result<()> {
    let mut block = Vec::new();
    for piece in pieces.iter().map(|it| it.as_ref().as_bytes()) {
        if block.len() + piece.len() > BLOCK {
            out.write_all(&block)?;
            block.clear();
        }
        match piece.len() > BLOCK {
            true => out.write_all(piece)?,
            false => block.extend_from_slice(piece),
        }
    }
    out.write_all(&block)
}

impl Ui {
    /// Creates the user interface from the flags of a command.
    pub(crate) fn new(
        view: &ViewArgs,
        variables: StyleVariables,
        deprecations: DeprecationFilter,
        outputs: Outputs,
        cancel: CancelToken,
        log: Log,
    ) -> Ui {
        let color = !view.no_color && !variables.no_color;
        let style = |columns: Option<usize>| Style {
            color,
            width: Some(columns.or(variables.columns).unwrap_or(terminal::WIDTH)),
            box_drawing: color,
            names_rules: columns.is_some(),
        };
        let columns = terminal::columns(io::stdout());
        let has_status = color && !variables.is_automation && !variables.is_dumb;
        Ui {
            out: style(columns),
            err: style(terminal::columns(io::stderr())),
            is_concise: view.concise,
            is_automation: variables.is_automation,
            compact_warnings: view.compact_warnings,
            consolidate_warnings: view.consolidate_warnings,
            consolidate_errors: view.consolidate_errors,
            deprecations,
            outputs,
            status: Mutex::new(StatusLine::new(columns.filter(|_| has_status))),
            is_silent: AtomicBool::new(false),
            cancel,
            log,
        }
    }

    /// Stops all output, because killed child processes cause errors that are of no interest to the user.
    pub(crate) fn fall_silent(&self) {
        // A process that is being ended waits neither for another thread that prints nor for a stopped terminal.
        if let Ok(mut status) = self.status.try_lock()
            && terminal::accepts_output()
        {
            let _ = status.set(String::new(), &mut io::stdout());
        }
        self.is_silent.store(true, Ordering::Relaxed);
    }

    /// Returns true if stdout has text for people.
    pub(crate) fn prints_text(&self) -> bool {
        self.outputs.stdout == Stdout::Text
    }

    /// Returns true if JSON lines are printed or written to a file.
    pub(crate) fn has_json_lines(&self) -> bool {
        self.outputs.stdout == Stdout::JsonLines
            || (self.outputs.into.is_some() && self.outputs.json == JsonForm::Lines)
    }

    /// Writes a JSON line to stdout, if it has JSON lines, and to the file of `-json-into`.
    pub(crate) fn json_line(&self, line: &str) {
        if self.outputs.stdout == Stdout::JsonLines {
            self.line(line);
        }
        if self.outputs.json == JsonForm::Lines {
            self.write_into(line);
        }
    }

    /// Prints a line of text, or a JSON line with the message.
    pub(crate) fn message(&self, text: &str, message: &str) {
        self.text_or_json(text, || vec![render::message_json(message, &now())]);
    }

    /// Prints a line of text, or the JSON lines.
    pub(crate) fn text_or_json(&self, text: &str, json: impl FnOnce() -> Vec<String>) {
        if self.prints_text() {
            self.line(text);
        }
        if self.has_json_lines() {
            for line in json() {
                self.json_line(&line);
            }
        }
    }

    /// Writes the result of a command as JSON, if it is requested: to stdout, or to the file of `-json-into`.
    pub(crate) fn document(&self, json: &JsonArgs, document: impl FnOnce() -> String) {
        match json.json {
            true => self.line(&document()),
            false if self.outputs.into.is_some() => self.write_into(&document()),
            false => {}
        }
    }

    /// Appends a line to the file of `-json-into`.
    fn write_into(&self, line: &str) {
        if self.is_silent.load(Ordering::Relaxed) {
            return;
        }
        let Some(mut file) = self.outputs.into.as_ref() else { return };
        let _guard = self.status();
        if let Err(error) = writeln!(file, "{line}") {
            self.log(LogLevel::Error, "cli", &format!("the file of -json-into: {}", error.kind()));
        }
    }

    /// Prints text to stdout.
    pub(crate) fn print(&self, text: &str) {
        self.print_pieces(&[text]);
    }

    /// Prints a text of several pieces to stdout.
    pub(crate) fn print_pieces(&self, pieces: &[impl AsRef<str>]) {
        if self.is_silent.load(Ordering::Relaxed) {
            return;
        }
        let status = self.status();
        let mut stdout = io::stdout().lock();
        // Ignore a failure: the reader may have ended, as `head` does.
        let _ = status.erase(&mut stdout);
        let _ = write_pieces(pieces, &mut stdout).and_then(|()| stdout.flush());
        let _ = status.draw(&mut stdout);
    }

    /// Prints a line to stdout.
    pub(crate) fn line(&self, text: &str) {
        self.print(&format!("{text}\n"));
    }

    /// Prints text to stderr.
    pub(crate) fn print_error(&self, text: &str) {
        if self.is_silent.load(Ordering::Relaxed) {
            return;
        }
        let status = self.status();
        let _ = status.erase(&mut io::stdout());
        let mut stderr = io::stderr().lock();
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
        let _ = status.draw(&mut io::stdout());
    }

    fn status(&self) -> MutexGuard<'_, StatusLine> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if the last line of the terminal shows how far a run is.
    pub(crate) fn shows_progress(&self) -> bool {
        self.prints_text() && self.status().is_possible()
    }

    /// Shows how far a run is. An empty text removes the line.
    pub(crate) fn show_progress(&self, line: String) {
        if !self.is_silent.load(Ordering::Relaxed) {
            let _ = self.status().set(line, &mut io::stdout());
        }
    }

    /// Prints diagnostics: warnings to stdout, then errors to stderr, as OpenTofu does. Hints are for editors and
    /// are not printed.
    pub(crate) fn diagnostics(&self, diagnostics: &[Diagnostic], sources: &Sources) {
        self.text_diagnostics(diagnostics, sources);
        self.json_diagnostics(diagnostics, sources);
    }

    /// Writes diagnostics as JSON lines, where the output has these.
    pub(crate) fn json_diagnostics(&self, diagnostics: &[Diagnostic], sources: &Sources) {
        if self.has_json_lines() {
            for diagnostic in diagnostics.iter().filter(|it| it.severity() != Severity::Hint) {
                self.json_line(&render::diagnostic_json_line(diagnostic, &now(), sources));
            }
        }
    }

    /// Prints diagnostics as text, unless stdout has JSON lines. Logs their codes.
    pub(crate) fn text_diagnostics(&self, diagnostics: &[Diagnostic], sources: &Sources) {
        for diagnostic in diagnostics {
            match diagnostic.severity() {
                Severity::Error => self.log(LogLevel::Error, "cli", diagnostic.id().code()),
                Severity::Warning => self.log(LogLevel::Warn, "cli", diagnostic.id().code()),
                Severity::Hint => {}
            }
        }
        if self.outputs.stdout == Stdout::JsonLines {
            return;
        }
        let of = |severity: Severity| -> Vec<Diagnostic> {
            diagnostics.iter().filter(|it| it.severity() == severity).cloned().collect()
        };
        if self.outputs.stdout == Stdout::Protocol {
            let all = [of(Severity::Warning), of(Severity::Error)].concat();
            return self.print_error(&render::diagnostics(&all, sources, &self.err));
        }
        let warnings = self.deprecations.select(of(Severity::Warning));
        let errors = of(Severity::Error);
        if self.compact_warnings && errors.is_empty() && !warnings.is_empty() {
            self.print(&render::compact_warnings(&warnings, sources));
        } else {
            let shown = grouped(warnings, Severity::Warning, self.consolidate_warnings);
            self.print(&render::diagnostics(&shown, sources, &self.out));
        }
        let shown = grouped(errors, Severity::Error, self.consolidate_errors);
        self.print_error(&render::diagnostics(&shown, sources, &self.err));
    }

    /// Prints diagnostics that do not refer to a configuration to stderr, so that they do not mix with the output
    /// for scripts.
    pub(crate) fn diagnostics_aside(&self, diagnostics: &[Diagnostic]) {
        let sources = Sources::default();
        if self.outputs.stdout != Stdout::JsonLines {
            self.print_error(&render::diagnostics(diagnostics, &sources, &self.err));
        }
        self.json_diagnostics(diagnostics, &sources);
    }

    /// Prints a message about the run itself.
    pub(crate) fn announce(&self, text: &str) {
        match self.outputs.stdout {
            Stdout::JsonLines => {}
            Stdout::Text => self.print(text),
            Stdout::Protocol => self.print_error(text),
        }
        if self.has_json_lines() {
            self.json_line(&render::log_json(text.trim(), &now()));
        }
    }

    /// Asks for a line of input. If `secret` is set and stdin is a terminal, the input is not echoed.
    pub(crate) fn ask(&self, prompt: &str, secret: bool) -> Result<String, Unanswered> {
        let stdin = io::stdin();
        self.print(prompt);
        let _silence = (secret && stdin.is_terminal()).then(terminal::WithoutEcho::new);
        let line = self.read_line(&stdin);
        // Start a new line for the following output.
        if (secret || line.is_none()) && stdin.is_terminal() {
            self.print("\n");
        }
        let has_no_input = !stdin.is_terminal() && !self.is_cancelled();
        line.ok_or(if has_no_input { Unanswered::NoInput } else { Unanswered::Ended })
    }

    /// The next line of stdin without its line end. `None` at the end of the input and after an interrupt.
    pub(crate) fn next_line(&self) -> Option<String> {
        self.read_line(&io::stdin())
    }

    /// Reads one line without its line end. `None` at the end of the input and after an interrupt. Reads byte by
    /// byte, because the buffer of [`io::Stdin`] would keep a secret in memory until the process ends.
    fn read_line(&self, stdin: &io::Stdin) -> Option<String> {
        let mut line = Vec::new();
        let mut byte = [0];
        while self.wait_for(stdin)
            && let Ok(1) = rustix::io::retry_on_intr(|| rustix::io::read(stdin, &mut byte))
        {
            if byte == *b"\n" {
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return Some(into_text(line));
            }
            line.extend(byte);
        }
        (!line.is_empty() && !self.is_cancelled()).then(|| into_text(line))
    }

    /// Waits until input is available. Returns false after an interrupt.
    fn wait_for(&self, stdin: &io::Stdin) -> bool {
        while !self.is_cancelled() {
            let mut polled = [rustix::event::PollFd::new(stdin, rustix::event::PollFlags::IN)];
            match rustix::event::poll(&mut polled, Some(&PATIENCE)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                // The following read reports an error.
                Ok(_) | Err(_) => return true,
            }
        }
        false
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.level() > CancelLevel::Running
    }
}

fn grouped(found: Vec<Diagnostic>, severity: Severity, is_wanted: bool) -> Vec<Diagnostic> {
    if is_wanted { render::consolidated(found, severity) } else { found }
}

fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// The current time in RFC 3339.
pub(crate) fn now() -> String {
    jiff::Timestamp::now().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the calls.
    #[derive(Default)]
    struct Calls(Vec<usize>, Vec<u8>);

    impl Write for Calls {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(bytes.len());
            self.1.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn pieces_are_written_in_order_and_in_few_calls() {
        let lengths = [0, 10, BLOCK - 10, 1, 3 * BLOCK, 5, BLOCK, BLOCK - 1, 1, 1, 0];
        let pieces: Vec<String> =
            ('a'..).zip(lengths).map(|(it, n)| it.to_string().repeat(n)).collect();
        let mut out = Calls::default();
        write_pieces(&pieces, &mut out).expect("is written");
        assert_eq!(out.1, pieces.concat().as_bytes());
        assert_eq!(out.0, [BLOCK, 1, 3 * BLOCK, 5, BLOCK, BLOCK, 1]);
    }
}
