//! The start and the end of provider processes.

use std::{rc::Rc, sync::Arc};

use db::{Diagnostic, Summary};
use provider::{ConfigureRequest, Provider, ProviderDiagnostic};
use values::Str;

use crate::{
    builtin,
    event::Event,
    pool::{END_TIMEOUT, Running, Slot, SlotIx},
    schedule::Failed,
    validate::requires_configuration,
    walk::{context::Walk, outcome::ProviderInstance},
};

impl Walk<'_> {
    /// Returns an instance of the provider of a completed node, started and configured.
    ///
    /// # Errors
    /// Fails, after a single report, if the provider cannot be started or configured.
    pub(crate) async fn provider(
        &self,
        instance: &ProviderInstance,
    ) -> Result<Arc<dyn Provider>, Failed> {
        let slot = self.nodes.slot(instance).ok_or(Failed)?;
        self.provider_of(self.pool.get(slot)).await
    }

    /// Returns the provider of a slot, started, and configured if the slot has a configuration.
    ///
    /// # Errors
    /// Fails, after a single report, if the provider cannot be started or configured.
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
            self.pool.note_started(slot);
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
            // Some providers initialize themselves in the response to this call, and need it before any other
            // call.
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

    /// Removes one user of a slot. Ends the process after its last user, unless the pool keeps processes.
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

    /// Ends all running processes.
    pub(crate) async fn end_providers(&self) {
        for slot in self.pool.by_age() {
            if let Some(running) = slot.running() {
                self.end(&slot, running).await;
            }
        }
    }

    /// Ends the processes that are not kept, the newest first, and closes the ephemeral resources that only they
    /// needed.
    pub(crate) async fn end_unwanted(&self) {
        let wanted = self.pool.wanted();
        self.end_all_but(&wanted).await;
    }

    /// Ends all processes, the newest first, and closes the ephemeral resources that they needed.
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
                "The provider {} was asked to exit, and did not do so within {} seconds.",
                slot.source.for_display(),
                END_TIMEOUT.as_secs()
            );
            self.report(Diagnostic::new(Summary::PROVIDER_DOES_NOT_END, detail));
        }
        self.emit(Event::ProviderEnded { provider: slot.source.clone(), serial: running.serial });
    }
}
