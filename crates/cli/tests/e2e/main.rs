//! End-to-end tests of the real executable with real processes, files, signals and prompts.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the tests look at processes, files and clocks, and say what they skip"
)]

mod aws;
mod aws_lifecycle;
mod bench;
mod bounds;
mod broken;
mod canaries;
mod child_environment;
mod commands;
mod completion;
mod configured_functions;
mod console;
mod data;
mod deaths;
mod dependencies;
mod deposed;
mod differential;
mod directories;
mod downloads;
mod ephemeral;
mod examples;
mod explain;
mod failpoints;
mod faults;
mod flags;
mod fmt;
mod functions;
mod gate;
mod go_upgrades;
mod graph;
mod guarantees;
mod import_blocks;
mod installation;
mod interrupts;
mod journal;
mod json;
mod language;
mod login;
mod logs;
mod lost_states;
mod metadata;
mod mirrors;
mod modules;
mod moves;
mod new_provider;
mod options;
mod output_style;
mod plan_page;
mod planned_configuration;
mod provisioner_plugins;
mod provisioning;
mod read_only;
mod reference;
mod registry;
mod requirements;
mod restful;
mod sandbox;
mod saved_plans;
mod script_provider;
mod search;
mod sensitive;
mod since;
mod specification;
mod state;
mod state_edits;
mod statics;
mod targets;
mod temp;
mod terraform;
mod test_command;
mod test_doubles;
mod tofu;
mod torture;
mod validate;
mod validate_json;
mod variables;
mod verdicts;
mod watch;
mod web_driver;
mod workspaces;
