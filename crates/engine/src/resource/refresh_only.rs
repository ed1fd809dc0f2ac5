//! Objects in a refresh-only plan: they are read, and nothing is planned for them.

use hir::Entry;
use state::Action;
use values::Value;

use crate::{
    graph::NodeIx, resource::subject::Subject, runs::planning::Planning, schedule::Failed,
    walk::instances::Each,
};

impl Planning<'_> {
    /// Reads the object of a declared instance. References see it as it is now.
    pub(crate) async fn refresh_instance(
        &self,
        node: NodeIx,
        entry: &Entry,
        each: &Each,
    ) -> Result<(), Failed> {
        let subject = self.subject(node, entry, &each.key)?;
        let absent = Value::unknown(subject.ty().clone());
        self.nodes.change_resource(node, |it| it.absent = Some(absent.clone()));
        let found = self.read_current(&subject).await?;
        if let Some(value) = &found {
            self.set_instance(node, each, value.clone());
        }
        // Nothing is planned, so a failed precondition stops nothing.
        let (module, address) = (subject.module, subject.address());
        self.instance_conditions(module, entry, address, each, None).await?;
        let value = Some(found.unwrap_or(absent));
        self.instance_conditions(module, entry, address, each, value).await
    }

    /// Reads the current object of an instance; `None` if there is none.
    async fn read_current(&self, subject: &Subject) -> Result<Option<Value>, Failed> {
        if self.state.previous().object(&subject.object).is_none() {
            return Ok(None);
        }
        let opened = self.nodes.facts(subject.node, |it| it.opened.clone());
        self.freshen(&opened).await?;
        let provider = self.provider(&subject.provider_instance()).await?;
        let prior = self.read_prior(subject, &*provider).await?;
        // A new dependency of the block counts from now on, as after any plan that reads the object.
        self.rewrite_dependencies(subject, prior.as_ref(), Action::Update);
        Ok(prior.map(|it| it.value))
    }
}
