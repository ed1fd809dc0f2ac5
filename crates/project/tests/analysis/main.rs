//! What static analysis says of whole configurations: the RFC's rules and OpenTofu's, on fixtures.

mod fixture;
mod incremental;
mod rfc;
