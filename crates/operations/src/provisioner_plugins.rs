//! Provisioner plugins: executables named `terraform-provisioner-NAME` in the plugin directories of OpenTofu.
//!
//! Provisioners are not installed by `init`, and the lock file does not have them. `init -plugin-dir=DIR` records the
//! directories that are searched instead of the usual ones.

use std::{
    env, fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use db::{Diagnostic, Summary};
use hir::provisioner::ProvisionerSchemas;
use packages::{plugin_directories, plugin_files};
use sorted::TreeMap;

use crate::{
    schema_cache::{self, SchemaCache},
    session::{Failure, Session},
};

/// The file in the data directory that lists the directories of `-plugin-dir`, as OpenTofu writes it.
const CHOSEN: &str = "plugin_path";

/// The executables of the provisioner plugins, by the name of the provisioner.
///
/// # Errors
/// If the list of the directories is damaged.
pub(crate) fn find(session: &Session) -> Result<TreeMap<String, PathBuf>, Failure> {
    let chosen = chosen_directories(session)?;
    let directories = if chosen.is_empty() { usual_directories(session) } else { chosen };
    Ok(plugin_files("terraform-provisioner-", &directories))
}

/// All provisioner plugins, with the schemas that can be had without starting a process.
pub fn at_hand(session: &Session) -> ProvisionerSchemas {
    let cache = SchemaCache::new(session);
    let found = find(session).unwrap_or_default().into_iter();
    found.map(|(name, executable)| (name.into(), cache.provisioner(&executable))).collect()
}

/// Records the directories of `-plugin-dir`, which later commands search too. A single empty one removes the record.
///
/// # Errors
/// If the record cannot be written.
pub(crate) fn choose_directories(session: &Session, given: &[PathBuf]) -> Result<(), Failure> {
    let path = session.data_dir().join(CHOSEN);
    let written = match given {
        [] => return Ok(()),
        [only] if only.as_os_str().is_empty() => match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        },
        _ => encoded(given).and_then(|it| schema_cache::keep(&path, it.as_bytes())),
    };
    written.map_err(|error| {
        let detail = format!("{} cannot be written: {error}.", path.display());
        Diagnostic::new(Summary::PLUGIN_PATH, detail).into()
    })
}

fn encoded(directories: &[PathBuf]) -> io::Result<String> {
    Ok(serde_json::to_string_pretty(directories)?)
}

/// The directories of the last `init -plugin-dir`. Empty if there was none.
fn chosen_directories(session: &Session) -> Result<Vec<PathBuf>, Failure> {
    let path = session.data_dir().join(CHOSEN);
    let text = match fs::read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        read => read,
    };
    let directories = text.and_then(|it| Ok(serde_json::from_slice::<Vec<PathBuf>>(&it)?));
    let directories = directories.map_err(|error| {
        let detail = format!(
            "{} lists the directories of \"init -plugin-dir\", but cannot be read: {error}. Run \"mayfly init\" again \
             with -plugin-dir=DIR, or with -plugin-dir= for the usual directories.",
            path.display()
        );
        Diagnostic::new(Summary::PLUGIN_PATH, detail)
    })?;
    Ok(directories.iter().map(|it| session.at(it)).collect())
}

/// The directories that are searched without `-plugin-dir`, the preferred one first.
fn usual_directories(session: &Session) -> Vec<PathBuf> {
    let data = session.data_dir();
    let platform = session.platform().to_string();
    let variable = |name: &str| session.system.variable(name).filter(|it| !it.is_empty());
    let (home, data_home) = (variable("HOME"), variable("XDG_DATA_HOME"));
    let mut directories = vec![session.at(".")];
    directories.extend(env::current_exe().ok().and_then(|it| Some(it.parent()?.to_owned())));
    directories.push(session.at("terraform.d/plugins"));
    directories.push(data.join("plugins").join(&platform));
    let global =
        plugin_directories(home.as_deref().map(Path::new), data_home.as_deref().map(Path::new));
    directories.extend(global);
    directories
}
