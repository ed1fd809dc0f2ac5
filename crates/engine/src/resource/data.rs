//! Data sources: read in plan if that is possible, else in apply.

use std::sync::Arc;

use hir::Entry;
use provider::{Provider, ReadDataSourceRequest, ValidateRequest, objchange};
use state::{Action, Change, Object, Reason, ResourceChange};
use tokio::time::Instant;
use values::{MarkKind, Value};

use super::{Subject, has_conditions, object_id, prior::storable};
use crate::{
    event::{ApplyAction, Event},
    graph::{EdgeKind, NodeIx},
    memo::Planned,
    progress::with_progress,
    walk::{Each, Failed, Walk},
};

impl Walk<'_> {
    /// Reads a data source, or plans to.
    pub(crate) async fn plan_data(
        &self,
        node: NodeIx,
        entry: &Entry,
        each: &Each,
    ) -> Result<(), Failed> {
        let mut subject = self.subject(node, entry, &each.key)?;
        let opened = self.with_facts(node, |it| it.opened.clone());
        self.freshen(&opened).await?;
        self.instance_conditions(subject.module, entry, &subject.address, each, None).await?;
        let config = self.resource_config(&mut subject, entry, each).await?;
        let digest = self.config_digest(&subject, &config);
        let deferred = self.data_deferred(node, entry, &config);
        if deferred.is_none()
            && let Some(planned) = self.planned_same(&subject, digest)
        {
            self.take_planned(&subject, each, &planned);
            let value = Some(planned.value.clone());
            self.instance_conditions(subject.module, entry, &subject.address, each, value).await?;
            self.remember_planned(&subject, each, digest, planned);
            return Ok(());
        }
        let planned = match deferred {
            Some(reason) => self.defer_data(&subject, &config, reason),
            None => {
                let provider = self.provider(subject.provider_node).await?;
                let value = self.read_data(&subject, &*provider, entry, &config).await?;
                let object = self.data_object(&subject, &value)?;
                Planned { change: None, drift: None, refreshed: Some(object), value }
            }
        };
        self.take_planned(&subject, each, &planned);
        let value = Some(planned.value.clone());
        self.instance_conditions(subject.module, entry, &subject.address, each, value).await?;
        self.remember_planned(&subject, each, digest, planned);
        Ok(())
    }

    /// Why a data source cannot be read in plan.
    fn data_deferred(&self, node: NodeIx, entry: &Entry, config: &Value) -> Option<Reason> {
        if !config.is_wholly_known() {
            return Some(Reason::ReadBecauseConfigUnknown);
        }
        // The file that it names may be written by what it refers to.
        let waits = has_conditions(entry) || self.settings.temp.is_named_in(config);
        let graph = self.graph.borrow();
        let facts = self.facts.borrow();
        let pending = graph.dependencies(node).any(|(dependency, kind, active)| {
            let counts = kind == EdgeKind::DependsOn
                || (waits && matches!(kind, EdgeKind::Value | EdgeKind::Condition));
            active && counts && facts[dependency.0 as usize].pending
        });
        pending.then_some(Reason::ReadBecauseDependencyPending)
    }

    fn defer_data(&self, subject: &Subject, config: &Value, reason: Reason) -> Planned {
        let planned =
            objchange::planned_unknown_object(subject.schema.block(), &config.without_all_marks());
        let value = self.config_marks(subject, config, &planned);
        let change = ResourceChange {
            addr: subject.address.clone(),
            previous_addr: None,
            deposed: None,
            provider: subject.provider.clone(),
            change: Change {
                action: Action::Read,
                before: Value::null(subject.ty().clone()),
                after: storable(&value),
                importing: None,
                generated_config: String::new(),
                before_identity: None,
                after_identity: None,
            },
            private: Arc::default(),
            required_replace: Vec::new(),
            reason: Some(reason),
        };
        Planned { change: Some(change), drift: None, refreshed: None, value }
    }

    fn config_marks(&self, subject: &Subject, config: &Value, value: &Value) -> Value {
        let marks = config.without_deep(MarkKind::Deprecated).path_marks();
        self.marked(subject, value).with_path_marks(&marks)
    }

    async fn read_data(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
        entry: &Entry,
        config: &Value,
    ) -> Result<Value, Failed> {
        let place = Some((entry, &entry.resource().body));
        let plain = config.without_all_marks();
        let request = ValidateRequest { type_name: subject.type_name(), config: plain.clone() };
        self.report_provider(
            provider.validate_data_config(request).await,
            place,
            Some(&subject.text),
        )?;

        let action = ApplyAction::Read;
        let address = || subject.address.clone();
        self.emit(Event::ApplyStart { address: address(), action, id: None });
        let begun = Instant::now();
        let request = ReadDataSourceRequest {
            type_name: subject.type_name(),
            config: plain,
            provider_meta: subject.provider_meta.clone(),
        };
        let response = with_progress(provider.read_data_source(request), begun, |elapsed| {
            self.emit(Event::ApplyProgress { address: address(), action, id: None, elapsed });
        })
        .await;
        let result = self
            .report_provider(response.diagnostics, place, Some(&subject.text))
            .and_then(|()| self.checked_data(subject, response.state))
            .map(|value| self.config_marks(subject, config, &value));
        let elapsed = begun.elapsed();
        self.emit(match &result {
            Ok(value) => {
                Event::ApplyComplete { address: address(), action, id: object_id(value), elapsed }
            }
            Err(Failed) => Event::ApplyErrored { address: address(), action, elapsed },
        });
        result
    }

    fn checked_data(&self, subject: &Subject, returned: Option<Value>) -> Result<Value, Failed> {
        let value = self.checked_object(subject, returned, "while reading")?;
        let what = match &value {
            None => "a null value",
            Some(value) if !value.is_wholly_known() => "a value that is not wholly known",
            Some(value) => return Ok(value.clone()),
        };
        let detail = format!(
            "Provider {} produced {what} for {}",
            subject.provider.source.for_display(),
            subject.text
        );
        let summary = if value.is_none() {
            "Provider produced null object"
        } else {
            "Provider produced invalid object"
        };
        self.report_provider_bug(&subject.text, "invalid-data", summary, &detail);
        Err(Failed)
    }

    fn data_object(&self, subject: &Subject, value: &Value) -> Result<Arc<Object>, Failed> {
        let version = u64::try_from(subject.schema.version()).unwrap_or_default();
        let empty = Object::from_json(version, Arc::from("{}"));
        Ok(Arc::new(self.encode(subject, value, empty)?))
    }

    /// Reads a data source that could not be read in plan; others keep what plan read.
    pub(crate) async fn apply_data(
        &self,
        node: NodeIx,
        entry: &Entry,
        each: &Each,
    ) -> Result<(), Failed> {
        let mut subject = self.subject(node, entry, &each.key)?;
        let ordered = self.orders.and_then(|it| it.change(&subject.address));
        let value = if ordered.is_some_and(|it| it.change.action == Action::Read) {
            let opened = self.with_facts(node, |it| it.opened.clone());
            self.freshen(&opened).await?;
            self.instance_conditions(subject.module, entry, &subject.address, each, None).await?;
            let config = self.resource_config(&mut subject, entry, each).await?;
            if !config.is_wholly_known() {
                let detail = format!(
                    "{} cannot be read, because its configuration has parts that are not known even in apply.",
                    subject.text
                );
                self.report_about(
                    &subject.text,
                    "unknown-data-config",
                    "Configuration contains unknown value",
                    detail,
                );
                return Err(Failed);
            }
            let provider = self.provider(subject.provider_node).await?;
            let value = self.read_data(&subject, &*provider, entry, &config).await?;
            let object = self.data_object(&subject, &value)?;
            self.save(&subject, Some(object), None).await?;
            value
        } else {
            self.state_value(&subject).unwrap_or_else(|| Value::null(subject.ty().clone()))
        };
        self.set_instance(node, each, value.clone());
        self.instance_conditions(subject.module, entry, &subject.address, each, Some(value)).await
    }
}
