//! The analysis of one plan.

use std::{
    cell::{OnceCell, RefCell},
    rc::Rc,
    sync::Arc,
};

use addr::{ConfigResource, ModuleInstance, ResourceInstance};
use db::System;
use engine::{CreatedFirst, ModuleSnapshot, Snapshot, SnapshotInputs, VariableValues};
use hir::{Module, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use sorted::TreeMap;
use state::{Action, Plan, ResourceChange, State};
use values::Str;

use crate::{
    finding::Finding,
    object::{ImportSites, OtherBlocks},
    place::Places,
    question::{Question, UnknownAddress},
    search::Search,
    snapshots::{After, Before},
};

/// A plan with everything that it was made from.
#[derive(Clone)]
pub struct Inputs<'a> {
    /// The configuration.
    pub program: &'a Arc<Program>,
    /// The plan.
    pub plan: &'a Plan,
    /// The state before the plan.
    pub previous: &'a State,
    /// The state after the refresh of the plan.
    pub refreshed: &'a State,
    /// The values of the root module's variables.
    pub values: &'a VariableValues,
    /// The files that functions read.
    pub system: Arc<dyn System>,
    /// The name of the workspace.
    pub workspace: Str,
}

/// The analysis of a plan, which answers questions about it.
pub struct Analysis<'a> {
    pub(crate) inputs: &'a Inputs<'a>,
    pub(crate) places: Places<'a>,
    pub(crate) after: &'a After<'a>,
    drift: TreeMap<&'a ResourceInstance, &'a ResourceChange>,
    snapshots: Snapshots<'a>,
    modules: RefCell<FxHashMap<ModuleInstance, Option<Rc<ModulePair<'a>>>>>,
    blocks: OnceCell<OtherBlocks<'a>>,
    import_sites: OnceCell<ImportSites<'a>>,
    created_first: OnceCell<CreatedFirst>,
    kept: OnceCell<Option<FxHashSet<String>>>,
}

struct Snapshots<'a> {
    before: &'a Snapshot<'a>,
    after: &'a Snapshot<'a>,
}

/// An instance of a module before and after the plan.
pub(crate) struct ModulePair<'a> {
    pub(crate) instance: ModuleInstance,
    pub(crate) before: ModuleSnapshot<'a>,
    pub(crate) after: ModuleSnapshot<'a>,
}

impl<'a> ModulePair<'a> {
    pub(crate) fn module(&self) -> &'a Module {
        self.after.module()
    }

    /// The name of something in the module: `module.a.local.x`.
    pub(crate) fn name(&self, name: impl std::fmt::Display) -> String {
        match self.instance.is_root() {
            true => name.to_string(),
            false => format!("{}.{name}", self.instance),
        }
    }
}

/// Analyzes a plan, and runs `ask` with the analysis. The work of each question is linear in the parts of the
/// configuration that it leads to.
pub fn analyze<T>(inputs: &Inputs<'_>, ask: impl FnOnce(&Analysis<'_>) -> T) -> T {
    let before = Before::new(inputs.previous, inputs.plan);
    let after = After::new(inputs.refreshed, inputs.plan);
    let read = SnapshotInputs {
        program: inputs.program,
        values: inputs.values,
        workspace: inputs.workspace.clone(),
        system: Arc::clone(&inputs.system),
    };
    let (earlier, later) = (Snapshot::new(&read, &before), Snapshot::new(&read, &after));
    ask(&Analysis {
        inputs,
        places: Places::new(inputs.program),
        after: &after,
        drift: inputs
            .plan
            .drift()
            .filter(|it| it.deposed.is_none())
            .map(|it| (&it.addr, it))
            .collect(),
        snapshots: Snapshots { before: &earlier, after: &later },
        modules: RefCell::default(),
        blocks: OnceCell::new(),
        import_sites: OnceCell::new(),
        created_first: OnceCell::new(),
        kept: OnceCell::new(),
    })
}

impl<'a> Analysis<'a> {
    /// Explains what an address names: an object or its attribute, all instances of a resource or module, an output,
    /// a local value or a variable. The answer has a finding for each object.
    ///
    /// # Errors
    /// The address is not one, or names nothing in the plan and its configuration.
    pub fn explain(&self, address: &str) -> Result<Vec<Finding>, UnknownAddress> {
        let question = Question::parse(self, address)?;
        Ok(self.answer(&question))
    }

    /// Explains every change of an object or output, in the order of the plan.
    pub fn explain_changes(&self) -> Vec<Finding> {
        self.explained_changes().collect()
    }

    fn explained_changes(&self) -> impl Iterator<Item = Finding> {
        let changes = self.inputs.plan.changes().filter(|it| is_change(it));
        let objects = changes.map(|it| self.explain_change(it));
        let outputs = self.inputs.plan.output_changes.iter();
        let outputs = outputs.filter(|(_, it)| it.action != Action::NoOp);
        let outputs = outputs.filter_map(|(name, _)| self.explain_output_change(name));
        objects.chain(outputs)
    }

    /// Explains the first changes, at most this many.
    pub fn explain_first_changes(&self, most: usize) -> Vec<Finding> {
        self.explained_changes().take(most).collect()
    }

    /// Explains one planned change.
    pub fn explain_change(&self, change: &ResourceChange) -> Finding {
        Search::new(self).of_change(change)
    }

    /// Explains the planned change of an output of the root module. `None` if the plan does not list the output.
    pub fn explain_output_change(&self, name: &Str) -> Option<Finding> {
        Search::new(self).of_output(name)
    }

    /// The `moved`, `removed` and `import` blocks.
    pub(crate) fn blocks(&self) -> &OtherBlocks<'a> {
        self.blocks.get_or_init(|| OtherBlocks::of(self.inputs.program))
    }

    /// The addresses that `import` blocks import to.
    pub(crate) fn import_sites(&self) -> &ImportSites<'a> {
        self.import_sites.get_or_init(|| ImportSites::of(self))
    }

    /// The resources that are created before they are destroyed.
    pub(crate) fn created_first(&self) -> &CreatedFirst {
        self.created_first.get_or_init(|| {
            let kept = self.kept();
            let counts =
                |it: &ConfigResource| kept.is_none_or(|kept| kept.contains(&it.to_string()));
            CreatedFirst::of(self.inputs.program, counts)
        })
    }

    /// The addresses that a plan with `-target` or `-exclude` keeps; `None` without these options.
    pub(crate) fn kept(&self) -> Option<&FxHashSet<String>> {
        let Inputs { program, plan, previous, .. } = self.inputs;
        self.kept.get_or_init(|| engine::kept_addresses(program, plan, previous)).as_ref()
    }

    /// The planned change of the current object of an instance.
    pub(crate) fn change(&self, address: &ResourceInstance) -> Option<&'a ResourceChange> {
        let changes = self.after.changes_of(&address.containing_resource());
        let at = changes.binary_search_by(|it| it.addr.key.cmp(&address.key)).ok()?;
        changes.get(at).copied()
    }

    /// The change of an object outside of Mayfly.
    pub(crate) fn drift(&self, address: &ResourceInstance) -> Option<&'a ResourceChange> {
        self.drift.get(address).copied()
    }

    /// An instance of a module; `None` if no calls lead to it.
    pub(crate) fn module(&self, instance: &ModuleInstance) -> Option<Rc<ModulePair<'a>>> {
        if let Some(known) = self.modules.borrow().get(instance) {
            return known.clone();
        }
        let pair = self.new_module(instance).map(Rc::new);
        self.modules.borrow_mut().insert(instance.clone(), pair.clone());
        pair
    }

    fn new_module(&self, instance: &ModuleInstance) -> Option<ModulePair<'a>> {
        let (before, after) = match instance.split_last() {
            None => (self.snapshots.before.root(), self.snapshots.after.root()),
            Some((caller, step)) => {
                let caller = self.module(&caller)?;
                (
                    caller.before.called(&step.name, &step.key)?,
                    caller.after.called(&step.name, &step.key)?,
                )
            }
        };
        Some(ModulePair { instance: instance.clone(), before, after })
    }
}

/// Returns true if a plan lists the change of an object.
pub(crate) fn is_change(change: &ResourceChange) -> bool {
    change.change.action != Action::NoOp
        || change.previous_addr.is_some()
        || change.change.importing.is_some()
}
