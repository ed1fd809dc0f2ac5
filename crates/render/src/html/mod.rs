//! A plan as one HTML page without external parts, for a pull request.
//!
//! ```text
//!   PlanView ──diff──► coloured text ──painted──► elements     (one comparison and one layout for text and HTML)
//!   page ─► sections ─► tree ─► change
//! ```
//!
//! The page is readable without JavaScript; the script adds filters, a search and keys. A policy in the page permits
//! exactly its own style and its own script, by their digests, and no request.
//!
//! **Invariant:** the page has no sensitive and no ephemeral value, even if the view shows sensitive values
//! or a provider repeats one in another attribute (`secrets`).
//! **Invariant:** text from outside is never markup (`writer`).
//! **Invariant:** the size is linear in that of the plan as text.

mod because;
mod change;
mod content;
mod page;
mod secrets;
mod sections;
#[cfg(test)]
mod tests;
mod tree;
mod writer;

pub use self::{
    content::{Explain, PlanPage},
    page::plan_page,
};
