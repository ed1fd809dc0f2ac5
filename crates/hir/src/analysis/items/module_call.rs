//! `module` blocks: checks their arguments against the variables of the called module.

pub(crate) mod constant;
pub(crate) mod source;

use db::{Block, Directory, Summary};
use sorted::TreeMap;
use values::{Str, Type, convert};

use crate::{
    Db,
    analysis::{
        analyzed::{AnalyzedItem, Inference, item_value},
        env::ItemEnv,
        infer::{Infer, InferEnv},
        instances::all_instances,
        items::{
            depends_on::check_depends_on,
            provider_reference::{self, Referrer},
        },
        problem::ItemProblem,
        value::{Abstract, inside::Attrs, marks::Tri},
    },
    content::item as item_of,
    fix::Fix,
    item::{Attr, Item, ModuleCall, PassedProvider, TypeConstraint},
    item_name::{ItemKey, ItemName, NameKind},
    module_calls::{called_directories, module_calls},
    names::{lookup, required_providers},
    suggest,
    symbols::names_of_kind,
    workspace::Workspace,
};

pub(super) fn infer(item: &Item, call: &ModuleCall, mut env: ItemEnv<'_>) -> Inference {
    let (argument, mut problems) =
        super::repetition::with_repetition(item, call.repetition, &mut env);
    let mut infer = Infer::new(&item.exprs, &env);
    check_source(&mut infer, &env, item, call);
    let children = called_directories(env.db, env.workspace, env.directory, call);
    let inputs: Vec<(&Attr, Abstract)> =
        call.inputs.iter().map(|input| (input, infer.expr(input.value))).collect();
    for child in &children {
        let before = infer.problems.len();
        check_inputs(&mut infer, &env, item, *child, &inputs);
        without_repeated(&mut infer.problems, before);
    }
    check_providers(&mut infer, &env, item, call, &children);
    check_depends_on(&mut infer, &env, &call.depends_on);
    problems.append(&mut infer.problems);
    let objects = children.iter().map(|child| outputs(&env, *child));
    let object = objects.reduce(|one, other| one.either(&other)).unwrap_or_else(Abstract::any);
    let value = all_instances(call.repetition, argument.as_ref(), object);
    Inference { value, problems: problems.into() }
}

/// Checks the modules that a call resolves to.
pub(super) fn check_source(
    infer: &mut Infer<'_>,
    env: &ItemEnv<'_>,
    item: &Item,
    call: &ModuleCall,
) {
    source::check(infer, env, item, call);
    let children = called_directories(env.db, env.workspace, env.directory, call);
    if children.iter().any(|child| leads_to(env, *child)) {
        infer.problems.push(ItemProblem::new(
            call.source_node.into(),
            Summary::MODULE_CYCLE,
            "The called module is this module, or it calls this module again. Module calls must \
             not form a cycle.",
        ));
    }
}

/// Removes problems from `before` on that an earlier module, which the same call may resolve to, has caused as
/// well.
fn without_repeated(problems: &mut Vec<ItemProblem>, before: usize) {
    let new = problems.split_off(before);
    let is_reported = |it: &ItemProblem| {
        problems
            .iter()
            .any(|known| (known.at, known.id(), &known.detail) == (it.at, it.id(), &it.detail))
    };
    let new: Vec<ItemProblem> = new.into_iter().filter(|it| !is_reported(it)).collect();
    problems.extend(new);
}

/// The modules that a module calls directly.
///
/// **Stability:** an edit that does not change the sources of its calls leaves the result equal.
#[salsa::tracked(returns(ref))]
fn called_modules(db: &dyn Db, workspace: Workspace, directory: Directory) -> Vec<Directory> {
    module_calls(db, workspace, directory).map(|(_, called)| called).collect()
}

/// Returns true if the called module calls the calling module again, directly or through others.
fn leads_to(env: &ItemEnv<'_>, child: Directory) -> bool {
    let mut seen = vec![child];
    let mut next = 0;
    while let Some(&directory) = seen.get(next) {
        next += 1;
        if directory == env.directory {
            return true;
        }
        for &called in called_modules(env.db, env.workspace, directory) {
            if !seen.contains(&called) {
                seen.push(called);
            }
        }
    }
    false
}

/// The part of a variable's declaration that calls of its module depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct VariableSignature {
    ty: TypeConstraint,
    has_default: bool,
    nullable: bool,
    ephemeral: bool,
    is_const: bool,
    deprecated: Option<Str>,
}

/// The signature of a variable, or `None` if the item is no variable.
///
/// **Stability:** an edit of a description, of a validation or of the value of a default leaves it equal, so the
/// calls are not checked again.
#[salsa::tracked(returns(as_ref))]
fn variable_signature(db: &dyn Db, block: Block, index: u32) -> Option<VariableSignature> {
    let variable = item_of(db, ItemKey { block, index }).kind.as_variable()?;
    Some(VariableSignature {
        ty: variable.ty.clone(),
        has_default: variable.default.is_some(),
        nullable: variable.nullable,
        ephemeral: variable.ephemeral,
        is_const: variable.is_const,
        deprecated: variable.deprecated.clone(),
    })
}

fn variables<'db>(
    env: &ItemEnv<'db>,
    child: Directory,
) -> TreeMap<Str, (&'db VariableSignature, ItemKey)> {
    names_of_kind(env.db, child, NameKind::Variable)
        .into_iter()
        .filter_map(|(name, key)| match name {
            ItemName::Variable(name) => {
                Some((name, (variable_signature(env.db, key.block, key.index)?, key)))
            }
            _ => None,
        })
        .collect()
}

fn check_inputs(
    infer: &mut Infer<'_>,
    env: &ItemEnv<'_>,
    item: &Item,
    child: Directory,
    inputs: &[(&Attr, Abstract)],
) {
    let variables = variables(env, child);
    for (input, value) in inputs {
        let Some((variable, key)) = variables.get(&input.name) else {
            let close = suggest::closest(&input.name, variables.keys().map(|name| &**name));
            let hint = suggest::question(close);
            let detail =
                format!("An argument named \"{}\" is not expected here.{hint}", input.name);
            let problem =
                ItemProblem::new(input.node.into(), Summary::UNSUPPORTED_ARGUMENT, detail);
            infer.problems.push(problem.fixed_by(Fix::first(&input.name, close)));
            continue;
        };
        let certainty = value.deep_marks().ephemeral;
        if !variable.ephemeral && certainty > Tri::No {
            let problem = not_ephemeral(input, value);
            infer.problems.push(declared_here(problem, env, *key));
            continue;
        }
        if let Some(error) = type_error(variable, value) {
            let detail = format!(
                "The given value is not suitable for the module's variable \"{}\": {error}.",
                input.name
            );
            let summary = match is_null(value) {
                true => Summary::NULL_MODULE_ARGUMENT,
                false => Summary::INVALID_MODULE_ARGUMENT,
            };
            let problem = ItemProblem::new(input.value.into(), summary, detail);
            infer.problems.push(declared_here(problem, env, *key));
        }
        if let Some(message) = variable.deprecated.as_ref().filter(|_| !is_null(value)) {
            infer.problems.push(declared_here(deprecated(input, message), env, *key));
        }
        if variable.is_const
            && let Some(dynamic) = constant::dynamic_part(env, item, input)
        {
            infer.problems.push(declared_here(constant::problem(input, &dynamic), env, *key));
        }
    }
    for (name, (variable, key)) in &variables {
        let given = inputs.iter().any(|(input, _)| input.name == *name);
        if !variable.has_default && !given {
            let detail =
                format!("The argument \"{name}\" is required, but no definition was found.");
            let problem = ItemProblem::new(item.header.into(), Summary::MISSING_ARGUMENT, detail)
                .fixed_by(Some(Fix::MissingArgument((*name).clone())));
            infer.problems.push(declared_here(problem, env, *key));
        }
    }
}

/// Reports a provider configuration that is passed under a name or an alias that the called module does not
/// declare.
fn undefined_provider(
    env: &ItemEnv<'_>,
    child: Directory,
    passed: &PassedProvider,
) -> Option<ItemProblem> {
    if declares(env, child, passed) {
        return None;
    }
    let declared = &required_providers(env.db, child).declared;
    let name = &passed.child_name;
    let (summary, detail) = match (&passed.child_alias, declared.contains_key(name)) {
        (Some(alias), true) => {
            undefined_alias(&required_providers(env.db, child).source(name), name, alias)
        }
        _ => (Summary::UNDEFINED_PROVIDER, undefined_name(declared.keys(), name)),
    };
    let at = passed.parent.node.into();
    Some(ItemProblem::new(at, summary, detail))
}

/// Returns true if the called module requires the provider under this name and alias, or has a `provider` block for
/// it.
fn declares(env: &ItemEnv<'_>, child: Directory, passed: &PassedProvider) -> bool {
    let (name, alias) = (&passed.child_name, &passed.child_alias);
    let required = required_providers(env.db, child).declared.get(name);
    let is_required = required.is_some_and(|(entry, _)| match alias {
        None => true,
        Some(alias) => entry.configuration_aliases.contains(alias),
    });
    let block = ItemName::Provider(name.clone(), alias.clone());
    is_required || lookup(env.db, child, &block).is_some()
}

fn undefined_name<'n>(declared: impl Iterator<Item = &'n Str>, name: &str) -> String {
    let hint = suggest::question(suggest::closest(name, declared.map(|name| &**name)));
    let source = addr::ProviderSource::implied_for(name).for_display();
    format!(
        "The called module does not declare the provider name \"{name}\", so Mayfly assumes that \
         it refers to the provider {source}.{hint} If you control the called module, add \
         \"{name}\" to its required_providers."
    )
}

/// The summary and the detail for an undeclared alias. As in OpenTofu, it is an error only for providers outside
/// of the default namespace.
fn undefined_alias(source: &addr::ProviderSource, name: &str, alias: &str) -> (Summary, String) {
    let is_default = *source == addr::ProviderSource::default_for(source.type_name.clone());
    let summary = match is_default {
        true => Summary::UNDEFINED_PROVIDER,
        false => Summary::UNDEFINED_PROVIDER_ALIAS,
    };
    let detail = format!(
        "The called module does not list {name}.{alias} in configuration_aliases, so it cannot use \
         this configuration of {}. If you control the called module, add configuration_aliases = \
         [{name}.{alias}] to \"{name}\" in its required_providers; otherwise, take {name}.{alias} out of this call.",
        source.for_display()
    );
    (summary, detail)
}

fn declared_here(problem: ItemProblem, env: &ItemEnv<'_>, key: ItemKey) -> ItemProblem {
    env.declared_here(problem, key, "the variable is declared here")
}

fn is_null(value: &Abstract) -> bool {
    value.constant.as_ref().is_some_and(|it| it.0.is_null())
}

/// The warning for an argument of a variable that the module's author deprecates.
fn deprecated(input: &Attr, message: &str) -> ItemProblem {
    let detail = format!(
        "Variable \"{}\" is marked as deprecated with the following message:\n{message}",
        input.name
    );
    ItemProblem::new(input.value.into(), Summary::DEPRECATED_VARIABLE, detail)
}

/// The error for an ephemeral argument of a variable that is not declared ephemeral, as the ephemeral resources RFC
/// requires.
fn not_ephemeral(input: &Attr, value: &Abstract) -> ItemProblem {
    let detail = format!(
        "Variable `{}` is not marked as ephemeral. Therefore, it cannot reference an ephemeral \
         value. In case this is actually wanted, you can add the following attribute to its \
         declaration:\n  ephemeral = true",
        input.name
    );
    let problem = ItemProblem::new(input.value.into(), Summary::VARIABLE_NOT_EPHEMERAL, detail);
    let when = value.ephemeral.somewhere();
    problem.if_ephemeral(value.deep_marks().ephemeral, &when, value.origin.as_ref())
}

fn type_error(variable: &VariableSignature, value: &Abstract) -> Option<String> {
    let wanted = &variable.ty.ty;
    match &value.constant {
        Some(constant) if constant.0.is_null() => (!variable.nullable && !variable.has_default)
            .then(|| "required variable may not be set to null".to_owned()),
        Some(constant) => crate::eval::apply_type(&variable.ty, constant.0.clone())
            .err()
            .map(|error| error.to_string()),
        None if value.ty == Type::Dynamic
            || *wanted == Type::Dynamic
            || convert::can_convert(&value.ty, wanted) =>
        {
            None
        }
        None => Some(convert::mismatch(&value.ty, wanted)),
    }
}

/// The module's outputs as callers see them.
fn outputs(env: &ItemEnv<'_>, child: Directory) -> Abstract {
    let mut attrs = Attrs::new();
    for (name, key) in names_of_kind(env.db, child, NameKind::Output) {
        if let ItemName::Output(name) = name {
            attrs.insert(
                name,
                item_value(env.db, AnalyzedItem::of(env.db, env.workspace, child, key)).clone(),
            );
        }
    }
    Abstract::object(attrs)
}

fn check_providers(
    infer: &mut Infer<'_>,
    env: &ItemEnv<'_>,
    item: &Item,
    call: &ModuleCall,
    children: &[Directory],
) {
    let referrer = Referrer { item, repetition: call.repetition };
    for passed in call.providers.iter().flatten() {
        let undefined = children.iter().find_map(|child| undefined_provider(env, *child, passed));
        infer.problems.extend(undefined);
        provider_reference::check(infer, env, &referrer, &passed.parent);
    }
}
