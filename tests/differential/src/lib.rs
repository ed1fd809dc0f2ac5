//! Differential testing: runs the same random sequence of edits and commands under OpenTofu, the reference, and
//! under Mayfly, and compares the results.
//!
//! ```text
//!   seed, number ─► generate ─► Case: configurations and commands
//!                                 │
//!               ┌─────────────────┴──────────────────┐
//!          reference in its directory          mayfly in its directory        program, answers
//!               └───── Observation ──── compare ── Observation ───┘           observation, names, order
//!                                 │
//!                     Difference ─┴─► explained by a rule ─► counted          explained
//!                                 └─► shrink ─► reproducer: a directory with a script
//! ```
//!
//! Start reading at [`Campaign::run`], then [`generate`] and [`observation`]. A case depends only on its seed and
//! number, so a campaign can be resumed at any number and split among processes.
//!
//! **Invariant:** legitimate variation is removed from an observation before the comparison, never from a
//! difference.
//! **Invariant:** a known difference is explained by a named rule, and the figures count it under that name.
//! **Absent on purpose:** any crate of the workspace. Both programs run as processes and are judged by their
//! output.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "it runs programs, looks at files and clocks, and prints how far it is"
)]

mod answers;
mod campaign;
mod compare;
mod explained;
mod figures;
pub mod generate;
mod model;
mod names;
pub mod observation;
mod order;
mod program;
mod recording;
mod reproducer;
mod server;
mod shrink;

pub use campaign::{Campaign, differing};
pub use compare::Difference;
pub use program::{Program, run};
pub use recording::{Recording, record, replay};
