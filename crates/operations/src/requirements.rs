//! The provider requirements of a configuration, as a tree of its modules, and those of the state.

use std::collections::{BTreeMap, BTreeSet};

use addr::{ProviderSource, VersionConstraint};
use db::{Diagnostic, Summary};
use hir::{Module, Program};
use project::Project;
use values::Str;

use crate::{
    modules,
    session::{Failure, Session, broken},
    store,
};

/// The providers that one module and the modules that it calls require.
pub struct ModuleRequirements {
    /// The version constraints in normal form, by provider. Empty for a provider without any.
    pub providers: BTreeMap<ProviderSource, String>,
    /// The called modules by the name of their call.
    pub children: BTreeMap<Str, ModuleRequirements>,
}

/// The providers that a configuration and its state require.
pub struct Requirements {
    /// The root module.
    pub root: ModuleRequirements,
    /// The providers of the objects in the state.
    pub of_state: BTreeSet<ProviderSource>,
}

/// Reads the requirements of the configuration and of the state in the working directory.
pub fn requirements(session: &Session) -> Result<Requirements, Failure> {
    let project = session.project()?;
    if project.is_empty() {
        let detail = "The working directory contains no configuration files.";
        return Err(Diagnostic::new(Summary::NO_CONFIGURATION, detail).into());
    }
    if let Some(failure) = broken(&project) {
        return Err(failure);
    }
    let program = project.program();
    // Fails for a number of calls that no person could read.
    modules::paths(&program)?;
    let directories = by_directory(&project);
    let root = of_module(&program, program.root(), &directories);
    let state = store::open_unlocked(session, None)?.file.state;
    let of_state = state.resources().map(|(_, it)| it.provider.source.clone()).collect();
    Ok(Requirements { root, of_state })
}

type ByDirectory = BTreeMap<String, BTreeMap<ProviderSource, String>>;

/// The requirements of each module directory, without those of the modules that it calls.
fn by_directory(project: &Project) -> ByDirectory {
    let db = project.db();
    let directories = hir::reachable(db, project.workspace()).into_iter();
    let directories = directories.map(|directory| {
        let required = hir::module_requirements(db, directory).into_iter();
        let required = required.map(|(source, texts)| (source, combined(&texts))).collect();
        (directory.path(db).to_string(), required)
    });
    directories.collect()
}

/// All constraints together. An invalid one is reported by the diagnostics of the configuration.
fn combined(texts: &[Str]) -> String {
    let understood = texts.iter().filter_map(|it| VersionConstraint::parse_provider(it).ok());
    understood.fold(VersionConstraint::any(), |all, constraint| all.and(&constraint)).canonical()
}

fn of_module(program: &Program, module: &Module, directories: &ByDirectory) -> ModuleRequirements {
    let children = module.calls.iter().map(|(name, (_, id))| {
        (name.clone(), of_module(program, program.module(*id), directories))
    });
    ModuleRequirements {
        providers: directories.get(&*module.dir).cloned().unwrap_or_default(),
        children: children.collect(),
    }
}
