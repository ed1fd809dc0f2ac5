//! The module part of `init`: downloads the packages of module calls, and reads their modules for further calls.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use addr::{Getter, ModulePackage, ModuleSource, VersionConstraint};
use db::{Diagnostic, Directory, Summary, system::normalize};
use hir::{
    diagnostics::at_item,
    module_calls::{SourcedCall, sourced_calls},
    workspace::{CallKey, InstalledModule, is_local_source, local_module_directory},
};
use packages::{
    FetchError, Git, Locks, ModuleEvent, ModuleInstallError, ModuleInstaller, ModuleLock,
    ModuleManifest, ModuleRequest, ModuleSelection, WantedModule, is_configuration,
    module_package_below,
};
use project::{Manifest, Project, UnsetProject};
use sorted::{TreeMap, TreeSet};
use values::Str;

use super::{
    InstalledModules, TestedModule, TestedProgram, locked_address, module_project, verify::listed,
    write_manifest,
};
use crate::{
    session::{self, Failure, Session},
    view::Notice,
};

/// The options of an installation of modules.
#[derive(Clone, Copy)]
pub(crate) struct ModuleOptions<'a> {
    /// True if the newest versions are selected.
    pub(crate) upgrade: bool,
    /// True if the lock file must not change.
    pub(crate) is_lockfile_readonly: bool,
    /// True if the start of the installation is shown, as one of several steps.
    pub(crate) is_announced: bool,
    /// The modules that only runs of test files need.
    pub(crate) tests: &'a [TestedModule],
}

/// Installs the modules that a configuration calls. Returns the configuration with all of its modules, and the
/// locks of the module packages.
///
/// # Errors
/// Diagnostics for packages that cannot be installed, and for a configuration that cannot be read. The installed
/// modules then stay unchanged.
pub(crate) fn install(
    session: &Session,
    options: ModuleOptions<'_>,
    locks: &Locks,
) -> Result<(UnsetProject, TreeMap<String, ModuleLock>), Failure> {
    let ModuleOptions { upgrade, is_lockfile_readonly: readonly, is_announced, tests } = options;
    let target = session.modules_dir();
    let git =
        Git { program: "git".into(), withheld: session.child_environment.withheld_from_git() };
    let network = session.network()?;
    let request = ModuleRequest { target: &target, locks, upgrade, readonly, git: &git, network };
    let mut installation = Installation {
        session,
        target: &target,
        before: session.read_manifest().unwrap_or_default(),
        others_modules: session.installed_modules().unwrap_or_default(),
        installer: ModuleInstaller::new(request),
        manifest: Manifest::new(),
        keys: TreeMap::new(),
        versions: TreeMap::new(),
        problems: Vec::new(),
        failed: TreeSet::new(),
        // Without an announcement, it counts as made.
        is_announced: !is_announced,
        upgrade,
        tests,
    };
    let mut project = installation.run()?;
    if let Some(failure) = session::broken(&project) {
        return Err(failure);
    }
    if session.runtime.block_on(installation.installer.settle()).map_err(unsettled)? {
        project = installation.run()?;
    }
    let program = project.program();
    if program.modules.len() > 1 {
        installation.announce();
    }
    let tested = installation.tested()?;
    let Installation { before, versions, .. } = &installation;
    let before = InstalledModules { manifest: before, versions };
    write_manifest(session, &program, &tested, &before, upgrade)?;
    session.runtime.block_on(installation.installer.remove_others());
    let locked = installation.installer.locks().clone();
    report_upgrades(session, locks, &locked);
    Ok((project, locked))
}

/// The module of a call that is not known to be installed.
struct PendingModule {
    source: ModuleSource,
    key: CallKey,
    /// The dotted path of the call.
    name: String,
    /// The version constraints.
    versions: Vec<Str>,
}

/// The package that a call gets.
enum Choice {
    /// A package that this program fetches, unless it is in place.
    Package(ModulePackage),
    /// A package of a registry that another tool has installed and that is not locked yet.
    OfOthers(InstalledModule),
}

struct Installation<'a> {
    session: &'a Session,
    target: &'a Path,
    /// The manifest before this run. Other tools may have written it.
    before: ModuleManifest,
    others_modules: Manifest,
    installer: ModuleInstaller<'a>,
    manifest: Manifest,
    /// The dotted path of calls through which each directory was first reached.
    keys: TreeMap<Arc<str>, String>,
    /// The versions of modules of registries that this program installed, by directory.
    versions: TreeMap<Arc<str>, Str>,
    problems: Vec<Diagnostic>,
    /// The packages that could not be installed. Each one is reported only once.
    failed: TreeSet<String>,
    is_announced: bool,
    upgrade: bool,
    tests: &'a [TestedModule],
}

/// A step that a call of a module needs.
enum Step {
    /// The call cannot be followed.
    Refuse(Diagnostic),
    /// The package of the call is not known to be installed.
    Install { call: SourcedCall, module: PendingModule },
}

impl Installation<'_> {
    /// Reads the configuration and installs the modules that it calls, until every called module is installed.
    fn run(&mut self) -> Result<UnsetProject, Failure> {
        self.manifest = Manifest::new();
        self.keys = TreeMap::new();
        loop {
            let project = self.session.project_with(self.manifest.clone())?;
            let known = self.known();
            let mut steps = Vec::new();
            for directory in hir::reachable(project.db(), project.workspace()) {
                for call in sourced_calls(project.db(), project.workspace(), directory) {
                    steps.extend(self.follow(&project, directory, call));
                }
            }
            self.take(&project, steps);
            for module in self.tests {
                self.follow_tested(&project, module)?;
            }
            if !self.problems.is_empty() {
                let problems = std::mem::take(&mut self.problems);
                return Err(Failure::Diagnostics(problems, project.program().sources));
            }
            if self.known() == known {
                return Ok(project);
            }
        }
    }

    /// Installs the module of a test run, and follows its calls once it is in place.
    fn follow_tested(&mut self, main: &Project, module: &TestedModule) -> Result<(), Failure> {
        let call = module.call();
        let dir = match self.directory_of(module) {
            Some(dir) => dir,
            None => {
                // The test reports an invalid source address.
                let Ok(source) = ModuleSource::parse(&module.source) else { return Ok(()) };
                let address = source.package.to_string();
                if self.failed.contains(&address) {
                    return Ok(());
                }
                let (key, name) = (call.clone(), module.key.clone());
                let versions = module.version.iter().cloned().collect();
                let pending = PendingModule { source, key, name, versions };
                match self.install_one(&pending) {
                    Ok(dir) => dir,
                    Err(problem) => {
                        let detail = format!(
                            "{}\n\nThe module is needed by the run {:?} of {}.",
                            problem.detail, module.run, module.file
                        );
                        self.failed.insert(address);
                        self.problems.push(Diagnostic { detail, ..*problem });
                        return Ok(());
                    }
                }
            }
        };
        if *dir == **main.root().path(main.db()) {
            return Ok(());
        }
        self.keys.entry(dir.clone()).or_insert_with(|| module.key.clone());
        // A directory that does not exist is reported by the test.
        let Ok(project) = module_project(self.session, &dir, self.manifest.clone()) else {
            return Ok(());
        };
        let mut steps = Vec::new();
        for directory in hir::reachable(project.db(), project.workspace()) {
            for call in sourced_calls(project.db(), project.workspace(), directory) {
                steps.extend(self.follow(&project, directory, call));
            }
        }
        self.take(&project, steps);
        Ok(())
    }

    /// The directory of the module of a test run. `None` if its package is not installed yet.
    fn directory_of(&self, module: &TestedModule) -> Option<Arc<str>> {
        if is_local_source(&module.source) {
            return Some(local_module_directory(".", &module.source));
        }
        let known = self.manifest.get(&module.call())?;
        known.iter().find(|it| it.is_of(&module.source)).map(|it| it.dir.clone())
    }

    /// Installs the package of a single module.
    fn install_one(&mut self, module: &PendingModule) -> Result<Arc<str>, Box<Diagnostic>> {
        let choice = self.choose(&[module]).into_iter().next();
        let choice =
            choice.unwrap_or_else(|| Ok(Choice::Package(module.source.package.clone())))?;
        let wanted = wanted(module, &choice);
        let mut errors = self.fetch(wanted.as_slice());
        self.finish(module, &choice, &mut errors)
    }

    /// The modules of test runs with the modules that they call, for the manifest.
    fn tested(&self) -> Result<Vec<TestedProgram>, Failure> {
        let mut programs = Vec::new();
        for module in self.tests {
            let Some(dir) = self.directory_of(module) else { continue };
            let project = module_project(self.session, &dir, self.manifest.clone());
            let Ok(project) = project else { continue };
            let (key, source) = (module.key.clone(), module.source.clone());
            programs.push(TestedProgram { key, source, program: project.program() });
        }
        Ok(programs)
    }

    fn known(&self) -> usize {
        self.manifest.values().map(Vec::len).sum()
    }

    /// The version that another tool recorded for a directory.
    fn version_in(&self, dir: &str) -> Option<&str> {
        let record = self.before.modules.values().find(|it| *it.dir == *dir);
        record.and_then(|it| it.version.as_deref())
    }

    /// Names a call. Returns the step that it needs: `None` for local modules and installed packages.
    fn follow(&mut self, project: &Project, caller: Directory, call: SourcedCall) -> Option<Step> {
        let path = caller.path(project.db());
        let key = CallKey { caller: path.clone(), name: call.name.clone() };
        let name = match self.keys.get(path) {
            Some(above) => format!("{above}.{}", call.name),
            None => call.name.to_string(),
        };
        if is_local_source(&call.source) {
            let called = local_module_directory(path, &call.source);
            if *called != **project.root().path(project.db()) {
                self.keys.entry(called).or_insert(name);
            }
            let problem = self.escaping(path, &call.source)?;
            return Some(Step::Refuse(at_item(project.db(), call.place, problem)));
        }
        let known = self.manifest.get(&key).map(Vec::as_slice).unwrap_or_default();
        if known.iter().any(|it| it.is_of(&call.source)) {
            return None;
        }
        // The analysis reports an invalid source address.
        let source = ModuleSource::parse(&call.source).ok()?;
        let versions = call.versions.clone();
        let module = PendingModule { source, key, name, versions };
        let has_failed = self.failed.contains(&module.source.package.to_string());
        (!has_failed).then_some(Step::Install { call, module })
    }

    /// Installs the packages of all calls of one round at once. Problems and manifest get the order of the calls.
    fn take(&mut self, project: &Project, steps: Vec<Step>) {
        let modules: Vec<&PendingModule> = steps.iter().filter_map(Step::module).collect();
        let choices = self.choose(&modules);
        let chosen = modules.iter().zip(&choices);
        let wanted: Vec<WantedModule> =
            chosen.filter_map(|(module, choice)| wanted(module, choice.as_ref().ok()?)).collect();
        let mut errors = self.fetch(&wanted);
        let mut choices = choices.into_iter();
        for step in steps {
            let (call, module) = match step {
                Step::Refuse(problem) => {
                    self.problems.push(problem);
                    continue;
                }
                Step::Install { call, module } => (call, module),
            };
            let Some(choice) = choices.next() else { continue };
            let address = module.source.package.to_string();
            if self.failed.contains(&address) {
                continue;
            }
            match choice.and_then(|it| self.finish(&module, &it, &mut errors)) {
                Ok(dir) => drop(self.keys.entry(dir).or_insert(module.name)),
                Err(problem) => {
                    self.failed.insert(address);
                    self.problems.push(at_item(project.db(), call.place, *problem));
                }
            }
        }
    }

    /// Chooses the packages of modules. The versions of all modules of registries are selected at once.
    fn choose(&mut self, modules: &[&PendingModule]) -> Vec<Result<Choice, Box<Diagnostic>>> {
        let of_others: Vec<Option<InstalledModule>> =
            modules.iter().map(|it| self.unlocked_of_others(it).cloned()).collect();
        let pairs = modules.iter().zip(&of_others);
        let asked = pairs
            .filter(|(it, of_others)| is_of_registry(&it.source.package) && of_others.is_none());
        let asked: Vec<ModuleSelection> = asked.map(|(it, _)| it.selection()).collect();
        let selected = self.session.runtime.block_on(self.installer.select(&asked));
        let mut selected = selected.into_iter();
        let choose = |(module, of_others): (&&PendingModule, Option<InstalledModule>)| {
            let package = &module.source.package;
            match (&package.getter, of_others) {
                (Getter::Registry, Some(installed)) => Ok(Choice::OfOthers(installed)),
                (Getter::Registry, None) => match selected.next() {
                    Some(Ok(version)) => Ok(Choice::Package(package.with_version(&version))),
                    Some(Err(why)) => Err(Box::new(unselected(package, &why))),
                    None => Ok(Choice::Package(package.clone())),
                },
                _ => Ok(Choice::Package(package.clone())),
            }
        };
        modules.iter().zip(of_others).map(choose).collect()
    }

    /// The module of a registry that another tool installed for the same call, if nothing of it is locked yet.
    fn unlocked_of_others(&self, module: &PendingModule) -> Option<&InstalledModule> {
        let is_kept = is_of_registry(&module.source.package)
            && !self.upgrade
            && self.installer.locked_version(&module.selection()).is_none();
        let found = self.installed_by_others(&module.source, &module.key).filter(|_| is_kept)?;
        let version = addr::Version::parse(found.version.as_ref()?).ok()?;
        module.selection().constraint.allows(&version).then_some(found)
    }

    /// Enters an installed module into the manifest. Returns its directory.
    fn finish(
        &mut self,
        module: &PendingModule,
        choice: &Choice,
        errors: &mut TreeMap<String, ModuleInstallError>,
    ) -> Result<Arc<str>, Box<Diagnostic>> {
        let dir = match choice {
            Choice::OfOthers(installed) => self.adopted(&module.source, installed)?,
            Choice::Package(package) => {
                let error = errors.remove(&package.to_string());
                let dir = self.installed(module, package, error)?;
                let version = package.query.get("version").filter(|_| is_of_registry(package));
                self.versions.extend(version.map(|it| (dir.clone(), Str::from(it.as_str()))));
                dir
            }
        };
        let own = self.versions.get(&dir).cloned();
        let version = own.or_else(|| self.version_in(&dir).map(Str::from));
        let source = module.source.to_string().into();
        let installed = InstalledModule { source, version, dir: dir.clone() };
        self.manifest.entry(module.key.clone()).or_default().push(installed);
        Ok(dir)
    }

    /// Installs packages. Returns the errors by the address of the package.
    fn fetch(&mut self, wanted: &[WantedModule]) -> TreeMap<String, ModuleInstallError> {
        if wanted.is_empty() {
            return TreeMap::new();
        }
        self.announce();
        let session = self.session;
        let mut shown = |wanted: &WantedModule, event: ModuleEvent| {
            let again = matches!(event, ModuleEvent::Restoring);
            let WantedModule { package, name } = wanted;
            let package = match package.query.get("version").filter(|_| is_of_registry(package)) {
                Some(version) => format!("{} {version}", package.place()),
                None => package.to_string(),
            };
            session.view.notice(&Notice::DownloadingModule {
                package: &package,
                call: name,
                again,
            });
        };
        session.runtime.block_on(self.installer.install(wanted, &mut shown))
    }

    /// Reports a local source that leads out of the module package of its caller.
    fn escaping(&self, caller: &str, source: &str) -> Option<Diagnostic> {
        let package = module_package_below(self.target, Path::new(caller))?;
        let called = local_module_directory(caller, source);
        let inside = Path::new(&*called).strip_prefix(&package);
        if inside.is_ok_and(|it| it.iter().all(|part| part != ".git" && part != ".terraform")) {
            return None;
        }
        let detail = format!(
            "The source \"{source}\" refers to a directory outside of the package that contains \
             this module. Local sources of a module in a package must stay within that package, \
             because only its own files are installed."
        );
        Some(Diagnostic::new(Summary::MODULE_ESCAPES, detail))
    }

    fn installed(
        &mut self,
        module: &PendingModule,
        package: &ModulePackage,
        error: Option<ModuleInstallError>,
    ) -> Result<Arc<str>, Box<Diagnostic>> {
        let PendingModule { source, key, .. } = module;
        if let Some(error) = error {
            let is_unsupported =
                matches!(error, ModuleInstallError::Fetch(FetchError::Unsupported(_)));
            return match self.installed_by_others(source, key).cloned().filter(|_| is_unsupported) {
                Some(installed) => self.adopted(source, &installed),
                None => Err(Box::new(failed(source, &error))),
            };
        }
        let address = package.to_string();
        let place = self.installer.placed().get(&address).map_or(self.target, PathBuf::as_path);
        let lock = self.installer.locks().get(&address);
        let subdirectory = lock.map(|it| it.subdirectory.as_str()).unwrap_or_default();
        let directory = normalize(&place.join(subdirectory).join(&source.subdir));
        let named = [subdirectory, source.subdir.as_str()];
        let named = named.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("/");
        let place = ModuleSource { subdir: named, ..source.clone() };
        if let Some(problem) = self.no_module(&place, &directory) {
            return Err(Box::new(problem));
        }
        Ok(Arc::from(directory.to_string_lossy().as_ref()))
    }

    /// The error for a package directory that exists but contains no module, for example in a package with many
    /// modules.
    fn no_module(&self, source: &ModuleSource, directory: &Path) -> Option<Diagnostic> {
        let ModuleSource { package, subdir } = source;
        let Ok(entries) = self.session.system.list_directory(directory) else {
            let detail = format!("The package {package} has no directory \"{subdir}\".");
            return Some(Diagnostic::new(Summary::UNREADABLE_SUBDIRECTORY, detail));
        };
        if entries.iter().any(|it| is_configuration(&it.name)) {
            return None;
        }
        let holds_module = |name: &String| {
            let below = self.session.system.list_directory(&directory.join(name));
            below.is_ok_and(|it| it.iter().any(|it| is_configuration(&it.name)))
        };
        let names = entries.into_iter().map(|it| it.name);
        let modules: Vec<String> = names.filter(holds_module).collect();
        let (place, prefix) = match subdir.as_str() {
            "" => ("at its top".to_owned(), String::new()),
            subdir => (format!("in \"{subdir}\""), format!("{subdir}/")),
        };
        let way_out = match modules.first() {
            None => "Add the directory of the module to the source address, after a double slash."
                .to_owned(),
            Some(first) => format!(
                "There are modules in {}. Select one by adding its directory to the source \
                 address, after a double slash: \"…//{prefix}{first}\".",
                listed(&modules)
            ),
        };
        let detail = format!("The package {package} holds no .tf file {place}. {way_out}");
        Some(Diagnostic::new(Summary::UNREADABLE_LOCAL_MODULE, detail))
    }

    /// The module that another tool installed for the same call, if it is still in place.
    fn installed_by_others(
        &self,
        source: &ModuleSource,
        key: &CallKey,
    ) -> Option<&InstalledModule> {
        let installed =
            self.others_modules.get(key)?.iter().find(|it| it.is_of(&source.to_string()))?;
        let dir = Path::new(&*installed.dir);
        let is_there = normalize(dir).as_os_str() == dir.as_os_str()
            && module_package_below(self.target, dir).is_some()
            && self.session.system.is_directory(dir);
        is_there.then_some(installed)
    }

    /// Locks a package that another tool installed and that this program cannot download.
    fn adopted(
        &mut self,
        source: &ModuleSource,
        installed: &InstalledModule,
    ) -> Result<Arc<str>, Box<Diagnostic>> {
        let dir = installed.dir.clone();
        let package = module_package_below(self.target, Path::new(&*dir));
        let package = package.unwrap_or_else(|| self.target.to_owned());
        let version = self.version_in(&dir).map(str::to_owned);
        // The other tool may use another default registry.
        let origin = ModuleSource::parse(&installed.source).unwrap_or_else(|_| source.clone());
        let address = locked_address(&origin.package, version.as_deref());
        let module = Path::new(&*dir).strip_prefix(&package).unwrap_or(Path::new(""));
        // The registry names the directory in which that of the source address is.
        let module = module.to_string_lossy();
        let subdirectory = module.strip_suffix(source.subdir.as_str()).unwrap_or_default();
        let subdirectory = subdirectory.trim_end_matches('/');
        let adopted = self.installer.adopt(&address, &package, subdirectory);
        let adopted = self.session.runtime.block_on(adopted);
        adopted.map_err(|error| Box::new(failed(source, &error)))?;
        Ok(dir)
    }

    fn announce(&mut self) {
        if !std::mem::replace(&mut self.is_announced, true) {
            self.session.view.notice(&Notice::InitializingModules { upgrade: self.upgrade });
        }
    }
}

impl Step {
    fn module(&self) -> Option<&PendingModule> {
        match self {
            Step::Refuse(_) => None,
            Step::Install { module, .. } => Some(module),
        }
    }
}

impl PendingModule {
    /// The selection of a version. An invalid constraint selects any; the analysis reports it.
    fn selection(&self) -> ModuleSelection {
        let constraints = self.versions.iter().filter_map(|it| VersionConstraint::parse(it).ok());
        let constraint = constraints.fold(VersionConstraint::any(), |all, it| all.and(&it));
        ModuleSelection { module: self.source.package.clone(), constraint }
    }
}

/// The package to be fetched. `None` for one that another tool installed.
fn wanted(module: &PendingModule, choice: &Choice) -> Option<WantedModule> {
    match choice {
        Choice::Package(package) => {
            Some(WantedModule { package: package.clone(), name: module.name.clone() })
        }
        Choice::OfOthers(_) => None,
    }
}

fn is_of_registry(package: &ModulePackage) -> bool {
    package.getter == Getter::Registry
}

fn unselected(package: &ModulePackage, why: &str) -> Diagnostic {
    let detail = format!("No version of the module {package} can be selected: {why}.");
    Diagnostic::new(Summary::MODULE_VERSION, detail)
}

fn failed(source: &ModuleSource, error: &ModuleInstallError) -> Diagnostic {
    let package = &source.package;
    let (summary, detail) = match error {
        ModuleInstallError::Fetch(FetchError::Unsupported(what)) => (
            Summary::MODULE_UNSUPPORTED,
            format!(
                "This version of Mayfly does not download modules {what}, and {package} was not \
                 installed by another tool either. Install it here with \"tofu init\" (or \
                 \"terraform init\"), and Mayfly uses the installed package. Or use the address of \
                 its repository: \"git::https://…\"."
            ),
        ),
        ModuleInstallError::Fetch(_) | ModuleInstallError::Package(_) => {
            let why = error.to_string();
            let why = why.trim_end_matches('.');
            let hint = match why.contains("not our ref") {
                true => {
                    " The locked revision no longer exists: \"mayfly init -upgrade\" selects the \
                     current one."
                }
                false => "",
            };
            (
                Summary::MODULE_DOWNLOAD,
                format!("Could not download the source code from \"{package}\": {why}.{hint}"),
            )
        }
        ModuleInstallError::NotLocked => (
            Summary::MODULE_NOT_LOCKED,
            format!(
                "The lock file has no {package}, and it is read-only. Run \"mayfly init\" without \
                 \"-lockfile=readonly\" to download the package and lock it."
            ),
        ),
        ModuleInstallError::Changed { .. } => (
            Summary::MODULE_CHANGED,
            format!(
                "{package} does not match the lock file: {error}. A tag may have been moved, or \
                 the package may have been changed. If this change is expected, \"mayfly init \
                 -upgrade\" locks the current package."
            ),
        ),
    };
    Diagnostic::new(summary, detail)
}

fn unsettled(error: ModuleInstallError) -> Diagnostic {
    let detail = format!("{error}. Check the permissions of the directory that it is in.");
    Diagnostic::new(Summary::MODULE_INSTALL, detail)
}

/// Lists the packages whose locks changed.
fn report_upgrades(session: &Session, before: &Locks, after: &TreeMap<String, ModuleLock>) {
    let short = |lock: &ModuleLock| {
        let shown = lock.revision.as_deref().or(lock.hashes.first().map(packages::Hash::as_str));
        shown.unwrap_or_default().chars().take(12).collect::<String>()
    };
    for (address, lock) in after {
        let is_other =
            |old: &&ModuleLock| (&old.revision, &old.hashes) != (&lock.revision, &lock.hashes);
        let Some(old) = before.modules.get(address).filter(is_other) else { continue };
        let (before, after) = (&*short(old), &*short(lock));
        session.view.notice(&Notice::ModuleUpgraded { address, before, after });
    }
}
