//! Provider configurations, evaluated only when a node needs them.

use std::{rc::Rc, sync::Arc};

use addr::{InstanceKey, ProviderSource};
use db::{Diagnostic, Summary};
use hir::Entry;
use provider::Block;
use values::{Kind, Str, Value, ValueMap};

use crate::{
    ephemeral::{Open, OpenIx},
    graph::{ModuleIx, NodeIx},
    memo::{NodeKey, NodeName},
    pool::SlotIx,
    schedule::Failed,
    walk::{
        context::Walk,
        instances::Each,
        modules::ModuleRun,
        outcome::{Facts, Outcome, ProviderSlots},
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
            return self.run_mock_provider(node, index, module, entry);
        }
        let Some(source) = self.provider_source(module, &config.local_name) else {
            return Turn::Failed;
        };
        let Ok(schema) = self.provider_schema(&source, Some(entry)) else { return Turn::Failed };
        let name = NodeName::Provider(config.local_name.clone(), config.alias.clone());
        let key = NodeKey { module: module.address.clone(), node: name.clone() };
        let turn = self.remembered(node, module, name, &entry.item, &[], || {
            self.configurations(index, entry, schema.block())
        });
        if !matches!(turn, Turn::Done { .. }) {
            return turn;
        }
        match self.nodes.value(node) {
            Some(value) => {
                // The value may be memoized from an earlier run, after which the redactor forgot its secrets.
                self.environment.redactor.learn(&value);
                let slots = self.place_all(node, &source, &value, entry);
                self.pool.remember_block(key, source, &slots);
            }
            // The value is not memoized, but processes with this configuration may have been kept.
            None => {
                if let Some(slots) = self.pool.kept_slots(&key) {
                    self.set_outcome(node, Outcome::Provider(Rc::new(slots)));
                }
            }
        }
        // The resources from which the configuration was made stay open as long as the provider is used, because a
        // process may have to be started at any time until then.
        let opened = self.needed_by_provider(node);
        self.nodes.facts(node, |it| it.opened = opened);
        Turn::Done { keeps: true }
    }

    /// Evaluates the configuration of a provider. With `for_each`, the result is an object with the configuration of
    /// each instance.
    fn configurations(
        &self,
        index: ModuleIx,
        entry: &Entry,
        schema: &Block,
    ) -> Result<Value, Failed> {
        let config = entry.provider_config();
        let decode = |each: Option<&Each>| {
            let scope = EngineScope::new(self, index, each);
            self.decode(&scope, entry, &config.body, entry.item.header, schema, None)
        };
        if config.for_each.is_none() {
            return decode(None);
        }
        let mut configurations = ValueMap::new();
        for each in self.provider_instances(index, entry)? {
            if let InstanceKey::String(key) = &each.key {
                configurations.insert(Str::from(key.as_str()), decode(Some(&each))?);
            }
        }
        Ok(Value::object(configurations))
    }

    /// Assigns a process slot to each instance of a provider block, of which `value` is the evaluated configuration.
    fn place_all(
        &self,
        node: NodeIx,
        source: &ProviderSource,
        value: &Value,
        entry: &Entry,
    ) -> Rc<ProviderSlots> {
        let opened = self.nodes.inherited(node).opened;
        let place = |config: &Value| {
            let slot = self.place(source.clone(), config, Some(entry));
            self.pool.feed(slot, opened.iter().map(|open| self.store.get(*open)).collect());
            slot
        };
        let slots = match (entry.provider_config().for_each, value.kind()) {
            (Some(_), Kind::Object(configurations)) => {
                let instances = configurations.iter();
                instances.map(|(key, it)| (InstanceKey::string(&**key), place(it))).collect()
            }
            _ => ProviderSlots::from([(InstanceKey::None, place(value))]),
        };
        self.set_slots(node, slots)
    }

    fn set_slots(&self, node: NodeIx, slots: ProviderSlots) -> Rc<ProviderSlots> {
        let slots = Rc::new(slots);
        self.set_outcome(node, Outcome::Provider(Rc::clone(&slots)));
        self.reuse.add_unkept(node);
        slots
    }

    /// Runs a turn of a provider configuration that a test mocks. The provider validates and upgrades objects, but
    /// is never configured.
    fn run_mock_provider(
        &self,
        node: NodeIx,
        index: ModuleIx,
        module: &ModuleRun,
        entry: &Entry,
    ) -> Turn {
        let config = entry.provider_config();
        let Some(source) = self.provider_source(module, &config.local_name) else {
            return Turn::Failed;
        };
        let Ok(instances) = self.provider_instances(index, entry) else { return Turn::Failed };
        let alias = config.alias.as_deref().unwrap_or_default();
        let mut slots = ProviderSlots::new();
        let mut names = Vec::new();
        for Each { key, .. } in instances {
            let name = Value::string(format!("mock {}.{alias}{key}", config.local_name));
            let digest = self.reuse.memo(|memo| memo.value_digest(&name));
            names.push(name);
            slots.insert(key, self.pool.mock_slot(source.clone(), digest));
        }
        let version = self.reuse.memo(|memo| memo.version_of_value(&Value::tuple(names)));
        self.set_outcome(node, Outcome::Provider(Rc::new(slots)));
        self.nodes.facts(node, |it| *it = Facts { version, ..Facts::default() });
        Turn::Done { keeps: true }
    }

    /// Returns the ephemeral resources that must be open while a provider is used: those from which its
    /// configuration was made, in this run and in the run that started the process.
    fn needed_by_provider(&self, node: NodeIx) -> Rc<[OpenIx]> {
        let here = self.nodes.inherited(node).opened;
        let Some(slots) = self.nodes.slots(node) else { return here };
        let before = slots.values().flat_map(|slot| self.pool.get(*slot).fed_by());
        let before: Vec<Rc<Open>> = before.collect();
        let before = before.iter().filter_map(|open| self.store.index_of(open));
        let mut all: Vec<OpenIx> = here.iter().copied().chain(before).collect();
        sorted::sort(&mut all);
        all.dedup();
        all.into()
    }

    /// Runs a turn of a provider without a `provider` block.
    pub(crate) fn run_implicit_provider(&self, node: NodeIx, index: u32) -> Turn {
        let source = self.modules.implicit_provider(index);
        let Ok(schema) = self.provider_schema(&source, None) else { return Turn::Failed };
        let value = schema.block().empty_value();
        let version = self.reuse.memo(|memo| memo.version_of_value(&value));
        let slot = self.place(source, &value, None);
        self.set_slots(node, ProviderSlots::from([(InstanceKey::None, slot)]));
        self.nodes.facts(node, |it| *it = Facts { version, ..Facts::default() });
        Turn::Done { keeps: false }
    }

    fn place(&self, source: ProviderSource, config: &Value, entry: Option<&Entry>) -> SlotIx {
        let plain = config.without_all_marks();
        let digest = self.reuse.memo(|memo| memo.value_digest(&plain));
        self.pool.slot(source, digest, plain, entry.cloned())
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
