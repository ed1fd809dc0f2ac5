//! Tests of providers: a configuration runs through the engine in this process, and through `tofu`, `terraform` or
//! `mayfly` with the provider's executable.
//!
//! Start reading at [`Case`] and [`Step`]. A step becomes an [`Outcome`], which `in_process` takes from the engine and
//! `program` from the files and the output of another core; `checks` compares it with what the step expects.
//!
//! ```no_run
//! # use mayfly_sdk::{ConfigureCall, Definition, Diagnostic, Types};
//! # struct Notes;
//! # impl Definition for Notes {
//! #     type Config = ();
//! #     type Client = ();
//! #     fn source(&self) -> &'static str { "registry.opentofu.org/example/notes" }
//! #     async fn configure(&self, (): (), _: &mut ConfigureCall) -> Result<(), Diagnostic> { Ok(()) }
//! #     fn types(&self, _: &mut Types<()>) {}
//! # }
//! use mayfly_sdk_testing::{Action, Case, Step};
//!
//! Case::new(|| Notes)
//!     .step(
//!         Step::apply(r#"resource "notes_note" "a" { title = "Milk" }"#)
//!             .attribute("notes_note.a", "title", "Milk")
//!             .action("notes_note.a", Action::Create),
//!     )
//!     .step(Step::import("notes_note.a", "Milk"))
//!     .run();
//! ```
//!
//! **Invariant:** every core gets the same configurations, and every check sees the same kind of data, whichever core
//! it came from.
//! **Invariant:** what a test has created is destroyed when it ends, also if a check fails.
//! **Absent on purpose:** what is right for a provider; expectations are in its tests.

#![expect(
    clippy::disallowed_methods,
    reason = "tests start programs and have directories of their own"
)]

mod case;
mod checks;
mod core;
mod in_process;
mod outcome;
mod program;
mod written;

pub use crate::{
    case::{Case, PROGRAMS},
    checks::Step,
    outcome::{Action, Outcome},
};
