//! Destruction of one instance.

use std::sync::Arc;

use addr::ResourceInstance;
use provider::{ApplyResourceChangeRequest, Private, Provider};
use state::{Action, ObjectAddress, ResourceChange, Status, journal::IntentAction};
use values::Value;

use crate::{
    event::ApplyAction,
    graph::{ModuleIx, NodeIx, NodeKind},
    journal::Number,
    resource::{
        objects::{find_entry, find_module},
        subject::{Subject, object_id},
    },
    runs::applying::Applying,
    schedule::Failed,
    walk::outcome::ProviderInstance,
};

impl Applying<'_> {
    /// Destroys or forgets the object of a destroy node, a current or a deposed one.
    pub(crate) async fn destroy_instance(&self, node: NodeIx) -> Result<(), Failed> {
        let NodeKind::Destroy { index } = self.nodes.kind(node) else {
            return Err(Failed);
        };
        let ordered = self.destroyed(index);
        let entry = find_entry(self, &ordered.addr);
        let module = find_module(self, &ordered.addr.module).unwrap_or(ModuleIx(0));
        let deposed = match ordered.change.action {
            // Without a new object, the old one stays.
            Action::CreateThenDelete => Some(self.replaced(&ordered.addr).ok_or(Failed)?),
            _ if ordered.deposed.is_some() && self.lacks_new_object(&ordered.addr) => {
                return Err(Failed);
            }
            _ => ordered.deposed,
        };
        let object = ObjectAddress { instance: ordered.addr.clone(), deposed };
        let key = ordered.provider.key.clone();
        let provider = ProviderInstance { node: self.provider_node(node).ok_or(Failed)?, key };
        let subject = self.subject_at(node, object, &provider, entry, module)?;
        let opened = self.nodes.facts(node, |it| it.opened.clone());
        self.freshen(&opened).await?;
        let Some(object) = self.object(&subject) else { return Ok(()) };
        if ordered.change.action == Action::Forget {
            return self.forget(&subject).await;
        }
        let value = self.object_value(&subject, &object)?;
        let provider = self.provider_for(&subject).await?;

        let action = ApplyAction::Delete;
        let id = object_id(&value);
        let begun = self.apply_start(&subject, action, id.clone());
        // Provisioners ran, or were to run, for the object that replaced a deposed one.
        if object.status != Status::Tainted
            && !subject.is_deposed()
            && let Err(Failed) = self.provision_destroyed(&subject, &value).await
        {
            self.apply_end(&subject, action, begun, None);
            return Err(Failed);
        }
        let null = Value::null(subject.ty().clone());
        let Ok(planned_private) = self.private_of_end(&subject, &*provider, ordered).await else {
            self.apply_end(&subject, action, begun, None);
            return Err(Failed);
        };
        let Ok(intent) = self.intend(&subject, IntentAction::Delete, &value).await else {
            self.apply_end(&subject, action, begun, None);
            return Err(Failed);
        };
        let request = ApplyResourceChangeRequest {
            type_name: subject.type_name(),
            prior_state: value.without_all_marks(),
            planned_state: null.clone(),
            config: null.clone(),
            planned_private,
            provider_meta: subject.provider_meta.clone(),
            planned_identity: None,
        };
        let response = self.apply_call(&subject, &*provider, request, action, id, begun).await;
        let applied = self.check_applied(&subject, response, None);
        let result = self.keep_destroyed(&subject, &object, applied, intent).await;
        // A destroyed object has no identifier.
        self.apply_end(&subject, action, begun, result.is_ok().then_some(&null));
        if result.is_ok() {
            self.report.count(|counts| counts.destroy += 1);
        }
        result
    }

    /// Returns true if the plan creates an object of the instance, and the creation failed.
    fn lacks_new_object(&self, address: &ResourceInstance) -> bool {
        match self.planned.change(address).map(|it| it.change.action) {
            Some(Action::CreateThenDelete) => self.replaced(address).is_none(),
            Some(action) if action.is_creation() => {
                let object = ObjectAddress { instance: address.clone(), deposed: None };
                self.state.object(&object).is_none_or(|it| it.status == Status::Tainted)
            }
            _ => false,
        }
    }

    /// Removes the object from the state and leaves it as it is.
    pub(crate) async fn forget(&self, subject: &Subject) -> Result<(), Failed> {
        self.save(subject, None, None).await?;
        self.report.count(|counts| counts.forget += 1);
        Ok(())
    }

    /// The private data for the destruction of an object. That of the planned change belongs to the destruction or, in
    /// a replacement, to the new object. The destruction of an object that was deposed in this run is planned now.
    async fn private_of_end(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
        ordered: &ResourceChange,
    ) -> Result<Private, Failed> {
        let Some(prior) = self.present(subject)? else { return Err(Failed) };
        match ordered.change.action {
            Action::Delete => Ok(Private::new(Arc::clone(&ordered.private))),
            Action::CreateThenDelete => self.plan_destroy(subject, provider, &prior).await,
            _ => Ok(prior.private),
        }
    }

    async fn keep_destroyed(
        &self,
        subject: &Subject,
        object: &state::Object,
        applied: super::apply::Applied,
        intent: Option<Number>,
    ) -> Result<(), Failed> {
        match (applied.value, applied.failed) {
            (None, false) => self.save(subject, None, intent).await,
            (None, true) => Err(Failed),
            (Some(left), _) => {
                // A part of the object is left, and the state must record it.
                let left = self.marked(subject, &left);
                let kept =
                    state::Object { private: applied.private.as_bytes().into(), ..object.clone() };
                let kept = self.encode(subject, &left, kept)?;
                self.save(subject, Some(Arc::new(kept)), intent).await?;
                Err(Failed)
            }
        }
    }
}
