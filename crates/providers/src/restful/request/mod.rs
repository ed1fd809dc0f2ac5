//! Requests: the settings of the provider, the levels of headers and queries, credentials, retries.
//!
//! Start reading at [`settings`], then [`client::RestClient`], [`build::Call`] and [`poll::poll`].
//!
//! ```text
//!   Settings ──► ClientCell ──► RestClient ──► build ──► authentication ──► retries ──► http_client
//!                                   ▲                         │                ▲
//!                     locks, poll ──┘                         └── token ───────┘
//! ```
//!
//! **Invariant:** a log line contains no body, no header and no value of a query.
//! **Invariant:** every pause ends when the core asks to stop.
//! **Invariant:** two configured providers share no connection, certificate, cookie or token.
//! **Absent on purpose:** the schemas of types, the meaning of bodies.

pub mod build;
pub mod client;
pub mod cookies;
pub mod locks;
pub mod oauth2;
pub mod pause;
pub mod poll;
pub mod retry;
pub mod secret;
pub mod security;
pub mod settings;
