//! Generates configurations for measurements.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde_json::json;

use super::shape::type_of;

/// The beginning of the names that the resources had before they were moved.
pub(crate) const EARLIER: &str = "earlier_";

/// The default number of resources per file.
const PER_FILE: usize = 100;

/// The kind of resources in a configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// `terraform_data`, which every tool runs in its own process.
    Builtin,
    /// `playground_secret` with a write-only value, provided by a plugin.
    Playground,
    /// Forty types of the bench's own plugin, `fleet_kind_00` to `fleet_kind_39`.
    Fleet,
}

impl Kind {
    pub(crate) fn resource_type(self) -> &'static str {
        match self {
            Kind::Builtin => "terraform_data",
            Kind::Playground => "playground_secret",
            Kind::Fleet => "fleet_kind",
        }
    }

    /// Returns the name of the plugin. `None` if there is none.
    fn plugin(self) -> Option<&'static str> {
        match self {
            Kind::Builtin => None,
            Kind::Playground => Some("playground"),
            Kind::Fleet => Some("fleet"),
        }
    }

    /// Returns a CLI configuration that finds the provider in the folder `plugins`.
    pub(crate) fn overrides(self, plugins: &Path) -> String {
        let Some(plugin) = self.plugin() else { return String::new() };
        format!(
            "provider_installation {{\n  dev_overrides {{\n    \
             \"registry.opentofu.org/mayfly/{plugin}\" = {plugins:?}\n  }}\n}}\n"
        )
    }
}

/// Returns the configuration files of a folder with their texts, in the order of their names.
///
/// # Errors
/// Returns an error if the folder or a file cannot be read.
pub(crate) fn texts(folder: &Path) -> Result<Vec<(PathBuf, String)>> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "tf") {
            let text = fs::read_to_string(&path)?;
            texts.push((path, text));
        }
    }
    texts.sort();
    Ok(texts)
}

/// A folder with a configuration of `resources` resources, each with two local values and an output.
pub(crate) struct Workload {
    pub(crate) folder: PathBuf,
    pub(crate) kind: Kind,
    pub(crate) resources: usize,
    /// The number of resources per file.
    per_file: usize,
}

impl Workload {
    /// Writes the configuration into `folder`, which is emptied first.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written or removed.
    pub(crate) fn write(folder: PathBuf, kind: Kind, resources: usize) -> Result<Self> {
        Self::write_in_files_of(PER_FILE, folder, kind, resources)
    }

    /// Writes the configuration with `per_file` resources in each file.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written or removed.
    pub(crate) fn write_in_files_of(
        per_file: usize,
        folder: PathBuf,
        kind: Kind,
        resources: usize,
    ) -> Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .with_context(|| format!("failed to empty {}", folder.display()))?;
        }
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("main.tf"), head(kind))?;
        for first in (0..resources).step_by(per_file) {
            let last = resources.min(first + per_file);
            let text: String = (first..last).map(|index| item(kind, index)).collect();
            fs::write(folder.join(format!("part_{first:06}.tf")), text)?;
        }
        Ok(Self { folder, kind, resources, per_file })
    }

    /// Adds a reference to a missing local value, or removes it again.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written or removed.
    pub(crate) fn set_broken(&self, broken: bool) -> Result<()> {
        let path = self.folder.join("broken.tf");
        match broken {
            true => fs::write(path, "output \"broken\" {\n  value = local.missing\n}\n")?,
            false => fs::remove_file(path)?,
        }
        Ok(())
    }

    /// Returns the file that declares a resource.
    pub(crate) fn file_of(&self, index: usize) -> PathBuf {
        self.folder.join(self.name_of_file_of(index))
    }

    /// Returns the name of the file that declares a resource.
    pub(crate) fn name_of_file_of(&self, index: usize) -> String {
        format!("part_{:06}.tf", index / self.per_file * self.per_file)
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.join("terraform.tfstate")
    }

    /// Writes the state that an apply would have left, with the names that the resources had before they were moved.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub(crate) fn write_earlier_state(&self) -> Result<()> {
        let text = |index: usize| {
            let name = format!("fleet-{index}");
            format!("{name} of {}", name.len()).to_uppercase()
        };
        let value = |index: usize| json!({ "value": text(index), "type": "string" });
        let resource = |index: usize| {
            let attributes = json!({
                "id": format!("id-{index}"), "input": value(index), "output": value(index),
                "triggers_replace": null,
            });
            json!({
                "mode": "managed", "type": "terraform_data", "name": format!("{EARLIER}{index}"),
                "provider": "provider[\"terraform.io/builtin/terraform\"]",
                "instances": [{ "schema_version": 0, "attributes": attributes }],
            })
        };
        let outputs = (0..self.resources).map(|index| (format!("item_{index}"), value(index)));
        let state = json!({
            "version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "bench",
            "outputs": outputs.collect::<serde_json::Map<_, _>>(),
            "resources": (0..self.resources).map(resource).collect::<Vec<_>>(),
            "check_results": null,
        });
        Ok(fs::write(self.state(), state.to_string())?)
    }

    /// Removes the files of earlier runs: the state, and the playground's store.
    ///
    /// # Errors
    /// Returns an error if an existing file or folder cannot be removed.
    pub(crate) fn forget_runs(&self) -> Result<()> {
        for name in ["terraform.tfstate", "terraform.tfstate.backup"] {
            remove(&self.folder.join(name), |path| fs::remove_file(path))?;
        }
        remove(&self.folder.join("store"), |path| fs::remove_dir_all(path))
    }
}

fn remove(path: &Path, remove: impl Fn(&Path) -> std::io::Result<()>) -> Result<()> {
    match path.exists() {
        true => remove(path).with_context(|| format!("failed to remove {}", path.display())),
        false => Ok(()),
    }
}

fn head(kind: Kind) -> String {
    let variable = "variable \"name\" {\n  type    = string\n  default = \"fleet\"\n}\n";
    let Some(plugin) = kind.plugin() else { return variable.to_owned() };
    let store = if kind == Kind::Playground { "  store = \"store\"\n" } else { "" };
    format!(
        r#"terraform {{
  required_providers {{
    {plugin} = {{
      source = "registry.opentofu.org/mayfly/{plugin}"
    }}
  }}
}}

provider "{plugin}" {{
{store}}}

{variable}"#
    )
}

/// Returns the text of one resource with its two local values and its output.
pub(crate) fn item(kind: Kind, index: usize) -> String {
    let mut text = format!(
        r#"locals {{
  name_{index} = "${{var.name}}-{index}"
  text_{index} = upper("${{local.name_{index}}} of ${{length(local.name_{index})}}")
}}

"#
    );
    let _ = match kind {
        Kind::Builtin => write!(
            text,
            r#"resource "terraform_data" "item_{index}" {{
  input = local.text_{index}
}}

output "item_{index}" {{
  value = terraform_data.item_{index}.output
}}

"#
        ),
        Kind::Playground => write!(
            text,
            r#"resource "playground_secret" "item_{index}" {{
  name             = local.name_{index}
  value_wo         = local.text_{index}
  value_wo_version = 1
}}

output "item_{index}" {{
  value = playground_secret.item_{index}.arn
}}

"#
        ),
        Kind::Fleet => {
            let ty = type_of(index);
            write!(
                text,
                r#"resource "{ty}" "item_{index}" {{
  name    = local.name_{index}
  summary = local.text_{index}
  size    = {index}
  labels  = {{ team = var.name, item = local.name_{index} }}
}}

output "item_{index}" {{
  value = {ty}.item_{index}.id
}}

"#
            )
        }
    };
    text
}
