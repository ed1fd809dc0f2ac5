//! The import of an object: the `import` block, and what its ID is made from.

use addr::{InstanceKey, ModuleInstance, ModuleStep, ResourceInstance};
use engine::instance_key;
use hir::{
    Entry, ExprId,
    item::{Import, Repetition},
};
use sorted::TreeMap;
use state::Importing;
use values::go_quoted;

use crate::{
    analysis::{Analysis, ModulePair},
    finding::{Fact, Finding},
    search::{Collected, Interest, Search, Site},
};

/// For each address that an `import` block imports to, the block and the key of its element.
pub(crate) struct ImportSites<'a>(TreeMap<ResourceInstance, ImportSite<'a>>);

#[derive(Clone)]
struct ImportSite<'a> {
    block: &'a Entry,
    element: InstanceKey,
}

impl<'a> ImportSites<'a> {
    /// Evaluates the targets of all elements once.
    pub(crate) fn of(analysis: &Analysis<'a>) -> ImportSites<'a> {
        let mut sites = TreeMap::new();
        let Some(root) = analysis.module(&ModuleInstance::root()) else {
            return ImportSites(sites);
        };
        for &block in analysis.blocks().imports() {
            let Some(import) = block.item.kind.as_import() else { continue };
            for element in elements(&root, block) {
                if let Some(address) = target(&root, block, import, &element) {
                    sites.entry(address).or_insert(ImportSite { block, element });
                }
            }
        }
        ImportSites(sites)
    }
}

/// The keys of the elements of an `import` block.
fn elements(root: &ModulePair<'_>, block: &Entry) -> Vec<InstanceKey> {
    let Repetition::ForEach(expr) = block.item.repetition() else { return vec![InstanceKey::None] };
    let all = root.after.evaluate(&block.item, expr, &InstanceKey::None);
    all.elements().filter_map(|(key, _)| instance_key(&key).ok()).collect()
}

/// The address that an element imports to. `None` if a key is not known.
fn target(
    root: &ModulePair<'_>,
    block: &Entry,
    import: &Import,
    element: &InstanceKey,
) -> Option<ResourceInstance> {
    let key = |expr: Option<ExprId>| match expr {
        None => Some(InstanceKey::None),
        Some(expr) => instance_key(&root.after.evaluate(&block.item, expr, element)).ok(),
    };
    let names = import.to.module.names().iter().zip(&import.to.module_keys);
    let steps = names.map(|(name, expr)| Some(ModuleStep { name: name.clone(), key: key(*expr)? }));
    let module = ModuleInstance::new(steps.collect::<Option<Vec<_>>>()?);
    let resource = import.to.resource.clone();
    Some(ResourceInstance { module, resource, key: key(import.to.key)? })
}

impl<'a> Search<'_, 'a> {
    /// The finding about the import of an object.
    pub(super) fn of_import(
        &mut self,
        address: &ResourceInstance,
        importing: &Importing,
    ) -> Finding {
        let id = match importing {
            Importing::Id(id) => Some(go_quoted(id)),
            Importing::Identity(_) => None,
        };
        let site = self.analysis.import_sites().0.get(address).cloned();
        let place = site.as_ref().and_then(|it| self.header(it.block));
        let finding = Finding::root(address.to_string(), Fact::Imported { id }, place);
        match site {
            Some(site) => finding.because_of(self.of_import_id(site)),
            None => finding,
        }
    }

    fn of_import_id(&mut self, ImportSite { block, element }: ImportSite<'a>) -> Collected {
        let mut causes = Collected::default();
        let module = self.analysis.module(&ModuleInstance::root());
        let Some((module, import)) = module.zip(block.item.kind.as_import()) else {
            return causes;
        };
        let site = Site { module, entry: block, key: element };
        for expr in import.id.iter().chain(&import.identity) {
            causes.add(self.of_expr(&site, *expr, &[], Interest::Made));
        }
        causes
    }
}
