//! Generated configurations.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

/// How many resources share a file, where nothing else is said.
const PER_FILE: usize = 100;

/// What the resources of a configuration are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// `terraform_data`, in process in every tool.
    Builtin,
    /// `playground_secret` with a write-only value, over a plugin.
    Playground,
}

impl Kind {
    pub(crate) fn resource_type(self) -> &'static str {
        match self {
            Kind::Builtin => "terraform_data",
            Kind::Playground => "playground_secret",
        }
    }

    /// A CLI configuration that finds the provider among the `plugins`.
    pub(crate) fn overrides(self, plugins: &Path) -> String {
        match self {
            Kind::Builtin => String::new(),
            Kind::Playground => format!(
                "provider_installation {{\n  dev_overrides {{\n    \"registry.opentofu.org/mayfly/playground\" = {plugins:?}\n  }}\n}}\n"
            ),
        }
    }
}

/// A folder with a configuration of `resources` resources, each with two locals and an output.
pub(crate) struct Workload {
    pub(crate) folder: PathBuf,
    pub(crate) kind: Kind,
    pub(crate) resources: usize,
    /// How many of them share a file.
    per_file: usize,
}

impl Workload {
    /// Writes the configuration into `folder`, which is emptied first.
    ///
    /// # Errors
    /// A file that cannot be written or removed.
    pub(crate) fn write(folder: PathBuf, kind: Kind, resources: usize) -> Result<Self> {
        Self::write_in_files_of(PER_FILE, folder, kind, resources)
    }

    /// The same, with so many resources in each file.
    ///
    /// # Errors
    /// A file that cannot be written or removed.
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

    /// Adds one reference to nothing, or takes it away again.
    ///
    /// # Errors
    /// A file that cannot be written or removed.
    pub(crate) fn set_broken(&self, broken: bool) -> Result<()> {
        let path = self.folder.join("broken.tf");
        match broken {
            true => fs::write(path, "output \"broken\" {\n  value = local.missing\n}\n")?,
            false => fs::remove_file(path)?,
        }
        Ok(())
    }

    /// The file that declares a resource.
    pub(crate) fn file_of(&self, index: usize) -> PathBuf {
        self.folder.join(self.name_of_file_of(index))
    }

    /// The name of the file that declares a resource.
    pub(crate) fn name_of_file_of(&self, index: usize) -> String {
        format!("part_{:06}.tf", index / self.per_file * self.per_file)
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.join("terraform.tfstate")
    }

    /// Removes what earlier runs left: state, and the playground's store.
    ///
    /// # Errors
    /// Something that is there and cannot be removed.
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

fn head(kind: Kind) -> &'static str {
    match kind {
        Kind::Builtin => "variable \"name\" {\n  type    = string\n  default = \"fleet\"\n}\n",
        Kind::Playground => {
            r#"terraform {
  required_providers {
    playground = {
      source = "registry.opentofu.org/mayfly/playground"
    }
  }
}

provider "playground" {
  store = "store"
}

variable "name" {
  type    = string
  default = "fleet"
}
"#
        }
    }
}

/// One resource with its two locals and its output.
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
    };
    text
}
