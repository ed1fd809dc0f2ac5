//! Resolves the root of a traversal: the definition that its first steps name.

use addr::ResourceMode;
use db::Summary;
use syntax::{
    AstNode, TextRange, TreeNode,
    ast::Step,
    flat::{FlatParse, ast},
};
use values::Str;

use crate::{
    expr::{Expr, ExprId, Ref},
    item::{RefTarget, StaticRef},
    lower::{
        item_ctx::ItemCtx,
        literal,
        problem::{INVALID_REFERENCE, Problem},
    },
};

/// The resolved root of a traversal.
struct Root {
    reference: Ref,
    /// The number of steps that belong to the name.
    taken: usize,
}

/// Lowers `root.step.step…`.
pub(super) fn traversal(
    ctx: &mut ItemCtx<'_>,
    root: Option<&ast::Reference>,
    steps: &[ast::Step],
    range: TextRange,
) -> ExprId {
    let Some(name) = root.and_then(ast::Reference::ident_token) else {
        return ctx.alloc(Expr::Missing, range);
    };
    let start = name.text_range();
    if let Some(symbol) = ctx.lookup(name.text()) {
        let base = ctx.alloc(Expr::Symbol(symbol), start);
        return ctx.steps(base, start, steps);
    }
    let resolved = match ctx.is_test {
        true => resolve_in_test(name.text(), steps),
        false => resolve_root(name.text(), steps),
    };
    match resolved {
        Ok(Root { reference, taken }) => {
            let end = taken.checked_sub(1).map_or(start, |last| steps[last].syntax().text_range());
            let here = start.cover(end);
            let base = ctx.alloc(Expr::Ref(reference.clone()), here);
            record(ctx, reference, &steps[taken..], base);
            ctx.steps(base, here, &steps[taken..])
        }
        Err(refused) => {
            let is_about_names = refused.summary.rule() == INVALID_REFERENCE && !ctx.may_refer;
            let Refused { summary, detail } =
                if is_about_names { Refused::of_any_name() } else { refused };
            ctx.problem(Problem::new(summary, range, detail));
            ctx.alloc(Expr::Missing, range)
        }
    }
}

/// Reads a reference that may be in quotes, which old modules use and which gives a warning. `None` if the quoted
/// text is not an expression.
pub(super) fn unquoted<T>(
    ctx: &mut ItemCtx<'_>,
    value: &ast::Expr,
    read: impl FnOnce(&mut ItemCtx<'_>, &ast::Expr) -> Option<T>,
) -> Option<T> {
    let Some(text) = literal::literal_string(value) else { return read(ctx, value) };
    ctx.problem(Problem::new(
        Summary::QUOTED_REFERENCE,
        value.syntax().text_range(),
        "In this context, references are expected literally rather than in quotes. Remove the \
         quotes around this reference.",
    ));
    let parse = FlatParse::expression(&text);
    let expr = parse.expression_file()?.expr().filter(|_| parse.errors().is_empty())?;
    read(ctx, &expr)
}

/// The target of a reference in `depends_on` and similar arguments, where attributes are not allowed. `None` if
/// the expression is not such a reference.
pub(super) fn target(expr: &ast::Expr) -> Option<RefTarget> {
    let (root, steps) = match expr {
        ast::Expr::Reference(it) => (it.clone(), Vec::new()),
        ast::Expr::Traversal(it) => match it.base()? {
            ast::Expr::Reference(root) => (root, it.steps().collect()),
            _ => return None,
        },
        _ => return None,
    };
    let Root { reference, taken } = resolve_root(&root.name()?, &steps).ok()?;
    is_whole(&reference, &steps[taken..]).then(|| ref_target(reference, &steps[taken..]))
}

/// Returns true if the steps after the name select only an instance or an output of a module, not an attribute.
fn is_whole(reference: &Ref, rest: &[ast::Step]) -> bool {
    let is_key =
        |step: &ast::Step| matches!(step, ast::Step::IndexStep(_) | ast::Step::LegacyIndexStep(_));
    let is_output = |step: &ast::Step| {
        matches!(reference, Ref::Module(_)) && matches!(step, ast::Step::AttrStep(_))
    };
    match (reference, rest) {
        (_, []) => true,
        (Ref::Resource(_) | Ref::Module(_), [step]) => is_key(step) || is_output(step),
        (Ref::Module(_), [key, output]) => is_key(key) && is_output(output),
        _ => false,
    }
}

fn record(ctx: &mut ItemCtx<'_>, reference: Ref, rest: &[ast::Step], expr: ExprId) {
    let target = ref_target(reference, rest);
    let place = ctx.place;
    ctx.add_ref(StaticRef { target, place, expr });
}

fn ref_target(reference: Ref, rest: &[ast::Step]) -> RefTarget {
    match reference {
        Ref::Variable(name) => RefTarget::Variable(name),
        Ref::Local(name) => RefTarget::Local(name),
        Ref::Resource(resource) => RefTarget::Resource(*resource),
        Ref::Module(call) => {
            let after_key = match rest {
                [ast::Step::IndexStep(_) | ast::Step::LegacyIndexStep(_), rest @ ..] => rest,
                rest => rest,
            };
            match after_key {
                [ast::Step::AttrStep(it), ..] => match it.name() {
                    Some(output) => RefTarget::ModuleOutput(call, Str::from(output)),
                    None => RefTarget::Module(call),
                },
                _ => RefTarget::Module(call),
            }
        }
        ambient => RefTarget::Ambient(ambient),
    }
}

/// The definition that a traversal starting with `root` refers to, and the number of steps that belong to its
/// name. The caller must exclude symbols, such as the names that `for` binds. `None` if the reference is invalid.
pub fn reference_root<N: TreeNode>(root: &str, steps: &[Step<N>]) -> Option<(Ref, usize)> {
    resolve_root(root, steps).ok().map(|it| (it.reference, it.taken))
}

/// Like [`reference_root`], in a test file.
pub fn reference_root_in_test<N: TreeNode>(root: &str, steps: &[Step<N>]) -> Option<(Ref, usize)> {
    resolve_in_test(root, steps).ok().map(|it| (it.reference, it.taken))
}

struct Refused {
    summary: Summary,
    detail: String,
}

impl Refused {
    /// The diagnostic for a reference in a place that does not allow any.
    fn of_any_name() -> Refused {
        Refused {
            summary: Summary::VARIABLES_NOT_ALLOWED,
            detail: "Variables may not be used here. If a text is meant, write it in quotes."
                .to_owned(),
        }
    }
}

fn refused(detail: impl Into<String>) -> Refused {
    Refused { summary: Summary::INVALID_REFERENCE, detail: detail.into() }
}

fn attr_name<N: TreeNode>(step: Option<&Step<N>>) -> Option<Str> {
    match step? {
        Step::AttrStep(it) => Some(Str::from(it.name()?)),
        _ => None,
    }
}

/// Resolves a name in a test file, where outputs of the root module and of earlier runs have names too.
fn resolve_in_test<N: TreeNode>(root: &str, steps: &[Step<N>]) -> Result<Root, Refused> {
    let (make, article): (fn(Str) -> Ref, _) = match root {
        "output" => (Ref::Output, "an output of the module under test"),
        "run" => (Ref::Run, "an earlier run of the file"),
        _ => return resolve_root(root, steps),
    };
    match attr_name(steps.first()) {
        Some(name) => Ok(Root { reference: make(name), taken: 1 }),
        None => Err(refused(format!(
            "The \"{root}\" object cannot be accessed directly. Instead, access one of its \
             attributes, which is {article}."
        ))),
    }
}

fn resolve_root<N: TreeNode>(root: &str, steps: &[Step<N>]) -> Result<Root, Refused> {
    let first = attr_name(steps.first());
    let one = |make: fn(Str) -> Ref| match first.clone() {
        Some(name) => Ok(Root { reference: make(name), taken: 1 }),
        None => Err(refused(format!(
            "The \"{root}\" object cannot be accessed directly. Instead, access one of its attributes."
        ))),
    };
    match root {
        "var" => one(Ref::Variable),
        "local" => one(Ref::Local),
        "module" => one(Ref::Module),
        "data" => resource(ResourceMode::Data, "data", "data source", steps),
        "ephemeral" => resource(ResourceMode::Ephemeral, "ephemeral", "ephemeral resource", steps),
        "resource" => resource(ResourceMode::Managed, "resource", "resource", steps),
        "each" => attribute(root, first, &[("key", Ref::EachKey), ("value", Ref::EachValue)], EACH),
        "count" => attribute(root, first, &[("index", Ref::CountIndex)], COUNT),
        "path" => attribute(root, first, PATHS, PATH),
        "terraform" | "tofu" => workspace_or_applying(root, first),
        "self" => Ok(Root { reference: Ref::SelfObject, taken: 0 }),
        "template" | "lazy" | "arg" => Err(Refused {
            summary: Summary::RESERVED_SYMBOL,
            detail: format!(
                "The symbol name \"{root}\" is reserved for use in a future version. If you are \
                 using a provider that already uses this as a resource type name then you can \
                 force interpreting it that way by adding a \"resource.\" prefix."
            ),
        }),
        resource_type => match first {
            Some(name) => Ok(Root { reference: managed(resource_type.into(), name), taken: 1 }),
            None => Err(refused(
                "A reference to a resource type must be followed by at least one attribute access, \
                 specifying the resource name.",
            )),
        },
    }
}

const EACH: &str = "The \"each\" object does not have an attribute named {}. The supported attributes are each.key and \
                    each.value, the current key and value pair of the \"for_each\" attribute set.";
const COUNT: &str = "The \"count\" object does not have an attribute named {}. The only supported \
                     attribute is count.index, which is the index of each instance of a resource \
                     block that has the \"count\" argument set.";
const PATH: &str = "The \"path\" object does not have an attribute named {}. The supported attributes are path.module, \
                    path.root, path.cwd and path.temp.";
const PATHS: &[(&str, Ref)] = &[
    ("module", Ref::PathModule),
    ("root", Ref::PathRoot),
    ("cwd", Ref::PathCwd),
    ("temp", Ref::PathTemp),
];

fn attribute(
    root: &str,
    name: Option<Str>,
    known: &[(&str, Ref)],
    unknown: &str,
) -> Result<Root, Refused> {
    let Some(name) = name else {
        return Err(refused(format!(
            "The \"{root}\" object cannot be accessed directly. Instead, access one of its attributes."
        )));
    };
    match known.iter().find(|(candidate, _)| *candidate == &*name) {
        Some((_, reference)) => Ok(Root { reference: reference.clone(), taken: 1 }),
        None => Err(Refused {
            summary: Summary::invalid_root_attribute(root),
            detail: unknown.replace("{}", &format!("\"{name}\"")),
        }),
    }
}

fn workspace_or_applying(root: &str, name: Option<Str>) -> Result<Root, Refused> {
    match name.as_deref() {
        Some("workspace") => Ok(Root { reference: Ref::Workspace, taken: 1 }),
        Some("applying") => Ok(Root { reference: Ref::Applying, taken: 1 }),
        Some(other) => Err(Refused {
            summary: Summary::invalid_root_attribute(root),
            detail: format!(
                "The \"{root}\" object does not have an attribute named \"{other}\". The supported \
                 attributes are {root}.workspace, the name of the currently-selected workspace, \
                 and {root}.applying, whether the apply command is running."
            ),
        }),
        None => Err(refused(format!(
            "The \"{root}\" object cannot be accessed directly. Instead, access one of its attributes."
        ))),
    }
}

fn resource<N: TreeNode>(
    mode: ResourceMode,
    keyword: &str,
    what: &str,
    steps: &[Step<N>],
) -> Result<Root, Refused> {
    let Some(ty) = attr_name(steps.first()) else {
        return Err(refused(format!(
            "The \"{keyword}\" object must be followed by two attribute names: the {what} type and its name."
        )));
    };
    let Some(name) = attr_name(steps.get(1)) else {
        let article = if what.starts_with('e') { "an" } else { "a" };
        return Err(refused(match steps.len() {
            0 | 1 => format!(
                "The \"{keyword}\" object must be followed by two attribute names: the {what} type and its name."
            ),
            _ => format!(
                "A reference to {article} {what} must be followed by at least one attribute \
                 access, specifying the resource name."
            ),
        }));
    };
    Ok(Root {
        reference: Ref::Resource(Box::new(addr::Resource::new(mode, &*ty, &*name))),
        taken: 2,
    })
}

fn managed(ty: Str, name: Str) -> Ref {
    Ref::Resource(Box::new(addr::Resource::new(ResourceMode::Managed, &*ty, &*name)))
}
