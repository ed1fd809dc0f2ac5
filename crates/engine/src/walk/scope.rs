//! The scope of expressions during a run: references, repetition data and functions.

use std::{cell::Cell, collections::BTreeMap, path::Path, rc::Rc, sync::Arc};

use ::values::{
    Budget, Kind, Mark, Str, Value, budget,
    functions::{FunctionEnv, RenderError},
};
use addr::InstanceKey;
use db::System;
use hir::{Interrupt, Ref, Scope, SecretParts};

use super::{Each, ModuleRun, Outcome, ResourceValue, Walk};
use crate::{
    builtin::functions,
    graph::ModuleIx,
    request::{CancelLevel, CancelToken},
    temp::TempRoot,
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
                "Reference to \"count\" in non-counted context"
            } else {
                "Reference to \"each\" in context without for_each"
            },
            detail: format!(
                "The \"{what}\" object can be used only where the enclosing block sets {}.",
                if what == "count" { "\"count\"" } else { "\"for_each\"" }
            ),
        })
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
            Ref::EachKey => match &self.repetition("each")?.key {
                InstanceKey::String(key) => Ok(Value::string(key.as_str())),
                _ => self.repetition_refused("each"),
            },
            Ref::EachValue => match &self.repetition("each")?.value {
                Some(value) => Ok(value.clone()),
                None => self.repetition_refused("each"),
            },
            Ref::CountIndex => match self.repetition("count")?.key {
                InstanceKey::Int(index) => Ok(Value::int(index)),
                _ => self.repetition_refused("count"),
            },
            Ref::SelfObject => match &self.own {
                Some(own) => Ok(own.value.clone()),
                None => Err(Interrupt::Refused {
                    summary: "Invalid \"self\" reference",
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
        if key.is_marked_deep() {
            return Ok(None);
        }
        let key = match key.kind() {
            Kind::String(text) => InstanceKey::string(&**text),
            Kind::Number(number) => match number.to_i64() {
                Some(index) => InstanceKey::Int(index),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
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
            Some(key) if key.is_marked_deep() => return Ok(None),
            Some(key) => match key.kind() {
                Kind::String(text) => InstanceKey::string(&**text),
                Kind::Number(number) => match number.to_i64() {
                    Some(index) => InstanceKey::Int(index),
                    None => return Ok(None),
                },
                _ => return Ok(None),
            },
        };
        let children = self.module.children.borrow();
        let Some(child) = children.get(call).and_then(|it| it.instances.get(&key)) else {
            return Ok(None);
        };
        let child = self.walk.module(*child);
        let Some(local) = child.template.outputs.get(output) else { return Ok(None) };
        self.walk.nodes.value(child.node(*local)).ok_or(Interrupt::Poisoned).map(Some)
    }

    fn module_with_output(&self, call: &str, output: &str) -> Result<Option<Value>, Interrupt> {
        let children = self.module.children.borrow();
        let Some(called) = children.get(call) else { return Err(Interrupt::Poisoned) };
        let mut instances = BTreeMap::new();
        for (key, child) in &called.instances {
            let child = self.walk.module(*child);
            let mut outputs = BTreeMap::new();
            if let Some(local) = child.template.outputs.get(output) {
                let value = self.walk.nodes.value(child.node(*local)).ok_or(Interrupt::Poisoned)?;
                outputs.insert(Str::from(output), value);
            }
            instances.insert(key.clone(), Value::object(outputs));
        }
        Ok(Some(called.keys.shape(&instances)))
    }

    fn provider_function(&self, name: &str, args: &[Value]) -> Result<Value, Interrupt> {
        let module = self.walk.config.program.module(self.module.template.module);
        functions::answer(
            self.walk.config.program,
            module,
            name,
            args,
            Some(&self.walk.calls.answers),
        )
    }

    fn functions(&self) -> &dyn FunctionEnv {
        &self.walk.calls.functions
    }

    fn secret_parts(&self) -> Option<&SecretParts> {
        Some(&self.walk.calls.functions.parts)
    }
}

impl EngineScope<'_, '_> {
    fn repetition_refused(&self, what: &'static str) -> Result<Value, Interrupt> {
        Err(Interrupt::Refused {
            summary: if what == "count" {
                "Reference to \"count\" in non-counted context"
            } else {
                "Reference to \"each\" in context without for_each"
            },
            detail: format!(
                "The enclosing block does not set the argument that the \"{what}\" object requires."
            ),
        })
    }
}

/// The environment of functions. They read files through [`System`]. The current time and new identifiers are
/// available only to a run that applies, so that a plan makes no promise that the apply could not keep.
#[derive(Clone)]
pub(crate) struct Functions {
    system: Arc<dyn System>,
    /// True if the run applies.
    acts: bool,
    /// The prefix of the paths of files that only a run creates; `None` in such a run.
    undecided: Option<Str>,
    /// The timestamp of the plan that this run makes or applies.
    plan_time: Option<Str>,
    /// The budget that all evaluations of the run share.
    budget: Rc<Budget>,
    /// True if the console evaluates the expressions.
    pub(crate) is_console: bool,
    /// The current depth of nested templates.
    depth: Rc<Cell<usize>>,
    /// Collects the secrets that expressions use, including those in template files.
    pub(crate) parts: Rc<SecretParts>,
}

impl Functions {
    /// The environment of a run. `acts` is true if the run applies.
    pub(crate) fn new(system: &Arc<dyn System>, acts: bool) -> Functions {
        Functions {
            system: Arc::clone(system),
            acts,
            undecided: None,
            plan_time: None,
            budget: Rc::new(Budget::new(memory_limit(&**system))),
            is_console: false,
            depth: Rc::default(),
            parts: Rc::default(),
        }
    }

    /// Sets that the console evaluates the expressions.
    pub(crate) fn of_console(self) -> Functions {
        Functions { is_console: true, ..self }
    }

    /// Sets the timestamp of the plan. An empty `time` means that it is unknown.
    pub(crate) fn of_plan(self, time: &Str) -> Functions {
        Functions { plan_time: Some(time.clone()).filter(|it| !it.is_empty()), ..self }
    }

    /// Ends evaluations when the user interrupts the run.
    pub(crate) fn until(self, cancel: &CancelToken) -> Functions {
        let cancel = cancel.clone();
        let budget = Budget::new(memory_limit(&*self.system))
            .until(move || cancel.level() >= CancelLevel::Stopping);
        Functions { budget: Rc::new(budget), ..self }
    }

    /// Limits evaluations to a number of steps, for values that were not requested: a slow expression is then
    /// given up.
    pub(crate) fn at_most(self, steps: u64) -> Functions {
        let budget = Budget::new(memory_limit(&*self.system)).with_steps(steps);
        Functions { budget: Rc::new(budget), ..self }
    }

    /// Treats the content of temporary directories as unknown, because there is no plan.
    pub(crate) fn without_plan(self) -> Functions {
        Functions { undecided: Some(TempRoot::without_plan().path().into()), ..self }
    }
}

/// The memory limit for the values of a run: the setting of the environment, or the default.
fn memory_limit(system: &dyn System) -> u64 {
    let set = system.variable(Budget::VARIABLE);
    set.and_then(|text| budget::parse_size(&text)).unwrap_or(Budget::DEFAULT_LIMIT)
}

const TOO_DEEP: &str = "maximum recursion depth";

impl FunctionEnv for Functions {
    fn read_file(&self, path: &str) -> Result<Vec<u8>, String> {
        self.system.read_file(Path::new(path)).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => format!("no file exists at {path:?}"),
            _ => format!("failed to read {path:?}: {error}"),
        })
    }

    fn file_exists(&self, path: &str) -> Result<bool, String> {
        let path = Path::new(path);
        if self.system.is_directory(path) {
            return Err(format!("{} is a directory, not a file", path.display()));
        }
        if self.system.is_file(path) {
            return Ok(true);
        }
        match self.system.read_file(path) {
            Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => {
                Err(format!("{}: {error}", path.display()))
            }
            _ => Ok(false),
        }
    }

    fn list_directory(&self, path: &str) -> Result<Vec<(String, bool)>, String> {
        let entries = self.system.list_directory(Path::new(path));
        let entries = entries.map_err(|error| format!("failed to list {path:?}: {error}"))?;
        Ok(entries.into_iter().map(|entry| (entry.name, entry.is_directory)).collect())
    }

    fn base_directory(&self) -> Option<String> {
        self.system.base_directory().to_str().map(str::to_owned)
    }

    fn home_directory(&self) -> Option<String> {
        self.system.variable("HOME").filter(|home| !home.is_empty())
    }

    fn is_undecided(&self, path: &str) -> bool {
        self.undecided.as_ref().is_some_and(|prefix| path.starts_with(&**prefix))
    }

    fn render_template(
        &self,
        name: &str,
        text: &str,
        variables: &Value,
    ) -> Result<Value, RenderError> {
        /// The deepest nesting of templates, as in OpenTofu.
        const DEEPEST: usize = 1024;
        let depth = self.depth.get();
        if depth > DEEPEST {
            return Err(format!("{TOO_DEEP} {DEEPEST} reached in {name}").into());
        }
        self.depth.set(depth + 1);
        let rendered = crate::template_file::render(self, name, text, variables);
        self.depth.set(depth);
        // Keep only the innermost message: a thousand nested copies of the text around it would hide it.
        rendered.map_err(|error| match error {
            RenderError::Failed(message) => match message.rfind(TOO_DEEP) {
                Some(start) => message[start..].trim_end_matches('.').to_owned().into(),
                None => message.into(),
            },
            exceeded => exceeded,
        })
    }

    fn now(&self) -> Option<String> {
        time_text(&*self.system).filter(|_| self.acts)
    }

    fn plan_time(&self) -> Option<String> {
        self.plan_time.as_deref().map(str::to_owned)
    }

    fn salt(&self) -> Option<[u8; 16]> {
        // All but six bits of a UUID are random, which is enough for a salt.
        self.acts.then(|| uuid::Uuid::new_v4().into_bytes())
    }

    fn budget(&self) -> Option<&Budget> {
        Some(&self.budget)
    }

    fn uuid(&self) -> Option<String> {
        self.acts.then(|| uuid::Uuid::new_v4().to_string())
    }
}

/// The current time in RFC 3339 format, in whole seconds; `None` if it is out of range.
pub(crate) fn time_text(system: &dyn System) -> Option<String> {
    let now = jiff::Timestamp::try_from(system.now()).ok()?;
    Some(now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}
