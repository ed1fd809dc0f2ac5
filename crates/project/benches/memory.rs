//! Measures the memory of a project that is edited for a long time: run it with
//! `cargo bench -p project --bench memory`.
//!
//! The bench fails if 100,000 edits, each followed by a check, leave more than 1.1 times the memory that 1,000 leave.
//! After 1,000 edits the memory still grows a little: a reused block has a memo for each query that was ever asked of
//! it, and it takes some 30,000 edits until most blocks have had each role.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use peak_alloc::PeakAlloc;

#[path = "../tests/analysis/churn.rs"]
mod churn;

use churn::{Churn, Sources};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The resources that no edit touches.
const OTHERS: usize = 1_000;
const FEW: usize = 1_000;
const MANY: usize = 100_000;
/// The largest memory after [`MANY`] edits, in hundredths of that after [`FEW`].
const MOST: usize = 110;

fn main() {
    let mut is_more = false;
    for (name, sources) in [("literal", Sources::Literal), ("computed", Sources::Computed)] {
        let mut churn = Churn::new(sources, OTHERS);
        let few = bytes_after(&mut churn, FEW);
        let many = bytes_after(&mut churn, MANY);
        assert_eq!(churn.step().0, churn.fresh().0, "as in a project that is newly loaded");
        is_more |= many * 100 > few * MOST;
        println!(
            "{name} sources: {few} bytes after {FEW} edits, {many} after {MANY}: {:.3} times",
            many as f64 / few as f64
        );
    }
    assert!(!is_more, "the memory grows with the edits");
}

/// Edits until the session has this number of edits. Returns the bytes in use.
fn bytes_after(churn: &mut Churn, edits: usize) -> usize {
    while churn.number() < edits {
        churn.step();
    }
    ALLOCATOR.current_usage()
}
