//! The HTTP client that everything in Mayfly shares: modules, network mirrors, the services of hosts and, when they
//! speak HTTP, registries and backends.
//!
//! Start reading at [`ClientConfig`], then [`Client::send`] and [`Client::download`], [`Request`] and [`Error`].
//!
//! ```text
//!   Request ──► Client ──► retries ──► redirects ──► pool of connections ──► Connector ──► proxy? ──► TLS? ──► server
//!                 │                                                                                             │
//!                 └── download: a file, continued by Range after a failure ◄── Body: bounded, paced ◄───────────┘
//! ```
//!
//! It speaks HTTP/1.1, which every server speaks and whose reader is the smallest. The connections come from hyper and
//! rustls; `reqwest` would add 33 crates in place of 4 for redirects and retries that have to be written anyway.
//!
//! **Invariant:** credentials and headers of a request reach only the scheme, host and port that the request names; a
//! redirect elsewhere loses them.
//! **Invariant:** a connection that began with TLS never continues without it.
//! **Invariant:** every wait, every retry, every header and every body is bounded.
//! **Invariant:** an error contains neither credentials nor the query of a URL, nor a control character.
//! **Absent on purpose:** the meaning of answers, caches, the rules of cookies, the decompression of bodies, reading
//! the environment (the caller passes it in), printing.
//!
//! Its tests are in `tests`, against a TLS server in memory, so that the clock can be paused, and over loopback.

mod body;
mod client;
mod connect;
mod cookies;
mod credentials;
mod download;
mod error;
mod proxy;
mod redirect;
mod retry;
#[cfg(test)]
mod tests;
mod tls;
mod trust;
mod url;

pub use body::Body;
pub use client::{Client, ClientConfig, Request, Response, Timeouts};
pub use cookies::CookieStore;
pub use credentials::Credentials;
pub use download::Progress;
pub use error::{Error, ErrorKind};
pub use hyper::{HeaderMap, Method, StatusCode, header};
pub use proxy::{Proxies, ProxyError};
pub use retry::{Retries, retry_after};
pub use tls::{Authorities, Identity, TlsError, TlsSettings, Verification};
pub use trust::Trust;
pub use url::{Url, UrlError};
