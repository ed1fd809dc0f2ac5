//! The run that imports one object.

use std::{ops::Deref, rc::Rc};

use addr::{ResourceInstance, ResourceMode};
use db::{Diagnostic, Summary};
use hir::Entry;
use provider::ImportTarget;
use values::Str;

use crate::{
    event::Event,
    graph::{EdgeKind, ModuleIx, NodeIx, NodeKind, provider_name::provider_name},
    journal::Number,
    resource::{
        objects::{find_entry, find_module},
        subject::has_conditions,
        turn::InstanceNeeds,
    },
    runs::import_blocks::undeclared_target,
    schedule::{Failed, Step},
    walk::{
        context::Walk, instances::Each, modules::ModuleRun, outcome::Facts, purpose::Purpose,
        rules::GraphRules,
    },
};

/// The object to import.
pub(crate) struct ImportOrder {
    pub(crate) address: ResourceInstance,
    pub(crate) id: Str,
    /// The intent that the import answers; `None` if the object was created elsewhere.
    pub(crate) answers: Option<Number>,
}

/// The context of an import.
pub(crate) struct ImportRun<'a> {
    walk: Walk<'a>,
    order: ImportOrder,
}

/// Work on one object of an import.
pub(crate) enum ImportPart {
    /// Checks the conditions of a declared instance, or opens it.
    Instance(Each),
    /// Imports the object.
    Object,
}

impl<'a> Deref for ImportRun<'a> {
    type Target = Walk<'a>;

    fn deref(&self) -> &Walk<'a> {
        &self.walk
    }
}

impl GraphRules for ImportRun<'_> {
    /// The given values of variables are checked even if nothing refers to them.
    fn demands(&self, module: &ModuleRun, local: u32) -> bool {
        module.is_root_variable(&module.template.nodes[local as usize])
    }
}

impl<'a> Purpose<'a> for ImportRun<'a> {
    type Part = ImportPart;

    fn walk(&self) -> &Walk<'a> {
        self
    }

    /// Managed resources and data sources keep the objects of the state.
    fn run_resource(
        &self,
        node: NodeIx,
        module: &Rc<ModuleRun>,
        entry: &Entry,
    ) -> Step<ImportPart> {
        if self.nodes.facts(node, |it| std::mem::replace(&mut it.prepared, true)) {
            return self.begin_instances(node, entry, |_| false).map(ImportPart::Instance);
        }
        if self.refuse_provisioners(module, entry, |_| true) {
            return Step::Failed;
        }
        let Some(keys) = self.expanded(node) else { return Step::Failed };
        let has_instances = !keys.instances.is_empty();
        let needs = InstanceNeeds {
            acts: has_instances && entry.resource().resource.mode == ResourceMode::Ephemeral,
            conditions: has_instances && has_conditions(entry),
            provisions: false,
        };
        self.wait_for_needs(node, keys, |_, kind| needs.count(kind));
        Step::Again
    }

    fn run_own(&self, node: NodeIx, kind: NodeKind) -> Step<ImportPart> {
        match kind {
            NodeKind::Import => self.run_import(node),
            _ => Step::Done { keeps: false },
        }
    }

    async fn run_part(&self, node: NodeIx, part: &ImportPart) -> Result<(), Failed> {
        let ImportPart::Instance(each) = part else { return self.import_object(node).await };
        let entry = self.resource_entry(node)?;
        match entry.resource().resource.mode {
            ResourceMode::Ephemeral => self.open_instance(node, &entry, each, |_, _| None).await,
            ResourceMode::Managed => {
                let subject = self.subject(node, &entry, &each.key)?;
                let opened = self.nodes.facts(node, |it| it.opened.clone());
                self.freshen(&opened).await?;
                let address = subject.address();
                self.instance_conditions(subject.module, &entry, address, each, None).await?;
                self.keep_instance(&subject, &entry, each).await
            }
            ResourceMode::Data => {
                let subject = self.subject(node, &entry, &each.key)?;
                self.keep_instance(&subject, &entry, each).await
            }
        }
    }
}

impl<'a> ImportRun<'a> {
    /// Adds the root module and the import to the graph.
    pub(crate) fn new(walk: Walk<'a>, order: ImportOrder) -> ImportRun<'a> {
        let run = ImportRun { walk, order };
        run.add_root(&run);
        let node = run.nodes.add(NodeKind::Import);
        run.nodes.change(|graph| graph.demand(node));
        run
    }
}

impl ImportRun<'_> {
    /// Runs a turn of the import node: it waits for the module instance, then for the provider.
    fn run_import(&self, node: NodeIx) -> Step<ImportPart> {
        let order = &self.order;
        if self.nodes.facts(node, |it| it.prepared) {
            let inherited = self.nodes.inherited(node);
            self.nodes.facts(node, |it| *it = Facts { prepared: true, ..inherited });
            return Step::Tasks(vec![ImportPart::Object]);
        }
        let Some(entry) = find_entry(self, &order.address) else {
            self.report_not_configured(&order.address);
            return Step::Failed;
        };
        let mut module = self.module(ModuleIx(0));
        for step in order.address.module.steps() {
            let children = module.children_of(step.name.as_str());
            let known = children.map(|it| it.instances.get(&step.key).copied());
            match known {
                Some(Some(child)) => module = self.module(child),
                Some(None) => {
                    self.report_no_module(&order.address);
                    return Step::Failed;
                }
                // The module call has not been expanded yet.
                None => {
                    let Some(call) = module.template.calls.get(step.name.as_str()) else {
                        return Step::Failed;
                    };
                    let call = module.node(call.call);
                    self.nodes.change(|graph| graph.add_active_edge(call, node, EdgeKind::Order));
                    return Step::Again;
                }
            }
        }
        let (name, alias) = provider_name(entry.resource());
        let Some(provider) = self.find_provider(&module, &name, alias.as_ref()) else {
            self.report_missing_provider(&entry, &order.address.to_string());
            return Step::Failed;
        };
        self.nodes.facts(node, |it| it.prepared = true);
        self.nodes.change(|graph| graph.add_active_edge(provider.node, node, EdgeKind::Provider));
        // The expansion decides which instances there are, and evaluates which instance of the provider they choose.
        if let Some(local) = module.template.resources.get(&order.address.resource) {
            let expansion = module.node(local - 1);
            self.nodes.change(|graph| graph.add_active_edge(expansion, node, EdgeKind::Order));
        }
        Step::Again
    }

    fn report_not_configured(&self, address: &ResourceInstance) {
        let place = match address.module.is_root() {
            true => "the root module".to_owned(),
            false => address.module.path().to_string(),
        };
        let (type_name, name) = (&address.resource.type_name, &address.resource.name);
        let detail = format!(
            "Before importing this resource, please create its configuration in {place}. For \
             example:\n\nresource \"{type_name}\" \"{name}\" {{\n  # (resource arguments)\n}}"
        );
        self.report(Diagnostic::new(Summary::import_not_configured(address), detail));
    }

    fn report_no_module(&self, address: &ResourceInstance) {
        let detail = format!(
            "The configuration has no {}: its count or for_each gives other instances. Correct the \
             address, or the configuration first.",
            address.module
        );
        self.report(Diagnostic::new(Summary::IMPORT_NO_MODULE, detail));
    }

    /// Imports the object.
    async fn import_object(&self, node: NodeIx) -> Result<(), Failed> {
        let order = &self.order;
        let entry = find_entry(self, &order.address).ok_or(Failed)?;
        let module = find_module(self, &order.address.module).ok_or(Failed)?;
        let object = order.address.clone().into();
        let resource = self.module(module).template.resources.get(&order.address.resource).copied();
        let resource = self.module(module).node(resource.ok_or(Failed)?);
        let keys = self.expanded(resource).ok_or(Failed)?;
        if keys.instances.iter().all(|each| each.key != order.address.key) {
            self.report(undeclared_target(&order.address));
            return Err(Failed);
        }
        let provider = self.provider_of_object(resource, &entry, &object)?;
        let subject = self.subject_at(node, object, &provider, Some(entry), module)?;
        let opened = self.nodes.facts(node, |it| it.opened.clone());
        self.freshen(&opened).await?;
        let provider = self.provider(&provider).await?;
        self.emit(Event::ImportStart { address: order.address.clone(), id: order.id.to_string() });
        let target = ImportTarget::Id(order.id.clone());
        let imported = self.ask_for_import(&subject, &*provider, target).await?;
        self.emit(Event::ImportComplete { address: order.address.clone() });
        let read = self.read_imported(&subject, &*provider, imported).await?;
        self.save(&subject, Some(read.object), order.answers).await
    }
}
