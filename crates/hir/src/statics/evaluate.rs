//! Evaluates variables, local values and arguments of module calls, on one path of calls.

use std::sync::Arc;

use db::{Block, Directory, Summary};
use values::{Kind, Mark, MarkKind, Str, Type, Value, convert};

use crate::{
    Db,
    content::item,
    eval::{self, apply_type},
    expr::{At, Expr, ExprId, Literal, Ref},
    item::{Attr, ConstValue, Item, Variable},
    item_name::{ItemKey, ItemName},
    names::lookup,
    place::ItemPlace,
    scope::Interrupt,
    statics::{
        scope::StaticScope,
        static_error::{Deferral, NoValue, StaticError},
    },
    workspace::Workspace,
};

/// A module, identified by one path of module calls without instance keys.
#[salsa::interned(revisions = usize::MAX)]
pub struct CallPath<'db> {
    /// The configuration.
    #[returns(copy)]
    pub workspace: Workspace,
    /// The directory of the module.
    #[returns(copy)]
    pub directory: Directory,
    /// The path of the calling module, and the block and index of the call. `None` for the root module, and for a
    /// module independent of its calls.
    #[returns(copy)]
    above: Option<(CallPath<'db>, Block, u32)>,
}

impl<'db> CallPath<'db> {
    /// The path of the root module.
    pub fn root(db: &'db dyn Db, workspace: Workspace) -> CallPath<'db> {
        CallPath::new(db, workspace, workspace.root(db), None)
    }

    /// A module independent of how it is called: its variables are unknown. For the root module, equals
    /// [`CallPath::root`].
    pub(super) fn without_caller(
        db: &'db dyn Db,
        workspace: Workspace,
        directory: Directory,
    ) -> CallPath<'db> {
        CallPath::new(db, workspace, directory, None)
    }

    /// The path to the module that a call of this module leads to.
    pub(super) fn below(
        self,
        db: &'db dyn Db,
        call: ItemKey,
        directory: Directory,
    ) -> CallPath<'db> {
        CallPath::new(db, self.workspace(db), directory, Some((self, call.block, call.index)))
    }

    /// The path of the calling module, and the call. `None` for the root module.
    fn caller(self, db: &'db dyn Db) -> Option<(CallPath<'db>, ItemKey)> {
        self.above(db).map(|(path, block, index)| (path, ItemKey { block, index }))
    }

    /// The name of a definition in messages, prefixed with the module address: `local.a`, `module.m:local.a`.
    fn named(self, db: &dyn Db, what: &str) -> String {
        let mut names = Vec::new();
        let mut next = self.caller(db);
        while let Some((path, key)) = next {
            let name = item(db, key).kind.as_module_call().map(|it| it.name.clone());
            names.push(format!("module.{}", name.unwrap_or_default()));
            next = path.caller(db);
        }
        names.reverse();
        match names.as_slice() {
            [] => what.to_owned(),
            names => format!("{}:{what}", names.join(".")),
        }
    }
}

/// A value, or the reason why there is none.
pub(super) type Outcome = Result<ConstValue, NoValue>;

/// The value of an undeclared name. It has no reason, because another check reports undeclared references.
static UNDECLARED: Outcome = Err(None);

/// The value of a variable.
///
/// The queries below are keyed by declarations and not by names: a declaration is a place in a block, which is
/// reused, while a user types any number of names.
pub(super) fn variable_value<'db>(
    db: &'db dyn Db,
    path: CallPath<'db>,
    name: &Str,
) -> &'db Outcome {
    match lookup(db, path.directory(db), &ItemName::Variable(name.clone())) {
        Some(key) => value_of_variable(db, path, key),
        None => &UNDECLARED,
    }
}

/// The value of a local value.
pub(super) fn local_value<'db>(db: &'db dyn Db, path: CallPath<'db>, name: &Str) -> &'db Outcome {
    match lookup(db, path.directory(db), &ItemName::Local(name.clone())) {
        Some(key) => value_of_local(db, path, key),
        None => &UNDECLARED,
    }
}

/// The value of a variable by its declaration.
///
/// **Stability:** depends only on the value that the variable gets, not on how that is written.
#[salsa::tracked(returns(ref), cycle_result = in_cycle)]
fn value_of_variable<'db>(db: &'db dyn Db, path: CallPath<'db>, key: ItemKey) -> Outcome {
    let of_variable = item(db, key);
    let variable = of_variable.kind.as_variable().ok_or(None)?;
    let value = match path.caller(db) {
        None if path.directory(db) != path.workspace(db).root(db) => {
            Ok(Value::unknown(variable.ty.ty.clone()))
        }
        None => root_value(db, path, key, of_variable, variable),
        Some((caller, call)) => argument_value(db, caller, call, of_variable, variable),
    }?;
    let mark = |value: Value, is: bool, mark| if is { value.with_mark(mark) } else { value };
    let value = mark(value, variable.sensitive, Mark::Sensitive);
    Ok(ConstValue(mark(value, variable.ephemeral, Mark::Ephemeral)))
}

/// The value of a local value by its declaration.
///
/// **Stability:** depends on the expression and on the values of its references.
#[salsa::tracked(returns(ref), cycle_result = in_cycle)]
fn value_of_local<'db>(db: &'db dyn Db, path: CallPath<'db>, key: ItemKey) -> Outcome {
    let of_local = item(db, key);
    let local = of_local.kind.as_local().ok_or(None)?;
    let subject = path.named(db, &format!("local.{}", local.name));
    evaluate(db, path, key, of_local, local.value, &subject).map(ConstValue)
}

/// Fallback for a cycle, which another check reports.
fn in_cycle(_: &dyn Db, _: salsa::Id, _: CallPath<'_>, _: ItemKey) -> Outcome {
    Err(None)
}

fn root_value(
    db: &dyn Db,
    path: CallPath<'_>,
    key: ItemKey,
    of_variable: &Item,
    variable: &Variable,
) -> Result<Value, NoValue> {
    if variable.sensitive || variable.ephemeral || variable.may_be_secret {
        return Ok(Value::unknown(variable.ty.ty.clone()));
    }
    let given = path.workspace(db).static_inputs(db).variables.get(&variable.name);
    match given {
        Some(given) if !(given.0.is_null() && !variable.nullable && variable.default.is_some()) => {
            apply_type(&variable.ty, given.0.clone()).map_err(|error| {
                let detail =
                    format!("The given value is not suitable for var.{}: {error}.", variable.name);
                let here = format!("var.{} is declared here", variable.name);
                let place = ItemPlace::new(key, of_variable.header);
                Some(Arc::new(StaticError::at(
                    place,
                    Summary::INVALID_STATIC_VARIABLE,
                    detail,
                    here,
                )))
            })
        }
        _ => match variable.default {
            Some(default) => default_value(of_variable, variable, default),
            None => Err(Some(Arc::new(unset(key, of_variable, variable)))),
        },
    }
}

fn unset(key: ItemKey, of_variable: &Item, variable: &Variable) -> StaticError {
    let name = &variable.name;
    let detail = format!(
        "It depends on var.{name}, which is not available: it has no default, and no value is \
         given. It is needed before a plan asks for values. Give one with -var '{name}=...', in a \
         .tfvars file, or in TF_VAR_{name}, to each command; or give the variable a default."
    );
    let here = format!("var.{name} is declared without a default");
    StaticError::at(
        ItemPlace::new(key, of_variable.header),
        Summary::UNSET_STATIC_VARIABLE,
        detail,
        here,
    )
    .with_deferral(Deferral::UnsetVariable)
}

/// The default of a variable. An error has no reason, because another check reports invalid defaults.
fn default_value(
    of_variable: &Item,
    variable: &Variable,
    default: ExprId,
) -> Result<Value, NoValue> {
    let constant = eval::constant(&of_variable.exprs, default);
    match constant.has_errors() {
        false => apply_type(&variable.ty, constant.value).map_err(|_| None),
        true => Err(None),
    }
}

/// The value that a call gives to a variable of the called module. An error of the conversion has no reason,
/// because the check of the call reports it.
fn argument_value(
    db: &dyn Db,
    caller: CallPath<'_>,
    call: ItemKey,
    of_variable: &Item,
    variable: &Variable,
) -> Result<Value, NoValue> {
    let of_call = item(db, call);
    let inputs = &of_call.kind.as_module_call().ok_or(None)?.inputs;
    let default = || match variable.default {
        Some(default) => default_value(of_variable, variable, default),
        None => Err(None),
    };
    let Some(input) = inputs.iter().find(|it| it.name == variable.name) else { return default() };
    let name = &of_call.kind.as_module_call().ok_or(None)?.name;
    let subject = caller.named(db, &format!("module.{name}:var.{}", variable.name));
    let value = evaluate(db, caller, call, of_call, input.value, &subject)?;
    match value.is_null() && !variable.nullable {
        true => default(),
        false => apply_type(&variable.ty, value).map_err(|_| None),
    }
}

/// The value of an expression. `subject` describes the expression in messages.
pub(super) fn evaluate(
    db: &dyn Db,
    path: CallPath<'_>,
    key: ItemKey,
    of_item: &Item,
    expr: ExprId,
    subject: &str,
) -> Result<Value, NoValue> {
    check_references(db, path, key, of_item, expr, subject)?;
    let scope = StaticScope::new(db, path);
    let evaluated = match eval::evaluate(&of_item.exprs, expr, &scope) {
        Ok(evaluated) => evaluated,
        Err(
            Interrupt::ArgumentError(_)
            | Interrupt::Poisoned
            | Interrupt::Refused { .. }
            | Interrupt::Stopped
            | Interrupt::Exceeded { .. },
        ) => {
            return Err(None);
        }
    };
    if let Some(file) = scope.wanted_file() {
        return Err(Some(Arc::new(StaticError::missing_file(file))));
    }
    let mut errors = evaluated.diagnostics.iter().filter(|it| it.severity() == db::Severity::Error);
    match errors.next() {
        None => Ok(evaluated.value),
        Some(found) => {
            let deferral =
                if scope.needs_runtime() { Deferral::RuntimeFunction } else { Deferral::None };
            Err(Some(Arc::new(StaticError::evaluating(key, found).with_deferral(deferral))))
        }
    }
}

/// Checks that all references of an expression have a value, even those in arms that are not chosen and in `try`.
/// The set of values that a command needs before it starts should not depend on values.
fn check_references(
    db: &dyn Db,
    path: CallPath<'_>,
    key: ItemKey,
    of_item: &Item,
    expr: ExprId,
    subject: &str,
) -> Result<(), NoValue> {
    let mut silent = false;
    for part in references_in(of_item, expr) {
        let outcome = match &of_item.exprs[part] {
            Expr::Ref(Ref::Variable(name)) => variable_value(db, path, name),
            Expr::Ref(Ref::Local(name)) => local_value(db, path, name),
            other => match unsupported(other, subject) {
                Some(Unsupported { summary, detail, here }) => {
                    let place = ItemPlace::new(key, part);
                    let error = StaticError::at(place, summary, detail, here);
                    return Err(Some(Arc::new(error)));
                }
                None => continue,
            },
        };
        let Err(error) = outcome else { continue };
        let Some(error) = error else {
            silent = true;
            continue;
        };
        let Expr::Ref(reference) = &of_item.exprs[part] else { continue };
        let here = format!("{subject} depends on {reference}, which is not available");
        let error = error.used_at(key, At::Expr(part), here);
        return Err(Some(Arc::new(error)));
    }
    if silent { Err(None) } else { Ok(()) }
}

/// The references and calls in an expression, in the order of the text.
fn references_in(of_item: &Item, expr: ExprId) -> Vec<ExprId> {
    let (mut open, mut found) = (vec![expr], Vec::new());
    while let Some(expr) = open.pop() {
        if matches!(of_item.exprs[expr], Expr::Ref(_) | Expr::Call(_)) {
            found.push(expr);
        }
        of_item.exprs[expr].for_each_child(&mut |child| open.push(child));
    }
    sorted::sort(&mut found);
    found
}

/// The error for an expression that static evaluation does not support.
struct Unsupported {
    summary: Summary,
    detail: String,
    /// The message at the location.
    here: String,
}

/// The error for an expression that static evaluation does not support. `None` if it is supported.
fn unsupported(expr: &Expr, subject: &str) -> Option<Unsupported> {
    let (summary, what) = match expr {
        Expr::Ref(reference) => match reference {
            Ref::Module(_) => (Summary::STATIC_MODULE_OUTPUT, reference.to_string()),
            Ref::Resource(_)
            | Ref::EachKey
            | Ref::EachValue
            | Ref::CountIndex
            | Ref::SelfObject
            | Ref::PathTemp
            | Ref::Applying
            | Ref::Output(_)
            | Ref::Run(_) => (Summary::DYNAMIC_VALUE, reference.to_string()),
            Ref::Variable(_)
            | Ref::Local(_)
            | Ref::PathModule
            | Ref::PathRoot
            | Ref::PathCwd
            | Ref::Workspace => return None,
        },
        Expr::Call(call) if call.name.starts_with("provider::") => {
            (Summary::STATIC_PROVIDER_FUNCTION, call.name.to_string())
        }
        _ => return None,
    };
    let detail = format!(
        "Unable to use {what} in static context, which is required by {subject}: it has no value \
         before the configuration is planned. Use variables, local values, path.module, path.root, \
         path.cwd and terraform.workspace."
    );
    let here = format!("{what} has no value before the configuration is planned");
    Some(Unsupported { summary, detail, here })
}

/// The messages for the evaluation of an argument that a command needs before it starts.
pub(super) struct Messages<'a> {
    /// The name of the argument: `module.m.source`.
    pub(super) subject: &'a str,
    /// The detail for a secret value. `{}` in the text stands for "ephemeral" or "sensitive", `{A}` for the same
    /// word with a capital letter.
    pub(super) detail: &'a str,
    /// The summary for an ephemeral value.
    pub(super) ephemeral: Summary,
    /// The summary for a sensitive value.
    pub(super) sensitive: Summary,
}

/// The value of an argument that a command needs before it starts and that must not be secret.
pub(super) fn plain(
    db: &dyn Db,
    path: CallPath<'_>,
    key: ItemKey,
    expr: ExprId,
    of: &Messages<'_>,
) -> Result<Value, NoValue> {
    let subject = path.named(db, of.subject);
    let value = evaluate(db, path, key, item(db, key), expr, &subject)?;
    let marks = value.deep_marks();
    for kind in [MarkKind::Ephemeral, MarkKind::Sensitive] {
        if marks.has(kind) {
            let error = secret(db, path, key, expr, of, kind);
            return Err(Some(Arc::new(error)));
        }
    }
    Ok(value)
}

/// The reason for a value that is unknown before planning.
pub(crate) const NOT_KNOWN: &str = "it is not known before the configuration is planned. It may \
                                    depend on the current time, on a random value, or on a secret \
                                    variable";

/// The string value of an argument that a command needs before it starts. `None` if it is null.
pub(super) fn text(
    db: &dyn Db,
    path: CallPath<'_>,
    key: ItemKey,
    expr: ExprId,
    of: &Messages<'_>,
) -> Result<Option<Str>, NoValue> {
    let of_item = item(db, key);
    if let Expr::Literal(Literal::String(text)) = &of_item.exprs[expr] {
        return Ok(Some(Str::from(text.clone())));
    }
    let subject = path.named(db, of.subject);
    let value = plain(db, path, key, expr, of)?;
    let unsuitable = |why: &str| {
        let detail = format!("Unsuitable value of {subject}: {why}.");
        let place = ItemPlace::new(key, expr);
        let here = format!("{subject} is here");
        let error = StaticError::at(place, Summary::INVALID_STATIC_VALUE, detail, here);
        Some(Arc::new(error))
    };
    let value =
        convert::convert(&value, &Type::String).map_err(|_| unsuitable("a string is required"))?;
    match value.kind() {
        Kind::String(text) => Ok(Some(Str::from(text.clone()))),
        Kind::Null => Ok(None),
        _ => Err(unsuitable(NOT_KNOWN)),
    }
}

/// The problem of a secret where none is allowed, with the chain of its marks.
pub(super) fn secret(
    db: &dyn Db,
    path: CallPath<'_>,
    key: ItemKey,
    expr: ExprId,
    of: &Messages<'_>,
    kind: MarkKind,
) -> StaticError {
    let summary = if kind == MarkKind::Ephemeral { &of.ephemeral } else { &of.sensitive };
    let word = word_of(kind);
    let upper = format!("{}{}", word[..1].to_uppercase(), &word[1..]);
    let detail = of.detail.replace("{}", word).replace("{A}", &upper);
    let here = format!("{} is {word}", path.named(db, of.subject));
    let mut error = StaticError::at(ItemPlace::new(key, expr), summary.clone(), detail, here);
    add_chain(db, path, key, expr, kind, &mut error);
    error
}

/// The word for a value with a mark that makes it secret.
fn word_of(kind: MarkKind) -> &'static str {
    match kind {
        MarkKind::Ephemeral => "ephemeral",
        _ => "sensitive",
    }
}

/// Adds the chain of a mark: the first marked reference of the expression, the first one in its definition, and so
/// on.
fn add_chain<'db>(
    db: &'db dyn Db,
    mut path: CallPath<'db>,
    mut key: ItemKey,
    mut expr: ExprId,
    mark: MarkKind,
    error: &mut StaticError,
) {
    while let Some((declared, reference)) = marked_part(db, path, key, expr, mark) {
        let of_item = item(db, declared);
        let what = path.named(db, &reference.to_string());
        let here = format!("{what} is {}", word_of(mark));
        // A cyclic definition has no value, so the loop ends. The limit is only a safeguard.
        if error.links.len() > 64 {
            return;
        }
        error.links.push(ItemPlace::new(declared, of_item.header).with_message(here));
        match (&of_item.kind, path.caller(db)) {
            (kind, _) if kind.as_local().is_some() => {
                let Some(local) = kind.as_local() else { return };
                (key, expr) = (declared, local.value);
            }
            (kind, Some((caller, call))) => {
                let Some(variable) = kind.as_variable() else { return };
                let Some(input) = input_of(db, call, &variable.name) else { return };
                (path, key, expr) = (caller, call, input);
            }
            (_, None) => return,
        }
    }
}

fn input_of(db: &dyn Db, call: ItemKey, name: &Str) -> Option<ExprId> {
    let inputs = &item(db, call).kind.as_module_call()?.inputs;
    inputs.iter().find(|it: &&Attr| it.name == *name).map(|it| it.value)
}

/// The first reference in an expression whose value has the mark.
fn marked_part(
    db: &dyn Db,
    path: CallPath<'_>,
    key: ItemKey,
    expr: ExprId,
    kind: MarkKind,
) -> Option<(ItemKey, Ref)> {
    let of_item = item(db, key);
    references_in(of_item, expr).into_iter().find_map(|expr| {
        let Expr::Ref(reference) = &of_item.exprs[expr] else { return None };
        let (name, outcome) = match reference {
            Ref::Variable(name) => {
                (ItemName::Variable(name.clone()), variable_value(db, path, name))
            }
            Ref::Local(name) => (ItemName::Local(name.clone()), local_value(db, path, name)),
            _ => return None,
        };
        let is_marked = outcome.as_ref().is_ok_and(|value| value.0.has_deep(kind));
        is_marked.then(|| Some((lookup(db, path.directory(db), &name)?, reference.clone())))?
    })
}
