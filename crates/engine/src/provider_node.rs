//! Provider configurations, evaluated only when a node needs them.

use std::{rc::Rc, sync::Arc};

use addr::ProviderSource;
use db::{Diagnostic, Summary};
use hir::{Entry, item::ProviderConfig};
use values::Value;

use crate::{
    ephemeral::OpenIx,
    graph::{ModuleIx, NodeIx},
    memo::{NodeKey, NodeName},
    pool::SlotIx,
    schedule::Failed,
    walk::{
        context::Walk,
        modules::ModuleRun,
        outcome::{Facts, Outcome},
        scope::EngineScope,
        turn::Turn,
    },
};

impl Walk<'_> {
    /// Runs a turn of a provider block.
    pub(crate) fn run_provider(
        &self,
        node: NodeIx,
        index: ModuleIx,
        module: &Rc<ModuleRun>,
        entry: &Entry,
    ) -> Turn {
        let config = entry.provider_config();
        if self.mock_of(module, config).is_some() {
            return self.run_mock_provider(node, module, config);
        }
        if let Some(expr) = config.for_each {
            self.report_unsupported(entry, expr.into(), "provider instances made by for_each");
            return Turn::Failed;
        }
        let Some(source) = self.provider_source(module, &config.local_name) else {
            return Turn::Failed;
        };
        let Ok(schema) = self.provider_schema(&source, Some(entry)) else { return Turn::Failed };
        let name = NodeName::Provider(config.local_name.clone(), config.alias.clone());
        let key = NodeKey { module: module.address.clone(), node: name.clone() };
        let turn = self.remembered(node, module, name, &entry.item, &[], || {
            let scope = EngineScope::new(self, index, None);
            self.decode(&scope, entry, &config.body, entry.item.header, schema.block(), None)
        });
        if !matches!(turn, Turn::Done { .. }) {
            return turn;
        }
        match self.nodes.value(node) {
            Some(value) => {
                // The value may be memoized from an earlier run, after which the redactor forgot its secrets.
                self.environment.redactor.learn(&value);
                let slot = self.place(node, source, &value, Some(entry));
                let opened = self.nodes.inherited(node).opened;
                self.pool.feed(slot, opened.iter().map(|open| self.store.get(*open)).collect());
                self.pool.remember_block(key, slot);
            }
            // The value is not memoized, but a process with this configuration may have been kept.
            None => {
                if let Some(slot) = self.pool.kept_slot(&key) {
                    self.set_outcome(node, Outcome::Provider(slot));
                }
            }
        }
        // The resources from which the configuration was made stay open as long as the provider is used, because a
        // process may have to be started at any time until then.
        let opened = self.needed_by_provider(node);
        self.nodes.facts(node, |it| it.opened = opened);
        Turn::Done { keeps: true }
    }

    /// Runs a turn of a provider configuration that a test mocks. The provider validates and upgrades objects, but
    /// is never configured.
    fn run_mock_provider(&self, node: NodeIx, module: &ModuleRun, config: &ProviderConfig) -> Turn {
        let Some(source) = self.provider_source(module, &config.local_name) else {
            return Turn::Failed;
        };
        let alias = config.alias.as_deref().unwrap_or_default();
        let name = Value::string(format!("mock {}.{alias}", config.local_name));
        let (digest, version) =
            self.reuse.memo(|memo| (memo.value_digest(&name), memo.version_of_value(&name)));
        let slot = self.pool.mock_slot(source, digest);
        self.set_outcome(node, Outcome::Provider(slot));
        self.nodes.facts(node, |it| *it = Facts { version, ..Facts::default() });
        Turn::Done { keeps: true }
    }

    /// Returns the ephemeral resources that must be open while a provider is used: those from which its
    /// configuration was made, in this run and in the run that started the process.
    fn needed_by_provider(&self, node: NodeIx) -> Rc<[OpenIx]> {
        let here = self.nodes.inherited(node).opened;
        let Some(slot) = self.nodes.slot(node) else { return here };
        let before = self.pool.get(slot).fed_by();
        let before = before.iter().filter_map(|open| self.store.index_of(open));
        let mut all: Vec<OpenIx> = here.iter().copied().chain(before).collect();
        all.sort_unstable();
        all.dedup();
        all.into()
    }

    /// Runs a turn of a provider without a `provider` block.
    pub(crate) fn run_implicit_provider(&self, node: NodeIx, index: u32) -> Turn {
        let source = self.modules.implicit_provider(index);
        let Ok(schema) = self.provider_schema(&source, None) else { return Turn::Failed };
        let value = schema.block().empty_value();
        let version = self.reuse.memo(|memo| memo.version_of_value(&value));
        self.place(node, source, &value, None);
        self.nodes.facts(node, |it| *it = Facts { version, ..Facts::default() });
        Turn::Done { keeps: false }
    }

    fn place(
        &self,
        node: NodeIx,
        source: ProviderSource,
        config: &Value,
        entry: Option<&Entry>,
    ) -> SlotIx {
        let plain = config.without_all_marks();
        let digest = self.reuse.memo(|memo| memo.value_digest(&plain));
        let slot = self.pool.slot(source, digest, plain, entry.cloned());
        self.set_outcome(node, Outcome::Provider(slot));
        self.reuse.add_unkept(node);
        slot
    }

    fn provider_schema(
        &self,
        source: &ProviderSource,
        entry: Option<&Entry>,
    ) -> Result<Arc<provider::Schema>, Failed> {
        if let Some(schemas) = self.schemas(source) {
            return Ok(Arc::clone(schemas.configuration()));
        }
        let detail = format!(
            "The schemas of the provider {source} are not available. Run \"mayfly init\" to \
             install the providers that this configuration needs."
        );
        let diagnostic = Diagnostic::new(Summary::MISSING_PROVIDER_SCHEMA, detail);
        match entry {
            Some(entry) => self.report_at(entry, entry.item.header.into(), None, diagnostic),
            None => self.report(diagnostic),
        }
        Err(Failed)
    }
}
