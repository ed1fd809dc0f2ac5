//! The program: an immutable picture of a whole configuration that the engine runs.
//!
//! It holds no database. Items are shared: those that did not change keep their `Arc` from one revision to the next,
//! so the engine can tell by pointer what an edit touched.

use std::{collections::BTreeMap, sync::Arc};

use addr::ProviderSource;
use db::{ByteRange, Diagnostic, Location, Sources};
use indexmap::IndexMap;
use provider::ProviderSchemas;
use rustc_hash::FxBuildHasher;
use values::Str;

use crate::{
    expr::{At, Expr, Literal},
    item::{Check, Item, ModuleCall, Output, ProviderConfig, Resource, Variable},
};

/// A module directory of the program; an index into [`Program::modules`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleId(pub u32);

/// A whole configuration, lowered and resolved.
#[derive(Clone)]
pub struct Program {
    /// Every module directory once, however often it is called, unless its calls lead to other modules each time. The root is
    /// the first.
    pub modules: Vec<Arc<Module>>,
    /// The schemas of every provider that is used.
    pub schemas: BTreeMap<ProviderSource, Arc<ProviderSchemas>>,
    /// The text behind it all, for diagnostics.
    pub sources: Sources,
    /// What override files change, by the file and the block that are changed: the item, and what changes it.
    pub overrides: Arc<Overrides>,
    /// Places where the analysis knows that a value may be ephemeral and may not be, with how it came to be so.
    pub explanations: Arc<Explanations>,
}

/// Hints of the analysis with further places, by their own place.
pub type Explanations = BTreeMap<Location, Vec<Diagnostic>>;

/// What override files change, by the file and the block that are changed: the item, and what changes it.
pub type Overrides = BTreeMap<(u32, u32), Vec<(u32, Origin)>>;

/// Declarations of one kind, in the order of their names. There may be as many as a configuration has lines, and every
/// reference looks for one: it is found by its hash.
pub type Named<K> = IndexMap<K, Entry, FxBuildHasher>;

/// A module directory.
#[derive(Clone)]
pub struct Module {
    /// Its own index.
    pub id: ModuleId,
    /// The directory, relative to the root module where it can be (`.` is the root): what `path.module` gives.
    pub dir: Str,
    /// Input variables.
    pub variables: Named<Str>,
    /// Local values.
    pub locals: Named<Str>,
    /// Output values.
    pub outputs: Named<Str>,
    /// Managed, data and ephemeral resources.
    pub resources: Named<addr::Resource>,
    /// Module calls with the directory that each one calls.
    pub calls: BTreeMap<Str, (Entry, ModuleId)>,
    /// What the sources of calls come to that are no literals.
    pub sources: BTreeMap<Str, Str>,
    /// The same of version constraints.
    pub versions: BTreeMap<Str, Str>,
    /// Provider configurations by local name and alias.
    pub providers: BTreeMap<(Str, Option<Str>), Entry>,
    /// `check` blocks.
    pub checks: BTreeMap<Str, Entry>,
    /// `moved`, `removed` and `import` blocks, each kind in source order.
    pub others: Vec<Entry>,
    /// Where each local provider name comes from: declared ones and implied ones.
    pub provider_sources: BTreeMap<Str, ProviderSource>,
    /// The aliases that the caller must pass (`configuration_aliases`), by local name.
    pub configuration_aliases: BTreeMap<Str, Vec<Str>>,
}

impl Module {
    /// The `source` of a call; nothing where it is not known.
    pub fn source_of<'m>(&'m self, name: &Str, call: &'m Entry) -> &'m str {
        let written = call.module_call().source.as_ref();
        written.or_else(|| self.sources.get(name)).map(|it| &**it).unwrap_or_default()
    }

    /// The `version` of a call, if it has one.
    pub fn version_of(&self, name: &Str, call: &Entry) -> Option<Str> {
        let written = call.module_call().version?;
        match &call.item.exprs[written] {
            Expr::Literal(Literal::String(text)) => Some(text.clone()),
            _ => self.versions.get(name).cloned(),
        }
    }

    /// Every item that means something to the engine.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        let named = self.variables.values().chain(self.locals.values());
        let named = named.chain(self.outputs.values()).chain(self.resources.values());
        let calls = self.calls.values().map(|(call, _)| call);
        named.chain(calls).chain(self.providers.values()).chain(self.checks.values())
    }
}

/// A module as one path of calls leads to it.
pub struct ModulePath<'p> {
    /// The names of the calls, joined with dots; empty for the root module.
    pub key: String,
    /// The `source` of the last call; empty for the root module.
    pub source: &'p str,
    /// Where the path ends.
    pub module: &'p Module,
}

/// An item of the program and where it stands.
#[derive(Clone)]
pub struct Entry {
    /// The item.
    pub item: Arc<Item>,
    /// Where it stands.
    pub origin: Origin,
}

/// Where an item stands: enough to find its ranges again, on demand.
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

    /// Every path of module calls that leads to a module, callers before what they call, siblings by name; the root
    /// first. A module that is called twice is there twice.
    ///
    /// Paths can be many more than modules are: the caller bounds how many it takes.
    pub fn module_paths(&self) -> impl Iterator<Item = ModulePath<'_>> {
        let root = ModulePath { key: String::new(), source: "", module: self.root() };
        let mut pending = vec![root];
        std::iter::from_fn(move || {
            let path = pending.pop()?;
            // The last one that is put down is the first to be taken up.
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

    /// Where something of an item stands in the text. Ranges are not kept: the block is parsed again, which only
    /// happens when something is shown to a person.
    pub fn locate(&self, origin: Origin, at: At) -> Option<Location> {
        crate::source_map::locate(self, origin, at)
    }

    /// Adds to an error of a run how an ephemeral value came to its place. The analysis found that before: while it did
    /// not know whether the value would be ephemeral, it was a hint.
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

    /// The hint at a place, or else the first one inside of it, that is about the same.
    fn explanation(&self, at: &Location, found: &Diagnostic) -> Option<&Diagnostic> {
        let is_about = |it: &&Diagnostic| it.id == found.id || it.detail.contains(&found.detail);
        let here = self.explanations.get(at).into_iter().flatten();
        here.chain(self.explanations_inside(at)).find(is_about)
    }

    fn explanations_inside(&self, at: &Location) -> impl Iterator<Item = &Diagnostic> {
        let (path, end) = (Arc::clone(&at.path), at.range.end);
        let last = Location { path, range: ByteRange { start: end, end } };
        let inside = self.explanations.range(at..&last);
        inside.filter(move |(it, _)| it.range.end <= end).flat_map(|(_, hints)| hints)
    }

    /// The header of the block around an item, as diagnostics show it after "in": `resource "a" "b"`.
    pub fn context(&self, origin: Origin) -> Option<String> {
        crate::source_map::context(&self.sources, origin)
    }
}

/// Typed access to what an entry declares. Each panics only if the entry was filed under the wrong kind, which the
/// construction of [`Module`] excludes.
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
