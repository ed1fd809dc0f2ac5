//! The provider configuration that answers a call of a function in a run.

use std::rc::Rc;

use hir::provider_function::Name;
use values::Str;

use crate::{
    function_calls::Answerer,
    walk::{context::Walk, modules::ModuleRun},
};

impl Walk<'_> {
    /// The provider configuration that a call of a function names in a module.
    pub(crate) fn answerer(&self, module: &Rc<ModuleRun>, name: Name<'_>) -> Answerer {
        let alias = name.alias.map(Str::from);
        let found = self.find_provider(module, &name.provider.into(), alias.as_ref());
        let Some(instance) = found else { return Answerer::Absent };
        let config = self.provider_ref_of(&instance);
        let Some(slots) = self.nodes.slots(instance.node) else {
            let detail = format!(
                "The function \"{}\" needs the provider configuration {config}, which this run does not \
                 initialize. Store the result in an attribute of the object instead, and read that.",
                name.function
            );
            return Answerer::Unusable(detail);
        };
        match slots.get(&instance.key) {
            Some(slot) if self.pool.get(*slot).is_known() => Answerer::Configured(*slot),
            Some(_) => Answerer::Later,
            None => Answerer::Unusable(format!(
                "The provider configuration {config} has for_each, and a call of a function cannot choose one of \
                 its instances. Pass one instance to a module in its \"providers\" argument, and call the function \
                 \"{}\" there.",
                name.function
            )),
        }
    }
}
