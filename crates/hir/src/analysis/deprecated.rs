//! Deprecated outputs of module calls: a warning at each reference whose value reaches the result of its expression.
//!
//! The abstract value says whether an output's mark reaches the result (`keys(module.m)` reads no output's value); the
//! references that the expression holds say which outputs those are. As in OpenTofu, the warning ends the mark: what
//! refers to a local value that was made from a deprecated output gets no second warning.

use db::{Directory, Severity, diagnostic::DEPRECATED_OUTPUT};
use rustc_hash::FxHashMap;
use values::{MarkKind, Str};

use super::{
    env::ItemEnv,
    infer::Infer,
    problem::ItemProblem,
    value::{Abstract, Tri},
};
use crate::{
    Db,
    eval::traversal_text,
    expr::{Expr, ExprId, Exprs, Ref, SymbolId},
    item::ItemKind,
    names::{ItemKey, ItemName, called_directories, item},
    symbols::{NameKind, names_of_kind},
};

/// An output whose author means to remove it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeprecatedOutput {
    /// The name of the output.
    pub name: Str,
    /// The author's message; may be empty.
    pub message: Str,
    /// The declaration.
    pub key: ItemKey,
}

/// A reference to deprecated outputs of one module call.
pub(super) struct DeprecatedReference {
    at: ExprId,
    call: Str,
    /// The outputs that `at` reads: one for `module.m.old`, all deprecated ones for `module.m` as a whole.
    outputs: Vec<DeprecatedOutput>,
}

/// The deprecated outputs of a module.
///
/// **Stability:** an edit that leaves the names and the `deprecated` arguments of its outputs leaves the result equal.
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

/// The `deprecated` argument of an output.
#[salsa::tracked(returns(as_ref))]
fn deprecation(db: &dyn Db, block: db::Block, index: u32) -> Option<Str> {
    match &item(db, ItemKey { block, index }).kind {
        ItemKind::Output(output) => output.deprecated.clone(),
        _ => None,
    }
}

impl ItemEnv<'_> {
    /// The deprecated outputs of the modules that a call leads to.
    pub(super) fn deprecated_outputs_of(&self, call: &str) -> Vec<DeprecatedOutput> {
        let key = self.find(&ItemName::Module(call.into()));
        let declared = key.and_then(|key| item(self.db, key).kind.as_module_call());
        let Some(declared) = declared else { return Vec::new() };
        let modules = called_directories(self.db, self.workspace, self.directory, declared);
        modules.iter().flat_map(|it| deprecated_outputs(self.db, *it)).cloned().collect()
    }
}

impl Infer<'_> {
    /// Notes a reference to a module call as a whole, or to one of its outputs.
    pub(super) fn note_deprecated(&mut self, at: ExprId, call: &Str, output: Option<&Str>) {
        let mut outputs = self.env.deprecated_outputs(call);
        outputs.retain(|it| output.is_none_or(|name| it.name == *name));
        if !outputs.is_empty() {
            self.deprecated.push(DeprecatedReference { at, call: call.clone(), outputs });
        }
    }

    /// Warns of the deprecated outputs that a whole expression was made from. Returns the value without their mark.
    pub(super) fn warn_of_deprecated(&mut self, expr: ExprId, value: Abstract) -> Abstract {
        let references = std::mem::take(&mut self.deprecated);
        if references.is_empty() {
            return value;
        }
        if value.deep_marks().deprecated > Tri::No {
            let read = outputs_read(self.exprs, expr);
            references.iter().for_each(|it| self.warn_of(it, read.get(&it.at)));
        }
        value.without_deep(MarkKind::Deprecated)
    }

    /// Warns of a reference once, however often its expression is inferred. `read` is the output that is read of a call as
    /// a whole, if that is written out.
    fn warn_of(&mut self, reference: &DeprecatedReference, read: Option<&Str>) {
        if !self.reported.insert((reference.at.into(), DEPRECATED_OUTPUT, Severity::Warning)) {
            return;
        }
        for output in reference.outputs.iter().filter(|it| read.is_none_or(|name| it.name == *name))
        {
            let problem = self.deprecated_output(reference, output);
            self.problems.push(problem);
        }
    }

    fn deprecated_output(
        &self,
        reference: &DeprecatedReference,
        output: &DeprecatedOutput,
    ) -> ItemProblem {
        let text = traversal_text(self.exprs, reference.at);
        let text = text.filter(|_| matches!(self.exprs[reference.at], Expr::GetAttr { .. }));
        let source = text.unwrap_or_else(|| format!("module.{}.{}", reference.call, output.name));
        let derived = format!("This value is derived from {source}, which is deprecated");
        let detail = match output.message.is_empty() {
            true => format!("{derived}."),
            false => format!("{derived} with the following message:\n\n{}", output.message),
        };
        let summary = "Value derived from a deprecated source";
        let problem = ItemProblem::error(reference.at.into(), DEPRECATED_OUTPUT, summary, detail)
            .with_severity(Severity::Warning);
        self.env.declared_here(problem, output.key, "the output is declared here")
    }
}

/// The outputs that are read of module calls as a whole, where they are written out: `old` of `module.m[*].old`.
fn outputs_read(exprs: &Exprs, root: ExprId) -> FxHashMap<ExprId, Str> {
    let call = |mut expr: ExprId| {
        while let Expr::Index { base, .. } = &exprs[expr] {
            expr = *base;
        }
        matches!(&exprs[expr], Expr::Ref(Ref::Module(_))).then_some(expr)
    };
    let mut read = FxHashMap::default();
    let mut open = vec![root];
    while let Some(expr) = open.pop() {
        let found = match &exprs[expr] {
            Expr::GetAttr { base, name } => call(*base).zip(Some(name.clone())),
            Expr::Splat { base, item, each } => {
                call(*base).zip(attribute_of_element(exprs, *each, *item))
            }
            _ => None,
        };
        read.extend(found);
        exprs[expr].for_each_child(&mut |child| open.push(child));
    }
    read
}

/// The attribute that a splat takes of each element first.
fn attribute_of_element(exprs: &Exprs, each: ExprId, element: SymbolId) -> Option<Str> {
    let mut at = each;
    loop {
        at = match &exprs[at] {
            Expr::GetAttr { base, name } if is_symbol(exprs, *base, element) => {
                return Some(name.clone());
            }
            Expr::GetAttr { base, .. } | Expr::Index { base, .. } => *base,
            _ => return None,
        }
    }
}

fn is_symbol(exprs: &Exprs, expr: ExprId, symbol: SymbolId) -> bool {
    matches!(&exprs[expr], Expr::Symbol(it) if *it == symbol)
}
