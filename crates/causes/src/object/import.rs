//! The import of an object: the `import` block, and what its ID is made from.

use std::rc::Rc;

use addr::{InstanceKey, ModuleInstance, ResourceInstance};
use hir::{
    Entry, ExprId,
    item::{Import, Repetition},
};
use state::Importing;
use values::{Value, go_quoted};

use crate::{
    analysis::ModulePair,
    finding::{Fact, Finding},
    search::{Collected, Interest, Search, Site},
};

/// The most elements of a `for_each` that are compared with an address.
const MOST_ELEMENTS: usize = 1000;

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
        let blocks = || self.analysis.blocks().imports(address);
        let site = blocks().find_map(|it| self.import_site(it, address));
        let block = site.as_ref().map(|it| it.entry).or_else(|| blocks().next());
        let place = block.and_then(|it| self.header(it));
        let finding = Finding::root(address.to_string(), Fact::Imported { id }, place);
        match site {
            Some(site) => finding.because_of(self.of_import_id(&site)),
            None => finding,
        }
    }

    fn of_import_id(&mut self, site: &Site<'a>) -> Collected {
        let Some(import) = site.entry.item.kind.as_import() else { return Collected::default() };
        let mut causes = Collected::default();
        for expr in import.id.iter().chain(&import.identity) {
            causes.add(self.of_expr(site, *expr, &[], Interest::Made));
        }
        causes
    }

    /// The element of an `import` block that imports to an address; `None` if none does.
    fn import_site(&self, entry: &'a Entry, address: &ResourceInstance) -> Option<Site<'a>> {
        let module = self.analysis.module(&ModuleInstance::root())?;
        let import = entry.item.kind.as_import()?;
        let is_it = |key: &InstanceKey| leads_to(&module, entry, import, key, address);
        let key = match entry.item.repetition() {
            Repetition::ForEach(expr) => {
                // A block mostly uses the keys of its elements for its targets.
                let own = Some(address.key.clone());
                let own = own.filter(|it| module.after.has_instance(&entry.item, it));
                let all = module.after.evaluate(&entry.item, expr, &InstanceKey::None);
                let keys = all.elements().take(MOST_ELEMENTS).filter_map(|(key, value)| {
                    Some(InstanceKey::string(key.as_str().or(value.as_str())?))
                });
                own.into_iter().chain(keys).find(is_it)?
            }
            _ => Some(InstanceKey::None).filter(is_it)?,
        };
        Some(Site { module, entry, key })
    }
}

/// Returns true if an element of an `import` block imports to an address.
fn leads_to(
    module: &Rc<ModulePair<'_>>,
    entry: &Entry,
    import: &Import,
    element: &InstanceKey,
    address: &ResourceInstance,
) -> bool {
    let is_key = |expr: Option<ExprId>, key: &InstanceKey| match (expr, key) {
        (None, key) => key.is_none(),
        (Some(expr), key) => is_value(&module.after.evaluate(&entry.item, expr, element), key),
    };
    let steps = address.module.steps();
    let keys = import.to.module_keys.iter().zip(steps);
    is_key(import.to.key, &address.key) && keys.into_iter().all(|(it, step)| is_key(*it, &step.key))
}

fn is_value(value: &Value, key: &InstanceKey) -> bool {
    match key {
        InstanceKey::None => false,
        InstanceKey::Int(index) => value.as_number().and_then(|it| it.to_i64()) == Some(*index),
        InstanceKey::String(key) => value.as_str() == Some(key.as_str()),
    }
}
