//! Tests of budgets: expressions that grow without bound, and interrupted runs.

use std::{cell::Cell, rc::Rc};

use values::{
    Budget, Value,
    functions::{FunctionEnv, RenderError},
};

use super::Names;
use crate::{
    eval::{Evaluated, evaluate},
    expr::{At, Ref},
    lower::{StandaloneExpression, lower_expression},
    scope::{Interrupt, Scope},
};

/// The scope of [`Names`] with a budget.
struct Limited {
    names: Names,
    budget: Budget,
}

impl Scope for Limited {
    fn reference(&self, reference: &Ref) -> Result<Value, Interrupt> {
        self.names.reference(reference)
    }

    fn provider_function(&self, name: &str, args: &[Value]) -> Result<Value, Interrupt> {
        self.names.provider_function(name, args)
    }

    fn functions(&self) -> &dyn FunctionEnv {
        self
    }
}

impl FunctionEnv for Limited {
    fn read_file(&self, _: &str) -> Result<Vec<u8>, String> {
        Err("no files here".to_owned())
    }

    fn file_exists(&self, _: &str) -> Result<bool, String> {
        Ok(false)
    }

    fn render_template(&self, _: &str, _: &str, _: &Value) -> Result<Value, RenderError> {
        Err("no templates here".to_owned().into())
    }

    fn now(&self) -> Option<String> {
        None
    }

    fn uuid(&self) -> Option<String> {
        None
    }

    fn salt(&self) -> Option<[u8; 16]> {
        Some([1; 16])
    }

    fn budget(&self) -> Option<&Budget> {
        Some(&self.budget)
    }
}

fn scope(budget: Budget) -> Limited {
    Limited { names: Names::new(), budget }
}

fn evaluated(text: &str, scope: &Limited) -> Result<Evaluated, Interrupt> {
    let StandaloneExpression { exprs, root, problems, .. } = lower_expression(text);
    assert!(problems.is_empty(), "{text}: {problems:?}");
    evaluate(&exprs, root, scope)
}

/// Asserts that an expression exceeds a budget of ten million bytes, with one diagnostic at a part of the
/// expression.
#[track_caller]
fn is_too_large(text: &str) -> Evaluated {
    let scope = scope(Budget::new(10_000_000));
    let result = evaluated(text, &scope).expect("is no interrupt");
    let [found] = &result.diagnostics[..] else { panic!("{text}: {:?}", result.diagnostics) };
    assert_eq!(
        (found.id().code(), &*found.summary),
        ("evaluation-too-large", "Value too large"),
        "{text}"
    );
    assert!(matches!(found.at, At::Expr(_)), "{text}");
    assert!(found.detail.contains("the limit is 9.5 MiB"), "{text}: {}", found.detail);
    assert!(found.detail.contains("MAYFLY_EVALUATION_MEMORY"), "{text}: {}", found.detail);
    assert_eq!(scope.budget.used(), 0, "{text}: nothing is kept");
    result
}

#[test]
fn expression_beyond_the_memory_limit_is_an_error() {
    for text in [
        "[for a in range(1000) : [for b in range(1000) : [for c in range(1000) : 1]]]",
        "{for a in range(1000) : a => {for b in range(1000) : b => {for c in range(1000) : c => 1}}}",
        "[for a in range(1000) : [for b in range(1000) : b][*]]",
        r#""%{for a in range(1000)}%{for b in range(1000)}xxxxxxxxxxxxxxxxxxxx%{endfor}%{endfor}""#,
        r#"[for a in range(1000) : join("", [for b in range(1000) : "xxxxxxxxxxxxxxxxxxxx"])]"#,
        r#"format("%1000000000d", 1)"#,
        r#"join("", [for i in range(1000) : format("%100000d", i)])"#,
        r#"jsonencode([for a in range(1000) : [for b in range(1000) : [for c in range(1000) : c]]])"#,
        "setproduct(range(1000), range(1000), range(1000))",
        r#"replace(format("%100000d", 0), " ", format("%10000d", 0))"#,
        r#"indent(10000000, "a\n\n\n\nb")"#,
        "[for a in range(1000) : setproduct(range(100), range(100))]",
    ] {
        is_too_large(text);
    }
}

#[test]
fn memory_limit_error_names_the_size_and_the_limit() {
    let result = is_too_large(r#"format("%1000000000d", 1)"#);
    let detail = &result.diagnostics[0].detail;
    assert_eq!(
        detail,
        "The value is too large: with it, the strings and collections of this run would take 953.6 MiB; the limit is \
         9.5 MiB. Make a smaller value, or set the environment variable MAYFLY_EVALUATION_MEMORY to a higher limit, \
         such as 4GiB."
    );
}

#[test]
fn try_does_not_catch_the_memory_limit_error() {
    is_too_large(r#"try(format("%1000000000d", 1), "small")"#);
    is_too_large(r#"can(format("%1000000000d", 1))"#);
}

#[test]
fn dropped_values_are_returned_to_the_memory_budget() {
    let scope = scope(Budget::new(10_000_000));
    for _ in 0..100 {
        let text = r#"length(join("", [for i in range(1000) : format("%1000d", i)]))"#;
        let result = evaluated(text, &scope).expect("is no interrupt");
        assert_eq!(result.diagnostics, []);
        assert!(scope.budget.used() < 10_000, "{}", scope.budget.used());
    }
}

/// Evaluation ahead of a run relies on it: it evaluates with another budget, and compares the peak with what is left.
#[test]
fn peak_is_the_least_budget_of_an_evaluation() {
    for text in [
        r#"length(join("", [for i in range(100) : format("%100d", i)]))"#,
        r#"join("-", [for i in range(100) : format("%100d", i)])"#,
        r#"{ for i in range(100) : "k${i}" => [for j in range(10) : sensitive("${i}-${j}")] }"#,
    ] {
        let evaluated_with = |bytes: u64| {
            let scope = scope(Budget::new(bytes));
            let result = evaluated(text, &scope).expect("is no interrupt");
            (result.diagnostics.len(), scope.budget.peak())
        };
        let (found, peak) = evaluated_with(10_000_000);
        assert_eq!(found, 0);
        assert_eq!(evaluated_with(peak), (0, peak), "{text}");
        assert_eq!(evaluated_with(peak - 1).0, 1, "{text}");
    }
}

#[test]
fn values_dropped_in_a_loop_are_returned_to_the_memory_budget() {
    let scope = scope(Budget::new(1_000_000));
    let text = "[for a in range(1000) : length([for b in range(1000) : b])]";
    let result = evaluated(text, &scope).expect("is no interrupt");
    assert_eq!(result.diagnostics, []);
}

#[test]
fn shared_value_counts_once_in_the_memory_budget() {
    let scope = scope(Budget::new(10_000_000));
    let text = r#"[for text in [format("%1000000d", 1)] : [for i in range(1000) : text]]"#;
    let result = evaluated(text, &scope).expect("is no interrupt");
    assert_eq!(result.diagnostics, []);
    assert!(result.value.unshared_size() > 1_000_000_000);
    assert!((1_000_000..3_000_000).contains(&scope.budget.used()), "{}", scope.budget.used());
}

#[test]
fn interrupt_ends_an_evaluation_at_the_next_check() {
    for text in [
        "length([for a in range(1000) : length([for b in range(1000) : length([for c in range(1000) : 1])])])",
        r#"try([for a in range(1000) : [for b in range(1000) : b]], "other")"#,
        r#"bcrypt("a", 31)"#,
    ] {
        let looks = Rc::new(Cell::new(0));
        let asked = Rc::clone(&looks);
        let scope = scope(Budget::new(1 << 40).until(move || {
            asked.set(asked.get() + 1);
            asked.get() > 3
        }));
        let result = evaluated(text, &scope);
        assert!(matches!(result, Err(Interrupt::Stopped)), "{text}: {result:?}");
        assert_eq!(looks.get(), 4, "{text}");
        assert_eq!(scope.budget.used(), 0, "{text}");
    }
}
