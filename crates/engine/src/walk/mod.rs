//! One run over the graph. [`Walk`] owns everything that changes while the run goes on.
//!
//! ```text
//!            ┌──────────────── schedule: one loop, one thread ────────────────┐
//!   graph ──►│ demanded → edges   ready → value, or tasks   released → close  │
//!            └──────▲─────────────────────┬───────────────────────────────────┘
//!                   └──── tasks: futures of provider calls, -parallelism at once
//! ```
//!
//! Tasks are futures on the same thread. They write their results into the cells of the walk and never hold a
//! borrow across an await point.

pub(crate) mod checks;
mod decisions;
pub(crate) mod diagnose;
mod expand;
mod implied;
mod modules;
mod nodes;
mod output;
mod report;
mod retained_run;
mod reuse;
mod run_state;
mod schedule;
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
use state::{Object, OutputChange, State, journal::Intent};

pub(crate) use checks::{ConditionKind, condition_result, message_text};
pub(crate) use decisions::{DecisionParts, Decisions};
pub(crate) use expand::{Each, Keys, Repeated};
pub(crate) use implied::{ImpliedNodes, ImpliedParts};
pub(crate) use modules::{FoundProvider, ModuleRun, Modules, provider_name};
pub(crate) use nodes::{KeptNodes, Nodes};
pub(crate) use report::Report;
pub(crate) use retained_run::{FinishedWalk, Part, RetainedRun};
pub(crate) use reuse::Reuse;
pub(crate) use run_state::RunState;
pub(crate) use schedule::{Task, Work, run};
pub(crate) use scope::{EngineScope, Functions, OwnObject, time_text};
pub(crate) use values::Turn;

use crate::{
    ephemeral::{EphemeralStore, OpenIx},
    event::Event,
    files::Observed,
    function_calls::FunctionAnswers,
    graph::{ConfigTree, Dependencies, ModuleIx, NodeIx, NodeKind, Template},
    import::ImportOrder,
    memo::{Memo, Version},
    offline::{self, Offline},
    pool::{Kept, Pool, SlotIx},
    request::{CancelLevel, Environment},
    temp::TempRoot,
    variables::VariableValues,
};

/// The purpose of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Plans the changes that make the real objects match the configuration.
    Plan,
    /// Plans the destruction of everything in the state.
    PlanDestroy,
    /// Applies a plan.
    Apply,
    /// Applies a destroy plan.
    ApplyDestroy,
    /// Imports an existing object into the state. Only the nodes that its provider configuration needs run.
    Import,
}

impl Phase {
    /// Returns true if the run makes a plan, and false if it applies one or imports an object.
    pub(crate) fn is_plan(self) -> bool {
        matches!(self, Phase::Plan | Phase::PlanDestroy)
    }

    /// Returns true if the run plans or applies the destruction of everything.
    pub(crate) fn is_destroy(self) -> bool {
        matches!(self, Phase::PlanDestroy | Phase::ApplyDestroy)
    }
}

/// The error of an operation whose diagnostic is already reported: the receiver reports nothing more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Failed;

/// The settings of a run, which do not change while it goes on.
pub(crate) struct Settings {
    pub(crate) phase: Phase,
    pub(crate) refresh: bool,
    pub(crate) parallelism: usize,
    pub(crate) applying: bool,
    pub(crate) workspace: Str,
    pub(crate) replace: FxHashSet<ResourceInstance>,
    /// The journaled creations of an interrupted run whose outcome is unknown, by address. Such an object may
    /// exist although the state does not have it.
    pub(crate) uncertain: FxHashMap<ResourceInstance, Intent>,
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

/// A resource of the state whose objects are planned without a block of the configuration.
pub(crate) struct Orphan {
    pub(crate) address: AbsResource,
    pub(crate) provider: ProviderConfigRef,
    /// The instances with a current object, each with the reason of its deletion.
    pub(crate) instances: Vec<(InstanceKey, Option<state::Reason>)>,
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

/// The state of one run.
pub(crate) struct Walk<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) settings: Settings,
    pub(crate) config: Configuration<'a>,
    /// The planned changes that an apply carries out; `None` in every other phase.
    pub(crate) planned_actions: Option<&'a crate::apply::PlannedActions<'a>>,
    /// The object that an import brings into the state; `None` in every other phase.
    pub(crate) import: Option<ImportOrder>,
    pub(crate) nodes: Nodes,
    pub(crate) implied: ImpliedNodes,
    pub(crate) modules: Modules,
    pub(crate) state: RunState,
    pub(crate) reuse: Reuse<'a>,
    pub(crate) pool: Pool,
    pub(crate) store: EphemeralStore,
    pub(crate) checks: checks::Checks,
    pub(crate) report: Report,
    pub(crate) decisions: Decisions,
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
pub(crate) struct WalkInput<'a> {
    pub(crate) settings: Settings,
    pub(crate) variables: VariableValues,
    pub(crate) planned_actions: Option<&'a crate::apply::PlannedActions<'a>>,
    pub(crate) import: Option<ImportOrder>,
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
        input: WalkInput<'a>,
    ) -> Walk<'a> {
        let WalkInput {
            settings,
            variables,
            planned_actions,
            import,
            previous,
            kept,
            templates,
            state_index,
        } = input;
        let functions = Functions::new(&environment.system, !settings.phase.is_plan())
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
            planned_actions,
            import,
            nodes: Nodes::default(),
            implied: ImpliedNodes::default(),
            modules: Modules::default(),
            state: RunState::new(previous, state_index),
            reuse: Reuse::new(memo),
            pool: kept.map_or_else(Pool::default, Pool::keeping),
            store,
            checks: checks::Checks::default(),
            report: Report::default(),
            decisions: Decisions::default(),
            calls: Calls { functions, observed: None, answers: FunctionAnswers::default() },
        };
        walk.place_earlier();
        walk
    }

    /// Adds every resource of the state as an orphan, so that it is destroyed.
    pub(crate) fn add_everything_as_orphan(&self) {
        let addresses: Vec<AbsResource> =
            self.state.previous().resources().map(|(address, _)| address.clone()).collect();
        for address in addresses {
            self.add_orphan(&address, |_| None);
        }
    }

    /// Plans the removal of the outputs in the state whose names `removed` accepts.
    pub(crate) fn plan_output_removal(&self, removed: impl Fn(&str) -> bool) {
        let gone = self.state.previous().outputs.iter().filter(|(name, _)| removed(name));
        for (name, output) in gone {
            let change = OutputChange {
                action: state::Action::Delete,
                before: output.value.clone(),
                after: Value::null(::values::Type::Dynamic),
                sensitive: output.sensitive,
            };
            self.decisions.set_output(name.clone(), change);
        }
    }

    pub(crate) fn emit(&self, event: Event) {
        self.environment.events.event(event);
    }

    /// The schemas of a provider of the program or of the built-in provider; `None` if they are not known.
    pub(crate) fn schemas(&self, source: &addr::ProviderSource) -> Option<Arc<ProviderSchemas>> {
        let known = self.config.program.schemas.get(source).cloned();
        known.or_else(|| (*source == crate::builtin::source()).then(crate::builtin::schemas))
    }

    pub(crate) fn phase(&self) -> Phase {
        self.settings.phase
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

    /// The current object of an instance in the state of this run.
    pub(crate) fn object(&self, address: &ResourceInstance) -> Option<Arc<Object>> {
        self.state.object(address)
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
