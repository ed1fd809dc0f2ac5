//! The module calls as `init` lists them and as plan files contain them, and their packages.

pub(crate) mod copy;
pub(crate) mod install;
pub mod verify;
pub mod writes;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use addr::{Getter, ModulePackage, ModuleSource};
use db::{Diagnostic, Summary, system::normalize};
use hir::{
    ModulePath, Program,
    item::Item,
    module_calls::declared_calls,
    workspace::{CallKey, is_local_source},
};
use packages::{ModuleManifest, ModuleRecord};
use project::{Manifest, Project, UnsetProject};
use sorted::TreeMap;
use values::Str;

use crate::{
    session::{self, Failure, Session},
    view::Notice,
};

/// The maximum number of paths of module calls. Their number can grow exponentially with the call depth.
const MAX_PATHS: usize = 100_000;

/// All paths of module calls.
///
/// # Errors
/// A diagnostic if there are more than [`MAX_PATHS`].
pub fn paths(program: &Program) -> Result<Vec<ModulePath<'_>>, Failure> {
    let paths: Vec<ModulePath<'_>> = program.module_paths().take(MAX_PATHS + 1).collect();
    match paths.len() > MAX_PATHS {
        false => Ok(paths),
        true => {
            let detail = format!(
                "More than {MAX_PATHS} paths of module calls lead from the root module to others. \
                 Use count or for_each, or call shared modules from fewer places."
            );
            Err(Diagnostic::new(Summary::TOO_MANY_MODULES, detail).into())
        }
    }
}

/// Reads one module, without the modules that it calls and without the schemas of its providers.
///
/// # Errors
/// If the directory cannot be read, or if its files have errors.
pub fn single(session: &Session, directory: &Path) -> Result<SingleModule, Failure> {
    if session.system.list_directory(directory).is_err() {
        let shown = directory.display();
        let detail = format!("Module directory {shown} does not exist or cannot be read.");
        return Err(Diagnostic::new(Summary::UNREADABLE_DIRECTORY, detail).into());
    }
    session.look_into(directory);
    let project = session.project_with(Manifest::new())?;
    match session::unreadable(&project) {
        Some(failure) => Err(failure),
        None => {
            let calls = declared_calls(project.db(), project.root());
            Ok(SingleModule { program: project.program(), calls })
        }
    }
}

/// A module that was read alone.
pub struct SingleModule {
    /// The module as the root module of a program.
    pub program: Program,
    /// Its module calls, in the order of their names.
    pub calls: Vec<Arc<Item>>,
}

/// A module that only runs of a test file need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TestedModule {
    /// The key in the manifest: `test`, the path of the file without its ending, and the run, with dots between them.
    pub(crate) key: String,
    /// The source address.
    pub(crate) source: Str,
    /// The version constraint. `None` if there is none.
    pub(crate) version: Option<Str>,
    /// The path of the test file.
    pub(crate) file: Arc<str>,
    /// The name of the run.
    pub(crate) run: Str,
}

impl TestedModule {
    /// The call in the manifest by which the module is found. No call in a configuration has a name with dots.
    fn call(&self) -> CallKey {
        CallKey { caller: ".".into(), name: self.key.as_str().into() }
    }
}

/// The module of a test run with the modules that it calls.
struct TestedProgram {
    key: String,
    source: Str,
    program: Program,
}

/// Reads the files of a module in a directory, and of the modules that it calls.
pub(crate) fn module_project(
    session: &Session,
    directory: &str,
    manifest: Manifest,
) -> std::io::Result<UnsetProject> {
    let (system, base) = (Arc::clone(&session.system), PathBuf::from("."));
    let mut project = Project::load_module(system, base, directory, manifest)?;
    session.set_plain_values(&mut project);
    Ok(project)
}

/// Writes the module manifest in the format of other tools, and lists the new modules. With `upgrade`, all modules
/// are listed.
fn write_manifest(
    session: &Session,
    program: &Program,
    tested: &[TestedProgram],
    before: &InstalledModules<'_>,
    upgrade: bool,
) -> Result<(), Failure> {
    let mut paths = paths(program)?;
    for module in tested {
        paths.extend(self::paths(&module.program)?.into_iter().map(
            |path| match path.key.is_empty() {
                true => ModulePath { key: module.key.clone(), source: &module.source, ..path },
                false => ModulePath { key: format!("{}.{}", module.key, path.key), ..path },
            },
        ));
    }
    let manifest = manifest(&paths, before);
    let before = before.manifest;
    let is_news = |path: &&ModulePath<'_>| {
        upgrade || before.modules.get(&path.key) != manifest.modules.get(&path.key)
    };
    for path in paths[1..].iter().filter(is_news) {
        let (call, directory) = (&*path.key, &*path.module.dir);
        session.view.notice(&Notice::ModuleInstalled { call, directory });
    }
    let file = session.module_manifest_path();
    if paths.len() == 1 && !file.exists() {
        return Ok(());
    }
    let text = manifest.to_json();
    let written = match file.parent() {
        Some(directory) => std::fs::create_dir_all(directory),
        None => Ok(()),
    };
    // Written with the default file mode, because other users may work in this directory too.
    written.and_then(|()| std::fs::write(&file, text)).map_err(|error| {
        let detail = format!(
            "{} cannot be written: {error}. Check its permissions, or let TF_DATA_DIR name another \
             directory for what \"mayfly init\" keeps.",
            file.display()
        );
        Diagnostic::new(Summary::MODULE_MANIFEST_WRITE, detail).into()
    })
}

/// The facts for a new manifest.
struct InstalledModules<'a> {
    /// The old manifest.
    manifest: &'a ModuleManifest,
    /// The versions of modules of registries that this program installed, by directory.
    versions: &'a TreeMap<Arc<str>, Str>,
}

/// The new manifest. For modules that another tool installed, the old entry with its version and registry address
/// is kept.
fn manifest(paths: &[ModulePath<'_>], before: &InstalledModules<'_>) -> ModuleManifest {
    let record = |path: &ModulePath<'_>| {
        let dir = path.module.dir.to_string();
        if let Some(version) = before.versions.get(&*path.module.dir)
            && !is_local_source(path.source)
        {
            let (source, version) = (as_others_write(path.source), Some(version.to_string()));
            return ModuleRecord { source, version, dir };
        }
        let known = before.manifest.modules.get(&path.key).filter(|it| it.dir == dir);
        let known = known.filter(|it| !is_local_source(&it.source) && is_installed_by_others(it));
        match known {
            Some(known) => known.clone(),
            None => ModuleRecord { source: as_others_write(path.source), version: None, dir },
        }
    };
    let modules: TreeMap<_, _> =
        paths.iter().map(|path| (path.key.clone(), record(path))).collect();
    ModuleManifest { modules }
}

/// Returns true if a module is of a kind that only other tools install.
fn is_installed_by_others(record: &ModuleRecord) -> bool {
    let source = ModuleSource::parse(&record.source);
    source.is_ok_and(|it| matches!(it.package.getter, Getter::Registry | Getter::Other(_)))
}

/// A source in the normalized form of the manifest. Other tools compare it with the source in the configuration.
fn as_others_write(source: &str) -> String {
    if source.is_empty() {
        return String::new();
    }
    if !is_local_source(source) {
        return ModuleSource::parse(source).map_or_else(|_| source.to_owned(), |it| it.to_string());
    }
    let path = normalize(Path::new(source));
    match path.starts_with("..") {
        true => path.display().to_string(),
        false => format!("./{}", path.display()),
    }
}

/// A source that can be written to a file: unchanged, or with passwords and keys removed if it has any.
pub fn without_password(source: &str) -> String {
    let secrets = ["@", "sshkey=", "aws_access_key", "aws_access_token"];
    match ModuleSource::parse(source) {
        Ok(normal) if secrets.iter().any(|it| source.contains(it)) => normal.to_string(),
        _ => source.to_owned(),
    }
}

/// The address under which a package is locked. For a registry package it includes the selected version.
fn locked_address(package: &ModulePackage, version: Option<&str>) -> String {
    match version {
        Some(version) => match addr::Version::parse(version) {
            Ok(version) => package.with_version(&version).to_string(),
            Err(_) => format!("{package}?version={version}"),
        },
        None => package.to_string(),
    }
}
