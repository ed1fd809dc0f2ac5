//! The global allocator. It clears memory when memory is freed, and reports an allocation that fails.
//!
//! This is the only module of the workspace with `unsafe` code. The standard library aborts a program whose
//! allocation fails, and has no stable hook that runs before the abort. Only the allocator itself sees the
//! failure. This one forwards every call unchanged and inspects the result.

use std::{
    alloc::{GlobalAlloc, Layout},
    sync::atomic::{AtomicBool, Ordering},
};

use zeroizing_alloc::ZeroAlloc;

#[global_allocator]
static ALLOCATOR: Reporting<ZeroAlloc<mimalloc::MiMalloc>> =
    Reporting(ZeroAlloc(mimalloc::MiMalloc));

struct Reporting<A>(A);

#[expect(unsafe_code, reason = "an allocator is an unsafe trait; see the head of this file")]
// SAFETY: every method forwards its arguments to the inner allocator and returns the result of that, so the
// contract of the inner allocator holds here too. `realloc` keeps the default of the trait, as in `ZeroAlloc`: it
// allocates a new block, copies, and frees the old block, which clears it.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Reporting<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's guarantees for `layout` are passed on.
        let block = unsafe { self.0.alloc(layout) };
        if block.is_null() {
            report(layout.size());
        }
        block
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's guarantees for `layout` are passed on.
        let block = unsafe { self.0.alloc_zeroed(layout) };
        if block.is_null() {
            report(layout.size());
        }
        block
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block was returned by `alloc` above, hence by the inner allocator.
        unsafe { self.0.dealloc(block, layout) }
    }
}

/// Prints to stderr the size of the failed allocation, and what the program was doing. Must not allocate.
#[cold]
#[inline(never)]
fn report(size: usize) {
    // The standard library allocates on its way to the abort. That fails again and must not be reported a second
    // time.
    static IS_REPORTED: AtomicBool = AtomicBool::new(false);
    if IS_REPORTED.swap(true, Ordering::Relaxed) {
        return;
    }
    let mut digits = [0; 20];
    let number = decimal(size, &mut digits);
    engine::with_place(|phase, node| {
        let at: &[u8] = if node.is_empty() { b"" } else { b", at " };
        for part in [BEGIN, phase.as_bytes(), at, node, b": ", number, END] {
            let _written = rustix::io::write(rustix::stdio::stderr(), part);
        }
    });
}

const BEGIN: &[u8] = b"\nMayfly ran out of memory while ";
const END: &[u8] = b" more bytes could not be allocated. All changes made so far are in the state \
                     or in its journal, from which the next run recovers them. Values in memory \
                     are not shown here. Provide more memory, or reduce the size of the value that \
                     is computed there.\n";

/// Writes a number in decimal digits into `digits` and returns the part that is used.
fn decimal(mut number: usize, digits: &mut [u8; 20]) -> &[u8] {
    let mut begin = digits.len();
    for (index, digit) in digits.iter_mut().enumerate().rev() {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or_default();
        begin = index;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    digits.get(begin..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_digits_equal_those_of_to_string() {
        for number in [0, 7, 10, 1_073_741_824, usize::MAX] {
            let mut digits = [0; 20];
            assert_eq!(decimal(number, &mut digits), number.to_string().as_bytes());
        }
    }
}
