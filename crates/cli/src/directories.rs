//! The directory in which a command is called, and the one in which it works. They differ if `-chdir` is given.
//!
//! | path | relative to |
//! |---|---|
//! | `path.cwd`, `TF_CLI_CONFIG_FILE`, `TF_LOG_PATH` | where the command is called |
//! | everything else: `abspath`, files, plan files, `-var-file`, `TF_DATA_DIR`, providers | the working directory |

use std::{
    env, fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// The directories of a command.
pub(crate) struct Directories {
    pub(crate) called_in: PathBuf,
    pub(crate) works_in: PathBuf,
}

/// Changes the working directory of the process to that of `-chdir`.
///
/// # Errors
/// A sentence for the user if the directory cannot be entered.
pub(crate) fn enter(chdir: Option<&Path>) -> Result<Directories, String> {
    let unknown =
        |error: io::Error| format!("Failed to determine current working directory: {error}");
    let called_in = working_directory().map_err(unknown)?;
    let Some(chdir) = chdir else {
        return Ok(Directories { works_in: called_in.clone(), called_in });
    };
    env::set_current_dir(chdir).map_err(|error| {
        let path = chdir.display();
        format!("Error handling -chdir option: chdir {path}: {}", cause(&error))
    })?;
    Ok(Directories { called_in, works_in: working_directory().map_err(unknown)? })
}

/// The working directory under the name that the user used: a shell that followed a symbolic link sets it in
/// `PWD`.
fn working_directory() -> io::Result<PathBuf> {
    let actual = env::current_dir()?;
    let named = env::var_os("PWD").map(PathBuf::from).filter(|it| it.is_absolute());
    Ok(named.filter(|it| is_same_directory(it, &actual)).unwrap_or(actual))
}

fn is_same_directory(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).map(|it| (it.dev(), it.ino())).ok();
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

/// The reason of an I/O error. The common reasons are worded as in OpenTofu.
fn cause(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        io::ErrorKind::NotADirectory => "not a directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}
