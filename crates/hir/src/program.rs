//! The program: an immutable snapshot of a whole configuration, which the engine runs.
//!
//! It holds no database. Unchanged items keep their `Arc` from one revision to the next, so the engine can compare
//! pointers to see what an edit changed.

use std::sync::Arc;

use addr::ProviderSource;
use db::{ByteRange, Diagnostic, Location, Sources};
use indexmap::IndexMap;
use provider::ProviderSchemas;
use rustc_hash::FxBuildHasher;
use sorted::TreeMap;
use values::Str;

use crate::{
    expr::{At, Expr, Literal},
    item::{Check, Item, ModuleCall, Output, ProviderConfig, Resource, Variable},
    provisioner::ProvisionerSchemas,
    test_item::{MockProvider, ObjectOverride},
};

/// A module directory of the program; an index into [`Program::modules`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleId(pub u32);

/// A whole configuration, lowered and resolved.
#[derive(Clone)]
pub struct Program {
    /// The modules, the root module first. A directory occurs once, however often it is called, unless the sources
    /// of its own calls depend on how it is called.
    pub modules: Vec<Arc<Module>>,
    /// The loaded schemas, by provider.
    pub schemas: TreeMap<ProviderSource, Arc<ProviderSchemas>>,
    /// The schemas of the provisioner plugins that the configuration uses, by the name of the provisioner.
    pub provisioners: ProvisionerSchemas,
    /// The source text, for diagnostics.
    pub sources: Sources,
    /// The items that override files change, by file and block, with the origins of the overriding items.
    pub overrides: Arc<Overrides>,
    /// The analysis's hints about values that may be ephemeral where they must not be, with the chain from the
    /// ephemeral declaration.
    pub explanations: Arc<Explanations>,
    /// The objects that a test replaces. Empty outside of tests.
    pub doubles: Arc<TestDoubles>,
}

/// The objects that a test replaces: mocked provider configurations and overridden objects. Overridden modules are
/// replaced in the program itself.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct TestDoubles {
    /// The mocked provider configurations of the root module, by local name and alias.
    pub mocks: TreeMap<(Str, Option<Str>), Arc<MockProvider>>,
    /// The overridden objects. A target occurs once.
    pub overrides: Vec<ObjectOverride>,
}

/// The hints of the analysis that have related locations, by their own location.
pub type Explanations = TreeMap<Location, Vec<Diagnostic>>;

/// The items that override files change, by block.
pub type Overrides = TreeMap<BlockPlace, Vec<OverriddenItem>>;

/// The place of a block in [`Program::sources`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BlockPlace {
    /// The index of the file.
    pub file: u32,
    /// The index of the block in the file.
    pub block: u32,
}

/// An item that an override file changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OverriddenItem {
    /// The index of the item in its block.
    pub item: u32,
    /// The origin of the item that overrides it.
    pub by: Origin,
}

/// The declarations of one kind in the order of their names. A hash table, because there may be as many
/// declarations as the configuration has lines and each reference looks one up.
pub type Named<K> = IndexMap<K, Entry, FxBuildHasher>;

/// A module.
#[derive(Clone)]
pub struct Module {
    /// The module's index in [`Program::modules`].
    pub id: ModuleId,
    /// The directory, relative to the root module if possible (`.` is the root). It is the value of `path.module`.
    pub dir: Str,
    /// Input variables.
    pub variables: Named<Str>,
    /// Local values.
    pub locals: Named<Str>,
    /// Output values.
    pub outputs: Named<Str>,
    /// Managed, data and ephemeral resources.
    pub resources: Named<addr::Resource>,
    /// The module calls, each with the called module.
    pub calls: TreeMap<Str, (Entry, ModuleId)>,
    /// The values of call sources that are not literals, by name of the call.
    pub sources: TreeMap<Str, Str>,
    /// The values of version constraints that are not literals, by name of the call.
    pub versions: TreeMap<Str, Str>,
    /// The provider configurations, by local name and alias.
    pub providers: TreeMap<(Str, Option<Str>), Entry>,
    /// The `check` blocks.
    pub checks: TreeMap<Str, Entry>,
    /// The `run` block of a test whose assertions are evaluated. `None` outside of tests.
    pub assertions: Option<Entry>,
    /// The `moved`, `removed` and `import` blocks, each kind in source order.
    pub others: Vec<Entry>,
    /// The source of each local provider name, declared or implied.
    pub provider_sources: TreeMap<Str, ProviderSource>,
    /// The providers that the module needs without those of the modules that it calls, each with its version
    /// constraints, unparsed.
    pub requirements: TreeMap<ProviderSource, Vec<Str>>,
    /// The aliases that the caller must pass (`configuration_aliases`), by local name.
    pub configuration_aliases: TreeMap<Str, Vec<Str>>,
}

impl Module {
    /// The `source` of a call. Empty if unknown.
    pub fn source_of<'m>(&'m self, name: &Str, call: &'m Entry) -> &'m str {
        let written = call.module_call().source.as_ref();
        written.or_else(|| self.sources.get(name)).map(|it| &**it).unwrap_or_default()
    }

    /// The `version` constraint of a call. `None` if the call has none or its value is unknown.
    pub fn version_of(&self, name: &Str, call: &Entry) -> Option<Str> {
        let written = call.module_call().version?;
        match &call.item.exprs[written] {
            Expr::Literal(Literal::String(text)) => Some(Str::from(text.clone())),
            _ => self.versions.get(name).cloned(),
        }
    }

    /// The items that the engine evaluates: all but `moved`, `removed` and `import` blocks.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        let named = self.variables.values().chain(self.locals.values());
        let named = named.chain(self.outputs.values()).chain(self.resources.values());
        let calls = self.calls.values().map(|(call, _)| call);
        named.chain(calls).chain(self.providers.values()).chain(self.checks.values())
    }
}

/// A `moved`, `removed` or `import` block in a module.
pub struct PlacedBlock<'p> {
    /// The calls that lead to the module.
    pub module: addr::ModulePath,
    /// The block.
    pub entry: &'p Entry,
}

/// The most paths of module calls that are searched for blocks, because paths can be many more than modules.
const MAX_PATHS: usize = 100_000;

/// A module with one path of calls that leads to it.
pub struct ModulePath<'p> {
    /// The names of the calls, joined with dots. Empty for the root module.
    pub key: String,
    /// The `source` of the last call. Empty for the root module.
    pub source: &'p str,
    /// The module at the end of the path.
    pub module: &'p Module,
}

/// An item of the program with its origin.
#[derive(Clone)]
pub struct Entry {
    /// The item.
    pub item: Arc<Item>,
    /// The origin of the item.
    pub origin: Origin,
}

/// The position of an item's declaration, from which its source ranges can be computed on demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Index into [`Sources::files`].
    pub file: u32,
    /// Index of the top-level block in the file.
    pub block: u32,
    /// Index of the item in its block.
    pub item: u32,
}

impl Program {
    /// The root module.
    pub fn root(&self) -> &Module {
        &self.modules[0]
    }

    /// A module by its id.
    pub fn module(&self, id: ModuleId) -> &Module {
        &self.modules[id.0 as usize]
    }

    /// The module to which the calls with these names lead, from the root module. `None` if there is no such call.
    pub fn module_at<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Option<&Module> {
        names.into_iter().try_fold(self.root(), |module, name| {
            let (_, callee) = module.calls.get(name)?;
            Some(self.module(*callee))
        })
    }

    /// All paths of module calls, depth first: callers before their callees, siblings by name, the root module
    /// first. A module that is called twice occurs twice.
    ///
    /// The number of paths can be exponential in the number of modules, so the caller must limit how many it
    /// takes.
    pub fn module_paths(&self) -> impl Iterator<Item = ModulePath<'_>> {
        let root = ModulePath { key: String::new(), source: "", module: self.root() };
        let mut pending = vec![root];
        std::iter::from_fn(move || {
            let path = pending.pop()?;
            // The stack pops the last path first, so push the calls in reverse order.
            pending.extend(path.module.calls.iter().rev().map(|(name, (call, child))| {
                let key = match path.key.as_str() {
                    "" => name.to_string(),
                    key => format!("{key}.{name}"),
                };
                let source = path.module.source_of(name, call);
                ModulePath { key, source, module: self.module(*child) }
            }));
            Some(path)
        })
    }

    /// The `moved`, `removed` and `import` blocks, each once for every path of module calls that leads to it.
    pub fn others(&self) -> Vec<PlacedBlock<'_>> {
        if self.modules.iter().all(|it| it.others.is_empty()) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for path in self.module_paths().take(MAX_PATHS) {
            let names = path.key.split('.').filter(|it| !it.is_empty()).map(addr::SmolStr::from);
            let module = addr::ModulePath::new(names);
            let place = |entry| PlacedBlock { module: module.clone(), entry };
            found.extend(path.module.others.iter().map(place));
        }
        found
    }

    /// The source location of a part of an item. `None` if it has no range. The block is parsed again, because
    /// ranges are not stored: only diagnostics need them.
    pub fn locate(&self, origin: Origin, at: At) -> Option<Location> {
        crate::locate::locate(self, origin, at)
    }

    /// Adds to a runtime error the chain that explains why a value is ephemeral. The analysis has computed the
    /// chain already: as long as it is unknown if the value is ephemeral, the analysis reports a hint with the
    /// same chain.
    pub fn explained(&self, found: Diagnostic) -> Diagnostic {
        let known = found.location.as_ref().filter(|_| found.related.is_empty());
        let Some(known) = known.and_then(|at| self.explanation(at, &found)) else { return found };
        let note = known.detail.split_once(&*found.detail).map(|(_, note)| note);
        Diagnostic {
            detail: format!("{}{}", found.detail, note.unwrap_or_default()),
            related: known.related.clone(),
            ..found
        }
    }

    /// The first hint on the same subject at the location, or else inside of it.
    fn explanation(&self, at: &Location, found: &Diagnostic) -> Option<&Diagnostic> {
        let is_about =
            |it: &&Diagnostic| it.id() == found.id() || it.detail.contains(&found.detail);
        let here = self.explanations.get(at).into_iter().flatten();
        here.chain(self.explanations_inside(at)).find(is_about)
    }

    fn explanations_inside(&self, at: &Location) -> impl Iterator<Item = &Diagnostic> {
        let (path, end) = (Arc::clone(&at.path), at.range.end);
        let last = Location { path, range: ByteRange { start: end, end } };
        let inside = self.explanations.range(at..&last);
        inside.filter(move |(it, _)| it.range.end <= end).flat_map(|(_, hints)| hints)
    }

    /// The header of the block that contains an item, which diagnostics show after "in": `resource "a" "b"`.
    pub fn context(&self, origin: Origin) -> Option<String> {
        crate::locate::context(&self.sources, origin)
    }
}

/// Typed access to the declaration of an entry. Each method panics if the entry has another kind; the construction
/// of [`Module`] excludes that.
impl Entry {
    /// The item as a variable.
    pub fn variable(&self) -> &Variable {
        self.item.kind.as_variable().expect("filed under variables")
    }

    /// The item as an output.
    pub fn output(&self) -> &Output {
        self.item.kind.as_output().expect("filed under outputs")
    }

    /// The item as a resource.
    #[inline]
    pub fn resource(&self) -> &Resource {
        self.item.kind.as_resource().expect("filed under resources")
    }

    /// The item as a module call.
    pub fn module_call(&self) -> &ModuleCall {
        self.item.kind.as_module_call().expect("filed under calls")
    }

    /// The item as a provider configuration.
    pub fn provider_config(&self) -> &ProviderConfig {
        self.item.kind.as_provider().expect("filed under providers")
    }

    /// The item as a check.
    pub fn check(&self) -> &Check {
        self.item.kind.as_check().expect("filed under checks")
    }
}
