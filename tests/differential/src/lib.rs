//! Runs the same random sequence of edits and commands under OpenTofu and under Mayfly, and finds in what they differ.
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
//! Start reading at [`Campaign::run`], then [`generate`] and [`observation`]. A case depends on its seed and its number only, so
//! a campaign can be resumed at any number and split among processes.
//!
//! **Invariant:** what may differ is taken out of an observation before it is compared, never out of a difference.
//! **Invariant:** a known difference is explained by a rule with a name, and the figures count it under that name.
//! **Absent on purpose:** any crate of the workspace. Both programs are started as processes and judged by what they write.
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
mod shrink;

pub use campaign::{Campaign, differing};
pub use compare::Difference;
pub use program::Program;
pub use recording::{Recording, record, replay};
