//! The gate that every call to the playground passes. It records the call in the ledger, adds the configured
//! latency, checks that the remote system can be reached, and provokes requested faults.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime},
};

use provider::{Private, Provider, ProviderDiagnostic};
use values::{Kind, Value};

use super::{
    Playground,
    answer::Answer,
    client::Client,
    fault::{EnvironmentFault, Fault, FaultKind},
    store::{Entry, Store, StoreError},
};
use mayfly_sdk::{Object, PrivateState, Server, Stop, Stopper};

/// The private entries that the gate adds. The plugin framework reserves names with a leading dot.
const FAULT_ENTRY: &str = ".fault";
const NAME_ENTRY: &str = ".name";

/// The environment variable with a fault for all objects, or for those that it selects.
const FAULT_VARIABLE: &str = "PLAYGROUND_FAULT";

/// The attributes that name an object, the most specific first.
const NAMES: &[&str] =
    &["name", "identifier", "secret_name", "secret_id", "path", "remote_host", "id"];

/// The playground behind its gate.
pub struct Gate {
    pub(super) inner: Server<Playground>,
    /// The store in the environment variable. Calls before the provider is configured are recorded only there.
    environment_store: OnceLock<Option<Arc<Store>>>,
    /// The fault in `PLAYGROUND_FAULT`, or the reason why its text describes none.
    environment_fault: Option<Result<EnvironmentFault, String>>,
    stopper: Stopper,
}

/// A call as the gate sees it.
pub(super) struct Call {
    rpc: &'static str,
    type_name: String,
    name: String,
    fault: Option<Fault>,
    remote: bool,
}

impl Call {
    /// Creates a call that concerns no object.
    pub(super) fn bare(rpc: &'static str) -> Call {
        Call { rpc, type_name: String::new(), name: String::new(), fault: None, remote: false }
    }

    /// Creates a call about an object. `value` is its configuration or state.
    pub(super) fn about(rpc: &'static str, type_name: &str, value: &Value) -> Call {
        Call {
            type_name: type_name.to_owned(),
            name: name_of(value),
            fault: Fault::of(value),
            ..Call::bare(rpc)
        }
    }

    /// Creates a call about an open ephemeral resource.
    pub(super) fn opened(rpc: &'static str, type_name: &str, private: &Private) -> Call {
        let entries = PrivateState::decode(private);
        let fault =
            entries.entry(FAULT_ENTRY).and_then(|it| serde_json::from_value(it.clone()).ok());
        Call {
            type_name: type_name.to_owned(),
            name: entries.text(NAME_ENTRY).unwrap_or_default().to_owned(),
            fault,
            ..Call::bare(rpc)
        }
    }

    /// Returns the call with the requirement that the remote system can be reached.
    pub(super) fn remote(self) -> Call {
        Call { remote: true, ..self }
    }

    /// Adds the name and the fault to the private data, for later calls about the open resource.
    pub(super) fn remember(&self, private: &Private) -> Private {
        let mut entries = PrivateState::decode(private);
        entries.set(NAME_ENTRY, self.name.as_str());
        if let Some(fault) = &self.fault
            && let Ok(json) = serde_json::to_value(fault)
        {
            entries.set(FAULT_ENTRY, json);
        }
        entries.encode()
    }
}

fn name_of(value: &Value) -> String {
    let Kind::Object(attributes) = value.kind() else { return String::new() };
    let text = |name: &&str| attributes.get(*name).and_then(|it| it.as_str()).map(str::to_owned);
    NAMES.iter().find_map(text).unwrap_or_default()
}

impl Gate {
    pub(super) fn new(inner: Server<Playground>) -> Gate {
        let text = std::env::var(FAULT_VARIABLE).ok().filter(|it| !it.is_empty());
        let parse = |text: String| EnvironmentFault::parse(&text).map_err(|it| it.to_string());
        Gate {
            inner,
            environment_store: OnceLock::new(),
            environment_fault: text.map(parse),
            stopper: Stopper::new(),
        }
    }

    /// Answers a call: with a fault, or with the result of `run`, which a fault may change.
    pub(super) async fn pass<A: Answer>(&self, call: &Call, run: impl Future<Output = A>) -> A {
        let mut stop = self.stopper.stop();
        let fault = match self.enter(call).await {
            Ok(fault) => fault,
            Err(diagnostic) => return A::refused(diagnostic),
        };
        if let Some(fault) = fault.as_ref().filter(|it| !it.is_late())
            && let Err(diagnostic) = strike(fault, call, &mut stop).await
        {
            return A::refused(diagnostic);
        }
        let mut answer = run.await;
        if let Some(fault) = fault {
            if fault.is_late()
                && let Err(diagnostic) = strike(&fault, call, &mut stop).await
            {
                answer.complain(diagnostic);
            }
            self.spoil(&fault, call, &mut answer).await;
        }
        answer
    }

    /// Ends the faults that wait for a stop.
    pub(super) fn stop(&self) {
        self.stopper.fire();
    }

    /// Records the call, waits for the configured latency, and returns the fault for this call, if any.
    async fn enter(&self, call: &Call) -> Result<Option<Fault>, ProviderDiagnostic> {
        let fault = self.due(call)?;
        if let Some(store) = self.store() {
            store.ledger().write(&Entry::rpc(call.rpc, &call.type_name, &call.name))?;
            if let Some(fault) = &fault {
                let entry = Entry {
                    rpc: call.rpc.into(),
                    note: format!("{:?}", fault.kind),
                    ..Entry::effect("faulted", &call.type_name, &call.name)
                };
                store.ledger().write(&entry)?;
            }
        }
        if let Some(client) = self.inner.client() {
            // A sleep of zero duration still takes a millisecond, the tick of the timer.
            if !client.latency.is_zero() {
                tokio::time::sleep(client.latency).await;
            }
            if call.remote {
                client.reach().await?;
            }
        }
        Ok(fault)
    }

    fn due(&self, call: &Call) -> Result<Option<Fault>, ProviderDiagnostic> {
        let client = self.inner.client();
        let configured = client.as_ref().and_then(|client| client.fault.as_ref());
        let environment = match &self.environment_fault {
            Some(Ok(it)) => it.for_object(&call.type_name, &call.name),
            Some(Err(reason)) => return Err(wrong_variable(reason)),
            None => None,
        };
        let candidates = [call.fault.as_ref(), configured, environment];
        let on = |fault: &&Fault| fault.is_on(call.rpc);
        let Some(fault) = candidates.into_iter().flatten().find(on) else { return Ok(None) };
        let passed = match self.store() {
            Some(store) if fault.calls_before() > 0 => passed(&store, call)?,
            _ => 0,
        };
        Ok((passed >= fault.calls_before()).then(|| fault.clone()))
    }

    fn store(&self) -> Option<Arc<Store>> {
        match self.inner.client() {
            Some(client) => Some(client.store.clone()),
            None => self.environment_store.get_or_init(Client::environment_store).clone(),
        }
    }

    async fn spoil<A: Answer>(&self, fault: &Fault, call: &Call, answer: &mut A) {
        if fault.kind == FaultKind::Past
            && let Some(renew_at) = answer.renew_at()
        {
            *renew_at = SystemTime::now().checked_sub(Duration::from_secs(60));
        }
        let Ok(schemas) = self.inner.schemas().await else { return };
        let schema = match call.rpc {
            "open" => schemas.ephemeral(&call.type_name),
            "read_data" => schemas.data(&call.type_name),
            _ => schemas.managed(&call.type_name),
        };
        if let (Some(schema), Some(value)) = (schema, answer.value()) {
            *value = spoiled(value, fault.kind, schema.block());
        }
    }
}

/// The error for an environment variable that describes no fault.
fn wrong_variable(reason: &str) -> ProviderDiagnostic {
    let detail = format!(
        "The environment variable {FAULT_VARIABLE} describes no fault: {reason}. Unset it, or set it to a JSON object \
         such as {{\"on\": \"open\", \"kind\": \"fail\"}}."
    );
    ProviderDiagnostic::error(format!("Invalid {FAULT_VARIABLE}"), detail)
}

/// The number of earlier calls like this one.
fn passed(store: &Store, call: &Call) -> Result<usize, StoreError> {
    let like = |entry: &Entry| {
        entry.event == "rpc"
            && entry.rpc == call.rpc
            && entry.type_name == call.type_name
            && entry.name == call.name
    };
    Ok(store.ledger().entries()?.iter().filter(|entry| like(entry)).count())
}

/// Provokes a fault that replaces the answer. Does nothing for the other kinds.
async fn strike(fault: &Fault, call: &Call, stop: &mut Stop) -> Result<(), ProviderDiagnostic> {
    let failed = || {
        let detail = format!("The fault that was asked for, on {} of {:?}.", call.rpc, call.name);
        ProviderDiagnostic::error("Provoked fault", detail)
    };
    match fault.kind {
        FaultKind::Fail => return Err(failed()),
        FaultKind::Hang => std::future::pending().await,
        FaultKind::Wait => {
            stop.requested().await;
            return Err(failed());
        }
        FaultKind::Die => {
            // A SIGKILL instead of `abort`, because a core dump would hold secrets.
            let _killed = rustix::process::kill_process(
                rustix::process::getpid(),
                rustix::process::Signal::KILL,
            );
            std::future::pending().await
        }
        FaultKind::Panic => panic!("the fault that was asked for"),
        FaultKind::Slow => tokio::time::sleep(Duration::from_millis(fault.delay())).await,
        _ => {}
    }
    Ok(())
}

/// Returns the value as a faulty provider would return it.
fn spoiled(value: &Value, kind: FaultKind, block: &provider::Block) -> Value {
    let first = |wanted: &dyn Fn(&provider::Attribute, &Value) -> bool| {
        let attributes = block.attributes().iter();
        let mut found =
            attributes.filter(|(name, it)| value.get_attr(name).is_some_and(|v| wanted(it, &v)));
        found.next().map(|(name, it)| (name.to_string(), it.clone()))
    };
    let mut object = Object::new(value.clone());
    match kind {
        FaultKind::Null => return Value::null(value.ty()),
        FaultKind::WrongType => return Value::string("not an object"),
        FaultKind::Inconsistent => {
            if let Some((name, _)) =
                first(&|it, v| !it.computed && !it.write_only && v.as_str().is_some())
            {
                object.set(&name, "changed by a fault");
            }
        }
        FaultKind::Unknown => {
            if let Some((name, it)) = first(&|it, _| it.computed) {
                object.set(&name, Value::unknown(it.implied_type()));
            }
        }
        FaultKind::WriteOnly => {
            if let Some((name, _)) = first(&|it, _| it.write_only) {
                object.set(&name, "value of a write-only attribute");
            }
        }
        _ => {}
    }
    object.value().clone()
}
