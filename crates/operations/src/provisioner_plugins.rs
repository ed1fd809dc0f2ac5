//! Provisioner plugins: executables named `terraform-provisioner-NAME` in the plugin directories of OpenTofu.
//!
//! Provisioners are not installed by `init`, and the lock file does not have them. The first directory that has a
//! version of a plugin wins, and the latest version of all is used.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use addr::Version;

use crate::session::Session;

const PREFIX: &str = "terraform-provisioner-";

/// The executables of the provisioner plugins, by the name of the provisioner.
pub(crate) fn find(session: &Session) -> BTreeMap<String, PathBuf> {
    let mut found: BTreeMap<String, (Version, PathBuf)> = BTreeMap::new();
    for directory in directories(session) {
        for (plugin, path) in plugins_in(&directory) {
            match found.get(&plugin.name) {
                Some((version, _)) if *version >= plugin.version => {}
                _ => drop(found.insert(plugin.name, (plugin.version, path))),
            }
        }
    }
    found.into_iter().map(|(name, (_, path))| (name, path)).collect()
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

/// The name and the version in the name of a plugin file.
struct PluginName {
    name: String,
    version: Version,
}

impl PluginName {
    /// Reads `terraform-provisioner-NAME` or `terraform-provisioner-NAME_vVERSION`. `None` for other names. A file
    /// without a version counts as version 0.0.0.
    fn parse(file: &str) -> Option<PluginName> {
        let file = file.to_lowercase();
        let rest = file.strip_prefix(PREFIX)?;
        let rest = rest.strip_suffix(".exe").unwrap_or(rest);
        let (name, version) = match rest.split_once("_v") {
            Some((name, version)) => {
                // An installer of the past added the plugin version: `_x4`.
                (name, version.split_once("_x").map_or(version, |(version, _)| version))
            }
            None => (rest, "0.0.0"),
        };
        let version = Version::parse(version).ok()?;
        (!name.is_empty()).then(|| PluginName { name: name.to_owned(), version })
    }
}

/// The plugins in a directory, in the order of their file names. A missing directory has none.
fn plugins_in(directory: &Path) -> Vec<(PluginName, PathBuf)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.filter_map(|it| it.file_name().into_string().ok()).collect();
    names.sort_unstable();
    let plugin = |name: String| {
        let path = directory.join(&name);
        let plugin = PluginName::parse(&name).filter(|_| path.is_file())?;
        Some((plugin, path))
    };
    names.into_iter().filter_map(plugin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_of_plugins_have_a_name_and_perhaps_a_version() {
        let shown =
            |file: &str| PluginName::parse(file).map(|it| format!("{} {}", it.name, it.version));
        assert_eq!(shown("terraform-provisioner-ansible").as_deref(), Some("ansible 0.0.0"));
        assert_eq!(shown("terraform-provisioner-a_v1.2.3").as_deref(), Some("a 1.2.3"));
        assert_eq!(shown("terraform-provisioner-a_v1.2.3_x4").as_deref(), Some("a 1.2.3"));
        assert_eq!(shown("terraform-provisioner-A.exe").as_deref(), Some("a 0.0.0"));
        for file in ["terraform-provisioner-", "terraform-provider-a", "terraform-provisioner-a_vx"]
        {
            assert_eq!(shown(file), None, "{file}");
        }
    }
}
