//! Database inputs other than source text: module directories, the module manifest, provider schemas and given
//! values.

use std::{path::Path, sync::Arc};

use addr::{ModuleSource, ProviderSource};
use db::Directory;
use provider::{ProviderSchemas, Schema};
use sorted::TreeMap;
use values::Str;

use crate::{Db, item::ConstValue, provisioner::ProvisionerSchemas};

/// A configuration as the driver loaded it: the root module and all modules that its calls reach.
#[salsa::input]
pub struct Workspace {
    /// The root module's directory.
    #[returns(copy)]
    pub root: Directory,
    /// All module directories that were read, by displayed path. The configurations of one database share the map.
    #[returns(ref)]
    pub directories: Arc<TreeMap<Arc<str>, Directory>>,
    /// Installed modules by call. A call has several entries if the calling module is called with values that give
    /// several sources. Calls of local paths have no entry.
    #[returns(ref)]
    pub manifest: TreeMap<CallKey, Vec<InstalledModule>>,
    /// The loaded schemas, by provider.
    #[returns(ref)]
    pub providers: TreeMap<ProviderSource, ProviderInput>,
    /// The schemas of the provisioner plugins that the configuration uses, by the name of the provisioner.
    #[returns(ref)]
    pub provisioners: ProvisionerSchemas,
    /// Values from outside the configuration that static evaluation uses.
    #[returns(ref)]
    pub static_inputs: StaticInputs,
}

/// Values from outside the configuration that are known before planning.
///
/// **Invariant:** values of sensitive or ephemeral variables are never stored here. Files may still contain
/// secrets, so `Debug` shows only names.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct StaticInputs {
    /// The values of variables as given, before conversion to the types of the variables.
    pub variables: TreeMap<Str, ConstValue>,
    /// The value of `terraform.workspace`.
    pub workspace: Str,
    /// The value of `path.cwd`.
    pub current_directory: Str,
    /// The directory that `abspath` resolves against.
    pub base_directory: Str,
    /// The user's home directory. `None` if unknown.
    pub home_directory: Option<Str>,
    /// The files that functions asked for, by path. `None` for a file that cannot be read.
    pub files: TreeMap<Str, Option<Arc<[u8]>>>,
}

impl StaticInputs {
    /// Returns true if values were given at all. Given values always include a workspace name.
    pub fn is_set(&self) -> bool {
        !self.workspace.is_empty()
    }
}

impl std::fmt::Debug for StaticInputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("StaticInputs");
        let variables: Vec<_> = self.variables.keys().collect();
        let files: Vec<_> = self.files.keys().collect();
        shown.field("variables", &variables).field("files", &files);
        shown.finish_non_exhaustive()
    }
}

/// The identity of a module call across all paths that lead to it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CallKey {
    /// The directory of the calling module.
    pub caller: Arc<str>,
    /// The name of the call.
    pub name: Str,
}

/// A module that was installed for a call.
#[derive(Clone, PartialEq, Eq)]
pub struct InstalledModule {
    /// The `source` that the module was installed for, as the installer writes it.
    pub source: Str,
    /// The selected version. `None` if the module is not from a registry.
    pub version: Option<Str>,
    /// The module's directory.
    pub dir: Arc<str>,
}

impl std::fmt::Debug for InstalledModule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "InstalledModule({} in {})", self.shown_source(), self.dir)
    }
}

impl InstalledModule {
    /// The `source` without passwords.
    pub fn shown_source(&self) -> String {
        ModuleSource::parse(&self.source)
            .map_or_else(|_| self.source.to_string(), |it| it.to_string())
    }

    /// Returns true if this module satisfies a call with the given `source`. A registry source without a host
    /// equals the same source with the host of OpenTofu's or Terraform's registry, because installers differ in
    /// their default host.
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
    /// The schemas. Salsa compares them by identity.
    #[returns(ref)]
    pub schemas: SchemasHandle,
}

/// Schemas, compared by identity: comparing their content is too slow, and the driver replaces them only when they
/// change.
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

/// The result of looking up a resource type's schema.
#[derive(Clone, Debug)]
pub enum SchemaLookup {
    /// The schema of the type.
    Found(Arc<Schema>),
    /// The provider's schemas are not loaded, so the body cannot be checked.
    NoProvider,
    /// The provider has no such type for the resource mode.
    NoSuchType,
}

impl SchemaLookup {
    /// The schema. `None` if there is none.
    pub fn found(&self) -> Option<&Schema> {
        match self {
            SchemaLookup::Found(schema) => Some(schema),
            SchemaLookup::NoProvider | SchemaLookup::NoSuchType => None,
        }
    }
}

/// Looks up the schema of a resource type.
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

/// Returns true if a module source is a local path. `init` downloads all other sources.
pub fn is_local_source(source: &str) -> bool {
    source.starts_with("./") || source.starts_with("../") || source == "." || source == ".."
}

/// The displayed path of the directory that a local source refers to.
pub fn local_module_directory(caller: &str, source: &str) -> Arc<str> {
    let path = db::system::normalize(&Path::new(caller).join(source));
    Arc::from(path.to_string_lossy().as_ref())
}

/// The path of the directory of the called module if the call has this `source`. `None` if it is not installed.
pub fn path_of_source(
    db: &dyn Db,
    workspace: Workspace,
    caller: Directory,
    name: &Str,
    source: &str,
) -> Option<Arc<str>> {
    if is_local_source(source) {
        return Some(local_module_directory(caller.path(db), source));
    }
    let installed = installed_modules(db, workspace, caller, name);
    installed.iter().find(|it| it.is_of(source)).map(|it| it.dir.clone())
}

/// The directory of the called module if the call has this `source`. `None` if it is not installed or was not read.
pub(crate) fn directory_of_source(
    db: &dyn Db,
    workspace: Workspace,
    caller: Directory,
    name: &Str,
    source: &str,
) -> Option<Directory> {
    let path = path_of_source(db, workspace, caller, name, source)?;
    workspace.directories(db).get(&path).copied()
}

/// The modules installed for a call. Their sources may be outdated.
pub fn installed_modules<'db>(
    db: &'db dyn Db,
    workspace: Workspace,
    caller: Directory,
    name: &Str,
) -> &'db [InstalledModule] {
    let manifest = workspace.manifest(db);
    let key = CallKey { caller: caller.path(db).clone(), name: name.clone() };
    manifest.get(&key).map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_module_sources_resolve_relative_to_the_caller() {
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
