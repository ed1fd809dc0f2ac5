//! The terminal while the screen is on it: raw, on its other page, and given back whatever happens.
//!
//! **Invariant:** the terminal is as it was before after [`Terminal::leave`], a drop, a panic, and the end of the process by
//! a second interrupt.

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

/// The other page, without a cursor, nothing wrapped.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/// What has to be undone.
struct Taken {
    /// How the terminal was.
    before: Termios,
    /// Whether the other page is seen.
    is_page: bool,
}

static TAKEN: Mutex<Option<Taken>> = Mutex::new(None);

fn taken() -> MutexGuard<'static, Option<Taken>> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remembers how the terminal is, for who ends the process while somebody else has it.
pub(crate) fn remember() {
    if let Ok(before) = tcgetattr(io::stdin()) {
        *taken() = Some(Taken { before, is_page: false });
        restore_before_panics();
    }
}

/// Gives the terminal back, if it was taken.
pub(crate) fn restore() {
    if let Some(Taken { before, is_page }) = taken().take() {
        let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &before);
        if is_page {
            write(LEAVE);
        }
    }
}

/// Lets a panic show on the page that stays.
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

/// What is seen, and what is to be.
pub(super) struct Terminal {
    pub(super) screen: WatchScreen,
    /// When objects were read last.
    pub(super) refreshed: Option<Instant>,
    style: Style,
    drawn: Vec<String>,
    size: TerminalSize,
    drawn_at: Instant,
    is_entered: bool,
    was_entered: bool,
    /// Begins to read keys. Not before the first screen: until then a question reads what is typed.
    read_keys: Option<Box<dyn FnOnce() + Send>>,
}

/// Progress is not drawn more often than this.
const PROGRESS: Duration = Duration::from_millis(50);

impl Terminal {
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

    /// Sends keys to these inputs from the first screen on.
    pub(super) fn listen(&mut self, inputs: UnboundedSender<Input>, cancel: CancelToken) {
        self.read_keys = Some(Box::new(move || read_keys(inputs, cancel)));
    }

    /// Takes the terminal.
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

    /// Takes it, unless it was taken before.
    pub(super) fn enter_once(&mut self) {
        if !std::mem::replace(&mut self.was_entered, true) {
            self.enter();
            if let Some(read_keys) = self.read_keys.take() {
                read_keys();
            }
        }
    }

    /// Goes back to the page that stays, on which nobody types: what is pressed is not seen.
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

    /// Gives it back.
    pub(super) fn leave(&mut self) {
        self.is_entered = false;
        restore();
    }

    /// Draws what is different from what is seen.
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

    /// Shows what happens, now and then.
    pub(super) fn progress(&mut self, text: String) {
        self.screen.activity = Some(text);
        if self.drawn_at.elapsed() >= PROGRESS {
            self.draw();
        }
    }

    /// Scrolls, as far as there is something to see.
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

/// Tells when the terminal has another size.
pub(super) async fn notice_sizes(inputs: UnboundedSender<Input>) {
    let Ok(mut sizes) = signal(SignalKind::window_change()) else { return };
    while sizes.recv().await.is_some() && inputs.send(Input::Tick).is_ok() {}
}

/// How to scroll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scroll {
    Up,
    Down,
    PageUp,
    PageDown,
    Begin,
    End,
}

/// A key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Key {
    Char(char),
    Scroll(Scroll),
    Enter,
    Backspace,
    Escape,
    /// Ctrl-C and Ctrl-D.
    Quit,
}

/// Reads keys for the rest of the process. Ctrl-C stops what runs even while nobody looks at keys.
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
    // Without a thread there are no keys, and signals still end the command.
    let _ = std::thread::Builder::new().name("keys".to_owned()).spawn(read);
}

/// The keys in what a terminal sent at once.
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
            // A sequence of a key that means nothing here.
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
    fn keys_are_read_from_what_a_terminal_sends() {
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
