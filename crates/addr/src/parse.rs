use std::ops::Range;

use smol_str::SmolStr;

use crate::key::InstanceKey;
use crate::module::{ModuleInstance, ModulePath, ModuleStep};
use crate::resource::{AbsResource, ConfigResource, Resource, ResourceInstance, ResourceMode};
use crate::scan::{AddrError, LocatedStep, Step, scan};

const SUMMARY: &str = "Invalid address";

/// The argument of `-target`, `-exclude` and similar options.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// All resources inside a module. A step without a key stands for all its instances.
    Module(ModuleInstance),
    /// All instances of a resource.
    Resource(AbsResource),
    /// A single instance with a key.
    Instance(ResourceInstance),
}

impl Target {
    /// The module part of the address.
    pub fn module(&self) -> &ModuleInstance {
        match self {
            Target::Module(module) => module,
            Target::Resource(resource) => &resource.module,
            Target::Instance(instance) => &instance.module,
        }
    }

    /// Returns true if the target covers this instance.
    pub fn covers(&self, instance: &ResourceInstance) -> bool {
        match self {
            Target::Module(module) => covers_module(module, instance.module.steps()),
            Target::Resource(target) => {
                target.resource == instance.resource
                    && same_depth(&target.module, &instance.module)
                    && covers_module(&target.module, instance.module.steps())
            }
            Target::Instance(target) => {
                target.resource == instance.resource
                    && target.key == instance.key
                    && same_depth(&target.module, &instance.module)
                    && covers_module(&target.module, instance.module.steps())
            }
        }
    }

    /// Returns true if the target covers a possible instance of this resource block.
    pub fn touches(&self, block: &ConfigResource) -> bool {
        let names = self.module().steps().iter().map(|step| &step.name);
        let within = block.module.names().len() >= self.module().steps().len()
            && names.zip(block.module.names()).all(|(ours, theirs)| ours == theirs);
        match self {
            Target::Module(_) => within,
            Target::Resource(AbsResource { module, resource })
            | Target::Instance(ResourceInstance { module, resource, .. }) => {
                within
                    && module.steps().len() == block.module.names().len()
                    && *resource == block.resource
            }
        }
    }
}

fn same_depth(a: &ModuleInstance, b: &ModuleInstance) -> bool {
    a.steps().len() == b.steps().len()
}

fn covers_module(target: &ModuleInstance, steps: &[ModuleStep]) -> bool {
    target.steps().len() <= steps.len()
        && target.steps().iter().zip(steps).all(|(ours, theirs)| {
            ours.name == theirs.name && (ours.key.is_none() || ours.key == theirs.key)
        })
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Target::Module(module) => module.fmt(f),
            Target::Resource(resource) => resource.fmt(f),
            Target::Instance(instance) => instance.fmt(f),
        }
    }
}

/// Parses the address of a module, a resource or a resource instance.
///
/// # Errors
/// Fails if the text is no such address. Summaries and details are those of OpenTofu.
pub fn parse_target(text: &str) -> Result<Target, AddrError> {
    let steps = scan(text)?;
    let (module, rest) = split_module(&steps)?;
    if rest.is_empty() {
        return Ok(Target::Module(module));
    }
    let (resource, key) = resource_and_key(rest)?;
    Ok(match key {
        InstanceKey::None => Target::Resource(AbsResource { module, resource }),
        key => Target::Instance(ResourceInstance { module, resource, key }),
    })
}

/// The address of a resource with the steps that follow it, as in `null_resource.a[0].triggers.b`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectPart {
    /// The resource, or the instance.
    pub object: Target,
    /// The steps from the object to an attribute. Empty for the object itself.
    pub steps: Vec<PartStep>,
}

/// A step of an [`ObjectPart`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartStep {
    /// `.name`
    Name(SmolStr),
    /// `[0]` or `["a"]`
    Index(InstanceKey),
}

/// Parses the address of a module, a resource or an instance that steps to an attribute may follow.
///
/// # Errors
/// Fails if the text has no such address. Summaries and details are those of OpenTofu.
pub fn parse_object_part(text: &str) -> Result<ObjectPart, AddrError> {
    let steps = scan(text)?;
    let (module, rest) = split_module(&steps)?;
    if rest.is_empty() {
        return Ok(ObjectPart { object: Target::Module(module), steps: Vec::new() });
    }
    let (resource, rest) = split_resource(rest)?;
    let resource = AbsResource { module, resource };
    let (object, rest) = match rest {
        [LocatedStep { step: Step::Index(key), .. }, rest @ ..] => {
            (Target::Instance(resource.instance(key.clone())), rest)
        }
        rest => (Target::Resource(resource), rest),
    };
    let part = |it: &LocatedStep| match &it.step {
        Step::Name(name) => PartStep::Name(name.clone()),
        Step::Index(key) => PartStep::Index(key.clone()),
    };
    Ok(ObjectPart { object, steps: rest.iter().map(part).collect() })
}

/// Parses the address of a resource instance. An address without a key is the single instance.
///
/// # Errors
/// Fails if the text is no such address. A bare module path has its own error text.
pub fn parse_resource_instance(text: &str) -> Result<ResourceInstance, AddrError> {
    match parse_target(text)? {
        Target::Resource(resource) => Ok(resource.instance(InstanceKey::None)),
        Target::Instance(instance) => Ok(instance),
        Target::Module(_) => Err(AddrError::new(
            SUMMARY,
            "A resource instance address is required here. The module path must be followed by a \
             resource instance specification.",
            0..text.len(),
        )),
    }
}

/// Parses the address of a resource in a module instance, without an instance key of its own.
///
/// # Errors
/// Fails if the text is no such address.
pub fn parse_resource(text: &str) -> Result<AbsResource, AddrError> {
    let detail = match parse_target(text)? {
        Target::Resource(resource) => return Ok(resource),
        Target::Instance(_) => {
            "A resource address is required. This instance key identifies a specific resource \
             instance, which is not expected here."
        }
        Target::Module(_) => {
            "A resource address is required here. The module path must be followed by a resource specification."
        }
    };
    Err(AddrError::new(SUMMARY, detail, 0..text.len()))
}

/// Parses the address of a resource block, as `removed` blocks require it: without any instance keys.
///
/// # Errors
/// Fails if the text is no such address. An address with keys has its own summary.
pub fn parse_config_resource(text: &str) -> Result<ConfigResource, AddrError> {
    let steps = scan(text)?;
    let (module, rest) = split_module(&steps)?;
    reject_module_keys(&module, text)?;
    let (resource, rest) = split_resource(rest)?;
    match rest {
        [] => Ok(ConfigResource { module: module.path(), resource }),
        [key] => Err(AddrError::new(
            "Resource instance address with keys is not allowed",
            "Resource address cannot be a resource instance (e.g. \"null_resource.a[0]\"), it must \
             be a resource instead (e.g. \"null_resource.a\").",
            key.span.clone(),
        )),
        [_, extra, ..] => Err(extra_operators(extra)),
    }
}

/// Parses `module.a[0].module.b`; the empty text is the root.
///
/// # Errors
/// Fails on anything but module steps.
pub fn parse_module_instance(text: &str) -> Result<ModuleInstance, AddrError> {
    if text.is_empty() {
        return Ok(ModuleInstance::root());
    }
    let steps = scan(text)?;
    let (module, rest) = split_module(&steps)?;
    match rest.first() {
        None => Ok(module),
        Some(first) => Err(AddrError::new(
            "Invalid module instance address",
            "The module instance address is followed by additional invalid content.",
            first.span.start..text.len(),
        )),
    }
}

/// Parses `module.a.module.b`; the empty text is the root.
///
/// # Errors
/// Fails on anything but module names.
pub fn parse_module_path(text: &str) -> Result<ModulePath, AddrError> {
    let module = parse_module_instance(text)?;
    reject_module_keys(&module, text)?;
    Ok(module.path())
}

fn reject_module_keys(module: &ModuleInstance, text: &str) -> Result<(), AddrError> {
    if module.steps().iter().all(|step| step.key.is_none()) {
        return Ok(());
    }
    Err(AddrError::new(
        "Module instance address with keys is not allowed",
        "Module address cannot be a module instance (e.g. \"module.a[0]\"), it must be a module \
         instead (e.g. \"module.a\").",
        0..text.len(),
    ))
}

/// Splits off the leading `module.NAME[KEY]` steps.
pub(crate) fn split_module(
    steps: &[LocatedStep],
) -> Result<(ModuleInstance, &[LocatedStep]), AddrError> {
    let mut rest = steps;
    let mut path = Vec::new();
    while let [first, after @ ..] = rest {
        if first.step != Step::Name("module".into()) {
            break;
        }
        let Some(LocatedStep { step: Step::Name(name), .. }) = after.first() else {
            let detail = "Prefix \"module.\" must be followed by a module name.";
            return Err(AddrError::new("Invalid address operator", detail, first.span.clone()));
        };
        rest = &after[1..];
        let key = match rest.first() {
            Some(LocatedStep { step: Step::Index(key), .. }) => {
                rest = &rest[1..];
                key.clone()
            }
            _ => InstanceKey::None,
        };
        path.push(ModuleStep { name: name.clone(), key });
    }
    Ok((ModuleInstance::new(path), rest))
}

fn resource_and_key(steps: &[LocatedStep]) -> Result<(Resource, InstanceKey), AddrError> {
    let (resource, rest) = split_resource(steps)?;
    match rest {
        [] => Ok((resource, InstanceKey::None)),
        [LocatedStep { step: Step::Index(key), .. }] => Ok((resource, key.clone())),
        [LocatedStep { step: Step::Name(_), span }] => Err(AddrError::new(
            SUMMARY,
            "Resource instance key must be given in square brackets.",
            span.clone(),
        )),
        [_, extra, ..] => Err(extra_operators(extra)),
    }
}

fn extra_operators(extra: &LocatedStep) -> AddrError {
    AddrError::new(SUMMARY, "Unexpected extra operators after address.", extra.span.clone())
}

fn split_resource(steps: &[LocatedStep]) -> Result<(Resource, &[LocatedStep]), AddrError> {
    let (mode, rest) = split_mode(steps);
    let [type_step, name_step, after @ ..] = rest else {
        let detail = "Resource specification must include a resource type and name.";
        return Err(AddrError::new(SUMMARY, detail, span_of(steps)));
    };
    let Step::Name(type_name) = &type_step.step else {
        let detail = match mode {
            ResourceMode::Managed => "A resource type name is required.",
            ResourceMode::Data => "A data source name is required.",
            ResourceMode::Ephemeral => "An ephemeral resource name is required.",
        };
        return Err(AddrError::new(SUMMARY, detail, type_step.span.clone()));
    };
    let Step::Name(name) = &name_step.step else {
        let detail = "A resource name is required.";
        return Err(AddrError::new(SUMMARY, detail, name_step.span.clone()));
    };
    Ok((Resource::new(mode, type_name.clone(), name.clone()), after))
}

fn split_mode(steps: &[LocatedStep]) -> (ResourceMode, &[LocatedStep]) {
    let [LocatedStep { step: Step::Name(first), .. }, rest @ ..] = steps else {
        return (ResourceMode::Managed, steps);
    };
    match first.as_str() {
        "data" => (ResourceMode::Data, rest),
        "ephemeral" => (ResourceMode::Ephemeral, rest),
        _ => (ResourceMode::Managed, steps),
    }
}

fn span_of(steps: &[LocatedStep]) -> Range<usize> {
    match (steps.first(), steps.last()) {
        (Some(first), Some(last)) => first.span.start..last.span.end,
        _ => 0..0,
    }
}
