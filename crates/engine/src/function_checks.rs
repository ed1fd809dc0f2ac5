//! Checks the calls of provider functions in `validate`: calls whose arguments are known without a run are made,
//! so that their errors are known before a plan.
//!
//! Start reading at [`check`]. Only calls that every evaluation makes are checked: not those in a branch of a
//! conditional, in a `for` expression, or below `try` and `can`.

use db::Diagnostic;
use hir::{Entry, Expr, ExprId, Exprs, Program, eval};
use values::{Str, ops::BinaryOp};

use crate::{
    function_calls::{FunctionAnswers, FunctionProviders, FunctionRequest},
    functions::Functions,
    offline::{ModuleScope, Offline},
    request::Environment,
    validate::MAX_STEPS,
};

/// Returns the errors of the calls of provider functions with known arguments.
pub(crate) async fn check(
    program: &Program,
    environment: &Environment,
    workspace: &Str,
) -> Vec<Diagnostic> {
    if !program.modules.iter().flat_map(|it| it.entries()).any(calls_providers) {
        return Vec::new();
    }
    let answers = FunctionAnswers::default();
    let offline = Offline {
        program,
        objects: None,
        values: None,
        workspace: workspace.clone(),
        functions: Functions::new(&environment.system, false).without_plan().at_most(MAX_STEPS),
        system: environment.system.clone(),
        answers: Some(&answers),
    };
    let providers = FunctionProviders::new(environment);
    let mut not_started = Vec::new();
    let said = loop {
        let (said, wanted) = answers.gather(|| all_calls(program, &offline));
        if wanted.is_empty() {
            break said;
        }
        for request in &wanted {
            let FunctionRequest::Call(call) = request else { continue };
            if let Err(diagnostic) = providers.settle(call, &answers).await {
                answers.give_up(call);
                if !not_started.contains(&*diagnostic) {
                    not_started.push(*diagnostic);
                }
            }
        }
    };
    providers.end().await;
    not_started.extend(said);
    not_started
}

fn calls_providers(entry: &Entry) -> bool {
    entry.item.exprs.calls_providers()
}

/// Makes the calls of all modules whose results are available, and returns their diagnostics.
fn all_calls(program: &Program, offline: &Offline<'_>) -> Vec<Diagnostic> {
    let mut said = Vec::new();
    for module in &program.modules {
        let scope = ModuleScope::of(offline, module.id);
        for entry in module.entries().filter(|it| calls_providers(it)) {
            for call in outermost_calls(&entry.item.exprs) {
                let Ok(evaluated) = eval::evaluate(&entry.item.exprs, call, &*scope) else {
                    continue;
                };
                if evaluated.exceeded.is_some() {
                    continue;
                }
                said.extend(evaluated.diagnostics.into_iter().map(|it| {
                    let mut diagnostic = Diagnostic::new(it.summary, it.detail)
                        .at(program.locate(entry.origin, it.at));
                    diagnostic.context = program.context(entry.origin);
                    diagnostic.values = it.values;
                    diagnostic
                }));
            }
        }
    }
    said
}

/// Returns the outermost calls of provider functions that every evaluation of the item makes.
fn outermost_calls(exprs: &Exprs) -> Vec<ExprId> {
    let mut is_hidden = vec![false; exprs.len()];
    // Skip calls that depend on names of an enclosing construct, such as a `dynamic` block: they have no value
    // here.
    let has_symbol = with_symbols(exprs);
    let mut found = Vec::new();
    // Children precede their parents in the list, so the reversed order visits parents first.
    let all: Vec<(ExprId, &Expr)> = exprs.iter().collect();
    for (id, expr) in all.into_iter().rev() {
        let at = id.0 as usize;
        let is_call = matches!(expr, Expr::Call(call) if call.name.starts_with("provider::"));
        if is_call && !is_hidden[at] && !has_symbol[at] {
            found.push(id);
        }
        if is_hidden[at] || is_call || hides(expr) {
            expr.for_each_child(&mut |child| is_hidden[child.0 as usize] = true);
        }
    }
    found.reverse();
    found
}

fn with_symbols(exprs: &Exprs) -> Vec<bool> {
    let mut has_symbol = vec![false; exprs.len()];
    for (id, expr) in exprs.iter() {
        let mut has = matches!(expr, Expr::Symbol(_));
        expr.for_each_child(&mut |child| has |= has_symbol[child.0 as usize]);
        has_symbol[id.0 as usize] = has;
    }
    has_symbol
}

/// Returns true if an expression does not always evaluate its children, or does not fail when they fail.
fn hides(expr: &Expr) -> bool {
    match expr {
        Expr::Conditional { .. }
        | Expr::ForTuple(_)
        | Expr::ForObject(_)
        | Expr::Splat { .. }
        | Expr::Binary { op: BinaryOp::And | BinaryOp::Or, .. } => true,
        Expr::Call(call) => matches!(&*call.name, "try" | "can"),
        _ => false,
    }
}
