//! Tests of lowered templates. `E` in an interpolation stands for itself in the result, so that the result can be
//! compared with OpenTofu's.

use super::{Part, Template, bare, heredoc, quoted};
use crate::ast::{AstNode as _, Expr};
use crate::{parse_expression, parse_template};

/// Renders a template with marks around its parts: `‹expr›`, `[if c|then|else]`, `[for k,v in c|body]`.
fn render(parts: &[Part]) -> String {
    let text = |expr: &Option<Expr>| {
        expr.as_ref().map(|it| it.syntax().text().to_string()).unwrap_or_default()
    };
    let mut out = String::new();
    for part in parts {
        match part {
            Part::Literal(literal) => out.push_str(literal),
            Part::Interpolation(it) => out.push_str(&format!("‹{}›", text(&it.expr))),
            Part::If(it) => {
                out.push_str(&format!("[if {}|{}", text(&it.condition), render(&it.then_parts)));
                if let Some(parts) = &it.else_parts {
                    out.push_str(&format!("|{}", render(parts)));
                }
                out.push(']');
            }
            Part::For(it) => {
                let names =
                    it.key_name.iter().chain(&it.value_name).map(|name| name.text().to_owned());
                let names = names.collect::<Vec<_>>().join(",");
                out.push_str(&format!(
                    "[for {names} in {}|{}]",
                    text(&it.collection),
                    render(&it.parts)
                ));
            }
        }
    }
    out
}

fn lowered(text: &str) -> Template {
    let parse = parse_expression(text);
    match parse.tree().expr() {
        Some(Expr::QuotedTemplate(it)) => quoted(&it),
        Some(Expr::Heredoc(it)) => heredoc(&it),
        other => panic!("{text:?} is no template but {other:?}"),
    }
}

#[track_caller]
fn check(text: &str, want: &str) {
    assert_eq!(render(&lowered(text).parts), want, "{text}");
}

#[test]
fn template_escapes_are_decoded() {
    check(r#""\n\t\r\"\\\u00e9\U0001F600""#, "\n\t\r\"\\é😀");
    check(r#""\q \u12 \uD800 \U00110000""#, r"\q \u12 \uD800 \U00110000");
    check("\"a\tb\"", "a\tb");
    check("<<X\n\\n \\\" \\u00e9\nX\n", "\\n \\\" \\u00e9\n");
}

#[test]
fn doubled_sign_before_a_brace_is_an_escape() {
    check(r#""$${x} $$${x} $$$${x}""#, "${x} $${x} $$${x}");
    check(r#""%%{x} %%%{x} a$b%c $ % a$""#, "%{x} %%{x} a$b%c $ % a$");
    check(r#""$%{if c}y%{endif}%${d}""#, "$[if c|y]%‹d›");
    check(r#""$${~ x""#, "${~ x");
    check("<<X\n$${x} %%{y} $ % \\n\nX\n", "${x} %{y} $ % \\n\n");
}

#[test]
fn strip_markers_trim_the_neighbouring_literal() {
    check(r#""a  ${~ E ~}  b""#, "a‹E›b");
    check(r#""a ${E ~} \n b""#, "a ‹E›b");
    check(r#""a ${~ b ~}${c} d""#, "a‹b›‹c› d");
    check("<<X\na ${~ E ~}\n  b\nX\n", "a‹E›  b\n");
    check("<<X\n  ${~ E ~}\n\n\n b\nX\n", "‹E›\n\n b\n");
}

#[test]
fn heredoc_keeps_its_newlines() {
    check("<<X\nX\n", "");
    check("<<X\na\nX\n", "a\n");
    check("<<X\n  a\n    b\n  X\n", "  a\n    b\n");
    check("<<X\r\na\r\nX\r\n", "a\r\n");
    check("<<X\n${E}X\nX\n", "‹E›X\n");
}

#[test]
fn flush_heredoc_loses_common_indentation() {
    check("<<-X\n    a\n      b\n    X\n", "a\n  b\n");
    check("<<-X\n    a\n\n  \n      b\n    X\n", "a\n\n  \n  b\n");
    check("<<-X\n\ta\n  b\n  X\n", "a\n b\n");
    check("<<-X\r\n  a\r\n   b\r\n  X\r\n", "a\r\n b\r\n");
    check("<<-X\n\u{a0}\u{a0}a\n\u{a0}b\nX\n", "\u{a0}a\nb\n");
    check("<<-X\n  a\n X \n", "a\n");
}

#[test]
fn interpolation_at_line_start_has_no_indentation() {
    check("<<-X\n    a\n  ${E}\n    X\n", "  a\n‹E›\n");
    check("<<-X\n${E}\n    a\n    X\n", "‹E›\n    a\n");
    check("<<-X\n  ${~ E}\n    b\n  X\n", "‹E›\n    b\n");
    check("<<-X\n      a ${E\n} b\n    c\n  X\n", "  a ‹E› b\nc\n");
}

#[test]
fn line_after_a_strip_marker_keeps_its_indentation() {
    check("<<-X\n    %{ if true ~}\n    yes\n    %{ endif ~}\n  X\n", "[if true|    yes\n]");
    check(
        "<<-X\n  %{ for x in l ~}\n  ${x}\n  %{ endfor ~}\n  end\n  X\n",
        "[for x in l|  ‹x›\n]  end\n",
    );
}

#[test]
fn directives_are_paired() {
    check(r#""%{ if a }b%{ else }c%{ endif }""#, "[if a|b|c]");
    check(r#""%{ if a }%{ if b }c%{ endif }d%{ else }%{ endif }""#, "[if a|[if b|c]d|]");
    check(r#""%{ for k, v in m ~} ${k}${v} %{~ endfor }""#, "[for k,v in m|‹k›‹v›]");
    check(r#""%{ for v in l }%{ if v }x%{ endif }%{ endfor }y""#, "[for v in l|[if v|x]]y");
}

#[test]
fn unpaired_directives_keep_their_content() {
    check(r#""a%{ if b }c""#, "a[if b|c]");
    check(r#""a%{ endif }b%{ else }c""#, "abc");
    check(r#""%{ foo }a${ }b""#, "a‹›b");
}

#[test]
fn only_a_lone_interpolation_is_a_wrapper() {
    let wraps = |text| lowered(text).is_wrap;
    assert!(wraps("\"${a}\"") && wraps("\"${~ a ~}\"") && wraps("\"${\"${a}\"}\""));
    assert!(
        !wraps("\"${a}${b}\"")
            && !wraps("\" ${a}\"")
            && !wraps("\"%{ if a }%{ endif }\"")
            && !wraps("\"\"")
    );
    assert!(!wraps("<<X\n${a ~}\nX\n"), "the newline that is trimmed away still counts");
    assert!(lowered("\"${a}\"").as_wrap().is_some());
}

#[test]
fn bare_template_lowers_like_a_quoted_one_without_escapes() {
    let template = |text| bare(&parse_template(text).tree());
    assert_eq!(render(&template("a \"\\n\" ${b ~}\n  c").parts), "a \"\\n\" ‹b›  c");
    assert!(template("${a}").is_wrap && !template("${a}\n").is_wrap);
    assert_eq!(template("plain").as_literal().as_deref(), Some("plain"));
    assert_eq!(template("").as_literal().as_deref(), Some(""));
    assert_eq!(template("a${b}").as_literal(), None);
}
