//! The full-screen view of `watch`.

use std::time::{Duration, Instant};

use engine::CancelToken;
use render::{Style, TerminalSize, WatchScreen};
use tokio::sync::mpsc::UnboundedSender;

use super::input::{Input, Scroll, read_terminal};
use crate::terminal;

/// The terminal with the displayed screen and the screen to draw next.
pub(super) struct Screen {
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
    read_input: Option<Box<dyn FnOnce() + Send>>,
}

/// The minimum time between two draws of progress.
const PROGRESS: Duration = Duration::from_millis(50);

impl Screen {
    /// Creates the terminal without changing any attribute.
    pub(super) fn new(directory: String, style: Style) -> Screen {
        Screen {
            screen: WatchScreen { directory, ..WatchScreen::default() },
            refreshed: None,
            style,
            drawn: Vec::new(),
            size: terminal::size(),
            drawn_at: Instant::now(),
            is_entered: false,
            was_entered: false,
            read_input: None,
        }
    }

    /// Sends key presses to `inputs`, from the first screen on.
    pub(super) fn listen(&mut self, inputs: UnboundedSender<Input>, cancel: CancelToken) {
        self.read_input = Some(Box::new(move || read_terminal(inputs, cancel)));
    }

    /// Switches to raw mode and the alternate screen, and draws.
    pub(super) fn enter(&mut self) {
        if !terminal::enter_page() {
            return;
        }
        self.drawn.clear();
        self.is_entered = true;
        self.draw();
    }

    /// Calls [`Screen::enter`] the first time only, and starts to read keys.
    pub(super) fn enter_once(&mut self) {
        if !std::mem::replace(&mut self.was_entered, true) {
            self.enter();
            if let Some(read_input) = self.read_input.take() {
                read_input();
            }
        }
    }

    /// Switches to the normal screen without echo, because key presses during an apply are not input for it.
    pub(super) fn show_page_that_stays(&mut self) {
        self.is_entered = false;
        terminal::leave_page_silently();
    }

    /// Restores the terminal.
    pub(super) fn leave(&mut self) {
        self.is_entered = false;
        terminal::restore();
    }

    /// Draws the lines that differ from the displayed ones.
    pub(super) fn draw(&mut self) {
        if !self.is_entered {
            return;
        }
        let size = terminal::size();
        if size != self.size {
            self.size = size;
            self.drawn.clear();
            terminal::clear();
        }
        self.screen.refreshed = self.refreshed.map(|at| at.elapsed());
        let lines = render::watch_screen(&self.screen, size, &self.style);
        let drawn = &self.drawn;
        let differing =
            lines.iter().enumerate().filter(|(row, line)| drawn.get(*row) != Some(line));
        terminal::draw(
            differing.filter_map(|(row, text)| {
                Some(terminal::Row { row: u16::try_from(row).ok()?, text })
            }),
        );
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

impl Drop for Screen {
    fn drop(&mut self) {
        self.leave();
    }
}
