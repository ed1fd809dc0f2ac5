//! The environment of one item's inference: resolves names of the item's module with queries to the database.

use std::{cell::Cell, sync::Arc};

use addr::ResourceMode;
use db::{Directory, Summary};
use values::{MarkKind, Str, Type};

use crate::{
    Db,
    analysis::{
        analyzed::{AnalyzedItem, item_value},
        declared,
        dependencies::{self, Resolved},
        deprecated::{self, DeprecatedOutput, DeprecatedPart},
        infer::InferEnv,
        origin::Origin,
        problem::ItemProblem,
        recorder::Recorder,
        value::{Abstract, marks::Tri},
    },
    content::{block_names, item, keys_of},
    expr::{At, ExprId, Ref},
    fix::Fix,
    item::{Item, ItemKind, RefTarget},
    item_name::{ItemKey, ItemName, Keys, NameKind, provider_local_name},
    module_calls::called_directories,
    names::{lookup, required_providers},
    provider_function::{self, Lookup},
    suggest::{self, Closest},
    symbols::{for_each_near, names_of_kind},
    workspace::{SchemaLookup, Workspace, resource_schema},
};

/// The names that one item can refer to.
pub(crate) struct ItemEnv<'db> {
    pub(crate) db: &'db dyn Db,
    pub(crate) workspace: Workspace,
    pub(crate) directory: Directory,
    pub(crate) key: ItemKey,
    /// The targets of the item's references, if they were resolved before. `None` for the extra inference that an
    /// editor runs; each name is then looked up.
    resolved: Option<Resolved<'db>>,
    /// The value of `each.value` if the item has `for_each`.
    pub(crate) each: Option<Abstract>,
    /// True if the item has `count`.
    pub(crate) counted: bool,
    /// True if the item has an argument that decides how many instances it has, so that it may have none.
    pub(crate) may_be_absent: bool,
    /// The value of `self`, where `self` may be used.
    pub(crate) self_object: std::cell::RefCell<Option<Abstract>>,
    /// Set while the argument of `for_each`, `count` or `enabled` is inferred, which cannot use `each` and `count`.
    pub(crate) in_repetition: Cell<bool>,
    /// The recorder that observes the value of every expression, if there is one.
    pub(crate) recorder: Option<&'db Recorder>,
}

impl<'db> ItemEnv<'db> {
    pub(crate) fn new(
        db: &'db dyn Db,
        workspace: Workspace,
        directory: Directory,
        key: ItemKey,
    ) -> ItemEnv<'db> {
        ItemEnv {
            db,
            workspace,
            directory,
            key,
            resolved: None,
            each: None,
            counted: false,
            may_be_absent: false,
            self_object: std::cell::RefCell::new(None),
            in_repetition: Cell::new(false),
            recorder: None,
        }
    }

    /// The environment of an item whose references are already resolved.
    pub(crate) fn of(
        db: &'db dyn Db,
        analyzed: AnalyzedItem<'db>,
        item: &'db Item,
    ) -> ItemEnv<'db> {
        let place = analyzed.place(db);
        let env = ItemEnv::new(db, place.workspace, place.directory, place.key);
        ItemEnv { resolved: Resolved::of(db, analyzed, item), ..env }
    }

    /// Returns a fresh environment with the same resolved references, and nothing else set.
    pub(crate) fn fresh(&self) -> ItemEnv<'db> {
        let env = ItemEnv::new(self.db, self.workspace, self.directory, self.key);
        ItemEnv { resolved: self.resolved, ..env }
    }

    /// Returns true if only a configuration of its provider answers a function, and there may be one.
    pub(super) fn needs_configuration(&self, name: provider_function::Name<'_>) -> bool {
        dependencies::needs_configuration(self.db, self.workspace, self.directory, name)
            && self.may_be_configured(name)
    }

    /// Returns false if no configuration of the provider could answer the call: the root module neither declares the
    /// one that the name selects, nor uses the provider without a block. Callers may pass a configuration to every
    /// other module.
    fn may_be_configured(&self, name: provider_function::Name<'_>) -> bool {
        let wanted = ItemName::Provider(name.provider.into(), name.alias.map(Str::from));
        if !self.is_in_root() || lookup(self.db, self.directory, &wanted).is_some() {
            return true;
        }
        if name.alias.is_some() {
            return false;
        }
        // Without a block, the provider is configured with no arguments as soon as a resource uses it.
        let uses_provider = |key: ItemKey| {
            let resource = item(self.db, key).kind.as_resource();
            resource.is_some_and(|it| provider_local_name(it) == name.provider)
        };
        let mut resources = names_of_kind(self.db, self.directory, NameKind::Resource).into_iter();
        !names_of_kind(self.db, self.directory, NameKind::Module).is_empty()
            || resources.any(|(_, key)| uses_provider(key))
    }

    /// Returns the target of a reference: from the resolved references, or else by a lookup of its name.
    fn declared(
        &self,
        is_it: impl Fn(&RefTarget) -> bool,
        name: impl FnOnce() -> ItemName,
    ) -> Option<AnalyzedItem<'db>> {
        let known = self.resolved.and_then(|it| it.find(is_it));
        known.or_else(|| {
            let key = self.find(&name())?;
            Some(AnalyzedItem::of(self.db, self.workspace, self.directory, key))
        })
    }

    /// Returns the target of a reference to a resource.
    pub(crate) fn find_resource(&self, resource: &addr::Resource) -> Option<AnalyzedItem<'db>> {
        self.declared(
            |it| matches!(it, RefTarget::Resource(it) if it == resource),
            || ItemName::Resource(resource.clone()),
        )
    }

    pub(super) fn find(&self, name: &ItemName) -> Option<ItemKey> {
        lookup(self.db, self.directory, name)
    }

    fn value_of(&self, key: ItemKey) -> Abstract {
        let item = AnalyzedItem::of(self.db, self.workspace, self.directory, key);
        item_value(self.db, item).clone()
    }

    fn module_name(&self) -> String {
        if self.workspace.root(self.db) == self.directory {
            "the root module".to_owned()
        } else {
            format!("the module in {}", self.directory.path(self.db))
        }
    }

    /// Adds the link of a use to the origin of a value. A value that cannot be ephemeral gets none.
    fn used(&self, at: ExprId, message: impl Fn() -> String, value: Abstract) -> Abstract {
        if value.deep_marks().ephemeral == Tri::No {
            return value;
        }
        let origin = self.link(At::Expr(at), &message(), value.origin.clone());
        Abstract { origin, ..value }
    }

    fn variable(&self, name: &Str, at: ExprId, problems: &mut Vec<ItemProblem>) -> Abstract {
        let declared = self.declared(
            |it| matches!(it, RefTarget::Variable(it) if it == name),
            || ItemName::Variable(name.clone()),
        );
        if let Some(declared) = declared {
            let key = declared.key(self.db);
            // The validation of a variable may read the variable. That is no cycle.
            if key == self.key
                && let Some(variable) = item(self.db, key).kind.as_variable()
            {
                let value = declared::variable_value(item(self.db, key), variable, self);
                return self.used(at, || format!("var.{name} is ephemeral"), value);
            }
            let value = item_value(self.db, declared).clone();
            return self.used(at, || format!("var.{name} is ephemeral"), value);
        }
        let close = self.closest(&ItemName::Variable(name.clone()), name);
        let hint = match &close {
            Some(close) => format!("Did you mean \"{close}\"?"),
            None => format!("This variable can be declared with a variable \"{name}\" {{}} block."),
        };
        let detail =
            format!("An input variable with the name \"{name}\" has not been declared. {hint}");
        let problem = undeclared(at, Summary::UNDECLARED_INPUT_VARIABLE, detail);
        problems.push(problem.fixed_by(Fix::last(name, close)));
        Abstract::any()
    }

    fn local(&self, name: &Str, at: ExprId, problems: &mut Vec<ItemProblem>) -> Abstract {
        let declared = self.declared(
            |it| matches!(it, RefTarget::Local(it) if it == name),
            || ItemName::Local(name.clone()),
        );
        if let Some(declared) = declared {
            let value = item_value(self.db, declared).clone();
            return self.used(at, || format!("local.{name} is ephemeral"), value);
        }
        let close = self.closest(&ItemName::Local(name.clone()), name);
        let hint = suggest::question(close.as_deref());
        let detail = format!("A local value with the name \"{name}\" has not been declared.{hint}");
        let problem = undeclared(at, Summary::UNDECLARED_LOCAL, detail);
        problems.push(problem.fixed_by(Fix::last(name, close)));
        Abstract::any()
    }

    fn resource(
        &self,
        resource: &addr::Resource,
        at: ExprId,
        problems: &mut Vec<ItemProblem>,
    ) -> Abstract {
        if let Some(found) = self.find_resource(resource) {
            let key = found.key(self.db);
            // A provisioner may refer to its own resource, which exists when the provisioner runs.
            if key == self.key
                && let Some(object) = &*self.self_object.borrow()
            {
                let repeated = self.each.is_some() || self.counted;
                return if repeated {
                    Abstract::each(Type::Dynamic, object.clone())
                } else {
                    object.clone()
                };
            }
            problems.extend(self.out_of_scope(key, resource, at));
            let value = item_value(self.db, found).clone();
            return self.used(at, || format!("{resource} is ephemeral"), value);
        }
        let (detail, fix) = self.undeclared_resource(resource);
        let problem = undeclared(at, Summary::UNDECLARED_RESOURCE, detail);
        problems.push(problem.fixed_by(fix));
        Abstract::any()
    }

    /// Reports a reference to the data source of a check block from outside of that block.
    fn out_of_scope(
        &self,
        key: ItemKey,
        resource: &addr::Resource,
        at: ExprId,
    ) -> Option<ItemProblem> {
        // The block of such a data source also declares the check; other blocks declare one item.
        if block_names(self.db, key.block).len() < 2 {
            return None;
        }
        let check = item(self.db, key).kind.as_resource()?.in_check.as_ref()?;
        let is_the_check = match &item(self.db, self.key).kind {
            ItemKind::Check(it) => it.name == *check,
            _ => self.key == key,
        };
        if is_the_check {
            return None;
        }
        let detail = format!(
            "The referenced data resource \"{}\" \"{}\" is not available from this context: it \
             belongs to the check block \"{check}\". Declare it outside of the block to use it here.",
            resource.type_name, resource.name
        );
        let mut problem = ItemProblem::new(at.into(), Summary::SCOPED_REFERENCE, detail);
        let header = item(self.db, key).header;
        problem.relate(key, header, "declared here");
        Some(problem)
    }

    /// The detail of the error for an undeclared resource, and the fix. The suggestion may come from any of the
    /// three modes.
    pub(crate) fn undeclared_resource(&self, resource: &addr::Resource) -> (String, Option<Fix>) {
        let place = self.module_name();
        let mut detail = match resource.mode {
            ResourceMode::Managed => {
                format!(
                    "A managed resource \"{}\" \"{}\" has not been declared in {place}.",
                    resource.type_name, resource.name
                )
            }
            ResourceMode::Data => {
                format!(
                    "A data resource \"{}\" \"{}\" has not been declared in {place}.",
                    resource.type_name, resource.name
                )
            }
            ResourceMode::Ephemeral => {
                format!(
                    "There is no ephemeral resource \"{}\" \"{}\" definition in {place}.",
                    resource.type_name, resource.name
                )
            }
        };
        let is_declared =
            |resource: &addr::Resource| self.find(&ItemName::Resource(resource.clone())).is_some();
        let other_mode = [ResourceMode::Managed, ResourceMode::Data, ResourceMode::Ephemeral]
            .into_iter()
            .find_map(|mode| {
                let other =
                    addr::Resource::new(mode, resource.type_name.clone(), resource.name.clone());
                is_declared(&other).then_some((mode, other))
            });
        if let Some((mode, other)) = other_mode {
            let noun = if mode == ResourceMode::Data { "data resource" } else { mode.noun() };
            detail.push_str(&format!("\n\nDid you mean the {noun} {other}?"));
            return (detail, Fix::last(&resource.to_string(), Some(other.to_string())));
        }
        // A misspelled root such as `locl.x` parses as a resource of type `locl`.
        let roots = ["var", "local", "module", "data", "ephemeral", "each", "count", "path"];
        if resource.mode == ResourceMode::Managed
            && let Some(root) = suggest::closest(&resource.type_name, roots)
        {
            let meant = format!("{root}.{}", resource.name);
            detail.push_str(&format!(" Did you mean \"{meant}\"?"));
            return (detail, Fix::last(&resource.to_string(), Some(meant)));
        }
        let close = self.closest(&ItemName::Resource(resource.clone()), &resource.name);
        if let Some(close) = &close {
            detail.push_str(&format!(" Did you mean \"{close}\"?"));
        }
        (detail, Fix::last(&resource.name, close))
    }

    fn module(&self, call: &Str, at: ExprId, problems: &mut Vec<ItemProblem>) -> Abstract {
        match self.find(&ItemName::Module(call.clone())) {
            Some(key) => {
                self.used(at, || format!("module.{call} is ephemeral"), self.value_of(key))
            }
            None => {
                self.undeclared_module(call, at, problems);
                Abstract::any()
            }
        }
    }

    fn undeclared_module(&self, call: &str, at: ExprId, problems: &mut Vec<ItemProblem>) {
        let close = self.closest(&ItemName::Module(call.into()), call);
        let hint = suggest::question(close.as_deref());
        let detail =
            format!("No module call named \"{call}\" is declared in {}.{hint}", self.module_name());
        let problem = undeclared(at, Summary::UNDECLARED_MODULE, detail);
        problems.push(problem.fixed_by(Fix::last(call, close)));
    }

    /// The declared name that is closest to an undeclared one, if one is close enough. For a resource, only names
    /// of the same mode and type count.
    fn closest(&self, wanted: &ItemName, text: &str) -> Option<String> {
        let mut closest = Closest::to(text);
        for_each_near(self.db, self.directory, wanted, |name| match (wanted, name) {
            (ItemName::Resource(wanted), ItemName::Resource(it))
                if it.mode == wanted.mode && it.type_name == wanted.type_name =>
            {
                closest.offer(&it.name);
            }
            (_, ItemName::Variable(name) | ItemName::Local(name) | ItemName::Module(name)) => {
                closest.offer(name);
            }
            _ => {}
        });
        closest.found()
    }

    fn each(&self, value: bool, at: ExprId, problems: &mut Vec<ItemProblem>) -> Abstract {
        match &self.each {
            Some(each) if !self.in_repetition.get() => match value {
                true => {
                    let each = match self.recorder {
                        Some(recorder) => recorder.element(each.clone()),
                        None => each.clone(),
                    };
                    self.used(at, || "each.value is ephemeral".to_owned(), each)
                }
                false => Abstract::of_type(Type::String),
            },
            _ => {
                problems.push(ItemProblem::new(
                    at.into(),
                    Summary::INVALID_EACH,
                    "The \"each\" object can be used only in \"module\" or \"resource\" blocks, \
                     and only when the \"for_each\" argument is set.",
                ));
                Abstract::any()
            }
        }
    }

    fn count(&self, at: ExprId, problems: &mut Vec<ItemProblem>) -> Abstract {
        if !self.counted || self.in_repetition.get() {
            problems.push(ItemProblem::new(
                at.into(),
                Summary::INVALID_COUNT_REFERENCE,
                "The \"count\" object can only be used in \"module\", \"resource\", and \"data\" \
                 blocks, and only when the \"count\" argument is set.",
            ));
        }
        Abstract::of_type(Type::Number)
    }

    fn self_object(&self, at: ExprId, problems: &mut Vec<ItemProblem>) -> Abstract {
        match &*self.self_object.borrow() {
            Some(object) => object.clone(),
            None => {
                problems.push(ItemProblem::new(
                    at.into(),
                    Summary::INVALID_SELF,
                    "The \"self\" object is not available in this context. This object can be used \
                     only in resource provisioner, connection, and postcondition blocks.",
                ));
                Abstract::any()
            }
        }
    }

    /// The value of an output of a module call. A computed source may resolve to several modules: the result joins
    /// their outputs and is `None` if one of them lacks the output.
    fn output_of(&self, children: &[Directory], output: &str) -> Option<Abstract> {
        let of_child = |&child: &Directory| {
            let key = lookup(self.db, child, &ItemName::Output(output.into()))?;
            let declared = AnalyzedItem::of(self.db, self.workspace, child, key);
            Some(item_value(self.db, declared).clone())
        };
        let values: Option<Vec<Abstract>> = children.iter().map(of_child).collect();
        values?.into_iter().reduce(|one, other| one.either(&other))
    }
}

fn undeclared(at: ExprId, summary: Summary, detail: String) -> ItemProblem {
    ItemProblem::new(at.into(), summary, detail)
}

impl InferEnv for ItemEnv<'_> {
    fn may_be_absent(&self) -> bool {
        // The calls of a module are not known here, so any of its items may have no instances.
        self.may_be_absent || !self.is_in_root()
    }

    fn reference(&self, reference: &Ref, at: ExprId, problems: &mut Vec<ItemProblem>) -> Abstract {
        match reference {
            Ref::Variable(name) => self.variable(name, at, problems),
            Ref::Local(name) => self.local(name, at, problems),
            Ref::Resource(resource) => self.resource(resource, at, problems),
            Ref::Module(call) => self.module(call, at, problems),
            Ref::EachKey => self.each(false, at, problems),
            Ref::EachValue => self.each(true, at, problems),
            Ref::CountIndex => self.count(at, problems),
            Ref::SelfObject => self.self_object(at, problems),
            Ref::PathModule | Ref::PathRoot | Ref::PathCwd | Ref::PathTemp | Ref::Workspace => {
                Abstract::of_type(Type::String)
            }
            Ref::Output(_) | Ref::Run(_) => Abstract::any(),
            Ref::Applying => {
                let value = Abstract::of_type(Type::Bool).with_mark(MarkKind::Ephemeral, Tri::Yes);
                self.used(
                    at,
                    || "whether the apply command is running is an ephemeral value".to_owned(),
                    value,
                )
            }
        }
    }

    fn module_output(
        &self,
        call: &str,
        output: &str,
        at: ExprId,
        problems: &mut Vec<ItemProblem>,
    ) -> Option<Abstract> {
        let key = self.find(&ItemName::Module(call.into()))?;
        let declared = item(self.db, key).kind.as_module_call()?;
        let children = called_directories(self.db, self.workspace, self.directory, declared);
        let Some(&child) = children.first() else { return Some(Abstract::any()) };
        if let Some(value) = self.output_of(&children, output) {
            return Some(self.used(at, || format!("module.{call}.{output} is ephemeral"), value));
        }
        let names = names_of_kind(self.db, child, NameKind::Output);
        let names = names.iter().filter_map(|(name, _)| match name {
            ItemName::Output(name) => Some(&**name),
            _ => None,
        });
        let close = suggest::closest(output, names);
        let hint = suggest::question(close);
        let detail = format!("The module \"{call}\" has no output named \"{output}\".{hint}");
        let problem = ItemProblem::new(At::Step(at), Summary::UNSUPPORTED_ATTRIBUTE, detail);
        problems.push(problem.fixed_by(Fix::last(output, close)));
        Some(Abstract::any())
    }

    fn module_keys(&self, call: &str) -> Keys {
        let key = self.find(&ItemName::Module(call.into()));
        key.map_or(Keys::None, |key| keys_of(self.db, key))
    }

    fn provider_function(&self, name: &str) -> Lookup {
        let unknown = |detail| Lookup::Unknown { detail, close: None };
        let Some(parts) = provider_function::parse(name) else {
            return unknown(provider_function::not_a_name());
        };
        let required = required_providers(self.db, self.directory);
        if !required.declared.contains_key(parts.provider) {
            return unknown(provider_function::no_provider(name, parts.provider));
        }
        let source = required.source(parts.provider);
        let Some(input) = self.workspace.providers(self.db).get(&source) else {
            return Lookup::NotLoaded;
        };
        let is_builtin = source == addr::ProviderSource::builtin("terraform");
        if is_builtin && parts.alias.is_some() {
            return unknown(provider_function::no_provider(name, parts.provider));
        }
        let functions = &input.schemas(self.db).0.functions;
        match functions.get(parts.function) {
            Some(signature) => Lookup::Known(signature.clone()),
            None if !is_builtin && self.may_be_configured(parts) => Lookup::OfConfiguration,
            None => {
                let offered = functions.keys().map(|it| &**it);
                let (detail, close) = provider_function::not_offered(parts, offered);
                Lookup::Unknown { detail, close: close.map(Str::from) }
            }
        }
    }

    fn is_in_root(&self) -> bool {
        self.workspace.root(self.db) == self.directory
    }

    fn deprecated_outputs(&self, call: &str) -> Vec<DeprecatedOutput> {
        let key = self.find(&ItemName::Module(call.into()));
        let declared = key.and_then(|key| item(self.db, key).kind.as_module_call());
        let Some(declared) = declared else { return Vec::new() };
        let modules = called_directories(self.db, self.workspace, self.directory, declared);
        modules
            .iter()
            .flat_map(|it| deprecated::deprecated_outputs(self.db, *it))
            .cloned()
            .collect()
    }

    fn deprecated_parts(&self, resource: &addr::Resource) -> Vec<DeprecatedPart> {
        let declared = self.find(&ItemName::Resource(resource.clone()));
        let declared = declared.and_then(|key| item(self.db, key).kind.as_resource());
        let Some(declared) = declared else { return Vec::new() };
        let providers = required_providers(self.db, self.directory);
        let source = providers.source(provider_local_name(declared));
        let (mode, ty) = (resource.mode, &resource.type_name);
        let lookup = resource_schema(self.db, self.workspace, &source, mode, ty);
        match lookup {
            SchemaLookup::Found(schema) => deprecated::deprecated_parts(schema.block()),
            SchemaLookup::NoProvider | SchemaLookup::NoSuchType => Vec::new(),
        }
    }

    fn declared_here(&self, mut problem: ItemProblem, key: ItemKey, message: &str) -> ItemProblem {
        let header = item(self.db, key).header;
        problem.relate(key, header, message);
        problem
    }

    fn item(&self) -> ItemKey {
        self.key
    }

    fn link(&self, at: At, message: &str, from: Option<Arc<Origin>>) -> Option<Arc<Origin>> {
        Some(Origin::new(self.key, at, message, from))
    }

    fn recorder(&self) -> Option<&Recorder> {
        self.recorder
    }
}
