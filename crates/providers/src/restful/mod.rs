//! The provider `restful`: resources of any HTTP API that speaks JSON.
//!
//! Under construction: its parts are built and tested one by one, and no executable serves it yet.
//!
//! Start reading at [`document`], then [`expression`] and [`request`].
//!
//! ```text
//!   configuration ──► request ──► HTTP API
//!        ▲               │
//!        │ expression    ▼
//!        └────────── document (the answer) ──► output
//! ```
//!
//! **Invariant:** a write-only value is in requests only, never in a document that is stored.
//! **Invariant:** credentials are never logged.

pub mod document;
pub mod expression;
pub mod request;
