//! Where marks go (ephemeral 2, DESIGN 2.9).

use values::MarkKind;

use super::{check_all, evaluated, show_problem, value_of};

#[test]
fn forms_pass_marks_as_the_table_says() {
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
fn what_fails_or_not_shows_what_was_read() {
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
fn what_is_not_known_keeps_the_marks_of_all_that_it_may_be() {
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
            super::show(&value_of(text))
        );
    }
}

#[test]
fn what_fails_keeps_the_marks_of_what_it_read() {
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

#[test]
fn no_problem_quotes_a_secret() {
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
