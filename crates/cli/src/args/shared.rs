//! The arguments that many commands have in common.

use std::{num::NonZero, path::PathBuf};

use clap::{ArgAction, Args};

/// Output options, shared by all commands with human-readable output.
#[derive(Args, Clone, Default)]
pub(crate) struct ViewArgs {
    /// Disable colors.
    #[arg(long)]
    pub(crate) no_color: bool,
    /// Show each warning as a single line if there are no errors.
    #[arg(long)]
    pub(crate) compact_warnings: bool,
    /// Hide progress messages.
    #[arg(long)]
    pub(crate) concise: bool,
    /// Show warnings with the same summary as one.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) consolidate_warnings: bool,
    /// Show errors with the same summary as one.
    #[arg(long)]
    pub(crate) consolidate_errors: bool,
    /// Show warnings about deprecated things of "all" modules, of "local" ones or of "none". Modules of an
    /// installed package are not local.
    #[arg(long, value_name = "module:MODULES", default_value = "module:all", value_parser = deprecation_scope)]
    pub(crate) deprecation: DeprecationScope,
}

/// The modules whose deprecated variables, outputs and attributes cause warnings.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) enum DeprecationScope {
    /// All modules.
    #[default]
    All,
    /// The modules that belong to the package of the root module.
    Local,
    /// No module.
    None,
}

fn deprecation_scope(text: &str) -> Result<DeprecationScope, &'static str> {
    match text {
        "module:all" => Ok(DeprecationScope::All),
        "module:local" => Ok(DeprecationScope::Local),
        "module:none" => Ok(DeprecationScope::None),
        _ => Err("it is module:all, module:local or module:none"),
    }
}

/// The number of concurrent provider operations if the command line names none.
pub(crate) const PARALLELISM: NonZero<usize> = NonZero::new(10).unwrap();

/// Reads the value of `-parallelism`. Zero stands for the default, as in OpenTofu.
pub(crate) fn parallelism(text: &str) -> Result<NonZero<usize>, &'static str> {
    let number: usize =
        text.parse().map_err(|_| "it must be a whole number that is not negative")?;
    Ok(NonZero::new(number).unwrap_or(PARALLELISM))
}

/// Values of root variables.
#[derive(Args, Clone, Default)]
pub(crate) struct VarArgs {
    /// Set a root variable: NAME=VALUE. May be repeated.
    #[arg(long = "var", value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub(crate) vars: Vec<String>,
    /// Set root variables from a file. May be repeated.
    #[arg(long = "var-file", value_name = "FILE")]
    pub(crate) var_files: Vec<PathBuf>,
}

/// The parts of the configuration that an operation is limited to.
#[derive(Args, Clone, Default, PartialEq, Eq)]
pub(crate) struct TargetArgs {
    /// Limit the operation to this module, resource or instance and its dependencies. May be repeated.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) target: Vec<String>,
    /// Like -target, for the addresses in a file, one per line. Lines that begin with "#" are comments. May be
    /// repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) target_file: Vec<PathBuf>,
    /// Exclude this module, resource or instance and its dependents from the operation. May be repeated.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) exclude: Vec<String>,
    /// Like -exclude, for the addresses in a file. May be repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) exclude_file: Vec<PathBuf>,
}

/// The treatment of providers that repeat secrets.
#[derive(Args, Clone, Copy, Default)]
pub(crate) struct SecretsArgs {
    /// Fail if a provider repeats a write-only value in an ordinary attribute. By default, the value is withheld there.
    #[arg(long)]
    pub(crate) strict_secrets: bool,
}

/// The lock of a state.
#[derive(Args, Clone)]
pub(crate) struct LockArgs {
    /// Lock the state while working on it.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) lock: bool,
    /// Time to keep retrying while another process holds the lock, such as 10s.
    #[arg(long, value_name = "DURATION", default_value = "0s")]
    pub(crate) lock_timeout: String,
}

/// The location of a local state and its locking.
#[derive(Args, Clone)]
pub(crate) struct StateArgs {
    #[command(flatten)]
    pub(crate) lock: LockArgs,
    /// The state file to read, and to write unless -state-out is given.
    #[arg(long, value_name = "PATH")]
    pub(crate) state: Option<PathBuf>,
    /// The state file to write.
    #[arg(long, value_name = "PATH")]
    pub(crate) state_out: Option<PathBuf>,
    /// The file for the backup of the previous state; "-" for no backup.
    #[arg(long, value_name = "PATH")]
    pub(crate) backup: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallelism_of_zero_is_the_default() {
        let read = |text| parallelism(text).map(NonZero::get).ok();
        assert_eq!(["0", "3", "-1", "many"].map(read), [Some(10), Some(3), None, None]);
    }
}
