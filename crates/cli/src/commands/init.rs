//! The `init` command.

use std::path::PathBuf;

use operations::{
    init::{self, InitOptions},
    session::Failure,
};

use crate::{args::InitArgs, exit::Exit, session::CommandSession};

/// Runs `init`: installs modules and providers, and writes the lock file.
pub(crate) fn run(session: &CommandSession, args: &InitArgs) -> Result<Exit, Failure> {
    let options = InitOptions {
        from_module: args.from_module.clone(),
        upgrade: args.upgrade,
        plugin_dirs: args.plugin_dir.iter().map(PathBuf::from).collect(),
        is_lockfile_readonly: args.lockfile.as_deref() == Some("readonly"),
        backend: args.backend && args.cloud,
        backend_config: args.backend_config.clone(),
        input: args.input && !args.json.json,
        get: args.get,
        reconfigure: args.reconfigure,
        migrate_state: args.migrate_state || args.force_copy,
        lock: args.lock.options(),
        test_directory: args.test_directory.clone(),
    };
    init::init(session, &options)?;
    Ok(Exit::Success)
}
