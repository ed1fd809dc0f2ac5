//! The inputs of the watch loop, and the keys that a terminal sends.

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyModifiers};
use engine::CancelToken;
use tokio::sync::mpsc::UnboundedSender;

/// An input of the watch loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Input {
    /// Files may have changed.
    Files,
    Key(Key),
    /// The tick interval has passed.
    Tick,
    Quit,
}

/// The reason for a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reason {
    Start,
    /// A file that the plan depends on changed.
    Edit,
    /// The user asked for it.
    Refresh,
}

impl Reason {
    /// The word for the reason in JSON output.
    pub(super) fn word(self) -> &'static str {
        match self {
            Reason::Start => "start",
            Reason::Edit => "edit",
            Reason::Refresh => "refresh",
        }
    }
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

/// Reads keys and changes of the size in a thread for the rest of the process. Ctrl-C cancels at once, even while the
/// loop is busy planning.
pub(super) fn read_terminal(inputs: UnboundedSender<Input>, cancel: CancelToken) {
    let read = move || {
        while let Ok(event) = event::read() {
            let Some(input) = input(&event) else { continue };
            if input == Input::Key(Key::Quit) {
                cancel.cancel();
            }
            if inputs.send(input).is_err() {
                return;
            }
        }
    };
    // Ignore a failed spawn: signals still end the command.
    let _ = parallel::thread("keys", read);
}

/// The input that an event of the terminal stands for.
fn input(event: &Event) -> Option<Input> {
    match event {
        Event::Key(pressed) => key(pressed).map(Input::Key),
        Event::Resize(..) => Some(Input::Tick),
        _ => None,
    }
}

fn key(pressed: &KeyEvent) -> Option<Key> {
    let KeyEvent { code, modifiers, .. } = *pressed;
    if modifiers == KeyModifiers::CONTROL {
        return match code {
            KeyCode::Char('c' | 'd') => Some(Key::Quit),
            // The bytes of a line feed and of the other backspace.
            KeyCode::Char('j') => Some(Key::Enter),
            KeyCode::Char('h') => Some(Key::Backspace),
            _ => None,
        };
    }
    if !KeyModifiers::SHIFT.contains(modifiers) {
        return None;
    }
    Some(match code {
        KeyCode::Char(char @ ' '..='~') => Key::Char(char),
        KeyCode::Enter => Key::Enter,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Esc => Key::Escape,
        KeyCode::Up => Key::Scroll(Scroll::Up),
        KeyCode::Down => Key::Scroll(Scroll::Down),
        KeyCode::PageUp => Key::Scroll(Scroll::PageUp),
        KeyCode::PageDown => Key::Scroll(Scroll::PageDown),
        KeyCode::Home => Key::Scroll(Scroll::Begin),
        KeyCode::End => Key::Scroll(Scroll::End),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_events_are_decoded_to_inputs() {
        let pressed = |code, modifiers| input(&Event::Key(KeyEvent::new(code, modifiers)));
        let key = |key| Some(Input::Key(key));
        for (code, expected) in [
            (KeyCode::Char('a'), key(Key::Char('a'))),
            (KeyCode::Char('~'), key(Key::Char('~'))),
            (KeyCode::Char('\u{e9}'), None),
            (KeyCode::Enter, key(Key::Enter)),
            (KeyCode::Esc, key(Key::Escape)),
            (KeyCode::Backspace, key(Key::Backspace)),
            (KeyCode::Up, key(Key::Scroll(Scroll::Up))),
            (KeyCode::PageDown, key(Key::Scroll(Scroll::PageDown))),
            (KeyCode::End, key(Key::Scroll(Scroll::End))),
            (KeyCode::F(5), None),
        ] {
            assert_eq!(pressed(code, KeyModifiers::NONE), expected, "{code:?}");
        }
        let quit = key(Key::Quit);
        assert_eq!(pressed(KeyCode::Char('c'), KeyModifiers::CONTROL), quit);
        assert_eq!(pressed(KeyCode::Char('d'), KeyModifiers::CONTROL), quit);
        assert_eq!(pressed(KeyCode::Char('h'), KeyModifiers::CONTROL), key(Key::Backspace));
        assert_eq!(pressed(KeyCode::Char('z'), KeyModifiers::CONTROL), None);
        assert_eq!(pressed(KeyCode::Char('G'), KeyModifiers::SHIFT), key(Key::Char('G')));
        assert_eq!(pressed(KeyCode::Char('a'), KeyModifiers::ALT), None);
        assert_eq!(pressed(KeyCode::Up, KeyModifiers::CONTROL), None);
        assert_eq!(input(&Event::Resize(80, 24)), Some(Input::Tick));
        assert_eq!(input(&Event::FocusLost), None);
    }
}
