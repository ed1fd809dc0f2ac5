//! [`Walk`], the part of a run's context that all kinds of runs have.

use std::{rc::Rc, sync::Arc};

use addr::{ConfigResource, ProviderConfigRef, ResourceInstance};
use hir::Program;
use provider::ProviderSchemas;
use sorted::TreeSet;
use state::{Object, State};
use values::Str;

use crate::{
    ahead::Ahead,
    cancel::CancelLevel,
    ephemeral::EphemeralStore,
    event::Event,
    files::Observed,
    function_calls::FunctionAnswers,
    functions::Functions,
    graph::{
        ModuleIx, NodeIx, NodeKind, create_first::CreateFirst, dependencies::Dependencies,
        template::Template, tree::ConfigTree,
    },
    memo::Memo,
    offline::{self, Offline},
    pool::{Kept, Pool},
    removals::Removals,
    request::Environment,
    resource::subject::Subject,
    temp::TempRoot,
    variables::VariableValues,
    walk::{
        checks::Checks,
        modules::{ModuleRun, Modules},
        nodes::Nodes,
        outcome::Outcome,
        report::Report,
        reuse::Reuse,
        run_state::RunState,
        state_index::StateIndex,
    },
};

/// The settings of a run, which do not change while it goes on.
pub(crate) struct Settings {
    pub(crate) parallelism: usize,
    /// The value of `tofu.applying`.
    pub(crate) applying: bool,
    pub(crate) workspace: Str,
    /// The root of the temporary directories that `path.temp` names.
    pub(crate) temp: TempRoot,
    /// True if a failed condition of a resource or an output is only a warning, and `import` blocks do not count.
    pub(crate) is_refresh_only: bool,
    /// The result of `plantimestamp()`.
    pub(crate) plan_time: Str,
}

/// The configuration of a run.
pub(crate) struct Configuration<'a> {
    pub(crate) program: &'a Arc<Program>,
    pub(crate) variables: VariableValues,
    /// The templates of the program's modules.
    pub(crate) templates: Vec<Rc<Template>>,
    /// The `removed` blocks.
    pub(crate) removals: Removals,
    /// The tree of module calls of the program.
    pub(crate) tree: ConfigTree,
    pub(crate) dependencies: Dependencies,
    pub(crate) create_first: CreateFirst,
}

/// The functions of a run, the answers of providers to them, and what is evaluated ahead.
pub(crate) struct Calls {
    pub(crate) functions: Functions,
    /// Records the files that functions read; set only in a plan that is saved.
    pub(crate) observed: Option<Arc<Observed>>,
    /// The answers of provider functions in this run.
    pub(crate) answers: FunctionAnswers,
    /// The evaluations on other processors.
    pub(crate) ahead: Ahead,
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
    pub(crate) checks: Checks,
    pub(crate) report: Report,
    pub(crate) calls: Calls,
}

/// The inputs of a run.
pub(crate) struct WalkInput {
    pub(crate) settings: Settings,
    pub(crate) variables: VariableValues,
    /// True if functions may give results that a plan could not promise, such as the current time.
    pub(crate) acts: bool,
    /// Records the files that functions read; `None` unless the plan is saved.
    pub(crate) observed: Option<Arc<Observed>>,
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
        let WalkInput {
            settings,
            variables,
            acts,
            observed,
            previous,
            kept,
            templates,
            state_index,
        } = input;
        let counts_imports = !settings.is_refresh_only;
        let functions = Functions::new(&environment.system, acts)
            .of_plan(&settings.plan_time)
            .until(&environment.cancel);
        let offline = Offline {
            program,
            objects: None,
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
                dependencies: Dependencies::new(counts_imports),
                create_first: CreateFirst::default(),
                removals: Removals::of(program),
                templates,
            },
            nodes: Nodes::default(),
            modules: Modules::default(),
            state: RunState::new(previous, state_index),
            reuse: Reuse::new(memo),
            pool: kept.map_or_else(Pool::default, Pool::keeping),
            store,
            checks: Checks::default(),
            report: Report::default(),
            calls: Calls {
                functions,
                observed,
                answers: FunctionAnswers::default(),
                ahead: Ahead::new(&environment.cancel),
            },
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
    #[inline]
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

    /// Returns true if a replacement of the resource creates the new object before it destroys the old one.
    pub(crate) fn creates_first(&self, resource: &ConfigResource) -> bool {
        self.created_first().contains(resource)
    }

    /// The resources that [`creates_first`](Walk::creates_first) is true for.
    pub(crate) fn created_first(&self) -> &TreeSet<ConfigResource> {
        self.config.create_first.resources(self.config.program, &self.config.tree)
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
        self.state.object(&subject.object)
    }

    /// Sets the object of a subject in the state of this run. `None` removes it.
    pub(crate) fn set_object(&self, subject: &Subject, object: Option<Arc<Object>>) {
        self.state.change(|state| state.set_object(&subject.object, &subject.provider, object));
    }
}
