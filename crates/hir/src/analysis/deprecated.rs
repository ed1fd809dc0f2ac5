//! Deprecation warnings: for outputs of module calls, and for attributes and blocks that a provider deprecates.
//! Each reference whose value reaches the result of its expression gets a warning.
//!
//! The abstract value shows whether a deprecation mark reaches the result (`keys(module.m)` reads no output's
//! value). The references in the expression determine which outputs and attributes the warning names. As in
//! OpenTofu, the warning ends the mark: a reference to a local value that was computed from something deprecated
//! gets no second warning.

use std::collections::BTreeMap;

use db::{Directory, Severity, Summary};
use provider::{Attribute, Block};
use rustc_hash::FxHashMap;
use values::{MarkKind, Str};

use crate::{
    Db,
    analysis::{
        env::ItemEnv,
        infer::Infer,
        problem::ItemProblem,
        value::{Abstract, marks::Tri},
    },
    eval::traversal::traversal_text,
    expr::{Expr, ExprId, Exprs, Ref, SymbolId},
    item::ItemKind,
    names::{ItemKey, ItemName, called_directories, item, provider_local_name, required_providers},
    symbols::{NameKind, names_of_kind},
    workspace::{SchemaLookup, resource_schema},
};

/// An output that the author of the module deprecates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeprecatedOutput {
    /// The name of the output.
    pub name: Str,
    /// The message of the module's author; may be empty.
    pub message: Str,
    /// The declaration of the output.
    pub key: ItemKey,
}

/// An attribute or a nested block that the provider deprecates, or the whole resource type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeprecatedPart {
    /// The attribute and block names that lead to the part, without keys of elements; empty for the resource type.
    pub path: Vec<Str>,
    /// The message of the provider; may be empty.
    pub message: Str,
}

/// A reference to something deprecated.
pub(super) struct DeprecatedReference {
    at: ExprId,
    read: Read,
}

/// The deprecated things that a reference may read.
enum Read {
    /// Outputs of a module call: one for `module.m.old`, all deprecated ones for `module.m` as a whole.
    Outputs(Str, Vec<DeprecatedOutput>),
    /// All deprecated parts of a resource.
    Parts(addr::Resource, Vec<DeprecatedPart>),
}

/// The deprecated outputs of a module.
///
/// **Stability:** an edit that changes neither the names nor the `deprecated` arguments of the outputs leaves the
/// result equal.
#[salsa::tracked(returns(ref))]
fn deprecated_outputs(db: &dyn Db, module: Directory) -> Vec<DeprecatedOutput> {
    let outputs = names_of_kind(db, module, NameKind::Output).into_iter();
    let deprecated = |(name, key): (ItemName, ItemKey)| {
        let ItemName::Output(name) = name else { return None };
        let message = deprecation(db, key.block, key.index)?.clone();
        Some(DeprecatedOutput { name, message, key })
    };
    outputs.filter_map(deprecated).collect()
}

/// The `deprecated` argument of an output, or `None` if there is none.
#[salsa::tracked(returns(as_ref))]
fn deprecation(db: &dyn Db, block: db::Block, index: u32) -> Option<Str> {
    match &item(db, ItemKey { block, index }).kind {
        ItemKind::Output(output) => output.deprecated.clone(),
        _ => None,
    }
}

impl ItemEnv<'_> {
    /// The deprecated outputs of all modules that a call may resolve to.
    pub(super) fn deprecated_outputs_of(&self, call: &str) -> Vec<DeprecatedOutput> {
        let key = self.find(&ItemName::Module(call.into()));
        let declared = key.and_then(|key| item(self.db, key).kind.as_module_call());
        let Some(declared) = declared else { return Vec::new() };
        let modules = called_directories(self.db, self.workspace, self.directory, declared);
        modules.iter().flat_map(|it| deprecated_outputs(self.db, *it)).cloned().collect()
    }

    /// The parts of a resource that its provider deprecates; empty if the schema is not available.
    pub(super) fn deprecated_parts_of(&self, resource: &addr::Resource) -> Vec<DeprecatedPart> {
        let declared = self.find(&ItemName::Resource(resource.clone()));
        let declared = declared.and_then(|key| item(self.db, key).kind.as_resource());
        let Some(declared) = declared else { return Vec::new() };
        let providers = required_providers(self.db, self.directory);
        let source = providers.source(provider_local_name(declared));
        let (mode, ty) = (resource.mode, &resource.type_name);
        let lookup = resource_schema(self.db, self.workspace, &source, mode, ty);
        let mut parts = Vec::new();
        if let SchemaLookup::Found(schema) = lookup {
            add_parts(schema.block(), &mut Vec::new(), &mut parts);
        }
        parts
    }
}

fn add_parts(block: &Block, path: &mut Vec<Str>, parts: &mut Vec<DeprecatedPart>) {
    if !block.has_deprecated() {
        return;
    }
    if block.deprecated {
        let message = block.deprecation_message.clone();
        parts.push(DeprecatedPart { path: path.clone(), message });
    }
    add_attributes(block.attributes(), path, parts);
    for (name, nested) in block.blocks() {
        path.push(name.clone());
        add_parts(&nested.block, path, parts);
        path.pop();
    }
}

fn add_attributes(
    attributes: &BTreeMap<Str, Attribute>,
    path: &mut Vec<Str>,
    parts: &mut Vec<DeprecatedPart>,
) {
    for (name, attribute) in attributes {
        path.push(name.clone());
        if attribute.deprecated {
            let message = attribute.deprecation_message.clone();
            parts.push(DeprecatedPart { path: path.clone(), message });
        } else if let Some(nested) = attribute.nested() {
            add_attributes(nested.attributes(), path, parts);
        }
        path.pop();
    }
}

impl Infer<'_> {
    /// Records a reference to a resource that has deprecated parts.
    pub(super) fn note_deprecated_parts(&mut self, at: ExprId, resource: &addr::Resource) {
        let parts = self.env.deprecated_parts(resource);
        if !parts.is_empty() {
            self.deprecated
                .push(DeprecatedReference { at, read: Read::Parts(resource.clone(), parts) });
        }
    }

    /// Records a reference to a module call as a whole (`output` is `None`), or to one of its outputs.
    pub(super) fn note_deprecated(&mut self, at: ExprId, call: &Str, output: Option<&Str>) {
        let mut outputs = self.env.deprecated_outputs(call);
        outputs.retain(|it| output.is_none_or(|name| it.name == *name));
        if !outputs.is_empty() {
            self.deprecated
                .push(DeprecatedReference { at, read: Read::Outputs(call.clone(), outputs) });
        }
    }

    /// Warns about each deprecated source of a whole expression. Returns the value without the deprecation mark.
    pub(super) fn warn_of_deprecated(&mut self, expr: ExprId, value: Abstract) -> Abstract {
        let references = std::mem::take(&mut self.deprecated);
        if references.is_empty() {
            return value;
        }
        if value.deep_marks().deprecated > Tri::No {
            let read = names_read(self.exprs, expr);
            for reference in &references {
                let names = read.get(&reference.at).map(Vec::as_slice).unwrap_or_default();
                self.warn_of(reference, names);
            }
        }
        value.without_deep(MarkKind::Deprecated)
    }

    /// Warns about a reference once, however often its expression is inferred. `names` are the attribute names that
    /// follow the reference, without keys of elements.
    fn warn_of(&mut self, reference: &DeprecatedReference, names: &[Str]) {
        let (summary, at) = (reference.read.summary(), reference.at);
        if !self.reported.insert((at.into(), summary.rule(), Severity::Warning)) {
            return;
        }
        match &reference.read {
            Read::Outputs(call, outputs) => {
                let is_read =
                    |it: &&DeprecatedOutput| names.first().is_none_or(|name| it.name == *name);
                for output in outputs.iter().filter(is_read) {
                    let text = traversal_text(self.exprs, at);
                    let text = text.filter(|_| matches!(self.exprs[at], Expr::GetAttr { .. }));
                    let source = text.unwrap_or_else(|| format!("module.{call}.{}", output.name));
                    let problem = derived_from(at, summary.clone(), &source, &output.message);
                    let problem =
                        self.env.declared_here(problem, output.key, "the output is declared here");
                    self.problems.push(problem);
                }
            }
            Read::Parts(resource, parts) => {
                let is_read =
                    |it: &&DeprecatedPart| names.iter().zip(&it.path).all(|(a, b)| a == b);
                for part in parts.iter().filter(is_read) {
                    let path: String = part.path.iter().map(|name| format!(".{name}")).collect();
                    let source = format!("{resource}{path}");
                    let problem = derived_from(at, summary.clone(), &source, &part.message);
                    self.problems.push(problem);
                }
            }
        }
    }
}

impl Read {
    fn summary(&self) -> Summary {
        match self {
            Read::Outputs(..) => Summary::DEPRECATED_OUTPUT,
            Read::Parts(..) => Summary::DEPRECATED_ATTRIBUTE,
        }
    }
}

fn derived_from(at: ExprId, summary: Summary, source: &str, message: &str) -> ItemProblem {
    let derived = format!("This value is derived from {source}, which is deprecated");
    let detail = match message.is_empty() {
        true => format!("{derived}."),
        false => format!("{derived} with the following message:\n\n{message}"),
    };
    ItemProblem::new(at.into(), summary, detail)
}

/// The names that follow each reference to a module call or to a whole resource, as far as they are written out:
/// `old` for `module.m[*].old`.
fn names_read(exprs: &Exprs, root: ExprId) -> FxHashMap<ExprId, Vec<Str>> {
    let mut read = FxHashMap::default();
    let mut open = vec![root];
    while let Some(expr) = open.pop() {
        // The longest access comes first and has the most names.
        if let Some((reference, names)) = access(exprs, expr) {
            read.entry(reference).or_insert(names);
        }
        exprs[expr].for_each_child(&mut |child| open.push(child));
    }
    read
}

/// The reference at the base of an access, and the names that follow it. `None` if the base is something else.
fn access(exprs: &Exprs, mut expr: ExprId) -> Option<(ExprId, Vec<Str>)> {
    let mut names = Vec::new();
    loop {
        expr = match &exprs[expr] {
            Expr::GetAttr { base, name } => {
                names.push(name.clone());
                *base
            }
            Expr::Index { base, .. } => *base,
            Expr::Splat { base, item, each } => {
                names.extend(names_of_element(exprs, *each, *item)?);
                *base
            }
            Expr::Ref(Ref::Module(_) | Ref::Resource(_)) => {
                names.reverse();
                return Some((expr, names));
            }
            _ => return None,
        }
    }
}

/// The names that a splat reads of each element, in reverse order; `None` if it reads something else.
fn names_of_element(exprs: &Exprs, each: ExprId, element: SymbolId) -> Option<Vec<Str>> {
    let mut names = Vec::new();
    let mut at = each;
    loop {
        at = match &exprs[at] {
            Expr::GetAttr { base, name } => {
                names.push(name.clone());
                *base
            }
            Expr::Index { base, .. } => *base,
            Expr::Symbol(it) if *it == element => return Some(names),
            _ => return None,
        }
    }
}
