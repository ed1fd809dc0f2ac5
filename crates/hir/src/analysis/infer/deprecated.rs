//! Deprecation warnings: for outputs of module calls, and for attributes and blocks that a provider deprecates.
//! Each reference whose value reaches the result of its expression gets a warning.
//!
//! The abstract value shows whether a deprecation mark reaches the result (`keys(module.m)` reads no output's
//! value). The references in the expression determine which outputs and attributes the warning names. As in
//! OpenTofu, the warning ends the mark: a reference to a local value that was computed from something deprecated
//! gets no second warning.

use db::{Severity, Summary};
use rustc_hash::FxHashMap;
use values::{MarkKind, Str};

use crate::{
    analysis::{
        deprecated::{DeprecatedOutput, DeprecatedPart, DeprecatedReference, Read},
        infer::Infer,
        problem::ItemProblem,
        value::{Abstract, marks::Tri},
    },
    eval::traversal::traversal_text,
    expr::{Expr, ExprId, Exprs, Ref, SymbolId},
};

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
