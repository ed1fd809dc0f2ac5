//! Tests of static analysis on whole configurations: the rules of the ephemeral resources RFC and those of
//! OpenTofu.

mod at_once;
mod attributes_as_blocks;
mod churn;
mod cycles;
mod fixture;
mod functions;
mod incremental;
mod long_sessions;
mod overlay;
mod overrides;
mod rfc;
mod shown;
mod statics;
mod stricter;
