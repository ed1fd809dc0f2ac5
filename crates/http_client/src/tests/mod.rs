//! Tests against servers in memory that speak TLS and answer by a script.
#![expect(
    clippy::disallowed_methods,
    reason = "the tests have files of certificates and downloads"
)]

mod downloads;
mod requests;
mod server;
mod tls;
