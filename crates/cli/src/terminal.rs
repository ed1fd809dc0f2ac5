//! The terminal of the process: its size, its modes, and their restoration.
//!
//! `crossterm` switches to raw mode and to the alternate screen, and reads the keys there. It cannot disable the echo
//! alone or restore what a line editor changed, and it asks the controlling terminal for the size, which need not be
//! stdout: these use the attributes of the terminal themselves. Secrets are never read with `crossterm`, because its
//! buffer keeps the last bytes in memory until the process ends.
//!
//! **Invariant:** the terminal is restored after [`restore`], a panic, and the end of the process by a second
//! interrupt.

use std::{
    io::{self, IsTerminal, Write},
    os::fd::AsFd,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crossterm::{
    cursor::{Hide, MoveTo, Show},
    execute, queue,
    style::{Attribute, Print, SetAttribute},
    terminal::{
        Clear, ClearType, DisableLineWrap, EnableLineWrap, EnterAlternateScreen,
        LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
    },
};
use render::TerminalSize;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr},
};

/// The terminal state to restore.
struct Saved {
    /// The attributes before the change.
    before: Termios,
    /// True if the alternate screen is active.
    is_page: bool,
}

static SAVED: Mutex<Option<Saved>> = Mutex::new(None);

fn saved() -> MutexGuard<'static, Option<Saved>> {
    SAVED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Saves the attributes of the terminal, so that they can be restored if the process ends while a line editor has
/// changed them.
pub(crate) fn remember() {
    if let Ok(before) = tcgetattr(io::stdin()) {
        *saved() = Some(Saved { before, is_page: false });
        restore_before_panics();
    }
}

/// Switches to raw mode and the alternate screen. Returns false if there is no terminal.
pub(crate) fn enter_page() -> bool {
    restore_before_panics();
    let mut saved = saved();
    let Ok(before) = saved.take().map_or_else(|| tcgetattr(io::stdin()), |it| Ok(it.before)) else {
        return false;
    };
    // Discards keys that were pressed before the screen shows what they do.
    let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &before);
    *saved = Some(Saved { before, is_page: true });
    drop(saved);
    let _ = enable_raw_mode();
    let all = Clear(ClearType::All);
    let _ = execute!(io::stdout(), EnterAlternateScreen, Hide, DisableLineWrap, all);
    true
}

/// Leaves the alternate screen, without echo, because key presses during an apply are not input for it.
pub(crate) fn leave_page_silently() {
    let mut saved = saved();
    let Some(saved) = saved.as_mut().filter(|it| it.is_page) else { return };
    saved.is_page = false;
    let _ = disable_raw_mode();
    set_without_echo(&saved.before);
    leave_alternate_screen();
}

/// Restores the terminal, if [`enter_page`] or [`remember`] saved its attributes. Does not wait for a stopped terminal,
/// which then stays on the alternate screen.
pub(crate) fn restore() {
    if let Some(Saved { before, is_page }) = saved().take() {
        let _ = disable_raw_mode();
        let accepts_output = accepts_output();
        // Flushing waits until the terminal has the output.
        let action = if accepts_output { OptionalActions::Flush } else { OptionalActions::Now };
        let _ = tcsetattr(io::stdin(), action, &before);
        if is_page && accepts_output {
            leave_alternate_screen();
        }
    }
}

fn leave_alternate_screen() {
    let _ = execute!(io::stdout(), EnableLineWrap, Show, LeaveAlternateScreen);
}

/// Sets these attributes, without echo.
fn set_without_echo(attributes: &Termios) {
    let mut silent = attributes.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &silent);
}

/// Restores the terminal before a panic message is printed, so that the message stays visible.
fn restore_before_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let show = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restore();
            show(info);
        }));
    });
}

/// Disables the echo of the terminal while it lives.
pub(crate) struct WithoutEcho {
    before: Option<Termios>,
}

impl WithoutEcho {
    /// Disables the echo.
    pub(crate) fn new() -> WithoutEcho {
        let before = tcgetattr(io::stdin()).ok();
        before.iter().for_each(set_without_echo);
        WithoutEcho { before }
    }
}

impl Drop for WithoutEcho {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(io::stdin(), OptionalActions::Flush, before);
        }
    }
}

/// Returns true if standard input is a terminal.
pub(crate) fn is_interactive() -> bool {
    io::stdin().is_terminal()
}

/// The columns of a text that goes to no terminal, as in OpenTofu.
pub(crate) const WIDTH: usize = 78;

/// The fewest columns to which text is wrapped.
pub(crate) const MIN_COLUMNS: usize = 20;

/// The columns of the terminal behind a stream. `None` if the stream is no terminal.
pub(crate) fn columns(stream: impl AsFd + IsTerminal) -> Option<usize> {
    let size = stream.is_terminal().then(|| tcgetwinsize(stream))?;
    let columns = size.map_or(0, |it| usize::from(it.ws_col));
    // Some pseudoterminals have no size.
    Some(if columns == 0 { WIDTH } else { columns.max(MIN_COLUMNS) })
}

/// Returns true if output would not block now, as it does while the terminal is stopped by Ctrl-S.
pub(crate) fn accepts_output() -> bool {
    let stdout = io::stdout();
    let mut polled = [PollFd::new(&stdout, PollFlags::OUT)];
    poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
}

/// Clears the screen.
pub(crate) fn clear() {
    let _ = execute!(io::stdout(), Clear(ClearType::All));
}

/// A line to draw.
pub(crate) struct Row<'a> {
    /// The position on the screen, from 0.
    pub(crate) row: u16,
    pub(crate) text: &'a str,
}

/// Draws lines in place of those on the screen.
pub(crate) fn draw<'a>(rows: impl Iterator<Item = Row<'a>>) {
    let mut stdout = io::stdout().lock();
    for Row { row, text } in rows {
        let to_end = Clear(ClearType::UntilNewLine);
        let reset = SetAttribute(Attribute::Reset);
        // Ignore a failure: the terminal may have gone, which ends the command by a signal.
        let _ = queue!(stdout, MoveTo(0, row), to_end, Print(text), reset);
    }
    let _ = stdout.flush();
}

/// The size of the terminal.
pub(crate) fn size() -> TerminalSize {
    match tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_row > 0 && size.ws_col > 0 => {
            TerminalSize { rows: size.ws_row.into(), columns: size.ws_col.into() }
        }
        _ => TerminalSize { rows: 24, columns: 80 },
    }
}
