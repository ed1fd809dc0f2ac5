//! The inputs of the watch loop, and the keys that a terminal sends.

use std::io;

use engine::CancelToken;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc::UnboundedSender,
};

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

/// Sends an input for each change of the terminal's size.
pub(super) async fn notice_sizes(inputs: UnboundedSender<Input>) {
    let Ok(mut sizes) = signal(SignalKind::window_change()) else { return };
    while sizes.recv().await.is_some() && inputs.send(Input::Tick).is_ok() {}
}

/// Reads keys in a thread for the rest of the process. Ctrl-C cancels at once, even while the loop is busy
/// planning.
pub(super) fn read_keys(inputs: UnboundedSender<Input>, cancel: CancelToken) {
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
    let _ = std::thread::Builder::new().name("keys".to_owned()).spawn(read);
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
