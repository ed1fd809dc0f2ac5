//! The readers of untrusted bytes, each with an invariant that holds for any input.
//!
//! Start reading at [`TARGETS`]. Each target is a function that panics if its invariant is broken. Most of them
//! are in the module `fuzz` of the crate that owns the reader; those that need several crates are here. `fuzz/`
//! runs the same functions with libFuzzer; `tests/replay.rs` runs them over the corpus in `data/` and over
//! mutations of it.
//!
//! **Invariant:** a target depends only on its bytes: no clock, no environment, and no files except in an empty
//! directory of its own.
//! **Absent on purpose:** the results for valid input. The tests of the readers cover them.

mod configuration;
mod frames;
mod json;
mod mutate;
mod variables;

pub use frames::messages_after;
pub use mutate::mutated;

/// A reader with the invariant for its input.
pub struct Target {
    /// The name of the fuzz target and of the folder in `data/`.
    pub name: &'static str,
    /// Panics if the invariant is broken.
    pub check: fn(&[u8]),
    /// The number of mutations of each corpus input in the default test suite.
    pub mutations: usize,
}

const fn target(name: &'static str, check: fn(&[u8]), mutations: usize) -> Target {
    Target { name, check, mutations }
}

/// All targets.
#[rustfmt::skip]
pub const TARGETS: &[Target] = &[
    target("address", addr::fuzz::check_address, 400),
    target("version", addr::fuzz::check_version, 400),
    target("number", values::fuzz::check_number, 400),
    target("value_msgpack", values::fuzz::check_msgpack, 400),
    target("value_json", values::fuzz::check_json, 400),
    target("type_json", values::fuzz::check_type_json, 400),
    target("conversion", values::fuzz::check_conversion, 400),
    target("function", values::fuzz::check_function, 400),
    target("state", state::fuzz::check_state, 400),
    target("journal", state::fuzz::check_journal, 400),
    target("journal_frames", backend::fuzz::check_journal_frames, 400),
    target("lock", backend::fuzz::check_lock, 400),
    target("plan_message", state::fuzz::check_plan_message, 400),
    target("plan_file", state::fuzz::check_plan_file, 200),
    target("plan_entries", state::fuzz::check_plan_entries, 200),
    target("cached_schema", provider::fuzz::check_cached_schema, 400),
    target("handshake", plugin::fuzz::check_handshake, 400),
    target("reattach", plugin::fuzz::check_reattach, 400),
    target("provider_log", plugin::fuzz::check_log, 400),
    target("provider_schemas", plugin::fuzz::check_schemas, 400),
    target("provider_answer", plugin::fuzz::check_answer, 400),
    target("cli_config", packages::fuzz::check_cli_config, 400),
    target("lock_file", packages::fuzz::check_locks, 400),
    target("module_manifest", packages::fuzz::check_manifest, 400),
    target("module_archive", packages::fuzz::check_module_archive, 100),
    target("object_list", object_storage::fuzz::check_object_list, 400),
    target("profiles", object_storage::fuzz::check_profiles, 400),
    target("variables_file", variables::check_variables_file, 400),
    target("configuration", configuration::check_configuration, 40),
    target("json_configuration", configuration::check_json_configuration, 40),
    target("json_syntax", json::check_json_syntax, 400),
    target("typing", configuration::check_typing, 20),
    target("lsp_edits", lsp::fuzz::check_edits, 400),
    target("lsp_frames", frames::check_frames, 10),
];

/// The target with the given name.
///
/// # Panics
/// If there is no such target.
pub fn named(name: &str) -> &'static Target {
    TARGETS.iter().find(|it| it.name == name).expect("the name is one of TARGETS")
}
