//! From the database to the [`Program`]: a picture that the engine can run without it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use addr::ProviderSource;
use db::{Block, Directory, File, SourceText, Sources};
use provider::ProviderSchemas;
use rustc_hash::FxHashMap;
use values::Str;

use crate::{
    Db,
    item::ItemKind,
    names::{
        ItemKey, ItemName, block_items, block_names, called_directory, declarations, item, lookup,
        module_calls, provider_local_name, required_providers,
    },
    program::{Entry, Module, ModuleId, Origin, Program},
    workspace::Workspace,
};

/// Makes the program of a configuration. It is complete only if the configuration has no errors; a call whose module
/// was not found is left out.
pub fn program(db: &dyn Db, workspace: Workspace) -> Program {
    let directories = reachable(db, workspace);
    let (sources, places) = sources(db, &directories);
    let ids: FxHashMap<Directory, ModuleId> = directories
        .iter()
        .enumerate()
        .map(|(index, directory)| (*directory, ModuleId(index as u32)))
        .collect();
    let build = Build { db, workspace, ids, places };
    let modules = directories.iter().map(|directory| Arc::new(build.module(*directory))).collect();
    let schemas = schemas(db, workspace);
    Program { modules, schemas, sources }
}

/// The program after some blocks of one module changed, where the one before is at hand. `None` if that cannot be told from
/// it: the blocks declared other names before, blocks came or went, or what changed counts for more than itself.
///
/// Costs as much as the module has names, without looking at any of its other blocks.
pub fn program_with(
    db: &dyn Db,
    before: &Program,
    directory: Directory,
    blocks: &[Block],
) -> Option<Program> {
    let mut program = before.clone();
    let dir = directory.path(db);
    let module = program.modules.iter_mut().find(|module| *module.dir == **dir)?;
    let module = Arc::make_mut(module);
    for &block in blocks {
        for (index, name) in (0u32..).zip(block_names(db, block)) {
            let key = ItemKey { block, index };
            if lookup(db, directory, name) == Some(key) {
                replace(db, module, directory, name, key)?;
            }
        }
    }
    let files: BTreeSet<&Arc<str>> = blocks.iter().map(|block| block.file(db).path(db)).collect();
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

/// Puts the new item of a name where the old one is.
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
            let sources = module.provider_sources.entry(local_name);
            sources.or_insert_with_key(|name| required_providers(db, directory).source(name));
            module.resources.get_mut(resource)?
        }
        // What these say is spread over the program.
        ItemName::Module(_) | ItemName::Provider(..) | ItemName::Terraform | ItemName::Other => {
            return None;
        }
    };
    entry.item = new;
    Some(())
}

/// The root module and everything that its calls lead to, each directory once, the root first.
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

fn sources(db: &dyn Db, directories: &[Directory]) -> (Sources, FxHashMap<Block, (u32, u32)>) {
    let mut files = Vec::new();
    let mut places = FxHashMap::default();
    for directory in directories {
        for file in directory.files(db) {
            for (index, block) in file.blocks(db).iter().enumerate() {
                places.insert(*block, (files.len() as u32, index as u32));
            }
            files.push(SourceText {
                path: file.path(db).clone(),
                blocks: texts_of(db, *file),
                may_hold_secrets: false,
            });
        }
    }
    (Sources { files: files.into() }, places)
}

fn texts_of(db: &dyn Db, file: File) -> Arc<[Arc<str>]> {
    file.blocks(db).iter().map(|block| block.text(db).clone()).collect()
}

struct Build<'db> {
    db: &'db dyn Db,
    workspace: Workspace,
    ids: FxHashMap<Directory, ModuleId>,
    places: FxHashMap<Block, (u32, u32)>,
}

impl Build<'_> {
    fn module(&self, directory: Directory) -> Module {
        let required = required_providers(self.db, directory);
        let mut module = Module {
            id: self.ids[&directory],
            dir: Str::from(&**directory.path(self.db)),
            variables: BTreeMap::new(),
            locals: BTreeMap::new(),
            outputs: BTreeMap::new(),
            resources: BTreeMap::new(),
            calls: BTreeMap::new(),
            providers: BTreeMap::new(),
            checks: BTreeMap::new(),
            others: self.others(directory),
            provider_sources: BTreeMap::new(),
            configuration_aliases: BTreeMap::new(),
        };
        for (local_name, (entry, _)) in &required.declared {
            module.provider_sources.insert(local_name.clone(), required.source(local_name));
            module
                .configuration_aliases
                .insert(local_name.clone(), entry.configuration_aliases.to_vec());
        }
        for (name, key) in declarations(self.db, directory) {
            self.file(&mut module, directory, &name, self.entry(key));
        }
        module
    }

    fn others(&self, directory: Directory) -> Vec<Entry> {
        let blocks =
            directory.files(self.db).iter().flat_map(|file| file.blocks(self.db).iter().copied());
        let keys = blocks.flat_map(|block| {
            let items = block_items(self.db, block).iter().enumerate();
            let others = items.filter(|(_, item)| matches!(item.kind, ItemKind::Other(_)));
            others.map(move |(index, _)| ItemKey { block, index: index as u32 })
        });
        keys.map(|key| self.entry(key)).collect()
    }

    fn file(&self, module: &mut Module, directory: Directory, name: &ItemName, entry: Entry) {
        let required = required_providers(self.db, directory);
        let source_of = |module: &mut Module, local_name: Str| {
            // Thousands of resources share a handful of providers.
            let entry = module.provider_sources.entry(local_name);
            entry.or_insert_with_key(|local_name| required.source(local_name));
        };
        match name {
            ItemName::Variable(name) => drop(module.variables.insert(name.clone(), entry)),
            ItemName::Local(name) => drop(module.locals.insert(name.clone(), entry)),
            ItemName::Output(name) => drop(module.outputs.insert(name.clone(), entry)),
            ItemName::Resource(resource) => {
                source_of(module, provider_local_name(entry.resource()));
                module.resources.insert(resource.clone(), entry);
            }
            ItemName::Provider(local_name, alias) => {
                source_of(module, local_name.clone());
                module.providers.insert((local_name.clone(), alias.clone()), entry);
            }
            ItemName::Check(name) => drop(module.checks.insert(name.clone(), entry)),
            ItemName::Module(name) => {
                let ItemKind::ModuleCall(call) = &entry.item.kind else { return };
                for passed in call.providers.iter().flatten() {
                    source_of(module, passed.parent.local_name.clone());
                }
                let child = called_directory(self.db, self.workspace, directory, call);
                if let Some(&id) = child.and_then(|child| self.ids.get(&child)) {
                    module.calls.insert(name.clone(), (entry, id));
                }
            }
            ItemName::Terraform | ItemName::Other => {}
        }
    }

    fn entry(&self, key: ItemKey) -> Entry {
        let (file, block) = self.places[&key.block];
        Entry { item: item(self.db, key).clone(), origin: Origin { file, block, item: key.index } }
    }
}

/// All that are known, also of providers that only the state needs: what they made may have to be destroyed.
fn schemas(db: &dyn Db, workspace: Workspace) -> BTreeMap<ProviderSource, Arc<ProviderSchemas>> {
    let inputs = workspace.providers(db);
    inputs.iter().map(|(source, input)| (source.clone(), input.schemas(db).0.clone())).collect()
}

/// Every provider that the configuration names, with the constraints on its version: what must be installed.
pub fn provider_requirements(
    db: &dyn Db,
    workspace: Workspace,
) -> BTreeMap<ProviderSource, Vec<Str>> {
    let mut requirements: BTreeMap<ProviderSource, Vec<Str>> = BTreeMap::new();
    for directory in reachable(db, workspace) {
        let required = required_providers(db, directory);
        for (local_name, (entry, _)) in &required.declared {
            let versions = requirements.entry(required.source(local_name)).or_default();
            versions.extend(entry.version.clone());
        }
        let mut local_names: BTreeSet<Str> = BTreeSet::new();
        for (name, key) in declarations(db, directory) {
            match name {
                ItemName::Resource(_) => {
                    local_names.extend(item(db, key).kind.as_resource().map(provider_local_name));
                }
                ItemName::Provider(local_name, _) => {
                    local_names.insert(local_name);
                }
                _ => {}
            }
        }
        for local_name in local_names {
            requirements.entry(required.source(&local_name)).or_default();
        }
    }
    requirements
}
