//! The provider requirements of a configuration, as a tree of its modules, and those of the state.

use std::path::Path;

use addr::{ProviderSource, VersionConstraint};
use db::{Diagnostic, Summary};
use hir::{Module, Program, test_file::TestFile};
use project::Project;
use sorted::{TreeMap, TreeSet};
use values::Str;

use crate::{
    modules,
    session::{Failure, Session, broken},
    store, test,
};

/// The providers that one module and the modules that it calls require.
pub struct ModuleRequirements {
    /// The version constraints in normal form, by provider. Empty for a provider without any.
    pub providers: TreeMap<ProviderSource, String>,
    /// The called modules by the name of their call.
    pub children: TreeMap<Str, ModuleRequirements>,
}

/// The providers that a test file and the modules of its runs require.
pub struct TestRequirements {
    /// The name of the file: its path without the ending, with dots.
    pub name: String,
    /// The providers that the file configures.
    pub providers: TreeSet<ProviderSource>,
    /// The modules of runs by the name of the run.
    pub runs: TreeMap<Str, ModuleRequirements>,
}

/// The providers that a configuration and its state require.
pub struct Requirements {
    /// The root module.
    pub root: ModuleRequirements,
    /// The test files, sorted by path.
    pub tests: Vec<TestRequirements>,
    /// The providers of the objects in the state.
    pub of_state: TreeSet<ProviderSource>,
}

impl Requirements {
    /// All required providers.
    pub fn providers(&self) -> TreeSet<ProviderSource> {
        let mut found = self.of_state.clone();
        let mut modules = vec![&self.root];
        for test in &self.tests {
            found.extend(test.providers.iter().cloned());
            modules.extend(test.runs.values());
        }
        while let Some(module) = modules.pop() {
            found.extend(module.providers.keys().cloned());
            modules.extend(module.children.values());
        }
        found
    }
}

/// Reads the requirements of the configuration, of the test files in the working directory and in
/// `test_directory`, and of the state.
pub fn requirements(session: &Session, test_directory: &Path) -> Result<Requirements, Failure> {
    let project = session.project()?;
    if project.is_empty() {
        let detail = "The working directory contains no configuration files.";
        return Err(Diagnostic::new(Summary::NO_CONFIGURATION, detail).into());
    }
    if let Some(failure) = broken(&project) {
        return Err(failure);
    }
    let program = project.program();
    let root = of_project(&project, &program)?;
    let sources = &program.root().provider_sources;
    let tests = test::read(session, test_directory).into_iter();
    let tests = tests.map(|file| of_test(session, &file, sources)).collect::<Result<_, _>>()?;
    let state = store::open_unlocked(session, None)?.file.state;
    let of_state = state.resources().map(|(_, it)| it.provider.source.clone()).collect();
    Ok(Requirements { root, tests, of_state })
}

fn of_project(project: &Project, program: &Program) -> Result<ModuleRequirements, Failure> {
    // Fails for a number of calls that no person could read.
    modules::paths(program)?;
    Ok(of_module(program, program.root(), &by_directory(project)))
}

/// The requirements of a test file. A module that cannot be loaded is reported by `test`.
fn of_test(
    session: &Session,
    file: &TestFile,
    sources: &TreeMap<Str, ProviderSource>,
) -> Result<TestRequirements, Failure> {
    let configured =
        file.providers().map(|(_, provider)| match sources.get(&provider.local_name) {
            Some(source) => source.clone(),
            None => ProviderSource::implied_for(&provider.local_name),
        });
    let mut runs = TreeMap::new();
    for (_, run) in file.runs() {
        let source = run.module.as_ref().and_then(|it| it.source.as_ref());
        if let Some(project) = source.and_then(|it| test::tested_module(session, it).ok()) {
            let required = of_project(&project, &project.program())?;
            runs.insert(run.name.clone(), required);
        }
    }
    // Files end with two extensions, such as `.tftest.hcl`.
    let stem = file.path.rsplitn(3, '.').last().unwrap_or(&file.path);
    Ok(TestRequirements { name: stem.replace('/', "."), providers: configured.collect(), runs })
}

type ByDirectory = TreeMap<String, TreeMap<ProviderSource, String>>;

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
