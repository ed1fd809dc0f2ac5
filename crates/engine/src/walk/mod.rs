//! The part that all runs over the graph share. [`Walk`] owns it; the context of each kind of run has a `Walk` and
//! adds what only that kind may touch (`src/runs`).
//!
//! ```text
//!   PlanRun ─┐             DestroyPlanRun ─┐          ApplyRun ─┐  DestroyRun ─┐      ImportRun
//!            └──► Planning ◄───────────────┘                    └► Applying ◄──┘          │
//!                    └──────────────────────────► Walk ◄─────────────┴───────────────────┘
//! ```
//!
//! Tasks are futures on the thread of the scheduler. They write their results into the cells of the components and
//! never hold a borrow across an await point.
//!
//! **Invariant:** nothing here depends on the kind of the run. What differs is a [`GraphRules`] or a [`Purpose`].

pub(crate) mod checks;
pub(crate) mod diagnose;
mod expand;
pub(crate) mod modules;
mod nodes;
pub(crate) mod output;
mod purpose;
mod report;
mod reuse;
mod run_state;
mod scope;
mod values;
mod variable;

use std::{cell::RefCell, collections::BTreeMap, rc::Rc, sync::Arc};

use ::values::{Str, Value};
use addr::{
    AbsResource, ConfigResource, InstanceKey, ModuleInstance, ProviderConfigRef, ResourceInstance,
};
use hir::Program;
use provider::ProviderSchemas;
use rustc_hash::{FxHashMap, FxHashSet};
use state::{Object, State};

pub(crate) use checks::{ConditionKind, condition_result, message_text};
pub(crate) use expand::{Each, Keys, Repeated};
pub(crate) use modules::{FoundProvider, ModuleRun, Modules, provider_name};
pub(crate) use nodes::{KeptNodes, Nodes};
pub(crate) use purpose::{GraphRules, Purpose, run};
pub(crate) use report::Report;
pub(crate) use reuse::Reuse;
pub(crate) use run_state::RunState;
pub(crate) use scope::{EngineScope, Functions, OwnObject, time_text};
pub(crate) use values::Turn;

use crate::{
    ephemeral::{EphemeralStore, OpenIx},
    event::Event,
    files::Observed,
    function_calls::FunctionAnswers,
    graph::{ConfigTree, Dependencies, ModuleIx, NodeIx, NodeKind, Template},
    memo::{Memo, Version},
    offline::{self, Offline},
    pool::{Kept, Pool, SlotIx},
    request::{CancelLevel, Environment},
    resource::Subject,
    temp::TempRoot,
    variables::VariableValues,
};

pub(crate) use crate::schedule::Failed;

/// The settings of a run, which do not change while it goes on.
pub(crate) struct Settings {
    pub(crate) parallelism: usize,
    /// The value of `tofu.applying`.
    pub(crate) applying: bool,
    pub(crate) workspace: Str,
    /// The root of the temporary directories that `path.temp` names.
    pub(crate) temp: TempRoot,
    /// The result of `plantimestamp()`.
    pub(crate) plan_time: Str,
}

/// The result of a node.
#[derive(Default)]
pub(crate) enum Outcome {
    /// No result so far, or a node without a readable result.
    #[default]
    None,
    /// The value of a variable, a local or an output, or the combined outputs of a module call.
    Value(Value),
    /// The instances of a resource.
    Keys(Rc<Keys>),
    /// The values of all instances of a resource.
    Resource(Box<ResourceValue>),
    /// A provider configuration.
    Provider(SlotIx),
    /// Unchanged since the last run. The value is ephemeral and so not kept; it is computed again if a dependent
    /// reads it.
    Unchanged,
}

/// The value of a resource as references see it.
pub(crate) struct ResourceValue {
    pub(crate) keys: Rc<Keys>,
    pub(crate) instances: BTreeMap<InstanceKey, Value>,
    /// All instances as one value, cached by the first read.
    pub(crate) whole: RefCell<Option<Value>>,
}

/// Facts about a node besides its value.
#[derive(Clone, Default)]
pub(crate) struct Facts {
    /// The open ephemeral resources that the value was derived from.
    pub(crate) opened: Rc<[OpenIx]>,
    /// True if a change is pending for this node or for one of its dependencies, direct or not.
    pub(crate) pending: bool,
    /// True if this node itself has a pending change.
    pub(crate) changes: bool,
    /// True if the data source or ephemeral resource must wait for a pending change, and so is deferred to apply.
    pub(crate) waits: bool,
    /// The version of the value.
    pub(crate) version: Version,
    /// True after the first turn of a resource's node, which activates its edges.
    pub(crate) prepared: bool,
    /// True if the value must be computed even if none of its inputs changed.
    pub(crate) forced: bool,
}

/// The configuration of a run.
pub(crate) struct Configuration<'a> {
    pub(crate) program: &'a Arc<Program>,
    pub(crate) variables: VariableValues,
    /// The templates of the program's modules.
    pub(crate) templates: Vec<Rc<Template>>,
    /// The tree of module calls of the program.
    pub(crate) tree: ConfigTree,
    pub(crate) dependencies: Dependencies,
}

/// The functions of a run, and the answers of providers to them.
pub(crate) struct Calls {
    pub(crate) functions: Functions,
    /// Records the files that functions read; set only in a plan that is saved.
    pub(crate) observed: Option<Arc<Observed>>,
    /// The answers of provider functions in this run.
    pub(crate) answers: FunctionAnswers,
}

/// The part of a run's context that all kinds of runs have.
pub(crate) struct Walk<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) settings: Settings,
    pub(crate) config: Configuration<'a>,
    pub(crate) nodes: Nodes,
    pub(crate) modules: Modules,
    pub(crate) state: RunState,
    pub(crate) reuse: Reuse<'a>,
    pub(crate) pool: Pool,
    pub(crate) store: EphemeralStore,
    pub(crate) checks: checks::Checks,
    pub(crate) report: Report,
    pub(crate) calls: Calls,
}

/// The resources of a state by module instance. With it, finding the orphans of a module does not scan the whole
/// state.
#[derive(Default)]
pub(crate) struct StateIndex {
    pub(crate) resources: FxHashMap<ModuleInstance, Vec<AbsResource>>,
    /// The children of a module instance that contain resources, directly or further down.
    pub(crate) children: FxHashMap<ModuleInstance, Vec<ModuleInstance>>,
}

impl StateIndex {
    pub(crate) fn new(state: &State) -> StateIndex {
        let mut index = StateIndex::default();
        let mut placed = FxHashSet::default();
        for (address, _) in state.resources() {
            let known = index.resources.contains_key(&address.module);
            index.resources.entry(address.module.clone()).or_default().push(address.clone());
            if !known {
                index.add_parents(&address.module, &mut placed);
            }
        }
        index
    }

    /// Adds a module instance and its ancestors to the children of their parents. `placed` holds those that were
    /// added before.
    fn add_parents(&mut self, module: &ModuleInstance, placed: &mut FxHashSet<ModuleInstance>) {
        let mut module = module.clone();
        while let Some(parent) = module.parent() {
            if !placed.insert(module.clone()) {
                return;
            }
            self.children.entry(parent.clone()).or_default().push(module);
            module = parent;
        }
    }

    /// Appends the resources of a module instance and of all its descendants to `found`.
    pub(crate) fn all_within(&self, module: &ModuleInstance, found: &mut Vec<AbsResource>) {
        found.extend(self.resources.get(module).into_iter().flatten().cloned());
        for child in self.children.get(module).into_iter().flatten() {
            self.all_within(child, found);
        }
    }
}

/// The inputs of a run.
pub(crate) struct WalkInput {
    pub(crate) settings: Settings,
    pub(crate) variables: VariableValues,
    /// True if functions may give results that a plan could not promise, such as the current time.
    pub(crate) acts: bool,
    /// The state that the run starts from.
    pub(crate) previous: Arc<State>,
    /// Provider processes and open ephemeral resources from earlier runs. `None` if none stay alive after this
    /// run.
    pub(crate) kept: Option<Kept>,
    /// The graphs of the program's modules.
    pub(crate) templates: Vec<Rc<Template>>,
    /// The resources of `previous` by module instance.
    pub(crate) state_index: Rc<StateIndex>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(
        program: &'a Arc<Program>,
        environment: &'a Environment,
        memo: &'a mut Memo,
        input: WalkInput,
    ) -> Walk<'a> {
        let WalkInput { settings, variables, acts, previous, kept, templates, state_index } = input;
        let functions = Functions::new(&environment.system, acts)
            .of_plan(&settings.plan_time)
            .until(&environment.cancel);
        let offline = Offline {
            program,
            state: None,
            values: Some(&variables),
            workspace: settings.workspace.clone(),
            functions: functions.clone().without_plan(),
            system: Arc::clone(&environment.system),
            answers: None,
        };
        offline::learn_given(&offline, &environment.redactor);
        let store = EphemeralStore::new(environment.system.now());
        kept.iter().flat_map(Kept::opened).for_each(|open| store.adopt(open));
        let walk = Walk {
            environment,
            settings,
            config: Configuration {
                program,
                variables,
                tree: ConfigTree::new(program, &templates),
                dependencies: Dependencies::new(),
                templates,
            },
            nodes: Nodes::default(),
            modules: Modules::default(),
            state: RunState::new(previous, state_index),
            reuse: Reuse::new(memo),
            pool: kept.map_or_else(Pool::default, Pool::keeping),
            store,
            checks: checks::Checks::default(),
            report: Report::default(),
            calls: Calls { functions, observed: None, answers: FunctionAnswers::default() },
        };
        walk.place_earlier();
        walk
    }

    pub(crate) fn emit(&self, event: Event) {
        self.environment.events.event(event);
    }

    /// The schemas of a provider of the program or of the built-in provider; `None` if they are not known.
    pub(crate) fn schemas(&self, source: &addr::ProviderSource) -> Option<Arc<ProviderSchemas>> {
        let known = self.config.program.schemas.get(source).cloned();
        known.or_else(|| (*source == crate::builtin::source()).then(crate::builtin::schemas))
    }

    /// Returns true if no new work may start.
    pub(crate) fn is_stopping(&self) -> bool {
        self.report.ends_run() || self.environment.cancel.level() >= CancelLevel::Stopping
    }

    pub(crate) fn module(&self, module: ModuleIx) -> Rc<ModuleRun> {
        self.modules.get(module)
    }

    /// The module instance and the local index of the declaration that a node stands for. `None` for a node that
    /// no module declares.
    pub(crate) fn declared(&self, node: NodeIx) -> Option<(ModuleIx, Rc<ModuleRun>, u32)> {
        match self.nodes.kind(node) {
            NodeKind::Declared { module, local } => Some((module, self.module(module), local)),
            _ => None,
        }
    }

    pub(crate) fn set_outcome(&self, node: NodeIx, outcome: Outcome) {
        self.nodes.change_outcome(node, |it| *it = outcome);
    }

    /// The dependencies that the configuration gives to the objects of a resource.
    pub(crate) fn dependencies_of(&self, address: &ResourceInstance) -> Arc<[ConfigResource]> {
        self.config.dependencies.of(&self.config.tree, &address.config())
    }

    /// The resources that a provider configuration depends on.
    pub(crate) fn dependencies_of_provider(
        &self,
        provider: &ProviderConfigRef,
    ) -> Arc<[ConfigResource]> {
        self.config.dependencies.of_provider(&self.config.tree, provider)
    }

    /// The object of a subject in the state of this run.
    pub(crate) fn object(&self, subject: &Subject) -> Option<Arc<Object>> {
        self.state.object(&subject.address, subject.deposed)
    }

    /// Sets the object of a subject in the state of this run. `None` removes it.
    pub(crate) fn set_object(&self, subject: &Subject, object: Option<Arc<Object>>) {
        self.state.change(|state| {
            state.set_object(&subject.address, subject.deposed, &subject.provider, object);
        });
    }
}

impl ResourceValue {
    pub(crate) fn new(keys: Rc<Keys>) -> ResourceValue {
        ResourceValue { keys, instances: BTreeMap::new(), whole: RefCell::new(None) }
    }

    /// All instances as references see them: one object, a tuple for `count`, or an object for `for_each`.
    pub(crate) fn whole(&self) -> Value {
        if let Some(value) = &*self.whole.borrow() {
            return value.clone();
        }
        let value = self.keys.shape(&self.instances);
        *self.whole.borrow_mut() = Some(value.clone());
        value
    }
}
