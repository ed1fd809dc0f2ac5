//! Sets of addresses, with questions that take no longer if there are more of them.

use addr::{
    AbsResource, ConfigResource, InstanceKey, ModuleInstance, ModulePath, ModuleStep,
    ResourceInstance, Target,
};
use rustc_hash::FxHashSet;

/// The addresses of `-target` or `-exclude`.
///
/// As in OpenTofu, only the last step of a module address stands for all instances if it has no key. The address of a
/// resource names one module instance.
#[derive(Clone, Default)]
pub(crate) struct Addresses {
    instances: FxHashSet<ResourceInstance>,
    resources: FxHashSet<AbsResource>,
    modules: FxHashSet<ModuleInstance>,
    /// The resources of the addresses of resources and of instances, without keys.
    config_resources: FxHashSet<ConfigResource>,
    /// The module addresses without keys.
    paths: FxHashSet<ModulePath>,
}

impl Addresses {
    pub(crate) fn new(targets: &[Target]) -> Addresses {
        let mut addresses = Addresses::default();
        for target in targets {
            match target {
                Target::Module(module) => {
                    addresses.modules.insert(module.clone());
                    addresses.paths.insert(module.path());
                }
                Target::Resource(resource) => {
                    addresses.resources.insert(resource.clone());
                    addresses.config_resources.insert(resource.config());
                }
                Target::Instance(instance) => {
                    addresses.instances.insert(instance.clone());
                    addresses.config_resources.insert(instance.config());
                }
            }
        }
        addresses
    }

    /// Returns true if an address covers an instance.
    pub(crate) fn cover(&self, instance: &ResourceInstance) -> bool {
        self.instances.contains(instance)
            || self.resources.contains(&instance.containing_resource())
            || self.cover_module(&instance.module)
    }

    fn cover_module(&self, module: &ModuleInstance) -> bool {
        !self.modules.is_empty()
            && (1..=module.steps().len()).any(|length| {
                let steps = &module.steps()[..length];
                self.modules.contains(&ModuleInstance::new(steps.iter().cloned()))
                    || self.modules.contains(&with_open_end(steps))
            })
    }

    /// Returns true if an address covers a resource with all of its instances.
    pub(crate) fn cover_all_of(&self, resource: &ConfigResource) -> bool {
        let module = resource.module.unkeyed_instance();
        self.resources.contains(&resource.resource.clone().in_module(module.clone()))
            || self.cover_module(&module)
    }

    /// Returns true if an address covers some instances of a resource.
    pub(crate) fn touch(&self, resource: &ConfigResource) -> bool {
        let names = resource.module.names();
        self.config_resources.contains(resource)
            || (!self.paths.is_empty()
                && (1..=names.len()).any(|length| {
                    self.paths.contains(&ModulePath::new(names[..length].iter().cloned()))
                }))
    }

    /// The resources that addresses name, without keys.
    pub(crate) fn config_resources(&self) -> impl Iterator<Item = &ConfigResource> {
        self.config_resources.iter()
    }

    /// The modules that addresses name, without keys.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &ModulePath> {
        self.paths.iter()
    }
}

/// The address of a module whose last step has no key.
fn with_open_end(steps: &[ModuleStep]) -> ModuleInstance {
    let mut steps = steps.to_vec();
    if let Some(last) = steps.last_mut() {
        last.key = InstanceKey::None;
    }
    ModuleInstance::new(steps)
}

#[cfg(test)]
mod tests {
    use addr::{parse_resource_instance, parse_target};

    use super::*;

    #[track_caller]
    fn check(target: &str, covered: &[&str], others: &[&str]) {
        let addresses = Addresses::new(&[parse_target(target).expect("an address")]);
        let covers =
            |it: &&&str| addresses.cover(&parse_resource_instance(it).expect("an address"));
        assert_eq!(covered.iter().filter(|it| !covers(it)).count(), 0, "{target}");
        assert_eq!(others.iter().filter(covers).count(), 0, "{target}");
    }

    #[test]
    fn only_the_last_step_of_a_module_address_stands_for_all_instances() {
        check(
            "module.m",
            &["module.m.a.b", "module.m[0].a.b", "module.m.module.n[1].a.b"],
            &["a.b"],
        );
        check("module.m[0]", &["module.m[0].a.b"], &["module.m.a.b", "module.m[1].a.b"]);
        check("module.m.module.n", &["module.m.module.n[0].a.b"], &["module.m[0].module.n.a.b"]);
    }

    #[test]
    fn resource_address_covers_all_instances_in_one_module_instance() {
        check("a.b", &["a.b", "a.b[0]", "a.b[\"k\"]"], &["a.c", "module.m.a.b"]);
        check("a.b[0]", &["a.b[0]"], &["a.b", "a.b[1]"]);
        check("module.m.a.b", &["module.m.a.b[1]"], &["module.m[0].a.b", "a.b"]);
        check("data.a.b", &["data.a.b"], &["a.b"]);
    }

    #[test]
    fn resource_is_covered_as_a_whole_only_without_keys() {
        let resource = |text| parse_resource_instance(text).expect("an address").config();
        let of = |text| Addresses::new(&[parse_target(text).expect("an address")]);
        assert!(of("a.b").cover_all_of(&resource("a.b")));
        assert!(of("module.m").cover_all_of(&resource("module.m.module.n.a.b")));
        assert!(!of("module.m[0]").cover_all_of(&resource("module.m.a.b")));
        assert!(!of("a.b[0]").cover_all_of(&resource("a.b")));
        assert!(of("a.b[0]").touch(&resource("a.b")));
        assert!(of("module.m[0]").touch(&resource("module.m.module.n.a.b")));
        assert!(!of("module.m[0].a.b").touch(&resource("module.m.a.c")));
    }
}
