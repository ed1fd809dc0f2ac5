//! What children do not get of the environment: values of variables and other secrets that are ours alone.

use std::ffi::OsString;

/// Names of variables that begin so hold values of input variables, arguments with such values, and keys.
const OURS: [&str; 3] = ["TF_VAR_", "TF_CLI_ARGS", "TF_ENCRYPTION"];

/// Tokens for the registries that this program talks to.
const TOKENS: &str = "TF_TOKEN_";

/// What the processes of providers do not get.
pub(crate) fn withheld_from_providers() -> impl Iterator<Item = OsString> {
    names().filter(|name| begins(name, &OURS) || begins(name, &[TOKENS]))
}

/// What the commands of `local-exec` do not get, which may run this program again and need the tokens then.
pub(crate) fn withheld_from_commands() -> impl Iterator<Item = OsString> {
    names().filter(|name| begins(name, &OURS))
}

fn names() -> impl Iterator<Item = OsString> {
    std::env::vars_os().map(|(name, _)| name)
}

fn begins(name: &OsString, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
}
