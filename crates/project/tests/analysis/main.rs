//! What static analysis says of whole configurations: the RFC's rules and OpenTofu's, on fixtures.

mod at_once;
mod attributes_as_blocks;
mod cycles;
mod fixture;
mod incremental;
mod overlay;
mod overrides;
mod rfc;
mod shown;
mod statics;
mod stricter;
