//! Imports to resources without a block: the configuration is generated from the object.

use std::{rc::Rc, sync::Arc};

use addr::{InstanceKey, ModuleInstance};
use db::{Diagnostic, Summary};
use hir::{
    Item, eval,
    generated_config::{GeneratedConfig, resource_block},
    lower::lower_text,
};
use provider::Provider;
use state::{Action, ResourceChange};
use values::Value;

use crate::{
    graph::{ModuleIx, NodeIx, template::Declared},
    imports::WantedImport,
    memo::Planned,
    resource::{
        change::{ChangePlan, ChangeRequest},
        prior::Prior,
        subject::Subject,
    },
    runs::planning::Planning,
    schedule::Failed,
    walk::{outcome::ProviderInstance, scope::EngineScope},
};

impl Planning<'_> {
    /// Imports the object of an `import` block to a resource without a block, generates the block, and plans the
    /// object with it.
    pub(crate) async fn plan_generated(&self, node: NodeIx) -> Result<(), Failed> {
        let (subject, wanted) = self.generated_subject(node)?;
        let opened = self.nodes.facts(node, |it| it.opened.clone());
        self.freshen(&opened).await?;
        let provider = self.provider(&subject.provider_instance()).await?;
        let prior = self.imported(&subject, &*provider, &wanted, None).await?;
        let GeneratedConfig { text, skipped } = self.generated_config(&subject, &wanted, &prior);
        for name in skipped {
            let detail = format!(
                "The argument {name} of {} could not be written. The next plan reports it if it is \
                 missing.",
                subject.text
            );
            self.report_about(&subject.text, Summary::SKIPPED_GENERATION, detail);
        }
        let config = self.answered(|| self.evaluate_generated(&subject, &text)).await;
        let planned = match config {
            Ok(config) => self.plan_with_generated(&subject, &*provider, &prior, &config).await,
            Err(failed) => Err(failed),
        };
        let has_failed = planned.is_err();
        // The text is written even if the plan failed, so that it can be corrected.
        let plan = planned.unwrap_or_else(|_| unchanged(&prior));
        let value = plan.after.clone();
        let mut change = self.resource_change(&subject, &plan);
        change.change.importing = (!has_failed).then(|| Box::new(wanted.importing.clone()));
        change.change.generated_config = text;
        self.finish_generated(&subject, change, value);
        if has_failed { Err(Failed) } else { Ok(()) }
    }

    fn finish_generated(&self, subject: &Subject, change: ResourceChange, value: Value) {
        let planned = Planned {
            change: Some(Arc::new(change)),
            drift: None,
            refreshed: self.object(subject),
            value,
        };
        self.record_change(subject, &planned);
    }

    fn generated_subject(&self, node: NodeIx) -> Result<(Subject, Rc<WantedImport>), Failed> {
        let Some((_, module, local)) = self.declared(node) else { return Err(Failed) };
        let Declared::Import(entry) = &module.template.nodes[local as usize] else {
            return Err(Failed);
        };
        let import = entry.item.kind.as_import().ok_or(Failed)?;
        let address = import.to.resource.clone().in_module(ModuleInstance::root());
        let address = address.instance(InstanceKey::None);
        let wanted = self.import_to(&address).ok_or(Failed)?;
        let provider_node = self.provider_node(node).ok_or(Failed)?;
        let chosen = import.provider.as_ref().and_then(|(it, _)| it.key);
        let key = chosen.map(|key| self.provider_key(ModuleIx(0), entry, key, None, None));
        let key = key.transpose()?.unwrap_or(InstanceKey::None);
        let provider = ProviderInstance { node: provider_node, key };
        let subject = self.subject_at(node, address.into(), &provider, None, ModuleIx(0))?;
        Ok((subject, wanted))
    }

    fn generated_config(
        &self,
        subject: &Subject,
        wanted: &WantedImport,
        prior: &Prior,
    ) -> GeneratedConfig {
        let import = wanted.block.item.kind.as_import();
        let chosen = import.and_then(|it| it.provider.as_ref());
        let provider = chosen.map(|(it, _)| match &it.alias {
            Some(alias) => format!("{}.{alias}", it.local_name),
            None => it.local_name.to_string(),
        });
        let resource = &subject.address().resource;
        let object = prior.value.without_all_marks();
        resource_block(resource, provider.as_deref(), subject.schema.block(), &object)
    }

    /// Evaluates a generated block, as the next plan will do.
    fn evaluate_generated(&self, subject: &Subject, text: &str) -> Result<Value, Failed> {
        let lowered = lower_text(text, "generated.tf");
        let resource = lowered.items.first().and_then(|it| it.kind.as_resource().map(|_| it));
        let Some(item) = resource.filter(|_| lowered.problems.is_empty()) else {
            let detail = format!(
                "The configuration that was generated for {} is invalid. This is a defect of Mayfly; \
                 please report it.",
                subject.text
            );
            self.report_about(&subject.text, Summary::INTERNAL_ERROR, detail);
            return Err(Failed);
        };
        self.decode_generated(subject, item)
    }

    fn decode_generated(&self, subject: &Subject, item: &Item) -> Result<Value, Failed> {
        let Some(resource) = item.kind.as_resource() else { return Err(Failed) };
        let scope = EngineScope::new(self, ModuleIx(0), None);
        let block = subject.schema.block();
        let decoded = eval::decode_body(&item.exprs, &resource.body, item.header, block, &scope);
        let decoded = decoded.map_err(|_| Failed)?;
        let has_errors = decoded.has_errors();
        for it in decoded.diagnostics {
            let detail = format!("{} (in the configuration that was generated)", it.detail);
            self.report(Diagnostic::new(it.summary, detail).with_address(&*subject.text));
        }
        if has_errors { Err(Failed) } else { Ok(decoded.value) }
    }

    async fn plan_with_generated(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
        prior: &Prior,
        config: &Value,
    ) -> Result<ChangePlan, Failed> {
        let request = ChangeRequest { prior: Some(prior), config, replace: false };
        let plan = self.plan_change(subject, provider, request).await?;
        self.rewrite_dependencies(subject, Some(prior), plan.action);
        Ok(plan)
    }
}

/// The plan to leave an object as it is.
fn unchanged(prior: &Prior) -> ChangePlan {
    ChangePlan {
        action: Action::NoOp,
        before: prior.value.clone(),
        after: prior.value.clone(),
        private: prior.private.clone(),
        identity: prior.identity.clone(),
        required_replace: Vec::new(),
        reason: None,
    }
}
