//! Diagnostics of a run: collected, sent as events, and located in the source text.

use addr::InstanceKey;
use db::{Diagnostic, Summary};
use hir::{
    At, Entry, EvalDiagnostic, ExprId, Interrupt, ItemKind, NodeId, Scope,
    eval::{self, Evaluated},
    item::Body,
    test_item::TestItem,
    unsupported,
};
use provider::ProviderDiagnostic;
use values::{Value, functions::FunctionEnv};

use crate::{
    ahead::Foreseen, event::Event, foreign, graph::NodeIx, schedule::Failed, walk::context::Walk,
};

impl Walk<'_> {
    /// Adds a diagnostic and sends it as an event. While the calls of provider functions are gathered, no event is
    /// sent, because the evaluation may be repeated.
    pub(crate) fn report(&self, diagnostic: Diagnostic) {
        let diagnostic = self.report.demoted(diagnostic);
        if !self.calls.answers.is_gathering() {
            self.emit(Event::Diagnostic(diagnostic.clone()));
        }
        self.report.add(diagnostic);
    }

    /// Evaluates an expression of an item. `address` is the address of the object that the value is for.
    pub(crate) fn evaluate(
        &self,
        scope: &dyn Scope,
        entry: &Entry,
        expr: ExprId,
        address: Option<&str>,
    ) -> Result<Value, Failed> {
        self.evaluated(eval::evaluate(&entry.item.exprs, expr, scope), entry, expr.into(), address)
    }

    /// Like [`evaluate`](Walk::evaluate), for a value that other values are derived from. The redactor learns the
    /// secrets of the value, and the secrets that it was derived from, here and only once.
    pub(crate) fn evaluate_source(
        &self,
        scope: &dyn Scope,
        entry: &Entry,
        expr: ExprId,
    ) -> Result<Value, Failed> {
        let evaluate = || self.evaluate(scope, entry, expr, None);
        let (value, parts) = self.calls.functions.parts.gather(evaluate);
        let value = value?;
        self.learn(&value, &parts);
        Ok(value)
    }

    /// Like [`evaluate_source`](Walk::evaluate_source), for the value of a node, which may be evaluated already.
    pub(crate) fn evaluate_node(
        &self,
        node: NodeIx,
        scope: &dyn Scope,
        entry: &Entry,
        expr: ExprId,
    ) -> Result<Value, Failed> {
        match self.foreseen(node, &InstanceKey::None) {
            Some(Foreseen { value, parts, .. }) => {
                self.learn(&value, &parts);
                Ok(value)
            }
            None => self.evaluate_source(scope, entry, expr),
        }
    }

    fn learn(&self, value: &Value, parts: &[Value]) {
        parts.iter().chain([value]).for_each(|it| self.environment.redactor.learn(it));
    }

    /// Evaluates a body into an object of the schema's type, which is then passed to another process. The redactor
    /// learns its secrets, and the secrets that they were derived from.
    pub(crate) fn decode(
        &self,
        scope: &dyn Scope,
        entry: &Entry,
        body: &Body,
        header: NodeId,
        block: &provider::Block,
        address: Option<&str>,
    ) -> Result<Value, Failed> {
        self.decode_with_parts(scope, entry, body, header, block, address).map(|(value, _)| value)
    }

    /// Like [`decode`](Walk::decode), but also returns the secrets that the value was derived from, except those
    /// of references.
    pub(crate) fn decode_with_parts(
        &self,
        scope: &dyn Scope,
        entry: &Entry,
        body: &Body,
        header: NodeId,
        block: &provider::Block,
        address: Option<&str>,
    ) -> Result<(Value, Vec<Value>), Failed> {
        let decode = || eval::decode_body(&entry.item.exprs, body, header, block, scope);
        let (evaluated, parts) = self.calls.functions.parts.gather(decode);
        let value = self.evaluated(evaluated, entry, header.into(), address)?;
        self.accept(entry, &value, &parts, address)?;
        Ok((value, parts))
    }

    /// Takes note of a body that is passed to another process, as [`decode`](Walk::decode) does: also of one that was
    /// evaluated ahead.
    pub(crate) fn accept(
        &self,
        entry: &Entry,
        value: &Value,
        parts: &[Value],
        address: Option<&str>,
    ) -> Result<(), Failed> {
        self.learn(value, parts);
        self.refuse_withheld(entry, value, address)
    }

    /// Refuses a configuration with a text in place of a withheld value, which a provider would take for the value.
    fn refuse_withheld(
        &self,
        entry: &Entry,
        value: &Value,
        address: Option<&str>,
    ) -> Result<(), Failed> {
        if !value.has_withheld() {
            return Ok(());
        }
        let detail = "An argument contains a withheld value: a provider repeated a write-only value in the object that \
                      it comes from, and Mayfly did not store it. Use the source of the value here, or only the parts \
                      of the object that are not withheld.";
        let diagnostic = Diagnostic::new(Summary::WITHHELD_VALUE, detail);
        self.report_at(entry, entry.item.header.into(), address, diagnostic);
        Err(Failed)
    }

    /// Refuses an infinite number. Neither the state nor the plan can hold one; if it were found only when saving,
    /// the whole state would be lost.
    pub(crate) fn refuse_infinity(
        &self,
        entry: &Entry,
        value: &Value,
        address: Option<&str>,
    ) -> Result<(), Failed> {
        if value.infinite_part().is_none() {
            return Ok(());
        }
        let detail = "The result is an infinite number, as a division by zero gives it. Such a number cannot be saved.";
        let diagnostic = Diagnostic::new(Summary::INFINITE_NUMBER, detail);
        self.report_at(entry, entry.item.header.into(), address, diagnostic);
        Err(Failed)
    }

    /// Refuses a value whose size exceeds the budget. A value that is saved or searched for secrets is traversed
    /// in full, so shared parts count every time.
    pub(crate) fn refuse_too_large(
        &self,
        entry: &Entry,
        expr: ExprId,
        value: &Value,
    ) -> Result<(), Failed> {
        let budget = self.calls.functions.budget();
        let Some(Err(exceeded)) = budget.map(|it| it.reserve(value.unshared_size())) else {
            return Ok(());
        };
        let (summary, detail) = eval::exceeded_problem(exceeded);
        self.report_at(entry, expr.into(), None, Diagnostic::new(summary, detail));
        Err(Failed)
    }

    fn evaluated(
        &self,
        evaluated: Result<Evaluated, Interrupt>,
        entry: &Entry,
        at: At,
        address: Option<&str>,
    ) -> Result<Value, Failed> {
        match evaluated {
            // Some answers of provider functions are still missing; the value is computed again.
            _ if self.calls.answers.is_waiting() => Err(Failed),
            Ok(evaluated) => {
                let failed = evaluated.has_errors();
                for diagnostic in evaluated.diagnostics {
                    self.report_eval(entry, diagnostic, address);
                }
                if failed { Err(Failed) } else { Ok(evaluated.value) }
            }
            // The failure was reported where it occurred.
            Err(Interrupt::Poisoned) => Err(Failed),
            // The caller that drives the walk reports the interruption.
            Err(Interrupt::Stopped | Interrupt::Exceeded { .. }) => Err(Failed),
            Err(Interrupt::ArgumentError(error)) => {
                let diagnostic = Diagnostic::new(error.summary, error.detail);
                self.report_at(entry, at, address, diagnostic);
                Err(Failed)
            }
            Err(Interrupt::Refused { summary, detail }) => {
                self.report_at(entry, at, address, Diagnostic::new(summary, detail));
                Err(Failed)
            }
        }
    }

    fn report_eval(&self, entry: &Entry, found: EvalDiagnostic, address: Option<&str>) {
        let diagnostic =
            Diagnostic { values: found.values, ..Diagnostic::new(found.summary, found.detail) };
        self.report_at(entry, found.at, address, diagnostic);
    }

    /// Reports a diagnostic at a place in an item.
    pub(crate) fn report_at(
        &self,
        entry: &Entry,
        at: At,
        address: Option<&str>,
        diagnostic: Diagnostic,
    ) {
        self.report(self.config.program.explained(Diagnostic {
            address: address.map(str::to_owned).or(diagnostic.address),
            location: self.config.program.locate(entry.origin, at),
            context: self.context(entry),
            ..diagnostic
        }));
    }

    /// Reports a part of the language that Mayfly understands but does not run. A directory can occur twice in the
    /// program; the same place is reported only once.
    pub(crate) fn report_unsupported(&self, entry: &Entry, at: At, what: &str) {
        let detail = unsupported::detail(what);
        let location = self.config.program.locate(entry.origin, at);
        let is_reported = |it: &Diagnostic| it.location == location && it.detail == detail;
        if self.report.any(is_reported) {
            return;
        }
        self.report_at(entry, at, None, Diagnostic::new(Summary::NOT_SUPPORTED_YET, detail));
    }

    /// Reports the diagnostics of a provider about a configuration. Returns an error if one of them is an error.
    pub(crate) fn report_provider(
        &self,
        found: Vec<ProviderDiagnostic>,
        place: Option<(&Entry, &Body)>,
        address: Option<&str>,
    ) -> Result<(), Failed> {
        let mut failed = false;
        for it in found {
            failed |= it.is_error();
            let diagnostic =
                foreign::diagnostic(&it, |text| self.environment.redactor.redact(text));
            match place {
                Some((entry, body)) => {
                    let path = it.path.as_ref();
                    let at = path.and_then(|path| eval::locate_path(body, &entry.item.exprs, path));
                    let at = at.unwrap_or(At::Node(entry.item.header));
                    self.report_at(entry, at, address, diagnostic);
                }
                None => self.report(match address {
                    Some(address) => diagnostic.with_address(address),
                    None => diagnostic,
                }),
            }
        }
        if failed {
            self.pool.note_failure();
            return Err(Failed);
        }
        Ok(())
    }

    /// Reports an error about an object that has no place in the source text.
    pub(crate) fn report_about(&self, address: &str, summary: Summary, detail: String) {
        self.report(Diagnostic::new(summary, detail).with_address(address));
    }

    /// Reports a diagnostic unless one with the same key was reported.
    pub(crate) fn report_once(&self, key: String, diagnostic: Diagnostic) {
        if self.report.is_first(key) {
            self.report(diagnostic);
        }
    }

    /// Reports an error that only a defect of the provider explains. `what` describes what the provider did,
    /// without a full stop. It is redacted, so it may quote the provider's answer.
    pub(crate) fn report_provider_bug(&self, address: &str, summary: Summary, what: &str) {
        self.report_provider_bug_quoting(address, summary, "", what);
    }

    /// Like [`report_provider_bug`](Walk::report_provider_bug), but redacts only `quoted`, which follows `what`.
    /// `what` consists of Mayfly's own words, addresses and names, which stay readable even if one of these words
    /// is a secret.
    pub(crate) fn report_provider_bug_quoting(
        &self,
        address: &str,
        summary: Summary,
        what: &str,
        quoted: &str,
    ) {
        let quoted = self.environment.redactor.redact(quoted);
        let detail = format!(
            "{what}{quoted}.\n\nThis is a bug in the provider, which should be reported in the \
             provider's own issue tracker."
        );
        self.report_about(address, summary, detail);
    }

    /// The header of an item's block, such as `resource "a" "b"`, as the context of a diagnostic. `None` for other
    /// items.
    pub(crate) fn context(&self, entry: &Entry) -> Option<String> {
        let text = match &entry.item.kind {
            ItemKind::Variable(it) => format!("variable \"{}\"", it.name),
            ItemKind::Local(_) => "locals".to_owned(),
            ItemKind::Output(it) => format!("output \"{}\"", it.name),
            ItemKind::Resource(it) => {
                if let Some(check) = &it.in_check {
                    return Some(format!("check \"{check}\""));
                }
                let resource = &it.resource;
                format!(
                    "{} \"{}\" \"{}\"",
                    resource.mode.block_type(),
                    resource.type_name,
                    resource.name
                )
            }
            ItemKind::ModuleCall(it) => format!("module \"{}\"", it.name),
            ItemKind::Provider(it) => format!("provider \"{}\"", it.local_name),
            ItemKind::Terraform(_) => "terraform".to_owned(),
            ItemKind::Check(it) => format!("check \"{}\"", it.name),
            ItemKind::Moved(_) => "moved".to_owned(),
            ItemKind::Removed(_) => "removed".to_owned(),
            ItemKind::Import(_) => "import".to_owned(),
            ItemKind::Test(TestItem::Run(it)) => format!("run \"{}\"", it.name),
            ItemKind::Other(_) | ItemKind::Test(_) => return None,
        };
        Some(text)
    }
}
