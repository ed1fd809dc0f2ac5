//! The workspaces of the local backend and the paths of their states.

use std::io;
use std::path::{Path, PathBuf};

use crate::local::LocalPaths;
use crate::store::StoreError;

/// The workspace that always exists.
pub const DEFAULT_WORKSPACE: &str = "default";

/// The layout `terraform.tfstate` and `terraform.tfstate.d/NAME/terraform.tfstate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalWorkspaces {
    path: PathBuf,
    directory: PathBuf,
}

/// An error when a workspace is created, found or removed.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The name is not valid as a segment of a URL or a path.
    #[error(
        "The workspace name {0:?} is not allowed. The name must contain only URL safe characters, \
         and no path separators."
    )]
    InvalidName(String),
    #[error("Workspace {0:?} already exists")]
    Exists(String),
    #[error("Workspace {0:?} doesn't exist.")]
    Missing(String),
    #[error("cannot delete default state")]
    DefaultUndeletable,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LocalWorkspaces {
    /// Creates the layout from the `local` backend's settings `path` and `workspace_dir`, both relative to `root`.
    pub fn new(root: &Path, path: Option<&str>, workspace_dir: Option<&str>) -> Self {
        Self {
            path: root.join(path.unwrap_or("terraform.tfstate")),
            directory: root.join(workspace_dir.unwrap_or("terraform.tfstate.d")),
        }
    }

    /// The paths of a workspace's state. The workspace need not exist.
    ///
    /// # Errors
    /// Returns [`WorkspaceError::InvalidName`].
    pub fn paths(&self, workspace: &str) -> Result<LocalPaths, WorkspaceError> {
        if workspace == DEFAULT_WORKSPACE {
            return Ok(LocalPaths::at(&self.path));
        }
        Ok(LocalPaths::at(self.folder(workspace)?.join("terraform.tfstate")))
    }

    /// All workspaces: the default one, then the others by name.
    ///
    /// # Errors
    /// Returns [`WorkspaceError::Store`] if the directory of workspaces cannot be read.
    pub fn list(&self) -> Result<Vec<String>, WorkspaceError> {
        let mut names = Vec::new();
        match std::fs::read_dir(&self.directory) {
            Ok(entries) => {
                for entry in entries {
                    let entry = entry.map_err(StoreError::io("read", &self.directory))?;
                    if entry.path().is_dir() {
                        names.push(entry.file_name().to_string_lossy().into_owned());
                    }
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(StoreError::io("read", &self.directory)(error).into()),
        }
        names.sort();
        names.insert(0, DEFAULT_WORKSPACE.to_owned());
        Ok(names)
    }

    /// Returns true if a workspace exists.
    ///
    /// # Errors
    /// Returns [`WorkspaceError::InvalidName`].
    pub fn contains(&self, workspace: &str) -> Result<bool, WorkspaceError> {
        Ok(workspace == DEFAULT_WORKSPACE || self.folder(workspace)?.is_dir())
    }

    /// Creates an empty workspace.
    ///
    /// # Errors
    /// Returns [`WorkspaceError::Exists`] or [`WorkspaceError::InvalidName`].
    pub fn create(&self, workspace: &str) -> Result<(), WorkspaceError> {
        if self.contains(workspace)? {
            return Err(WorkspaceError::Exists(workspace.to_owned()));
        }
        let folder = self.folder(workspace)?;
        Ok(std::fs::create_dir_all(&folder).map_err(StoreError::io("create", &folder))?)
    }

    /// Removes a workspace with everything in its directory. The caller must check that its state may be deleted.
    ///
    /// # Errors
    /// Returns [`WorkspaceError::DefaultUndeletable`] or [`WorkspaceError::Missing`].
    pub fn delete(&self, workspace: &str) -> Result<(), WorkspaceError> {
        if workspace == DEFAULT_WORKSPACE {
            return Err(WorkspaceError::DefaultUndeletable);
        }
        if !self.contains(workspace)? {
            return Err(WorkspaceError::Missing(workspace.to_owned()));
        }
        let folder = self.folder(workspace)?;
        Ok(std::fs::remove_dir_all(&folder).map_err(StoreError::io("remove", &folder))?)
    }

    fn folder(&self, workspace: &str) -> Result<PathBuf, WorkspaceError> {
        if !is_valid_workspace_name(workspace) {
            return Err(WorkspaceError::InvalidName(workspace.to_owned()));
        }
        Ok(self.directory.join(workspace))
    }
}

/// Returns true if the name can be used in a URL path without escaping. Unlike OpenTofu, this refuses `.` and
/// `..`, which lead out of the directory of workspaces.
pub fn is_valid_workspace_name(name: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_.~$&+:=@".contains(it);
    !name.is_empty() && name != "." && name != ".." && name.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_workspaces_are_folders() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let workspaces = LocalWorkspaces::new(root.path(), None, None);
        assert_eq!(workspaces.list().expect("empty"), ["default"]);
        workspaces.create("prod").expect("new");
        workspaces.create("a:b").expect("new");
        assert_eq!(workspaces.list().expect("two"), ["default", "a:b", "prod"]);
        assert!(matches!(workspaces.create("prod"), Err(WorkspaceError::Exists(_))));
        let path = workspaces.paths("prod").expect("valid").write;
        assert_eq!(path, root.path().join("terraform.tfstate.d/prod/terraform.tfstate"));
        workspaces.delete("prod").expect("exists");
        assert!(matches!(workspaces.delete("prod"), Err(WorkspaceError::Missing(_))));
        assert!(matches!(workspaces.delete("default"), Err(WorkspaceError::DefaultUndeletable)));
        assert_eq!(
            workspaces.paths("default").expect("valid").backup,
            Some(root.path().join("terraform.tfstate.backup"))
        );
    }

    #[test]
    fn invalid_workspace_names_are_refused() {
        for name in ["", ".", "..", "a/b", "/a", "a b", "ä", "a;b", "a%2f"] {
            assert!(!is_valid_workspace_name(name), "{name:?}");
        }
        for name in ["a", "env-1.2_x", "a@b", "$x"] {
            assert!(is_valid_workspace_name(name), "{name:?}");
        }
    }
}
