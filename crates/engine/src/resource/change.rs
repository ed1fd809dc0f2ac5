//! The change that a provider plans to make an object match a configuration, step by step as the plugin protocol
//! defines it.

use db::Summary;
use hir::item;
use provider::{
    PlanResourceChangeRequest, PlanResourceChangeResponse, Private, Provider, ValidateRequest,
    objchange::{self, ReplacePaths},
};
use state::{Action, Reason};
use values::{MarkKind, Marks, Path, Value};

use crate::{
    resource::{
        decision::{self, Before, Decision},
        prior::Prior,
        subject::Subject,
        write_only_leaks::SideData,
    },
    schedule::Failed,
    walk::context::Walk,
};

/// A planned change of one object.
#[derive(Clone)]
pub(crate) struct ChangePlan {
    pub(crate) action: Action,
    /// The object before the change, with marks; null if there is none.
    pub(crate) before: Value,
    /// The object after the change, with marks; it may be unknown in parts.
    pub(crate) after: Value,
    pub(crate) private: Private,
    pub(crate) identity: Option<Value>,
    pub(crate) required_replace: Vec<Path>,
    pub(crate) reason: Option<Reason>,
}

/// The inputs of planning a change.
pub(crate) struct ChangeRequest<'t> {
    pub(crate) prior: Option<&'t Prior>,
    /// The evaluated configuration, with marks except ephemeral ones.
    pub(crate) config: &'t Value,
    /// True if the object is replaced even if nothing forces it.
    pub(crate) replace: bool,
}

/// A checked answer of the provider.
struct Answer {
    planned: Value,
    requires_replace: Vec<Path>,
    private: Private,
    identity: Option<Value>,
    legacy: bool,
}

impl Walk<'_> {
    /// Plans the creation, update or replacement of an object.
    pub(crate) async fn plan_change(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
        request: ChangeRequest<'_>,
    ) -> Result<ChangePlan, Failed> {
        let validate = ValidateRequest {
            type_name: subject.type_name(),
            config: request.config.without_all_marks(),
        };
        let found = provider.validate_resource_config(validate).await;
        self.report_provider(found, subject.place(), Some(&subject.text))?;

        // A tainted object is planned as if it did not exist. Values keep their marks, so that no message quotes a
        // secret; requests and results have none.
        let prior = request.prior.filter(|it| !it.tainted);
        let prior_value =
            prior.map_or_else(|| Value::null(subject.ty().clone()), |it| it.value.clone());
        let ignored = self.ignored(subject).filter(|_| prior.is_some());
        let block = subject.schema.block();
        let followed = self.followed(subject, prior, request.config);
        let (private, identity) =
            prior.map_or_else(Default::default, |it| (it.private.clone(), it.identity.clone()));
        let first =
            self.ask_plan(subject, provider, &prior_value, &followed, private, identity).await?;
        let first = self.check_plan(subject, &prior_value, &followed, first)?;
        let prior_value = prior_value.without_all_marks();
        let planned = match &ignored {
            // Providers with the legacy type system may plan changes where none are configured.
            Some(ignored) if first.legacy => {
                objchange::ignore_changes(&prior_value, &first.planned, None, ignored)
            }
            _ => first.planned.clone(),
        };
        let replace =
            objchange::replace_paths(block, &prior_value, &planned, &first.requires_replace);
        self.check_replace_paths(subject, &replace)?;
        let unchanged = prior.is_some() && planned.equals(&prior_value).as_bool() == Some(true);
        if let Some(prior) =
            prior.filter(|_| !unchanged && !request.replace && !replace.has_write_only)
            && let Some(kept) =
                self.unchanged_but_for_the_plan(subject, provider, prior, &followed).await
        {
            let answer = self.conforming_plan(subject, kept)?;
            let paths = Vec::new();
            let change = Change {
                subject,
                request: &request,
                followed: &followed,
                unchanged: true,
                paths,
                forced_by_write_only: false,
                answer,
            };
            return self.decide(provider, change).await;
        }
        let change = Change {
            subject,
            request: &request,
            followed: &followed,
            unchanged,
            paths: replace.changed,
            forced_by_write_only: replace.has_write_only,
            answer: Answer { planned, ..first },
        };
        self.decide(provider, change).await
    }

    fn check_replace_paths(&self, subject: &Subject, replace: &ReplacePaths) -> Result<(), Failed> {
        for path in &replace.nonexistent {
            let detail = format!(
                "Provider {} has indicated \"requires replacement\" on {} for a non-existent attribute path ",
                subject.provider.source.for_display(),
                subject.text
            );
            self.report_provider_bug_quoting(
                &subject.text,
                Summary::INVALID_PLAN,
                &detail,
                &path.to_string(),
            );
        }
        if replace.nonexistent.is_empty() { Ok(()) } else { Err(Failed) }
    }

    /// Chooses the action, asks the provider again if the object is replaced, and restores the marks.
    async fn decide(
        &self,
        provider: &dyn Provider,
        change: Change<'_>,
    ) -> Result<ChangePlan, Failed> {
        let Change { subject, request, unchanged, paths, forced_by_write_only, answer, .. } =
            change;
        let before = before(request.prior);
        let planned = decision::Planned {
            is_unchanged: unchanged,
            forces_replacement: !paths.is_empty(),
            write_only_forces: forced_by_write_only,
        };
        let Decision { action, reason } = decision::decide(before, planned, request.replace);
        let mut answer = answer;
        if action == Action::DeleteThenCreate && before == Before::Ready {
            let null = Value::null(subject.ty().clone());
            let private = answer.private.clone();
            let again =
                self.ask_plan(subject, provider, &null, request.config, private, None).await?;
            let again = self.conforming_plan(subject, again)?;
            answer = Answer { requires_replace: answer.requires_replace, ..again };
        }
        let before =
            request.prior.map_or_else(|| Value::null(subject.ty().clone()), |it| it.value.clone());
        // A new object follows the whole configuration, also what `ignore_changes` excludes.
        let marked_by = match action {
            Action::DeleteThenCreate => request.config,
            _ => change.followed,
        };
        let after = self.planned_marks(subject, marked_by, &answer.planned);
        let action = match action {
            // Only the sensitive marks of the object change: the state must record them, but the provider has
            // nothing to do.
            Action::NoOp if sensitive_paths(&before) != sensitive_paths(&after) => Action::Update,
            action => action,
        };
        let keeps_old = subject.block().is_some_and(|it| it.resource().lifecycle.skip_destroy);
        let creates_first = self.creates_first(&subject.address().config());
        Ok(ChangePlan {
            before,
            after,
            private: answer.private,
            identity: answer.identity,
            required_replace: if action == Action::DeleteThenCreate { paths } else { Vec::new() },
            action: match () {
                () if keeps_old => decision::forgetting(action),
                () if creates_first => decision::creating_first(action),
                () => action,
            },
            reason,
        })
    }

    async fn ask_plan(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
        prior: &Value,
        config: &Value,
        prior_private: Private,
        prior_identity: Option<Value>,
    ) -> Result<PlanResourceChangeResponse, Failed> {
        let (prior, config) = (prior.without_all_marks(), config.without_all_marks());
        let proposed = objchange::proposed_new(subject.schema.block(), &prior, &config);
        let request = PlanResourceChangeRequest {
            type_name: subject.type_name(),
            prior_state: prior,
            proposed_new_state: provider::null_write_only(&proposed, subject.schema.block()),
            config,
            prior_private,
            provider_meta: subject.provider_meta.clone(),
            prior_identity,
        };
        let mut response = provider.plan_resource_change(request).await;
        let found = std::mem::take(&mut response.diagnostics);
        self.report_provider(found, subject.place(), Some(&subject.text))?;
        Ok(response)
    }

    fn conforming_plan(
        &self,
        subject: &Subject,
        response: PlanResourceChangeResponse,
    ) -> Result<Answer, Failed> {
        let planned = self.checked_object(subject, response.planned_state, "while planning")?;
        let Some(planned) = planned else {
            let detail = format!(
                "Provider {} planned no object for {}, though the configuration wants one",
                subject.provider.source.for_display(),
                subject.text
            );
            self.report_provider_bug_quoting(&subject.text, Summary::INVALID_PLAN, &detail, "");
            return Err(Failed);
        };
        let beside = SideData {
            private: &response.planned_private,
            identity: response.planned_identity.as_ref(),
        };
        self.refuse_repeated(subject, &planned, &beside)?;
        Ok(Answer {
            planned,
            requires_replace: response.requires_replace,
            private: response.planned_private,
            identity: response.planned_identity,
            legacy: response.legacy_type_system,
        })
    }

    fn check_plan(
        &self,
        subject: &Subject,
        prior: &Value,
        config: &Value,
        response: PlanResourceChangeResponse,
    ) -> Result<Answer, Failed> {
        let answer = self.conforming_plan(subject, response)?;
        let violations =
            objchange::plan_valid(subject.schema.block(), prior, config, &answer.planned);
        if violations.is_empty() || answer.legacy {
            return Ok(answer);
        }
        for violation in violations {
            let detail = format!(
                "Provider {} planned an invalid value for {}",
                subject.provider.source.for_display(),
                subject.text,
            );
            self.report_provider_bug_quoting(
                &subject.text,
                Summary::INVALID_PLAN,
                &detail,
                &format!("{}: {}", violation.path, violation.message),
            );
        }
        Err(Failed)
    }

    /// The configuration with the parts that `ignore_changes` excludes replaced by those of the prior object, with
    /// their marks.
    pub(crate) fn followed(
        &self,
        subject: &Subject,
        prior: Option<&Prior>,
        config: &Value,
    ) -> Value {
        match (prior, self.ignored(subject)) {
            (Some(prior), Some(ignored)) => {
                let block = Some(subject.schema.block());
                objchange::ignore_changes(&prior.value, config, block, &ignored)
            }
            _ => config.clone(),
        }
    }

    fn ignored(&self, subject: &Subject) -> Option<objchange::IgnoreChanges> {
        match &subject.entry.as_ref()?.resource().lifecycle.ignore_changes {
            item::IgnoreChanges::None => None,
            item::IgnoreChanges::All => Some(objchange::IgnoreChanges::All),
            item::IgnoreChanges::Paths(paths) => Some(objchange::IgnoreChanges::Paths(
                paths.iter().map(|(path, _)| path.0.clone()).collect(),
            )),
        }
    }

    /// Adds the marks of the configuration and of the schema to a planned value.
    fn planned_marks(&self, subject: &Subject, config: &Value, planned: &Value) -> Value {
        let marked = self.marked(subject, planned);
        if !config.is_marked_deep() {
            return marked;
        }
        let found = config
            .without_deep(MarkKind::Deprecated)
            .without_deep(MarkKind::Ephemeral)
            .path_marks();
        marked.with_path_marks(&found)
    }
}

fn before(prior: Option<&Prior>) -> Before {
    match prior {
        None => Before::Absent,
        Some(prior) if prior.tainted => Before::Tainted,
        Some(_) => Before::Ready,
    }
}

/// A first answer, with the facts that decide about the action.
struct Change<'t> {
    subject: &'t Subject,
    request: &'t ChangeRequest<'t>,
    /// The configuration with the ignored parts replaced by those of the prior object, with their marks.
    followed: &'t Value,
    /// True if the object would stay as it is.
    unchanged: bool,
    /// Paths whose change requires a replacement.
    paths: Vec<Path>,
    /// True if a write-only attribute requires a replacement although the values of the object are equal.
    forced_by_write_only: bool,
    answer: Answer,
}

fn sensitive_paths(value: &Value) -> Vec<String> {
    let found = value.path_marks();
    let sensitive =
        found.iter().filter(|(_, marks): &&(Path, Marks)| marks.has(MarkKind::Sensitive));
    let mut paths: Vec<String> = sensitive.map(|(path, _)| path.to_string()).collect();
    sorted::sort(&mut paths);
    paths
}
