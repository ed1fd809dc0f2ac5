//! The scope of expressions during a run: references, repetition data and functions.

use std::rc::Rc;

use addr::InstanceKey;
use db::Summary;
use hir::{Interrupt, Ref, Scope, SecretParts};
use sorted::TreeMap;
use values::{Kind, Mark, Str, Value, ValueMap, functions::FunctionEnv};

use crate::{
    function_calls::Called,
    graph::ModuleIx,
    walk::{
        context::Walk,
        instances::{Each, Repeated},
        modules::ModuleRun,
        outcome::{Outcome, ResourceValue},
    },
};

/// The scope of one declaration, in one of its instances.
pub(crate) struct EngineScope<'w, 'a> {
    walk: &'w Walk<'a>,
    module: Rc<ModuleRun>,
    each: Option<&'w Each>,
    own: Option<OwnObject<'w>>,
}

/// The object that `self` refers to. Provisioners may also refer to it by its address.
pub(crate) struct OwnObject<'w> {
    pub(crate) resource: &'w addr::Resource,
    pub(crate) key: &'w InstanceKey,
    pub(crate) value: Value,
}

impl<'w, 'a> EngineScope<'w, 'a> {
    /// The scope of a module instance, with repetition data if the declaration is repeated.
    pub(crate) fn new(
        walk: &'w Walk<'a>,
        module: ModuleIx,
        each: Option<&'w Each>,
    ) -> EngineScope<'w, 'a> {
        EngineScope { walk, module: walk.module(module), each, own: None }
    }

    /// Sets the object that `self` refers to.
    pub(crate) fn with_own(self, own: OwnObject<'w>) -> EngineScope<'w, 'a> {
        EngineScope { own: Some(own), ..self }
    }

    fn node_value(&self, local: Option<u32>) -> Result<Value, Interrupt> {
        let node = local.map(|it| self.module.node(it));
        node.and_then(|it| self.walk.nodes.value(it)).ok_or(Interrupt::Poisoned)
    }

    fn with_resource<T>(
        &self,
        resource: &addr::Resource,
        read: impl FnOnce(&ResourceValue) -> T,
    ) -> Option<T> {
        let node = self.module.node(*self.module.template.resources.get(resource)?);
        self.walk.nodes.outcome(node, |outcome| match outcome {
            Outcome::Resource(value) => Some(read(value)),
            _ => None,
        })
    }

    /// The object of `self`, if the reference names its resource by its address.
    fn own_resource(&self, resource: &addr::Resource) -> Option<&OwnObject<'w>> {
        self.own.as_ref().filter(|own| own.resource == resource)
    }

    fn resource(&self, resource: &addr::Resource) -> Result<Value, Interrupt> {
        if let Some(own) = self.own_resource(resource) {
            let keys = self
                .with_resource(resource, |it| Rc::clone(&it.keys))
                .ok_or(Interrupt::Poisoned)?;
            let mut instances = self
                .with_resource(resource, |it| it.instances.clone())
                .ok_or(Interrupt::Poisoned)?;
            instances.insert(own.key.clone(), own.value.clone());
            return Ok(keys.shape(&instances));
        }
        self.with_resource(resource, ResourceValue::whole).ok_or(Interrupt::Poisoned)
    }

    fn repetition(&self, what: &'static str) -> Result<&Each, Interrupt> {
        self.each.ok_or_else(|| Interrupt::Refused {
            summary: if what == "count" {
                Summary::INVALID_COUNT_REFERENCE
            } else {
                Summary::INVALID_EACH
            },
            detail: format!(
                "The \"{what}\" object can be used only where the enclosing block sets {}.",
                if what == "count" { "\"count\"" } else { "\"for_each\"" }
            ),
        })
    }
}

/// The instance key that a value is; `None` if it is no key, or marked.
pub(crate) fn instance_key(key: &Value) -> Option<InstanceKey> {
    if key.is_marked_deep() {
        return None;
    }
    match key.kind() {
        Kind::String(text) => Some(InstanceKey::string(&**text)),
        Kind::Number(number) => number.to_i64().map(InstanceKey::Int),
        _ => None,
    }
}

impl Scope for EngineScope<'_, '_> {
    fn reference(&self, reference: &Ref) -> Result<Value, Interrupt> {
        let template = &self.module.template;
        match reference {
            Ref::Variable(name) => self.node_value(template.variables.get(name).copied()),
            Ref::Local(name) => self.node_value(template.locals.get(name).copied()),
            Ref::Resource(resource) => self.resource(resource),
            Ref::Module(call) => self.node_value(template.calls.get(call).map(|it| it.object)),
            Ref::EachKey => self.given(Each::key_value, "each"),
            Ref::EachValue => self.given(|each| each.value.clone(), "each"),
            Ref::CountIndex => self.given(Each::count_index, "count"),
            Ref::SelfObject => match &self.own {
                Some(own) => Ok(own.value.clone()),
                None => Err(Interrupt::Refused {
                    summary: Summary::INVALID_SELF,
                    detail: "The \"self\" object is not available in this context. It can be used \
                             only in resource provisioner, connection, and postcondition blocks."
                        .to_owned(),
                }),
            },
            Ref::PathModule => {
                Ok(Value::string(self.walk.config.program.module(self.module.id()).dir.clone()))
            }
            Ref::PathRoot => Ok(Value::string(self.walk.config.program.root().dir.clone())),
            Ref::PathCwd => {
                let directory = self.walk.environment.system.current_directory();
                Ok(Value::string(directory.to_string_lossy().into_owned()))
            }
            Ref::PathTemp => self.walk.temp_directory(&self.module),
            Ref::Workspace => Ok(Value::string(self.walk.settings.workspace.clone())),
            Ref::Output(name) => match template.outputs.get(name) {
                Some(local) => self.node_value(Some(*local)),
                None => Err(undeclared_output(name)),
            },
            Ref::Run(name) => {
                self.walk.config.variables.run(name).cloned().ok_or_else(|| unknown_run(name))
            }
            Ref::Applying => {
                Ok(Value::bool(self.walk.settings.applying).with_mark(Mark::Ephemeral))
            }
        }
    }

    fn resource_instance(
        &self,
        resource: &addr::Resource,
        key: &Value,
    ) -> Result<Option<Value>, Interrupt> {
        let Some(key) = instance_key(key) else { return Ok(None) };
        if let Some(own) = self.own_resource(resource)
            && *own.key == key
        {
            return Ok(Some(own.value.clone()));
        }
        Ok(self.with_resource(resource, |it| it.instances.get(&key).cloned()).flatten())
    }

    fn module_output(
        &self,
        call: &str,
        key: Option<&Value>,
        output: &str,
    ) -> Result<Option<Value>, Interrupt> {
        let key = match key {
            None => InstanceKey::None,
            Some(key) => match instance_key(key) {
                Some(key) => key,
                None => return Ok(None),
            },
        };
        let children = self.module.children_of(call);
        let Some(child) = children.and_then(|it| it.instances.get(&key).copied()) else {
            return Ok(None);
        };
        let child = self.walk.module(child);
        let Some(local) = child.template.outputs.get(output) else { return Ok(None) };
        self.walk.nodes.value(child.node(*local)).ok_or(Interrupt::Poisoned).map(Some)
    }

    fn module_with_output(&self, call: &str, output: &str) -> Result<Option<Value>, Interrupt> {
        let Some(called) = self.module.children_of(call) else { return Err(Interrupt::Poisoned) };
        let mut instances = TreeMap::new();
        for (key, child) in &called.instances {
            let child = self.walk.module(*child);
            let mut outputs = ValueMap::new();
            if let Some(local) = child.template.outputs.get(output) {
                let value = self.walk.nodes.value(child.node(*local)).ok_or(Interrupt::Poisoned)?;
                outputs.insert(Str::from(output), value);
            }
            instances.insert(key.clone(), Value::object(outputs));
        }
        Ok(Some(called.keys.shape(&instances)))
    }

    fn provider_function(&self, name: &str, args: &[Value]) -> Result<Value, Interrupt> {
        let program = self.walk.config.program;
        let called = Called {
            program,
            module: program.module(self.module.template.module),
            answers: Some(&self.walk.calls.answers),
            answerer: &|name| self.walk.answerer(&self.module, name),
        };
        called.answer(name, args)
    }

    fn functions(&self) -> &dyn FunctionEnv {
        &self.walk.calls.functions
    }

    fn secret_parts(&self) -> Option<&SecretParts> {
        Some(&self.walk.calls.functions.parts)
    }
}

fn undeclared_output(name: &str) -> Interrupt {
    Interrupt::Refused {
        summary: Summary::UNDECLARED_TEST_REFERENCE,
        detail: format!("The module under test has no output named \"{name}\"."),
    }
}

/// The error of a reference to a run of a test that has no outputs here.
pub(crate) fn unknown_run(name: &str) -> Interrupt {
    Interrupt::Refused {
        summary: Summary::UNDECLARED_TEST_REFERENCE,
        detail: format!(
            "No earlier run of this file is named \"{name}\", or it has no outputs. Runs are \
             executed in order, and a run has outputs only if it applies."
        ),
    }
}

impl EngineScope<'_, '_> {
    /// A value of the repetition data of the instance.
    fn given(
        &self,
        value: impl FnOnce(&Each) -> Option<Value>,
        what: &'static str,
    ) -> Result<Value, Interrupt> {
        value(self.repetition(what)?).ok_or_else(|| Interrupt::Refused {
            summary: if what == "count" {
                Summary::INVALID_COUNT_REFERENCE
            } else {
                Summary::INVALID_EACH
            },
            detail: format!(
                "The enclosing block does not set the argument that the \"{what}\" object requires."
            ),
        })
    }

    /// Returns true if references to a resource read the collection of its instances. `None` if the resource has no
    /// value.
    pub(crate) fn is_repeated(&self, resource: &addr::Resource) -> Option<bool> {
        self.with_resource(resource, |it| it.keys.repeated != Repeated::Single)
    }
}
