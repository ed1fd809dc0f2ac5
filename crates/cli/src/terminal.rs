//! The terminal in raw mode on its alternate screen, and its restoration.
//!
//! **Invariant:** the terminal is restored after [`Terminal::leave`], a drop, a panic, and the end of the process
//! by a second interrupt.

use std::{
    io::{self, Write},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use engine::CancelToken;
use render::{Style, TerminalSize, WatchScreen};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc::UnboundedSender,
};

use super::Input;

/// Switches to the alternate screen, hides the cursor, disables line wrapping and clears.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/// The terminal state to restore.
struct Taken {
    /// The attributes before the change.
    before: Termios,
    /// True if the alternate screen is active.
    is_page: bool,
}

static TAKEN: Mutex<Option<Taken>> = Mutex::new(None);

fn taken() -> MutexGuard<'static, Option<Taken>> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Saves the attributes of the terminal, so that they can be restored if the process ends while a line editor has
/// changed them.
pub(crate) fn remember() {
    if let Ok(before) = tcgetattr(io::stdin()) {
        *taken() = Some(Taken { before, is_page: false });
        restore_before_panics();
    }
}

/// Restores the terminal, if [`Terminal::enter`] or [`remember`] saved its attributes.
pub(crate) fn restore() {
    if let Some(Taken { before, is_page }) = taken().take() {
        let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &before);
        if is_page {
            write(LEAVE);
        }
    }
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

/// The terminal with the displayed screen and the screen to draw next.
pub(super) struct Terminal {
    pub(super) screen: WatchScreen,
    /// The time of the last refresh.
    pub(super) refreshed: Option<Instant>,
    style: Style,
    drawn: Vec<String>,
    size: TerminalSize,
    drawn_at: Instant,
    is_entered: bool,
    was_entered: bool,
    /// Starts the thread that reads keys. Not before the first screen: until then, questions read the input.
    read_keys: Option<Box<dyn FnOnce() + Send>>,
}

/// The minimum time between two draws of progress.
const PROGRESS: Duration = Duration::from_millis(50);

impl Terminal {
    /// Creates the terminal without changing any attribute.
    pub(super) fn new(directory: String, style: Style) -> Terminal {
        Terminal {
            screen: WatchScreen { directory, ..WatchScreen::default() },
            refreshed: None,
            style,
            drawn: Vec::new(),
            size: size(),
            drawn_at: Instant::now(),
            is_entered: false,
            was_entered: false,
            read_keys: None,
        }
    }

    /// Sends key presses to `inputs`, from the first screen on.
    pub(super) fn listen(&mut self, inputs: UnboundedSender<Input>, cancel: CancelToken) {
        self.read_keys = Some(Box::new(move || read_keys(inputs, cancel)));
    }

    /// Switches to raw mode and the alternate screen, and draws.
    pub(super) fn enter(&mut self) {
        restore_before_panics();
        let mut taken = taken();
        let Ok(before) = taken.take().map_or_else(|| tcgetattr(io::stdin()), |it| Ok(it.before))
        else {
            return;
        };
        let mut raw = before.clone();
        raw.make_raw();
        *taken = Some(Taken { before, is_page: true });
        drop(taken);
        let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &raw);
        write(ENTER);
        self.drawn.clear();
        self.is_entered = true;
        self.draw();
    }

    /// Calls [`Terminal::enter`] the first time only, and starts to read keys.
    pub(super) fn enter_once(&mut self) {
        if !std::mem::replace(&mut self.was_entered, true) {
            self.enter();
            if let Some(read_keys) = self.read_keys.take() {
                read_keys();
            }
        }
    }

    /// Switches to the normal screen without echo, because key presses during an apply are not input for it.
    pub(super) fn show_page_that_stays(&mut self) {
        self.is_entered = false;
        let mut taken = taken();
        let Some(taken) = taken.as_mut().filter(|it| it.is_page) else { return };
        taken.is_page = false;
        let mut silent = taken.before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &silent);
        write(LEAVE);
    }

    /// Restores the terminal.
    pub(super) fn leave(&mut self) {
        self.is_entered = false;
        restore();
    }

    /// Draws the lines that differ from the displayed ones.
    pub(super) fn draw(&mut self) {
        if !self.is_entered {
            return;
        }
        let size = size();
        if size != self.size {
            self.size = size;
            self.drawn.clear();
            write("\x1b[2J");
        }
        self.screen.refreshed = self.refreshed.map(|at| at.elapsed());
        let lines = render::watch_screen(&self.screen, size, &self.style);
        let mut output = String::new();
        for (row, line) in lines.iter().enumerate() {
            if self.drawn.get(row) != Some(line) {
                output.push_str(&format!("\x1b[{};1H\x1b[K{line}\x1b[0m", row + 1));
            }
        }
        write(&output);
        self.drawn = lines;
        self.drawn_at = Instant::now();
    }

    /// Shows the current activity. Draws at most once per [`PROGRESS`].
    pub(super) fn progress(&mut self, text: String) {
        self.screen.activity = Some(text);
        if self.drawn_at.elapsed() >= PROGRESS {
            self.draw();
        }
    }

    /// Scrolls within the bounds of the content.
    pub(super) fn scroll(&mut self, scroll: Scroll) {
        let page = self.size.rows.saturating_sub(6).max(1);
        let at = self.screen.scroll;
        let style = Style { width: Some(self.size.columns), ..self.style };
        let end = render::watch_body_length(&self.screen, &style).saturating_sub(page);
        self.screen.scroll = match scroll {
            Scroll::Up => at.saturating_sub(1),
            Scroll::Down => at + 1,
            Scroll::PageUp => at.saturating_sub(page),
            Scroll::PageDown => at + page,
            Scroll::Begin => 0,
            Scroll::End => end,
        }
        .min(end);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.leave();
    }
}

fn write(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

fn size() -> TerminalSize {
    match tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_row > 0 && size.ws_col > 0 => {
            TerminalSize { rows: size.ws_row.into(), columns: size.ws_col.into() }
        }
        _ => TerminalSize { rows: 24, columns: 80 },
    }
}

/// Sends an input for each change of the terminal's size.
pub(super) async fn notice_sizes(inputs: UnboundedSender<Input>) {
    let Ok(mut sizes) = signal(SignalKind::window_change()) else { return };
    while sizes.recv().await.is_some() && inputs.send(Input::Tick).is_ok() {}
}

/// The direction and amount of a scroll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scroll {
    Up,
    Down,
    PageUp,
    PageDown,
    Begin,
    End,
}

/// A key press.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Key {
    Char(char),
    Scroll(Scroll),
    Enter,
    Backspace,
    Escape,
    /// Ctrl-C or Ctrl-D.
    Quit,
}

/// Reads keys in a thread for the rest of the process. Ctrl-C cancels at once, even while the loop is busy
/// planning.
fn read_keys(inputs: UnboundedSender<Input>, cancel: CancelToken) {
    let read = move || {
        let mut bytes = [0; 64];
        loop {
            match rustix::io::retry_on_intr(|| rustix::io::read(io::stdin(), &mut bytes)) {
                Ok(0) | Err(_) => return,
                Ok(count) => {
                    for key in keys(bytes.get(..count).unwrap_or_default()) {
                        if key == Key::Quit {
                            cancel.cancel();
                        }
                        if inputs.send(Input::Key(key)).is_err() {
                            return;
                        }
                    }
                }
            }
        }
    };
    // Ignore a failed spawn: signals still end the command.
    let _ = parallel::thread("keys", read);
}

/// The keys in a chunk of terminal input.
fn keys(bytes: &[u8]) -> Vec<Key> {
    const SEQUENCES: [(&[u8], Scroll); 12] = [
        (b"\x1b[A", Scroll::Up),
        (b"\x1b[B", Scroll::Down),
        (b"\x1bOA", Scroll::Up),
        (b"\x1bOB", Scroll::Down),
        (b"\x1b[5~", Scroll::PageUp),
        (b"\x1b[6~", Scroll::PageDown),
        (b"\x1b[H", Scroll::Begin),
        (b"\x1b[F", Scroll::End),
        (b"\x1b[1~", Scroll::Begin),
        (b"\x1b[4~", Scroll::End),
        (b"\x1bOH", Scroll::Begin),
        (b"\x1bOF", Scroll::End),
    ];
    let mut keys = Vec::new();
    let mut rest = bytes;
    while let Some((&first, after)) = rest.split_first() {
        let known =
            SEQUENCES.iter().find_map(|(text, scroll)| Some((rest.strip_prefix(*text)?, *scroll)));
        if let Some((after, scroll)) = known {
            keys.push(Key::Scroll(scroll));
            rest = after;
            continue;
        }
        rest = after;
        match first {
            3 | 4 => keys.push(Key::Quit),
            b'\r' | b'\n' => keys.push(Key::Enter),
            8 | 127 => keys.push(Key::Backspace),
            0x1b if after.is_empty() => keys.push(Key::Escape),
            // An escape sequence of an unsupported key.
            0x1b => rest = &[],
            b' '..=b'~' => keys.push(Key::Char(first.into())),
            _ => {}
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_bytes_are_decoded_to_keys() {
        use super::Scroll as To;
        use Key::*;
        for (bytes, expected) in [
            (&b"aq"[..], vec![Char('a'), Char('q')]),
            (b"\x1b[A\x1b[6~j", vec![Scroll(To::Up), Scroll(To::PageDown), Char('j')]),
            (b"\x1b", vec![Escape]),
            (b"\x1b[15~", vec![]),
            (b"yes\r", vec![Char('y'), Char('e'), Char('s'), Enter]),
            (b"\x03", vec![Quit]),
            (b"\x7f\xc3\xa9", vec![Backspace]),
        ] {
            assert_eq!(keys(bytes), expected, "{bytes:?}");
        }
    }
}
