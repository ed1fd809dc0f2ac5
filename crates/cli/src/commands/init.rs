//! The `init` command: installs modules and providers, and writes the lock file.

use std::path::Path;

use db::{Diagnostic, Sources, System};
use hir::statics::LocalBackend;
use packages::{InstallEvent, InstallRequest, Locks};
use project::{Manifest, Project};
use state::State;

use crate::{
    args::InitArgs,
    backend_config::BackendConfig,
    exit::Exit,
    located::{self, ProviderExecutables},
    modules, place,
    session::{self, Failure, LOCK_FILE, Session},
    store,
};

/// Runs `init`.
pub(crate) fn run(session: &Session, args: &InitArgs) -> Result<Exit, Failure> {
    refuse_contradictions(args)?;
    // Start without the installed modules: they may be broken, and `init` repairs them.
    let mut project = match args.get {
        true => session.project_with(Manifest::new())?,
        false => session.project_to_init()?,
    };
    if project.is_empty() {
        session.ui.line(EMPTY);
        return Ok(Exit::Success);
    }
    if args.input && session::lacks_values_only(&project) {
        session.ask_early(&mut project)?;
    }
    if let Some(failure) = session::unreadable(&project) {
        session.ui.print_error(INVALID);
        return Err(failure);
    }
    let place = session::place_of(&project)?;
    if args.backend {
        session.ui.line("\nInitializing the backend...");
        let given = backend_config(session, &project, args)?;
        place::initialize(session, &place, given.as_ref(), args)?;
    }
    let before = session.locks()?;
    let mut module_locks = before.modules.clone();
    if args.get {
        (project, module_locks) = modules::install(session, args, &before)?;
    }
    if let Some(failure) = session::broken(&project) {
        session.ui.print_error(INVALID);
        return Err(failure);
    }
    session.ui.line("\nInitializing provider plugins...");
    let state = present_state(session, &project, place);
    let requirements = session.requirements(&project, state.as_ref());
    let config = session.cli_config()?;
    let mut sources = session.sources(config)?;
    if !args.plugin_dir.is_empty() {
        sources = sources.from_plugin_dirs(&args.plugin_dir);
    }
    let target = session.data_dir().join("providers");
    let platform = session.platform();
    let unmanaged = located::reattached(session)?.into_keys().collect();
    let request = InstallRequest {
        requirements: &requirements,
        locks: &before,
        upgrade: args.upgrade,
        sources: &sources,
        target: &target,
        plugin_cache: config.plugin_cache_dir.as_deref(),
        cache_may_break_locks: config.cache_may_break_locks,
        unmanaged: &unmanaged,
        platform: &platform,
    };
    let mut on_event = |event: InstallEvent| session.ui.line(&event.to_string());
    let installed = session.runtime.block_on(packages::install(&request, &mut on_event));
    if !installed.errors.is_empty() {
        let diagnostics: Vec<Diagnostic> = installed
            .errors
            .iter()
            .map(|error| Diagnostic::error("provider-install", error.summary(), error.detail()))
            .collect();
        return Err(diagnostics.into());
    }
    let locks = Locks { modules: module_locks, ..installed.locks };
    write_locks(session, args, &before, &locks)?;
    session.ui.line(SUCCESS);
    // Fill the schema cache, which makes the first `validate` faster and is the only source of schemas for the
    // language server. Failure is ignored: the provider may be for another machine, for example for a container.
    if let Ok(executables) = ProviderExecutables::locate(session, &requirements) {
        executables.read_ahead(session, requirements.keys());
    }
    Ok(Exit::Success)
}

const EMPTY: &str = "\
Mayfly initialized in an empty directory!

The directory has no Mayfly configuration files. You may begin working
with Mayfly immediately by creating Mayfly configuration files.";

const INVALID: &str = "
Mayfly encountered problems during initialization, including problems
with the configuration, described below.

The Mayfly configuration must be valid before initialization so that
Mayfly can determine which modules and providers need to be installed.
";

const SUCCESS: &str = "
Mayfly has been successfully initialized!

You may now begin working with Mayfly. Try running \"mayfly plan\" to see
any changes that are required for your infrastructure. All Mayfly commands
should now work.

If you ever set or change modules or backend configuration for Mayfly,
rerun this command to reinitialize your working directory. If you forget, other
commands will detect it and remind you to do so if necessary.";

const PROVIDERS_LOCKED: &str = "
Mayfly has created a lock file .terraform.lock.hcl to record the provider
selections it made above. Include this file in your version control repository
so that Mayfly can guarantee to make the same selections by default when
you run \"mayfly init\" in the future.";

const LOCKED: &str = "
Mayfly has created a lock file .terraform.lock.hcl to record the selections it
made above. Include this file in your version control repository so that Mayfly
can guarantee to make the same selections by default when you run \"mayfly init\"
in the future.";

const PROVIDERS_RELOCKED: &str = "
Mayfly has made some changes to the provider dependency selections recorded
in the .terraform.lock.hcl file. Review those changes and commit them to your
version control system if they represent changes you intended to make.";

/// The message for changed module packages. Its wording differs from the message about provider selections, which
/// users and scripts search for.
const MODULES_RELOCKED: &str = "
Mayfly has made some changes to the module package selections recorded
in the .terraform.lock.hcl file. Review those changes and commit them to your
version control system if they represent changes you intended to make.";

/// The current state. Its objects need their providers for destruction even if the configuration no longer names
/// them. `None` if no state can be read; a command that needs the state reports the reason.
fn present_state(session: &Session, project: &Project, place: LocalBackend) -> Option<State> {
    let place = place::check(session, place).ok()?;
    let paths = place::workspaces(&place).paths(&session.workspace()).ok()?;
    let mut state = store::open_unlocked(session, Some(&paths.read)).ok()?.file.state;
    let required = project.provider_requirements();
    state.adopt_other_registry(&|source| required.contains_key(source));
    Some(state)
}

/// The backend arguments of the flags. If the configuration has no backend block, the flags have no effect and a
/// warning is shown.
fn backend_config(
    session: &Session,
    project: &Project,
    args: &InitArgs,
) -> Result<Option<BackendConfig>, Failure> {
    let given = BackendConfig::read(session, &args.backend_config)?;
    let has_backend = hir::names::keeps_state(project.db(), project.root()).is_some();
    if given.is_none() || has_backend {
        return Ok(given);
    }
    let detail = "-backend-config was used without a \"backend\" block in the configuration, so it \
                  has no effect. To configure the backend with this option, add this \
                  block:\n\nterraform {\n  backend \"local\" {}\n}";
    let warning =
        Diagnostic::warning("invalid-backend-config", "Missing backend configuration", detail);
    session.ui.diagnostics(&[warning], &Sources::default());
    Ok(None)
}

fn refuse_contradictions(args: &InitArgs) -> Result<(), Failure> {
    if args.upgrade && args.is_lockfile_readonly() {
        let detail = "The -upgrade flag conflicts with -lockfile=readonly: upgraded versions must \
                      be written to the lock file.";
        return Err(Diagnostic::error(
            "contradicting-options",
            "Invalid combination of options",
            detail,
        )
        .into());
    }
    if args.reconfigure && args.migrates_state() {
        let detail = "-reconfigure leaves states where they are, and -migrate-state copies them to \
                      the new location. Use only one of the two.";
        return Err(Diagnostic::error(
            "contradicting-options",
            "Invalid combination of options",
            detail,
        )
        .into());
    }
    Ok(())
}

fn write_locks(
    session: &Session,
    args: &InitArgs,
    before: &Locks,
    after: &Locks,
) -> Result<(), Failure> {
    let exists = session.system.is_file(Path::new(LOCK_FILE));
    if after == before || (*after == Locks::default() && !exists) {
        return Ok(());
    }
    if args.is_lockfile_readonly() {
        let summary = match after.providers == before.providers {
            true => "Module dependency changes detected",
            false => "Provider dependency changes detected",
        };
        let detail = "Changes to the required dependencies were detected, but the lock file is \
                      read-only. To use and record these requirements, run \"mayfly init\" without \
                      the \"-lockfile=readonly\" flag.";
        return Err(Diagnostic::error("lock-file", summary, detail).into());
    }
    std::fs::write(LOCK_FILE, after.to_text()).map_err(|error| {
        Diagnostic::error(
            "lock-file",
            "Failed to save dependency lock file",
            format!(
                "{LOCK_FILE} cannot be written: {error}. Check its permissions, and those of the \
                 directory that it is in."
            ),
        )
    })?;
    let text = match (exists, after.providers == before.providers) {
        (false, _) if after.providers.is_empty() => LOCKED,
        (false, _) => PROVIDERS_LOCKED,
        (true, true) => MODULES_RELOCKED,
        (true, false) => PROVIDERS_RELOCKED,
    };
    session.ui.line(text);
    Ok(())
}
