//! Provisioner plugins: executables named `terraform-provisioner-NAME` in the plugin directories of OpenTofu.
//!
//! Provisioners are not installed by `init`, and the lock file does not have them.

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
};

use packages::plugin_files;

use crate::session::Session;

/// The executables of the provisioner plugins, by the name of the provisioner.
pub(crate) fn find(session: &Session) -> BTreeMap<String, PathBuf> {
    plugin_files("terraform-provisioner-", &directories(session))
}

/// The directories that are searched, the preferred one first.
fn directories(session: &Session) -> Vec<PathBuf> {
    let data = session.data_dir();
    let platform = session.platform().to_string();
    let mut directories = vec![session.at(".")];
    directories.extend(env::current_exe().ok().and_then(|it| Some(it.parent()?.to_owned())));
    directories.push(session.at("terraform.d/plugins"));
    directories.push(data.join("plugins").join(&platform));
    let home = session.system.variable("HOME").filter(|it| !it.is_empty());
    let global = home.map(|home| Path::new(&home).join(".terraform.d/plugins"));
    directories.extend(global.iter().flat_map(|it| [it.clone(), it.join(&platform)]));
    directories
}
