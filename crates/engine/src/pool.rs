//! Provider processes: one for each distinct evaluated configuration, from its first use to the end of its last user.
//!
//! **Invariant:** two configurations share a process only if provider and configuration are equal, to the byte.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use addr::ProviderSource;
use db::Diagnostic;
use hir::Entry;
use provider::{ConfigureRequest, Provider};
use rustc_hash::FxHashMap;
use tokio::sync::OnceCell;
use values::{Str, Value};

use crate::{
    builtin,
    event::Event,
    graph::NodeIx,
    memo::Digest,
    walk::{Failed, Outcome, Walk},
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
}

/// One configuration and its process, if that was needed.
pub(crate) struct Slot {
    pub(crate) source: ProviderSource,
    pub(crate) config: Digest,
    /// Unmarked; unknown in parts while planning.
    value: Value,
    /// The block, where there is one.
    entry: Option<Entry>,
    users: Cell<u32>,
    provider: OnceCell<Result<Running, Failed>>,
}

#[derive(Clone)]
struct Running {
    provider: Arc<dyn Provider>,
    serial: u32,
}

impl Slot {
    /// Whether the whole configuration is known.
    pub(crate) fn is_known(&self) -> bool {
        self.value.is_wholly_known()
    }
}

impl Pool {
    /// The place for a configuration; a new one or that of an equal one.
    pub(crate) fn slot(
        &self,
        source: ProviderSource,
        config: Digest,
        value: Value,
        entry: Option<Entry>,
    ) -> SlotIx {
        let mut slots = self.slots.borrow_mut();
        let next = SlotIx(slots.len() as u32);
        let index = *self.by_config.borrow_mut().entry((source.clone(), config)).or_insert(next);
        if index == next {
            let users = Cell::new(0);
            slots.push(Rc::new(Slot {
                source,
                config,
                value,
                entry,
                users,
                provider: OnceCell::new(),
            }));
        }
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
        let running = slots.iter().filter_map(|slot| slot.provider.get()?.as_ref().ok().cloned());
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
        let slot = match self.outcomes.borrow()[node.0 as usize] {
            Outcome::Provider(slot) => self.pool.get(slot),
            _ => return Err(Failed),
        };
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
        let found = provider.validate_provider_config(slot.value.clone()).await;
        self.report_provider(found, place, None)?;
        let request = ConfigureRequest {
            core_version: Str::from(state::WRITTEN_VERSION),
            config: slot.value.clone(),
        };
        self.report_provider(provider.configure(request).await, place, None)
    }

    /// Takes one user away from a configuration; ends the process after the last.
    pub(crate) async fn leave_provider(&self, slot: SlotIx) {
        let slot = self.pool.get(slot);
        slot.users.set(slot.users.get() - 1);
        if slot.users.get() == 0
            && let Some(Ok(running)) = slot.provider.get()
        {
            self.end(&slot, running).await;
        }
    }

    /// Ends every process that still runs, after a run that was given up.
    pub(crate) async fn end_providers(&self) {
        let slots: Vec<Rc<Slot>> = self.pool.slots.borrow().clone();
        for slot in slots {
            if slot.users.replace(0) > 0
                && let Some(Ok(running)) = slot.provider.get()
            {
                self.end(&slot, running).await;
            }
        }
    }

    async fn end(&self, slot: &Slot, running: &Running) {
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
