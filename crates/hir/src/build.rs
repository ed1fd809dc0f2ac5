//! Builds the [`Program`], a snapshot of the configuration that the engine runs without the database.

use std::sync::Arc;

use addr::ProviderSource;
use db::{Block, Directory, File, SourceText, Sources};
use provider::ProviderSchemas;
use rustc_hash::FxHashMap;
use sorted::{TreeMap, TreeSet};
use values::Str;

use crate::{
    Db,
    content::{block_items, block_names, item},
    item::{ItemKind, ModuleCall},
    item_name::{ItemKey, ItemName, NameKind, import_provider_name, provider_local_name},
    module_calls::{called_directory, module_calls},
    names::{all_of, lookup, required_providers},
    program::{
        BlockPlace, Entry, Module, ModuleId, Named, Origin, OverriddenItem, Overrides, Program,
    },
    statics::calls::{ResolvedModule, Target, modules},
    symbols::{all_of_kind, module_outline, names_of_kind},
    workspace::Workspace,
};

/// Builds the program of a configuration. The program is complete only if the configuration has no errors; a call
/// whose module was not found is left out.
pub fn program(db: &dyn Db, workspace: Workspace) -> Program {
    ProgramButValues::of(db, workspace).with(NamedValues::of(db, workspace))
}

/// A program without the locals and outputs of its modules. About half of all names are of these kinds, so another
/// thread can build [`NamedValues`] at the same time.
pub struct ProgramButValues(Program);

impl ProgramButValues {
    /// Builds everything but the locals and outputs.
    pub fn of(db: &dyn Db, workspace: Workspace) -> ProgramButValues {
        let directories = reachable(db, workspace);
        let build = Build::of(db, workspace, &directories);
        let modules = match modules(db, workspace) {
            None => build.directories(&directories),
            Some(resolved) => build.resolved(&resolved.modules),
        };
        ProgramButValues(Program {
            modules,
            schemas: schemas(db, workspace),
            provisioners: workspace.provisioners(db).clone(),
            sources: sources(db, &directories),
            overrides: Arc::new(build.overrides(&directories)),
            explanations: Arc::default(),
            doubles: Arc::default(),
        })
    }

    /// Adds the locals and outputs, which completes the program.
    pub fn with(self, values: NamedValues) -> Program {
        let (mut program, mut of_directories) = (self.0, values.0);
        let mut uses: FxHashMap<Str, usize> = FxHashMap::default();
        program.modules.iter().for_each(|it| *uses.entry(it.dir.clone()).or_default() += 1);
        for module in &mut program.modules {
            let left = uses.get_mut(&module.dir).map_or(0, |it| {
                *it -= 1;
                *it
            });
            let values = match left {
                0 => of_directories.remove(&module.dir),
                _ => of_directories.get(&module.dir).cloned(),
            };
            let module = Arc::make_mut(module);
            let ValuesOfModule { locals, outputs } = values.unwrap_or_default();
            (module.locals, module.outputs) = (locals, outputs);
        }
        program
    }
}

/// The locals and outputs of the modules of a configuration, by directory.
pub struct NamedValues(FxHashMap<Str, ValuesOfModule>);

#[derive(Clone, Default)]
struct ValuesOfModule {
    locals: Named<Str>,
    outputs: Named<Str>,
}

impl NamedValues {
    /// Builds the locals and outputs of all modules.
    pub fn of(db: &dyn Db, workspace: Workspace) -> NamedValues {
        let directories = reachable(db, workspace);
        let build = Build::of(db, workspace, &directories);
        let of_directory = |directory: &Directory| {
            let of_kind = |kind| table(build.named(*directory, kind));
            let (locals, outputs) = (of_kind(NameKind::Local), of_kind(NameKind::Output));
            (Str::from(&**directory.path(db)), ValuesOfModule { locals, outputs })
        };
        NamedValues(directories.iter().map(of_directory).collect())
    }
}

/// Updates the program `before` after an edit of `blocks` in one module. Returns `None` if an update is not
/// possible and the caller must build the program again: the module is called more than once, a block declared
/// other names before, blocks came or went, or a changed item affects other parts of the program.
///
/// The cost depends on the number of names in the module; no other block is read.
pub fn program_with(
    db: &dyn Db,
    before: &Program,
    directory: Directory,
    blocks: &[Block],
) -> Option<Program> {
    let mut program = before.clone();
    let dir = directory.path(db);
    let mut of_directory = program.modules.iter_mut().filter(|module| *module.dir == **dir);
    // A directory with several modules needs a full build: this function does not resolve calls to modules.
    let module = Arc::make_mut(of_directory.next()?);
    if of_directory.next().is_some() {
        return None;
    }
    for &block in blocks {
        // A block of an override file changes items of other blocks.
        if db::is_override(block.file(db).path(db)) {
            return None;
        }
        for (index, name) in (0u32..).zip(block_names(db, block)) {
            let key = ItemKey { block, index };
            if lookup(db, directory, name) == Some(key) {
                replace(db, module, directory, name, key)?;
            }
        }
    }
    let files: TreeSet<&Arc<str>> = blocks.iter().map(|block| block.file(db).path(db)).collect();
    let texts = program.sources.files.iter().map(|file| match files.contains(&file.path) {
        true => blocks
            .iter()
            .find(|block| *block.file(db).path(db) == file.path)
            .map(|block| SourceText { blocks: texts_of(db, block.file(db)), ..file.clone() }),
        false => Some(file.clone()),
    });
    program.sources.files = texts.collect::<Option<Vec<SourceText>>>()?.into();
    Some(program)
}

/// Replaces the item of a declared name. Returns `None` if the name has no entry or its item has effects
/// elsewhere.
fn replace(
    db: &dyn Db,
    module: &mut Module,
    directory: Directory,
    name: &ItemName,
    key: ItemKey,
) -> Option<()> {
    let new = item(db, key).clone();
    let entry = match name {
        ItemName::Variable(name) => module.variables.get_mut(name)?,
        ItemName::Local(name) => module.locals.get_mut(name)?,
        ItemName::Output(name) => module.outputs.get_mut(name)?,
        ItemName::Check(name) => module.checks.get_mut(name)?,
        ItemName::Resource(resource) => {
            let local_name = provider_local_name(new.kind.as_resource()?);
            let sources = module.provider_sources.entry(local_name.into());
            let source =
                sources.or_insert_with_key(|name| required_providers(db, directory).source(name));
            module.requirements.entry(source.clone()).or_default();
            module.resources.get_mut(resource)?
        }
        // These items have effects in several parts of the program.
        ItemName::Module(_)
        | ItemName::Provider(..)
        | ItemName::Terraform
        | ItemName::Moved
        | ItemName::Removed
        | ItemName::Import
        | ItemName::Other => {
            return None;
        }
    };
    entry.item = new;
    Some(())
}

/// The directories of the root module and of all modules that it calls, directly or indirectly. Each directory
/// occurs once; the root is first.
pub fn reachable(db: &dyn Db, workspace: Workspace) -> Vec<Directory> {
    let mut directories = vec![workspace.root(db)];
    let mut next = 0;
    while let Some(&directory) = directories.get(next) {
        next += 1;
        for (_, child) in module_calls(db, workspace, directory) {
            if !directories.contains(&child) {
                directories.push(child);
            }
        }
    }
    directories
}

fn sources(db: &dyn Db, directories: &[Directory]) -> Sources {
    let files = directories.iter().flat_map(|it| it.files(db));
    let source = |file: &File| SourceText {
        path: file.path(db).clone(),
        blocks: texts_of(db, *file),
        may_hold_secrets: false,
    };
    Sources { files: files.map(source).collect() }
}

/// Maps each block to the number of its file and its index in that file.
fn places(db: &dyn Db, directories: &[Directory]) -> FxHashMap<Block, BlockPlace> {
    let mut places = FxHashMap::default();
    for (number, file) in (0u32..).zip(directories.iter().flat_map(|it| it.files(db))) {
        places.extend(
            file.blocks(db)
                .iter()
                .copied()
                .zip((0u32..).map(|block| BlockPlace { file: number, block })),
        );
    }
    places
}

fn texts_of(db: &dyn Db, file: File) -> Arc<[Arc<str>]> {
    file.blocks(db).iter().map(|block| block.text(db).clone()).collect()
}

struct Build<'db> {
    db: &'db dyn Db,
    workspace: Workspace,
    places: FxHashMap<Block, BlockPlace>,
}

impl<'db> Build<'db> {
    fn of(db: &'db dyn Db, workspace: Workspace, directories: &[Directory]) -> Build<'db> {
        Build { db, workspace, places: places(db, directories) }
    }

    /// The modules if all sources are literals: one module per directory.
    fn directories(&self, directories: &[Directory]) -> Vec<Arc<Module>> {
        let numbered = || (0u32..).map(ModuleId).zip(directories);
        let ids: FxHashMap<Directory, ModuleId> = numbered().map(|(id, it)| (*it, id)).collect();
        let called = |directory: Directory, call: &ModuleCall| {
            let child = called_directory(self.db, self.workspace, directory, call)?;
            ids.get(&child).copied()
        };
        let module = |(id, directory): (ModuleId, &Directory)| {
            Arc::new(self.module(id, *directory, |call| called(*directory, call)))
        };
        numbered().map(module).collect()
    }

    /// The modules if some sources are computed: static evaluation gives one module per resolved target of a call.
    fn resolved(&self, resolved: &[ResolvedModule]) -> Vec<Arc<Module>> {
        let module = |(id, of): (ModuleId, &ResolvedModule)| {
            let target = |name: &Str| of.calls.iter().find(|(it, _)| it == name).map(|(_, it)| it);
            let called = |call: &ModuleCall| Some(ModuleId(target(&call.name)?.module as u32));
            let mut module = self.module(id, of.directory, called);
            let known = |part: fn(&Target) -> &Option<Str>| {
                let calls = of.calls.iter();
                let known = calls.filter_map(move |(name, it)| Some((name, part(it).as_ref()?)));
                known.map(|(name, it)| (name.clone(), it.clone())).collect()
            };
            module.sources = known(|it| &it.source);
            module.versions = known(|it| &it.version);
            Arc::new(module)
        };
        (0u32..).map(ModuleId).zip(resolved).map(module).collect()
    }

    fn module(
        &self,
        id: ModuleId,
        directory: Directory,
        called: impl Fn(&ModuleCall) -> Option<ModuleId>,
    ) -> Module {
        let required = required_providers(self.db, directory);
        let mut module = Module {
            id,
            dir: Str::from(&**directory.path(self.db)),
            variables: Named::default(),
            locals: Named::default(),
            outputs: Named::default(),
            resources: Named::default(),
            calls: TreeMap::new(),
            sources: TreeMap::new(),
            versions: TreeMap::new(),
            providers: TreeMap::new(),
            checks: TreeMap::new(),
            assertions: None,
            others: self.others(directory),
            provider_sources: TreeMap::new(),
            requirements: module_requirements(self.db, directory),
            configuration_aliases: TreeMap::new(),
        };
        for (local_name, (entry, _)) in &required.declared {
            module.provider_sources.insert(local_name.clone(), required.source(local_name));
            module
                .configuration_aliases
                .insert(local_name.clone(), entry.configuration_aliases.to_vec());
        }
        self.file_all(&mut module, directory, called);
        for local_name in provider_names(&module) {
            let entry = module.provider_sources.entry(local_name);
            entry.or_insert_with_key(|local_name| required.source(local_name));
        }
        module
    }

    /// The declarations of a kind whose names are plain strings.
    fn named(&self, directory: Directory, kind: NameKind) -> impl Iterator<Item = (Str, Entry)> {
        names_of_kind(self.db, directory, kind).into_iter().filter_map(|(name, key)| match name {
            ItemName::Variable(name)
            | ItemName::Local(name)
            | ItemName::Output(name)
            | ItemName::Check(name)
            | ItemName::Module(name) => Some((name, self.entry(key))),
            _ => None,
        })
    }

    /// Adds all declarations but the locals and outputs to the module. The names come sorted, so each table is built
    /// in one pass.
    fn file_all(
        &self,
        module: &mut Module,
        directory: Directory,
        called: impl Fn(&ModuleCall) -> Option<ModuleId>,
    ) {
        let names = |kind| names_of_kind(self.db, directory, kind).into_iter();
        let named = |kind| self.named(directory, kind);
        module.variables = table(named(NameKind::Variable));
        module.checks = named(NameKind::Check).collect();
        module.resources = table(names(NameKind::Resource).filter_map(|(name, key)| match name {
            ItemName::Resource(resource) => Some((resource, self.entry(key))),
            _ => None,
        }));
        module.providers = names(NameKind::Provider)
            .filter_map(|(name, key)| match name {
                ItemName::Provider(name, alias) => Some(((name, alias), self.entry(key))),
                _ => None,
            })
            .collect();
        module.calls = named(NameKind::Module)
            .filter_map(|(name, entry)| {
                let id = called(entry.item.kind.as_module_call()?)?;
                Some((name, (entry, id)))
            })
            .collect();
    }

    fn others(&self, directory: Directory) -> Vec<Entry> {
        let kinds = [ItemName::Moved, ItemName::Removed, ItemName::Import];
        let keys = kinds.iter().flat_map(|kind| all_of(self.db, directory, kind));
        keys.map(|key| self.entry(key)).collect()
    }

    /// The entry of a declaration. An item that an edit leaves equal keeps its identity in the next program.
    fn entry(&self, key: ItemKey) -> Entry {
        Entry { item: item(self.db, key).clone(), origin: self.origin(key) }
    }

    fn origin(&self, key: ItemKey) -> Origin {
        let BlockPlace { file, block } = self.places[&key.block];
        Origin { file, block, item: key.index }
    }

    /// The overridden items of each block, with the override blocks that change them. Reads no blocks of a module
    /// without override files.
    fn overrides(&self, directories: &[Directory]) -> Overrides {
        let is_override = |file: &File| db::is_override(file.path(self.db));
        let has_any = |directory: &&Directory| directory.files(self.db).iter().any(is_override);
        let mut found = TreeMap::new();
        for file in directories.iter().filter(has_any).flat_map(|it| it.files(self.db)) {
            for block in file.blocks(self.db) {
                let overrides = block.overrides(self.db).iter();
                let of_block: Vec<OverriddenItem> = overrides
                    .map(|it| {
                        let by = self.origin(ItemKey { block: it.by, index: it.by_item });
                        OverriddenItem { item: it.item, by }
                    })
                    .collect();
                if !of_block.is_empty() {
                    found.insert(self.places[block], of_block);
                }
            }
        }
        found
    }
}

/// All loaded schemas. A provider that only the state refers to is included, because its objects may have to be
/// destroyed.
fn schemas(db: &dyn Db, workspace: Workspace) -> TreeMap<ProviderSource, Arc<ProviderSchemas>> {
    let inputs = workspace.providers(db);
    inputs.iter().map(|(source, input)| (source.clone(), input.schemas(db).0.clone())).collect()
}

/// The providers that the configuration needs, each with its version constraints, for installation.
pub fn provider_requirements(
    db: &dyn Db,
    workspace: Workspace,
) -> TreeMap<ProviderSource, Vec<Str>> {
    let mut requirements: TreeMap<ProviderSource, Vec<Str>> = TreeMap::new();
    for directory in reachable(db, workspace) {
        for (source, versions) in module_requirements(db, directory) {
            requirements.entry(source).or_default().extend(versions);
        }
    }
    requirements
}

/// The providers that one module needs, each with its version constraints, without those of the modules that it
/// calls.
pub fn module_requirements(db: &dyn Db, directory: Directory) -> TreeMap<ProviderSource, Vec<Str>> {
    let mut requirements: TreeMap<ProviderSource, Vec<Str>> = TreeMap::new();
    let required = required_providers(db, directory);
    for (local_name, (entry, _)) in &required.declared {
        let versions = requirements.entry(required.source(local_name)).or_default();
        versions.extend(entry.version.as_ref().map(|(text, _)| text.clone()));
    }
    let named = module_outline(db, directory).map(|it| it.providers.clone());
    for local_name in named.unwrap_or_else(|| named_providers(db, directory)) {
        requirements.entry(required.source(&local_name)).or_default();
    }
    for (_, key) in names_of_kind(db, directory, NameKind::Provider) {
        let Some(config) = item(db, key).kind.as_provider() else { continue };
        let versions = requirements.entry(required.source(&config.local_name)).or_default();
        versions.extend(config.version.clone());
    }
    requirements
}

/// The names of the provisioners that the configuration uses.
pub fn provisioner_kinds(db: &dyn Db, workspace: Workspace) -> TreeSet<Str> {
    let mut kinds = TreeSet::new();
    for directory in reachable(db, workspace) {
        let resources = all_of_kind(db, directory, NameKind::Resource);
        for key in resources.into_iter().chain(all_of_kind(db, directory, NameKind::Removed)) {
            let provisioners = match &item(db, key).kind {
                ItemKind::Resource(it) => &it.provisioners,
                ItemKind::Removed(it) => &it.provisioners,
                _ => continue,
            };
            kinds.extend(provisioners.iter().map(|it| it.kind.clone()));
        }
    }
    kinds
}

/// Builds a table of declarations. Reserves the upper bound of the iterator, because nearly all names have a
/// declaration.
fn table<K: std::hash::Hash + Eq>(declared: impl Iterator<Item = (K, Entry)>) -> Named<K> {
    let most = declared.size_hint().1.unwrap_or_default();
    let mut table = Named::with_capacity_and_hasher(most, Default::default());
    table.extend(declared);
    table
}

/// The local names of all providers that the module's calls, provider blocks and resources use.
fn provider_names(module: &Module) -> TreeSet<Str> {
    let calls = module.calls.values().filter_map(|(call, _)| call.item.kind.as_module_call());
    let passed = calls.flat_map(|call| call.providers.iter().flatten());
    let passed = passed.map(|it| &*it.parent.local_name);
    let configured = module.providers.keys().map(|(local_name, _)| &**local_name);
    let used = module.resources.values().map(|entry| provider_local_name(entry.resource()));
    let imports = module.others.iter().filter_map(|entry| entry.item.kind.as_import());
    let imported = imports.filter_map(import_provider_name);
    distinct_names(passed.chain(configured).chain(used).chain(imported))
}

/// The local names of the providers that a module's resources and provider blocks use.
fn named_providers(db: &dyn Db, directory: Directory) -> TreeSet<Str> {
    let resources = all_of_kind(db, directory, NameKind::Resource).into_iter();
    let used = resources.filter_map(|key| {
        let item = &block_items(db, key.block)[key.index as usize];
        item.kind.as_resource().map(provider_local_name)
    });
    let configured = names_of_kind(db, directory, NameKind::Provider);
    let configured = configured.iter().filter_map(|(name, _)| match name {
        ItemName::Provider(local_name, _) => Some(&**local_name),
        _ => None,
    });
    let imports = all_of(db, directory, &ItemName::Import).into_iter();
    let imported = imports.filter_map(|key| {
        let item = &block_items(db, key.block)[key.index as usize];
        item.kind.as_import().and_then(import_provider_name)
    });
    distinct_names(used.chain(configured).chain(imported))
}

/// Collects distinct names. Allocates a name only at its first occurrence: thousands of resources share a few
/// providers.
fn distinct_names<'a>(all: impl Iterator<Item = &'a str>) -> TreeSet<Str> {
    let mut names: TreeSet<Str> = TreeSet::new();
    for name in all {
        if !names.contains(name) {
            names.insert(name.into());
        }
    }
    names
}
