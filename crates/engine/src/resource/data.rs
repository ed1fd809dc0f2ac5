//! Data sources: read in plan if possible, else in apply.

use std::sync::Arc;

use db::Summary;
use hir::Entry;
use provider::{Provider, ReadDataSourceRequest, ValidateRequest, objchange};
use state::{Action, Change, CheckStatus, Object, Reason, ResourceChange};
use tokio::time::Instant;
use values::{MarkKind, Value};

use crate::{
    event::{ApplyAction, Event},
    graph::NodeIx,
    memo::Planned,
    progress::with_progress,
    resource::{
        decision::{self, DataSource},
        prior::storable,
        subject::{Subject, object_id},
    },
    runs::{applying::Applying, planning::Planning},
    schedule::Failed,
    walk::{context::Walk, instances::Each, value_nodes::prefixed},
};

impl Planning<'_> {
    /// Reads a data source, or plans to read it in apply.
    pub(crate) async fn plan_data(
        &self,
        node: NodeIx,
        entry: &Entry,
        each: &Each,
    ) -> Result<(), Failed> {
        let mut subject = self.subject(node, entry, &each.key)?;
        let opened = self.nodes.facts(node, |it| it.opened.clone());
        self.freshen(&opened).await?;
        self.instance_conditions(subject.module, entry, subject.address(), each, None).await?;
        let config = self.resource_config(&mut subject, entry, each).await?;
        let digest = self.config_digest(&subject, &config);
        let reason = self.read_reason(node, entry, &config);
        if let Some(planned) = self.planned_same(&subject, digest)
            && planned.change.as_ref().and_then(|it| it.reason) == reason
        {
            self.take_planned(&subject, each, &planned);
            let value = Some(planned.value.clone());
            self.instance_conditions(subject.module, entry, subject.address(), each, value).await?;
            self.remember_planned(&subject, each, digest, planned);
            return Ok(());
        }
        let is_nested = reason == Some(Reason::ReadBecauseCheckNested);
        let (mut planned, is_good) = match reason {
            Some(Reason::ReadBecauseCheckNested) => {
                self.plan_nested(&subject, entry, &config).await?
            }
            // A refresh-only plan can defer nothing.
            Some(_) if self.options.refresh_only && !is_nested => {
                let value = Value::unknown(subject.ty().clone());
                (Planned { change: None, drift: None, refreshed: None, value }, true)
            }
            Some(reason) => {
                // An error of the configuration is better found now than after other changes.
                let provider = self.provider_for(&subject).await?;
                self.validate_data(&subject, &*provider, entry, &config).await?;
                (self.defer_data(&subject, &config, reason), true)
            }
            None => {
                let provider = self.provider_for(&subject).await?;
                let value = self.read_data(&subject, &*provider, entry, &config).await?;
                let object = self.data_object(&subject, &value, &config)?;
                (Planned { change: None, drift: None, refreshed: Some(object), value }, true)
            }
        };
        planned.change = planned.change.filter(|_| !self.options.refresh_only);
        self.take_planned(&subject, each, &planned);
        let value = Some(planned.value.clone());
        self.instance_conditions(subject.module, entry, subject.address(), each, value).await?;
        if is_good {
            self.remember_planned(&subject, each, digest, planned);
        }
        Ok(())
    }

    /// The reason why a data source is read in apply; `None` if only the plan reads it.
    fn read_reason(&self, node: NodeIx, entry: &Entry, config: &Value) -> Option<Reason> {
        let (waits, pending) = self.nodes.facts(node, |it| (it.waits, it.pending));
        decision::read_reason(DataSource {
            is_known: config.is_wholly_known(),
            // Any dependency may write a temporary file that the configuration names, so a pending change of one
            // defers the read.
            waits: waits || (pending && self.settings.temp.is_named_in(config)),
            is_nested: entry.resource().in_check.is_some(),
        })
    }

    /// Reads the data source of a `check` block, which apply reads again. Returns false if that failed: then its
    /// result is unknown, and the check has failed.
    async fn plan_nested(
        &self,
        subject: &Subject,
        entry: &Entry,
        config: &Value,
    ) -> Result<(Planned, bool), Failed> {
        let provider = self.provider_for(subject).await?;
        let reason = Reason::ReadBecauseCheckNested;
        let Ok(value) = self.read_nested(subject, &*provider, entry, config).await else {
            return Ok((self.defer_data(subject, config, reason), false));
        };
        let object = self.data_object(subject, &value, config)?;
        let change = Some(self.read_change(subject, &value, reason));
        Ok((Planned { change, drift: None, refreshed: Some(object), value }, true))
    }

    fn defer_data(&self, subject: &Subject, config: &Value, reason: Reason) -> Planned {
        let planned =
            objchange::planned_unknown_object(subject.schema.block(), &config.without_all_marks());
        let value = self.config_marks(subject, config, &planned);
        let change = Some(self.read_change(subject, &value, reason));
        Planned { change, drift: None, refreshed: None, value }
    }

    fn read_change(&self, subject: &Subject, value: &Value, reason: Reason) -> Arc<ResourceChange> {
        Arc::new(ResourceChange {
            addr: subject.address().clone(),
            previous_addr: None,
            deposed: None,
            provider: subject.provider.clone(),
            change: Change {
                action: Action::Read,
                before: Value::null(subject.ty().clone()),
                after: storable(value),
                importing: None,
                generated_config: String::new(),
                before_identity: None,
                after_identity: None,
            },
            private: Arc::default(),
            required_replace: Vec::new(),
            reason: Some(reason),
        })
    }
}

impl Applying<'_> {
    /// Reads a data source that the plan deferred; any other keeps the value that the plan read.
    pub(crate) async fn apply_data(
        &self,
        node: NodeIx,
        entry: &Entry,
        each: &Each,
    ) -> Result<(), Failed> {
        let mut subject = self.subject(node, entry, &each.key)?;
        let ordered = self.planned.change(subject.address());
        let value = if ordered.is_some_and(|it| it.change.action == Action::Read) {
            let opened = self.nodes.facts(node, |it| it.opened.clone());
            self.freshen(&opened).await?;
            self.instance_conditions(subject.module, entry, subject.address(), each, None).await?;
            let config = self.resource_config(&mut subject, entry, each).await?;
            if !config.is_wholly_known() {
                let detail = format!(
                    "{} cannot be read, because its configuration has parts that are not known even in apply.",
                    subject.text
                );
                self.report_about(&subject.text, Summary::UNKNOWN_DATA_CONFIG, detail);
                return Err(Failed);
            }
            let provider = self.provider_for(&subject).await?;
            if entry.resource().in_check.is_some() {
                return self.apply_nested(&subject, &*provider, entry, each, &config).await;
            }
            let value = self.read_data(&subject, &*provider, entry, &config).await?;
            let object = self.data_object(&subject, &value, &config)?;
            self.save(&subject, Some(object), None).await?;
            value
        } else {
            return self.keep_instance(&subject, entry, each).await;
        };
        self.set_instance(node, each, value.clone());
        self.instance_conditions(subject.module, entry, subject.address(), each, Some(value)).await
    }

    /// Reads the data source of a `check` block again. Only its check depends on whether that succeeds.
    async fn apply_nested(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
        entry: &Entry,
        each: &Each,
        config: &Value,
    ) -> Result<(), Failed> {
        let Ok(value) = self.read_nested(subject, provider, entry, config).await else {
            self.set_instance(subject.node, each, Value::null(subject.ty().clone()));
            return self.save(subject, None, None).await;
        };
        let object = self.data_object(subject, &value, config)?;
        self.save(subject, Some(object), None).await?;
        self.set_instance(subject.node, each, value.clone());
        self.instance_conditions(subject.module, entry, subject.address(), each, Some(value)).await
    }
}

impl Walk<'_> {
    /// Reads the data source of a `check` block. Its errors become warnings and fail the check.
    async fn read_nested(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
        entry: &Entry,
        config: &Value,
    ) -> Result<Value, Failed> {
        let Some(check) = &entry.resource().in_check else { return Err(Failed) };
        let module = self.module(subject.module).address.to_string();
        self.report.begin_check(&subject.text, &prefixed(&module, &format!("check.{check}")));
        let result = self.read_data(subject, provider, entry, config).await;
        let faults = self.report.end_check(&subject.text);
        if result.is_err() {
            self.with_check(&self.module(subject.module), check, |checked| {
                let message = Some(together(faults));
                self.checks.record(checked, CheckStatus::Fail, message);
            });
        }
        result
    }

    fn config_marks(&self, subject: &Subject, config: &Value, value: &Value) -> Value {
        let marks = config.without_deep(MarkKind::Deprecated).path_marks();
        self.marked(subject, value).with_path_marks(&marks)
    }

    /// Lets the provider validate the configuration, of which values may be unknown.
    async fn validate_data(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
        entry: &Entry,
        config: &Value,
    ) -> Result<(), Failed> {
        let config = config.without_all_marks();
        let request = ValidateRequest { type_name: subject.type_name(), config };
        let found = provider.validate_data_config(request).await;
        self.report_provider(found, Some((entry, &entry.resource().body)), Some(&subject.text))
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
        self.validate_data(subject, provider, entry, config).await?;
        let action = ApplyAction::Read;
        let address = || subject.object.clone();
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
        let summary = if value.is_none() { Summary::NULL_DATA } else { Summary::INVALID_DATA };
        self.report_provider_bug(&subject.text, summary, &detail);
        Err(Failed)
    }

    /// The object as the state stores it, with the marks of its configuration. Marks of the schema are left out,
    /// because they are added whenever the object is decoded.
    fn data_object(
        &self,
        subject: &Subject,
        value: &Value,
        config: &Value,
    ) -> Result<Arc<Object>, Failed> {
        let marks = config.without_deep(MarkKind::Deprecated).path_marks();
        let value = &value.without_all_marks().with_path_marks(&marks);
        let version = u64::try_from(subject.schema.version()).unwrap_or_default();
        let empty = Object::from_json(version, Arc::from("{}"));
        Ok(Arc::new(self.encode(subject, value, empty)?))
    }
}

/// Combines errors into the message of a check.
fn together(mut faults: Vec<String>) -> String {
    match faults.len() {
        0 | 1 => faults.pop().unwrap_or_default(),
        many => {
            let lines: String = faults.iter().map(|it| format!("\n- {it}")).collect();
            format!("{many} problems:\n{lines}")
        }
    }
}
