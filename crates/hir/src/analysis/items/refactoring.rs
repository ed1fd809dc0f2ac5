//! `moved`, `removed` and `import` blocks: checks them against the configuration. The state is not available here.

use addr::Target;
use db::{Directory, Rule, Summary};
use rustc_hash::{FxHashMap, FxHashSet};
use sorted::TreeMap;
use values::{Kind, Str, Type, Value, convert};

use crate::{
    Db,
    analysis::{
        analyzed::{AnalyzedItem, Inference, item_value},
        env::ItemEnv,
        infer::Infer,
        instances::each_value,
        items::{
            provider_reference::{self, Referrer},
            provisioner,
        },
        problem::ItemProblem,
        value::{Abstract, inside::Inside, marks::Tri},
    },
    content::{item, keys_of},
    destroy_time,
    expr::{At, Expr, ExprId, Exprs, Literal},
    item::{
        Import, ImportTarget, Item, ItemKind, Moved, ProviderRef, RefTarget, Removed, Repetition,
    },
    item_name::{ItemKey, ItemName, Keys},
    module_calls::called_directory,
    names::{all_of, lookup},
};

fn found(problems: Vec<ItemProblem>) -> Inference {
    Inference { value: Abstract::any(), problems: problems.into() }
}

pub(super) fn moved(item: &Item, moved: &Moved, env: &ItemEnv<'_>) -> Inference {
    let mut problems = Vec::new();
    let all = wrong_moves(env.db, env.directory);
    problems.extend(all.get(&env.key).cloned());
    if problems.is_empty()
        && let Some(first) = still_declared(env, &moved.from)
        // Beside a key, an address without one names a single instance, which a repeated block does not have.
        && (!moved.is_single() || is_single(self::item(env.db, first)))
        && whole(&moved.to) != whole(&moved.from)
    {
        let detail = format!(
            "This statement declares a move from {}, but that is still declared. Change the \
             configuration so that it will be declared as {} instead.",
            moved.from, moved.to
        );
        problems.push(at_first(item, env, first, Summary::MOVED_OBJECT_EXISTS, detail));
    }
    found(problems)
}

fn is_single(declared: &Item) -> bool {
    let repetition = match &declared.kind {
        ItemKind::Resource(it) => it.repetition,
        ItemKind::ModuleCall(it) => it.repetition,
        _ => return true,
    };
    repetition == Repetition::Single
}

pub(super) fn removed(item: &Item, removed: &Removed, env: &ItemEnv<'_>) -> Inference {
    let mut infer = Infer::new(&item.exprs, env);
    // `self` is an object whose type is not looked up here.
    *env.self_object.borrow_mut() = Some(Abstract::any());
    let plugins = env.workspace.provisioners(env.db);
    provisioner::infer(&mut infer, plugins, &removed.provisioners, removed.connection.as_ref());
    *env.self_object.borrow_mut() = None;
    let mut problems = std::mem::take(&mut infer.problems);
    // A key of the removed object is known when the object is destroyed, so `each` and `count` are allowed.
    problems.retain(|it| ![Rule::InvalidEach, Rule::InvalidCountReference].contains(&it.id()));
    for refused in destroy_time::refused(item, &|it| env.needs_configuration(it)) {
        // Other problems at an expression that has no value at destroy time are irrelevant.
        let at = At::from(refused.expr);
        problems.retain(|it| it.at != at);
        let summary = Summary::INVALID_DESTROY_REFERENCE;
        problems.push(ItemProblem::new(at, summary, refused.detail));
    }
    if let Some(first) = still_declared(env, &removed.from) {
        let summary = match removed.from {
            Target::Module(_) => Summary::REMOVED_MODULE_EXISTS,
            _ => Summary::REMOVED_RESOURCE_EXISTS,
        };
        let detail = format!(
            "This statement declares that {} was removed, but it is still declared. Remove its block, or this one.",
            removed.from
        );
        problems.push(at_first(item, env, first, summary, detail));
    }
    found(problems)
}

fn at_first(
    at: &Item,
    env: &ItemEnv<'_>,
    first: ItemKey,
    summary: Summary,
    detail: String,
) -> ItemProblem {
    let mut problem = ItemProblem::new(at.header.into(), summary, detail);
    let header = item(env.db, first).header;
    problem.relate(first, header, "still declared here");
    problem
}

/// The declaration of the object that an address of this module names as a whole. `None` if there is none, or if
/// the address is in another module or has a key.
fn still_declared(env: &ItemEnv<'_>, target: &Target) -> Option<ItemKey> {
    let name = match target {
        Target::Resource(it) if it.module.steps().is_empty() => {
            ItemName::Resource(it.resource.clone())
        }
        Target::Module(module) => match module.steps() {
            [only] if only.key == addr::InstanceKey::None => {
                ItemName::Module(Str::from(only.name.as_str()))
            }
            _ => return None,
        },
        _ => return None,
    };
    lookup(env.db, env.directory, &name)
}

/// An address without its last key.
fn whole(target: &Target) -> String {
    match target {
        Target::Instance(it) => it.module.clone().to_string() + "." + &it.resource.to_string(),
        Target::Resource(it) => it.module.clone().to_string() + "." + &it.resource.to_string(),
        Target::Module(it) => it.path().to_string(),
    }
}

/// The problems of the `moved` blocks of a module taken together.
///
/// **Stability:** reads only the `moved` blocks of the module.
#[salsa::tracked(returns(ref))]
fn wrong_moves(db: &dyn Db, directory: Directory) -> FxHashMap<ItemKey, ItemProblem> {
    let keys = all_of(db, directory, &ItemName::Moved);
    let moves: Vec<(ItemKey, &Moved)> =
        keys.into_iter().filter_map(|key| Some((key, item(db, key).kind.as_moved()?))).collect();
    let mut wrong = FxHashMap::default();
    let mut by_from: FxHashMap<MoveEnd<'_>, (ItemKey, &Target)> = FxHashMap::default();
    let mut by_to: FxHashMap<MoveEnd<'_>, (ItemKey, &Target)> = FxHashMap::default();
    for &(key, moved) in &moves {
        let [from, to] = MoveEnd::both(moved);
        let problem = match (by_from.get(&from), by_to.get(&to)) {
            _ if moved.from == moved.to => Some(redundant(db, key, moved)),
            (Some(&(first, to)), _) if *to != moved.to => {
                let detail = format!(
                    "Another statement declared that {} moved to {to}, but this statement instead \
                     declares that it moved to {}. Each object can move to only one destination.",
                    moved.from, moved.to
                );
                Some(ambiguous(db, key, first, detail))
            }
            (_, Some(&(first, from))) if *from != moved.from => {
                let detail = format!(
                    "Another statement declared that {from} moved to {}, but this statement \
                     instead declares that {} moved there. Each object can have moved from only one source.",
                    moved.to, moved.from
                );
                Some(ambiguous(db, key, first, detail))
            }
            _ => None,
        };
        match problem {
            Some(problem) => drop(wrong.insert(key, problem)),
            None => {
                by_from.entry(from).or_insert((key, &moved.to));
                by_to.entry(to).or_insert((key, &moved.from));
            }
        }
    }
    in_cycles(db, &moves, &by_from, &mut wrong);
    wrong
}

/// An end of a move. Without keys at both ends, a move is about all instances, otherwise about single ones.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct MoveEnd<'t> {
    address: &'t Target,
    is_single: bool,
}

impl<'t> MoveEnd<'t> {
    fn both(moved: &'t Moved) -> [MoveEnd<'t>; 2] {
        let is_single = moved.is_single();
        [&moved.from, &moved.to].map(|address| MoveEnd { address, is_single })
    }
}

fn redundant(db: &dyn Db, key: ItemKey, moved: &Moved) -> ItemProblem {
    let detail = format!(
        "This statement declares a move from {} to the same address, which is the same as not \
         declaring this move at all.",
        moved.from
    );
    let at = item(db, key).header.into();
    ItemProblem::new(at, Summary::REDUNDANT_MOVE, detail)
}

fn ambiguous(db: &dyn Db, key: ItemKey, first: ItemKey, detail: String) -> ItemProblem {
    let at = item(db, key).header.into();
    let mut problem = ItemProblem::new(at, Summary::AMBIGUOUS_MOVES, detail);
    let header = item(db, first).header;
    problem.relate(first, header, "the other statement");
    problem
}

/// Reports cycles of moves. Each address has at most one destination at this point.
fn in_cycles(
    db: &dyn Db,
    moves: &[(ItemKey, &Moved)],
    by_from: &FxHashMap<MoveEnd<'_>, (ItemKey, &Target)>,
    wrong: &mut FxHashMap<ItemKey, ItemProblem>,
) {
    let mut done: FxHashSet<MoveEnd<'_>> = FxHashSet::default();
    for (_, moved) in moves {
        let mut chain: Vec<MoveStep<'_>> = Vec::new();
        let mut places: FxHashMap<MoveEnd<'_>, usize> = FxHashMap::default();
        let [mut at, _] = MoveEnd::both(moved);
        while !done.contains(&at)
            && let Some(&(key, to)) = by_from.get(&at)
        {
            done.insert(at);
            places.insert(at, chain.len());
            chain.push(MoveStep { from: at.address, statement: key });
            at = MoveEnd { address: to, ..at };
        }
        if let Some(&first) = places.get(&at) {
            report_cycle(db, &chain[first..], wrong);
        }
    }
}

/// A step of a chain of moves.
struct MoveStep<'t> {
    /// The address that the step moves from.
    from: &'t Target,
    /// The `moved` block.
    statement: ItemKey,
}

fn report_cycle(db: &dyn Db, cycle: &[MoveStep<'_>], wrong: &mut FxHashMap<ItemKey, ItemProblem>) {
    const MAX_LISTED: usize = 20;
    let names = cycle.iter().map(|it| it.from.to_string()).take(MAX_LISTED);
    let path = names.collect::<Vec<_>>().join(" → ");
    let back = if cycle.len() > MAX_LISTED { "…".to_owned() } else { cycle[0].from.to_string() };
    let detail = format!(
        "The moves {path} → {back} form a cycle, so there is no final location to move objects to. \
         A chain of moves must end with an address that no other statement moves from."
    );
    let key = cycle[0].statement;
    let at = item(db, key).header.into();
    let mut problem = ItemProblem::new(at, Summary::CYCLIC_MOVES, detail);
    for step in cycle.iter().skip(1).take(MAX_LISTED) {
        let header = item(db, step.statement).header;
        problem.relate(step.statement, header, "goes on here");
    }
    wrong.insert(key, problem);
}

pub(super) fn import(item: &Item, import: &Import, mut env: ItemEnv<'_>) -> Inference {
    let mut problems = Vec::new();
    if env.workspace.root(env.db) != env.directory {
        problems.push(ItemProblem::new(
            item.header.into(),
            Summary::IMPORT_OUTSIDE_ROOT,
            format!(
                "An import block was detected in the module in {}. Import blocks are only allowed in the root module.",
                env.directory.path(env.db)
            ),
        ));
    }
    if let Some(for_each) = import.for_each {
        env.in_repetition.set(true);
        let mut infer = Infer::new(&item.exprs, &env);
        let value = infer.expr(for_each);
        check_for_each(&mut infer, for_each, &value);
        problems.append(&mut infer.problems);
        drop(infer);
        env.in_repetition.set(false);
        env.each = Some(each_value(&value));
    }
    let mut infer = Infer::new(&item.exprs, &env);
    for key in import.to.module_keys.iter().flatten().chain(&import.to.key) {
        check_key(&mut infer, *key);
    }
    if let Some(id) = import.id {
        check_id(&mut infer, item, import, id);
    }
    if let Some(identity) = import.identity {
        check_identity(&mut infer, identity);
    }
    // A key that is invalid in itself has been reported already.
    if !infer.problems.iter().any(|it| it.id() == Rule::InvalidImportKey) {
        let target = wrong_target(&mut infer, import, &env);
        infer.problems.extend(target);
    }
    check_provider(&mut infer, item, import, &env);
    problems.append(&mut infer.problems);
    problems.extend(duplicate_import(item, import, &env));
    found(problems)
}

fn check_for_each(infer: &mut Infer<'_>, at: ExprId, value: &Abstract) {
    let marks = &value.marks;
    let what = match (marks.ephemeral, marks.sensitive) {
        (Tri::Yes, _) => Some(
            "The import for_each cannot be ephemeral: the addresses that are imported are kept.",
        ),
        (_, Tri::Yes) => Some(
            "The import for_each cannot be sensitive: the addresses that are imported are shown.",
        ),
        _ => None,
    };
    let is_null = value.constant.as_ref().is_some_and(|it| it.0.is_null());
    let is_iterable = matches!(
        value.ty,
        Type::Dynamic | Type::Map(_) | Type::Object(_) | Type::Set(_) | Type::Tuple(_)
    );
    let detail = match what {
        Some(what) => what.to_owned(),
        None if is_null => {
            "The given \"for_each\" argument value is unsuitable: the given value is null."
                .to_owned()
        }
        None if !is_iterable => format!(
            "The given \"for_each\" argument value is unsuitable: it must be a map, a set of strings \
             or a tuple, and is {}.",
            value.ty.friendly_name()
        ),
        None => return,
    };
    let problem = ItemProblem::new(at.into(), Summary::INVALID_IMPORT_FOR_EACH, detail);
    infer.problems.push(problem.with_origin_chain(value.origin.as_ref()));
}

fn check_identity(infer: &mut Infer<'_>, identity: ExprId) {
    let value = infer.expr(identity);
    let is_null = value.constant.as_ref().is_some_and(|it| it.0.is_null());
    let is_object = matches!(value.ty, Type::Dynamic | Type::Object(_) | Type::Map(_));
    if is_secret(&value) || (is_object && !is_null) {
        return refuse_marks(infer, identity, &value, "identity");
    }
    let detail = match is_null {
        true => "The import identity cannot be null.".to_owned(),
        false => format!(
            "The import identity must be an object with the attributes by which the provider \
             identifies the resource, and not {}.",
            value.ty.friendly_name()
        ),
    };
    infer.problems.push(ItemProblem::new(
        identity.into(),
        Summary::INVALID_IMPORT_IDENTITY,
        detail,
    ));
}

/// Checks the key of an instance. Keys are shown and written to the state, so they must not be secret.
fn check_key(infer: &mut Infer<'_>, key: ExprId) {
    let value = infer.expr(key);
    if let Some(problem) = no_key(&value).filter(|_| !is_secret(&value)) {
        let detail = format!("Invalid instance key: {problem}.");
        infer.problems.push(ItemProblem::new(key.into(), Summary::INVALID_IMPORT_KEY, detail));
        return;
    }
    let marks = value.deep_marks();
    let (certainty, what) = match (marks.ephemeral, marks.sensitive) {
        (Tri::No, sensitive) => (sensitive, "sensitive"),
        (ephemeral, _) => (ephemeral, "ephemeral"),
    };
    if certainty == Tri::No {
        return;
    }
    let detail = format!(
        "Import block contained a resource address using an index which is {what}. Please ensure \
         indexes used in the resource address of an import target are not {what}"
    );
    let problem = ItemProblem::new(key.into(), Summary::INVALID_IMPORT_KEY, detail);
    let when = value.ephemeral.somewhere();
    infer.problems.push(problem.if_ephemeral(certainty, &when, value.origin.as_ref()));
}

/// Returns true if the value is certainly sensitive or ephemeral.
fn is_secret(value: &Abstract) -> bool {
    let marks = value.deep_marks();
    marks.ephemeral.max(marks.sensitive) == Tri::Yes
}

fn refuse_marks(infer: &mut Infer<'_>, at: ExprId, value: &Abstract, what: &str) {
    let marks = value.deep_marks();
    let (certainty, mark) = match (marks.ephemeral, marks.sensitive) {
        (Tri::No, sensitive) => (sensitive, "sensitive"),
        (ephemeral, _) => (ephemeral, "ephemeral"),
    };
    if certainty == Tri::No {
        return;
    }
    let detail = format!("The import {what} cannot be {mark}.");
    let summary = match what {
        "identity" => Summary::INVALID_IMPORT_IDENTITY,
        _ => Summary::INVALID_IMPORT_ID,
    };
    let problem = ItemProblem::new(at.into(), summary, detail);
    let when = value.ephemeral.somewhere();
    infer.problems.push(problem.if_ephemeral(certainty, &when, value.origin.as_ref()));
}

fn check_id(infer: &mut Infer<'_>, item: &Item, import: &Import, id: ExprId) {
    let is_itself = |target: &RefTarget| match target {
        RefTarget::Resource(it) => *it == import.to.resource && import.to.module.is_root(),
        _ => false,
    };
    let mut inside = FxHashSet::default();
    let mut open = vec![id];
    while let Some(expr) = open.pop() {
        inside.insert(expr);
        item.exprs[expr].for_each_child(&mut |child| open.push(child));
    }
    let refers_to_itself =
        item.refs.iter().any(|it| inside.contains(&it.expr) && is_itself(&it.target));
    let value = infer.expr(id);
    let text = value.constant.as_ref().map(|it| &it.0);
    let detail = if refers_to_itself {
        "The import ID cannot reference the resource being imported."
    } else if is_secret(&value) {
        // Check the marks first: the other messages would reveal whether a secret is empty or null.
        return refuse_marks(infer, id, &value, "id");
    } else if text.is_some_and(Value::is_null) {
        "The import ID cannot be null."
    } else if text.is_some_and(|it| matches!(it.kind(), Kind::String(text) if text.is_empty())) {
        "The import ID value evaluates to an empty string, please provide a non-empty value."
    } else if value.ty != Type::Dynamic && !convert::can_convert(&value.ty, &Type::String) {
        let detail = "Invalid expression value: string required.";
        infer.problems.push(ItemProblem::new(id.into(), Summary::INCORRECT_IMPORT_TYPE, detail));
        return;
    } else {
        return refuse_marks(infer, id, &value, "id");
    };
    infer.problems.push(ItemProblem::new(id.into(), Summary::INVALID_IMPORT_ID, detail));
}

/// The reason why a value cannot be the key of an instance, or `None` if it can.
fn no_key(value: &Abstract) -> Option<&'static str> {
    let is_primitive = matches!(value.ty, Type::Dynamic | Type::String | Type::Number);
    let constant = value.constant.as_ref().map(|it| it.0.unmark().0);
    match constant.as_ref().map(Value::kind) {
        Some(Kind::Number(number)) if !number.is_integer() || number.signum() < 0 => {
            Some("value must be a whole number, and not negative")
        }
        Some(Kind::Null) => Some("either a string or an integer is required, and it is null"),
        _ if !is_primitive => Some("either a string or an integer is required"),
        _ => None,
    }
}

/// The declaration that a step of an import's address leads to.
struct Place<'p> {
    /// The kind of declaration, as messages name it.
    what: &'p str,
    key: Option<ExprId>,
    declared: ItemKey,
}

/// The error for an address that has no configuration. A resource of the root module without a key may be
/// undeclared: `-generate-config-out` writes its configuration.
fn wrong_target(infer: &mut Infer<'_>, import: &Import, env: &ItemEnv<'_>) -> Option<ItemProblem> {
    let to = &import.to;
    let mut directory = env.directory;
    let undeclared = || {
        let address = whole_address(to);
        let detail = format!(
            "The configuration for the given import target {address} does not exist. All target \
             instances must have an associated configuration to be imported."
        );
        Some(ItemProblem::new(to.node.into(), Summary::UNDECLARED_IMPORT_TARGET, detail))
    };
    for (name, key) in to.module.names().iter().zip(&to.module_keys) {
        let Some(call) = lookup(env.db, directory, &ItemName::Module(Str::from(name.as_str())))
        else {
            return undeclared();
        };
        let place = Place { what: "module", key: *key, declared: call };
        if let Some(problem) = wrong_key(infer, import, env, directory, &place) {
            return Some(problem);
        }
        let called = item(env.db, call).kind.as_module_call()?;
        directory = called_directory(env.db, env.workspace, directory, called)?;
    }
    match lookup(env.db, directory, &ItemName::Resource(to.resource.clone())) {
        Some(declared) => {
            let place = Place { what: "resource", key: to.key, declared };
            wrong_key(infer, import, env, directory, &place)
        }
        None if to.module.is_root() && to.key.is_none() && import.for_each.is_none() => None,
        None => undeclared(),
    }
}

fn whole_address(to: &ImportTarget) -> String {
    let modules = to.module.names().iter().map(|name| format!("module.{name}."));
    modules.chain([to.resource.to_string()]).collect()
}

/// The error for a key that is superfluous, missing or of the wrong kind, or that certainly no instance has.
fn wrong_key(
    infer: &mut Infer<'_>,
    import: &Import,
    env: &ItemEnv<'_>,
    directory: Directory,
    place: &Place<'_>,
) -> Option<ItemProblem> {
    let Place { what, key, declared } = *place;
    let keys = keys_of(env.db, declared);
    let constant = key.and_then(|key| infer.expr(key).constant).map(|it| it.0.unmark().0);
    let detail = match (keys, key, constant.as_ref().map(Value::kind)) {
        (Keys::None, Some(_), Some(Kind::Number(_))) => {
            format!("The target {what} does not use count.")
        }
        (Keys::None, Some(_), Some(_)) => format!("The target {what} does not use for_each."),
        (Keys::None, Some(_), None) => {
            format!("The target {what} uses neither count nor for_each.")
        }
        (Keys::Numbers, None, _) => format!("The target {what} is using count."),
        (Keys::Texts, None, _) => format!("The target {what} is using for_each."),
        (Keys::Numbers, _, Some(Kind::String(_))) => {
            format!("The target {what} does not use for_each.")
        }
        (Keys::Texts, _, Some(Kind::Number(_))) => format!("The target {what} does not use count."),
        _ => {
            let instances = AnalyzedItem::of(env.db, env.workspace, directory, declared);
            let missing = missing_instance(item_value(env.db, instances), constant.as_ref()?)?;
            let detail = format!(
                "The target {what} has no instance with the key {missing}. All target instances \
                 must have an associated configuration to be imported."
            );
            let at = key.map_or(import.to.node.into(), At::from);
            return Some(ItemProblem::new(at, Summary::UNDECLARED_IMPORT_TARGET, detail));
        }
    };
    let at = key.map_or(import.to.node.into(), At::from);
    Some(ItemProblem::new(at, Summary::WRONG_IMPORT_KEY, detail))
}

/// The key as text, if all instances are known and none has it; otherwise `None`.
fn missing_instance(instances: &Abstract, key: &Value) -> Option<String> {
    match (&instances.inside, key.kind()) {
        (Inside::Items(items), Kind::Number(number)) => {
            let is_there = number.to_usize().is_some_and(|it| it < items.len());
            (!is_there).then(|| number.to_string())
        }
        (Inside::Attrs(names), Kind::String(text)) => {
            let is_there = names.keys().any(|it| **it == **text);
            (!is_there).then(|| format!("{:?}", &**text))
        }
        _ => None,
    }
}

/// Checks the `provider` argument. It chooses the provider of a resource whose configuration is generated. Afterwards
/// it may stay, if the block of the resource has the same argument.
fn check_provider(infer: &mut Infer<'_>, item: &Item, import: &Import, env: &ItemEnv<'_>) {
    let Some((provider, node)) = &import.provider else { return };
    if let Some(detail) = wrong_provider(import, provider, env) {
        let summary = Summary::INVALID_IMPORT_PROVIDER;
        infer.problems.push(ItemProblem::new((*node).into(), summary, detail));
        return;
    }
    let repetition = import.for_each.map_or(Repetition::Single, Repetition::ForEach);
    provider_reference::check(infer, env, &Referrer { item, repetition }, provider);
}

/// The reason why the `provider` argument of an import is wrong; `None` if it may be right.
fn wrong_provider(
    import: &Import,
    provider: &ProviderRef,
    env: &ItemEnv<'_>,
) -> Option<&'static str> {
    if !import.to.module.is_root() {
        return Some(
            "The provider argument can only be specified in import blocks that will generate \
             configuration. Use the providers argument within the module block to configure \
             providers for all resources within a module, including imported resources.",
        );
    }
    let name = ItemName::Resource(import.to.resource.clone());
    let declared = item(env.db, lookup(env.db, env.directory, &name)?).kind.as_resource()?;
    let Some(of_resource) = &declared.provider else {
        return Some(
            "The provider argument can only be specified in import blocks that will generate \
             configuration. To choose the provider of a resource that is declared, use the \
             provider argument of its block.",
        );
    };
    let is_same =
        of_resource.local_name == provider.local_name && of_resource.alias == provider.alias;
    (!is_same).then_some(
        "The provider argument in the target resource block must match the import block. Only the \
         block of the resource needs one.",
    )
}

/// The error for an import to an address that an earlier block imports to. Both addresses must be constant.
fn duplicate_import(item_: &Item, import: &Import, env: &ItemEnv<'_>) -> Option<ItemProblem> {
    let address = constant_address(&item_.exprs, &import.to)?;
    let first = first_imports(env.db, env.directory).get(&address).copied()?;
    if first == env.key {
        return None;
    }
    let detail = format!(
        "An import block for the resource \"{address}\" was already declared. A resource can have \
         only one import block."
    );
    let mut problem = ItemProblem::new(
        import.to.node.into(),
        Summary::duplicate_import(format_args!("{:?}", address.to_string())),
        detail,
    );
    let header = item(env.db, first).header;
    problem.relate(first, header, "first declared here");
    Some(problem)
}

/// The `import` blocks of a module by their constant addresses. If several have the same address, the first is
/// kept.
#[salsa::tracked(returns(ref))]
fn first_imports(db: &dyn Db, directory: Directory) -> TreeMap<String, ItemKey> {
    let mut first = TreeMap::new();
    for key in all_of(db, directory, &ItemName::Import) {
        let declared = item(db, key);
        let Some(import) = declared.kind.as_import() else { continue };
        if let Some(address) = constant_address(&declared.exprs, &import.to) {
            first.entry(address).or_insert(key);
        }
    }
    first
}

/// The address with its keys, or `None` if a key is no literal.
fn constant_address(exprs: &Exprs, to: &ImportTarget) -> Option<String> {
    let key = |key: Option<ExprId>| -> Option<String> {
        Some(match key {
            None => String::new(),
            Some(key) => match &exprs[key] {
                Expr::Literal(Literal::String(text)) => format!("[{:?}]", &**text),
                Expr::Literal(Literal::Number(number)) => format!("[{number}]"),
                _ => return None,
            },
        })
    };
    let mut address = String::new();
    for (name, module_key) in to.module.names().iter().zip(&to.module_keys) {
        address.push_str(&format!("module.{name}{}.", key(*module_key)?));
    }
    Some(format!("{address}{}{}", to.resource, key(to.key)?))
}
