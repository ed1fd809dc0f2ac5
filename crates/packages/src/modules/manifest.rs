//! The module manifest `.terraform/modules/modules.json`, which maps module calls to their directories.

use serde::{Deserialize, Serialize};
use sorted::TreeMap;

/// All installed modules by key: the names of the module calls joined with dots, empty for the root module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleManifest {
    /// The modules by key.
    pub modules: TreeMap<String, ModuleRecord>,
}

/// One module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleRecord {
    /// The normalized `source` argument. Empty for the root module.
    pub source: String,
    /// The selected version. `None` unless the module comes from a registry.
    pub version: Option<String>,
    /// The directory, relative to the root module.
    pub dir: String,
}

/// An error in a manifest.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ManifestError(String);

#[derive(Serialize, Deserialize)]
struct FileRecord {
    #[serde(rename = "Modules")]
    modules: Vec<ModuleFileRecord>,
}

#[derive(Serialize, Deserialize)]
struct ModuleFileRecord {
    #[serde(rename = "Key")]
    key: String,
    #[serde(rename = "Source", default)]
    source: String,
    #[serde(rename = "Version", default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(rename = "Dir")]
    dir: String,
}

impl ModuleManifest {
    /// Parses the file.
    ///
    /// # Errors
    /// Returns a [`ManifestError`] if the text is not a manifest or a key occurs twice.
    pub fn parse(bytes: &[u8]) -> Result<Self, ManifestError> {
        let file: FileRecord =
            serde_json::from_slice(bytes).map_err(|it| ManifestError(it.to_string()))?;
        let mut modules = TreeMap::new();
        for record in file.modules {
            let module = ModuleRecord {
                source: record.source,
                version: record.version.filter(|it| !it.is_empty()),
                dir: record.dir,
            };
            if modules.insert(record.key.clone(), module).is_some() {
                return Err(ManifestError(format!("the module {:?} is listed twice", record.key)));
            }
        }
        Ok(Self { modules })
    }

    /// Returns the content of the file, sorted by key.
    pub fn to_json(&self) -> String {
        let modules = self.modules.iter().map(|(key, module)| ModuleFileRecord {
            key: key.clone(),
            source: module.source.clone(),
            version: module.version.clone(),
            dir: module.dir.clone(),
        });
        let file = FileRecord { modules: modules.collect() };
        serde_json::to_string(&file).expect("a struct of strings is always valid JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_manifest_round_trips() {
        let text = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"m","Source":"./m","Dir":"m"},{"Key":"m.r","Source":"registry.opentofu.org/a/b/c","Version":"1.2.3","Dir":".terraform/modules/m.r"}]}"#;
        assert_eq!(ModuleManifest::parse(text.as_bytes()).expect("a manifest").to_json(), text);
    }

    #[test]
    fn invalid_module_manifest_is_an_error() {
        for text in ["", "{}", "[]", r#"{"Modules":[{"Key":"","Dir":"."},{"Key":"","Dir":"."}]}"#] {
            assert!(ModuleManifest::parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
