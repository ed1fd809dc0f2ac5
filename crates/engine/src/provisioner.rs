//! `local-exec` provisioners: commands that run after the creation or before the destruction of an object.
//!
//! **Invariant:** if the configuration contains a secret, no output of the command is shown. The diagnostic of a
//! failure contains only the exit status and the output without the secrets.

use std::sync::{Arc, Mutex, PoisonError};

use addr::{InstanceKey, ResourceInstance};
use db::{Diagnostic, Severity, Summary};
use hir::{
    Entry, Expr, ExprId, Exprs, Scope,
    item::{Provisioner, RefPlace},
};
use values::{MarkKind, Value};

use crate::{
    event::Event,
    redact::has_short_secret,
    request::{Command, CommandStatus},
    resource::subject::Subject,
    resource::turn::provisioners_of,
    schedule::Failed,
    walk::{
        context::Walk,
        instances::Each,
        scope::{EngineScope, OwnObject},
    },
};

/// The maximum size of the output that is kept for a diagnostic, in bytes.
const KEPT_OUTPUT: usize = 64 * 1024;

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
        if self.refuse_provisioners(entry, |it| it.at_destroy) {
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
        let address = subject.address().clone();
        let kind = provisioner.kind.to_string();
        let decode = || {
            let (body, node) = (&provisioner.body, provisioner.node);
            let schema = hir::provisioner::local_exec();
            self.decode_with_parts(&scope, entry, body, node, schema, Some(&subject.text))
        };
        let (config, parts) = self.answered(decode).await?;
        self.emit(Event::ProvisionStart { address: address.clone(), provisioner: kind.clone() });
        let some_short = self.learn_references(&scope, entry)
            || parts.iter().chain([&config]).any(has_short_secret);
        let ran = self.local_exec(&address, &kind, &config, some_short).await;
        let Err(detail) = ran else {
            self.emit(Event::ProvisionComplete { address, provisioner: kind });
            return Ok(());
        };
        self.emit(Event::ProvisionErrored { address, provisioner: kind });
        let severity =
            if provisioner.continue_on_failure { Severity::Warning } else { Severity::Error };
        let diagnostic = Diagnostic::new(Summary::LOCAL_EXEC.at_most(severity), detail);
        self.report_at(entry, provisioner.node.into(), Some(&subject.text), diagnostic);
        if provisioner.continue_on_failure { Ok(()) } else { Err(Failed) }
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

    /// Runs the command. An error is the detail of a diagnostic.
    async fn local_exec(
        &self,
        address: &ResourceInstance,
        kind: &str,
        config: &Value,
        hides_all: bool,
    ) -> Result<(), String> {
        let secrecy = Secrecy::of(config);
        let arguments = Arguments::read(&config.without_all_marks())?;
        let executing = if arguments.quiet {
            "local-exec: Executing: Suppressed by quiet=true".to_owned()
        } else {
            format!("Executing: {}", go_list(&arguments.command.arguments))
        };
        let output = Output {
            address: address.clone(),
            provisioner: kind.to_owned(),
            notice: secrecy.notice(),
            printed: Arc::default(),
        };
        let (events, redactor) =
            (Arc::clone(&self.environment.events), self.environment.redactor.clone());
        let shown = output.clone();
        let show = move |line: &str| {
            let line = shown.notice.map_or_else(|| redactor.redact(line), str::to_owned);
            let (address, provisioner) = (shown.address.clone(), shown.provisioner.clone());
            events.event(Event::ProvisionOutput { address, provisioner, line });
        };
        show(&executing);
        let printed = Arc::clone(&output.printed);
        let line = move |line: &str| {
            let mut kept = printed.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() < KEPT_OUTPUT {
                kept.push_str(line);
                kept.push('\n');
            }
            drop(kept);
            show(line);
        };
        let shell_command = arguments.text.clone();
        let status =
            self.environment.commands.run(arguments.command, &line, &self.environment.cancel).await;
        let printed = output.printed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match status {
            Ok(CommandStatus { success: true, .. }) => Ok(()),
            Ok(CommandStatus { text, .. }) => {
                Err(self.failure(secrecy, hides_all, &shell_command, &text, &printed))
            }
            Err(reason) => Err(format!("The command could not be started: {reason}.")),
        }
    }

    fn failure(
        &self,
        secrecy: Secrecy,
        hides_all: bool,
        command: &str,
        status: &str,
        printed: &str,
    ) -> String {
        let redactor = &self.environment.redactor;
        if secrecy == Secrecy::None {
            return redactor.redact(&format!(
                "Error running command '{command}': {status}. Output: {printed}"
            ));
        }
        if hides_all {
            return format!(
                "Error running a command whose configuration holds secrets: {status}. Its output \
                 is not shown, because one of the secrets is too short to be redacted."
            );
        }
        let printed = redactor.redact_all(printed);
        format!(
            "Error running a command whose configuration holds secrets: {status}. Its output, without them: {printed}"
        )
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

#[derive(Clone)]
struct Output {
    address: ResourceInstance,
    provisioner: String,
    notice: Option<&'static str>,
    printed: Arc<Mutex<String>>,
}

/// The arguments of `local-exec`, without marks. No `Debug`, because they may contain secrets.
struct Arguments {
    command: Command,
    /// The `command` argument.
    text: String,
    quiet: bool,
}

impl Arguments {
    fn read(config: &Value) -> Result<Arguments, String> {
        if !config.is_wholly_known() {
            return Err(
                "The configuration of the provisioner has parts that are not known.".to_owned()
            );
        }
        let attribute = |name: &str| config.get_attr(name).filter(|it| !it.is_null());
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let command = attribute("command").as_ref().and_then(text).unwrap_or_default();
        if command.is_empty() {
            return Err("local-exec provisioner command must be a non-empty string".to_owned());
        }
        let interpreter = attribute("interpreter");
        let interpreter: Vec<String> = interpreter
            .iter()
            .flat_map(|it| it.as_slice().unwrap_or_default())
            .filter_map(text)
            .collect();
        let mut arguments =
            if interpreter.is_empty() { default_interpreter() } else { interpreter };
        arguments.push(command.clone());
        let environment = attribute("environment");
        let environment = environment.iter().flat_map(|it| it.as_map().into_iter().flatten());
        let environment = environment
            .filter_map(|(name, value)| Some((name.to_string(), text(value)?)))
            .collect();
        Ok(Arguments {
            command: Command {
                arguments,
                directory: attribute("working_dir").as_ref().and_then(text),
                environment,
            },
            text: command,
            quiet: attribute("quiet").and_then(|it| it.as_bool()).unwrap_or(false),
        })
    }
}

fn default_interpreter() -> Vec<String> {
    let shell = if cfg!(windows) { ["cmd", "/C"] } else { ["/bin/sh", "-c"] };
    shell.map(str::to_owned).to_vec()
}

/// Formats a list as OpenTofu does: `["/bin/sh" "-c" "echo"]`.
fn go_list(arguments: &[String]) -> String {
    let quoted: Vec<String> = arguments.iter().map(|it| format!("{it:?}")).collect();
    format!("[{}]", quoted.join(" "))
}
