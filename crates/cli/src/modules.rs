//! Module calls as `init` lists them and plan files keep them.

use std::{collections::BTreeMap, path::Path};

use db::Diagnostic;
use hir::{ModulePath, Program, workspace::is_local_source};
use packages::{ModuleManifest, ModuleRecord};

use crate::session::{Failure, Session};

/// Paths double with each module that is called twice by one that is called twice.
const MOST_PATHS: usize = 100_000;

/// Every path of module calls.
///
/// # Errors
/// A diagnostic if there are so many that listing them would not end.
pub(crate) fn paths(program: &Program) -> Result<Vec<ModulePath<'_>>, Failure> {
    let paths: Vec<ModulePath<'_>> = program.module_paths().take(MOST_PATHS + 1).collect();
    match paths.len() > MOST_PATHS {
        false => Ok(paths),
        true => {
            let detail = format!(
                "More than {MOST_PATHS} paths of module calls lead from the root module to others. Use count or for_each, or call shared modules from \
                 fewer places."
            );
            Err(Diagnostic::error("too-many-modules", "Too many module calls", detail).into())
        }
    }
}

/// Says which modules are called, and writes down where they lie, as other tools expect it.
pub(crate) fn init(session: &Session, program: &Program, upgrade: bool) -> Result<(), Failure> {
    let paths = paths(program)?;
    if paths.len() > 1 {
        let doing = if upgrade { "Upgrading" } else { "Initializing" };
        session.ui.line(&format!("{doing} modules..."));
    }
    for path in &paths[1..] {
        session.ui.line(&format!("- {} in {}", path.key, path.module.dir));
    }
    let file = session.module_manifest_path();
    if paths.len() == 1 && !file.exists() {
        return Ok(());
    }
    let text = manifest(&paths, &session.read_manifest().unwrap_or_default()).to_json();
    let written = match file.parent() {
        Some(directory) => std::fs::create_dir_all(directory),
        None => Ok(()),
    };
    // Others may work in this directory, too.
    written.and_then(|()| std::fs::write(&file, text)).map_err(|error| {
        let detail = format!(
            "{} cannot be written: {error}. Check its permissions, or let TF_DATA_DIR name another directory for what \"mayfly init\" keeps.",
            file.display()
        );
        Diagnostic::error("module-manifest", "Failed to write module manifest", detail).into()
    })
}

/// What is known of installed modules (their version) stays.
fn manifest(paths: &[ModulePath<'_>], before: &ModuleManifest) -> ModuleManifest {
    let record = |path: &ModulePath<'_>| match before.modules.get(&path.key) {
        Some(known) if !is_local_source(path.source) && !path.key.is_empty() => known.clone(),
        _ => ModuleRecord {
            source: as_others_write(path.source),
            version: None,
            dir: path.module.dir.to_string(),
        },
    };
    let modules: BTreeMap<_, _> =
        paths.iter().map(|path| (path.key.clone(), record(path))).collect();
    ModuleManifest { modules }
}

/// A local source without needless steps; other tools compare it with what they make of the configuration's.
fn as_others_write(source: &str) -> String {
    if !is_local_source(source) {
        return source.to_owned();
    }
    let path = db::system::normalize(Path::new(source));
    match path.starts_with("..") {
        true => path.display().to_string(),
        false => format!("./{}", path.display()),
    }
}
