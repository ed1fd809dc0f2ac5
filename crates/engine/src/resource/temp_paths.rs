//! Objects that change only because the temporary directory of the plan has another path.
//!
//! A path below `path.temp` is different in each plan, though it refers to the same file. If the provider, given
//! the path of the earlier plan, would leave the object unchanged, and no expression reads that path, then the
//! object stays unchanged, with the old path in the state. Otherwise, every plan would change such an object. A
//! path that an expression reads must be that of an existing file, so it is updated. A file that a provisioner may
//! have written must be written again.

use hir::Module;
use provider::{PlanResourceChangeRequest, PlanResourceChangeResponse, Provider, objchange};
use values::Value;

use crate::{
    resource::{prior::Prior, subject::Subject},
    walk::context::Walk,
};

impl Walk<'_> {
    /// The provider's plan for a configuration with the paths of earlier plans, if that plan changes nothing.
    /// `None` if the object must be planned with the new paths.
    pub(super) async fn unchanged_but_for_the_plan(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
        prior: &Prior,
        config: &Value,
    ) -> Option<PlanResourceChangeResponse> {
        let before = prior.value.without_all_marks();
        let (config, paths) =
            self.settings.temp.with_earlier_paths(&before, &config.without_all_marks());
        let provisions =
            subject.entry.as_ref().is_some_and(|it| !it.resource().provisioners.is_empty());
        if paths.is_empty() || provisions || self.is_earlier_path_read(subject, &before) {
            return None;
        }
        let proposed = objchange::proposed_new(subject.schema.block(), &before, &config);
        let request = PlanResourceChangeRequest {
            type_name: subject.type_name(),
            prior_state: before.clone(),
            proposed_new_state: provider::null_write_only(&proposed, subject.schema.block()),
            config,
            prior_private: prior.private.clone(),
            provider_meta: subject.provider_meta.clone(),
            prior_identity: prior.identity.clone(),
        };
        // A provider that needs the file of the earlier plan reports an error, and then receives the new path.
        let response = provider.plan_resource_change(request).await;
        let has_errors = response.diagnostics.iter().any(provider::ProviderDiagnostic::is_error);
        let is_same = |planned: &Value| planned.equals(&before).as_bool() == Some(true);
        (!has_errors && response.planned_state.as_ref().is_some_and(is_same)).then_some(response)
    }

    /// Returns true if an expression reads an attribute of the object that contains a path of an earlier plan: the
    /// configured attribute, or one that the provider derived from it.
    fn is_earlier_path_read(&self, subject: &Subject, before: &Value) -> bool {
        let module = self.walk_module(subject);
        let reads = self.modules.reads(module);
        let prefix = self.settings.temp.all_plans();
        let mut attributes = before.as_map().into_iter().flatten();
        attributes.any(|(name, value)| {
            value.has_text(&prefix) && reads.reach(&subject.address().resource, name)
        })
    }

    fn walk_module(&self, subject: &Subject) -> &Module {
        self.config.program.module(self.module(subject.module).id())
    }
}
