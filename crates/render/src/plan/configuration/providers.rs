//! The provider configuration of each resource, and the contents of provider configurations.

use std::sync::Arc;

use addr::{ProviderSource, VersionConstraint};
use hir::{
    Entry, Module, ModuleId, Program,
    item::{Item, Resource},
};
use provider::Schema;
use serde_json::{Map, Value as Json};
use sorted::TreeMap;
use values::Str;

use crate::{Schemas, json, plan::configuration::expression::Expressions};

/// A module at one of its calls. Its provider configurations depend on the chain of callers.
pub(super) struct Place<'a> {
    program: &'a Program,
    /// The schemas. The program of a saved configuration was built without them.
    schemas: Schemas<'a>,
    id: ModuleId,
    /// The modules around this one.
    around: Vec<ModuleId>,
    /// The module calls, if only the declarations of this module are shown.
    single: Option<&'a [Arc<Item>]>,
    /// The static address of the module. `None` for the root module.
    address: Option<String>,
    /// The configuration that each inherited one comes from, by key. Empty while the configurations are collected.
    inherited: Arc<TreeMap<String, String>>,
}

impl<'a> Place<'a> {
    pub(super) fn root(program: &'a Program, schemas: Schemas<'a>) -> Place<'a> {
        let id = program.root().id;
        Place {
            program,
            schemas,
            id,
            around: Vec::new(),
            single: None,
            address: None,
            inherited: Arc::default(),
        }
    }

    /// The root module alone.
    pub(super) fn single(program: &'a Program, calls: &'a [Arc<Item>]) -> Place<'a> {
        Place { single: Some(calls), ..Place::root(program, &|_| None) }
    }

    /// Returns the module with resources that use inherited configurations directly.
    pub(super) fn with_inherited(self, configurations: &Configurations) -> Place<'a> {
        let inherited = configurations.0.iter();
        let inherited =
            inherited.filter_map(|(key, it)| Some((key.clone(), it.inherited.clone()?)));
        Place { inherited: Arc::new(inherited.collect()), ..self }
    }

    /// The module calls, if only the declarations of this module are shown.
    pub(super) fn single_calls(&self) -> Option<&'a [Arc<Item>]> {
        self.single
    }

    /// A part of the document that a single module does not have.
    pub(super) fn unless_single(&self, part: impl FnOnce() -> Option<Json>) -> Option<Json> {
        if self.single.is_some() { None } else { part() }
    }

    /// The module of a call. `None` if the call leads back to a module around it, which is an error in a configuration,
    /// but may be written in a plan file.
    pub(super) fn inside(&self, call: &Entry, id: ModuleId) -> Option<Place<'a>> {
        let mut around = self.around.clone();
        around.push(self.id);
        if around.contains(&id) {
            return None;
        }
        let outer = self.address.as_ref().map(|it| format!("{it}.")).unwrap_or_default();
        let address = Some(format!("{outer}module.{}", call.module_call().name));
        Some(Place { id, around, address, inherited: Arc::clone(&self.inherited), ..*self })
    }

    pub(super) fn module(&self) -> &'a Module {
        self.program.module(self.id)
    }

    /// The schema of a resource.
    pub(super) fn schema(&self, resource: &Resource) -> Option<Arc<Schema>> {
        let source = self.module().provider_sources.get(&local_name(resource))?;
        let schemas = (self.schemas)(source)?;
        schemas.of_mode(resource.resource.mode, &resource.resource.type_name)
    }

    /// The key of a resource's provider configuration in the document.
    pub(super) fn provider_key(&self, resource: &Resource) -> String {
        let alias = resource.provider.as_ref().and_then(|it| it.alias.clone());
        let key = self.key(&local_name(resource), alias.as_ref());
        self.inherited.get(&key).cloned().unwrap_or(key)
    }

    /// The key of a provider configuration in this module.
    fn key(&self, name: &str, alias: Option<&Str>) -> String {
        let name = with_alias(name, alias);
        match &self.address {
            Some(address) => format!("{address}:{name}"),
            None => name,
        }
    }
}

fn with_alias(name: &str, alias: Option<&Str>) -> String {
    let alias = alias.map(|it| format!(".{it}")).unwrap_or_default();
    format!("{name}{alias}")
}

/// The local name of a resource's provider in its module.
fn local_name(resource: &Resource) -> Str {
    match &resource.provider {
        Some(provider) => provider.local_name.clone(),
        None => resource.resource.implied_provider().into(),
    }
}

/// The provider configurations of the module and of its child modules, by key.
#[derive(Default)]
pub(super) struct Configurations(TreeMap<String, Configuration>);

struct Configuration {
    source: String,
    /// The key of the configuration that this one is in truth. `None` if it is none of a caller.
    inherited: Option<String>,
    json: Json,
}

impl Configurations {
    pub(super) fn of(place: &Place<'_>) -> Configurations {
        let mut found = Configurations::default();
        found.collect(place, None);
        found
    }

    /// The object of the document, which has no inherited configurations.
    pub(super) fn json(self) -> Map<String, Json> {
        let own = self.0.into_iter().filter(|(_, it)| it.inherited.is_none());
        own.map(|(key, it)| (key, it.json)).collect()
    }

    /// Follows a configuration of a caller to the module that has it. `None` if the caller has none for the provider.
    fn origin(&self, start: String, source: &str) -> Option<String> {
        let mut found = None;
        let mut next = Some(start);
        while let Some(key) = next {
            match self.0.get(&key).filter(|it| it.source == source) {
                Some(it) => next = it.inherited.clone(),
                None => break,
            }
            found = Some(key);
        }
        found
    }

    fn collect(&mut self, place: &Place<'_>, caller: Option<&Place<'_>>) {
        let module = place.module();
        for ((name, alias), entry) in &module.providers {
            let source = module.provider_sources.get(name).map(ToString::to_string);
            let json = declared(place, name, alias.as_ref(), entry);
            let source = source.unwrap_or_default();
            let key = place.key(name, alias.as_ref());
            self.0.insert(key, Configuration { source, inherited: None, json });
        }
        self.required(place, caller);
        for source in module.requirements.keys() {
            let name = source.type_name.as_str();
            if !self.0.contains_key(&place.key(name, None)) {
                let json = without_block(place, name, source, None);
                self.add(place, caller, name, source, json);
            }
        }
        for (call, id) in module.calls.values().filter(|_| place.single.is_none()) {
            let Some(called) = place.inside(call, *id) else { continue };
            self.passed(place, call, &called);
            self.collect(&called, Some(place));
        }
    }

    /// Adds what `required_providers` has and no block configures.
    fn required(&mut self, place: &Place<'_>, caller: Option<&Place<'_>>) {
        let module = place.module();
        for (name, aliases) in &module.configuration_aliases {
            let Some(source) = module.provider_sources.get(name) else { continue };
            let version = version(module, source);
            let json = || without_block(place, name, source, version.clone());
            for alias in aliases {
                let source = source.to_string();
                let configuration = Configuration { source, inherited: None, json: json() };
                self.0.entry(place.key(name, Some(alias))).or_insert(configuration);
            }
            if !self.0.contains_key(&place.key(name, None)) {
                self.add(place, caller, name, source, json());
            }
        }
    }

    /// Adds a configuration without a block, which the caller may have under the same name.
    fn add(
        &mut self,
        place: &Place<'_>,
        caller: Option<&Place<'_>>,
        name: &str,
        source: &ProviderSource,
        json: Json,
    ) {
        let source = source.to_string();
        let inherited = caller.and_then(|it| self.origin(it.key(name, None), &source));
        self.0.insert(place.key(name, None), Configuration { source, inherited, json });
    }

    /// Adds the configurations that a call passes.
    fn passed(&mut self, place: &Place<'_>, call: &Entry, called: &Place<'_>) {
        for it in call.module_call().providers.iter().flatten() {
            let Some(source) = called.module().provider_sources.get(&it.child_name) else {
                continue;
            };
            let name = with_alias(&it.child_name, it.child_alias.as_ref());
            let json = without_block(called, &name, source, None);
            let source = source.to_string();
            let parent = place.key(&it.parent.local_name, it.parent.alias.as_ref());
            let inherited = self.origin(parent, &source);
            self.0.insert(called.key(&name, None), Configuration { source, inherited, json });
        }
    }
}

/// The combined version constraints of a provider in a module. `None` without any.
fn version(module: &Module, source: &ProviderSource) -> Option<String> {
    let constraints = module.requirements.get(source)?.iter();
    let parsed = constraints.filter_map(|it| VersionConstraint::parse_provider(it).ok());
    let all = parsed.fold(VersionConstraint::any(), |all, it| all.and(&it));
    Some(all.canonical()).filter(|it| !it.is_empty())
}

fn without_block(
    place: &Place<'_>,
    name: &str,
    source: &ProviderSource,
    version: Option<String>,
) -> Json {
    json::object([
        ("name", Some(name.into())),
        ("full_name", Some(source.to_string().into())),
        ("version_constraint", version.map(Json::from)),
        ("module_address", place.address.clone().map(Json::from)),
    ])
}

fn declared(place: &Place<'_>, name: &Str, alias: Option<&Str>, entry: &Entry) -> Json {
    let source = place.module().provider_sources.get(name);
    let schemas = source.and_then(|it| (place.schemas)(it));
    let block = schemas.as_ref().map(|it| it.provider.block());
    let body = &entry.provider_config().body;
    let expressions = place.unless_single(|| {
        let expressions = Expressions::of(entry).body(body, block);
        (!expressions.is_empty()).then_some(Json::Object(expressions))
    });
    json::object([
        ("name", Some((&**name).into())),
        ("full_name", source.map(|it| it.to_string().into())),
        ("alias", alias.map(|it| (&**it).into())),
        ("version_constraint", source.and_then(|it| version(place.module(), it)).map(Json::from)),
        ("module_address", place.address.clone().map(Json::from)),
        ("expressions", expressions),
    ])
}
