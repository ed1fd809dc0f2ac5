//! Plugins that `init` does not install: executables in directories of the user, whose file names begin with their
//! kind.

use std::fs;
use std::path::{Path, PathBuf};

use addr::Version;
use sorted::TreeMap;

use crate::Platform;

/// The name and the version in the name of a plugin file.
struct PluginName {
    name: String,
    version: Version,
}

/// Finds the plugins whose file names begin with `prefix`, such as `terraform-provisioner-`, by their names. The
/// newest version of all directories is taken; of equal ones, that in the earlier directory. A missing directory has
/// none.
pub fn plugin_files(prefix: &str, directories: &[PathBuf]) -> TreeMap<String, PathBuf> {
    let mut found: TreeMap<String, (Version, PathBuf)> = TreeMap::new();
    for directory in directories {
        for (plugin, path) in plugins_in(directory, prefix) {
            match found.get(&plugin.name) {
                Some((version, _)) if *version >= plugin.version => {}
                _ => drop(found.insert(plugin.name, (plugin.version, path))),
            }
        }
    }
    found.into_iter().map(|(name, (_, path))| (name, path)).collect()
}

/// The directories of the user in which credentials helpers and provisioner plugins are searched for.
pub fn plugin_directories(home: Option<&Path>, data_home: Option<&Path>) -> Vec<PathBuf> {
    let roots = [home.map(|it| it.join(".terraform.d")), data_home.map(|it| it.join("opentofu"))];
    let platform = Platform::current().to_string();
    let plugins = roots.into_iter().flatten().map(|it| it.join("plugins"));
    plugins.flat_map(|it| [it.clone(), it.join(&platform)]).collect()
}

impl PluginName {
    /// Reads `PREFIXNAME` or `PREFIXNAME_vVERSION`. `None` for other names. A file without a version counts as version
    /// 0.0.0.
    fn parse(file: &str, prefix: &str) -> Option<PluginName> {
        // Most files of a directory are no plugins.
        file.get(..prefix.len()).filter(|it| it.eq_ignore_ascii_case(prefix))?;
        let rest = file[prefix.len()..].to_lowercase();
        let rest = rest.strip_suffix(".exe").unwrap_or(&rest);
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

/// The plugins in a directory, in the order of their file names.
fn plugins_in(directory: &Path, prefix: &str) -> Vec<(PluginName, PathBuf)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let plugin = |file: fs::DirEntry| {
        let name = file.file_name().into_string().ok()?;
        let plugin = PluginName::parse(&name, prefix)?;
        let path = directory.join(name);
        path.is_file().then_some((plugin, path))
    };
    let mut plugins: Vec<_> = entries.filter_map(plugin).collect();
    sorted::sort_by(&mut plugins, |a, b| a.1.cmp(&b.1));
    plugins
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFIX: &str = "terraform-provisioner-";

    #[test]
    fn file_names_of_plugins_have_a_name_and_perhaps_a_version() {
        let shown = |file: &str| {
            PluginName::parse(file, PREFIX).map(|it| format!("{} {}", it.name, it.version))
        };
        assert_eq!(shown("terraform-provisioner-ansible").as_deref(), Some("ansible 0.0.0"));
        assert_eq!(shown("terraform-provisioner-a_v1.2.3").as_deref(), Some("a 1.2.3"));
        assert_eq!(shown("terraform-provisioner-a_v1.2.3_x4").as_deref(), Some("a 1.2.3"));
        assert_eq!(shown("terraform-provisioner-A.exe").as_deref(), Some("a 0.0.0"));
        for file in [
            "terraform-provisioner-",
            "terraform-provider-a",
            "terraform-provisioner-a_vx",
            "\u{e9}",
        ] {
            assert_eq!(shown(file), None, "{file}");
        }
    }

    #[test]
    fn newest_version_of_the_earliest_directory_is_taken() {
        let root = tempfile::tempdir().expect("can be made");
        let directories = ["first", "second", "missing"].map(|it| root.path().join(it));
        for (directory, files) in
            [("first", &["a_v1.0.0", "b"][..]), ("second", &["a_v1.1.0", "b"])]
        {
            fs::create_dir(root.path().join(directory)).expect("can be made");
            for file in files {
                let path = root.path().join(directory).join(format!("{PREFIX}{file}"));
                fs::write(path, "").expect("can be written");
            }
        }
        let found = plugin_files(PREFIX, &directories);
        let expected = [
            ("a", root.path().join("second/terraform-provisioner-a_v1.1.0")),
            ("b", root.path().join("first/terraform-provisioner-b")),
        ];
        assert_eq!(found, expected.map(|(name, path)| (name.to_owned(), path)).into());
    }
}
