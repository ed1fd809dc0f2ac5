//! Tests of the items that are still parsed after an error, and of errors that are not repeated.

use expect_test::{Expect, expect};

use super::{errors, outline};
use crate::ast::{BodyItem, HasItems};
use crate::{MAX_DEPTH, parse_expression, parse_file};

/// Checks the names of the attributes and blocks of a file, with the names of a block's items in braces, and the
/// errors.
#[track_caller]
fn check(text: &str, expect: Expect) {
    let parse = parse_file(text);
    let items = names(&parse.tree());
    expect.assert_eq(&format!("{items}\n{}", errors(&parse, text)));
}

fn names(items: &impl HasItems) -> String {
    let name = |item: BodyItem| match item {
        BodyItem::Attribute(it) => it.name().unwrap_or_default().to_string(),
        BodyItem::Block(it) => {
            format!(
                "{} {{ {} }}",
                it.block_type().unwrap_or_default(),
                it.body().map(|it| names(&it)).unwrap_or_default()
            )
        }
    };
    items.body_items().map(name).collect::<Vec<_>>().join(" ")
}

#[test]
fn syntax_error_skips_only_its_line() {
    check(
        "a {\n  b = 1 2\n  c = f(1 2)\n  d = [1, , 2]\n  e = 1 +\n  f == 2\n  g = {h 1}\n  i = 1\n}\n",
        expect![[r#"
            a { b c d e g i }
            12 `2` Missing newline after argument
            24 `2` Missing argument separator
            37 `,` Invalid expression
            51 `⏎` Invalid expression
            54 `f` Argument or block definition required
            70 `1` Missing key/value separator
        "#]],
    );
}

#[test]
fn unclosed_bracket_does_not_swallow_later_lines() {
    check(
        "a {\n  b = f(1,\n  c = 2\n  d = [1\n  e = (\n  f = 3\n  g = x[1\n  h {\n  }\n}\ni = 1\n",
        expect![[r#"
            a { b c d e f g h {  } } i
            19 `=` Missing argument separator
            34 `e` Missing item separator
            44 `=` Unbalanced parentheses
            60 `h` Missing close bracket on index
        "#]],
    );
}

#[test]
fn unclosed_string_ends_with_its_line() {
    check(
        "a {\n  b = \"x\n  c = \"${f(\"y\n  d = \"z${1\n  e = 2\n}\nf = 1\n",
        expect![[r#"
            a { b c d e } f
            12 `⏎` Invalid multi-line string
            26 `⏎` Invalid multi-line string
            35 `${` Extra characters after interpolation expression
        "#]],
    );
}

#[test]
fn unclosed_block_ends_before_an_unindented_block() {
    check(
        "a \"b\" {\n  c = 1\n\n# about d\nd \"e\" {\n  f = 1\n}\ng {\n",
        expect![[r#"
        a { c } d { f } g {  }
        6 `{` Unclosed configuration block
        47 `{` Unclosed configuration block
    "#]],
    );
}

#[test]
fn unindented_block_is_nested_in_a_closed_block() {
    check(
        "a {\nb {\n}\n}\nc {}\n",
        expect![[r#"
        a { b {  } } c {  }
    "#]],
    );
}

#[test]
fn unclosed_expression_ends_before_an_unindented_block() {
    check(
        "a {\n  b = [1,\n\nc \"d\" {\n}\ne = \"${ f(\n\ng {\n}\n",
        expect![[r#"
        a { b } c {  } e g {  }
        14 `` Missing expression
        36 `` Missing expression
    "#]],
    );
}

#[test]
fn unclosed_heredoc_ends_before_a_block() {
    check(
        "a = <<E\n  text\nb \"c\" {\n}\nd {}\n",
        expect![[r#"
        a b {  } d {  }
        15 `` Unterminated template string
    "#]],
    );
}

#[test]
fn unclosed_comment_skips_only_its_line() {
    check(
        "a = 1 /* b\nc = 2\n",
        expect![[r#"
        a c
        6 `/*` Unterminated comment
    "#]],
    );
}

#[test]
fn broken_headers_keep_their_bodies() {
    check(
        "a b.c {\n  d = 1\n}\ne \"f\"\n{\n  g = 1\n}\nh \"i${j}\" {\n  k = 1\n}\nl \"m\" = {\n  n = 1\n}\no = 1\n",
        expect![[r#"
            a { d } e { g } h { k } l {  } o
            3 `.` Invalid block definition
            23 `⏎` Invalid block definition
            40 `${` Invalid string literal
            64 `=` Invalid block definition
        "#]],
    );
}

#[test]
fn items_on_one_line_are_all_read() {
    check(
        "a {} b {} c = 1, d = 2 e = 3\nf { g = 1, h = 2 }\ni { j {} }\n",
        expect![[r#"
            a {  } b {  } c d e f { g h } i { j {  } }
            5 `b` Missing newline after block definition
            10 `c` Missing newline after block definition
            15 `,` Unexpected comma after argument
            23 `e` Missing newline after argument
            38 `,` Invalid single-argument block definition
            52 `j {` Argument definition required
        "#]],
    );
}

#[test]
fn stray_closing_brackets_are_skipped() {
    check(
        "a {\n}}\nb = 1)\n]\nc = 1\n",
        expect![[r#"
        a {  } b c
        5 `}` Missing newline after block definition
        12 `)` Missing newline after argument
        14 `]` Argument or block definition required
    "#]],
    );
}

#[test]
fn characters_outside_the_language_are_reported_once() {
    check(
        "a = 'b'\nc = 1; d = 2;\ne = 1 & 2\nf = “g”\nh = @\ni = 1\n",
        expect![[r#"
        a c e f h i
        4 `'` Invalid character
        13 `;` Invalid character
        28 `&` Unsupported operator
        36 `“` Invalid character
        40 `”` Invalid character
        48 `@` Invalid character
    "#]],
    );
}

#[test]
fn attributes_set_twice_are_found_in_and_across_chunks() {
    check(
        "a = 1\nb {\n  c = 1\n  c = 2\n}\na = 2\n",
        expect![[r#"
        a b { c c } a
        20 `c` Attribute redefined
        28 `a` Attribute redefined
    "#]],
    );
}

#[test]
fn deep_nesting_is_an_error_and_stays_flat() {
    let deep = 5_000;
    let nests: [(String, String); 9] = [
        ("(".repeat(deep), ")".repeat(deep)),
        ("[".repeat(deep), String::new()),
        ("{a=".repeat(deep), "}".repeat(deep)),
        ("f(".repeat(deep), ")".repeat(deep)),
        ("-".repeat(deep), String::new()),
        ("\"${".repeat(deep), "}\"".repeat(deep)),
        ("1 + ".repeat(deep), String::new()),
        ("a ? b : ".repeat(deep), String::new()),
        ("(1 + ".repeat(deep), " + 2)".repeat(deep)),
    ];
    for (before, after) in nests {
        let text = format!("{before}1{after}");
        let parse = parse_expression(&text);
        let first = parse.errors().first().map(|error| error.summary.as_ref());
        assert_eq!(first, Some("Nesting too deep"), "{}", &text[..20]);
        crate::fuzz::check_parse(&text);
    }
    crate::fuzz::check_parse(&"a {\n".repeat(deep));
    crate::fuzz::check_parse(&format!("x{}", ".a[0]".repeat(deep)));
}

#[test]
fn excessive_nesting_is_reported_once() {
    let deep = MAX_DEPTH;
    let text = format!("a = [{}\n", "[1, [2], ".repeat(deep) + &"]".repeat(deep + 1));
    let parse = parse_file(&text);
    let too_deep = parse.errors().iter().filter(|it| it.summary == "Nesting too deep");
    assert_eq!(too_deep.count(), 1);
}

#[test]
fn run_of_invalid_characters_has_one_error() {
    check(
        "a = 1\n@@\u{1}@ @\nb = @\n",
        expect![[r#"
            a b
            6 `@` Invalid character
            11 `@` Invalid character
            17 `@` Invalid character
        "#]],
    );
}

#[test]
fn half_the_maximal_nesting_is_accepted() {
    let deep = MAX_DEPTH / 2;
    let text = format!("{}1{}", "(".repeat(deep), ")".repeat(deep));
    assert_eq!(errors(&parse_expression(&text), &text), "");
}

#[test]
fn incomplete_traversal_keeps_its_steps() {
    let parse = parse_expression("aws_instance.web.");
    expect!["(expr_file (traversal (reference aws_instance) (attr_step . web) (error .)))"]
        .assert_eq(&outline(&parse.syntax()));
}
