//! The provider configuration of each resource, and the contents of provider configurations.

use std::sync::Arc;

use hir::{
    Entry, Module, ModuleId, Program,
    item::{Item, ModuleCall, Resource},
};
use provider::Schema;
use serde_json::{Map, Value as Json};
use values::Str;

use crate::{Schemas, json, plan::configuration::expression::Expressions};

/// A module at one of its calls. Its provider configurations depend on the chain of callers.
pub(super) struct Place<'a> {
    program: &'a Program,
    /// The schemas. The program of a saved configuration was built without them.
    schemas: Schemas<'a>,
    id: ModuleId,
    /// The module calls, if only the declarations of this module are shown.
    single: Option<&'a [Arc<Item>]>,
    caller: Option<(&'a Place<'a>, &'a ModuleCall)>,
}

impl<'a> Place<'a> {
    pub(super) fn root(program: &'a Program, schemas: Schemas<'a>) -> Place<'a> {
        Place { program, schemas, id: program.root().id, single: None, caller: None }
    }

    /// The root module alone.
    pub(super) fn single(program: &'a Program, calls: &'a [Arc<Item>]) -> Place<'a> {
        Place { single: Some(calls), ..Place::root(program, &|_| None) }
    }

    /// The module calls, if only the declarations of this module are shown.
    pub(super) fn single_calls(&self) -> Option<&'a [Arc<Item>]> {
        self.single
    }

    /// A part of the document that a single module does not have.
    pub(super) fn unless_single(&self, part: impl FnOnce() -> Option<Json>) -> Option<Json> {
        if self.single.is_some() { None } else { part() }
    }

    /// The module of a call.
    pub(super) fn inside(&'a self, call: &'a Entry, id: ModuleId) -> Place<'a> {
        Place { id, caller: Some((self, call.module_call())), ..*self }
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
        self.key(&local_name(resource), alias.as_ref())
    }

    fn key(&self, name: &Str, alias: Option<&Str>) -> String {
        let module = self.module();
        let Some((place, call)) = self.caller else { return self.own_key(name, alias) };
        if module.providers.contains_key(&(name.clone(), alias.cloned())) {
            return self.own_key(name, alias);
        }
        let mut passed = call.providers.iter().flatten().rev();
        if let Some(it) =
            passed.find(|it| it.child_name == *name && it.child_alias.as_ref() == alias)
        {
            return place.key(&it.parent.local_name, it.parent.alias.as_ref());
        }
        // The caller may use the same provider under another local name, or not at all.
        let source = module.provider_sources.get(name);
        let known = place.module().provider_sources.iter().find(|(_, it)| Some(*it) == source);
        match known {
            Some((name, _)) => place.key(name, alias),
            None => self.own_key(name, alias),
        }
    }

    fn own_key(&self, name: &str, alias: Option<&Str>) -> String {
        let alias = alias.map(|it| format!(".{it}")).unwrap_or_default();
        match self.address() {
            Some(address) => format!("{address}:{name}{alias}"),
            None => format!("{name}{alias}"),
        }
    }

    /// The static address of the module. `None` for the root module.
    fn address(&self) -> Option<String> {
        let (place, call) = self.caller?;
        let outer = place.address().map(|it| it + ".").unwrap_or_default();
        Some(format!("{outer}module.{}", call.name))
    }
}

/// The local name of a resource's provider in its module.
fn local_name(resource: &Resource) -> Str {
    match &resource.provider {
        Some(provider) => provider.local_name.clone(),
        None => resource.resource.implied_provider().into(),
    }
}

/// Every provider configuration of the module and of its child modules, by key.
pub(super) fn configurations(place: &Place<'_>) -> Map<String, Json> {
    let mut found = Vec::new();
    collect(place, &mut found);
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found.into_iter().collect()
}

fn collect(place: &Place<'_>, found: &mut Vec<(String, Json)>) {
    let module = place.module();
    for ((name, alias), entry) in &module.providers {
        found.push((
            place.own_key(name, alias.as_ref()),
            declared(place, name, alias.as_ref(), entry),
        ));
    }
    for (name, source) in &module.provider_sources {
        let key = place.own_key(name, None);
        let is_declared = module.providers.contains_key(&(name.clone(), None));
        if !is_declared && place.key(name, None) == key {
            let implied = json::object([
                ("name", Some((&**name).into())),
                ("full_name", Some(source.to_string().into())),
                ("module_address", place.address().map(Json::from)),
            ]);
            found.push((key, implied));
        }
    }
    for (entry, id) in module.calls.values().filter(|_| place.single.is_none()) {
        collect(&place.inside(entry, *id), found);
    }
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
        ("module_address", place.address().map(Json::from)),
        ("expressions", expressions),
    ])
}
