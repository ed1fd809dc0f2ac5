//! Ephemeral resources: opened as late as possible, renewed in time, and always closed as early as possible.
//!
//! ```text
//!   configuration known ─► validate ─► open ─► check the result ─► users … ─► last user done ─► close
//!                  │                     │          └─ not as agreed ─► close
//!                  └─ unknown: deferred  └─ RenewAt ─► renew, by timer and before each use ─► failed: users fail
//! ```
//!
//! **Invariant:** each open has exactly one close, and both are events. [`Walk::close_everything`] closes what an
//! aborted run leaves open.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
    time::{Duration, SystemTime},
};

use addr::ResourceInstance;
use db::{Diagnostic, Summary};
use futures::future::{LocalBoxFuture, join_all};
use hir::Entry;
use provider::{
    Block, CLOSE_EPHEMERAL_TIMEOUT, CloseEphemeralRequest, OpenEphemeralRequest, OpenedEphemeral,
    Provider, ProviderDiagnostic, RenewEphemeralRequest, Schema, ValidateRequest, objchange,
};
use tokio::{sync::Notify, time::Instant};
use values::{Mark, Str, Value, conform};

use crate::{
    cancel::CancelLevel,
    ephemeral::{Open, OpenIx, Renewal},
    event::{DeferReason, EphemeralAction, Event},
    graph::{EdgeKind, NodeIx, NodeKind},
    journal::Number,
    progress::with_progress,
    resource::objects::find_entry,
    schedule::Failed,
    walk::{context::Walk, instances::Each, scope::EngineScope},
};

/// The minimum time between two renewals if `RenewAt` has passed already, so that the renewals are no endless loop.
const LEAST_RENEW_INTERVAL: Duration = Duration::from_secs(1);

/// The minimum time between two renewals whose `RenewAt` is in the future. Leases of a second are renewed in time.
const LEAST_DUE_INTERVAL: Duration = Duration::from_millis(100);

/// The time limit of a renewal. A resource that is not renewed by then counts as expired.
const RENEW_TIMEOUT: Duration = Duration::from_secs(10);

/// The time limit of a close after the run was told to abort.
const ABORTED_CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The evaluated configuration of an instance, with its schema.
struct Configured {
    schema: Arc<Schema>,
    config: Value,
}

impl Walk<'_> {
    /// Returns the current time. It never runs backwards within a run, and advances even if the system clock
    /// stands still.
    fn now(&self) -> SystemTime {
        let counted = self.store.started + self.store.origin.elapsed();
        counted.max(self.environment.system.now())
    }

    /// Opens an instance, unless `defer` gives a reason to leave that to the apply. `defer` gets the address and the
    /// evaluated configuration.
    pub(crate) async fn open_instance(
        &self,
        node: NodeIx,
        entry: &Entry,
        each: &Each,
        defer: impl FnOnce(&ResourceInstance, &Value) -> Option<DeferReason>,
    ) -> Result<(), Failed> {
        let Some((module_ix, module, _)) = self.declared(node) else { return Err(Failed) };
        let resource = entry.resource();
        let address =
            resource.resource.clone().in_module(module.address.clone()).instance(each.key.clone());
        let text = address.to_string();
        let opened = Rc::clone(&self.nodes.facts(node, |it| it.opened.clone()));
        self.freshen(&opened).await?;

        self.instance_conditions(module_ix, entry, &address, each, None).await?;
        let scope = EngineScope::new(self, module_ix, Some(each));
        let schema = self.ephemeral_schema(node, entry, &text)?;
        let block = schema.block();
        let decode =
            || self.decode(&scope, entry, &resource.body, entry.item.header, block, Some(&text));
        let config = self.answered(decode).await?;
        let config = config.without_all_marks();
        let value = match defer(&address, &config) {
            Some(reason) => {
                self.emit(Event::Deferred { address: address.clone(), reason });
                objchange::planned_unknown_object(block, &config)
            }
            None if !config.is_wholly_known() => {
                let detail = format!(
                    "{text} cannot be opened, because its configuration has parts that are not known even in apply."
                );
                self.report_about(&text, Summary::INCOMPLETE_EPHEMERAL, detail);
                return Err(Failed);
            }
            None => {
                self.open(node, entry, &address, Configured { schema: Arc::clone(&schema), config })
                    .await?
            }
        };
        let value = provider::mark_by_schema(&value, block).with_mark(Mark::Ephemeral);
        self.set_instance(node, each, value.clone());
        self.instance_conditions(module_ix, entry, &address, each, Some(value)).await
    }

    fn ephemeral_schema(
        &self,
        node: NodeIx,
        entry: &Entry,
        address: &str,
    ) -> Result<Arc<Schema>, Failed> {
        let resource = &entry.resource().resource;
        let Some(source) = self.source_of(node) else {
            self.report_missing_provider(entry, address);
            return Err(Failed);
        };
        let schema = self.schemas(&source).and_then(|it| it.ephemeral(&resource.type_name));
        schema.ok_or_else(|| {
            let detail = format!(
                "The provider {} does not support ephemeral resource \"{}\".",
                source.for_display(),
                resource.type_name
            );
            let diagnostic = Diagnostic::new(Summary::INVALID_EPHEMERAL_TYPE, detail);
            self.report_at(entry, entry.resource().type_node.into(), Some(address), diagnostic);
            Failed
        })
    }

    /// Returns true if the configuration of the provider is wholly known. Otherwise the provider cannot open
    /// anything.
    pub(crate) fn provider_is_known(
        &self,
        node: NodeIx,
        entry: &Entry,
        address: &ResourceInstance,
    ) -> bool {
        let provider = self.provider_of_object(node, entry, &address.clone().into());
        let slot = provider.ok().and_then(|it| self.nodes.slot(&it));
        slot.is_none_or(|slot| self.pool.get(slot).is_known())
    }

    async fn open(
        &self,
        node: NodeIx,
        entry: &Entry,
        address: &ResourceInstance,
        configured: Configured,
    ) -> Result<Value, Failed> {
        let text = address.to_string();
        let body = &entry.resource().body;
        let type_name = Str::from(address.resource.type_name.as_str());
        let object = address.clone().into();
        let instance = self.provider_of_object(node, entry, &object)?;
        self.refuse_missing_instance(&instance, &object)?;
        let provider = self.ephemeral_provider(&instance, address).await?;
        let request =
            ValidateRequest { type_name: type_name.clone(), config: configured.config.clone() };
        let found = provider.validate_ephemeral_config(request).await;
        self.report_provider(found, Some((entry, body)), Some(&text))?;

        let source = self.source_of(node).ok_or(Failed)?;
        let opening = self.environment.journal.opening(address, &source);
        self.durable().await?;
        let action = EphemeralAction::Open;
        let begun = self.ephemeral_start(address, action);
        let request = OpenEphemeralRequest {
            type_name: type_name.clone(),
            config: configured.config.clone(),
        };
        let response =
            self.ephemeral_progress(address, action, begun, provider.open_ephemeral(request)).await;
        let add = |opened| self.add_open(node, address, entry, &provider, opened, opening);
        let result = response.opened.map(add);
        let said = self.report_provider(response.diagnostics, Some((entry, body)), Some(&text));
        let Some((open, result)) = result else {
            self.environment.journal.closed(opening);
            if said.is_ok() {
                let detail = format!(
                    "Provider {} neither opened {text} nor returned an error.",
                    self.provider_name(node)
                );
                self.report_about(&text, Summary::NOTHING_OPENED, detail);
            }
            self.ephemeral_end(address, action, begun, false);
            return Err(Failed);
        };
        let checked = said.and_then(|()| self.check_opened(node, &text, &configured, &result));
        self.ephemeral_end(address, action, begun, checked.is_ok());
        match checked {
            Ok(()) => {
                self.nodes.facts(node, |it| {
                    it.opened = it.opened.iter().copied().chain([open]).collect()
                });
                Ok(result)
            }
            Err(Failed) => {
                // The resource is open and must be closed, even if its result is invalid.
                self.close(open).await;
                Err(Failed)
            }
        }
    }

    fn add_open(
        &self,
        node: NodeIx,
        address: &ResourceInstance,
        entry: &Entry,
        provider: &Arc<dyn Provider>,
        opened: OpenedEphemeral,
        opening: Number,
    ) -> (OpenIx, Value) {
        self.environment.redactor.learn_whole(&opened.result);
        let opened_here = Open {
            node: Cell::new(Some(node)),
            entry: RefCell::new(entry.clone()),
            address: address.clone(),
            opening,
            provider: Arc::clone(provider),
            private: RefCell::new(opened.private),
            renewal: Renewal::new(opened.renew_at),
            closing: Cell::new(false),
            close_called: Cell::new(false),
            close_begins: Notify::new(),
        };
        (self.store.add(node, opened_here), opened.result)
    }

    /// Checks the result of an opening: it must have the type of the schema, be wholly known, not be null, and
    /// agree with the configuration.
    fn check_opened(
        &self,
        node: NodeIx,
        address: &str,
        configured: &Configured,
        result: &Value,
    ) -> Result<(), Failed> {
        let provider = self.provider_name(node);
        let refuse = |summary: Summary, what: String| {
            let what = format!("Provider {provider} {what}");
            self.report_provider_bug(address, summary, &what);
            Err(Failed)
        };
        if !conform::value_conforms(result, configured.schema.implied_type()).is_empty()
            && !result.is_null()
        {
            return refuse(
                Summary::INVALID_EPHEMERAL_RESULT,
                format!(
                    "produced an invalid value for {address}: its type is not that of the schema"
                ),
            );
        }
        if result.is_null() {
            return refuse(
                Summary::NULL_EPHEMERAL_RESULT,
                format!("produced a null value for {address}"),
            );
        }
        if !result.is_wholly_known() {
            return refuse(
                Summary::INVALID_EPHEMERAL_RESULT,
                format!("produced a value for {address} that is not wholly known"),
            );
        }
        let block = configured.schema.block();
        let expected = expected_result(block, &configured.config);
        if let Some(violation) = objchange::object_compatible(block, &expected, result).first() {
            // Diagnostics never contain values of an ephemeral resource, so this one names only the path.
            return refuse(
                Summary::INCONSISTENT_EPHEMERAL_RESULT,
                format!(
                    "produced a result for {address} whose {} is not what the configuration gave",
                    violation.path
                ),
            );
        }
        Ok(())
    }

    /// Renews all resources that are due, before their values are used.
    ///
    /// # Errors
    /// Fails if a resource can no longer be used. Each use reports that.
    pub(crate) async fn freshen(&self, opened: &[OpenIx]) -> Result<(), Failed> {
        for &open in opened {
            let it = self.store.get(open);
            if it.renewal.at.get().is_some_and(|at| at <= self.now()) {
                self.renew(&it).await;
            }
            if it.renewal.has_failed.get() {
                let detail = format!(
                    "The remote object for {} is no longer available due to a renewal error, so \
                     what is made from it cannot be used.",
                    it.address
                );
                let text = it.address.to_string();
                self.report_about(&text, Summary::EPHEMERAL_EXPIRED, detail);
                return Err(Failed);
            }
        }
        Ok(())
    }

    /// Renews a resource at each `RenewAt`, until the close begins.
    pub(crate) async fn keep_open(&self, open: OpenIx) {
        let it = self.store.get(open);
        loop {
            let begins = it.close_begins.notified();
            let rest_begins = self.store.rest_begins.notified();
            let (Some(renew_at), false, false) = (
                it.renewal.at.get(),
                it.renewal.has_failed.get(),
                it.closing.get() || self.store.rests.get(),
            ) else {
                return;
            };
            let due = renew_at.duration_since(self.now()).unwrap_or_default();
            let least = if due.is_zero() { LEAST_RENEW_INTERVAL } else { LEAST_DUE_INTERVAL };
            let least = least.saturating_sub(it.renewal.last.get().elapsed());
            tokio::select! {
                () = tokio::time::sleep(due.max(least)) => self.renew(&it).await,
                () = begins => return,
                () = rest_begins => return,
            }
        }
    }

    /// Renews all open resources until [`EphemeralStore::rest`](crate::ephemeral::EphemeralStore::rest) is called. The
    /// future is boxed because the caller is generic, so another crate would compile it.
    pub(crate) fn keep_all_open(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async {
            // Within a run, tasks in the background would do the same.
            drop(self.store.take_unattended());
            let all = self.store.all();
            join_all(all.iter().map(|open| self.keep_open(*open))).await;
        })
    }

    /// Updates the declarations of resources that earlier runs opened, if the program still declares them.
    pub(crate) fn place_earlier(&self) {
        for open in self.store.open.borrow().iter() {
            if let Some(entry) = find_entry(self, &open.address) {
                open.entry.replace(entry);
            }
        }
    }

    /// Reports a provider's diagnostics about an open resource.
    fn report_open(&self, open: &Open, found: Vec<ProviderDiagnostic>) -> Result<(), Failed> {
        let entry = open.entry.borrow().clone();
        let place = Some((&entry, &entry.resource().body));
        self.report_provider(found, place, Some(&open.address.to_string()))
    }

    async fn renew(&self, open: &Open) {
        let _one_at_a_time = open.renewal.running.lock().await;
        // Another use may have renewed the resource while this one waited for the lock.
        let too_soon = open.renewal.last.get().elapsed() < LEAST_RENEW_INTERVAL;
        if open.closing.get()
            || open.renewal.has_failed.get()
            || too_soon
            || open.renewal.at.get().is_none()
        {
            return;
        }
        let action = EphemeralAction::Renew;
        let begun = self.ephemeral_start(&open.address, action);
        let request = RenewEphemeralRequest {
            type_name: open.type_name(),
            private: open.private.borrow().clone(),
        };
        let call = open.provider.renew_ephemeral(request);
        let call = self.ephemeral_progress(&open.address, action, begun, call);
        let response = tokio::select! {
            biased;
            response = call => Some(response),
            () = tokio::time::sleep(RENEW_TIMEOUT) => None,
            () = open.close_is_overdue() => None,
        };
        open.renewal.last.set(Instant::now());
        let text = open.address.to_string();
        let said = match response {
            Some(response) => {
                open.private.replace(response.private);
                open.renewal.at.set(response.renew_at);
                self.report_open(open, response.diagnostics)
            }
            None => {
                self.report_about(
                    &text,
                    Summary::EPHEMERAL_RENEW_TIMEOUT,
                    timed_out(&text, "renewing", begun.elapsed()),
                );
                Err(Failed)
            }
        };
        open.renewal.has_failed.set(said.is_err());
        self.ephemeral_end(&open.address, action, begun, said.is_ok());
    }

    /// Closes the instances of a resource.
    pub(crate) async fn close_all(&self, opened: &[OpenIx]) {
        join_all(opened.iter().map(|open| self.close(*open))).await;
    }

    /// Closes an instance. A second call does nothing.
    async fn close(&self, open: OpenIx) {
        self.close_open(&self.store.get(open)).await;
    }

    /// Closes an open resource. A second call does nothing.
    pub(crate) async fn close_open(&self, it: &Open) {
        if it.closing.replace(true) {
            return;
        }
        it.close_begins.notify_waiters();
        // A running renewal could change the private data that the close needs.
        let _renewal = it.renewal.running.lock().await;
        self.call_close(it).await;
    }

    async fn call_close(&self, it: &Open) {
        if it.close_called.replace(true) {
            return;
        }
        let action = EphemeralAction::Close;
        let begun = self.ephemeral_start(&it.address, action);
        let aborting = self.environment.cancel.level() == CancelLevel::Aborting;
        let limit = if aborting { ABORTED_CLOSE_TIMEOUT } else { CLOSE_EPHEMERAL_TIMEOUT };
        let request = CloseEphemeralRequest {
            type_name: it.type_name(),
            private: it.private.borrow().clone(),
        };
        let call = tokio::time::timeout(limit, it.provider.close_ephemeral(request));
        let text = it.address.to_string();
        let ok = match self.ephemeral_progress(&it.address, action, begun, call).await {
            Ok(found) => self.report_open(it, found).is_ok(),
            Err(_) => {
                self.report_about(
                    &text,
                    Summary::EPHEMERAL_CLOSE_TIMEOUT,
                    timed_out(&text, "closing", limit),
                );
                false
            }
        };
        self.environment.journal.closed(it.opening);
        it.private.take();
        if let Some(node) = it.node.get() {
            self.forget_instance(node, &it.address.key);
        }
        self.ephemeral_end(&it.address, action, begun, ok);
    }

    /// Closes what is still open, in reverse order of opening. Only an aborted run leaves anything open. No other
    /// task runs any more, so this also does a close that was waiting for a renewal.
    pub(crate) async fn close_everything(&self) {
        let count = self.store.open.borrow().len() as u32;
        for index in (0..count).rev() {
            let it = self.store.get(OpenIx(index));
            it.closing.set(true);
            self.call_close(&it).await;
        }
    }

    fn ephemeral_start(&self, address: &ResourceInstance, action: EphemeralAction) -> Instant {
        self.emit(Event::EphemeralStart { address: address.clone(), action });
        Instant::now()
    }

    async fn ephemeral_progress<T>(
        &self,
        address: &ResourceInstance,
        action: EphemeralAction,
        begun: Instant,
        call: impl Future<Output = T>,
    ) -> T {
        with_progress(call, begun, |elapsed| {
            self.emit(Event::EphemeralProgress { address: address.clone(), action, elapsed });
        })
        .await
    }

    fn ephemeral_end(
        &self,
        address: &ResourceInstance,
        action: EphemeralAction,
        begun: Instant,
        ok: bool,
    ) {
        let (address, elapsed) = (address.clone(), begun.elapsed());
        self.emit(match ok {
            true => Event::EphemeralComplete { address, action, elapsed },
            false => Event::EphemeralErrored { address, action, elapsed },
        });
    }

    /// Returns the provider node that a resource node depends on.
    pub(crate) fn provider_node(&self, node: NodeIx) -> Option<NodeIx> {
        self.nodes.graph(|graph| {
            let mut dependencies = graph.dependencies(node);
            dependencies.find(|(_, kind, _)| *kind == EdgeKind::Provider).map(|(it, ..)| it)
        })
    }

    /// Returns the source address of the provider that a resource node uses.
    pub(crate) fn source_of(&self, node: NodeIx) -> Option<addr::ProviderSource> {
        let provider = self.provider_node(node)?;
        let is_provider = matches!(
            self.nodes.kind(provider),
            NodeKind::Declared { .. } | NodeKind::ImplicitProvider { .. }
        );
        is_provider.then(|| self.provider_ref(provider).source)
    }

    /// Returns the name of the provider for messages.
    pub(crate) fn provider_name(&self, node: NodeIx) -> String {
        self.source_of(node).map_or_else(|| "(unknown)".to_owned(), |it| format!("\"{it}\""))
    }
}

fn timed_out(address: &str, doing: &str, limit: Duration) -> String {
    format!("The ephemeral resource \"{address}\" timed out on {doing} after {}s", limit.as_secs())
}

/// Returns the expected result of an opening: the configuration, with unknown values for computed attributes,
/// which match anything.
fn expected_result(block: &Block, config: &Value) -> Value {
    let expected = objchange::planned_unknown_object(block, config);
    expected.map_parts(|step, part| match step {
        values::Step::Attr(name) => match block.attributes().get(name) {
            Some(attribute) if attribute.computed => Value::unknown(attribute.implied_type()),
            _ => part.clone(),
        },
        values::Step::Index(_) => part.clone(),
    })
}
