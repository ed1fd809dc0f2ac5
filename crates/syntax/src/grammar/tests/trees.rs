//! Trees of correct texts, above all for forms in which HCL is surprising.

use expect_test::{Expect, expect};

use super::{errors, outline};
use crate::{SyntaxNode, parse_chunk, parse_expression, parse_template, parse_traversal};

/// Checks the tree of an expression without errors.
#[track_caller]
fn check(text: &str, expect: Expect) {
    let parse = parse_expression(text);
    assert_eq!(errors(&parse, text), "");
    expect.assert_eq(&inner(&parse.syntax()));
}

fn inner(root: &SyntaxNode) -> String {
    root.children().map(|node| outline(&node)).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check_file(text: &str, expect: Expect) {
    let parse = parse_chunk(text);
    assert_eq!(errors(&parse, text), "");
    expect.assert_eq(&inner(&parse.syntax()));
}

#[test]
fn operators_group_by_precedence_and_to_the_left() {
    check(
        "1 + 2 * 3 - 4",
        expect!["(binary (binary (literal 1) + (binary (literal 2) * (literal 3))) - (literal 4))"],
    );
    check(
        "a || b && c == d < e",
        expect![
            "(binary (reference a) || (binary (reference b) && (binary (reference c) == (binary \
             (reference d) < (reference e)))))"
        ],
    );
    check(
        "1 == 1 == true",
        expect!["(binary (binary (literal 1) == (literal 1)) == (literal true))"],
    );
}

#[test]
fn unary_operator_binds_weaker_than_traversal_steps() {
    check(
        "-a.b[0] + !c == d",
        expect![
            "(binary (binary (unary - (traversal (reference a) (attr_step . b) (index_step [ \
             (literal 0) ]))) + (unary ! (reference c))) == (reference d))"
        ],
    );
    check("--5", expect!["(unary - (unary - (literal 5)))"]);
}

#[test]
fn conditionals_group_to_the_right() {
    check(
        "a ? b : c ? d : e",
        expect![
            "(conditional (reference a) ? (reference b) : (conditional (reference c) ? (reference d) : (reference e)))"
        ],
    );
    check(
        "a ? b ? 1 : 2 : 3",
        expect![
            "(conditional (reference a) ? (conditional (reference b) ? (literal 1) : (literal 2)) : (literal 3))"
        ],
    );
}

#[test]
fn dash_belongs_to_a_name_unless_preceded_by_a_blank() {
    check("local.a-1", expect!["(traversal (reference local) (attr_step . a-1))"]);
    check(
        "local.a -1",
        expect!["(binary (traversal (reference local) (attr_step . a)) - (literal 1))"],
    );
    check(
        "3-local.a",
        expect!["(binary (literal 3) - (traversal (reference local) (attr_step . a)))"],
    );
}

#[test]
fn names_may_be_of_any_script_and_any_word() {
    check(
        "a·b + a‿b + ⅷ + ℘ + 𝒳",
        expect![
            "(binary (binary (binary (binary (reference a·b) + (reference a‿b)) + (reference ⅷ)) + \
             (reference ℘)) + (reference 𝒳))"
        ],
    );
    check(
        "[for for in [1] : for]",
        expect!["(for_tuple [ (for_intro for for in (tuple [ (literal 1) ]) :) (reference for) ])"],
    );
    check(
        "[for if in [1] : if if if == 1]",
        expect![
            "(for_tuple [ (for_intro for if in (tuple [ (literal 1) ]) :) (reference if) (for_cond \
             if (binary (reference if) == (literal 1))) ])"
        ],
    );
    check_file(
        "for = in.if\nif = null\n",
        expect![
            "(attribute for = (traversal (reference in) (attr_step . if))) (attribute if = (literal null))"
        ],
    );
}

#[test]
fn number_tokens_accept_loose_forms() {
    check(
        "[00012, 1.e5, 1E+5, 1.5]",
        expect!["(tuple [ (literal 00012) , (literal 1.e5) , (literal 1E+5) , (literal 1.5) ])"],
    );
    check("f(1...)", expect!["(call (func_name f) (arg_list ( (literal 1) ... )))"]);
    check("x.1e0", expect!["(traversal (reference x) (legacy_index_step . 1e0))"]);
}

#[test]
fn any_term_may_be_traversed() {
    check(
        "{ a = 1 }.a",
        expect![
            "(traversal (object { (object_item (object_key a) = (literal 1)) }) (attr_step . a))"
        ],
    );
    check(
        "[1, 2].0",
        expect!["(traversal (tuple [ (literal 1) , (literal 2) ]) (legacy_index_step . 0))"],
    );
    check(
        "\"s\"[0]",
        expect![[r#"(traversal (quoted_template " s ") (index_step [ (literal 0) ]))"#]],
    );
    check(
        "keys(x)[*].y",
        expect![
            "(traversal (call (func_name keys) (arg_list ( (reference x) ))) (splat_step [ * ]) (attr_step . y))"
        ],
    );
}

#[test]
fn an_attribute_splat_may_follow_an_index() {
    check(
        "x.*.n.0[0].*",
        expect![
            "(traversal (reference x) (attr_splat_step . *) (attr_step . n) (legacy_index_step . \
             0) (index_step [ (literal 0) ]) (attr_splat_step . *))"
        ],
    );
}

#[test]
fn an_object_key_is_a_bare_name_or_an_expression() {
    check(
        "{ true = 1, if : 2 }",
        expect![
            "(object { (object_item (object_key true) = (literal 1)) , (object_item (object_key if) : (literal 2)) })"
        ],
    );
    check(
        "{ (a) = 1, \"b\" = 2, 1 + 1 = 3, a.b = 4, f(x) = 5 }",
        expect![[
            r#"(object { (object_item (object_key (paren ( (reference a) ))) = (literal 1)) , (object_item (object_key (quoted_template " b ")) = (literal 2)) , (object_item (object_key (binary (literal 1) + (literal 1))) = (literal 3)) , (object_item (object_key (traversal (reference a) (attr_step . b))) = (literal 4)) , (object_item (object_key (call (func_name f) (arg_list ( (reference x) )))) = (literal 5)) })"#
        ]],
    );
    check(
        "{ x ? y : z = 3 }",
        expect![
            "(object { (object_item (object_key (conditional (reference x) ? (reference y) : \
             (reference z))) = (literal 3)) })"
        ],
    );
}

#[test]
fn newlines_separate_items_of_an_object_even_in_parentheses() {
    check(
        "({\n a = 1\n\n b = 2,\n c = 3\n})",
        expect![
            "(paren ( (object { (object_item (object_key a) = (literal 1)) (object_item \
             (object_key b) = (literal 2)) , (object_item (object_key c) = (literal 3)) }) ))"
        ],
    );
    check(
        "{ for k, v in m :\n k\n => v...\n if v }",
        expect![
            "(for_object { (for_intro for k , v in (reference m) :) (reference k) => (reference v) \
             ... (for_cond if (reference v)) })"
        ],
    );
    check(
        "{\nfor k in m : k => k }",
        expect![
            "(for_object { (for_intro for k in (reference m) :) (reference k) => (reference k) })"
        ],
    );
    check(
        "{ a = 1, for = 1 }",
        expect![
            "(object { (object_item (object_key a) = (literal 1)) , (object_item (object_key for) = (literal 1)) })"
        ],
    );
}

#[test]
fn newlines_are_ignored_in_other_brackets() {
    check_file(
        "a = (1\n+\n2)\nb = [1\n,2]\nc = d[\n0\n]\ne = \"${\nf\n}\"\n",
        expect![[
            r#"(attribute a = (paren ( (binary (literal 1) + (literal 2)) ))) (attribute b = (tuple [ (literal 1) , (literal 2) ])) (attribute c = (traversal (reference d) (index_step [ (literal 0) ]))) (attribute e = (quoted_template " (interpolation ${ (reference f) }) "))"#
        ]],
    );
}

#[test]
fn multiline_comment_counts_as_a_blank() {
    check_file(
        "a = 1 /* x\ny */\nb = 2\n",
        expect!["(attribute a = (literal 1)) (attribute b = (literal 2))"],
    );
    check_file(
        "a { /* \n */ b = 1 }\n",
        expect!["(block a { (body (attribute b = (literal 1))) })"],
    );
}

#[test]
fn calls_may_have_scopes_and_blanks() {
    check(
        "provider::aws :: arn_parse (x, y,)",
        expect![
            "(call (func_name provider :: aws :: arn_parse) (arg_list ( (reference x) , (reference y) , )))"
        ],
    );
    check("f()", expect!["(call (func_name f) (arg_list ( )))"]);
}

#[test]
fn blocks_have_labels_of_two_kinds_and_a_form_on_one_line() {
    check_file(
        "resource \"a\" b \"\" {}\nvariable true { default = 1 }\na- = 1\n",
        expect![[
            r#"(block resource (label " a ") (label b) (label " ") { (body) }) (block variable (label true) { (body (attribute default = (literal 1))) }) (attribute a- = (literal 1))"#
        ]],
    );
    check_file(
        "a {\n  b {\n  }\n  c = 1 # d\n}",
        expect!["(block a { (body (block b { (body) }) (attribute c = (literal 1))) })"],
    );
}

#[test]
fn dollars_escape_only_right_before_a_brace() {
    check(
        "\"$${a} $$${b} $%{if c}%${d}%{endif} $ %\"",
        expect![[
            r#"(quoted_template " $${a} $$${b} $ (template_if %{ if (reference c) }) % (interpolation ${ (reference d) }) (template_end_if %{ endif })  $ % ")"#
        ]],
    );
}

#[test]
fn strings_nest_in_sequences() {
    check(
        "\"a${ \"b${c}\" }d\"",
        expect![[
            r#"(quoted_template " a (interpolation ${ (quoted_template " b (interpolation ${ (reference c) }) ") }) d ")"#
        ]],
    );
    check(
        "\"${ { a = \"}\" } }\"",
        expect![[
            r#"(quoted_template " (interpolation ${ (object { (object_item (object_key a) = (quoted_template " } ")) }) }) ")"#
        ]],
    );
}

#[test]
fn a_heredoc_ends_at_its_marker_alone_on_a_line() {
    check_file(
        "a = <<E\nE,\n  x ${1}E\n E \nb = 1\n",
        expect![
            "(attribute a = (heredoc <<E⏎ E,⏎   x  (interpolation ${ (literal 1) }) E⏎  E )) \
             (attribute b = (literal 1))"
        ],
    );
    check(
        "f(<<-E\nx\nE\n, 1)",
        expect!["(call (func_name f) (arg_list ( (heredoc <<-E⏎ x⏎ E) , (literal 1) )))"],
    );
    check(
        "{ a = <<E\nE\n b = 2 }",
        expect![
            "(object { (object_item (object_key a) = (heredoc <<E⏎ E)) (object_item (object_key b) = (literal 2)) })"
        ],
    );
    check("[<<É-1\r\nx\r\n É-1\r\n]", expect!["(tuple [ (heredoc <<É-1\r⏎ x\r⏎  É-1) ])"]);
}

#[test]
fn template_sequences_may_have_strip_markers() {
    check(
        "\"a ${~ b ~} %{~ for k, v in c ~} %{~ endfor ~}\"",
        expect![[
            r#"(quoted_template " a  (interpolation ${~ (reference b) ~})   (template_for %{~ for k , v in (reference c) ~})   (template_end_for %{~ endfor ~}) ")"#
        ]],
    );
}

#[test]
fn byte_order_mark_at_the_start_is_ignored() {
    check_file("\u{feff}a = 1\r\n", expect!["(attribute a = (literal 1))"]);
}

#[test]
fn templates_without_quotes_hold_quotes_and_newlines() {
    let text = "a \"b\" \\n\n${c}%{ if d }\ne%{ endif }";
    let parse = parse_template(text);
    assert_eq!(errors(&parse, text), "");
    expect![[r#"(template_file a "b" \n⏎ (interpolation ${ (reference c) }) (template_if %{ if (reference d) }) ⏎ e (template_end_if %{ endif }))"#]].assert_eq(&outline(&parse.syntax()));
}

#[test]
fn a_traversal_is_a_name_and_steps() {
    let text = "null.b[\"c\"].0";
    let parse = parse_traversal(text);
    assert_eq!(errors(&parse, text), "");
    expect![[r#"(traversal (reference null) (attr_step . b) (index_step [ (quoted_template " c ") ]) (legacy_index_step . 0))"#]].assert_eq(&inner(&parse.syntax()));
    assert_eq!(
        errors(&parse_traversal("f(x)"), "f(x)"),
        "1 `(` Extra characters after expression\n"
    );
}
