//! The `lsp` command: runs the language server, with the modules and providers that `init` installed.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use addr::{ProviderSource, VersionConstraint};
use db::{Directory, OsSystem, system::normalize};
use hir::{
    provisioner::ProvisionerSchemas,
    workspace::{CallKey, InstalledModule, StaticInputs},
};
use lsp::{Installation, Installed, PlannedCauses, PlannedQuestion};
use project::Manifest;
use sorted::TreeMap;
use values::Str;

use operations::{
    causes::record, located::ProviderExecutables, provisioner_plugins, session::Failure,
    session::Session, variables,
};

use crate::{exit::Exit, session::CommandSession};

/// Runs the language server until the editor ends it.
pub(crate) fn run(session: CommandSession) -> Exit {
    let system = match OsSystem::new() {
        Ok(system) => Arc::new(system.waiting_for_pipes(session.failpoints.reads_pipes())),
        Err(error) => {
            return super::environment_error("Failed to find the working directory", &error);
        }
    };
    let session = Arc::new(session);
    let installation = Arc::new(OnDisk { session: Mutex::new(Arc::clone(&session)) });
    let served = lsp::serve(tokio::io::stdin(), tokio::io::stdout(), system, installation);
    let in_good_order = session.runtime.block_on(served);
    // Do not drop the session: its runtime would wait for a thread that may still be blocked on standard input.
    std::mem::forget(session);
    if in_good_order { Exit::Success } else { Exit::Failure }
}

/// The modules and schemas that are available on disk. No process is started for them.
struct OnDisk {
    /// The environment. Behind a lock, because a session must not be used by two threads at once.
    session: Mutex<Arc<CommandSession>>,
}

impl OnDisk {
    fn session_in(&self, root: &Path) -> Option<Session> {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        session.in_directory(root).ok()
    }
}

impl Installation for OnDisk {
    fn modules(&self, root: &Path) -> Manifest {
        let installed = self.session_in(root).and_then(|it| it.installed_modules().ok());
        let absolute = |path: &str| -> Arc<str> {
            Arc::from(normalize(&root.join(path)).to_string_lossy().as_ref())
        };
        let calls = installed.unwrap_or_default().into_iter();
        let placed = |it: InstalledModule| InstalledModule { dir: absolute(&it.dir), ..it };
        calls
            .map(|(CallKey { caller, name }, called)| {
                let key = CallKey { caller: absolute(&caller), name };
                (key, called.into_iter().map(placed).collect())
            })
            .collect()
    }

    fn static_inputs(&self, root: &Path, db: &dyn hir::Db, directory: Directory) -> StaticInputs {
        let session = self.session_in(root);
        session
            .map(|it| variables::static_inputs(&it, &*it.system, db, directory, &[]))
            .unwrap_or_default()
    }

    fn planned(&self, root: &Path, question: PlannedQuestion<'_>) -> Option<PlannedCauses> {
        let PlannedQuestion { file, text, block, argument } = question;
        let session = self.session_in(root)?;
        let recorded = record::read(&session, record::Asked { file, text, block, argument })?;
        let record::Recorded { made_at, is_current, lines } = recorded;
        Some(PlannedCauses { made_at, is_current, lines })
    }

    fn schemas(
        &self,
        root: &Path,
        requirements: &TreeMap<ProviderSource, Vec<Str>>,
    ) -> Vec<(ProviderSource, Installed)> {
        let Some(session) = self.session_in(root) else { return Vec::new() };
        let of = |(source, constraints): (&ProviderSource, &Vec<Str>)| {
            (source.clone(), schemas_of(&session, root, source, constraints))
        };
        requirements.iter().map(of).collect()
    }

    fn provisioners(&self, root: &Path) -> ProvisionerSchemas {
        self.session_in(root).map(|it| provisioner_plugins::at_hand(&it)).unwrap_or_default()
    }
}

/// The schemas of one provider. Each provider is looked up separately, so that one that is not installed does not
/// affect the others.
fn schemas_of(
    session: &Session,
    root: &Path,
    source: &ProviderSource,
    constraints: &[Str],
) -> Installed {
    let constraint = constraints
        .iter()
        .filter_map(|text| VersionConstraint::parse_provider(text).ok())
        .fold(VersionConstraint::any(), |all, constraint| all.and(&constraint));
    let wanted = TreeMap::from([(source.clone(), constraint)]);
    let name = source.for_display();
    let init = format!("run \"mayfly init\" in {}", root.display());
    match ProviderExecutables::locate(session, &wanted) {
        Ok(located) => match located.schemas_at_hand(session, source) {
            Some(schemas) => Installed::Schemas(schemas),
            None => Installed::Missing(format!(
                "The schemas of {name} have not been read yet, so its resource types are unknown: \
                 {init}."
            )),
        },
        Err(Failure::Diagnostics(found, _)) => {
            let why = found.first().map(|it| it.summary.to_string()).unwrap_or_default();
            Installed::Missing(format!(
                "{name} is not installed, so its resource types are unknown ({why}): {init}."
            ))
        }
    }
}
