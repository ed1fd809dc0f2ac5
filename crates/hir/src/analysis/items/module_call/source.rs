//! The `source` and `version` arguments of a call: checks their values before a plan, and that the module is
//! installed.

use addr::{ModuleSource, Version, VersionConstraint};
use db::{Severity, Summary};
use values::Str;

use crate::{
    analysis::{env::ItemEnv, infer::Infer, problem::ItemProblem, value::marks::Tri},
    expr::{At, Expr, ExprId, Literal},
    item::{Item, ModuleCall},
    statics,
    workspace::{installed_modules, is_local_source, path_of_source},
};

/// Checks both arguments. They must not be ephemeral, and must be known before anything runs.
pub(super) fn check(infer: &mut Infer<'_>, env: &ItemEnv<'_>, item: &Item, call: &ModuleCall) {
    let is_reported = refuse_ephemeral(infer, call);
    let version = call.version.map(|version| (version, literal(item, version)));
    let is_dynamic = call.source_expr.is_some()
        || version.as_ref().is_some_and(|(_, version)| version.is_none());
    let mut errors = Vec::new();
    let (sources, versions) = match is_dynamic {
        false => (call.source.as_slice(), version.iter().filter_map(|it| it.1.clone()?).collect()),
        true => {
            let resolved = statics::resolved_call(env.db, env.workspace, env.directory, &call.name);
            errors = resolved.iter().flat_map(|it| &it.errors).collect();
            let sources = resolved.map(|it| it.sources.as_slice()).unwrap_or_default();
            let versions = resolved.map(|it| it.versions.clone()).unwrap_or_default();
            (call.source.as_ref().map_or(sources, std::slice::from_ref), versions)
        }
    };
    if !is_reported {
        infer.problems.extend(errors.iter().filter_map(|it| it.problem()));
    }
    if let Some((expr, Some(Some(version)))) = &version {
        infer.problems.extend(wrong_version(call, *expr, version));
    }
    let missing = sources.iter().filter_map(|source| missing_module(env, call, source));
    infer.problems.extend(missing.collect::<Vec<_>>());
    if let Some((expr, _)) = version {
        let local = sources.iter().find(|source| is_local_source(source));
        match local.filter(|_| !is_reported) {
            Some(source) => infer.problems.push(version_of_local_module(expr, source)),
            None => infer.problems.extend(other_version(env, call, expr, sources, &versions)),
        }
    }
}

/// The version if it is a literal; `Some(None)` if it is a literal null, `None` if it is any other expression.
fn literal(item: &Item, version: ExprId) -> Option<Option<Str>> {
    match &item.exprs[version] {
        Expr::Literal(Literal::String(text)) => Some(Some(Str::from(text.clone()))),
        Expr::Literal(Literal::Null) => Some(None),
        _ => None,
    }
}

/// Reports problems of the two expressions, and ephemeral values. Returns true if there was an error.
fn refuse_ephemeral(infer: &mut Infer<'_>, call: &ModuleCall) -> bool {
    let before = infer.problems.len();
    if let Some(source) = call.source_expr {
        let detail = format!(
            "Ephemeral values, or values derived from ephemeral values, cannot be used as module.{}.source.",
            call.name
        );
        refuse(infer, source, Summary::EPHEMERAL_STATIC_VALUE, detail);
    }
    if let Some(version) = call.version {
        let detail =
            "Ephemeral values, or values derived from ephemeral values, cannot be used as \
                      version arguments."
                .to_owned();
        refuse(infer, version, Summary::EPHEMERAL_VERSION_CONSTRAINT, detail);
    }
    infer.problems[before..].iter().any(|it| it.severity() == Severity::Error)
}

fn refuse(infer: &mut Infer<'_>, expr: ExprId, summary: Summary, detail: String) {
    let value = infer.expr(expr);
    let certainty = value.deep_marks().ephemeral;
    if certainty > Tri::No {
        let problem = ItemProblem::new(expr.into(), summary, detail);
        let when = value.ephemeral.somewhere();
        infer.problems.push(problem.if_ephemeral(certainty, &when, value.origin.as_ref()));
    }
}

fn wrong_version(call: &ModuleCall, expr: ExprId, version: &str) -> Option<ItemProblem> {
    let error = VersionConstraint::parse(version).err()?;
    let detail = statics::wrong_version(&call.name, version, &error.to_string());
    Some(ItemProblem::new(expr.into(), Summary::INVALID_VERSION_CONSTRAINT, detail))
}

fn version_of_local_module(version: ExprId, source: &str) -> ItemProblem {
    ItemProblem::new(
        version.into(),
        Summary::VERSION_OF_LOCAL_MODULE,
        format!(
            "Mayfly reads the source \"{source}\" as a local path, and \"version\" applies to \
             modules of a registry only: a local directory has no versions to choose from. Remove \
             \"version\"."
        ),
    )
}

/// The error for an installed module whose version does not satisfy the constraints. `None` if the version fits, or
/// if no version is installed.
fn other_version(
    env: &ItemEnv<'_>,
    call: &ModuleCall,
    expr: ExprId,
    sources: &[Str],
    versions: &[Str],
) -> Option<ItemProblem> {
    let installed = installed_modules(env.db, env.workspace, env.directory, &call.name);
    let of_source = installed.iter().filter(|it| sources.iter().any(|source| it.is_of(source)));
    let found: Vec<Version> =
        of_source.filter_map(|it| Version::parse(it.version.as_ref()?).ok()).collect();
    let first = found.first()?;
    let is_wrong = |constraint: &&Str| {
        let constraint = VersionConstraint::parse(constraint);
        constraint.is_ok_and(|it| !found.iter().any(|version| it.allows(version)))
    };
    let constraint = versions.iter().find(is_wrong)?;
    let detail = format!(
        "The version requirements have changed since this module was installed: the installed \
         version {first} is not one of \"{constraint}\". Run \"mayfly init\" to install all \
         modules that this configuration needs."
    );
    Some(ItemProblem::new(expr.into(), Summary::MODULE_VERSION_CHANGED, detail))
}

/// The error for a source that leads to no module. `None` if the module is present.
fn missing_module(env: &ItemEnv<'_>, call: &ModuleCall, source: &str) -> Option<ItemProblem> {
    let path = path_of_source(env.db, env.workspace, env.directory, &call.name, source);
    let directories = env.workspace.directories(env.db);
    if path.is_some_and(|path| directories.contains_key(&path)) {
        return None;
    }
    let at: At = call.source_expr.map_or(call.source_node.into(), At::Expr);
    let problem = |summary, detail: String| Some(ItemProblem::new(at, summary, detail));
    if is_local_source(source) {
        let detail = format!(
            "There is no module at \"{source}\": the directory does not exist, or it holds no .tf file."
        );
        return problem(Summary::UNREADABLE_MODULE, detail);
    }
    if let Err(error) = ModuleSource::parse(source) {
        return Some(ItemProblem::new(at, Summary::INVALID_MODULE_SOURCE, error.detail));
    }
    let installed = installed_modules(env.db, env.workspace, env.directory, &call.name);
    if let Some(installed) = installed.iter().find(|it| it.is_of(source)) {
        let detail = format!(
            "The module was installed in {}, but it is no longer there. Run \"mayfly init\" to \
             install it again.",
            installed.dir
        );
        return problem(Summary::UNREADABLE_MODULE, detail);
    }
    match installed.first() {
        Some(other) => problem(
            Summary::MODULE_SOURCE_CHANGED,
            format!(
                "The source address was changed since this module was installed from \"{}\". Run \
                 \"mayfly init\" to install all modules that this configuration needs.{}",
                other.shown_source(),
                computed_source_hint(call)
            ),
        ),
        None => problem(
            Summary::MODULE_NOT_INSTALLED,
            format!(
                "This module is not yet installed. Run \"mayfly init\" to install all modules that \
                 this configuration needs.{}",
                computed_source_hint(call)
            ),
        ),
    }
}

/// A sentence for messages about a source that depends on other values, whose change may have changed the source.
fn computed_source_hint(call: &ModuleCall) -> &'static str {
    match call.source_expr {
        Some(_) => {
            " The source is made from other values: each command has to be given the same ones, by \
             -var, -var-file, .tfvars files or TF_VAR_ variables."
        }
        None => "",
    }
}
