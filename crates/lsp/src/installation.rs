//! The results of `init` in a working directory that the editor needs.

use std::{path::Path, sync::Arc};

use addr::ProviderSource;
use db::Directory;
use hir::{provisioner::ProvisionerSchemas, workspace::StaticInputs};
use project::Manifest;
use provider::ProviderSchemas;
use sorted::TreeMap;
use values::Str;

/// Access to installed modules and schemas. Implementations read files and never run a program.
pub trait Installation: Send + Sync {
    /// The installed modules of the configuration whose root module is in a directory. Paths are absolute. The
    /// server thread calls this, so it must be fast.
    fn modules(&self, root: &Path) -> Manifest;

    /// The variable values that a root module gets from outside before a plan. The server thread calls this;
    /// module sources that are not literals may depend on them.
    fn static_inputs(
        &self,
        _root: &Path,
        _db: &dyn hir::Db,
        _directory: Directory,
    ) -> StaticInputs {
        StaticInputs::default()
    }

    /// The causes of the change that the last plan of a configuration has at a block. A worker thread calls this for
    /// each hover, so it must be fast. `None` if the plan has no change there, or there is no record of a plan.
    fn planned(&self, _root: &Path, _question: PlannedQuestion<'_>) -> Option<PlannedCauses> {
        None
    }

    /// The schemas of the providers that a configuration requires. A background thread calls this, so it may be
    /// slow.
    fn schemas(
        &self,
        root: &Path,
        requirements: &TreeMap<ProviderSource, Vec<Str>>,
    ) -> Vec<(ProviderSource, Installed)>;

    /// The installed provisioner plugins of a configuration, with the schemas that were read before. A background
    /// thread calls this, so it may be slow.
    fn provisioners(&self, _root: &Path) -> ProvisionerSchemas {
        ProvisionerSchemas::new()
    }
}

/// The question about the last plan.
#[derive(Clone, Copy)]
pub struct PlannedQuestion<'t> {
    /// The path of the file, relative to the root module.
    pub file: &'t str,
    /// The text of the file in the editor.
    pub text: &'t str,
    /// The address of the block in its module.
    pub block: &'t str,
    /// The argument; `None` for the block.
    pub argument: Option<&'t str>,
}

/// The causes of a planned change, without any secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedCauses {
    /// The time of the plan, RFC 3339.
    pub made_at: String,
    /// True if the text of the file is the planned one.
    pub is_current: bool,
    /// The lines, as in the output of `explain`.
    pub lines: Vec<String>,
}

/// The installed schemas of one provider.
pub enum Installed {
    /// The schemas.
    Schemas(Arc<ProviderSchemas>),
    /// No schemas; a sentence gives the reason and how to install them.
    Missing(String),
}

/// An installation without modules and schemas.
#[cfg(test)]
pub(crate) struct Nothing;

#[cfg(test)]
impl Installation for Nothing {
    fn modules(&self, _: &Path) -> Manifest {
        Manifest::new()
    }

    fn schemas(
        &self,
        _: &Path,
        requirements: &TreeMap<ProviderSource, Vec<Str>>,
    ) -> Vec<(ProviderSource, Installed)> {
        let missing = |source: &ProviderSource| {
            (source.clone(), Installed::Missing("It is not there.".to_owned()))
        };
        requirements.keys().map(missing).collect()
    }
}
