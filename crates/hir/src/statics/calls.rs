//! Resolves module calls with computed sources: the module that each call leads to, for every path of calls.

use std::{collections::VecDeque, sync::Arc};

use addr::VersionConstraint;
use db::{Directory, Summary};
use rustc_hash::FxHashMap;
use sorted::{TreeMap, TreeSet};
use values::Str;

use crate::{
    Db,
    content::item,
    expr::{Expr, Literal},
    item::ModuleCall,
    item_name::{ItemKey, ItemName, NameKind},
    place::ItemPlace,
    statics::{
        evaluate::{CallPath, Messages, text},
        static_error::{NoValue, StaticError},
    },
    symbols::names_of_kind,
    workspace::{CallKey, Workspace, directory_of_source},
};

/// The maximum number of paths. Their number can be exponential: it doubles at each level where a module is called
/// twice.
const MAX_PATHS: usize = 100_000;

/// The resolved module calls of a configuration in which a source or version is not a literal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Modules {
    /// The modules, the root first, callers before their callees. A directory occurs once for each distinct
    /// resolution of its calls and the calls below.
    pub modules: Vec<ResolvedModule>,
    /// Files that must be read before evaluation can continue.
    pub(super) wanted_files: TreeSet<Str>,
    calls: TreeMap<CallKey, ResolvedCall>,
}

/// A module directory with one resolution of its calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResolvedModule {
    /// The directory.
    pub directory: Directory,
    /// The calls by name. A call whose module was not found is left out.
    pub calls: Vec<(Str, Target)>,
}

/// The resolved target of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The index in [`Modules::modules`].
    pub module: usize,
    /// The `source`, if it is not a literal.
    pub source: Option<Str>,
    /// The version constraint, if it is not a literal.
    pub version: Option<Str>,
}

/// The results for a call whose source or version is not a literal, from all paths to its module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResolvedCall {
    /// The distinct sources, in the order of the paths.
    pub(crate) sources: Vec<Str>,
    /// The distinct version constraints.
    pub(crate) versions: Vec<Str>,
    /// The problems of both.
    pub(crate) errors: Vec<Arc<StaticError>>,
}

impl Modules {
    /// The problems of all sources and versions.
    pub(super) fn errors(&self) -> impl Iterator<Item = &Arc<StaticError>> {
        self.calls.values().flat_map(|it| &it.errors)
    }

    /// The results for a call in the module of a directory. `None` if its source and version are literals.
    pub(crate) fn call(&self, caller: &Arc<str>, call: &Str) -> Option<&ResolvedCall> {
        self.calls.get(&CallKey { caller: caller.clone(), name: call.clone() })
    }
}

/// Resolves all module calls. `None` if all sources and versions are literals, so that no evaluation is necessary.
///
/// **Stability:** an edit that changes neither the calls nor the values in their sources leaves the result equal.
#[salsa::tracked(returns(ref))]
pub fn modules(db: &dyn Db, workspace: Workspace) -> Option<Modules> {
    if !is_dynamic(db, workspace) {
        return None;
    }
    let mut walk = Walk {
        db,
        workspace,
        found: Modules::default(),
        literal: FxHashMap::default(),
        known: FxHashMap::default(),
        above: Vec::new(),
        visits: 0,
    };
    let (root, _) = walk.module(CallPath::root(db, workspace));
    let modules = in_order(&walk.found.modules, root);
    Some(Modules { modules, ..walk.found })
}

/// Returns true if a module that is reachable by literal sources has a call whose source or version is not a
/// literal.
fn is_dynamic(db: &dyn Db, workspace: Workspace) -> bool {
    let mut seen = vec![workspace.root(db)];
    let mut next = 0;
    while let Some(&directory) = seen.get(next) {
        next += 1;
        if !dynamic_calls(db, directory).is_empty() {
            return true;
        }
        for &called in literal_calls(db, workspace, directory) {
            if !seen.contains(&called) {
                seen.push(called);
            }
        }
    }
    false
}

/// The calls of a module whose source or version is not a literal.
///
/// **Stability:** other edits leave the result equal.
#[salsa::tracked(returns(ref))]
fn dynamic_calls(db: &dyn Db, directory: Directory) -> Box<[Str]> {
    let calls = names_of_kind(db, directory, NameKind::Module);
    let calls = calls
        .into_iter()
        .filter_map(|(_, key)| item(db, key).kind.as_module_call().map(|call| (key, call)));
    calls
        .filter(|(key, call)| is_dynamic_call(db, *key, call))
        .map(|(_, call)| call.name.clone())
        .collect()
}

fn is_dynamic_call(db: &dyn Db, key: ItemKey, call: &ModuleCall) -> bool {
    let is_literal = |expr| {
        matches!(item(db, key).exprs[expr], Expr::Literal(Literal::String(_) | Literal::Null))
    };
    call.source_expr.is_some() || call.version.is_some_and(|version| !is_literal(version))
}

/// The directories that the calls with literal sources lead to.
///
/// **Stability:** an edit that does not change a source leaves the result equal.
#[salsa::tracked(returns(ref))]
fn literal_calls(db: &dyn Db, workspace: Workspace, directory: Directory) -> Vec<Directory> {
    let calls = names_of_kind(db, directory, NameKind::Module);
    let calls = calls.into_iter().filter_map(|(_, key)| item(db, key).kind.as_module_call());
    let called = |call: &ModuleCall| {
        directory_of_source(db, workspace, directory, &call.name, call.source.as_deref()?)
    };
    calls.filter_map(called).collect()
}

struct Walk<'db> {
    db: &'db dyn Db,
    workspace: Workspace,
    found: Modules,
    /// The modules below which every source is a literal. All paths to such a module have the same resolution.
    literal: FxHashMap<Directory, usize>,
    known: FxHashMap<ResolvedModule, usize>,
    /// The directories of the current path.
    above: Vec<Directory>,
    visits: usize,
}

impl<'db> Walk<'db> {
    /// Resolves the module at the end of a path. Returns its number, and true if all sources in it and below are
    /// literals.
    fn module(&mut self, path: CallPath<'db>) -> (usize, bool) {
        let directory = path.directory(self.db);
        if let Some(&known) = self.literal.get(&directory) {
            return (known, true);
        }
        self.visits += 1;
        self.above.push(directory);
        let mut is_literal = dynamic_calls(self.db, directory).is_empty();
        let mut calls = Vec::new();
        for (name, key) in names_of_kind(self.db, directory, NameKind::Module) {
            let ItemName::Module(name) = name else { continue };
            let Some(call) = item(self.db, key).kind.as_module_call() else { continue };
            let version = match is_dynamic_call(self.db, key, call) {
                true => self.version(path, key, call),
                false => None,
            };
            let source = match call.source_expr {
                Some(_) => self.source(path, key, call),
                None => None,
            };
            let called = self.called(directory, call, source.as_ref());
            // Skip a call that leads back to a module of the path; another check reports the cycle.
            let Some(called) = called.filter(|it| !self.above.contains(it)) else { continue };
            if self.visits >= MAX_PATHS {
                self.too_many(path, key, call);
                continue;
            }
            let below = path.below(self.db, key, called);
            let (module, is_below_literal) = self.module(below);
            is_literal &= is_below_literal;
            calls.push((name, Target { module, source, version }));
        }
        self.above.pop();
        let module = self.number(ResolvedModule { directory, calls });
        if is_literal {
            self.literal.insert(directory, module);
        }
        (module, is_literal)
    }

    fn called(
        &self,
        caller: Directory,
        call: &ModuleCall,
        source: Option<&Str>,
    ) -> Option<Directory> {
        let source = call.source.as_ref().or(source)?;
        directory_of_source(self.db, self.workspace, caller, &call.name, source)
    }

    fn number(&mut self, module: ResolvedModule) -> usize {
        if let Some(&known) = self.known.get(&module) {
            return known;
        }
        let number = self.found.modules.len();
        self.found.modules.push(module.clone());
        self.known.insert(module, number);
        number
    }

    fn source(&mut self, path: CallPath<'db>, key: ItemKey, call: &ModuleCall) -> Option<Str> {
        match source_of(self.db, path, key) {
            Ok(source) => {
                let sources = &mut self.of(path, call).sources;
                if !sources.contains(source) {
                    sources.push(source.clone());
                }
                Some(source.clone())
            }
            Err(error) => {
                self.add_error(path, call, error);
                None
            }
        }
    }

    fn version(&mut self, path: CallPath<'db>, key: ItemKey, call: &ModuleCall) -> Option<Str> {
        match version_of(self.db, path, key) {
            Ok(version) => {
                let versions = &mut self.of(path, call).versions;
                if let Some(version) = version.as_ref().filter(|it| !versions.contains(it)) {
                    versions.push(version.clone());
                }
                version.clone()
            }
            Err(error) => {
                self.add_error(path, call, error);
                None
            }
        }
    }

    fn of(&mut self, path: CallPath<'db>, call: &ModuleCall) -> &mut ResolvedCall {
        let caller = path.directory(self.db).path(self.db).clone();
        self.found.calls.entry(CallKey { caller, name: call.name.clone() }).or_default()
    }

    fn add_error(&mut self, path: CallPath<'db>, call: &ModuleCall, error: &NoValue) {
        let Some(error) = error else { return };
        self.found.wanted_files.extend(error.wanted_file.clone());
        let errors = &mut self.of(path, call).errors;
        if !errors.contains(error) {
            errors.push(Arc::clone(error));
        }
    }

    fn too_many(&mut self, path: CallPath<'db>, key: ItemKey, call: &ModuleCall) {
        let detail = format!(
            "More than {MAX_PATHS} paths of module calls lead to modules whose sources depend on \
             how they are called. Use count or for_each, or call shared modules from fewer places."
        );
        let place = ItemPlace::new(key, call.source_node);
        let here = "called here".to_owned();
        let error = StaticError::at(place, Summary::TOO_MANY_MODULES, detail, here);
        self.add_error(path, call, &Some(Arc::new(error)));
    }
}

/// The reachable modules in breadth-first order, callers first. This is the numbering that is also used if all
/// sources are literals.
fn in_order(modules: &[ResolvedModule], root: usize) -> Vec<ResolvedModule> {
    let mut numbers: FxHashMap<usize, usize> = FxHashMap::default();
    let mut order = Vec::new();
    let mut open = VecDeque::from([root]);
    numbers.insert(root, 0);
    while let Some(module) = open.pop_front() {
        order.push(module);
        for (_, target) in &modules[module].calls {
            let next = numbers.len();
            numbers.entry(target.module).or_insert_with(|| {
                open.push_back(target.module);
                next
            });
        }
    }
    let renumbered = |(name, target): &(Str, Target)| {
        let target = Target { module: numbers[&target.module], ..target.clone() };
        (name.clone(), target)
    };
    let ordered = order.iter().map(|&it| ResolvedModule {
        directory: modules[it].directory,
        calls: modules[it].calls.iter().map(renumbered).collect(),
    });
    ordered.collect()
}

/// The value of a call's source that is not a literal.
///
/// **Stability:** depends on the call and on the values of the references in its source.
#[salsa::tracked(returns(ref))]
fn source_of<'db>(db: &'db dyn Db, path: CallPath<'db>, call: ItemKey) -> Result<Str, NoValue> {
    let of_call = item(db, call).kind.as_module_call().ok_or(None)?;
    let expr = of_call.source_expr.ok_or(None)?;
    let subject = format!("module.{}.source", of_call.name);
    let detail =
        format!("{{A}} values, or values derived from {{}} values, cannot be used as {subject}.");
    let of = Messages {
        subject: &subject,
        detail: &detail,
        ephemeral: Summary::EPHEMERAL_STATIC_VALUE,
        sensitive: Summary::SENSITIVE_STATIC_VALUE,
    };
    let null = || {
        let detail =
            format!("Unsuitable value of {subject}: it is null, but a module needs a source.");
        let place = ItemPlace::new(call, expr);
        let here = format!("{subject} is null");
        Some(Arc::new(StaticError::at(place, Summary::INVALID_STATIC_VALUE, detail, here)))
    };
    text(db, path, call, expr, &of)?.ok_or_else(null)
}

/// The value of a call's version constraint. `None` if the call has none.
#[salsa::tracked(returns(ref))]
fn version_of<'db>(
    db: &'db dyn Db,
    path: CallPath<'db>,
    call: ItemKey,
) -> Result<Option<Str>, NoValue> {
    let of_call = item(db, call).kind.as_module_call().ok_or(None)?;
    let Some(expr) = of_call.version else { return Ok(None) };
    let subject = format!("module.{}.version", of_call.name);
    let of = Messages {
        subject: &subject,
        detail: "{A} values, or values derived from {} values, cannot be used as version arguments.",
        ephemeral: Summary::EPHEMERAL_VERSION_CONSTRAINT,
        sensitive: Summary::SENSITIVE_VERSION_CONSTRAINT,
    };
    let Some(version) = text(db, path, call, expr, &of)? else { return Ok(None) };
    match VersionConstraint::parse(&version) {
        Ok(_) => Ok(Some(version)),
        Err(error) => {
            let detail = wrong_version(&of_call.name, &version, &error.to_string());
            let place = ItemPlace::new(call, expr);
            let summary = Summary::INVALID_VERSION_CONSTRAINT;
            let here = format!("{subject} is here");
            Err(Some(Arc::new(StaticError::at(place, summary, detail, here))))
        }
    }
}

/// The message for an invalid version constraint.
pub(crate) fn wrong_version(call: &str, version: &str, error: &str) -> String {
    format!("The version constraint \"{version}\" of module.{call} cannot be understood: {error}.")
}
