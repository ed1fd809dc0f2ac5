//! Tests of the propagation of marks.

use values::{MarkKind, Value, functions::FunctionEnv};

use super::{Names, check_all, evaluated, show, show_problem, value_of};
use crate::{
    eval::evaluate,
    expr::Ref,
    lower::{StandaloneExpression, lower_expression},
    scope::{Interrupt, Scope, SecretParts},
};

#[test]
fn expression_forms_propagate_marks() {
    check_all(&[
        ("true ? \"x\" : var.e", "ephemeral(\"x\")"),
        ("var.e == \"hush\" ? 1 : 2", "ephemeral(1)"),
        ("\"a${var.e}\"", "ephemeral(\"ahush\")"),
        ("\"${var.e}\"", "ephemeral(\"hush\")"),
        ("[1, 2][var.en]", "ephemeral(2)"),
        ("tomap({hush = 1})[var.e]", "ephemeral(1)"),
        ("{hush = 1}[var.e]", "ephemeral(1)"),
        ("{secret = 1}[var.s]", "1"),
        ("var.mixed.plain", "\"p\""),
        ("var.mixed.hidden", "ephemeral(\"hush\")"),
        ("{a = var.e}", "{a = ephemeral(\"hush\")}"),
        ("{(var.e) = 1}", "ephemeral({hush = 1})"),
        ("[var.e, 1]", "[ephemeral(\"hush\"), 1]"),
        ("[for x in [var.e, 1]: x]", "[ephemeral(\"hush\"), 1]"),
        ("[for x in [1]: x if var.e == \"hush\"]", "ephemeral([1])"),
        ("{for x in [var.e]: x => 1}", "ephemeral({hush = 1})"),
        ("[for x in toset([var.e]): x]", "ephemeral([\"hush\"])"),
        ("var.e[*]", "ephemeral([ephemeral(\"hush\")])"),
        ("{a = var.e} == {a = 1}", "ephemeral(false)"),
        ("{a = var.e} == null", "false"),
        ("var.en + 1", "ephemeral(2)"),
        ("-var.en", "ephemeral(-1)"),
        ("var.e == \"x\" || true", "ephemeral(true)"),
        ("toset([var.e, \"x\"])", "ephemeral(set[\"hush\", \"x\"])"),
        ("length([var.e])", "1"),
        ("keys({a = var.e})", "[\"a\"]"),
        ("upper(var.e)", "ephemeral(\"HUSH\")"),
    ]);
}

#[test]
fn try_and_can_mark_results_by_the_values_read() {
    check_all(&[
        ("try(tonumber(var.e), \"fallback\")", "ephemeral(\"fallback\")"),
        ("try(var.e, 1)", "ephemeral(\"hush\")"),
        ("try(var.mixed, 1)", "{hidden = ephemeral(\"hush\"), plain = \"p\"}"),
        ("try(length([var.e]), 0)", "1"),
        ("try(length([tonumber(var.e)]), 0)", "ephemeral(0)"),
        ("can(tonumber(var.e))", "ephemeral(false)"),
        ("can(var.e)", "ephemeral(true)"),
        ("can(var.mixed.plain)", "true"),
        ("try(tonumber(var.s), \"fallback\")", "\"fallback\""),
        ("can(var.s)", "true"),
        ("try(var.mixed.nothing, 1)", "1"),
        ("try(var.us, var.e)", "ephemeral(unknown dynamic)"),
    ]);
}

#[test]
fn unknown_results_keep_the_marks_of_all_possible_values() {
    for text in [
        "[var.e, 1][var.un]",
        "{a = var.e}[var.us]",
        "var.ub ? {a = var.e} : {a = 1}",
        "var.ub ? 1 : [var.e]",
        "{(var.us) = 1, b = var.e}",
        "{(var.us) = var.e}",
        "{(var.ue) = 1}",
        "[for x in var.u: var.e]",
        "[for x in var.u: x if var.e == \"a\"]",
        "[for x in [var.e]: x if var.ub]",
        "{for x in [var.us]: x => var.e}",
        "{for x in [\"a\"]: x => var.e if var.ub}",
        "var.u[*][var.en]",
        "-var.ue",
        "!(var.ue == \"a\")",
        "\"%{for x in [var.us]}${var.e}%{endfor}\"",
        "\"%{for x in var.u}${var.e}%{endfor}\"",
        "tostring(var.ue)",
        "var.ue...",
        "max(1, [var.ue]...)",
        "max(var.en, var.u...)",
        "merge({a = var.e}, var.u)",
        "try(var.u, var.e)",
        "try(var.u.x[var.en], 1)",
        "can(var.u.x[var.en])",
    ] {
        let text = text.strip_suffix("...").unwrap_or(text);
        assert!(
            value_of(text).has_deep(MarkKind::Ephemeral),
            "{text} gives {}",
            show(&value_of(text))
        );
    }
}

#[test]
fn failed_expressions_keep_the_marks_of_their_operands() {
    for text in [
        "tonumber(var.e)",
        "var.e.x",
        "var.e + 1",
        "[1][var.e]",
        "{a = 1}[var.e]",
        "\"${[var.e]}a\"",
        "var.e ? 1 : 2",
    ] {
        assert!(value_of(text).has_deep(MarkKind::Ephemeral), "{text}");
    }
}

/// A loop that fails over a secret runs a second time. Nested loops must not multiply these runs.
#[test]
fn failing_nested_loops_are_not_repeated_exponentially() {
    let depth = 60;
    let opened = "[for x in [var.e]: ".repeat(depth);
    let text = format!("{opened}tonumber(\"no\"){}", "]".repeat(depth));
    assert!(
        super::outcome(&text).contains("Invalid function argument"),
        "{}",
        super::outcome(&text)
    );
}

#[test]
fn evaluation_errors_quote_no_secret() {
    for pattern in [
        "tonumber(SECRET)",
        "tobool(SECRET)",
        "tolist(SECRET)",
        "1 + SECRET",
        "!SECRET",
        "[1][SECRET]",
        "{a = 1}[SECRET]",
        "var.map[SECRET]",
        "SECRET.x",
        "SECRET[0]",
        "SECRET ? 1 : 2",
        "\"a${[SECRET]}\"",
        "{for x in [SECRET, SECRET]: x => 1}",
        "[for x in SECRET: x]",
        "[for x in [SECRET]: x.y]",
        "[for x in [1]: x if SECRET]",
        "try(tonumber(SECRET), SECRET.x)",
        "max(SECRET...)",
        "upper([SECRET])",
        "regex(SECRET, \"x\")",
        "regex(\"x\", SECRET)",
        "jsondecode(SECRET)",
        "yamldecode(\"{${SECRET}\")",
        "index([\"a\"], SECRET)",
        "parseint(SECRET, 10)",
        "base64decode(\"%${SECRET}\")",
        "file(SECRET)",
        "filebase64(SECRET)",
        "timeadd(SECRET, \"1h\")",
        "formatdate(SECRET, SECRET)",
        "cidrhost(SECRET, 1)",
        "lookup({a = 1}, SECRET)",
        "format(SECRET, SECRET, SECRET)",
        "format(\"%d\", SECRET)",
        "tomap({(SECRET) = [], b = 1})",
        "tonumber({a = SECRET}.a)",
        "tonumber([SECRET][0])",
        "tolist([SECRET, []])",
        "setproduct(SECRET)",
        "zipmap([SECRET], [])",
        "one([SECRET, SECRET])",
        "element([SECRET], \"x\")",
        "[for x in toset([SECRET]): tonumber(x)]",
        "[for x in toset([SECRET]): file(x)]",
        "[for x in toset([SECRET]): x if x]",
        "{for x in toset([SECRET]): x => x.y}",
        "{for x in split(\",\", \"${SECRET},${SECRET}\"): x => x}",
        "[for k, v in tomap({(SECRET) = 1}): tonumber(k)]",
        "true ? {(SECRET) = 1} : {b = []}",
        "true ? tolist([{(SECRET) = 1}]) : tolist([{b = []}])",
        "transpose({(SECRET) = 1})",
    ] {
        for (name, content) in [("var.e", "hush"), ("var.s", "secret")] {
            let text = pattern.replace("SECRET", name);
            for problem in evaluated(&text).expect("nothing interrupts").diagnostics {
                let shown = show_problem(&problem);
                assert!(!shown.contains(content), "{text}: {shown}");
            }
        }
    }
}

/// The scope of [`Names`] with a collector of secrets.
struct Gathering {
    names: Names,
    parts: SecretParts,
}

impl Scope for Gathering {
    fn reference(&self, reference: &Ref) -> Result<Value, Interrupt> {
        self.names.reference(reference)
    }

    fn provider_function(&self, name: &str, args: &[Value]) -> Result<Value, Interrupt> {
        self.names.provider_function(name, args)
    }

    fn functions(&self) -> &dyn FunctionEnv {
        self.names.functions()
    }

    fn secret_parts(&self) -> Option<&SecretParts> {
        Some(&self.parts)
    }
}

/// Checks the secrets collected during the evaluation, without those of references and of the result.
#[track_caller]
fn check_parts(text: &str, expected: &[&str]) {
    let StandaloneExpression { exprs, root, problems, .. } = lower_expression(text);
    assert!(problems.is_empty(), "{text}: {problems:?}");
    let scope = Gathering { names: Names::new(), parts: SecretParts::default() };
    let (evaluated, parts) = scope.parts.gather(|| evaluate(&exprs, root, &scope));
    let value = evaluated.expect("nothing interrupts").value;
    assert_eq!(show(&value), show(&value_of(text)), "{text}: who gathers gets the same value");
    let mut found: Vec<String> = parts.iter().map(show).collect();
    found.retain(|it| *it != show(&value) && !it.contains("(\"hush\")"));
    found.dedup();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn secret_intermediate_values_are_collected() {
    check_parts("\"a ${upper(var.e)}\"", &["ephemeral(\"HUSH\")"]);
    check_parts("\"a ${upper(var.s)}\"", &["sensitive(\"secret\")", "sensitive(\"SECRET\")"]);
    check_parts("\"a ${var.en + 1}\"", &["ephemeral(1)", "ephemeral(2)"]);
    check_parts(
        "\"a ${reverse(split(\"u\", var.e))[0]}\"",
        &["ephemeral(list[\"h\", \"sh\"])", "ephemeral(\"sh\")"],
    );
    check_parts(
        "\"a ${jsondecode(jsonencode({k = upper(var.e), l = \"x\"})).k}\"",
        &[
            "ephemeral(\"HUSH\")",
            "ephemeral(\"{\\\"k\\\":\\\"HUSH\\\",\\\"l\\\":\\\"x\\\"}\")",
            "ephemeral(\"HUSH\")",
        ],
    );
    check_parts(
        "join(\"+\", [for x in split(\"u\", var.e) : \"<${upper(x)}>\"])",
        &[
            "ephemeral(list[\"h\", \"sh\"])",
            "ephemeral(\"h\")",
            "ephemeral(\"H\")",
            "ephemeral(\"<H>\")",
            "ephemeral(\"sh\")",
            "ephemeral(\"SH\")",
            "ephemeral(\"<SH>\")",
        ],
    );
    check_parts(
        "\"%{ for x in split(\"us\", var.e) }${upper(x)}%{ endfor }\"",
        &[
            "ephemeral(list[\"h\", \"h\"])",
            "ephemeral(\"h\")",
            "ephemeral(\"H\")",
            "ephemeral(\"h\")",
            "ephemeral(\"H\")",
        ],
    );
    check_parts("\"a ${upper(var.a)} ${length(var.list)}\"", &[]);
    check_parts("{ a = var.mixed, b = try(var.mixed, 1), c = true ? var.mixed : null }", &[]);
}
