//! One run over the graph: the owner of everything that changes while it runs.
//!
//! ```text
//!            ┌──────────────── schedule: one loop, one thread ────────────────┐
//!   graph ──►│ demanded → edges   ready → value, or tasks   released → close  │
//!            └──────▲─────────────────────┬───────────────────────────────────┘
//!                   └──── tasks: futures of provider calls, -parallelism at once
//! ```
//!
//! Tasks are futures of the same thread; they write what they learn into the walk's cells and never hold a borrow over
//! an await.

pub(crate) mod checks;
mod decisions;
pub(crate) mod diagnose;
mod expand;
mod implied;
mod modules;
mod nodes;
mod output;
mod report;
mod reuse;
mod run_state;
mod schedule;
mod scope;
mod standing;
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
pub(crate) use reuse::Reuse;
pub(crate) use run_state::RunState;
pub(crate) use schedule::{Task, Work, run};
pub(crate) use scope::{EngineScope, Functions, OwnObject, time_text};
pub(crate) use standing::{Apart, Part, Standing};
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

/// What a run is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Decides what to do so that the world agrees with the configuration.
    Plan,
    /// Decides how to destroy everything that state knows.
    PlanDestroy,
    /// Does what a plan says.
    Apply,
    /// Does what a plan to destroy everything says.
    ApplyDestroy,
    /// Puts an object that exists into the state. Nothing else runs than what its provider is configured from.
    Import,
}

impl Phase {
    /// Whether this run decides, rather than acts.
    pub(crate) fn is_plan(self) -> bool {
        matches!(self, Phase::Plan | Phase::PlanDestroy)
    }

    /// Whether everything is to be destroyed.
    pub(crate) fn is_destroy(self) -> bool {
        matches!(self, Phase::PlanDestroy | Phase::ApplyDestroy)
    }
}

/// Something failed and was reported; whoever sees this says nothing more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Failed;

/// What stays the same during a run.
pub(crate) struct Settings {
    pub(crate) phase: Phase,
    pub(crate) refresh: bool,
    pub(crate) parallelism: usize,
    pub(crate) applying: bool,
    pub(crate) workspace: Str,
    pub(crate) replace: FxHashSet<ResourceInstance>,
    /// Where an object may be that the state does not know.
    pub(crate) uncertain: FxHashMap<ResourceInstance, Intent>,
    /// Where temporary directories are.
    pub(crate) temp: TempRoot,
    /// What `plantimestamp()` gives.
    pub(crate) plan_time: Str,
}

/// What a node came to.
#[derive(Default)]
pub(crate) enum Outcome {
    /// Nothing yet, or nothing that could be read.
    #[default]
    None,
    /// A variable, local, output or gathered outputs.
    Value(Value),
    /// How many instances a resource has.
    Keys(Rc<Keys>),
    /// All instances of a resource.
    Resource(Box<ResourceValue>),
    /// A provider configuration.
    Provider(SlotIx),
    /// Unchanged since the memo was made; its value is not kept because it is ephemeral. It is computed again if
    /// somebody reads it.
    Unchanged,
}

/// What references to a resource see.
pub(crate) struct ResourceValue {
    pub(crate) keys: Rc<Keys>,
    pub(crate) instances: BTreeMap<InstanceKey, Value>,
    /// All instances as one value, made when somebody asks.
    pub(crate) whole: RefCell<Option<Value>>,
}

/// Facts about a node beside its value.
#[derive(Clone, Default)]
pub(crate) struct Facts {
    /// Open ephemeral resources that the value was made from.
    pub(crate) opened: Rc<[OpenIx]>,
    /// Whether a change is pending here or in something that this depends on.
    pub(crate) pending: bool,
    /// The same, for this node alone.
    pub(crate) changes: bool,
    /// Whether a data source or an ephemeral resource has to wait for a pending change, until apply.
    pub(crate) waits: bool,
    /// The version of the value.
    pub(crate) version: Version,
    /// Whether a resource's edges were made to count, in its first turn.
    pub(crate) prepared: bool,
    /// Whether the value must be computed though nothing that it was made from changed.
    pub(crate) forced: bool,
}

/// A resource of the state that is handled apart from its configuration.
pub(crate) struct Orphan {
    pub(crate) address: AbsResource,
    pub(crate) provider: ProviderConfigRef,
    pub(crate) instances: Vec<(InstanceKey, Option<state::Reason>)>,
}

/// The configuration of a run.
pub(crate) struct Configuration<'a> {
    pub(crate) program: &'a Arc<Program>,
    pub(crate) variables: VariableValues,
    /// The graphs of the program's modules.
    pub(crate) templates: Vec<Rc<Template>>,
    /// The module calls of the program.
    pub(crate) tree: ConfigTree,
    pub(crate) dependencies: Dependencies,
}

/// How a run evaluates functions.
pub(crate) struct Calls {
    pub(crate) functions: Functions,
    /// The system that functions read files through, in a plan that is saved.
    pub(crate) observed: Option<Arc<Observed>>,
    /// What functions of providers gave in this run.
    pub(crate) answers: FunctionAnswers,
}

/// The run.
pub(crate) struct Walk<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) settings: Settings,
    pub(crate) config: Configuration<'a>,
    /// What an apply was told to do.
    pub(crate) orders: Option<&'a crate::apply::Orders<'a>>,
    /// What an import was told to do.
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

/// The resources of a state by module instance, so that finding orphans does not look at the whole state for each
/// module.
#[derive(Default)]
pub(crate) struct StateIndex {
    pub(crate) resources: FxHashMap<ModuleInstance, Vec<AbsResource>>,
    /// Module instances directly inside of one, as far as they or something inside of them has resources.
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

    /// Puts a module instance, and those around it, among the children of their parents. Those in `placed` are there already.
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

    /// Resources in a module instance and in all inside of it.
    pub(crate) fn all_within(&self, module: &ModuleInstance, found: &mut Vec<AbsResource>) {
        found.extend(self.resources.get(module).into_iter().flatten().cloned());
        for child in self.children.get(module).into_iter().flatten() {
            self.all_within(child, found);
        }
    }
}

/// What a run is made with.
pub(crate) struct WalkInput<'a> {
    pub(crate) settings: Settings,
    pub(crate) variables: VariableValues,
    pub(crate) orders: Option<&'a crate::apply::Orders<'a>>,
    pub(crate) import: Option<ImportOrder>,
    /// The state that the run starts from.
    pub(crate) previous: Arc<State>,
    /// What lives on from earlier runs, where something is to live on after this one.
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
            orders,
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
            orders,
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

    /// Lets every resource of the state be handled as one that is to go.
    pub(crate) fn add_everything_as_orphan(&self) {
        let addresses: Vec<AbsResource> =
            self.state.previous().resources().map(|(address, _)| address.clone()).collect();
        for address in addresses {
            self.add_orphan(&address, |_| None);
        }
    }

    /// Plans the removal of outputs that the state has.
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

    /// The schemas of a provider.
    pub(crate) fn schemas(&self, source: &addr::ProviderSource) -> Option<Arc<ProviderSchemas>> {
        let known = self.config.program.schemas.get(source).cloned();
        known.or_else(|| (*source == crate::builtin::source()).then(crate::builtin::schemas))
    }

    pub(crate) fn phase(&self) -> Phase {
        self.settings.phase
    }

    /// Whether nothing new may be started.
    pub(crate) fn is_stopping(&self) -> bool {
        self.report.ends_run() || self.environment.cancel.level() >= CancelLevel::Stopping
    }

    pub(crate) fn module(&self, module: ModuleIx) -> Rc<ModuleRun> {
        self.modules.get(module)
    }

    /// The module instance and the declaration that a node stands for.
    pub(crate) fn declared(&self, node: NodeIx) -> Option<(ModuleIx, Rc<ModuleRun>, u32)> {
        match self.nodes.kind(node) {
            NodeKind::Declared { module, local } => Some((module, self.module(module), local)),
            _ => None,
        }
    }

    pub(crate) fn set_outcome(&self, node: NodeIx, outcome: Outcome) {
        self.nodes.change_outcome(node, |it| *it = outcome);
    }

    /// The dependencies that the configuration gives the objects of a resource.
    pub(crate) fn dependencies_of(&self, address: &ResourceInstance) -> Arc<[ConfigResource]> {
        self.config.dependencies.of(&self.config.tree, &address.config())
    }

    /// The resources that a provider configuration is made from.
    pub(crate) fn dependencies_of_provider(
        &self,
        provider: &ProviderConfigRef,
    ) -> Arc<[ConfigResource]> {
        self.config.dependencies.of_provider(&self.config.tree, provider)
    }

    /// The object that state holds of an instance.
    pub(crate) fn object(&self, address: &ResourceInstance) -> Option<Arc<Object>> {
        self.state.object(address)
    }
}

impl ResourceValue {
    pub(crate) fn new(keys: Rc<Keys>) -> ResourceValue {
        ResourceValue { keys, instances: BTreeMap::new(), whole: RefCell::new(None) }
    }

    /// All instances as references see them: one object, a tuple of `count`, an object of `for_each`.
    pub(crate) fn whole(&self) -> Value {
        if let Some(value) = &*self.whole.borrow() {
            return value.clone();
        }
        let value = self.keys.shape(&self.instances);
        *self.whole.borrow_mut() = Some(value.clone());
        value
    }
}
