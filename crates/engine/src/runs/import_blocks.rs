//! The turns of `import` blocks in a plan: they evaluate which object is imported to which address.

use std::rc::Rc;

use addr::{InstanceKey, ModuleInstance, ModuleStep, ResourceInstance};
use db::{Diagnostic, Location, Related, Summary};
use hir::{Entry, ExprId, item::Import};
use provider::Schema;
use state::Importing;
use values::{Kind, MarkKind, ObjectType, Str, Type, Value, convert};

use crate::{
    graph::{EdgeKind, ModuleIx, NodeIx},
    imports::WantedImport,
    memo::Version,
    resource::objects::{find_entry, find_module},
    runs::{
        plan::PlanRun,
        planning::{PlanPart, Planning},
    },
    schedule::{Failed, Step},
    walk::{
        instances::{Each, Refused, import_keys},
        scope::EngineScope,
    },
};

impl PlanRun<'_> {
    /// Runs one turn of an `import` block: evaluates it, and starts the import itself if the resource has no block.
    pub(crate) fn run_import(&self, node: NodeIx, entry: &Entry) -> Step<PlanPart> {
        let Some(import) = entry.item.kind.as_import() else { return Step::Failed };
        // A refresh-only plan imports nothing.
        if self.options.refresh_only {
            return Step::Done { keeps: false };
        }
        if !self.nodes.facts(node, |it| it.prepared) {
            if self.wait_for_values(node) {
                return Step::Again;
            }
            let Ok(wanted) = self.wanted_imports(entry, import) else { return Step::Failed };
            let version = self.version_of_imports(&wanted);
            for it in wanted {
                if self.add_import(it).is_err() {
                    return Step::Failed;
                }
            }
            self.settle_facts(node, version, false);
        }
        match self.is_generated(import) {
            true => self.run_generation(node, entry, import),
            false => Step::Done { keeps: false },
        }
    }

    /// Returns true if the configuration of the resource is generated. [`refuse_undeclared`] has refused all imports
    /// to undeclared resources for which this is not possible.
    fn is_generated(&self, import: &Import) -> bool {
        self.config.program.root().resources.get(&import.to.resource).is_none()
            && import.to.module.is_root()
    }

    /// Waits for the provider of a resource without a block, then imports its object.
    fn run_generation(&self, node: NodeIx, entry: &Entry, import: &Import) -> Step<PlanPart> {
        let address = import.to.resource.clone().in_module(ModuleInstance::root());
        let address = address.instance(InstanceKey::None);
        // The object is in the state. It is planned like any other object without a block.
        if self.is_in_state(&address) {
            return Step::Done { keeps: false };
        }
        if self.nodes.facts(node, |it| std::mem::replace(&mut it.prepared, true)) {
            let inherited = self.nodes.inherited(node);
            self.nodes.facts(node, |it| it.opened = inherited.opened);
            return Step::Tasks(vec![PlanPart::Generated]);
        }
        let chosen =
            import.provider.as_ref().map(|(it, _)| (it.local_name.clone(), it.alias.clone()));
        let implied = || (Str::from(import.to.resource.implied_provider()), None);
        let (name, alias) = chosen.unwrap_or_else(implied);
        let root = self.module(ModuleIx(0));
        let Some(provider) = self.find_provider(&root, &name, alias.as_ref()) else {
            let detail =
                format!("There is no configuration of the provider {name} with this alias.");
            let diagnostic = Diagnostic::new(Summary::MISSING_PROVIDER_CONFIGURATION, detail);
            self.report_at(entry, entry.item.header.into(), Some(&address.to_string()), diagnostic);
            return Step::Failed;
        };
        self.nodes.change(|graph| graph.add_active_edge(provider.node, node, EdgeKind::Provider));
        Step::Again
    }

    /// The objects that a block imports: one, or one for each element of its `for_each`.
    fn wanted_imports(&self, entry: &Entry, import: &Import) -> Result<Vec<WantedImport>, Failed> {
        let Some(for_each) = import.for_each else {
            return Ok(vec![self.wanted_import(entry, import, None)?]);
        };
        let scope = EngineScope::new(self, ModuleIx(0), None);
        let value = self.evaluate(&scope, entry, for_each, None)?;
        let keys = import_keys(&value).map_err(|Refused { detail, .. }| {
            let diagnostic = Diagnostic::new(Summary::INVALID_IMPORT_FOR_EACH, detail);
            self.report_at(entry, for_each.into(), None, diagnostic);
            Failed
        })?;
        keys.iter().map(|each| self.wanted_import(entry, import, Some(each))).collect()
    }

    fn wanted_import(
        &self,
        entry: &Entry,
        import: &Import,
        each: Option<&Each>,
    ) -> Result<WantedImport, Failed> {
        let scope = EngineScope::new(self, ModuleIx(0), each);
        let key = |key: Option<ExprId>| match key {
            Some(key) => self.import_key(&scope, entry, key),
            None => Ok(InstanceKey::None),
        };
        let to = &import.to;
        let steps = to.module.names().iter().zip(&to.module_keys);
        let steps = steps.map(|(name, it)| Ok(ModuleStep { name: name.clone(), key: key(*it)? }));
        let steps: Vec<ModuleStep> = steps.collect::<Result<_, Failed>>()?;
        let module = ModuleInstance::new(steps);
        let address = to.resource.clone().in_module(module).instance(key(to.key)?);
        let importing = match (import.id, import.identity) {
            (Some(id), _) => Importing::Id(self.import_id(&scope, entry, id)?),
            (None, Some(identity)) => {
                Importing::Identity(self.import_identity(&scope, entry, identity, &address)?)
            }
            (None, None) => return Err(Failed),
        };
        Ok(WantedImport { address, importing, block: entry.clone() })
    }

    fn import_key(
        &self,
        scope: &EngineScope<'_, '_>,
        entry: &Entry,
        key: ExprId,
    ) -> Result<InstanceKey, Failed> {
        let value = self.evaluate(scope, entry, key, None)?;
        instance_key(&value).map_err(|what| {
            let detail = format!(
                "Import block contained a resource address using an index which {what}. Use a \
                 string or a whole number that is known when planning."
            );
            self.report_at(
                entry,
                key.into(),
                None,
                Diagnostic::new(Summary::INVALID_IMPORT_KEY, detail),
            );
            Failed
        })
    }

    fn import_id(
        &self,
        scope: &EngineScope<'_, '_>,
        entry: &Entry,
        id: ExprId,
    ) -> Result<String, Failed> {
        let value = self.evaluate(scope, entry, id, None)?;
        let refuse = |summary, detail: &str| {
            self.report_at(entry, id.into(), None, Diagnostic::new(summary, detail));
            Failed
        };
        if let Some(detail) = unusable(&value, "id") {
            return Err(refuse(Summary::INVALID_IMPORT_ID, &detail));
        }
        let text = convert::convert(&value.without_all_marks(), &Type::String);
        match text.as_ref().ok().and_then(Value::as_str) {
            None => {
                let detail = "Invalid expression value: string required.";
                Err(refuse(Summary::INCORRECT_IMPORT_TYPE, detail))
            }
            Some("") => {
                let detail = "The import ID value evaluates to an empty string, please provide a non-empty value.";
                Err(refuse(Summary::INVALID_IMPORT_ID, detail))
            }
            Some(id) => Ok(id.to_owned()),
        }
    }

    fn import_identity(
        &self,
        scope: &EngineScope<'_, '_>,
        entry: &Entry,
        identity: ExprId,
        address: &ResourceInstance,
    ) -> Result<Value, Failed> {
        let refuse = |summary, detail: String| {
            self.report_at(entry, identity.into(), None, Diagnostic::new(summary, detail));
            Failed
        };
        let Some(schema) = self.identity_schema(entry, address) else {
            let detail = format!(
                "The provider has no identity for the resource type \"{}\", so {address} cannot be \
                 imported by its identity. Use the argument \"id\".",
                address.resource.type_name
            );
            return Err(refuse(Summary::NO_IMPORT_IDENTITY_SCHEMA, detail));
        };
        let value = self.evaluate(scope, entry, identity, None)?;
        if let Some(detail) = unusable(&value, "identity") {
            return Err(refuse(Summary::INVALID_IMPORT_IDENTITY, detail));
        }
        let value = value.without_all_marks();
        convert::convert(&value, &identity_type(&schema)).map_err(|error| {
            let detail = format!("The import identity is unsuitable: {error}.");
            refuse(Summary::INVALID_IMPORT_IDENTITY, detail)
        })
    }

    /// The schema of the identity of the resource that a block imports to.
    fn identity_schema(
        &self,
        entry: &Entry,
        address: &ResourceInstance,
    ) -> Option<std::sync::Arc<Schema>> {
        let names = address.module.steps().iter().map(|it| it.name.as_str());
        let module = self.config.program.module_at(names)?;
        let chosen = match find_entry(self, address) {
            Some(block) => block.resource().provider.as_ref().map(|it| it.local_name.clone()),
            None => {
                let import = entry.item.kind.as_import()?;
                import.provider.as_ref().map(|(it, _)| it.local_name.clone())
            }
        };
        let name = chosen.unwrap_or_else(|| Str::from(address.resource.implied_provider()));
        let source = module.provider_sources.get(&name).cloned();
        let source = source.unwrap_or_else(|| addr::ProviderSource::implied_for(&name));
        self.schemas(&source)?.identity(address.resource.type_name.as_str())
    }

    fn add_import(&self, import: WantedImport) -> Result<(), Failed> {
        let (address, block) = (import.address.clone(), import.block.clone());
        let Err(first) = self.imports.add(import) else { return Ok(()) };
        let detail = format!(
            "An import block for the resource \"{address}\" was already declared. A resource can have \
             only one import block."
        );
        let diagnostic = Diagnostic::new(
            Summary::duplicate_import(format_args!("{:?}", address.to_string())),
            detail,
        );
        let header = first.block.item.header.into();
        let related = self.config.program.locate(first.block.origin, header);
        let diagnostic = match related {
            Some(location) => Diagnostic { related: vec![first_declared(location)], ..diagnostic },
            None => diagnostic,
        };
        let at = block.item.kind.as_import().map_or(block.item.header, |it| it.to.node);
        self.report_at(&block, at.into(), None, diagnostic);
        Err(Failed)
    }

    /// A version that changes whenever one of the imports does.
    fn version_of_imports(&self, wanted: &[WantedImport]) -> Version {
        let of_one = |it: &WantedImport| {
            let importing = match &it.importing {
                Importing::Id(id) => Value::string(id.as_str()),
                Importing::Identity(identity) => Value::tuple(vec![identity.clone()]),
            };
            Value::tuple(vec![Value::string(it.address.to_string()), importing])
        };
        let all = Value::tuple(wanted.iter().map(of_one).collect());
        self.reuse.memo(|memo| memo.version_of_value(&all))
    }
}

impl Planning<'_> {
    /// The import to the address of an object. `None` if no block imports there, or if the state has an object
    /// there already.
    pub(crate) fn import_to(&self, address: &ResourceInstance) -> Option<Rc<WantedImport>> {
        self.imports.get(address).filter(|_| !self.is_in_state(address))
    }

    /// Returns true if the state has an object of the instance, current or deposed.
    pub(crate) fn is_in_state(&self, address: &ResourceInstance) -> bool {
        let resource = self.state.previous().resource(&address.containing_resource());
        resource.is_some_and(|it| it.instances.contains_key(&address.key))
    }

    /// Reports `import` blocks to resources without a configuration. If configurations are `generated`, only those for
    /// which this is not possible. Returns false if there are any.
    pub(crate) fn refuse_undeclared(&self, generates: bool) -> bool {
        let program = self.config.program;
        let mut is_declared = true;
        for entry in &program.root().others {
            let Some(import) = entry.item.kind.as_import() else { continue };
            let to = &import.to;
            let module = program.module_at(to.module.names().iter().map(|it| it.as_str()));
            if module.is_some_and(|it| it.resources.contains_key(&to.resource)) {
                continue;
            }
            let has_key = to.key.is_some() || import.for_each.is_some();
            let (summary, why) = match (generates, to.module.is_root(), has_key) {
                (true, true, false) => continue,
                (false, true, false) => (
                    Summary::UNDECLARED_IMPORT_TARGET,
                    "All target instances must have an associated configuration to be imported. Write \
                     the block of the resource, or let it be generated: plan with \
                     -generate-config-out=generated.tf.",
                ),
                (false, ..) => (
                    Summary::UNDECLARED_IMPORT_TARGET,
                    "All target instances must have an associated configuration to be imported.",
                ),
                (true, false, _) => (
                    Summary::GENERATION_IN_MODULE,
                    "Configuration generation is only possible for resources in the root module, \
                     and not possible for resources in sub-modules. Write the block of the resource.",
                ),
                (true, true, true) => (
                    Summary::GENERATION_WITH_KEYS,
                    "Configuration generation is only possible for resources that do not use count \
                     or for_each. Write the block of the resource.",
                ),
            };
            let detail = format!(
                "The configuration for the given import {} does not exist. {why}",
                to.config()
            );
            self.report_at(entry, entry.item.header.into(), None, Diagnostic::new(summary, detail));
            is_declared = false;
        }
        is_declared
    }

    /// Reports imports to instances that the configuration does not have.
    pub(crate) fn validate_imports(&self) {
        for import in self.imports.all() {
            if self.has_instance(&import.address) != Some(false) {
                continue;
            }
            let at = import.block.item.header.into();
            self.report_at(&import.block, at, None, undeclared_target(&import.address));
        }
    }

    /// Returns true if the configuration has an instance. `None` if that is unknown, because the count of the resource
    /// or of a module around it was not evaluated, or because its block is generated.
    fn has_instance(&self, address: &ResourceInstance) -> Option<bool> {
        find_entry(self, address)?;
        let Some(module) = find_module(self, &address.module) else {
            return self.is_expanded(&address.module).then_some(false);
        };
        let module = self.module(module);
        let node = module.node(*module.template.resources.get(&address.resource)?);
        Some(self.instances_of(node)?.contains(&address.key))
    }

    /// Returns true if the calls that lead to a module instance have been expanded, as far as they have instances.
    fn is_expanded(&self, module: &ModuleInstance) -> bool {
        let mut index = ModuleIx(0);
        for step in module.steps() {
            let run = self.module(index);
            let Some(children) = run.children_of(step.name.as_str()) else { return false };
            let Some(child) = children.instances.get(&step.key) else { return true };
            index = *child;
        }
        true
    }
}

/// The error of an import to an instance that the configuration does not have.
pub(crate) fn undeclared_target(address: &ResourceInstance) -> Diagnostic {
    let detail = format!(
        "The configuration for the given import {address} does not exist. All target instances must have an \
         associated configuration to be imported."
    );
    Diagnostic::new(Summary::UNDECLARED_IMPORT_TARGET, detail)
}

fn first_declared(location: Location) -> Related {
    Related { location, message: "first declared here".to_owned() }
}

/// The reason why a value identifies no object to import, or `None` if it may identify one.
fn unusable(value: &Value, argument: &str) -> Option<String> {
    if value.has_deep(MarkKind::Ephemeral) {
        return Some(format!("The import {argument} cannot be ephemeral."));
    }
    if value.has_deep(MarkKind::Sensitive) {
        return Some(format!("The import {argument} cannot be sensitive."));
    }
    if value.is_null() {
        return Some(format!("The import {argument} cannot be null."));
    }
    (!value.is_wholly_known()).then(|| {
        format!(
            "The import block \"{argument}\" argument depends on resource attributes that cannot be \
             determined until apply, so Mayfly cannot plan to import this resource. Use values that \
             are known now, or apply what they depend on first, without this block."
        )
    })
}

/// The key of an instance in the address of an `import` block, from its value.
///
/// # Errors
/// The end of a sentence that says why the value is no key.
pub fn instance_key(value: &Value) -> Result<InstanceKey, &'static str> {
    if value.has_deep(MarkKind::Ephemeral) {
        return Err("is ephemeral");
    }
    if value.has_deep(MarkKind::Sensitive) {
        return Err("is sensitive");
    }
    match value.without_all_marks().kind() {
        Kind::Unknown(_) => Err("will only be known after apply"),
        Kind::Null => Err("is null"),
        Kind::String(text) => Ok(InstanceKey::string(&**text)),
        Kind::Number(number) => match number.to_i64().filter(|it| *it >= 0) {
            Some(index) => Ok(InstanceKey::Int(index)),
            None => Err("is not a whole number, or is negative"),
        },
        _ => Err("is not a string or a number"),
    }
}

/// The type of an identity in the configuration. Attributes that an import does not need may be left out.
fn identity_type(schema: &Schema) -> Type {
    let attributes = schema.block().attributes();
    let types = attributes.iter().map(|(name, it)| (name, it.implied_type()));
    let optional = attributes.iter().filter(|(_, it)| !it.required).map(|(name, _)| name);
    Type::Object(ObjectType::new(types).with_optional(optional).into())
}
