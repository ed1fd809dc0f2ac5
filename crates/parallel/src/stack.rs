//! Stacks for deep recursion.

/// The size of a stack for deep recursion: enough for a chain of 100,000 references. Only touched pages take memory.
const DEEP: usize = 1 << 30;

/// Runs `work` on a stack of 1 GiB, which is freed afterwards. If the current stack is such a stack and is less than
/// half full, `work` runs on the current stack.
///
/// Lowering recurses along the syntax tree. Inference and evaluation recurse along references, and salsa does when it
/// validates what it remembers. No code of ours runs in each step of salsa, so the stack must be large from the start.
pub fn on_deep_stack<R>(work: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(DEEP / 2, DEEP, work)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recurses with a frame of more than one KiB.
    fn depth_of(left: u32) -> u32 {
        let frame = std::hint::black_box([0_u8; 1024]);
        match left {
            0 => 0,
            _ => depth_of(left - 1) + 1 + u32::from(frame[0]),
        }
    }

    #[test]
    fn recursion_has_the_room_of_a_deep_stack() {
        assert_eq!(on_deep_stack(|| depth_of(100_000)), 100_000);
    }

    #[test]
    fn a_deep_stack_is_used_again_until_half_of_it_is_full() {
        let address = || {
            let local = std::hint::black_box(0_u8);
            std::ptr::from_ref(&local).addr()
        };
        on_deep_stack(|| {
            assert!(address().abs_diff(on_deep_stack(address)) < DEEP / 2);
        });
    }

    #[test]
    fn a_panic_on_a_deep_stack_reaches_the_caller() {
        let caught = std::panic::catch_unwind(|| on_deep_stack(|| std::panic::panic_any(7)));
        assert_eq!(caught.err().and_then(|it| it.downcast_ref().copied()), Some(7));
    }
}
