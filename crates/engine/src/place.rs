//! The current position of a run, for a message that must not allocate because memory has run out.
//!
//! Phase and node belong to the thread: a single thread carries out a run, and other threads of the process may carry
//! out other runs. Neither contains a value.

use std::{
    cell::Cell,
    fmt::{self, Write},
};

use crate::graph::NodeIx;

/// The phase of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunPhase {
    Reading,
    Validating,
    Planning,
    Applying,
}

impl RunPhase {
    fn text(self) -> &'static str {
        match self {
            RunPhase::Reading => "reading the configuration",
            RunPhase::Validating => "checking the configuration",
            RunPhase::Planning => "planning",
            RunPhase::Applying => "applying",
        }
    }
}

thread_local! {
    // No destructors, so that an allocator can read them at any time.
    static PHASE: Cell<Option<RunPhase>> = const { Cell::new(None) };
    static NODE: Cell<Option<NodeIx>> = const { Cell::new(None) };
    static ADDRESS: Cell<Address> = const { Cell::new(Address { bytes: [0; LONGEST], length: 0 }) };
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

/// Sets the phase of the run that this thread carries out.
pub fn enter_phase(phase: RunPhase) {
    PHASE.set(Some(phase));
    leave_node();
}

/// Sets the node that this thread works on. A node with many instances is entered as often, and formatted once.
pub(crate) fn enter_node(node: NodeIx, address: fmt::Arguments<'_>) {
    if NODE.get() != Some(node) {
        let mut text = Address { bytes: [0; LONGEST], length: 0 };
        // An error means that the address was cut.
        let _cut = text.write_fmt(address);
        NODE.set(Some(node));
        ADDRESS.set(text);
    }
}

/// Clears the node of this thread. A run ends with that, because the next one has other nodes.
pub(crate) fn leave_node() {
    NODE.set(None);
    ADDRESS.set(Address { bytes: [0; LONGEST], length: 0 });
}

/// Passes the phase and the node of this thread to a function. The address of the node may be empty. A thread that
/// carries out no run, such as one that decodes answers of providers, is "working". Does not allocate.
pub fn with_place<T>(use_place: impl FnOnce(&str, &[u8]) -> T) -> T {
    // A thread that is being destroyed has neither phase nor node.
    let phase = PHASE.try_with(Cell::get).ok().flatten();
    let node = ADDRESS.try_with(Cell::get).ok();
    let node = node.as_ref().and_then(|it| it.bytes.get(..it.length)).unwrap_or_default();
    use_place(phase.map_or("working", RunPhase::text), node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_is_the_entered_node_of_the_thread_cut_to_a_length() {
        let told = || with_place(|_, node| String::from_utf8_lossy(node).into_owned());
        assert_eq!(told(), "");
        enter_node(NodeIx(1), format_args!("module.{}.local.a", "m"));
        assert_eq!(told(), "module.m.local.a");
        enter_node(NodeIx(2), format_args!("{}", "x".repeat(1000)));
        assert_eq!(told(), "x".repeat(LONGEST));
        leave_node();
        assert_eq!(told(), "");
        enter_node(NodeIx(2), format_args!("local.of_the_next_run"));
        assert_eq!(told(), "local.of_the_next_run");
        leave_node();
        std::thread::spawn(move || assert_eq!(told(), "")).join().expect("another thread has none");
    }

    #[test]
    fn threads_with_different_runs_have_different_phases() {
        let phase = || with_place(|phase, _| phase.to_owned());
        enter_phase(RunPhase::Applying);
        let other = std::thread::spawn(move || {
            let before = phase();
            enter_phase(RunPhase::Planning);
            [before, phase()]
        });
        assert_eq!(other.join().expect("does not panic"), ["working", "planning"]);
        assert_eq!(phase(), "applying");
    }
}
