//! Tests of the evaluator: expressions as text and their formatted results.

mod accesses;
mod bodies;
mod budget;
mod collections;
mod constraints;
mod functions;
mod marks;
mod operators;

use db::Summary;
use sorted::TreeMap;

use values::{
    Kind, Mark, MarkKind, Refinements, Type, Value, ValueMap,
    functions::{FunctionEnv, RenderError},
};

use crate::{
    eval::{Evaluated, evaluate},
    expr::Ref,
    lower::{StandaloneExpression, lower_expression},
    provider_function::ArgumentError,
    scope::{EvalDiagnostic, Interrupt, Scope},
};

/// Evaluates `text` in the scope of [`Names`] and compares the result: the value, then one line for each
/// diagnostic.
#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(outcome(text), expected, "{text}");
}

#[track_caller]
fn check_all(cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(text, expected)| {
            let found = outcome(text);
            (found != *expected).then(|| format!("{text}\n  gives  {found}\n  wanted {expected}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn outcome(text: &str) -> String {
    match evaluated(text) {
        Ok(evaluated) => {
            let mut lines = Vec::new();
            if evaluated.diagnostics.is_empty() {
                lines.push(show(&evaluated.value));
            }
            lines.extend(evaluated.diagnostics.iter().map(show_problem));
            lines.join(" | ")
        }
        Err(interrupt) => format!("{interrupt:?}"),
    }
}

fn evaluated(text: &str) -> Result<Evaluated, Interrupt> {
    let StandaloneExpression { exprs, root, problems, .. } = lower_expression(text);
    assert!(problems.is_empty(), "{text}: {problems:?}");
    evaluate(&exprs, root, &Names::new())
}

/// The value alone, even if there are diagnostics.
fn value_of(text: &str) -> Value {
    evaluated(text).expect("nothing interrupts").value
}

fn show_problem(problem: &EvalDiagnostic) -> String {
    let mut line = format!("{}: {}", problem.summary, problem.detail);
    if !problem.values.is_empty() {
        line.push_str(&format!(" ({})", problem.values.join("; ")));
    }
    line
}

/// Formats a value with its marks, the types of unknown values, and refinements.
fn show(value: &Value) -> String {
    let (bare, marks) = value.unmark();
    let mut text = show_bare(&bare);
    for (kind, name) in [(MarkKind::Sensitive, "sensitive"), (MarkKind::Ephemeral, "ephemeral")] {
        if marks.has(kind) {
            text = format!("{name}({text})");
        }
    }
    text
}

fn show_bare(value: &Value) -> String {
    let all = |items: &[Value]| items.iter().map(show).collect::<Vec<_>>().join(", ");
    let entries = |entries: &ValueMap| {
        entries
            .iter()
            .map(|(key, value)| format!("{key} = {}", show(value)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    match value.kind() {
        Kind::Unknown(known) => {
            format!("unknown {}{}", value.ty().friendly_name(), show_known(known))
        }
        Kind::Tuple(items) => format!("[{}]", all(items)),
        Kind::List(items) => format!("list[{}]", all(items)),
        Kind::Set(items) => format!("set[{}]", all(items)),
        Kind::Object(attributes) => format!("{{{}}}", entries(attributes)),
        Kind::Map(elements) => format!("map{{{}}}", entries(elements)),
        _ => format!("{value:?}"),
    }
}

fn show_known(known: &Refinements) -> String {
    let mut text = String::new();
    if known.is_not_null() {
        text.push('!');
    }
    if !known.prefix().is_empty() {
        text.push_str(&format!(" {:?}..", known.prefix()));
    }
    if let (Some(lower), Some(upper)) = (known.lower(), known.upper()) {
        text.push_str(&format!(" {}..{}", lower.value, upper.value));
    }
    if let Some(max) = known.max_length() {
        text.push_str(&format!(" {}..{max}", known.min_length()));
    }
    text
}

/// The scope of the tests.
struct Names {
    variables: TreeMap<&'static str, Value>,
}

fn ephemeral(value: impl Into<Value>) -> Value {
    value.into().with_mark(Mark::Ephemeral)
}

fn sensitive(value: impl Into<Value>) -> Value {
    value.into().with_mark(Mark::Sensitive)
}

impl Names {
    fn new() -> Names {
        let strings = |items: &[&str]| {
            Value::list(Type::String, items.iter().map(|it| Value::from(*it)).collect())
        };
        let variables = [
            ("a", Value::from("a")),
            ("n", Value::int(5)),
            ("t", Value::bool(true)),
            ("list", strings(&["a", "b"])),
            (
                "map",
                Value::map(Type::String, [("k".into(), Value::from("v"))].into_iter().collect()),
            ),
            (
                "objects",
                Value::list(
                    Type::object([("a", Type::Number)]),
                    vec![Value::object_from([("a", Value::int(1))])],
                ),
            ),
            ("null_list", Value::null(Type::list(Type::String))),
            ("u", Value::dynamic()),
            ("us", Value::unknown(Type::String)),
            ("un", Value::unknown(Type::Number)),
            ("ub", Value::unknown(Type::Bool)),
            ("ul", Value::unknown(Type::list(Type::String))),
            ("uo", Value::unknown(Type::object([("a", Type::Number)]))),
            ("um", Value::unknown(Type::map(Type::String))),
            ("s", sensitive("secret")),
            ("e", ephemeral("hush")),
            ("en", ephemeral(1)),
            ("ue", ephemeral(Value::unknown(Type::String))),
            (
                "mixed",
                Value::object_from([("plain", Value::from("p")), ("hidden", ephemeral("hush"))]),
            ),
        ];
        Names { variables: variables.into() }
    }
}

impl Scope for Names {
    fn reference(&self, reference: &Ref) -> Result<Value, Interrupt> {
        match reference {
            Ref::Variable(name) => Ok(self
                .variables
                .get(&**name)
                .unwrap_or_else(|| panic!("no var.{name} in tests"))
                .clone()),
            Ref::Local(name) if &**name == "failed" => Err(Interrupt::Poisoned),
            Ref::Module(name) if &**name == "whole" => {
                Ok(Value::object_from([("out", Value::from("general"))]))
            }
            Ref::EachKey | Ref::EachValue => Err(Interrupt::Refused {
                summary: Summary::INVALID_EACH,
                detail: "The \"each\" object can be used only with for_each.".to_owned(),
            }),
            other => panic!("{other:?} was built as a whole"),
        }
    }

    fn resource_instance(
        &self,
        resource: &addr::Resource,
        key: &Value,
    ) -> Result<Option<Value>, Interrupt> {
        Ok(Some(Value::object_from([("id", Value::string(format!("{resource}/{key:?}")))])))
    }

    fn module_output(
        &self,
        call: &str,
        key: Option<&Value>,
        output: &str,
    ) -> Result<Option<Value>, Interrupt> {
        if call == "whole" {
            return Ok(None);
        }
        Ok(Some(Value::string(format!("{call}/{key:?}/{output}"))))
    }

    fn provider_function(&self, name: &str, args: &[Value]) -> Result<Value, Interrupt> {
        match name {
            "provider::x::echo" => Ok(args[0].clone()),
            "provider::x::fail" => Err(Interrupt::Refused {
                summary: Summary::ERROR_IN_FUNCTION_CALL,
                detail: "No luck.".to_owned(),
            }),
            "provider::x::picky" => Err(Interrupt::ArgumentError(Box::new(ArgumentError {
                argument: Some(args.len() - 1),
                summary: Summary::INVALID_FUNCTION_ARGUMENT,
                detail: format!("No {}.", args[args.len() - 1].as_str().unwrap_or("?")),
                called: "provider::x::picky(some...)".to_owned(),
                is_quote: true,
            }))),
            _ => Ok(Value::dynamic()),
        }
    }

    fn functions(&self) -> &dyn FunctionEnv {
        &NoWorld
    }
}

/// An environment without files and time.
struct NoWorld;

impl FunctionEnv for NoWorld {
    fn read_file(&self, path: &str) -> Result<Vec<u8>, String> {
        Err(format!("no file exists at {path:?}"))
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
}
