//! Applying the planned change of an instance.

use std::sync::Arc;

use db::Summary;
use hir::Entry;
use provider::{
    ApplyResourceChangeRequest, ApplyResourceChangeResponse, Private, Provider, objchange,
};
use state::{Action, DeposedKey, Instance, Object, ResourceChange, Status, journal::IntentAction};
use tokio::time::Instant;
use values::{MarkKind, Value, conform};

use crate::{
    event::{ApplyAction, Event},
    journal::Number,
    progress::with_progress,
    redact::Trace,
    resource::{
        change::{ChangePlan, ChangeRequest},
        decision,
        prior::Prior,
        subject::{Subject, object_id},
        write_only_leaks::{SideData, When},
    },
    runs::applying::Applying,
    schedule::Failed,
    walk::{context::Walk, instances::Each},
};

/// The result of an apply call.
pub(crate) struct Applied {
    /// The object; `None` if it does not exist.
    pub(crate) value: Option<Value>,
    pub(crate) private: Private,
    pub(crate) identity: Option<Value>,
    /// True if an error was reported.
    pub(crate) failed: bool,
    /// True if it is unknown whether an object exists: the provider may have received the call, but its answer is
    /// missing or invalid.
    pub(crate) is_unknown: bool,
}

/// The outcome of a planned change.
struct CarriedOut {
    result: Result<Value, Failed>,
    /// True if the provider was asked and its answer is lost: the intent stays in the journal.
    is_uncertain: bool,
}

impl Applying<'_> {
    /// Applies the planned change of an instance.
    pub(crate) async fn apply_instance(
        &self,
        mut subject: Subject,
        entry: &Entry,
        each: &Each,
    ) -> Result<(), Failed> {
        let node = subject.node;
        let opened = self.nodes.facts(node, |it| it.opened.clone());
        self.freshen(&opened).await?;
        self.instance_conditions(subject.module, entry, subject.address(), each, None).await?;
        let Some(ordered) = self.action_on(subject.address()) else {
            return self.keep_instance(&subject, entry, each).await;
        };
        let Made { value, deposed } = self.make_change(&mut subject, entry, each, ordered).await?;
        self.set_instance(node, each, value.clone());
        let address = subject.address();
        self.instance_conditions(subject.module, entry, address, each, Some(value)).await?;
        deposed.into_iter().for_each(|key| self.set_replaced(address, key));
        Ok(())
    }

    async fn make_change(
        &self,
        subject: &mut Subject,
        entry: &Entry,
        each: &Each,
        ordered: &ResourceChange,
    ) -> Result<Made, Failed> {
        let provider = self.provider_for(subject).await?;
        let creates_first = ordered.change.action == Action::CreateThenDelete;
        let forgets = ordered.change.action == Action::ForgetThenCreate;
        // The old object is no longer the current one when the new one is created.
        let prior = if creates_first || forgets { None } else { self.present(subject)? };
        let config = self.resource_config(subject, entry, each).await?;
        let subject = &*subject;
        let request = ChangeRequest { prior: prior.as_ref(), config: &config, replace: false };
        let plan = self.plan_change(subject, &*provider, request).await?;
        self.check_final_plan(subject, ordered, &plan)?;
        match plan.action {
            Action::NoOp => return Ok(plan.after.into()),
            Action::Update if prior.as_ref().is_some_and(|it| same(&it.value, &plan.after)) => {
                return self.apply_marks(subject, prior.as_ref(), &plan).await.map(Made::from);
            }
            _ => {}
        }
        let deposed = if creates_first { self.depose(subject)? } else { None };
        // The state has the old object as long as nothing takes its place.
        if forgets && self.object(subject).is_some() {
            self.forget(subject).await?;
        }
        let about = About { plan: &plan, config: &config, prior: prior.as_ref() };
        let carried_out = self.carry_out(subject, &*provider, entry, each, about).await;
        match (carried_out.result, deposed) {
            (Ok(value), deposed) => Ok(Made { value, deposed }),
            // The place of the current object stays free for a new one that may exist.
            (Err(Failed), Some(key)) if !carried_out.is_uncertain => {
                self.restore_deposed(subject, key).and(Err(Failed))
            }
            (Err(Failed), _) => Err(Failed),
        }
    }

    /// Calls the provider for a planned change, keeps the result and runs the provisioners of a new object.
    async fn carry_out(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
        entry: &Entry,
        each: &Each,
        about: About<'_>,
    ) -> CarriedOut {
        let About { plan, config, prior } = about;
        let action =
            if plan.action == Action::Update { ApplyAction::Update } else { ApplyAction::Create };
        let id = prior.and_then(|it| object_id(&it.value));
        let Ok(intent) = self.intend(subject, intent_of(action), &plan.after).await else {
            return CarriedOut { result: Err(Failed), is_uncertain: false };
        };
        let begun = self.apply_start(subject, action, id.clone());
        let prior_value = match plan.action {
            Action::Update => plan.before.without_all_marks(),
            _ => Value::null(subject.ty().clone()),
        };
        let request = ApplyResourceChangeRequest {
            type_name: subject.type_name(),
            prior_state: prior_value,
            planned_state: plan.after.without_all_marks(),
            config: config.without_all_marks(),
            planned_private: plan.private.clone(),
            provider_meta: subject.provider_meta.clone(),
            planned_identity: plan.identity.clone(),
        };
        let response = self.apply_call(subject, provider, request, action, id, begun).await;
        let applied = self.check_applied(subject, response, Some(plan));
        let mut result = self.keep_applied(subject, about, &applied, intent).await;
        if let (Ok(value), ApplyAction::Create) = (&result, action) {
            let provisioned = self.provision_new(subject, entry, each, value).await;
            result = provisioned.and(result);
        }
        self.apply_end(subject, action, begun, result.as_ref().ok());
        if result.is_ok() {
            self.report.count(|counts| match action {
                ApplyAction::Update => counts.change += 1,
                _ => counts.add += 1,
            });
        }
        CarriedOut { result, is_uncertain: applied.is_unknown && intent.is_some() }
    }

    async fn provision_new(
        &self,
        subject: &Subject,
        entry: &Entry,
        each: &Each,
        value: &Value,
    ) -> Result<(), Failed> {
        let provisioned = self.provision_created(subject, entry, each, value).await;
        if provisioned.is_err() && !self.is_stopping() {
            // The object exists, so its conditions are a result of the run too.
            let (address, value) = (subject.address(), Some(value.clone()));
            let _ = self.instance_conditions(subject.module, entry, address, each, value).await;
        }
        provisioned
    }

    /// Records an object of which only sensitive marks change; the provider has nothing to do.
    async fn apply_marks(
        &self,
        subject: &Subject,
        prior: Option<&Prior>,
        plan: &ChangePlan,
    ) -> Result<Value, Failed> {
        let id = prior.and_then(|it| object_id(&it.value));
        let begun = self.apply_start(subject, ApplyAction::Update, id);
        let kept = self.keep_marks(subject, prior, plan).await;
        self.apply_end(subject, ApplyAction::Update, begun, kept.as_ref().ok());
        if kept.is_ok() {
            self.report.count(|counts| counts.change += 1);
        }
        kept
    }

    /// Turns the current object of an instance into a deposed one. Returns its key; `None` if there is no object.
    fn depose(&self, subject: &Subject) -> Result<Option<DeposedKey>, Failed> {
        let address = subject.address();
        let key = self.state.read(|state| unused_key(state.instance(address)));
        let is_deposed = self.state.change(|state| state.depose(address, key));
        if is_deposed {
            self.record(subject.address(), None)?;
        }
        Ok(is_deposed.then_some(key))
    }

    /// Makes a deposed object the current one again, unless its replacement exists.
    fn restore_deposed(&self, subject: &Subject, key: DeposedKey) -> Result<(), Failed> {
        match self.state.change(|state| state.restore_deposed(subject.address(), key)) {
            true => self.record(subject.address(), None),
            false => Ok(()),
        }
    }

    /// The current object in the state.
    pub(crate) fn present(&self, subject: &Subject) -> Result<Option<Prior>, Failed> {
        let Some(object) = self.object(subject) else { return Ok(None) };
        let value = self.object_value(subject, &object)?;
        Ok(Some(Prior {
            value,
            private: Private::new(Arc::clone(&object.private)),
            identity: self.identity(subject, object.identity.as_ref()),
            tainted: object.status == Status::Tainted,
            object,
        }))
    }

    /// Checks that the plan with everything known is a completion of the approved plan.
    fn check_final_plan(
        &self,
        subject: &Subject,
        ordered: &ResourceChange,
        plan: &ChangePlan,
    ) -> Result<(), Failed> {
        let refuse = |what: &str, quoted: &str| {
            let detail = format!(
                "When expanding the plan for {} to include new values learned so far during apply, provider {} {what}",
                subject.text,
                subject.provider.source.for_display()
            );
            self.report_provider_bug_quoting(
                &subject.text,
                Summary::INCONSISTENT_FINAL_PLAN,
                &detail,
                quoted,
            );
        };
        let approved = ordered.change.action;
        if !decision::completes(approved, plan.action) {
            let what = format!("changed the planned action from {approved:?} to {:?}", plan.action);
            refuse(&what, "");
            return Err(Failed);
        }
        let block = subject.schema.block();
        let violations = objchange::object_compatible(block, &ordered.change.after, &plan.after);
        for violation in &violations {
            let quoted = format!("{}: {}", violation.path, violation.message);
            refuse("produced an invalid new value for ", &quoted);
        }
        if violations.is_empty() { Ok(()) } else { Err(Failed) }
    }

    async fn keep_marks(
        &self,
        subject: &Subject,
        prior: Option<&Prior>,
        plan: &ChangePlan,
    ) -> Result<Value, Failed> {
        let Some(prior) = prior else { return Err(Failed) };
        let kept = self.configured(subject, (*prior.object).clone());
        let object = self.encode(subject, &plan.after, kept)?;
        self.save(subject, Some(Arc::new(object)), None).await?;
        Ok(plan.after.clone())
    }
}

impl Walk<'_> {
    pub(crate) fn apply_start(
        &self,
        subject: &Subject,
        action: ApplyAction,
        id: Option<crate::event::ObjectId>,
    ) -> Instant {
        self.emit(Event::ApplyStart { address: subject.object.clone(), action, id });
        Instant::now()
    }

    pub(crate) fn apply_end(
        &self,
        subject: &Subject,
        action: ApplyAction,
        begun: Instant,
        value: Option<&Value>,
    ) {
        let (address, elapsed) = (subject.object.clone(), begun.elapsed());
        self.emit(match value {
            Some(value) => Event::ApplyComplete { address, action, id: object_id(value), elapsed },
            None => Event::ApplyErrored { address, action, elapsed },
        });
    }

    pub(crate) async fn apply_call(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
        request: ApplyResourceChangeRequest,
        action: ApplyAction,
        id: Option<crate::event::ObjectId>,
        begun: Instant,
    ) -> ApplyResourceChangeResponse {
        with_progress(provider.apply_resource_change(request), begun, |elapsed| {
            let (address, id) = (subject.object.clone(), id.clone());
            self.emit(Event::ApplyProgress { address, action, id, elapsed });
        })
        .await
    }

    /// Checks the answer of an apply call. `plan` is `None` for a deletion.
    pub(crate) fn check_applied(
        &self,
        subject: &Subject,
        response: ApplyResourceChangeResponse,
        plan: Option<&ChangePlan>,
    ) -> Applied {
        let said = self.report_provider(response.diagnostics, subject.place(), Some(&subject.text));
        let mut applied = Applied {
            value: None,
            private: response.private,
            identity: response.new_identity,
            failed: said.is_err(),
            is_unknown: false,
        };
        let Some(returned) = response.new_state else {
            // It is unknown what became of the object, so the state keeps the old one.
            if !applied.failed {
                self.blame(
                    subject,
                    Summary::INVALID_APPLIED_OBJECT,
                    "returned no object after apply, and no error either",
                );
            }
            let is_unknown = !response.is_undelivered;
            return Applied { failed: true, is_unknown, ..applied };
        };
        if !returned.is_null()
            && let Some(mismatch) = conform::value_conforms(&returned, subject.ty()).first()
        {
            let quoted = format!("{}: {}", mismatch.path, mismatch.message);
            let what = "produced an invalid value after apply";
            self.blame_quoting(
                subject,
                Summary::INVALID_APPLIED_OBJECT,
                what,
                &format!(" at {quoted}"),
            );
            return Applied { failed: true, is_unknown: true, ..applied };
        }
        let wanted = (!applied.failed).then_some(plan.is_some());
        applied.failed |= self.check_returned(subject, &returned, wanted).is_err();
        let returned =
            without_unknown(&provider::null_write_only(&returned, subject.schema.block()));
        let returned = self.without_secrets(subject, &mut applied, plan, &returned);
        if let Some(plan) = plan
            && !applied.failed
            && !response.legacy_type_system
        {
            applied.failed = self.check_kept_promise(subject, plan, &returned).is_err();
        }
        applied.value = (!returned.is_null()).then_some(returned);
        applied
    }

    /// Removes repeated write-only values from a returned object, from its private data and from its identity. The
    /// planned private data replaces private data that repeats one; the planned identity replaces an identity that
    /// is one.
    fn without_secrets(
        &self,
        subject: &Subject,
        applied: &mut Applied,
        plan: Option<&ChangePlan>,
        returned: &Value,
    ) -> Value {
        let beside = SideData { private: &applied.private, identity: applied.identity.as_ref() };
        let before = plan.map_or_else(|| Value::null(returned.ty()), known_before);
        let (returned, has_errors) =
            self.without_repeated(subject, returned, &before, &beside, When::Apply);
        if has_errors {
            applied.failed = true;
            if subject.write_only.is_in_bytes(&applied.private) {
                applied.private = plan.map(|it| it.private.clone()).unwrap_or_default();
            }
            let identity = applied.identity.as_ref();
            if identity.map(|it| subject.write_only.trace_in_identity(it)) == Some(Trace::Whole) {
                applied.identity = plan.and_then(|it| it.identity.clone());
            }
        }
        returned
    }

    /// Checks that a returned object is wholly known, has no write-only values and, unless `wanted` is `None`
    /// because the call failed, exists exactly if `wanted` is true.
    fn check_returned(
        &self,
        subject: &Subject,
        returned: &Value,
        wanted: Option<bool>,
    ) -> Result<(), Failed> {
        let present = provider::write_only_values_present(
            &subject.type_name(),
            returned,
            subject.schema.block(),
        );
        let mut ok = self.report_provider(present, None, Some(&subject.text)).is_ok();
        let summary = Summary::INVALID_APPLY_RESULT;
        if wanted == Some(returned.is_null()) {
            let what = if returned.is_null() {
                "returned no object after apply"
            } else {
                "still returned an object after it was deleted"
            };
            self.blame(subject, summary.clone(), what);
            ok = false;
        }
        let mut unknown = Vec::new();
        returned.walk(&mut |path, part| {
            if !part.is_known() {
                unknown.push(path.to_string());
            }
            true
        });
        for path in unknown {
            let detail = format!(
                "After the apply operation, the provider still indicated an unknown value for \
                 {}{path}. All values must be known after apply, so this is always a bug in the \
                 provider and should be reported in the provider's own repository. Mayfly will \
                 still save the other known object values in the state.",
                subject.text
            );
            self.report_about(&subject.text, summary.clone(), detail);
            ok = false;
        }
        if ok { Ok(()) } else { Err(Failed) }
    }

    /// Checks that a returned object is a completion of the planned one.
    fn check_kept_promise(
        &self,
        subject: &Subject,
        plan: &ChangePlan,
        returned: &Value,
    ) -> Result<(), Failed> {
        // The planned value keeps its marks, so that no violation quotes a secret.
        let violations =
            objchange::object_compatible(subject.schema.block(), &plan.after, returned);
        for violation in &violations {
            let detail = format!(
                "When applying changes to {}, provider {} produced an unexpected new value: ",
                subject.text,
                subject.provider.source.for_display(),
            );
            let between = if violation.path.is_root() { "" } else { ": " };
            self.report_provider_bug_quoting(
                &subject.text,
                Summary::INCONSISTENT_RESULT,
                &detail,
                &format!("{}{between}{}", violation.path, violation.message),
            );
        }
        if violations.is_empty() { Ok(()) } else { Err(Failed) }
    }

    fn blame(&self, subject: &Subject, summary: Summary, what: &str) {
        self.blame_quoting(subject, summary, what, "");
    }

    fn blame_quoting(&self, subject: &Subject, summary: Summary, what: &str, quoted: &str) {
        let provider = subject.provider.source.for_display();
        let detail = format!("Provider {provider} {what}, for {}", subject.text);
        self.report_provider_bug_quoting(&subject.text, summary, &detail, quoted);
    }

    /// Writes the result of an apply call to the state. Returns the new value if all went well.
    async fn keep_applied(
        &self,
        subject: &Subject,
        about: About<'_>,
        applied: &Applied,
        intent: Option<Number>,
    ) -> Result<Value, Failed> {
        let About { plan, config, prior } = about;
        let Some(value) = &applied.value else {
            // A failed creation leaves no object. After a failed update, the object in the state stays.
            if !applied.is_unknown {
                self.record_unchanged(intent);
            }
            return Err(Failed);
        };
        let updated = prior.filter(|_| plan.action == Action::Update);
        let followed = self.followed(subject, updated, config);
        let marks = followed.without_deep(MarkKind::Deprecated).path_marks();
        let value = self.marked(subject, value).with_path_marks(&marks);
        let result = decision::Applied {
            has_failed: applied.failed,
            is_new: plan.action != Action::Update,
            has_provisioners: subject.has_create_provisioners(),
        };
        let status = decision::status_after(result, prior.map(|it| it.object.status));
        let version = u64::try_from(subject.schema.version()).unwrap_or_default();
        let kept = Object {
            private: applied.private.as_bytes().into(),
            status,
            identity: self.encode_identity(subject, applied.identity.as_ref()),
            ..Object::from_json(version, Arc::from("{}"))
        };
        let object = self.encode(subject, &value, self.configured(subject, kept))?;
        self.save(subject, Some(Arc::new(object)), intent).await?;
        if applied.failed { Err(Failed) } else { Ok(value) }
    }

    /// An object with what the state takes from the configuration: the dependencies and the kind of its end.
    fn configured(&self, subject: &Subject, object: Object) -> Object {
        Object {
            dependencies: self.dependencies_of(subject.address()),
            create_before_destroy: self.creates_first(&subject.address().config()),
            skip_destroy: subject.block().is_some_and(|it| it.resource().lifecycle.skip_destroy),
            ..object
        }
    }

    /// Puts an object into the state, or removes it if `None`, and waits until that is durable. `answers` is the
    /// intent that this result answers.
    ///
    /// # Errors
    /// If the object could not be made durable. The run then ends as soon as it can.
    pub(crate) async fn save(
        &self,
        subject: &Subject,
        object: Option<Arc<Object>>,
        answers: Option<Number>,
    ) -> Result<(), Failed> {
        self.set_object(subject, object);
        self.record_result(subject, answers).await
    }

    /// Removes the taint from the object of an instance.
    pub(crate) async fn untaint(&self, subject: &Subject) -> Result<(), Failed> {
        let Some(object) = self.object(subject) else { return Ok(()) };
        self.save(subject, Some(Arc::new(object.with_status(Status::Ready))), None).await
    }
}

/// The result of a change.
struct Made {
    value: Value,
    /// The key of the object that is destroyed after the new one was created.
    deposed: Option<DeposedKey>,
}

impl From<Value> for Made {
    fn from(value: Value) -> Made {
        Made { value, deposed: None }
    }
}

/// A key that no deposed object of the instance has.
fn unused_key(instance: Option<&Instance>) -> DeposedKey {
    loop {
        let key = DeposedKey::from_random(uuid::Uuid::new_v4().as_fields().0);
        if !instance.is_some_and(|it| it.deposed.contains_key(&key)) {
            return key;
        }
    }
}

/// The inputs of an applied object.
#[derive(Clone, Copy)]
struct About<'a> {
    plan: &'a ChangePlan,
    config: &'a Value,
    prior: Option<&'a Prior>,
}

fn intent_of(action: ApplyAction) -> IntentAction {
    match action {
        ApplyAction::Update => IntentAction::Update,
        _ => IntentAction::Create,
    }
}

fn same(a: &Value, b: &Value) -> bool {
    b.is_wholly_known() && a.without_all_marks().raw_equals(&b.without_all_marks())
}

/// Replaces unknown values with null, so that the state can hold the object.
fn without_unknown(value: &Value) -> Value {
    if value.is_wholly_known() {
        return value.clone();
    }
    value.transform(&mut |_, part| {
        if part.is_known() { part.clone() } else { Value::null(part.ty()) }
    })
}

/// The planned object, with the prior values where the plan is unknown.
fn known_before(plan: &ChangePlan) -> Value {
    let prior = plan.before.without_all_marks();
    plan.after.without_all_marks().transform(&mut |path, value| match value.is_known() {
        true => value.clone(),
        false => path.apply(&prior).unwrap_or_else(|| value.clone()),
    })
}
