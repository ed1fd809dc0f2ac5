//! The current position of a run, for a message that must not allocate because memory has run out.
//!
//! The phase belongs to the process; the node belongs to the thread, because a single thread walks a graph.
//! Neither contains a value.

use std::{
    cell::Cell,
    fmt::{self, Write},
    sync::atomic::{AtomicUsize, Ordering},
};

/// The phase of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunPhase {
    Starting,
    Reading,
    Validating,
    Planning,
    Applying,
}

impl RunPhase {
    const ALL: [RunPhase; 5] = [
        RunPhase::Starting,
        RunPhase::Reading,
        RunPhase::Validating,
        RunPhase::Planning,
        RunPhase::Applying,
    ];

    fn text(self) -> &'static str {
        match self {
            RunPhase::Starting => "starting",
            RunPhase::Reading => "reading the configuration",
            RunPhase::Validating => "checking the configuration",
            RunPhase::Planning => "planning",
            RunPhase::Applying => "applying",
        }
    }
}

static PHASE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    // No destructor, so that an allocator can read it at any time.
    static NODE: Cell<Address> = const { Cell::new(Address { bytes: [0; LONGEST], length: 0 }) };
}

/// The length at which addresses are cut.
const LONGEST: usize = 200;

/// The start of an address.
#[derive(Clone, Copy)]
struct Address {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Write for Address {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.length..).unwrap_or_default();
        let count = text.len().min(room.len());
        for (to, from) in room.iter_mut().zip(text.bytes()) {
            *to = from;
        }
        self.length += count;
        if count < text.len() { Err(fmt::Error) } else { Ok(()) }
    }
}

/// Sets the current phase.
pub fn enter_phase(phase: RunPhase) {
    let index = RunPhase::ALL.iter().position(|it| *it == phase);
    PHASE.store(index.unwrap_or_default(), Ordering::Relaxed);
    leave_node();
}

/// Sets the node that this thread works on.
pub(crate) fn enter_node(address: fmt::Arguments<'_>) {
    let mut text = Address { bytes: [0; LONGEST], length: 0 };
    // An error means that the address was cut.
    let _cut = text.write_fmt(address);
    NODE.set(text);
}

/// Clears the node of this thread.
pub(crate) fn leave_node() {
    enter_node(format_args!(""));
}

/// Passes the phase, and the address of the node that this thread works on, to a function. The address may be
/// empty. Does not allocate.
pub fn with_place<T>(use_place: impl FnOnce(&str, &[u8]) -> T) -> T {
    let phase = RunPhase::ALL.get(PHASE.load(Ordering::Relaxed)).copied();
    let phase = phase.unwrap_or(RunPhase::Starting);
    // A thread that is being destroyed has no node.
    let node = NODE.try_with(Cell::get).ok();
    let node = node.as_ref().and_then(|it| it.bytes.get(..it.length)).unwrap_or_default();
    use_place(phase.text(), node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_is_the_entered_node_of_the_thread_cut_to_a_length() {
        let told = || with_place(|_, node| String::from_utf8_lossy(node).into_owned());
        assert_eq!(told(), "");
        enter_node(format_args!("module.{}.local.a", "m"));
        assert_eq!(told(), "module.m.local.a");
        enter_node(format_args!("{}", "x".repeat(1000)));
        assert_eq!(told(), "x".repeat(LONGEST));
        leave_node();
        assert_eq!(told(), "");
        std::thread::spawn(move || assert_eq!(told(), "")).join().expect("another thread has none");
    }
}
