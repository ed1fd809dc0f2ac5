//! Provider processes: one for each distinct evaluated configuration, from its first use until its last user is
//! done.
//!
//! Under a [`Planner`](crate::Planner), a process is kept after its last user, together with the ephemeral
//! resources from which its configuration was made, until a plan no longer needs it:
//!
//! ```text
//!   run 1: wanted ─► started ─► used ─► kept ┐
//!   run 2:             wanted by an equal configuration ─► used ─► kept ┐
//!   run 3:                                              not wanted ─► ended, then what fed it is closed
//! ```
//!
//! **Invariant:** two configurations share a process only if the provider is the same and the configurations are
//! equal byte by byte.
//! **Invariant:** the values of a configuration are dropped once its process has received them.

mod processes;

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use addr::{InstanceKey, ProviderSource};
use hir::Entry;
use provider::{Provider, Provisioner};
use rustc_hash::FxHashMap;
use sorted::TreeMap;
use tokio::sync::{Notify, OnceCell};
use values::{Str, Value};

use crate::{
    builtin,
    ephemeral::Open,
    memo::{Digest, NodeKey},
    schedule::{Failed, Lane},
    walk::outcome::ProviderSlots,
};

/// The time that a provider has for ending.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// The index of a provider configuration in the pool.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct SlotIx(u32);

/// The provider configurations of a run.
#[derive(Default)]
pub(crate) struct Pool {
    slots: RefCell<Vec<Rc<Slot>>>,
    by_config: RefCell<FxHashMap<(ProviderSource, Digest), SlotIx>>,
    started: Cell<u32>,
    /// True if processes are kept after the run.
    keeps: bool,
    /// Processes of earlier runs that this run has not used yet.
    earlier: RefCell<Vec<Rc<Slot>>>,
    /// The configurations of each provider block, for blocks whose values must not be memoized.
    of_block: RefCell<FxHashMap<NodeKey, Configurations>>,
    /// True if a provider failed. Then no process is kept, because a process that broke down fails all later
    /// calls.
    failed: Cell<bool>,
    /// The configuration of each provider whose process is about to start. Its first task starts it.
    starting: RefCell<FxHashMap<ProviderSource, SlotIx>>,
    /// Notified when a process has started.
    pub(crate) started_one: Notify,
    /// The provisioner plugins, by the name of the provisioner.
    provisioners: RefCell<TreeMap<Str, Rc<StartedProvisioner>>>,
}

/// A provisioner plugin that was started, or whose start failed and was reported.
pub(crate) type StartedProvisioner = OnceCell<Result<Arc<dyn Provisioner>, Failed>>;

/// The digest of the configuration of each instance of a provider block.
#[derive(Clone)]
struct Configurations {
    source: ProviderSource,
    instances: TreeMap<InstanceKey, Digest>,
}

/// The processes that are kept from one run to the next.
#[derive(Default)]
pub(crate) struct Kept {
    slots: Vec<Rc<Slot>>,
    of_block: FxHashMap<NodeKey, Configurations>,
    started: u32,
}

impl Kept {
    /// Returns true if no process runs and no ephemeral resource is open.
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns the open ephemeral resources.
    pub(crate) fn opened(&self) -> Vec<Rc<Open>> {
        let mut opened: Vec<Rc<Open>> = Vec::new();
        for open in self.slots.iter().flat_map(|slot| slot.fed_by.borrow().clone()) {
            if !opened.iter().any(|it| Rc::ptr_eq(it, &open)) {
                opened.push(open);
            }
        }
        opened
    }
}

/// A provider configuration, and its process if one was needed.
pub(crate) struct Slot {
    pub(crate) source: ProviderSource,
    pub(crate) config: Digest,
    /// The configuration without marks, in a plan possibly with unknown parts. Taken when the process receives it.
    value: RefCell<Option<Value>>,
    is_known: bool,
    /// True if the process is never configured, because it only serves functions.
    is_unconfigured: bool,
    /// The provider block, if there is one.
    entry: Option<Entry>,
    users: Cell<u32>,
    provider: OnceCell<Result<Running, Failed>>,
    /// True if the start of the process has ended, in success or failure.
    has_started: Cell<bool>,
    ended: Cell<bool>,
    /// The ephemeral resources from which the configuration was made. They must stay open as long as the process
    /// runs.
    fed_by: RefCell<Vec<Rc<Open>>>,
}

#[derive(Clone)]
struct Running {
    provider: Arc<dyn Provider>,
    serial: u32,
}

impl Slot {
    fn new(source: ProviderSource, config: Digest) -> Slot {
        Slot {
            source,
            config,
            value: RefCell::default(),
            is_known: true,
            is_unconfigured: false,
            entry: None,
            users: Cell::new(0),
            provider: OnceCell::new(),
            has_started: Cell::new(false),
            ended: Cell::new(false),
            fed_by: RefCell::default(),
        }
    }

    /// Returns true if the configuration is wholly known.
    pub(crate) fn is_known(&self) -> bool {
        self.is_known
    }

    /// Returns the provider block; `None` if there is none.
    pub(crate) fn entry(&self) -> Option<&Entry> {
        self.entry.as_ref()
    }

    /// Returns the process; `None` if it does not run.
    fn running(&self) -> Option<&Running> {
        self.provider.get()?.as_ref().ok().filter(|_| !self.ended.get())
    }

    /// Returns the ephemeral resources from which the configuration was made.
    pub(crate) fn fed_by(&self) -> Vec<Rc<Open>> {
        self.fed_by.borrow().clone()
    }

    fn is_fed_by(&self, open: &Rc<Open>) -> bool {
        self.fed_by.borrow().iter().any(|it| Rc::ptr_eq(it, open))
    }

    /// Returns true if this process keeps the ephemeral resource open.
    fn serves(&self, open: &Open) -> bool {
        self.running().is_some_and(|it| Arc::ptr_eq(&it.provider, open.provider()))
    }

    /// Returns true if all ephemeral resources from which the configuration was made are still usable.
    fn is_fresh(&self) -> bool {
        !self.fed_by.borrow().iter().any(|open| open.is_spent())
    }
}

impl Pool {
    /// Creates a pool that keeps its processes, with the processes kept from the last run.
    pub(crate) fn keeping(kept: Kept) -> Pool {
        let Kept { slots, of_block, started } = kept;
        Pool {
            keeps: true,
            started: Cell::new(started),
            earlier: RefCell::new(slots),
            of_block: RefCell::new(of_block),
            ..Pool::default()
        }
    }

    /// Returns the processes to keep after a run.
    pub(crate) fn take_kept(&self) -> Kept {
        let slots = self.by_age();
        let mut of_block = self.of_block.take();
        of_block.retain(|_, block| {
            let runs = |config: &Digest| {
                slots.iter().any(|it| it.source == block.source && it.config == *config)
            };
            block.instances.values().all(runs)
        });
        Kept { slots, of_block, started: self.started.get() }
    }

    /// Returns true if processes are kept after the run.
    pub(crate) fn keeps(&self) -> bool {
        self.keeps
    }

    /// Records that a provider failed.
    pub(crate) fn note_failure(&self) {
        self.failed.set(true);
    }

    /// Remembers the configurations of a provider block.
    pub(crate) fn remember_block(
        &self,
        block: NodeKey,
        source: ProviderSource,
        slots: &ProviderSlots,
    ) {
        if self.keeps {
            let config =
                |(key, slot): (&InstanceKey, &SlotIx)| (key.clone(), self.get(*slot).config);
            let instances = slots.iter().map(config).collect();
            self.of_block.borrow_mut().insert(block, Configurations { source, instances });
        }
    }

    /// Returns the slots of a block that has not changed since processes were started for it. `None` if one of them no
    /// longer runs.
    pub(crate) fn kept_slots(&self, block: &NodeKey) -> Option<ProviderSlots> {
        let Configurations { source, instances } = self.of_block.borrow().get(block).cloned()?;
        let slot = |(key, config)| Some((key, self.kept_slot(&source, config)?));
        let slots: ProviderSlots = instances.into_iter().map(slot).collect::<Option<_>>()?;
        slots.values().map(|it| self.get(*it)).for_each(|it| it.users.set(it.users.get() + 1));
        Some(slots)
    }

    fn kept_slot(&self, source: &ProviderSource, config: Digest) -> Option<SlotIx> {
        if !self.by_config.borrow().contains_key(&(source.clone(), config)) {
            let slot = self.take_earlier(source, config)?;
            self.place(slot);
        }
        let index = *self.by_config.borrow().get(&(source.clone(), config))?;
        self.get(index).running()?;
        Some(index)
    }

    fn take_earlier(&self, source: &ProviderSource, config: Digest) -> Option<Rc<Slot>> {
        let mut earlier = self.earlier.borrow_mut();
        let is_it = |it: &Rc<Slot>| it.source == *source && it.config == config && it.is_fresh();
        let index = earlier.iter().position(is_it)?;
        Some(earlier.remove(index))
    }

    fn place(&self, slot: Rc<Slot>) -> SlotIx {
        let mut slots = self.slots.borrow_mut();
        let index = SlotIx(slots.len() as u32);
        self.by_config.borrow_mut().insert((slot.source.clone(), slot.config), index);
        slots.push(slot);
        index
    }

    /// Adds ephemeral resources from which a configuration was made, unless its process has been started already.
    pub(crate) fn feed(&self, slot: SlotIx, opened: Vec<Rc<Open>>) {
        let slot = self.get(slot);
        if slot.provider.initialized() {
            return;
        }
        let mut fed_by = slot.fed_by.borrow_mut();
        for open in opened {
            if !fed_by.iter().any(|it| Rc::ptr_eq(it, &open)) {
                fed_by.push(open);
            }
        }
    }

    /// Returns true if a kept process needs this ephemeral resource.
    pub(crate) fn needs(&self, open: &Rc<Open>) -> bool {
        self.keeps
            && self
                .slots
                .borrow()
                .iter()
                .any(|slot| slot.running().is_some() && slot.is_fed_by(open))
    }

    /// Returns the running processes in the order in which they started.
    fn by_age(&self) -> Vec<Rc<Slot>> {
        let (slots, earlier) = (self.slots.borrow(), self.earlier.borrow());
        let running = slots.iter().chain(earlier.iter()).filter(|it| it.running().is_some());
        let mut running: Vec<Rc<Slot>> = running.cloned().collect();
        sorted::sort_by_key(&mut running, |it| it.running().map(|it| it.serial));
        running
    }

    /// Returns the processes to keep: those that this run used, if other kept processes serve all ephemeral
    /// resources from which their configurations were made.
    fn wanted(&self) -> Vec<Rc<Slot>> {
        if self.failed.get() {
            return Vec::new();
        }
        let mut wanted: Vec<Rc<Slot>> = Vec::new();
        for slot in self.by_age() {
            let is_asked = self.slots.borrow().iter().any(|it| Rc::ptr_eq(it, &slot));
            let is_kept = |open: &Rc<Open>| wanted.iter().any(|it| it.serves(open));
            let is_builtin = slot.source == builtin::source();
            if is_asked
                && !is_builtin
                && slot.is_fresh()
                && slot.fed_by.borrow().iter().all(is_kept)
            {
                wanted.push(slot);
            }
        }
        wanted
    }

    /// Returns the slot of a process without a configuration, which runs until the end of the run. `config` is the
    /// digest that stands for the missing configuration.
    pub(crate) fn unconfigured(&self, source: ProviderSource, config: Digest) -> Rc<Slot> {
        let known = self.by_config.borrow().get(&(source.clone(), config)).copied();
        let index = known.unwrap_or_else(|| {
            let slot = self.take_earlier(&source, config);
            self.place(slot.unwrap_or_else(|| {
                Rc::new(Slot { is_unconfigured: true, ..Slot::new(source, config) })
            }))
        });
        self.get(index)
    }

    /// Returns the slot of a configuration: an existing one if an equal configuration has one, otherwise a new
    /// one. Adds a user.
    pub(crate) fn slot(
        &self,
        source: ProviderSource,
        config: Digest,
        value: Value,
        entry: Option<Entry>,
    ) -> SlotIx {
        let known = self.by_config.borrow().get(&(source.clone(), config)).copied();
        let index = known.unwrap_or_else(|| {
            let slot = self.take_earlier(&source, config);
            self.place(slot.unwrap_or_else(|| {
                Rc::new(Slot {
                    is_known: value.is_wholly_known(),
                    value: RefCell::new(Some(value)),
                    entry,
                    ..Slot::new(source, config)
                })
            }))
        });
        let slots = self.slots.borrow();
        let users = &slots[index.0 as usize].users;
        users.set(users.get() + 1);
        index
    }

    /// Returns the slot of a mocked configuration, whose process is never configured. Adds a user.
    pub(crate) fn mock_slot(&self, source: ProviderSource, config: Digest) -> SlotIx {
        let slot = self.unconfigured(source.clone(), config);
        slot.users.set(slot.users.get() + 1);
        self.by_config.borrow()[&(source, config)]
    }

    /// The lane of tasks that need a process; `None` if that takes no time to start.
    pub(crate) fn lane(&self, slot: SlotIx) -> Option<Lane> {
        (self.get(slot).source != builtin::source()).then_some(Lane(slot.0))
    }

    /// Lets the tasks of a lane start if its process has started, or if no other process of the same provider is
    /// starting; then it is this one's turn. Returns false if they must wait. Several starts of one executable at
    /// once would take no less time, and the memory of all of them; meanwhile the work on the first process may
    /// end.
    pub(crate) fn admit(&self, lane: Lane) -> bool {
        let slot = self.get(SlotIx(lane.0));
        if slot.has_started.get() {
            return true;
        }
        let mut starting = self.starting.borrow_mut();
        *starting.entry(slot.source.clone()).or_insert(SlotIx(lane.0)) == SlotIx(lane.0)
    }

    /// Lets the next process of the same provider start.
    pub(crate) fn end_start(&self, lane: Lane) {
        let slot = self.get(SlotIx(lane.0));
        let mut starting = self.starting.borrow_mut();
        if starting.get(&slot.source) == Some(&SlotIx(lane.0)) {
            starting.remove(&slot.source);
            self.started_one.notify_one();
        }
    }

    /// Records that the process of a slot has started, or could not be started.
    fn note_started(&self, slot: &Slot) {
        slot.has_started.set(true);
        let index = self.starting.borrow().get(&slot.source).copied();
        if let Some(index) = index.filter(|it| std::ptr::eq(&*self.get(*it), slot)) {
            self.end_start(Lane(index.0));
        }
    }

    pub(crate) fn get(&self, slot: SlotIx) -> Rc<Slot> {
        Rc::clone(&self.slots.borrow()[slot.0 as usize])
    }

    /// Returns the cell of a provisioner plugin, which is started at its first use.
    pub(crate) fn provisioner(&self, name: &str) -> Rc<StartedProvisioner> {
        Rc::clone(self.provisioners.borrow_mut().entry(Str::from(name)).or_default())
    }

    /// Takes the provisioner plugins out, to end them.
    pub(crate) fn take_provisioners(&self) -> Vec<Rc<StartedProvisioner>> {
        self.provisioners.take().into_values().collect()
    }

    /// Returns the running processes of this run.
    fn running(&self) -> Vec<Arc<dyn Provider>> {
        let slots = self.slots.borrow();
        let running = slots.iter().filter_map(|slot| slot.running().cloned());
        running.map(|it| it.provider).collect()
    }

    /// Sends all processes a request to end their calls early.
    pub(crate) async fn stop_all(&self) {
        let running = self.running();
        let asked = running.iter().map(|provider| async {
            // A provider that cannot stop continues its call.
            let _ = tokio::time::timeout(END_TIMEOUT, provider.stop()).await;
        });
        futures::future::join_all(asked).await;
    }
}
