//! Tests against servers in memory that speak TLS and answer by a script.

mod downloads;
mod requests;
mod server;
