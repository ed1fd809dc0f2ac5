//! Provider processes: one for each distinct evaluated configuration, from its first use to the end of its last user.
//!
//! Under a [`Planner`](crate::Planner) a process lives on after its last user, and with it the ephemeral resources that
//! its configuration was made from, until a plan does not want it any more:
//!
//! ```text
//!   run 1: wanted ─► started ─► used ─► kept ┐
//!   run 2:             wanted by an equal configuration ─► used ─► kept ┐
//!   run 3:                                              not wanted ─► ended, then what fed it is closed
//! ```
//!
//! **Invariant:** two configurations share a process only if provider and configuration are equal, to the byte.
//! **Invariant:** the values of a configuration are dropped when its process has them.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use addr::ProviderSource;
use db::Diagnostic;
use hir::Entry;
use provider::{ConfigureRequest, Provider, ProviderDiagnostic};
use rustc_hash::FxHashMap;
use tokio::sync::OnceCell;
use values::{Str, Value};

use crate::{
    builtin,
    ephemeral::Open,
    event::Event,
    graph::NodeIx,
    memo::{Digest, NodeKey},
    validate::requires_configuration,
    walk::{Failed, Walk},
};

/// How long a provider may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// A configuration of a provider; an index into the pool.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct SlotIx(u32);

/// The configurations of a run.
#[derive(Default)]
pub(crate) struct Pool {
    slots: RefCell<Vec<Rc<Slot>>>,
    by_config: RefCell<FxHashMap<(ProviderSource, Digest), SlotIx>>,
    started: Cell<u32>,
    /// Whether processes live on after the run.
    keeps: bool,
    /// Processes of earlier runs that nobody of this run has asked for so far.
    earlier: RefCell<Vec<Rc<Slot>>>,
    /// Which configuration a block came to, where its values may not be kept.
    of_block: RefCell<FxHashMap<NodeKey, (ProviderSource, Digest)>>,
    /// Whether a provider failed: then none is kept, since a process that broke down fails all later calls.
    failed: Cell<bool>,
}

/// What lives on from one run to the next.
#[derive(Default)]
pub(crate) struct Kept {
    slots: Vec<Rc<Slot>>,
    of_block: FxHashMap<NodeKey, (ProviderSource, Digest)>,
    started: u32,
}

impl Kept {
    /// Whether no process runs and nothing is open.
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The ephemeral resources that are open.
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

/// One configuration and its process, if that was needed.
pub(crate) struct Slot {
    pub(crate) source: ProviderSource,
    pub(crate) config: Digest,
    /// Unmarked; unknown in parts while planning. It goes when the process has it.
    value: RefCell<Option<Value>>,
    is_known: bool,
    /// Whether the process is never configured: it is there for functions.
    is_unconfigured: bool,
    /// The block, where there is one.
    entry: Option<Entry>,
    users: Cell<u32>,
    provider: OnceCell<Result<Running, Failed>>,
    ended: Cell<bool>,
    /// What was open while the configuration was made, and must be as long as the process is to work with it.
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
            ended: Cell::new(false),
            fed_by: RefCell::default(),
        }
    }

    /// Whether the whole configuration is known.
    pub(crate) fn is_known(&self) -> bool {
        self.is_known
    }

    /// The process, if it runs.
    fn running(&self) -> Option<&Running> {
        self.provider.get()?.as_ref().ok().filter(|_| !self.ended.get())
    }

    /// What was open while the configuration was made.
    pub(crate) fn fed_by(&self) -> Vec<Rc<Open>> {
        self.fed_by.borrow().clone()
    }

    fn is_fed_by(&self, open: &Rc<Open>) -> bool {
        self.fed_by.borrow().iter().any(|it| Rc::ptr_eq(it, open))
    }

    /// Whether this is the process that keeps something open.
    fn serves(&self, open: &Open) -> bool {
        self.running().is_some_and(|it| Arc::ptr_eq(&it.provider, open.provider()))
    }

    /// Whether everything that the configuration was made from can still be used.
    fn is_fresh(&self) -> bool {
        !self.fed_by.borrow().iter().any(|open| open.is_spent())
    }
}

impl Pool {
    /// A pool whose processes live on, with those that were kept before.
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

    /// What lives on, after a run.
    pub(crate) fn take_kept(&self) -> Kept {
        let slots = self.by_age();
        let mut of_block = self.of_block.take();
        of_block.retain(|_, (source, config)| {
            slots.iter().any(|it| it.source == *source && it.config == *config)
        });
        Kept { slots, of_block, started: self.started.get() }
    }

    /// Whether processes live on after the run.
    pub(crate) fn keeps(&self) -> bool {
        self.keeps
    }

    /// Says that a provider failed.
    pub(crate) fn note_failure(&self) {
        self.failed.set(true);
    }

    /// Remembers which configuration a block came to.
    pub(crate) fn remember_block(&self, block: NodeKey, slot: SlotIx) {
        if self.keeps {
            let slot = self.get(slot);
            let config = (slot.source.clone(), slot.config);
            self.of_block.borrow_mut().insert(block, config);
        }
    }

    /// The place of a block that has not changed since a process was started for it, if that still runs.
    pub(crate) fn kept_slot(&self, block: &NodeKey) -> Option<SlotIx> {
        let (source, config) = self.of_block.borrow().get(block).cloned()?;
        if !self.by_config.borrow().contains_key(&(source.clone(), config)) {
            let slot = self.take_earlier(&source, config)?;
            self.place(slot);
        }
        let index = *self.by_config.borrow().get(&(source, config))?;
        let slot = self.get(index);
        slot.running()?;
        slot.users.set(slot.users.get() + 1);
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

    /// Adds what a configuration was made from, unless its process has it already.
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

    /// Whether a process that lives on needs something open.
    pub(crate) fn needs(&self, open: &Rc<Open>) -> bool {
        self.keeps
            && self
                .slots
                .borrow()
                .iter()
                .any(|slot| slot.running().is_some() && slot.is_fed_by(open))
    }

    /// Every process that runs, in the order of their starts.
    fn by_age(&self) -> Vec<Rc<Slot>> {
        let (slots, earlier) = (self.slots.borrow(), self.earlier.borrow());
        let running = slots.iter().chain(earlier.iter()).filter(|it| it.running().is_some());
        let mut running: Vec<Rc<Slot>> = running.cloned().collect();
        running.sort_by_key(|it| it.running().map(|it| it.serial));
        running
    }

    /// The processes that live on: those that this run asked for, as far as what their configurations were made from is
    /// kept by others of them.
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

    /// The place for a process without a configuration, which lives to the end of the run. `config` stands for that there is
    /// none.
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

    /// The place for a configuration; a new one or that of an equal one.
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

    pub(crate) fn get(&self, slot: SlotIx) -> Rc<Slot> {
        Rc::clone(&self.slots.borrow()[slot.0 as usize])
    }

    /// All processes that run.
    fn running(&self) -> Vec<Arc<dyn Provider>> {
        let slots = self.slots.borrow();
        let running = slots.iter().filter_map(|slot| slot.running().cloned());
        running.map(|it| it.provider).collect()
    }

    /// Asks all processes to end running calls early.
    pub(crate) async fn stop_all(&self) {
        let running = self.running();
        let asked = running.iter().map(|provider| async {
            // A provider that cannot stop just goes on.
            let _ = tokio::time::timeout(END_TIMEOUT, provider.stop()).await;
        });
        futures::future::join_all(asked).await;
    }
}

impl Walk<'_> {
    /// The provider of a node that is done, started and configured.
    ///
    /// # Errors
    /// If it could not be; that is reported once.
    pub(crate) async fn provider(&self, node: NodeIx) -> Result<Arc<dyn Provider>, Failed> {
        let slot = self.nodes.slot(node).ok_or(Failed)?;
        self.provider_of(self.pool.get(slot)).await
    }

    /// The provider of a slot, started, and configured if it has a configuration.
    ///
    /// # Errors
    /// If it could not be; that is reported once.
    pub(crate) async fn provider_of(&self, slot: Rc<Slot>) -> Result<Arc<dyn Provider>, Failed> {
        let running = slot.provider.get_or_init(|| self.start(&slot)).await;
        running.as_ref().map(|it| Arc::clone(&it.provider)).map_err(|it| *it)
    }

    async fn start(&self, slot: &Slot) -> Result<Running, Failed> {
        let serial = self.pool.started.get() + 1;
        self.pool.started.set(serial);
        let provider: Arc<dyn Provider> = if slot.source == builtin::source() {
            Arc::new(builtin::Terraform::new())
        } else {
            let started = self.environment.providers.start(&slot.source).await;
            started.map_err(|diagnostic| {
                self.report(*diagnostic);
                Failed
            })?
        };
        self.emit(Event::ProviderStarted { provider: slot.source.clone(), serial });
        let running = Running { provider, serial };
        if slot.is_unconfigured {
            return Ok(running);
        }
        match self.configure(slot, &*running.provider).await {
            Ok(()) => Ok(running),
            Err(Failed) => {
                self.end(slot, &running).await;
                Err(Failed)
            }
        }
    }

    async fn configure(&self, slot: &Slot, provider: &dyn Provider) -> Result<(), Failed> {
        let place = slot.entry.as_ref().map(|entry| (entry, &entry.provider_config().body));
        let schemas = self.schemas(&slot.source);
        if !schemas.is_some_and(|it| it.capabilities.get_provider_schema_optional) {
            // Some providers build what they need for every other call while answering this one.
            if let Err(diagnostics) = provider.schemas().await {
                self.report_provider(diagnostics, place, None)?;
            }
        }
        let config = slot.value.take().ok_or(Failed)?;
        let found = provider.validate_provider_config(config.clone()).await;
        if place.is_none() && found.iter().any(ProviderDiagnostic::is_error) {
            self.report(requires_configuration(&slot.source));
        }
        self.report_provider(found, place, None)?;
        let request = ConfigureRequest { core_version: Str::from(state::WRITTEN_VERSION), config };
        self.report_provider(provider.configure(request).await, place, None)
    }

    /// Takes one user away from a configuration; ends the process after the last, unless it lives on.
    pub(crate) async fn leave_provider(&self, slot: SlotIx) {
        let slot = self.pool.get(slot);
        slot.users.set(slot.users.get() - 1);
        if slot.users.get() == 0
            && !self.pool.keeps
            && let Some(running) = slot.running()
        {
            self.end(&slot, running).await;
        }
    }

    /// Ends every process that still runs.
    pub(crate) async fn end_providers(&self) {
        for slot in self.pool.by_age() {
            if let Some(running) = slot.running() {
                self.end(&slot, running).await;
            }
        }
    }

    /// Ends the processes that do not live on, the newest first, and closes what only they needed.
    pub(crate) async fn end_unwanted(&self) {
        let wanted = self.pool.wanted();
        self.end_all_but(&wanted).await;
    }

    /// Ends all processes, the newest first, and closes what they needed.
    pub(crate) async fn end_kept(&self) {
        self.end_all_but(&[]).await;
    }

    async fn end_all_but(&self, wanted: &[Rc<Slot>]) {
        let is_wanted = |slot: &Rc<Slot>| wanted.iter().any(|it| Rc::ptr_eq(it, slot));
        for slot in self.pool.by_age().into_iter().rev().filter(|slot| !is_wanted(slot)) {
            if let Some(running) = slot.running() {
                self.end(&slot, running).await;
            }
            for open in slot.fed_by.take().into_iter().rev() {
                if !self.pool.by_age().iter().any(|it| it.is_fed_by(&open)) {
                    self.close_open(&open).await;
                }
            }
        }
    }

    async fn end(&self, slot: &Slot, running: &Running) {
        slot.ended.set(true);
        if tokio::time::timeout(END_TIMEOUT, running.provider.close()).await.is_err() {
            let detail = format!(
                "The provider {} was asked to end and did not within {} seconds.",
                slot.source.for_display(),
                END_TIMEOUT.as_secs()
            );
            self.report(Diagnostic::warning(
                "provider-does-not-end",
                "Provider does not end",
                detail,
            ));
        }
        self.emit(Event::ProviderEnded { provider: slot.source.clone(), serial: running.serial });
    }
}
