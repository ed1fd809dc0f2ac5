//! What expressions mean while nothing runs: for the console, and for the configurations that providers validate.
//!
//! Variables have their given values or defaults, or are unknown; resources are what the state holds, or unknown;
//! ephemeral resources are not opened, so they are unknown. Everything is found when it is asked for, and once.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    rc::{Rc, Weak},
    sync::Arc,
};

use addr::{AbsResource, InstanceKey, ModuleInstance, ResourceMode};
use db::System;
use hir::{
    Entry, Interrupt, ModuleId, Program, Ref, Scope, eval,
    item::{Repetition, Variable},
};
use provider::{Schema, mark_by_schema};
use rustc_hash::FxHashMap;
use state::State;
use values::{Mark, Str, Type, Value, functions::FunctionEnv};

use crate::{redact::Redactor, temp::TempRoot, variables::VariableValues, walk::Functions};

/// A configuration and a state to evaluate expressions against.
pub struct Console {
    program: Arc<Program>,
    state: State,
    values: VariableValues,
    workspace: Str,
    system: Arc<dyn System>,
}

impl Console {
    /// Evaluates against the root module of `program`.
    pub fn new(
        program: &Arc<Program>,
        state: &State,
        values: VariableValues,
        system: Arc<dyn System>,
        workspace: Str,
    ) -> Console {
        Console { program: Arc::clone(program), state: state.clone(), values, workspace, system }
    }

    /// Gives the root module's scope to `evaluate`.
    pub fn with_scope<T>(&self, evaluate: impl FnOnce(&dyn Scope) -> T) -> T {
        let offline = Offline {
            program: &self.program,
            state: Some(&self.state),
            values: Some(&self.values),
            workspace: self.workspace.clone(),
            functions: Functions::new(&self.system, true).without_plan().of_console(),
            system: Arc::clone(&self.system),
        };
        evaluate(&*ModuleScope::root(&offline))
    }
}

/// What all modules share.
pub(crate) struct Offline<'a> {
    pub(crate) program: &'a Program,
    pub(crate) state: Option<&'a State>,
    pub(crate) values: Option<&'a VariableValues>,
    pub(crate) workspace: Str,
    pub(crate) functions: Functions,
    pub(crate) system: Arc<dyn System>,
}

/// One module, as far as it was looked at.
pub(crate) struct ModuleScope<'a> {
    offline: &'a Offline<'a>,
    id: ModuleId,
    /// The instance, where it is known which one.
    instance: Option<ModuleInstance>,
    /// The call that gives the variables their values, where that is to be followed.
    caller: Option<(Weak<ModuleScope<'a>>, &'a Entry)>,
    /// Keeps the caller, where it does not keep this scope among its children.
    _kept: Option<Rc<ModuleScope<'a>>>,
    me: Weak<ModuleScope<'a>>,
    known: RefCell<FxHashMap<Ref, Value>>,
    children: RefCell<BTreeMap<Str, Rc<ModuleScope<'a>>>>,
    /// How deep references are followed now; a cycle ends as unknown.
    depth: RefCell<u32>,
}

/// A cycle was reported before anything is evaluated; this only keeps it from overflowing the stack.
const MAX_DEPTH: u32 = 4096;

impl<'a> ModuleScope<'a> {
    pub(crate) fn root(offline: &'a Offline<'a>) -> Rc<ModuleScope<'a>> {
        ModuleScope::new(offline, ModuleId(0), Some(ModuleInstance::root()))
    }

    /// A module of which only the directory counts.
    pub(crate) fn of(offline: &'a Offline<'a>, id: ModuleId) -> Rc<ModuleScope<'a>> {
        ModuleScope::new(offline, id, None)
    }

    fn new(
        offline: &'a Offline<'a>,
        id: ModuleId,
        instance: Option<ModuleInstance>,
    ) -> Rc<ModuleScope<'a>> {
        ModuleScope::with_caller(offline, id, instance, None, None)
    }

    fn with_caller(
        offline: &'a Offline<'a>,
        id: ModuleId,
        instance: Option<ModuleInstance>,
        caller: Option<(Weak<ModuleScope<'a>>, &'a Entry)>,
        kept: Option<Rc<ModuleScope<'a>>>,
    ) -> Rc<ModuleScope<'a>> {
        Rc::new_cyclic(|me| ModuleScope {
            offline,
            id,
            instance,
            caller,
            _kept: kept,
            me: Weak::clone(me),
            known: RefCell::default(),
            children: RefCell::default(),
            depth: RefCell::new(0),
        })
    }

    /// What a call makes of a module, with the values that it gives; all instances of the call are one.
    pub(crate) fn called(&self, call: &'a Entry, id: ModuleId) -> Rc<ModuleScope<'a>> {
        let caller = Some((Weak::clone(&self.me), call));
        ModuleScope::with_caller(self.offline, id, None, caller, self.me.upgrade())
    }

    pub(crate) fn module(&self) -> &'a hir::Module {
        self.offline.program.module(self.id)
    }

    fn is_root(&self) -> bool {
        self.instance.as_ref().is_some_and(ModuleInstance::is_root)
    }

    fn evaluate(&self, entry: &Entry, expr: hir::ExprId) -> Result<Value, Interrupt> {
        if *self.depth.borrow() > MAX_DEPTH {
            return Ok(Value::dynamic());
        }
        *self.depth.borrow_mut() += 1;
        let evaluated = eval::evaluate(&entry.item.exprs, expr, self);
        *self.depth.borrow_mut() -= 1;
        let evaluated = evaluated?;
        if evaluated.has_errors() { Err(Interrupt::Poisoned) } else { Ok(evaluated.value) }
    }

    pub(crate) fn variable(&self, name: &Str) -> Value {
        let Some(entry) = self.module().variables.get(name) else { return Value::dynamic() };
        let variable = entry.variable();
        let given = match &self.caller {
            Some((caller, call)) => caller.upgrade().and_then(|caller| caller.input(call, name)),
            None => self
                .offline
                .values
                .filter(|_| self.is_root())
                .and_then(|values| values.get(name))
                .map(|given| given.value.clone()),
        };
        let is_given_here =
            self.caller.is_some() || self.is_root() && self.offline.values.is_some();
        let value = match given {
            Some(given) => eval::apply_type(&variable.ty, given).ok(),
            None if is_given_here => default(entry, variable),
            None => None,
        };
        let value = value.unwrap_or_else(|| Value::unknown(variable.ty.ty.without_optional()));
        declared(value, variable.sensitive, variable.ephemeral)
    }

    /// What a call gives to a variable: unknown where that cannot be found.
    fn input(&self, call: &Entry, name: &Str) -> Option<Value> {
        let input = call.module_call().inputs.iter().find(|it| it.name == *name)?;
        Some(self.evaluate(call, input.value).unwrap_or_else(|_| Value::dynamic()))
    }

    fn resource(&self, resource: &addr::Resource) -> Value {
        let Some(entry) = self.module().resources.get(resource) else { return Value::dynamic() };
        let schema = self.schema(resource, entry);
        if resource.mode == ResourceMode::Ephemeral {
            return Value::dynamic().with_mark(Mark::Ephemeral);
        }
        let unknown = || match entry.resource().repetition {
            Repetition::Single => Value::unknown(
                schema.as_ref().map_or(Type::Dynamic, |it| it.implied_type().clone()),
            ),
            _ => Value::dynamic(),
        };
        let (Some(state), Some(instance), Some(schema)) =
            (self.offline.state, &self.instance, &schema)
        else {
            return unknown();
        };
        let address = AbsResource { module: instance.clone(), resource: resource.clone() };
        let Some(stored) = state.resource(&address) else { return unknown() };
        let instances = stored.instances.iter().filter_map(|(key, it)| {
            let object = it.current.as_ref()?.decode(schema.implied_type()).ok()?;
            Some((key.clone(), mark_by_schema(&object, schema.block())))
        });
        collected(instances.collect(), &entry.resource().repetition).unwrap_or_else(unknown)
    }

    fn schema(&self, resource: &addr::Resource, entry: &Entry) -> Option<Arc<Schema>> {
        let local_name = hir::names::provider_local_name(entry.resource());
        let source = self.module().provider_sources.get(&local_name)?;
        self.offline.program.schemas.get(source)?.of_mode(resource.mode, &resource.type_name)
    }

    fn child(&self, call: &str) -> Option<Rc<ModuleScope<'a>>> {
        let (entry, id) = self.module().calls.get(call)?;
        if let Some(child) = self.children.borrow().get(call) {
            return Some(Rc::clone(child));
        }
        let single = matches!(entry.module_call().repetition, Repetition::Single);
        let instance =
            self.instance.as_ref().filter(|_| single).map(|it| it.child(call, InstanceKey::None));
        // Only what is there once has one set of values.
        let caller = single.then(|| (Weak::clone(&self.me), entry));
        let child = ModuleScope::with_caller(self.offline, *id, instance, caller, None);
        self.children.borrow_mut().insert(call.into(), Rc::clone(&child));
        Some(child)
    }

    fn module_value(&self, call: &str) -> Result<Value, Interrupt> {
        let Some(child) = self.child(call) else { return Ok(Value::dynamic()) };
        if child.instance.is_none() {
            return Ok(Value::dynamic());
        }
        let names: Vec<Str> = child.module().outputs.keys().cloned().collect();
        let mut outputs = BTreeMap::new();
        for name in names {
            outputs.insert(name.clone(), child.output(&name)?);
        }
        Ok(Value::object(outputs))
    }

    fn output(&self, name: &str) -> Result<Value, Interrupt> {
        let Some(entry) = self.module().outputs.get(name) else { return Ok(Value::dynamic()) };
        let output = entry.output();
        let value = match output.value {
            Some(expr) => self.evaluate(entry, expr)?,
            None => Value::dynamic(),
        };
        Ok(declared(value, output.sensitive, output.ephemeral))
    }

    fn find(&self, reference: &Ref) -> Result<Value, Interrupt> {
        Ok(match reference {
            Ref::Variable(name) => self.variable(name),
            Ref::Local(name) => match self.module().locals.get(name) {
                Some(entry) => match entry.item.kind.as_local() {
                    Some(local) => self.evaluate(entry, local.value)?,
                    None => Value::dynamic(),
                },
                None => {
                    return Err(Interrupt::Refused {
                        summary: "Reference to undeclared local value",
                        detail: format!(
                            "A local value with the name \"{name}\" has not been declared."
                        ),
                    });
                }
            },
            Ref::Resource(resource) => self.resource(resource),
            Ref::Module(call) => self.module_value(call)?,
            Ref::EachKey => Value::unknown(Type::String),
            Ref::EachValue | Ref::SelfObject => Value::dynamic(),
            Ref::CountIndex => Value::unknown(Type::Number),
            Ref::PathModule => Value::string(self.module().dir.clone()),
            Ref::PathRoot => Value::string(self.offline.program.root().dir.clone()),
            Ref::PathCwd => Value::string(
                self.offline.system.current_directory().to_string_lossy().into_owned(),
            ),
            Ref::PathTemp => Value::string(TempRoot::without_plan().of(&ModuleInstance::root())),
            Ref::Workspace => Value::string(self.offline.workspace.clone()),
            Ref::Applying => Value::bool(false).with_mark(Mark::Ephemeral),
        })
    }
}

fn default(entry: &Entry, variable: &Variable) -> Option<Value> {
    let constant = eval::constant(&entry.item.exprs, variable.default?);
    eval::apply_type(&variable.ty, constant.value).ok()
}

/// Lets the redactor learn what is secret from the start: the ephemeral and sensitive variables of all modules, as far as
/// their values follow from what was given, without any provider.
///
/// A run evaluates only what it needs, and a destroy hardly anything; but a provider's log quotes what it reads.
pub(crate) fn learn_given(offline: &Offline<'_>, redactor: &Redactor) {
    let mut work = vec![ModuleScope::root(offline)];
    while let Some(scope) = work.pop() {
        for (name, entry) in &scope.module().variables {
            if entry.variable().ephemeral || entry.variable().sensitive {
                redactor.learn(&scope.variable(name));
            }
        }
        work.extend(scope.module().calls.values().map(|(call, id)| scope.called(call, *id)));
    }
}

/// The value with the marks that its declaration gives.
fn declared(value: Value, sensitive: bool, ephemeral: bool) -> Value {
    let mut value = value;
    if sensitive {
        value = value.with_mark(Mark::Sensitive);
    }
    if ephemeral {
        value = value.with_mark(Mark::Ephemeral);
    }
    value
}

/// The instances of a resource as one value.
fn collected(
    mut instances: BTreeMap<InstanceKey, Value>,
    repetition: &Repetition,
) -> Option<Value> {
    match repetition {
        Repetition::Single | Repetition::Enabled(_) => instances.remove(&InstanceKey::None),
        Repetition::Count(_) => Some(Value::tuple(instances.into_values().collect())),
        Repetition::ForEach(_) => {
            let attrs = instances.into_iter().filter_map(|(key, value)| match key {
                InstanceKey::String(key) => Some((Str::from(key.as_str()), value)),
                _ => None,
            });
            Some(Value::object(attrs.collect()))
        }
    }
}

impl Scope for ModuleScope<'_> {
    fn reference(&self, reference: &Ref) -> Result<Value, Interrupt> {
        if let Some(known) = self.known.borrow().get(reference) {
            return Ok(known.clone());
        }
        self.check_declared(reference)?;
        let value = self.find(reference)?;
        self.known.borrow_mut().insert(reference.clone(), value.clone());
        Ok(value)
    }

    fn module_output(
        &self,
        call: &str,
        key: Option<&Value>,
        output: &str,
    ) -> Result<Option<Value>, Interrupt> {
        match (self.child(call), key) {
            (Some(child), None) if child.module().outputs.contains_key(output) => {
                child.output(output).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn functions(&self) -> &dyn FunctionEnv {
        &self.offline.functions
    }

    fn is_console(&self) -> bool {
        self.offline.functions.is_console
    }
}

impl ModuleScope<'_> {
    /// The console has no analysis before it: names that do not exist are said here.
    fn check_declared(&self, reference: &Ref) -> Result<(), Interrupt> {
        let module = self.module();
        let refused = |summary, detail| Err(Interrupt::Refused { summary, detail });
        match reference {
            Ref::Variable(name) if !module.variables.contains_key(name) => refused(
                "Reference to undeclared input variable",
                format!("An input variable with the name \"{name}\" has not been declared."),
            ),
            Ref::Resource(resource) if !module.resources.contains_key(resource) => refused(
                "Reference to undeclared resource",
                format!("{resource} has not been declared in this module."),
            ),
            Ref::Module(call) if !module.calls.contains_key(call) => refused(
                "Reference to undeclared module",
                format!("No module call named \"{call}\" is declared in this module."),
            ),
            _ => Ok(()),
        }
    }
}
