//! Calls of functions of providers that `validate` makes: those whose arguments are known while nothing runs, so that what
//! a function says against them is known before any plan.
//!
//! Start at [`check`]. Only calls that every evaluation makes are looked at: not those in a branch of a condition, in a `for`
//! expression, or below `try` and `can`.

use db::Diagnostic;
use hir::{Entry, Expr, ExprId, Exprs, Program, eval};
use values::{Str, ops::BinaryOp};

use crate::{
    function_calls::{FunctionAnswers, FunctionProviders},
    offline::{ModuleScope, Offline},
    request::Environment,
    validate::MOST_STEPS,
    walk::Functions,
};

/// What functions of providers say against the arguments that they are given.
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
        state: None,
        values: None,
        workspace: workspace.clone(),
        functions: Functions::new(&environment.system, false).without_plan().at_most(MOST_STEPS),
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
        for call in &wanted {
            match providers.ask(call).await {
                Ok(answer) => answers.settle(call, answer),
                Err(diagnostic) => {
                    answers.give_up(call);
                    if !not_started.contains(&*diagnostic) {
                        not_started.push(*diagnostic);
                    }
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

/// Makes the calls of all modules, as far as their answers are there; gives what is wrong with them.
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
                    let mut diagnostic = Diagnostic::error(it.id, it.summary, it.detail)
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

/// The calls of providers' functions that are made whenever the item is evaluated, without those inside of them.
fn outermost_calls(exprs: &Exprs) -> Vec<ExprId> {
    let mut is_hidden = vec![false; exprs.len()];
    // Names that something around the expression binds, such as a `dynamic` block, mean nothing here.
    let has_symbol = with_symbols(exprs);
    let mut found = Vec::new();
    // Children come before their parents.
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

/// Whether what is inside is evaluated in some cases only, or its failing is no failure.
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
