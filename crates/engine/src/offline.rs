//! Evaluation outside of a run: for the console, and for the configurations that providers validate.
//!
//! Variables have their given values or defaults, or are unknown. Resources have their values from the state, or
//! are unknown. Ephemeral resources are not opened and are therefore unknown. Values are computed on demand, and
//! once.

use std::{
    cell::RefCell,
    rc::{Rc, Weak},
    sync::Arc,
};

use addr::{AbsResource, InstanceKey, ModuleInstance, ResourceMode};
use db::{Diagnostic, Location, Summary, System};
use hir::{
    Entry, Interrupt, Item, ModuleId, Program, Ref, Scope, eval,
    item::{Condition, Repetition, Variable},
};
use provider::{Schema, mark_by_schema};
use rustc_hash::FxHashMap;
use sorted::TreeMap;
use state::State;
use values::{Mark, Str, Type, Value, ValueMap, functions::FunctionEnv};

use crate::{
    function_calls::{Answerer, Called, FunctionAnswers, FunctionProviders, FunctionRequest},
    functions::Functions,
    redact::Redactor,
    request::Environment,
    snapshot::Objects,
    temp::TempRoot,
    variables::{GivenValue, ValueSource, VariableValues},
    walk::{
        checks::{condition_result, message_text},
        scope::unknown_run,
    },
};

/// A configuration and a state, as the context for expressions. Providers are called only for their functions.
/// Started providers run until [`Console::end`].
pub struct Console {
    program: Arc<Program>,
    state: State,
    values: VariableValues,
    workspace: Str,
    system: Arc<dyn System>,
    answers: FunctionAnswers,
    providers: FunctionProviders,
}

impl Console {
    /// Creates a console for the root module of `program`.
    pub fn new(
        program: &Arc<Program>,
        state: &State,
        values: VariableValues,
        environment: &Environment,
        workspace: Str,
    ) -> Console {
        Console {
            program: Arc::clone(program),
            state: state.clone(),
            values,
            workspace,
            system: Arc::clone(&environment.system),
            answers: FunctionAnswers::default(),
            providers: FunctionProviders::new(environment),
        }
    }

    /// Returns the errors in the values of the root module's variables: wrong types, or else failed validations.
    pub fn problems(&self) -> Vec<Diagnostic> {
        let root = self.program.root();
        let unsuitable = root.variables.values().filter_map(|entry| {
            let given = self.values.get(&entry.variable().name)?;
            unsuitable(&self.program, entry, given)
        });
        let unsuitable: Vec<Diagnostic> = unsuitable.collect();
        if !unsuitable.is_empty() {
            return unsuitable;
        }
        self.with_module_scope(|scope| {
            let failed = |entry: &Entry| {
                let at = self.program.locate(entry.origin, entry.item.header.into());
                scope.failed_validations(entry, at, None)
            };
            root.variables.values().flat_map(failed).collect()
        })
    }

    /// Runs `evaluate` in the scope of the root module, and repeats it until all provider functions that it calls
    /// have results.
    ///
    /// # Errors
    /// Fails if a provider cannot be started.
    pub async fn evaluate<T>(
        &self,
        evaluate: impl Fn(&dyn Scope) -> T,
    ) -> Result<T, Box<Diagnostic>> {
        loop {
            let evaluate = || self.with_module_scope(|scope| evaluate(scope));
            let (result, wanted) = self.answers.gather(evaluate);
            if wanted.is_empty() {
                return Ok(result);
            }
            for request in &wanted {
                if let FunctionRequest::Call(call) = request {
                    self.providers.settle(call, &self.answers).await?;
                }
            }
        }
    }

    /// Ends the started providers.
    pub async fn end(&self) {
        self.providers.end().await;
    }

    fn with_module_scope<T>(&self, evaluate: impl FnOnce(&ModuleScope<'_>) -> T) -> T {
        let offline = Offline {
            program: &self.program,
            objects: Some(&self.state),
            values: Some(&self.values),
            workspace: self.workspace.clone(),
            functions: Functions::new(&self.system, true).without_plan().of_console(),
            system: Arc::clone(&self.system),
            answers: Some(&self.answers),
        };
        evaluate(&ModuleScope::root(&offline))
    }
}

/// Returns the diagnostic for a value that cannot be converted to the type of its variable; `None` if it can.
fn unsuitable(program: &Program, entry: &Entry, given: &GivenValue) -> Option<Diagnostic> {
    let variable = entry.variable();
    // Mark the value before the conversion, so that no error text contains a part of a secret.
    let value = declared(given.value.clone(), variable.sensitive, variable.ephemeral);
    let error = eval::apply_type(&variable.ty, value).err()?;
    let place = match &given.source {
        ValueSource::File(Some(place)) => Some(place.clone()),
        _ => program.locate(entry.origin, entry.item.header.into()),
    };
    Some(given.unsuitable(variable, &error).at(place))
}

/// The context that all modules share.
pub(crate) struct Offline<'a> {
    pub(crate) program: &'a Program,
    pub(crate) objects: Option<&'a dyn Objects>,
    pub(crate) values: Option<&'a VariableValues>,
    pub(crate) workspace: Str,
    pub(crate) functions: Functions,
    pub(crate) system: Arc<dyn System>,
    /// The results of provider functions; `None` if they are not called, and therefore unknown.
    pub(crate) answers: Option<&'a FunctionAnswers>,
}

/// The scope of a module, with the values that were computed so far.
pub(crate) struct ModuleScope<'a> {
    offline: &'a Offline<'a>,
    id: ModuleId,
    /// The module instance; `None` if the scope stands for several instances.
    instance: Option<ModuleInstance>,
    /// The call that sets the variables; `None` if the variables are unknown or set from outside.
    caller: Option<Caller<'a>>,
    /// Keeps the scope of the caller alive, if that scope does not own this one as a child.
    _kept: Option<Rc<ModuleScope<'a>>>,
    me: Weak<ModuleScope<'a>>,
    known: RefCell<FxHashMap<Ref, Value>>,
    children: RefCell<TreeMap<(Str, InstanceKey), Rc<ModuleScope<'a>>>>,
    /// The current depth of nested references. Beyond [`MAX_DEPTH`], values are unknown.
    depth: RefCell<u32>,
}

/// The call of a module instance.
#[derive(Clone)]
struct Caller<'a> {
    scope: Weak<ModuleScope<'a>>,
    call: &'a Entry,
    each: Each,
}

/// The values of `each` or `count` in an instance of a call.
#[derive(Clone, Default)]
pub(crate) struct Each {
    pub(crate) key: InstanceKey,
    /// `each.value`, if the call has `for_each`.
    pub(crate) value: Option<Value>,
}

/// The maximum number of instances of a call that are evaluated one by one.
const MAX_INSTANCES: usize = 10_000;

/// The maximum depth of nested references. Cycles are reported before any evaluation; this limit only prevents a
/// stack overflow.
const MAX_DEPTH: u32 = 4096;

impl<'a> ModuleScope<'a> {
    pub(crate) fn root(offline: &'a Offline<'a>) -> Rc<ModuleScope<'a>> {
        ModuleScope::new(offline, ModuleId(0), Some(ModuleInstance::root()))
    }

    /// Creates the scope of a module without a specific instance or caller.
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
        caller: Option<Caller<'a>>,
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

    /// Creates the scope of the module that a call refers to, with variables from its arguments. The scope stands
    /// for all instances of the call.
    pub(crate) fn called(&self, call: &'a Entry, id: ModuleId) -> Rc<ModuleScope<'a>> {
        let caller = Some(Caller { scope: Weak::clone(&self.me), call, each: Each::default() });
        ModuleScope::with_caller(self.offline, id, None, caller, self.me.upgrade())
    }

    pub(crate) fn module(&self) -> &'a hir::Module {
        self.offline.program.module(self.id)
    }

    fn is_root(&self) -> bool {
        self.instance.as_ref().is_some_and(ModuleInstance::is_root)
    }

    fn evaluate(&self, entry: &Entry, expr: hir::ExprId) -> Result<Value, Interrupt> {
        self.evaluate_in(self, &entry.item, expr)
    }

    pub(crate) fn evaluate_in(
        &self,
        scope: &dyn Scope,
        item: &Item,
        expr: hir::ExprId,
    ) -> Result<Value, Interrupt> {
        if *self.depth.borrow() > MAX_DEPTH {
            return Ok(Value::dynamic());
        }
        *self.depth.borrow_mut() += 1;
        let evaluated = eval::evaluate(&item.exprs, expr, scope);
        *self.depth.borrow_mut() -= 1;
        let evaluated = evaluated?;
        if evaluated.has_errors() { Err(Interrupt::Poisoned) } else { Ok(evaluated.value) }
    }

    pub(crate) fn variable(&self, name: &Str) -> Value {
        let Some(entry) = self.module().variables.get(name) else { return Value::dynamic() };
        let variable = entry.variable();
        let given = match &self.caller {
            Some(Caller { scope, call, each }) => {
                scope.upgrade().and_then(|scope| scope.input(call, each, name))
            }
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

    /// Returns the value of an argument of a call, unknown if it cannot be evaluated. `None` if the call has no
    /// such argument.
    fn input(&self, call: &Entry, each: &Each, name: &Str) -> Option<Value> {
        let input = call.module_call().inputs.iter().find(|it| it.name == *name)?;
        let scope = EachScope { module: self, each };
        Some(self.evaluate_in(&scope, &call.item, input.value).unwrap_or_else(|_| Value::dynamic()))
    }

    /// The errors of the validations of a variable. A validation that the value fails is reported at `at`, in the
    /// block `context`; one that gives no bool is reported where it stands.
    pub(crate) fn failed_validations(
        &self,
        entry: &Entry,
        at: Option<Location>,
        context: Option<String>,
    ) -> Vec<Diagnostic> {
        let program = self.offline.program;
        let error = |validation: &Condition| {
            let value = self.evaluate(entry, validation.condition).ok()?;
            let found = match condition_result(&value) {
                Ok(Some(false)) => self.failure(entry, validation).at(at.clone()),
                Ok(_) => return None,
                Err(invalid) => {
                    let at = program.locate(entry.origin, validation.condition.into());
                    let context = program.context(entry.origin);
                    return Some(Diagnostic { context, ..invalid.of_validation().at(at) });
                }
            };
            Some(Diagnostic { context: context.clone(), ..found })
        };
        entry.variable().validations.iter().filter_map(error).collect()
    }

    fn failure(&self, entry: &Entry, validation: &Condition) -> Diagnostic {
        let message = self.evaluate(entry, validation.error_message).ok();
        let message = message.filter(|it| !it.has_deep_secret());
        let message = message.and_then(|it| message_text(&it));
        let message = message.unwrap_or_else(|| "Its message cannot be shown.".to_owned());
        let program = self.offline.program;
        let rule = program.locate(entry.origin, validation.node.into());
        let rule = rule.map_or_else(String::new, |it| program.sources.place(&it));
        let detail = format!("{message}\n\nThis was checked by the validation rule at {rule}.");
        Diagnostic::new(Summary::VALIDATION_FAILED, detail)
    }

    fn resource(&self, resource: &addr::Resource) -> Value {
        let Some(entry) = self.module().resources.get(resource) else { return Value::dynamic() };
        let schema = self.schema(resource, entry);
        let unknown = || match entry.resource().repetition {
            Repetition::Single => Value::unknown(
                schema.as_ref().map_or(Type::Dynamic, |it| it.implied_type().clone()),
            ),
            _ => Value::dynamic(),
        };
        if resource.mode == ResourceMode::Ephemeral {
            let opened = match (&schema, &entry.resource().repetition) {
                (Some(schema), Repetition::Single) => opened(schema),
                _ => unknown(),
            };
            return opened.with_mark(Mark::Ephemeral);
        }
        let (Some(objects), Some(instance), Some(schema)) =
            (self.offline.objects, &self.instance, &schema)
        else {
            return unknown();
        };
        let address = AbsResource { module: instance.clone(), resource: resource.clone() };
        let Some(instances) = objects.of_resource(&address, schema) else { return unknown() };
        collected(instances, &entry.resource().repetition).unwrap_or_else(unknown)
    }

    fn schema(&self, resource: &addr::Resource, entry: &Entry) -> Option<Arc<Schema>> {
        let local_name = hir::names::provider_local_name(entry.resource());
        let source = self.module().provider_sources.get(local_name)?;
        self.offline.program.schemas.get(source)?.of_mode(resource.mode, &resource.type_name)
    }

    pub(crate) fn child(&self, call: &str, each: Each) -> Option<Rc<ModuleScope<'a>>> {
        let (entry, id) = self.module().calls.get(call)?;
        let key = (Str::from(call), each.key.clone());
        if let Some(child) = self.children.borrow().get(&key) {
            return Some(Rc::clone(child));
        }
        let instance = self.instance.as_ref().map(|it| it.child(call, each.key.clone()));
        let caller = Caller { scope: Weak::clone(&self.me), call: entry, each };
        let child = ModuleScope::with_caller(self.offline, *id, instance, Some(caller), None);
        self.children.borrow_mut().insert(key, Rc::clone(&child));
        Some(child)
    }

    /// Returns the instances of a call or a resource; `None` if they are not known.
    pub(crate) fn instances_of(&self, call: &Entry) -> Option<Vec<Each>> {
        let value = |expr| {
            let value = self.evaluate(call, expr).ok()?.without_all_marks();
            (value.is_known() && !value.is_null()).then_some(value)
        };
        match call.item.repetition() {
            Repetition::Single => Some(vec![Each::default()]),
            Repetition::Enabled(expr) => {
                let is_enabled = value(expr)?.as_bool()?;
                Some(is_enabled.then(Each::default).into_iter().collect())
            }
            Repetition::Count(expr) => {
                let count = value(expr)?.as_number()?.to_i64()?;
                let is_few = usize::try_from(count).is_ok_and(|it| it <= MAX_INSTANCES);
                let each = |at| Each { key: InstanceKey::Int(at), value: None };
                is_few.then(|| (0..count).map(each).collect())
            }
            Repetition::ForEach(expr) => {
                let value = value(expr)?;
                let each = |(key, value): (Value, &Value)| {
                    // The elements of a set are their own keys.
                    let key = key.as_str().or(value.as_str())?.to_owned();
                    let key = InstanceKey::String(key.into());
                    Some(Each { key, value: Some(value.clone()) })
                };
                value.elements().map(each).collect()
            }
        }
    }

    fn module_value(&self, call: &str) -> Result<Value, Interrupt> {
        let Some((entry, _)) = self.module().calls.get(call) else { return Ok(Value::dynamic()) };
        let instances = self.instance.as_ref().and_then(|_| self.instances_of(entry));
        let Some(instances) = instances else { return Ok(Value::dynamic()) };
        let mut values = TreeMap::new();
        for each in instances {
            let key = each.key.clone();
            let Some(child) = self.child(call, each) else { return Ok(Value::dynamic()) };
            let names: Vec<Str> = child.module().outputs.keys().cloned().collect();
            let outputs = names.into_iter().map(|name| Ok((name.clone(), child.output(&name)?)));
            let outputs = outputs.collect::<Result<ValueMap, Interrupt>>()?;
            values.insert(key, Value::object(outputs));
        }
        let repetition = &entry.module_call().repetition;
        Ok(collected(values, repetition).unwrap_or_else(|| Value::null(Type::Dynamic)))
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
                        summary: Summary::UNDECLARED_LOCAL,
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
            Ref::Output(_) => Value::dynamic(),
            Ref::Run(name) => {
                let values = self.offline.values.ok_or(Interrupt::Poisoned)?;
                values.run(name).cloned().ok_or_else(|| unknown_run(name))?
            }
            Ref::Applying => Value::bool(false).with_mark(Mark::Ephemeral),
        })
    }
}

/// Returns the value of an open ephemeral resource: an object with unknown attributes.
fn opened(schema: &Schema) -> Value {
    let Type::Object(attributes) = schema.implied_type() else {
        return Value::unknown(schema.implied_type().clone());
    };
    let unknown = attributes.iter().map(|(name, it)| (name.clone(), Value::unknown(it.clone())));
    mark_by_schema(&Value::object(unknown.collect()), schema.block())
}

fn default(entry: &Entry, variable: &Variable) -> Option<Value> {
    let constant = eval::constant(&entry.item.exprs, variable.default?);
    eval::apply_type(&variable.ty, constant.value).ok()
}

/// Teaches the redactor the secrets that are known from the start: the ephemeral and sensitive variables of all
/// modules, as far as their values follow from the given values without any provider.
///
/// A run evaluates only what it needs, and a destroy evaluates very little, but providers may log any value that
/// they read.
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

/// Returns the value with the marks of its declaration.
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

/// Combines the instances of a resource or module call into one value. `None` if the only instance is missing.
fn collected(mut instances: TreeMap<InstanceKey, Value>, repetition: &Repetition) -> Option<Value> {
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
        // In other contexts, the analysis has checked the reference already.
        if self.is_console() {
            self.check_declared(reference)?;
        }
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
        let is_single = |(entry, _): &(Entry, ModuleId)| {
            matches!(entry.module_call().repetition, Repetition::Single)
        };
        let is_known = self.instance.is_some()
            && key.is_none()
            && self.module().calls.get(call).is_some_and(is_single);
        match is_known.then(|| self.child(call, Each::default())).flatten() {
            Some(child) if child.module().outputs.contains_key(output) => {
                child.output(output).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn provider_function(&self, name: &str, args: &[Value]) -> Result<Value, Interrupt> {
        let called = Called {
            program: self.offline.program,
            module: self.module(),
            answers: self.offline.answers,
            answerer: &|_| Answerer::OutsideOfRun,
        };
        called.answer(name, args)
    }

    fn functions(&self) -> &dyn FunctionEnv {
        &self.offline.functions
    }

    fn is_console(&self) -> bool {
        self.offline.functions.is_console
    }
}

/// The scope of a module for one instance of a call in it.
pub(crate) struct EachScope<'s, 'a> {
    pub(crate) module: &'s ModuleScope<'a>,
    pub(crate) each: &'s Each,
}

impl Scope for EachScope<'_, '_> {
    fn reference(&self, reference: &Ref) -> Result<Value, Interrupt> {
        match (reference, &self.each.key) {
            (Ref::EachKey, InstanceKey::String(key)) => Ok(Value::string(key.as_str())),
            // Only an `import` block has a tuple in `for_each`.
            (Ref::EachKey, InstanceKey::Int(index)) if self.each.value.is_some() => {
                Ok(Value::int(*index))
            }
            (Ref::EachValue, _) => Ok(self.each.value.clone().unwrap_or_else(Value::dynamic)),
            (Ref::CountIndex, InstanceKey::Int(index)) => Ok(Value::int(*index)),
            (Ref::EachKey, _) => Ok(Value::unknown(Type::String)),
            (Ref::CountIndex, _) => Ok(Value::unknown(Type::Number)),
            _ => self.module.reference(reference),
        }
    }

    fn module_output(
        &self,
        call: &str,
        key: Option<&Value>,
        output: &str,
    ) -> Result<Option<Value>, Interrupt> {
        self.module.module_output(call, key, output)
    }

    fn provider_function(&self, name: &str, args: &[Value]) -> Result<Value, Interrupt> {
        self.module.provider_function(name, args)
    }

    fn functions(&self) -> &dyn FunctionEnv {
        self.module.functions()
    }
}

impl ModuleScope<'_> {
    /// Rejects references to undeclared names. The analysis does not cover expressions in the console.
    fn check_declared(&self, reference: &Ref) -> Result<(), Interrupt> {
        let module = self.module();
        let refused = |summary, detail| Err(Interrupt::Refused { summary, detail });
        match reference {
            Ref::Variable(name) if !module.variables.contains_key(name) => refused(
                Summary::UNDECLARED_INPUT_VARIABLE,
                format!("An input variable with the name \"{name}\" has not been declared."),
            ),
            Ref::Resource(resource) if !module.resources.contains_key(&**resource) => refused(
                Summary::UNDECLARED_RESOURCE,
                format!("{resource} has not been declared in this module."),
            ),
            Ref::Module(call) if !module.calls.contains_key(call) => refused(
                Summary::UNDECLARED_MODULE,
                format!("No module call named \"{call}\" is declared in this module."),
            ),
            Ref::EachKey | Ref::EachValue => refused(
                Summary::INVALID_EACH,
                "The \"each\" object is available only in blocks with for_each, and not in the \
                 console."
                    .to_owned(),
            ),
            Ref::CountIndex => refused(
                Summary::INVALID_COUNT_REFERENCE,
                "The \"count\" object is available only in blocks with count, and not in the \
                 console."
                    .to_owned(),
            ),
            Ref::SelfObject => refused(
                Summary::INVALID_SELF,
                "The \"self\" object is available only in provisioners, connections and \
                 postconditions, and not in the console."
                    .to_owned(),
            ),
            _ => Ok(()),
        }
    }
}
