//! Tests one readable row for each mark rule and domain. If a rule is disabled in one domain, a row of the rule
//! fails.

use std::collections::BTreeMap;

use hir::{
    analysis::{
        Abstract, TriMarks,
        infer::Infer,
        value::{Inside, Presence},
    },
    eval::evaluate,
    lower::{StandaloneExpression, lower_expression},
};
use values::{
    Kind, Mark, Type, Value,
    rules::{Domain, RuleId, disable},
};

use crate::{
    names::{Declared, Values},
    relation::{disagreement, show, show_known, unexplained},
};

/// The effect of a rule: `!` is ephemeral and `*` sensitive; `?` means that the mark is not certain.
struct Row {
    rule: RuleId,
    text: &'static str,
    /// The concrete value.
    value: &'static str,
    /// The abstract value.
    known: &'static str,
}

const fn row(rule: RuleId, text: &'static str, value: &'static str, known: &'static str) -> Row {
    Row { rule, text, value, known }
}

const ROWS: &[Row] = &[
    row(RuleId::Conditional, r#"var.t ? "x" : var.e"#, r#"!"x""#, "!_"),
    row(RuleId::Conditional, r#"var.et ? "x" : "y""#, r#"!"x""#, "!_"),
    row(
        RuleId::Conditional,
        r#"var.t ? {a = var.e} : {a = "x"}"#,
        r#"{a = !"hush"}"#,
        "!?{a = !?_}",
    ),
    row(RuleId::Template, r#""a${var.e}""#, r#"!"ahush""#, "!_"),
    row(RuleId::Template, r#""%{ for v in [var.e] }${v}%{ endfor }.""#, r#"!"hush.""#, "!_"),
    row(RuleId::Tuple, r#"[var.e, "x"]"#, r#"[!"hush", "x"]"#, "[!_, _]"),
    row(
        RuleId::ObjectValue,
        r#"{a = var.e, b = "x"}"#,
        r#"{a = !"hush", b = "x"}"#,
        "{a = !_, b = _}",
    ),
    row(RuleId::ObjectKey, "{(var.e) = 1}", "!{hush = 1}", "!_"),
    row(RuleId::ForCollection, r#"[for v in var.el : "x"]"#, r#"!["x"]"#, "!each _"),
    row(RuleId::ForCollection, "[for v in [var.e, 1] : v]", r#"[!"hush", 1]"#, "[!_, _]"),
    row(RuleId::ForCondition, r#"[for v in ["a"] : v if var.e == "hush"]"#, r#"!["a"]"#, "!each _"),
    row(RuleId::ForCondition, r#"[for v in var.l : v if var.e == "x"]"#, "![]", "!?each _"),
    row(RuleId::ForKey, r#"{for v in ["a"] : var.e => v}"#, r#"!{hush = "a"}"#, "!each _"),
    row(RuleId::Splat, "var.eo[*].a", r#"![!"a"]"#, "![!_]"),
    row(RuleId::IndexCollection, r#"["x", "y"][var.en]"#, r#"!"y""#, "!_"),
    row(RuleId::IndexCollection, "var.el[0]", r#"!"a""#, "!_"),
    row(RuleId::IndexObject, r#"var.eo["a"]"#, r#"!"a""#, "!_"),
    row(RuleId::IndexObjectKey, r#"{hush = "x"}[var.e]"#, r#"!"x""#, "!_"),
    row(RuleId::IndexObjectKey, r#"{secret = "x"}[var.x]"#, r#""x""#, "_"),
    row(RuleId::Attribute, "var.eo.a", r#"!"a""#, "!_"),
    row(RuleId::Attribute, "var.o.p", r#""p""#, "_"),
    row(RuleId::Equality, r#"[var.e] == ["x"]"#, "!false", "!_"),
    row(RuleId::EqualityNull, "var.e == null", "!false", "!_"),
    row(RuleId::EqualityNull, "[var.e] == null", "false", "_"),
    row(RuleId::Operator, "var.en + 1", "!2", "!_"),
    row(RuleId::Operator, "var.et || true", "!true", "!_"),
    row(RuleId::EmptyExpansion, "max(1, (true ? [] : var.el)...)", "!1", "!_"),
    row(RuleId::SetConstruction, "toset([var.e])", r#"!set["hush"]"#, "!_"),
    row(RuleId::Try, r#"try(tonumber(var.e), "x")"#, r#"!"x""#, "!_"),
    row(RuleId::Try, r#"try(tonumber(var.x), "x")"#, r#""x""#, "*?_"),
    row(RuleId::Can, "can(tonumber(var.e))", "!false", "!_"),
    row(RuleId::Can, "can(var.x)", "true", "_"),
    row(RuleId::Function, "upper(var.e)", r#"!"HUSH""#, "!_"),
    row(RuleId::Function, "jsonencode({a = var.e})", r#"!"{\"a\":\"hush\"}""#, "!_"),
    row(RuleId::Function, "provider::x::f(var.e)", r#"!"answer""#, "!_"),
    row(RuleId::CarryingFunction, "reverse(var.el)", r#"!list["a"]"#, "!_"),
    row(
        RuleId::CarryingFunction,
        "merge(var.o, {b = 1})",
        r#"{b = 1, h = !"hush", p = "p"}"#,
        "{b = _, h = !_, p = _}",
    ),
    row(RuleId::CarryingFunction, "values(var.o)", r#"[!"hush", "p"]"#, "[!_, _]"),
    row(RuleId::CarryingFunction, "element([var.e, 1], 1)", "1", "_"),
    row(RuleId::CarryingFunction, "flatten([[var.e], [1]])", r#"[!"hush", 1]"#, "[!_, _]"),
    row(RuleId::CarryingFunction, r#"lookup({a = 1}, "b", var.e)"#, r#"!"hush""#, "!_"),
    row(RuleId::CarryingFunction, r#"lookup({a = 1}, "a", var.e)"#, "1", "_"),
    row(RuleId::Conversion, "tostring(var.en)", r#"!"1""#, "!_"),
    row(
        RuleId::Conversion,
        r#"tomap({a = var.e, b = "x"})"#,
        r#"map{a = !"hush", b = "x"}"#,
        "{a = !_, b = _}",
    ),
    row(
        RuleId::Conversion,
        "convert({a = var.en}, object({a = string}))",
        r#"{a = !"1"}"#,
        "{a = !_}",
    ),
    row(
        RuleId::OptionalDefault,
        r#"convert({a = var.t ? null : var.e}, object({a = optional(string, "x")}))"#,
        r#"{a = !"x"}"#,
        "{a = !_}",
    ),
    row(
        RuleId::OptionalDefault,
        r#"convert({a = sensitive(null)}, object({a = optional(string, "x")}))"#,
        r#"{a = "x"}"#,
        "_",
    ),
    row(RuleId::Length, "length(var.el)", "!1", "!_"),
    row(RuleId::Length, "length([var.e])", "1", "_"),
    row(RuleId::Keys, "keys(var.eo)", r#"!["a"]"#, "!_"),
    row(RuleId::Keys, "keys({a = var.e})", r#"["a"]"#, "_"),
    row(RuleId::ZipmapKeys, r#"zipmap([var.e], ["x"])"#, r#"!{hush = "x"}"#, "!_"),
    row(
        RuleId::ZipmapKeys,
        r#"zipmap(["a", "b"], [var.e, 1])"#,
        r#"{a = !"hush", b = 1}"#,
        "{a = !_, b = _}",
    ),
    row(RuleId::Sensitive, "sensitive(var.s)", r#"*"s""#, "*_"),
    row(RuleId::Nonsensitive, "nonsensitive(var.ex)", r#"!"both""#, "!_"),
    row(RuleId::IsSensitive, "issensitive(var.x)", "true", "_"),
    row(
        RuleId::EphemeralAsNull,
        "ephemeralasnull(var.o)",
        r#"{h = tostring(null), p = "p"}"#,
        "{h = _, p = _}",
    ),
    row(RuleId::EphemeralAsNull, "ephemeralasnull(var.ex)", "*tostring(null)", "*_"),
];

/// The variables of the rows.
fn values() -> BTreeMap<&'static str, Value> {
    let ephemeral = |value: Value| value.with_mark(Mark::Ephemeral);
    let list = || Value::list(Type::String, vec!["a".into()]);
    let both = Value::from("both").with_mark(Mark::Sensitive);
    [
        ("s", Value::from("s")),
        ("t", Value::bool(true)),
        ("e", ephemeral("hush".into())),
        ("en", ephemeral(1.into())),
        ("et", ephemeral(true.into())),
        ("x", Value::from("secret").with_mark(Mark::Sensitive)),
        ("ex", ephemeral(both)),
        ("l", list()),
        ("el", ephemeral(list())),
        ("o", Value::object_from([("p", Value::from("p")), ("h", ephemeral("hush".into()))])),
        ("eo", ephemeral(Value::object_from([("a", Value::from("a"))]))),
    ]
    .into()
}

/// The abstract value of a variable: its type and marks, and the attributes of an object.
fn known(value: &Value) -> Abstract {
    let inside = match value.kind() {
        Kind::Object(attrs) => {
            Inside::attrs(attrs.iter().map(|(name, it)| (name.clone(), known(it))).collect())
        }
        _ => Inside::PLAIN,
    };
    let (marks, presence) = (TriMarks::sure(value.marks()), Presence::Known);
    Abstract { inside, marks, presence, ..Abstract::of_type(value.ty()) }.ephemeral_as_marked()
}

/// The result of both domains for a row, if it differs from the expected one.
fn wrong(row: &Row) -> Option<String> {
    let values = values();
    let declared = values.iter().map(|(name, value)| (*name, known(value))).collect();
    let declared = Declared::of(declared);
    let StandaloneExpression { exprs, root, problems, .. } = lower_expression(row.text);
    assert!(problems.is_empty(), "{}: {problems:?}", row.text);
    let evaluated = evaluate(&exprs, root, &Values::of(values)).expect("nothing interrupts");
    assert!(!evaluated.has_errors(), "{}: {:?}", row.text, evaluated.diagnostics);
    let mut infer = Infer::new(&exprs, &declared);
    let known = infer.expr(root);
    assert!(infer.problems.is_empty(), "{}: {:?}", row.text, infer.problems);
    let (value, shown) = (show(&evaluated.value), show_known(&known));
    if (&*value, &*shown) != (row.value, row.known) {
        return Some(format!(
            "{}\n  gives  {value} and {shown}\n  wanted {} and {}",
            row.text, row.value, row.known
        ));
    }
    disagreement(&known, &evaluated.value).or_else(|| unexplained(&known))
}

#[test]
fn every_row_of_a_mark_rule_holds_in_both_domains() {
    let wrong: Vec<String> = ROWS.iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// [`crate::blocks`] tests the rule of `dynamic` blocks.
#[test]
fn disabling_any_rule_in_one_domain_fails_a_row() {
    let mut idle = Vec::new();
    for rule in RuleId::ALL.iter().copied().filter(|rule| *rule != RuleId::DynamicBlock) {
        for domain in [Domain::Concrete, Domain::Abstract] {
            let _disabled = disable(rule, domain);
            if ROWS.iter().filter(|row| row.rule == rule).all(|row| wrong(row).is_none()) {
                idle.push((rule, domain));
            }
        }
    }
    assert!(idle.is_empty(), "no row needs {idle:?}");
}
