//! The results of `init` in a working directory that the editor needs.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use addr::ProviderSource;
use db::Directory;
use hir::workspace::StaticInputs;
use project::Manifest;
use provider::ProviderSchemas;
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

    /// The schemas of the providers that a configuration requires. A background thread calls this, so it may be
    /// slow.
    fn schemas(
        &self,
        root: &Path,
        requirements: &BTreeMap<ProviderSource, Vec<Str>>,
    ) -> Vec<(ProviderSource, Installed)>;
}

/// The installed schemas of one provider.
pub enum Installed {
    /// The schemas.
    Schemas(Arc<ProviderSchemas>),
    /// No schemas; a sentence gives the reason and how to install them.
    Missing(String),
}
