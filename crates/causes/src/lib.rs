//! The causes in a plan: why an object is created, updated, replaced, read or destroyed, and why a value is unknown,
//! sensitive or ephemeral.
//!
//! Start reading at [`Finding`], the answer, then [`analyze`] and [`Analysis::explain`]. Inside: `src/snapshots.rs`
//! (the objects before and after the plan), `src/reads.rs` (the references that an expression reads), `src/search.rs`
//! (from an expression to the causes of its value), `src/attribute.rs` and `src/object/` (the causes of an attribute
//! and of an action), `src/question.rs` (addresses).
//!
//! ```text
//!   address ─► Question ─► Finding ─► because ─► Finding ─► … ─► a root cause
//!                            │                     a value in the configuration, a variable, a change from outside,
//!                            └ a fact, its place   a decision of the provider, -replace, a block that is gone
//! ```
//!
//! A reference is followed if its value matters: if it is unknown, or differs between the snapshot before the plan
//! and the one after it. If no reference differs, the configuration itself or a variable has changed.
//!
//! **Invariant:** no finding holds a part of a sensitive or ephemeral value, or of a write-only attribute.
//! **Invariant:** an answer is bounded: [`MOST_FINDINGS`] findings, each with the number of causes that it leaves out.
//! **Invariant:** a value is followed once in an answer, so that cycles of references end.
//! **Absent on purpose:** terminals, files, provider processes, layout.

mod analysis;
mod attribute;
mod difference;
mod finding;
mod limits;
mod object;
mod output;
mod place;
mod question;
mod reads;
mod search;
mod secrecy;
mod shown;
mod snapshots;

pub use crate::{
    analysis::{Analysis, Inputs, analyze},
    finding::{Computed, Fact, Finding, Limit, Order, Switch, ValueOrigin},
    place::Place,
    question::{Question, UnknownAddress},
    search::MOST_FINDINGS,
};
