//! Reads the manifest of installed modules.

use std::{io::ErrorKind, path::PathBuf, sync::Arc};

use db::{Diagnostic, Summary, system::normalize};
use hir::workspace::{CallKey, InstalledModule, is_local_source};
use packages::ModuleManifest;
use project::Manifest;
use sorted::TreeMap;
use values::Str;

use super::{Failure, Session};

impl Session {
    /// The directory of installed modules, in normalized form, because paths of modules are compared with it.
    pub fn modules_dir(&self) -> PathBuf {
        normalize(&self.data_dir().join("modules"))
    }

    /// The path of the module manifest.
    pub fn module_manifest_path(&self) -> PathBuf {
        self.modules_dir().join("modules.json")
    }

    /// Reads the module manifest. Empty if there is none.
    pub fn read_manifest(&self) -> Result<ModuleManifest, Failure> {
        let path = self.module_manifest_path();
        let unreadable = |problem: String| {
            let detail = format!("{} {problem}", path.display());
            Diagnostic::new(Summary::MODULE_MANIFEST_READ, detail).into()
        };
        let bytes = match self.system.read_file(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(ModuleManifest::default());
            }
            read => read.map_err(|error| {
                unreadable(format!("cannot be read: {error}. Correct its permissions."))
            })?,
        };
        ModuleManifest::parse(&bytes).map_err(|error| {
            unreadable(format!("is damaged: {error}. Run \"mayfly init\" to write it again."))
        })
    }

    /// The installed modules by caller. Modules with a local source are left out, because their source is their
    /// directory.
    pub fn installed_modules(&self) -> Result<Manifest, Failure> {
        let manifest = self.read_manifest()?;
        let modules = manifest.modules.iter();
        let recorded = modules.map(|(key, it)| {
            let version = it.version.as_deref();
            (&**key, RecordedModule { source: &it.source, dir: &it.dir, version })
        });
        Ok(modules_by_call(&recorded.collect()))
    }
}

/// A module as a manifest records it.
pub(crate) struct RecordedModule<'a> {
    pub(crate) source: &'a str,
    pub(crate) dir: &'a str,
    pub(crate) version: Option<&'a str>,
}

/// The installed modules, by calling directory and call name. `modules` has the modules by their keys in the
/// manifest.
pub(crate) fn modules_by_call(modules: &TreeMap<&str, RecordedModule<'_>>) -> Manifest {
    let dir_of = |key: &str| modules.get(key).map(|it| it.dir);
    let mut calls = Manifest::new();
    for (key, RecordedModule { source, dir, version }) in modules {
        // Other tools leave the directory empty for a module that they failed to install.
        if dir.is_empty() || is_local_source(source) {
            continue;
        }
        let (parent, name) = key.rsplit_once('.').unwrap_or(("", key));
        let caller = if parent.is_empty() { Some(".") } else { dir_of(parent) };
        if let (Some(caller), false) = (caller, name.is_empty()) {
            let (source, version) = (Str::from(*source), version.map(Str::from));
            let installed = InstalledModule { source, version, dir: Arc::from(*dir) };
            let known = calls
                .entry(CallKey { caller: Arc::from(caller), name: Str::from(name) })
                .or_default();
            // Several paths of calls may lead to the same directory.
            if !known.contains(&installed) {
                known.push(installed);
            }
        }
    }
    calls
}
