//! Provisioners: actions that run after the creation or before the destruction of an object.
//!
//! [`Walk::provision_created`] and [`Walk::provision_destroyed`] run them in order. `local_exec` runs a command on this
//! computer; `remote` runs scripts on another machine and copies files to it, over a connection whose arguments are in
//! `settings`; `plugin` calls a program of another vendor.
//!
//! **Invariant:** if the configuration contains a secret, no output of the provisioner is shown. The diagnostic of a
//! failure contains no secret.

mod local_exec;
mod plugin;
mod remote;
mod settings;

use std::sync::Arc;

use addr::{InstanceKey, ResourceInstance};
use db::{Diagnostic, Severity, Summary};
use hir::{
    Entry, Expr, ExprId, Exprs, ItemKind, Scope,
    item::{Body, Provisioner, RefPlace},
    provisioner::{connection, merged_connection},
};
use provider::ProviderDiagnostic;
use values::{MarkKind, Value};

use self::plugin::PluginOutcome;

use crate::{
    event::{Event, EventSink},
    foreign,
    redact::{Redactor, has_short_secret},
    resource::subject::Subject,
    resource::turn::provisioners_of,
    schedule::Failed,
    walk::{
        context::Walk,
        instances::Each,
        scope::{EngineScope, OwnObject},
    },
};

/// The detail of an error that could contain a short secret: a host, a user, a path or a message of the machine.
const HIDDEN: &str = "The provisioner failed. The reason is not shown, because a secret in its configuration or its \
                      connection is too short to be redacted. Secrets of at least 6 bytes are redacted instead.";

/// The kind of secrets in a configuration, which decides what may be shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Secrecy {
    None,
    Sensitive,
    Ephemeral,
}

impl Secrecy {
    fn of(config: &Value) -> Secrecy {
        if config.has_deep(MarkKind::Ephemeral) {
            Secrecy::Ephemeral
        } else if config.has_deep(MarkKind::Sensitive) {
            Secrecy::Sensitive
        } else {
            Secrecy::None
        }
    }

    /// Returns the text that replaces every line of output; `None` if the output may be shown.
    fn notice(self) -> Option<&'static str> {
        match self {
            Secrecy::None => None,
            Secrecy::Sensitive => Some("(output suppressed due to sensitive value in config)"),
            Secrecy::Ephemeral => Some("(output suppressed due to ephemeral value in config)"),
        }
    }
}

impl Subject {
    /// Returns true if commands must run before a new object is complete.
    pub(crate) fn has_create_provisioners(&self) -> bool {
        let provisioners = self.entry.iter().flat_map(|it| &it.resource().provisioners);
        provisioners.into_iter().any(|it| !it.at_destroy)
    }
}

impl Walk<'_> {
    /// Runs the creation provisioners of a new object, which is tainted in the state. Removes the taint once all
    /// of them have succeeded, so that it stays if one fails or the run is aborted.
    pub(crate) async fn provision_created(
        &self,
        subject: &Subject,
        entry: &Entry,
        each: &Each,
        value: &Value,
    ) -> Result<(), Failed> {
        for provisioner in entry.resource().provisioners.iter().filter(|it| !it.at_destroy) {
            let opened = self.nodes.facts(subject.node, |it| it.opened.clone());
            self.freshen(&opened).await?;
            self.provision(subject, entry, each, value, provisioner).await?;
        }
        if subject.has_create_provisioners() { self.untaint(subject).await } else { Ok(()) }
    }

    /// Runs the destruction provisioners of an object. If one fails, the object must not be destroyed.
    pub(crate) async fn provision_destroyed(
        &self,
        subject: &Subject,
        value: &Value,
    ) -> Result<(), Failed> {
        let removed = || self.config.removals.block(&subject.address().config());
        let Some(entry) = subject.entry.as_ref().or_else(removed) else { return Ok(()) };
        let each = Each { key: subject.address().key.clone(), value: None };
        let module = self.module(subject.module);
        if self.refuse_provisioners(&module, entry, |it| it.at_destroy) {
            return Err(Failed);
        }
        for provisioner in provisioners_of(entry).iter().filter(|it| it.at_destroy) {
            self.provision(subject, entry, &each, value, provisioner).await?;
        }
        Ok(())
    }

    async fn provision(
        &self,
        subject: &Subject,
        entry: &Entry,
        each: &Each,
        value: &Value,
        provisioner: &Provisioner,
    ) -> Result<(), Failed> {
        let resource = &subject.address().resource;
        let has_each = !matches!(each.key, InstanceKey::None);
        let scope = EngineScope::new(self, subject.module, has_each.then_some(each));
        let scope = scope.with_own(OwnObject { resource, key: &each.key, value: value.clone() });
        let kind = &*provisioner.kind;
        let plugins = &self.config.program.provisioners;
        let is_plugin = plugins.contains_key(kind);
        let Some(schema) = hir::provisioner::schema_of(kind, plugins) else { return Err(Failed) };
        let decode = |body: &Body, node, schema| {
            self.decode_with_parts(&scope, entry, body, node, schema, Some(&subject.text))
        };
        let node = provisioner.node;
        let (config, parts) = self.answered(|| decode(&provisioner.body, node, schema)).await?;
        let connection = match connection_of(entry, provisioner) {
            Some(body) if is_plugin || hir::provisioner::connects(kind) => {
                let decoded = self.answered(|| decode(&body, node, connection())).await?;
                Some(decoded.0)
            }
            _ => None,
        };
        let address = subject.address().clone();
        let started = Event::ProvisionStart { address: address.clone(), provisioner: kind.into() };
        self.emit(started);
        let some_short = self.learn_references(&scope, entry)
            || parts.iter().chain([&config]).any(has_short_secret);
        let output = self.output(&address, kind, &config, connection.as_ref());
        if is_plugin {
            let ran = self.run_plugin(kind, output, &config, connection.as_ref()).await;
            let ended = PluginEnd { config: &config, connection: connection.as_ref(), ran };
            return self.end_plugin(subject, entry, provisioner, ended);
        }
        let ran = match kind {
            "local-exec" => self.local_exec(output, &config, some_short).await,
            "remote-exec" => self.remote_exec(output, &config, connection.as_ref()).await,
            _ => self.copy_file(&config, connection.as_ref()).await,
        };
        let Err(failure) = ran else {
            self.emit(Event::ProvisionComplete { address, provisioner: kind.into() });
            return Ok(());
        };
        self.emit(Event::ProvisionErrored { address, provisioner: kind.into() });
        let failure = match &connection {
            Some(connection) if [connection, &config].into_iter().any(has_short_secret) => {
                ProvisionFailure { detail: HIDDEN.to_owned(), ..failure }
            }
            _ => failure,
        };
        self.report_failure(subject, entry, provisioner, failure)
    }

    /// Reports the result of a plugin. If the configuration contains secrets, sensitive ones are redacted too; with one
    /// that is too short for that, the reason is hidden.
    fn end_plugin(
        &self,
        subject: &Subject,
        entry: &Entry,
        provisioner: &Provisioner,
        ended: PluginEnd<'_>,
    ) -> Result<(), Failed> {
        let PluginEnd { config, connection, ran } = ended;
        let values: Vec<&Value> = [Some(config), connection].into_iter().flatten().collect();
        let (address, kind) = (subject.address().clone(), provisioner.kind.to_string());
        let errored =
            Event::ProvisionErrored { address: address.clone(), provisioner: kind.clone() };
        let Ok(PluginOutcome { found, is_interrupted }) = ran else {
            self.emit(errored);
            return Err(Failed);
        };
        let failed = is_interrupted || found.iter().any(ProviderDiagnostic::is_error);
        self.emit(match failed {
            true => errored,
            false => Event::ProvisionComplete { address, provisioner: kind },
        });
        let continues = provisioner.continue_on_failure && !is_interrupted;
        let severity = if continues { Severity::Warning } else { Severity::Error };
        for it in found {
            let path = it.path.as_ref();
            let exprs = &entry.item.exprs;
            let at = path.and_then(|it| hir::eval::locate_path(&provisioner.body, exprs, it));
            let at = at.unwrap_or(provisioner.node.into());
            let diagnostic = self.plugin_diagnostic(&it, severity, &values);
            self.report_at(entry, at, Some(&subject.text), diagnostic);
        }
        if is_interrupted {
            let detail = "The run was interrupted, so the plugin was asked to stop. Its work may be incomplete.";
            let diagnostic = Diagnostic::new(Summary::PROVISIONER_INTERRUPTED, detail);
            self.report_at(entry, provisioner.node.into(), Some(&subject.text), diagnostic);
        }
        if failed && !continues { Err(Failed) } else { Ok(()) }
    }

    /// The words of a plugin as a diagnostic, without the secrets among the values that it received.
    fn plugin_diagnostic(
        &self,
        found: &ProviderDiagnostic,
        severity: Severity,
        values: &[&Value],
    ) -> Diagnostic {
        let redactor = &self.environment.redactor;
        let hides_sensitive = values.iter().any(|it| it.has_deep_secret());
        let found = foreign::diagnostic(found, |text| match hides_sensitive {
            true => redactor.redact_all(text),
            false => redactor.redact(text),
        });
        let summary = found.summary.at_most(severity);
        match values.iter().any(|it| has_short_secret(it)) {
            true => Diagnostic::new(Summary::PROVISIONER_FAILED.at_most(severity), HIDDEN),
            false => Diagnostic { summary, ..found },
        }
    }

    /// Reports the failure of a provisioner: a warning if the run is to continue. An interrupt is always an error,
    /// because the object may be half provisioned.
    fn report_failure(
        &self,
        subject: &Subject,
        entry: &Entry,
        provisioner: &Provisioner,
        failure: ProvisionFailure,
    ) -> Result<(), Failed> {
        let continues = provisioner.continue_on_failure && !failure.is_interrupted;
        let severity = if continues { Severity::Warning } else { Severity::Error };
        let summary = match &*provisioner.kind {
            "local-exec" => Summary::LOCAL_EXEC,
            "remote-exec" => Summary::REMOTE_EXEC,
            _ => Summary::FILE_PROVISIONER,
        };
        let diagnostic = Diagnostic::new(summary.at_most(severity), failure.detail);
        self.report_at(entry, provisioner.node.into(), Some(&subject.text), diagnostic);
        if continues { Ok(()) } else { Err(Failed) }
    }

    /// The output of a provisioner. It is hidden if the configuration contains a secret. The secrets of a connection
    /// are redacted in it; it is hidden if one of them is too short for that.
    fn output(
        &self,
        address: &ResourceInstance,
        kind: &str,
        config: &Value,
        connection: Option<&Value>,
    ) -> Output {
        let cannot_be_redacted = connection.filter(|it| has_short_secret(it));
        let notice = Secrecy::of(config).notice();
        let notice = notice.or(cannot_be_redacted.and_then(|it| Secrecy::of(it).notice()));
        Output {
            address: address.clone(),
            provisioner: kind.to_owned(),
            notice,
            hides_sensitive: connection.is_some_and(Value::has_deep_secret),
            events: Arc::clone(&self.environment.events),
            redactor: self.environment.redactor.clone(),
        }
    }

    /// Teaches the redactor the secrets of everything that the provisioner refers to: the command may print them
    /// in addition to the secrets in its arguments. Returns true if one of them is too short to be found in a
    /// text.
    fn learn_references(&self, scope: &dyn Scope, entry: &Entry) -> bool {
        let redactor = &self.environment.redactor;
        let mut some_short = false;
        for it in entry.item.refs.iter() {
            if !matches!(it.place, RefPlace::CreateProvisioner | RefPlace::DestroyProvisioner) {
                continue;
            }
            let traversal = whole_traversal(&entry.item.exprs, it.expr);
            if let Ok(evaluated) = hir::eval::evaluate(&entry.item.exprs, traversal, scope) {
                redactor.learn(&evaluated.value);
                some_short |= has_short_secret(&evaluated.value);
            }
        }
        some_short
    }
}

/// Returns the longest chain of attributes and literal indexes that starts with an expression.
fn whole_traversal(exprs: &Exprs, start: ExprId) -> ExprId {
    let mut whole = start;
    // Children precede their parents, so one pass sees the chain in order.
    for (id, expr) in exprs.iter() {
        match expr {
            Expr::GetAttr { base, .. } if *base == whole => whole = id,
            Expr::Index { base, key }
                if *base == whole && matches!(exprs[*key], Expr::Literal(_)) =>
            {
                whole = id
            }
            _ => {}
        }
    }
    whole
}

/// The arguments of the connection that a provisioner uses: those of its own block, then those of its resource.
/// `None` if there is neither.
fn connection_of(entry: &Entry, provisioner: &Provisioner) -> Option<Body> {
    let outer = match &entry.item.kind {
        ItemKind::Resource(it) => it.connection.as_ref(),
        ItemKind::Removed(it) => it.connection.as_ref(),
        _ => None,
    };
    match (outer, &provisioner.connection) {
        (Some(outer), Some(own)) => Some(merged_connection(&outer.body, &own.body)),
        (Some(only), None) | (None, Some(only)) => Some(only.body.clone()),
        (None, None) => None,
    }
}

/// The end of a run of a plugin, with the values that it received. They still have their marks.
struct PluginEnd<'a> {
    config: &'a Value,
    connection: Option<&'a Value>,
    ran: Result<PluginOutcome, Failed>,
}

/// The reason why a provisioner failed.
struct ProvisionFailure {
    /// The detail of the diagnostic.
    detail: String,
    /// Set if the user asked the run to stop.
    is_interrupted: bool,
}

impl From<String> for ProvisionFailure {
    fn from(detail: String) -> ProvisionFailure {
        ProvisionFailure { detail, is_interrupted: false }
    }
}

/// The destination of a provisioner's output.
#[derive(Clone)]
struct Output {
    address: ResourceInstance,
    provisioner: String,
    /// The text that replaces all output.
    notice: Option<&'static str>,
    /// Set if not only ephemeral secrets are redacted, but sensitive ones too.
    hides_sensitive: bool,
    events: Arc<dyn EventSink>,
    redactor: Redactor,
}

impl Output {
    /// Shows a line of output.
    fn show(&self, line: &str) {
        let line = match self.notice {
            Some(notice) => notice.to_owned(),
            None if self.hides_sensitive => self.redactor.redact_all(line),
            None => self.redactor.redact(line),
        };
        let (address, provisioner) = (self.address.clone(), self.provisioner.clone());
        self.events.event(Event::ProvisionOutput { address, provisioner, line });
    }

    /// Shows lines that belong together: if output is hidden, there is one notice for all.
    fn show_together(&self, lines: &[String]) {
        let shown = if self.notice.is_some() { 1 } else { lines.len() };
        lines.iter().take(shown).for_each(|it| self.show(it));
    }
}
