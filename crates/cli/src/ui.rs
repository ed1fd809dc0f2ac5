//! The terminal of a command: what prints, asks, and knows whether there are colours.

use std::{
    io::{self, IsTerminal, Write},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use db::{Diagnostic, Severity, Sources};
use engine::{CancelLevel, CancelToken, LogLevel};
use render::Style;

use crate::{args::ViewArgs, log::Log};

/// What stdout is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stdout {
    /// What people read.
    Text,
    /// Objects of JSON, one a line, and nothing else.
    JsonLines,
    /// Messages of a protocol, and nothing else: a word between them would end the conversation.
    Protocol,
}

/// Standard streams and how to write to them.
pub(crate) struct Ui {
    /// Style of what goes to stdout.
    pub(crate) out: Style,
    /// Style of what goes to stderr.
    pub(crate) err: Style,
    /// Whether people want no lines of progress.
    pub(crate) is_concise: bool,
    compact_warnings: bool,
    consolidate_warnings: bool,
    consolidate_errors: bool,
    stdout: Stdout,
    /// Lines of several sources must not mix.
    lock: Mutex<()>,
    /// The program is being ended: nothing that this brings about is news.
    is_silent: AtomicBool,
    /// Ends questions.
    cancel: CancelToken,
    /// The log; the methods that write to it are in its module.
    pub(crate) log: Log,
}

/// How often a question looks whether it was interrupted.
const PATIENCE: rustix::event::Timespec =
    rustix::event::Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// A question that got no answer.
#[derive(Debug)]
pub(crate) enum AskError {
    /// There is nobody to ask.
    NoInput,
    /// Interrupted, or the stream ended.
    Ended,
}

impl Ui {
    pub(crate) fn new(
        view: &ViewArgs,
        no_color_variable: bool,
        stdout: Stdout,
        cancel: CancelToken,
        log: Log,
    ) -> Ui {
        let color = !view.no_color && !no_color_variable;
        let style = |terminal: bool| Style {
            color: color && terminal,
            width: terminal.then(width),
            box_drawing: terminal,
        };
        Ui {
            out: style(io::stdout().is_terminal()),
            err: style(io::stderr().is_terminal()),
            is_concise: view.concise,
            compact_warnings: view.compact_warnings,
            consolidate_warnings: view.consolidate_warnings,
            consolidate_errors: view.consolidate_errors,
            stdout,
            lock: Mutex::new(()),
            is_silent: AtomicBool::new(false),
            cancel,
            log,
        }
    }

    /// Prints nothing from here on: what is about to be killed has errors that nobody asked about.
    pub(crate) fn fall_silent(&self) {
        self.is_silent.store(true, Ordering::Relaxed);
    }

    /// Prints text as it is.
    pub(crate) fn print(&self, text: &str) {
        if self.is_silent.load(Ordering::Relaxed) {
            return;
        }
        let _guard = self.lock.lock();
        let mut stdout = io::stdout().lock();
        // A reader that went away, as `head` does, is no problem of ours.
        let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    }

    /// Prints a line.
    pub(crate) fn line(&self, text: &str) {
        self.print(&format!("{text}\n"));
    }

    /// Prints text to stderr.
    pub(crate) fn print_error(&self, text: &str) {
        if self.is_silent.load(Ordering::Relaxed) {
            return;
        }
        let _guard = self.lock.lock();
        let mut stderr = io::stderr().lock();
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }

    /// Shows diagnostics: warnings on stdout, then errors on stderr, as the reference does. Hints are for editors.
    pub(crate) fn diagnostics(&self, diagnostics: &[Diagnostic], sources: &Sources) {
        for diagnostic in diagnostics {
            match diagnostic.severity {
                Severity::Error => self.log(LogLevel::Error, "cli", diagnostic.id),
                Severity::Warning => self.log(LogLevel::Warn, "cli", diagnostic.id),
                Severity::Hint => {}
            }
        }
        if self.stdout == Stdout::JsonLines {
            for diagnostic in diagnostics.iter().filter(|it| it.severity != Severity::Hint) {
                self.line(&render::diagnostic_json_line(diagnostic, &now(), sources));
            }
            return;
        }
        let of = |severity: Severity| -> Vec<Diagnostic> {
            diagnostics.iter().filter(|it| it.severity == severity).cloned().collect()
        };
        if self.stdout == Stdout::Protocol {
            let all = [of(Severity::Warning), of(Severity::Error)].concat();
            return self.print_error(&render::diagnostics(&all, sources, &self.err));
        }
        let warnings = render::without_repeated_deprecations(of(Severity::Warning));
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

    /// Shows diagnostics that are about no configuration, apart from what a script reads from stdout.
    pub(crate) fn diagnostics_aside(&self, diagnostics: &[Diagnostic]) {
        let sources = Sources::default();
        match self.stdout {
            Stdout::JsonLines => self.diagnostics(diagnostics, &sources),
            _ => self.print_error(&render::diagnostics(diagnostics, &sources, &self.err)),
        }
    }

    /// Says something about the run itself.
    pub(crate) fn announce(&self, text: &str) {
        match self.stdout {
            Stdout::JsonLines => self.line(&render::log_json(text.trim(), &now())),
            Stdout::Text => self.print(text),
            Stdout::Protocol => self.print_error(text),
        }
    }

    /// Asks for a line. What is typed is not echoed where `secret` is set and stdin is a terminal.
    pub(crate) fn ask(&self, prompt: &str, secret: bool) -> Result<String, AskError> {
        let stdin = io::stdin();
        self.print(prompt);
        let _silence = (secret && stdin.is_terminal()).then(Silence::new);
        let line = self.read_line(&stdin);
        // What follows begins on a line of its own.
        if (secret || line.is_none()) && stdin.is_terminal() {
            self.print("\n");
        }
        let nobody = !stdin.is_terminal() && !self.is_cancelled();
        line.ok_or(if nobody { AskError::NoInput } else { AskError::Ended })
    }

    /// The next line of stdin, without its end; nothing at the end of the stream and after an interrupt.
    pub(crate) fn next_line(&self) -> Option<String> {
        self.read_line(&io::stdin())
    }

    /// One line, without its end; nothing at the end of the stream and after an interrupt. The buffer of [`io::Stdin`]
    /// lives as long as the process, and would keep a secret in memory that long; so each byte is read by itself.
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

    /// Waits until there is something to read, or until somebody interrupts.
    fn wait_for(&self, stdin: &io::Stdin) -> bool {
        while !self.is_cancelled() {
            let mut polled = [rustix::event::PollFd::new(stdin, rustix::event::PollFlags::IN)];
            match rustix::event::poll(&mut polled, Some(&PATIENCE)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                // Errors show when it is read.
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

/// Turns the terminal's echo off while it lives.
struct Silence {
    before: Option<rustix::termios::Termios>,
}

impl Silence {
    fn new() -> Silence {
        let stdin = io::stdin();
        let before = rustix::termios::tcgetattr(&stdin).ok();
        if let Some(before) = &before {
            let mut silent = before.clone();
            silent.local_modes.remove(rustix::termios::LocalModes::ECHO);
            let _ = rustix::termios::tcsetattr(
                &stdin,
                rustix::termios::OptionalActions::Flush,
                &silent,
            );
        }
        Silence { before }
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = rustix::termios::tcsetattr(
                io::stdin(),
                rustix::termios::OptionalActions::Flush,
                before,
            );
        }
    }
}

/// The time of day in RFC 3339.
fn now() -> String {
    jiff::Timestamp::now().to_string()
}

/// The terminal's width in columns.
fn width() -> usize {
    rustix::termios::tcgetwinsize(io::stdout()).map_or(78, |size| usize::from(size.ws_col).max(20))
}
