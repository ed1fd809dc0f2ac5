//! Runs of the engine on text configurations, with a provider in memory that records its calls.

mod apply;
mod checks;
mod confidentiality;
mod create_before_destroy;
mod data;
mod dependencies;
mod deposed;
mod ephemeral;
mod fake;
mod functions;
mod incremental;
mod journal;
mod linear;
mod modules;
mod moved_blocks;
mod moves;
mod plan;
mod provisioners;
mod removed_blocks;
mod replace_triggered_by;
mod retained;
mod retained_run;
mod saved;
mod temp;
mod world;
