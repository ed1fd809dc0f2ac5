//! The program of a run: the module that it is for, with the variables, provider configurations, test doubles and
//! assertions that the test file adds.

use std::sync::Arc;

use ::values::{Str, Type};
use db::{Diagnostic, Location, SourceText, Sources, Summary};
use hir::{
    At, Entry, Expr, Exprs, Module, ModuleId, Program, Ref,
    expr::Literal,
    item::{
        Body, Item, ItemKind, Output, ProviderConfig, RefPlace, RefTarget, TypeConstraint, Variable,
    },
    program::{Origin, TestDoubles},
    test_file::{TestFile, address},
    test_item::{MockProvider, ModuleOverride, ObjectOverride, TestItem, TestRun},
};
use sorted::TreeMap;

/// A program under construction.
pub(super) struct RunProgram<'a> {
    pub(super) program: Program,
    pub(super) file: &'a TestFile,
    pub(super) entry: &'a Entry,
    pub(super) run: &'a TestRun,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// The base program with the texts of a test file added, and the file with its number among them.
pub(super) fn with_file(
    program: &Program,
    file: &TestFile,
    variables_files: &[SourceText],
) -> (Program, TestFile) {
    let number = program.sources.files.len() as u32;
    let files = program.sources.files.iter().cloned().chain([file.source.clone()]);
    let files = files.chain(variables_files.iter().cloned());
    let program = Program { sources: Sources { files: files.collect() }, ..program.clone() };
    (program, file.clone().at(number))
}

impl<'a> RunProgram<'a> {
    /// Begins with the program of a module, to which the texts of the file were added.
    pub(super) fn new(
        program: Program,
        file: &'a TestFile,
        entry: &'a Entry,
        run: &'a TestRun,
    ) -> RunProgram<'a> {
        RunProgram { program, file, entry, run, diagnostics: Vec::new() }
    }

    fn root(&mut self) -> &mut Module {
        Arc::make_mut(&mut self.program.modules[0])
    }

    fn location(&self, entry: &Entry, at: impl Into<At>) -> Option<Location> {
        self.program.locate(entry.origin, at.into())
    }

    /// Adds a problem at a place in a declaration of the file.
    pub(super) fn report(&mut self, entry: &Entry, at: impl Into<At>, found: Diagnostic) {
        let (location, context) = (self.location(entry, at), self.program.context(entry.origin));
        self.diagnostics.push(Diagnostic { location, context, ..found });
    }

    /// Declares variables that only the test file has, so that its assertions can refer to them.
    pub(super) fn declare_variables(&mut self, names: &[Str]) {
        let origin = self.entry.origin;
        for name in names {
            let item = Arc::new(Item {
                exprs: Exprs::new(Vec::new(), Vec::new()),
                kind: ItemKind::Variable(Box::new(undeclared_variable(name))),
                header: self.entry.item.header,
                refs: Box::default(),
            });
            self.root().variables.insert(name.clone(), Entry { item, origin });
        }
        self.root().variables.sort_unstable_keys();
    }

    /// Replaces provider configurations of the module by those of the file: the ones that the run names, or all.
    pub(super) fn set_providers(&mut self) {
        let mut providers: TreeMap<(Str, Option<Str>), Replacement> = TreeMap::new();
        for (entry, mock) in self.file.mock_providers() {
            let key = (mock.local_name.clone(), mock.alias.clone());
            let mock = Arc::new(mock.clone());
            providers.insert(key, Replacement { entry: entry.clone(), mock: Some(mock) });
        }
        for (entry, config) in self.file.providers() {
            let key = (config.local_name.clone(), config.alias.clone());
            providers.insert(key, Replacement { entry: entry.clone(), mock: None });
        }
        let Some(passed) = &self.run.providers else {
            for ((name, alias), it) in &providers {
                self.set_provider(name, alias.as_ref(), it);
            }
            return;
        };
        for it in passed {
            let parent = (it.parent.local_name.clone(), it.parent.alias.clone());
            match providers.get(&parent) {
                Some(found) => {
                    self.set_provider(&it.child_name, it.child_alias.as_ref(), found);
                }
                None => {
                    let address = address(&parent.0, parent.1.as_ref());
                    let detail =
                        "This provider block references a provider definition that does not exist.";
                    let summary = Summary::missing_test_provider(address);
                    self.report(self.entry, it.parent.node, Diagnostic::new(summary, detail));
                }
            }
        }
    }

    fn set_provider(&mut self, name: &Str, alias: Option<&Str>, from: &Replacement) {
        let (local_name, alias) = (name.clone(), alias.cloned());
        let key = (local_name.clone(), alias.clone());
        let config = match from.entry.item.kind.as_provider() {
            Some(config) => ProviderConfig { local_name, alias, ..config.clone() },
            None => {
                let for_each = from.mock.as_ref().and_then(|it| it.for_each);
                let body = Body::default();
                ProviderConfig {
                    local_name,
                    alias,
                    for_each,
                    has_version: false,
                    version: None,
                    body,
                }
            }
        };
        // Of a mock, only its instances are evaluated together with the module.
        let refs = from.entry.item.refs.iter();
        let refs = refs.filter(|it| from.mock.is_none() || it.place == RefPlace::Repetition);
        let refs = refs.cloned().collect();
        let kind = ItemKind::Provider(Box::new(config));
        let item = Item { kind, refs, ..Item::clone(&from.entry.item) };
        let entry = Entry { item: Arc::new(item), origin: from.entry.origin };
        self.root().providers.insert(key.clone(), entry);
        let mut doubles = TestDoubles::clone(&self.program.doubles);
        match &from.mock {
            Some(mock) => drop(doubles.mocks.insert(key, Arc::clone(mock))),
            None => drop(doubles.mocks.remove(&key)),
        }
        self.program.doubles = Arc::new(doubles);
    }

    /// Adds the overrides of the file and of the run. A run's override wins.
    pub(super) fn set_overrides(&mut self) {
        let (mut objects, mut modules) = (Vec::new(), Vec::new());
        for it in &self.run.object_overrides {
            objects.push((self.entry, it));
        }
        for it in &self.run.module_overrides {
            modules.push((self.entry, it));
        }
        let file = self.file;
        for (entry, item) in file.items() {
            match item {
                TestItem::ObjectOverride(it) => {
                    match objects.iter().any(|(_, own)| own.target == it.target) {
                        true => {
                            self.warn_ignored(entry, it.node.into(), it.block_type(), &it.target)
                        }
                        false => objects.push((entry, it)),
                    }
                }
                TestItem::ModuleOverride(it) => {
                    match modules.iter().any(|(_, own)| own.target == it.target) {
                        true => {
                            self.warn_ignored(entry, it.node.into(), "override_module", &it.target)
                        }
                        false => modules.push((entry, it)),
                    }
                }
                _ => {}
            }
        }
        for (entry, it) in objects {
            self.set_object_override(entry, it);
        }
        for (entry, it) in modules {
            self.set_module_override(entry, it);
        }
    }

    fn warn_ignored(&mut self, entry: &Entry, at: At, kind: &str, target: &dyn std::fmt::Display) {
        let detail = format!(
            "`{target}` is overridden in both global file and local run blocks. The declaration in \
             global file block will be ignored."
        );
        self.report(entry, at, Diagnostic::new(Summary::double_in_file_and_run(kind), detail));
    }

    fn set_object_override(&mut self, entry: &Entry, given: &ObjectOverride) {
        let path = given.target.module().path();
        let resource = match &given.target {
            addr::Target::Resource(it) => &it.resource,
            addr::Target::Instance(it) => &it.resource,
            addr::Target::Module(_) => return,
        };
        let names = path.names().iter().map(|it| it.as_str());
        let Some(module) = self.program.module_at(names) else {
            let detail =
                "Target points to resource in undefined module. Please, ensure module exists.";
            let found = Diagnostic::new(Summary::double_module_missing(&path), detail);
            return self.report(entry, given.node, found);
        };
        if !module.resources.contains_key(resource) {
            let detail = "Target points to undefined resource. Please, ensure resource exists.";
            let summary = Summary::double_resource_missing(&given.target);
            return self.report(entry, given.node, Diagnostic::new(summary, detail));
        }
        if resource.mode != given.mode {
            let (mode, kind) = (resource.mode.block_type(), given.block_type());
            let detail = format!(
                "Target `{}` is `{mode}` block itself and cannot be overridden with `{kind}`.",
                given.target
            );
            let found = Diagnostic::new(Summary::double_of_other_mode(mode, kind), detail);
            return self.report(entry, given.node, found);
        }
        let mut doubles = TestDoubles::clone(&self.program.doubles);
        doubles.overrides.push(given.clone());
        self.program.doubles = Arc::new(doubles);
    }

    /// Replaces a called module by one that has the same variables and outputs, but evaluates nothing else. The
    /// calls on the way get modules of their own, because other calls may lead to the same ones.
    fn set_module_override(&mut self, entry: &Entry, given: &ModuleOverride) {
        let mut at = ModuleId(0);
        let mut missing = given.target.is_root();
        for name in given.target.names() {
            let Some(child) = self.own_child(at, name.as_str()) else {
                missing = true;
                break;
            };
            at = child;
        }
        if missing {
            let detail = "Target points to an undefined module. Please, ensure module exists.";
            let found = Diagnostic::new(Summary::double_module_missing(&given.target), detail);
            return self.report(entry, given.node, found);
        }
        let module = self.program.module(at).clone();
        for (name, _) in given.outputs.iter().filter(|(name, _)| !module.outputs.contains_key(name))
        {
            let detail =
                "Specified output to override is not present in the module and will be ignored.";
            let found = Diagnostic::new(Summary::double_output_missing(name), detail);
            self.report(entry, given.node, found);
        }
        let outputs = module.outputs.iter().map(|(name, output)| {
            (name.clone(), overridden_output(entry, given, name, output.output()))
        });
        let overridden = Module {
            outputs: outputs.collect(),
            locals: Default::default(),
            resources: Default::default(),
            calls: TreeMap::new(),
            checks: TreeMap::new(),
            providers: TreeMap::new(),
            others: Vec::new(),
            ..module.clone()
        };
        self.program.modules[at.0 as usize] = Arc::new(overridden);
    }

    /// Gives a call a module of its own, and returns it. `None` if there is no such call.
    fn own_child(&mut self, caller: ModuleId, name: &str) -> Option<ModuleId> {
        let (_, child) = self.program.module(caller).calls.get(name)?;
        let child = Module::clone(self.program.module(*child));
        let id = ModuleId(self.program.modules.len() as u32);
        self.program.modules.push(Arc::new(Module { id, ..child }));
        let caller = Arc::make_mut(&mut self.program.modules[caller.0 as usize]);
        caller.calls.get_mut(name)?.1 = id;
        Some(id)
    }

    /// Reports references of assertions to objects that do not exist.
    pub(super) fn check_references(&mut self) {
        let entry = self.entry;
        for reference in entry.item.refs.iter().filter(|it| it.place == RefPlace::Condition) {
            if let Some(found) = undeclared(self.program.root(), &self.program, &reference.target) {
                self.report(entry, reference.expr, found);
            }
        }
    }
}

/// The provider configuration of a test file.
struct Replacement {
    entry: Entry,
    mock: Option<Arc<MockProvider>>,
}

/// The program with the assertions of a run.
pub(super) fn with_assertions(program: &Arc<Program>, entry: &Entry) -> Arc<Program> {
    let mut program = Program::clone(program);
    Arc::make_mut(&mut program.modules[0]).assertions = Some(entry.clone());
    Arc::new(program)
}

/// A variable without any of the properties that a declaration may give it.
pub(super) fn undeclared_variable(name: &Str) -> Variable {
    Variable {
        name: name.clone(),
        ty: TypeConstraint { ty: Type::Dynamic, defaults: None, written: false },
        default: None,
        description: None,
        sensitive: false,
        ephemeral: false,
        may_be_secret: false,
        ephemeral_node: None,
        nullable: true,
        is_const: false,
        deprecated: None,
        validations: Box::default(),
    }
}

/// An output of an overridden module: its given value, or null.
fn overridden_output(
    entry: &Entry,
    given: &ModuleOverride,
    name: &Str,
    declared: &Output,
) -> Entry {
    let value = given.outputs.iter().find(|(it, _)| it == name).map(|(_, expr)| *expr);
    let (exprs, value) = match value {
        Some(expr) => (entry.item.exprs.clone(), expr),
        None => {
            let null = Expr::Literal(Literal::Null);
            (Exprs::new(vec![null], Vec::new()), hir::ExprId(0))
        }
    };
    let output = Output {
        value: Some(value),
        depends_on: Box::default(),
        preconditions: Box::default(),
        ..declared.clone()
    };
    let item = Item {
        exprs,
        kind: ItemKind::Output(Box::new(output)),
        header: given.node,
        refs: Box::default(),
    };
    let Origin { file, block, item: index } = entry.origin;
    Entry { item: Arc::new(item), origin: Origin { file, block, item: index } }
}

/// The problem of a reference to something that the module under test does not declare.
fn undeclared(module: &Module, program: &Program, target: &RefTarget) -> Option<Diagnostic> {
    let missing = |summary: Summary, detail: String| Some(Diagnostic::new(summary, detail));
    match target {
        RefTarget::Variable(name) if !module.variables.contains_key(name) => missing(
            Summary::UNDECLARED_INPUT_VARIABLE,
            format!(
                "An input variable with the name \"{name}\" has not been declared. Declare it in \
                 the module under test, or give it a value in a variables block."
            ),
        ),
        RefTarget::Local(name) if !module.locals.contains_key(name) => missing(
            Summary::UNDECLARED_LOCAL,
            format!("A local value with the name \"{name}\" has not been declared."),
        ),
        RefTarget::Resource(resource) if !module.resources.contains_key(resource) => missing(
            Summary::UNDECLARED_RESOURCE,
            format!("{resource} has not been declared in the root module."),
        ),
        RefTarget::Module(call) | RefTarget::ModuleOutput(call, _)
            if !module.calls.contains_key(call) =>
        {
            missing(
                Summary::UNDECLARED_MODULE,
                format!("No module call named \"{call}\" is declared in the root module."),
            )
        }
        RefTarget::ModuleOutput(call, output) => {
            let (_, child) = module.calls.get(call)?;
            let is_missing = !program.module(*child).outputs.contains_key(output);
            let detail = format!(
                "This object does not have an attribute named \"{output}\": the module \
                         that \"{call}\" calls declares no such output."
            );
            is_missing.then(|| Diagnostic::new(Summary::UNDECLARED_TEST_REFERENCE, detail))
        }
        RefTarget::Ambient(Ref::Output(name)) if !module.outputs.contains_key(name) => missing(
            Summary::UNDECLARED_TEST_REFERENCE,
            format!("The module under test has no output named \"{name}\"."),
        ),
        _ => None,
    }
}
