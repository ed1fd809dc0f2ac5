//! What `init` has left in a working directory, as far as the editor needs it.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use addr::ProviderSource;
use db::Directory;
use hir::workspace::Given;
use project::Manifest;
use provider::ProviderSchemas;
use values::Str;

/// What is installed. Answers come from files, never from a program.
pub trait Installation: Send + Sync {
    /// The installed modules of the configuration whose root module is in a directory. Paths are absolute. Asked from the
    /// server thread, so it must be quick.
    fn modules(&self, root: &Path) -> Manifest;

    /// What a root module is given from outside before anything is planned. Asked from the server thread, where a source of a
    /// module is no literal.
    fn given(&self, _root: &Path, _db: &dyn hir::Db, _directory: Directory) -> Given {
        Given::default()
    }

    /// The schemas of the providers that a configuration requires. Asked from a thread where it may take its time.
    fn schemas(
        &self,
        root: &Path,
        requirements: &BTreeMap<ProviderSource, Vec<Str>>,
    ) -> Vec<(ProviderSource, Installed)>;
}

/// What is at hand of one provider.
pub enum Installed {
    /// Its schemas.
    Schemas(Arc<ProviderSchemas>),
    /// Nothing; why, and how to get them, in a sentence.
    Missing(String),
}
