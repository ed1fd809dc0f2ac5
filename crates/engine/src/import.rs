//! Import: binds an existing object, or one whose creation had an unknown result, to an address.
//!
//! Only the nodes that the provider configuration depends on run, with the values in the state. Nothing is planned
//! or changed.

use std::{rc::Rc, sync::Arc};

use addr::ResourceInstance;
use db::Diagnostic;
use hir::Program;
use provider::{ImportResourceStateRequest, ImportTarget, ImportedResource, Provider};
use rustc_hash::{FxHashMap, FxHashSet};
use state::{Object, State};
use values::{Str, conform};

use crate::{
    event::Event,
    graph::{EdgeKind, ModuleIx, NodeIx, NodeKind, Template},
    journal::Number,
    memo::Memo,
    request::{ApplyOutcome, Environment, ImportOptions},
    resource::{Prior, Subject, find_entry, find_module},
    variables::VariableValues,
    walk::{
        self, Facts, Failed, Phase, Settings, StateIndex, Turn, Walk, WalkInput, Work, time_text,
    },
};

/// The object to import.
pub(crate) struct ImportOrder {
    address: ResourceInstance,
    id: Str,
    answers: Option<Number>,
}

/// Asks the provider of a resource for the object with an ID, and adds it to the state at the address of the
/// resource.
///
/// The future is not `Send`, like that of [`apply`](crate::apply()).
pub async fn import(
    program: &Arc<Program>,
    prior: State,
    variables: VariableValues,
    environment: &Environment,
    options: ImportOptions,
) -> ApplyOutcome {
    let settings = Settings {
        phase: Phase::Import,
        refresh: true,
        parallelism: options.parallelism,
        applying: false,
        workspace: options.workspace,
        replace: FxHashSet::default(),
        uncertain: FxHashMap::default(),
        temp: options.temp,
        plan_time: time_text(&*environment.system).unwrap_or_default().into(),
    };
    let ImportOptions { address, id, answers, .. } = options;
    let previous = Arc::new(prior);
    let mut memo = Memo::new();
    let input = WalkInput {
        settings,
        variables,
        planned_actions: None,
        import: Some(ImportOrder { address, id, answers }),
        kept: None,
        templates: Template::all(program),
        state_index: Rc::new(StateIndex::new(&previous)),
        previous,
    };
    let walk = Walk::new(program, environment, &mut memo, input);
    walk.add_root();
    let node = walk.nodes.add(NodeKind::Import);
    walk.nodes.change(|graph| graph.demand(node));
    walk::run(&walk).await;
    let diagnostics = walk.report.take();
    ApplyOutcome { state: walk.state.take(), diagnostics }
}

impl Walk<'_> {
    /// Runs a turn of the import node: it waits for the module instance, then for the provider.
    pub(crate) fn run_import(&self, node: NodeIx) -> Turn {
        let Some(order) = &self.import else { return Turn::Failed };
        if self.nodes.facts(node, |it| it.prepared) {
            let inherited = self.nodes.inherited(node);
            self.nodes.facts(node, |it| *it = Facts { prepared: true, ..inherited });
            return Turn::Tasks(vec![Work::Import]);
        }
        let Some(entry) = find_entry(self, &order.address) else {
            self.report_not_configured(&order.address);
            return Turn::Failed;
        };
        let mut module = self.module(ModuleIx(0));
        for step in order.address.module.steps() {
            let known = {
                let children = module.children.borrow();
                children.get(step.name.as_str()).map(|it| it.instances.get(&step.key).copied())
            };
            match known {
                Some(Some(child)) => module = self.module(child),
                Some(None) => {
                    self.report_no_module(&order.address);
                    return Turn::Failed;
                }
                // The module call has not been expanded yet.
                None => {
                    let Some(call) = module.template.calls.get(step.name.as_str()) else {
                        return Turn::Failed;
                    };
                    let call = module.node(call.call);
                    self.nodes.change(|graph| graph.add_active_edge(call, node, EdgeKind::Order));
                    return Turn::Again;
                }
            }
        }
        let (name, alias) = walk::provider_name(entry.resource());
        let Some(provider) = self.find_provider(&module, &name, alias.as_ref()) else {
            self.report_missing_provider(&entry, &order.address.to_string());
            return Turn::Failed;
        };
        self.nodes.facts(node, |it| it.prepared = true);
        self.nodes.change(|graph| graph.add_active_edge(provider, node, EdgeKind::Provider));
        Turn::Again
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
        let summary =
            format!("resource address \"{address}\" does not exist in the configuration.");
        self.report(Diagnostic::error("import-not-configured", summary, detail));
    }

    fn report_no_module(&self, address: &ResourceInstance) {
        let detail = format!(
            "The configuration has no {}: its count or for_each gives other instances. Correct the \
             address, or the configuration first.",
            address.module
        );
        self.report(Diagnostic::error("import-no-module", "No such module instance", detail));
    }

    /// Imports the object.
    pub(crate) async fn import_object(&self, node: NodeIx) -> Result<(), Failed> {
        let order = self.import.as_ref().ok_or(Failed)?;
        let provider_node = self.provider_node(node).ok_or(Failed)?;
        let entry = find_entry(self, &order.address).ok_or(Failed)?;
        let module = find_module(self, &order.address.module).ok_or(Failed)?;
        let subject =
            self.subject_at(node, order.address.clone(), provider_node, Some(entry), module)?;
        let opened = self.nodes.facts(node, |it| it.opened.clone());
        self.freshen(&opened).await?;
        let provider = self.provider(provider_node).await?;
        self.emit(Event::ImportStart { address: order.address.clone(), id: order.id.to_string() });
        let imported = self.ask_for_import(&subject, &*provider, &order.id).await?;
        self.emit(Event::ImportComplete { address: order.address.clone() });
        let prior = self.imported_prior(&subject, imported)?;
        let Some(read) = self.refresh(&subject, &*provider, &prior).await? else {
            self.report_no_object(&subject);
            return Err(Failed);
        };
        self.save(&subject, Some(read.object), order.answers).await
    }

    async fn ask_for_import(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
        id: &Str,
    ) -> Result<ImportedResource, Failed> {
        let request = ImportResourceStateRequest {
            type_name: subject.type_name(),
            target: ImportTarget::Id(id.clone()),
        };
        let response = provider.import_resource_state(request).await;
        self.report_provider(response.diagnostics, subject.place(), Some(&subject.text))?;
        let mut all = response.imported.into_iter();
        match (all.next(), all.next()) {
            (Some(imported), None) if imported.type_name == subject.type_name() => Ok(imported),
            (Some(_), None) => self.refuse_import(subject, "an object of another type"),
            (Some(_), Some(_)) => self.refuse_import(subject, "more than one object"),
            (None, _) => {
                self.report_no_object(subject);
                Err(Failed)
            }
        }
    }

    fn refuse_import<T>(&self, subject: &Subject, what: &str) -> Result<T, Failed> {
        let detail = format!(
            "Provider {} gave {what} for {}",
            subject.provider.source.for_display(),
            subject.text
        );
        let summary = "Provider produced invalid object";
        self.report_provider_bug(&subject.text, "invalid-import", summary, &detail);
        Err(Failed)
    }

    fn report_no_object(&self, subject: &Subject) {
        let detail = format!(
            "While attempting to import an existing object to \"{}\", the provider detected that \
             no object exists with the given id. Only pre-existing objects can be imported; check \
             that the id is correct and that it is associated with the provider's configured \
             region or endpoint, or use \"mayfly apply\" to create a new remote object for this resource.",
            subject.text
        );
        self.report_about(
            &subject.text,
            "import-no-object",
            "Cannot import non-existent remote object",
            detail,
        );
    }

    /// Returns the object from the provider's import response, which is then read.
    fn imported_prior(
        &self,
        subject: &Subject,
        imported: ImportedResource,
    ) -> Result<Prior, Failed> {
        if !imported.state.is_null()
            && !conform::conforms(&imported.state.ty(), subject.ty()).is_empty()
        {
            return self.refuse_import(subject, "an object that is not of the schema's type");
        }
        if imported.state.is_null() {
            self.report_no_object(subject);
            return Err(Failed);
        }
        let version = u64::try_from(subject.schema.version()).unwrap_or_default();
        let kept = Object {
            private: imported.private.as_bytes().into(),
            dependencies: self.dependencies_of(&subject.address),
            identity: self.encode_identity(subject, imported.identity.as_ref()),
            ..Object::from_json(version, Arc::from("{}"))
        };
        let value = self.marked(subject, &imported.state);
        let object = Arc::new(self.encode(subject, &value, kept)?);
        Ok(Prior {
            value,
            private: imported.private,
            identity: imported.identity,
            tainted: false,
            object,
        })
    }
}
