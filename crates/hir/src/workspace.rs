//! Inputs beside the text: which directories there are, which providers, and which directory a module call leads to.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use addr::{ModuleSource, ProviderSource};
use db::Directory;
use provider::{ProviderSchemas, Schema};
use values::Str;

use crate::{Db, item::ConstValue};

/// A configuration as the driver found it: the root module and everything that its calls lead to.
#[salsa::input]
pub struct Workspace {
    /// The root module's directory.
    #[returns(copy)]
    pub root: Directory,
    /// Every module directory that was read, by its path as shown. Shared by the configurations of one database.
    #[returns(ref)]
    pub directories: Arc<BTreeMap<Arc<str>, Directory>>,
    /// Installed modules by directory of the caller and name of the call: several where the calling module is called with
    /// values that lead to several sources. Calls of local paths are not listed.
    #[returns(ref)]
    pub manifest: BTreeMap<(Arc<str>, Str), Vec<InstalledModule>>,
    /// The schemas that are at hand.
    #[returns(ref)]
    pub providers: BTreeMap<ProviderSource, ProviderInput>,
    /// What the root module is given from outside, where static evaluation needs it.
    #[returns(ref)]
    pub given: Given,
}

/// What is known of the root module before anything is planned, beside its text.
///
/// **Invariant:** no value of a sensitive or ephemeral variable is here. Files may hold secrets all the same, so `Debug` shows
/// names alone.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Given {
    /// Values of variables, as they were given: not yet of the variable's type.
    pub variables: BTreeMap<Str, ConstValue>,
    /// `terraform.workspace`
    pub workspace: Str,
    /// `path.cwd`
    pub current_directory: Str,
    /// The directory that `abspath` resolves against.
    pub base_directory: Str,
    /// The user's home directory.
    pub home_directory: Option<Str>,
    /// Files that functions asked for, by path; none of those that cannot be read.
    pub files: BTreeMap<Str, Option<Arc<[u8]>>>,
}

impl Given {
    /// Whether somebody said what is given; there always is a workspace.
    pub fn is_given(&self) -> bool {
        !self.workspace.is_empty()
    }
}

impl std::fmt::Debug for Given {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Given");
        shown.field("variables", &self.variables.keys()).field("files", &self.files.keys());
        shown.finish_non_exhaustive()
    }
}

/// What was installed for a call.
#[derive(Clone, PartialEq, Eq)]
pub struct InstalledModule {
    /// The `source` that it was installed for, as whoever installed it writes it.
    pub source: Str,
    /// The version that was selected, of a module of a registry.
    pub version: Option<Str>,
    /// Where it is.
    pub dir: Arc<str>,
}

impl std::fmt::Debug for InstalledModule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "InstalledModule({} in {})", self.shown_source(), self.dir)
    }
}

impl InstalledModule {
    /// The `source`, without passwords.
    pub fn shown_source(&self) -> String {
        ModuleSource::parse(&self.source)
            .map_or_else(|_| self.source.to_string(), |it| it.to_string())
    }

    /// Whether it is what a `source` asks for. A module without a registry's host is in the one that is the default of
    /// whoever installed it.
    pub fn is_of(&self, source: &str) -> bool {
        let normal = |text: &str| match ModuleSource::parse(text) {
            Ok(source) => {
                let text = source.to_string();
                let hosts = ["registry.opentofu.org/", "registry.terraform.io/"];
                let bare = hosts.iter().find_map(|it| text.strip_prefix(it));
                bare.unwrap_or(&text).to_owned()
            }
            Err(_) => text.to_owned(),
        };
        *self.source == *source || normal(&self.source) == normal(source)
    }
}

/// The schemas of one provider.
#[salsa::input]
pub struct ProviderInput {
    /// The schemas; two are the same only if they are the same object.
    #[returns(ref)]
    pub schemas: SchemasHandle,
}

/// Schemas, compared by identity: they are too large to compare, and the driver replaces them only when they change.
#[derive(Clone)]
pub struct SchemasHandle(pub Arc<ProviderSchemas>);

impl PartialEq for SchemasHandle {
    fn eq(&self, other: &SchemasHandle) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for SchemasHandle {}

impl std::fmt::Debug for SchemasHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SchemasHandle")
    }
}

/// What a provider has under a type name.
#[derive(Clone, Debug)]
pub enum SchemaLookup {
    /// The schema.
    Found(Arc<Schema>),
    /// The provider's schemas are not at hand; nothing can be said about the body.
    NoProvider,
    /// The provider has no such type in this mode.
    NoSuchType,
}

impl SchemaLookup {
    /// The schema, if there is one.
    pub fn found(&self) -> Option<&Schema> {
        match self {
            SchemaLookup::Found(schema) => Some(schema),
            SchemaLookup::NoProvider | SchemaLookup::NoSuchType => None,
        }
    }
}

/// The schema of a resource type.
pub fn resource_schema(
    db: &dyn Db,
    workspace: Workspace,
    source: &ProviderSource,
    mode: addr::ResourceMode,
    ty: &str,
) -> SchemaLookup {
    let Some(input) = workspace.providers(db).get(source) else { return SchemaLookup::NoProvider };
    let schemas = &input.schemas(db).0;
    match schemas.of_mode(mode, ty) {
        Some(schema) => SchemaLookup::Found(schema),
        None => SchemaLookup::NoSuchType,
    }
}

/// Whether a module source is a path, as opposed to something that `init` downloads.
pub fn is_local_source(source: &str) -> bool {
    source.starts_with("./") || source.starts_with("../") || source == "." || source == ".."
}

/// The directory that a call of a local path leads to, as shown.
pub fn local_module_directory(caller: &str, source: &str) -> Arc<str> {
    let path = db::system::normalize(&Path::new(caller).join(source));
    Arc::from(path.to_string_lossy().as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_modules_lie_relative_to_their_callers() {
        let cases = [
            (".", "./m", "m"),
            ("m", "../n", "n"),
            ("m", "..", "."),
            (".", "../x", "../x"),
            ("../x", "../y", "../y"),
            ("..", "../y", "../../y"),
            ("/a/b", "../../../c", "/c"),
            ("a//b", "./c/", "a/b/c"),
        ];
        for (caller, source, directory) in cases {
            assert_eq!(&*local_module_directory(caller, source), directory, "{caller} {source}");
        }
        for source in ["./a", "../a", ".", ".."] {
            assert!(is_local_source(source));
        }
        for source in ["a/b/c", "/a", ".a/b", "git::x", "", "..."] {
            assert!(!is_local_source(source), "{source}");
        }
    }
}
