//! Finds and reads test files, and loads the modules that their runs are for.

use std::{
    mem::ManuallyDrop,
    path::{Path, PathBuf},
    sync::Arc,
};

use ::values::Str;
use addr::{ModuleSource, ProviderSource, VersionConstraint};
use db::{Diagnostic, Rule, Severity, Sources, Summary};
use hir::{
    Program,
    test_file::{self, TestFile},
    workspace::is_local_source,
};
use sorted::{TreeMap, TreeSet};

use project::UnsetProject;

use crate::{
    located::ProviderExecutables,
    modules::{TestedModule, module_project, verify::verify},
    offline::validate_provisioners,
    session::{Failure, LockSource, LockedVersions, Session, loading::Loaded},
    test::TestOptions,
    variables::{self, flag::VarFlag},
};

/// The files of a test, with the modules that they test.
pub struct Suite {
    /// The files to run, sorted by path.
    pub files: Vec<TestFile>,
    /// The module under test.
    pub(super) main: Arc<Tested>,
    /// The other modules, by source.
    pub(super) others: TreeMap<Str, Loading>,
    /// The warnings about the choice of files.
    pub warnings: Vec<Diagnostic>,
}

/// A module that runs are for.
pub(super) struct Tested {
    /// The configuration, without anything that a run adds.
    pub(super) program: Program,
    pub(super) executables: Arc<ProviderExecutables>,
    /// The problems of the analysis.
    pub(super) problems: Vec<Diagnostic>,
}

/// Loads the test files and the modules that they test.
///
/// # Errors
/// A test file or the configuration has errors.
pub fn load(session: &Session, options: &TestOptions) -> Result<Suite, Failure> {
    let all = read(session, &options.directory);
    refuse_broken(&all)?;
    let main = Arc::new(main_module(session, options)?);
    let (files, warnings) = selected(all, &options.filter);
    let mut others = TreeMap::new();
    for (_, run) in files.iter().flat_map(TestFile::runs) {
        let Some(source) = run.module.as_ref().and_then(|it| it.source.clone()) else { continue };
        let load = || other_module(session, &source, &options.flags);
        others.entry(source.clone()).or_insert_with(load);
    }
    Ok(Suite { files, main, others, warnings })
}

/// The problems of the test files of a root module, with their texts, for `validate`.
pub fn problems(session: &Session, directory: &Path) -> (Vec<Diagnostic>, Sources) {
    let files = read(session, directory);
    let sources = files.iter().map(|it| it.source.clone()).collect();
    let problems = files.into_iter().flat_map(|it| it.problems).collect();
    (problems, Sources { files: sources })
}

/// Adds the providers that the modules of test files need. A module that cannot be loaded is reported by `test`.
pub fn add_requirements(
    session: &Session,
    directory: &Path,
    requirements: &mut TreeMap<ProviderSource, VersionConstraint>,
) {
    let files = read(session, directory);
    let runs = files.iter().flat_map(TestFile::runs);
    let sources = runs.filter_map(|(_, run)| run.module.as_ref()?.source.clone());
    let sources: TreeSet<Str> = sources.collect();
    for source in sources {
        let Ok(project) = tested_module(session, &source) else { continue };
        for (provider, constraint) in session.requirements(&project, None) {
            let all = requirements.entry(provider).or_insert_with(VersionConstraint::any);
            *all = all.clone().and(&constraint);
        }
    }
}

/// Reads the test files in the working directory and in the test directory, sorted by path.
pub(crate) fn read(session: &Session, directory: &Path) -> Vec<TestFile> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let here = Path::new(".");
    let directories = if directory == here { vec![here] } else { vec![here, directory] };
    for directory in directories {
        // A test directory that does not exist has no files.
        let entries = session.system.list_directory(directory).unwrap_or_default();
        let names = entries.iter().filter(|it| !it.is_directory).map(|it| it.name.as_str());
        let names = test_file::test_files_among(names);
        paths.extend(names.into_iter().map(|name| match directory == here {
            true => PathBuf::from(name),
            false => directory.join(name),
        }));
    }
    sorted::sort(&mut paths);
    let file = |path: &PathBuf| {
        let shown = path.display().to_string();
        match session.system.read_file(path) {
            Ok(bytes) => test_file::read(&shown, &bytes),
            Err(error) => {
                let detail = format!("The test file {shown} cannot be read: {error}.");
                let mut file = test_file::read(&shown, b"");
                file.problems.push(Diagnostic::new(Summary::UNREADABLE_TEST_FILE, detail));
                file
            }
        }
    };
    paths.iter().map(file).collect()
}

fn refuse_broken(files: &[TestFile]) -> Result<(), Failure> {
    let problems: Vec<Diagnostic> = files.iter().flat_map(|it| it.problems.clone()).collect();
    if !problems.iter().any(Diagnostic::is_error) {
        return Ok(());
    }
    let sources = files.iter().map(|it| it.source.clone()).collect();
    Err(Failure::Diagnostics(problems, Sources { files: sources }))
}

/// The files that the filter names, and the warnings about names that are no files.
fn selected(all: Vec<TestFile>, filter: &[String]) -> (Vec<TestFile>, Vec<Diagnostic>) {
    if filter.is_empty() {
        return (all, Vec::new());
    }
    let mut warnings = Vec::new();
    for name in filter.iter().filter(|name| !all.iter().any(|it| *it.path == ***name)) {
        let detail = format!("The specified test file, {name}, could not be found.");
        warnings.push(Diagnostic::new(Summary::UNKNOWN_TEST_FILE, detail));
    }
    let files: Vec<TestFile> =
        all.into_iter().filter(|it| filter.iter().any(|name| *it.path == **name)).collect();
    if files.is_empty() {
        let detail = "-filter is being used but no tests were found. Make sure you're using a \
                      relative path to the current working directory.";
        warnings.push(Diagnostic::new(Summary::NO_TESTS, detail));
    }
    (files, warnings)
}

/// Loads the module in the working directory.
fn main_module(session: &Session, options: &TestOptions) -> Result<Tested, Failure> {
    let locks = session.locks()?;
    let locks = LockedVersions { locks: &locks, source: LockSource::Directory };
    let verified = verify(session, locks)?;
    let project = session.project()?;
    let setup = project.setup_problems();
    if setup.iter().any(Diagnostic::is_error) {
        return Err(Failure::Diagnostics(setup, project.program().sources));
    }
    let loaded = session.finish(project, None, &options.flags, locks)?;
    let mut tested = checked(session, loaded);
    tested.problems.splice(0..0, verified);
    Ok(tested)
}

/// A loaded module, or the diagnostic for the runs that need it.
type Loading = Result<Arc<Tested>, Box<Diagnostic>>;

/// Loads the module of a run that is not for the module under test.
///
/// # Errors
/// The diagnostic for the runs that need the module.
fn other_module(session: &Session, source: &Str, flags: &[VarFlag]) -> Loading {
    let failed = |failure: Failure| {
        let Failure::Diagnostics(found, _) = failure;
        let first = found.into_iter().find(Diagnostic::is_error);
        Box::new(
            first.unwrap_or_else(|| not_loaded(format!("The module {source:?} cannot be loaded."))),
        )
    };
    let project = tested_module(session, source)?;
    let locks = session.locks().map_err(failed)?;
    let locks = LockedVersions { locks: &locks, source: LockSource::Directory };
    let loaded = session.finish(project, None, flags, locks).map_err(failed)?;
    Ok(Arc::new(checked(session, loaded)))
}

fn not_loaded(reason: String) -> Diagnostic {
    Diagnostic::new(Summary::TEST_MODULE_NOT_LOADED, reason)
}

/// Reads the files of the module of a run, and of the modules that it calls.
pub(crate) fn tested_module(
    session: &Session,
    source: &Str,
) -> Result<UnsetProject, Box<Diagnostic>> {
    let directory = match is_local_source(source) {
        true => db::system::normalize(Path::new(&**source)).to_string_lossy().into_owned(),
        false => installed_directory(session, source)?,
    };
    let manifest = session.installed_modules().unwrap_or_default();
    module_project(session, &directory, manifest).map_err(|error| {
        let reason = format!("The directory of the module {source:?} cannot be read: {error}.");
        Box::new(not_loaded(reason))
    })
}

/// The directory in which `init` installed a module that only tests use.
fn installed_directory(session: &Session, source: &Str) -> Result<String, Box<Diagnostic>> {
    let wanted = ModuleSource::parse(source).map_err(|_| {
        Box::new(not_loaded(format!("The source {source:?} is not the address of a module.")))
    })?;
    let manifest = session.read_manifest().unwrap_or_default();
    let of_tests = manifest.modules.into_iter().filter(|it| it.0.starts_with(KEY_OF_TESTS));
    let is_wanted =
        |it: &str| ModuleSource::parse(it).is_ok_and(|it| it.to_string() == wanted.to_string());
    let mut found = of_tests.filter(|(_, it)| !it.dir.is_empty() && is_wanted(&it.source));
    found.next().map(|(_, it)| it.dir).ok_or_else(|| {
        let reason = format!(
            "The module {source:?} is not installed. Run \"mayfly init\" to install the modules \
             that test files use."
        );
        Box::new(not_loaded(reason))
    })
}

/// The beginning of the keys of modules that only tests use.
const KEY_OF_TESTS: &str = "test.";

/// The modules of the runs of all test files, for `init`.
pub(crate) fn tested_modules(session: &Session, directory: &Path) -> Vec<TestedModule> {
    let mut modules = Vec::new();
    for file in read(session, directory) {
        let path = file.path.split(".tftest.").next().unwrap_or_default();
        let path = path.split(".tofutest.").next().unwrap_or_default();
        let path = path.strip_prefix("./").unwrap_or(path).replace('/', ".");
        for (_, run) in file.runs() {
            let Some(module) = &run.module else { continue };
            let Some(source) = module.source.clone() else { continue };
            let version = module.version.clone();
            let (file, run) = (Arc::clone(&file.path), run.name.clone());
            let key = format!("{KEY_OF_TESTS}{path}.{run}");
            modules.push(TestedModule { key, source, version, file, run });
        }
    }
    modules
}

/// Analyses a loaded module.
fn checked(session: &Session, loaded: Loaded) -> Tested {
    let Loaded { project, executables, .. } = loaded;
    let project = ManuallyDrop::into_inner(project);
    let (mut problems, program) = project.checked();
    // Leak the database on purpose: freeing it piece by piece takes longer than the rest of the process.
    std::mem::forget(project);
    problems.retain(|it| it.severity() != Severity::Hint && it.id() != Rule::PossiblyEphemeral);
    let program = Arc::new(program);
    if !problems.iter().any(Diagnostic::is_error) {
        problems.extend(validate_provisioners(session, &executables, &program, |_| true));
    }
    let program = Arc::unwrap_or_clone(program);
    Tested { program, executables, problems }
}

impl Suite {
    /// The module that a run is for.
    pub(super) fn module(&self, source: Option<&Str>) -> Result<&Arc<Tested>, Box<Diagnostic>> {
        let Some(source) = source else { return Ok(&self.main) };
        let missing = || Diagnostic::new(Summary::TEST_MODULE_NOT_LOADED, "It was not loaded.");
        match self.others.get(source) {
            Some(Ok(tested)) => Ok(tested),
            Some(Err(found)) => Err(found.clone()),
            None => Err(Box::new(missing())),
        }
    }

    /// The masked texts of the variables files, for diagnostics.
    pub(super) fn variables_files(
        &self,
        session: &Session,
        options: &TestOptions,
    ) -> Vec<db::SourceText> {
        variables::test_file_sources(session, &options.flags, &options.directory)
    }
}
