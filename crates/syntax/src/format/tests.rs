//! Tables of inputs and their formatted text. The outputs are those of `terraform fmt`, except in tests that state
//! otherwise.

use super::*;

/// Checks texts against their formatted form.
#[track_caller]
fn check(table: &[(&str, &str)]) {
    for (text, expected) in table {
        assert_eq!(format(text).as_deref(), Ok(*expected), "for {text:?}");
        crate::fuzz::check_format(text);
    }
}

/// Checks single lines against their formatted form.
#[track_caller]
fn check_lines(table: &[(&str, &str)]) {
    for (line, expected) in table {
        check(&[(&format!("{line}\n"), &format!("{expected}\n"))]);
    }
}

#[test]
fn equals_signs_and_comments_of_adjacent_lines_are_aligned() {
    check(&[
        (
            "a=1\nbbb=2\n\ncc=3\nd=[\n1\n]\neeee=4\nf=5\n",
            "a   = 1\nbbb = 2\n\ncc = 3\nd = [\n  1\n]\neeee = 4\nf    = 5\n",
        ),
        ("a=1 # x\nbbb=22 // y\nc {} # z\n", "a   = 1  # x\nbbb = 22 // y\nc {}     # z\n"),
        ("a {# c\nb=1# d\n}# e\n", "a {     # c\n  b = 1 # d\n}       # e\n"),
        ("a = {\nb=1\ncc: 2\nddd=3\n}\n", "a = {\n  b = 1\n  cc : 2\n  ddd = 3\n}\n"),
        ("a={b=1}\nccc={d=2\n}\ne=3\n", "a = { b = 1 }\nccc = { d = 2\n}\ne = 3\n"),
        (
            "a=[\n1, # one\n22, # two\n# three\n333 # x\n]\n",
            "a = [\n  1,  # one\n  22, # two\n  # three\n  333 # x\n]\n",
        ),
        ("b=1 # d\na=22 # c", "b = 1  # d\na = 22 # c"),
        ("b=1 # d\na=22 /* c */", "b = 1  # d\na = 22 /* c */"),
        ("b=1 # d\na=22 /* c */\n", "b = 1 # d\na = 22 /* c */\n"),
        ("a = b[ # c\n 0 # d\n]\n", "a = b[ # c\n  0    # d\n]\n"),
    ]);
}

#[test]
fn alignment_counts_grapheme_clusters() {
    check(&[
        ("é=1\n变量=2\n", "é  = 1\n变量 = 2\n"),
        ("a = \"x\u{301}x\" # c\nb = 1 # d\n", "a = \"x\u{301}x\" # c\nb = 1    # d\n"),
        ("a = \"$\u{301}x\" # c\nb = 1 # d\n", "a = \"$\u{301}x\" # c\nb = 1     # d\n"),
        ("a = \"$${~\u{301}\" # c\nb = 1 # d\n", "a = \"$${~\u{301}\" # c\nb = 1       # d\n"),
        ("a = \"👨\u{200d}👩\" # c\nb = 1 # d\n", "a = \"👨\u{200d}👩\" # c\nb = 1   # d\n"),
        ("a = \"क\u{94d}ष\" # c\nb = 1 # d\n", "a = \"क\u{94d}ष\" # c\nb = 1    # d\n"),
        ("a = /*\r\n*/ 1 # c\nb = 1 # d\n", "a = /*\r\n*/ 1 # c\nb = 1       # d\n"),
    ]);
}

#[test]
fn line_with_open_brackets_indents_once() {
    check(&[
        ("a = [[\n1\n], [\n2\n]]\n", "a = [[\n  1\n  ], [\n  2\n]]\n"),
        ("a = f(g([\n1\n])\n)\n", "a = f(g([\n  1\n  ])\n)\n"),
        ("a = (b ?\nc :\nd)\n", "a = (b ?\n  c :\nd)\n"),
        ("a = {\nb = 1}\n", "a = {\nb = 1 }\n"),
        (
            "a={for k,v in m:\nk=>v...\nif v!=null\n}\n",
            "a = { for k, v in m :\n  k => v...\n  if v != null\n}\n",
        ),
        (
            "x {\na = (\nb\n)\nc = (d ||\ne ||\nf)\n}\n",
            "x {\n  a = (\n    b\n  )\n  c = (d ||\n    e ||\n  f)\n}\n",
        ),
        ("x {\n/* z\nq */\n/* w */ c=2\n}\n", "x {\n  /* z\nq */\n  /* w */ c = 2\n}\n"),
    ]);
}

#[test]
fn heredocs_are_not_reformatted() {
    check(&[
        (
            "x {\ny = <<-E\n      a\n    b\n  E\nzzz = 1\n}\n",
            "x {\n  y   = <<-E\n      a\n    b\n  E\n  zzz = 1\n}\n",
        ),
        (
            "x {\n a = f(\n<<E\nq\nE\n, {\nb=1\n})\n bb = 1\n}\n",
            "x {\n  a = f(\n    <<E\nq\nE\n    , {\n      b = 1\n  })\n  bb = 1\n}\n",
        ),
        // The line that closes the sequence also closes a level that no line has opened.
        (
            "x {\ny {\na = <<E\n${b\n}\nE\nc = 1\n}\n}\n",
            "x {\n  y {\n    a = <<E\n${b\n  }\nE\n  c = 1\n}\n}\n",
        ),
    ]);
}

#[test]
fn spaces_between_tokens_are_normalized() {
    check_lines(&[
        ("a{b=1}", "a { b = 1 }"),
        ("c{}", "c {}"),
        ("d{ }", "d {}"),
        ("e \"f\"{}", "e \"f\" {}"),
        ("a = [for x in (y) : x if (x)]", "a = [for x in(y) : x if(x)]"),
        ("a = [for x in [1]:x if [x] != []]", "a = [for x in [1] : x if[x] != []]"),
        ("a = {for x in y: x=>-1}", "a = { for x in y : x => - 1 }"),
        ("a = \"${-1}x\"", "a = \"${- 1}x\""),
        ("a = [for x in y : x if -x > 0]", "a = [for x in y : x if - x > 0]"),
        ("a = b -1", "a = b - 1"),
        ("a = [-1,-2]", "a = [-1, -2]"),
        ("a = i ? -1 : -2", "a = i ? -1 : -2"),
        ("a = a - -1", "a = a - -1"),
        ("a = (1)-(2)", "a = (1) - (2)"),
        ("a = \"abc\"[0]", "a = \"abc\" [0]"),
        ("a = x.*[0]", "a = x.* [0]"),
        ("a = b [ * ] . c", "a = b[*].c"),
        ("a = f()[0]", "a = f()[0]"),
        ("a = \"%{ if x ~} y %{ endif ~}\"", "a = \"%{if x~} y %{endif~}\""),
        ("a = \"x${{b=1}}\"", "a = \"x${ { b = 1 } }\""),
        ("a = \"x${f(\"y${ z }\", {q=1})}\"", "a = \"x${f(\"y${z}\", { q = 1 })}\""),
        ("a = f ( 1 , 2 )", "a = f(1, 2)"),
        ("a = f( [1,2] ... )", "a = f([1, 2]...)"),
        ("a = provider :: x :: y ( 1 )", "a = provider::x::y(1)"),
        ("a = b . /* c */ c", "a = b./* c */ c"),
    ]);
}

#[test]
fn other_whitespace_is_kept() {
    check(&[
        ("", ""),
        ("  ", "  "),
        ("\t\n", "\n"),
        ("\n\n\n", "\n\n\n"),
        ("a = 1\n   ", "a = 1\n   "),
        ("a=1", "a = 1"),
        ("a=1 \t", "a = 1  "),
        ("a=1 # x\r\nbbb=2 # y\r\n", "a   = 1 # x\r\nbbb = 2 # y\r\n"),
        ("\u{feff}a=1", "a = 1"),
        ("\u{feff}", "   "),
        ("a=1 \t# c   \n# d  \n   # e\t", "a = 1 # c   \n# d  \n# e\t"),
        ("#\n//", "#\n//"),
        ("#!/bin/tofu\na=1\n", "#!/bin/tofu\na = 1\n"),
    ]);
}

#[test]
fn lone_interpolation_is_unwrapped() {
    check_lines(&[
        ("a = \"${  x  }\"", "a = x"),
        ("a = \"${~ x ~}\"", "a = x"),
        ("a = [\"${x}\"]", "a = [\"${x}\"]"),
        ("a = {b=\"${x}\"}", "a = { b = \"${x}\" }"),
        ("a = \"${ x } \"", "a = \"${x} \""),
        ("a = \"${x}${y}\"", "a = \"${x}${y}\""),
        ("a = \"${\n\n x\n\n}\"", "a = x"),
        ("a = \"${x ?\n \"y\" : \"z\"}\"", "a = (x ?\n\"y\" : \"z\")"),
        ("a = \"${f( # c\n x)}\"", "a = f( # c\nx)"),
        ("a = \"${x # c\n}\"", "a = x # c\n"),
        ("a = \"${<<E\nq\nE\n}\"", "a = <<E\nq\nE"),
        ("a = \"${<<E\nq${b}\nE\n}\"", "a = \"${<<E\nq${b}\nE\n}\""),
        ("a = /* q */ \"${x}\" /* r */ # s", "a = /* q */ x /* r */ # s"),
    ]);
    check(&[(
        "x {\n  a = \"${f(\ny\n)}\"\n  bb = 1\n}\n",
        "x {\n  a = (f(\n    y\n  ))\n  bb = 1\n}\n",
    )]);
}

#[test]
fn nested_interpolations_are_unwrapped_one_per_run() {
    // `terraform fmt` is not idempotent here, so the second pass differs too.
    check_lines(&[("a = \"${\"${x}\"}\"", "a = \"${x}\""), ("a = \"${x}\"", "a = x")]);
}

#[test]
fn legacy_type_constraints_are_rewritten() {
    let table = [
        ("list", "list(any)"),
        ("map", "map(any)"),
        ("set", "set(any)"),
        ("\"string\"", "string"),
        ("\"list\"", "list(string)"),
        ("\"map\"", "map(string)"),
        ("\"number\"", "\"number\""),
        ("\"${string}\"", "\"${string}\""),
        ("(list)", "(list)"),
        ("list(string)", "list(string)"),
    ];
    for (old, new) in table {
        check(&[
            (
                &format!("variable x {{\ntype={old}\n}}\n"),
                &format!("variable \"x\" {{\n  type = {new}\n}}\n"),
            ),
            (&format!("variable {{ type = {old} }}\n"), &format!("variable {{ type = {new} }}\n")),
        ]);
    }
    // Types are rewritten only in a top-level `variable` block.
    check(&[
        ("type=list\n", "type = list\n"),
        ("x {\ntype=list\n}\n", "x {\n  type = list\n}\n"),
        (
            "variable \"a\" {\nx {\ntype=list\n}\n}\n",
            "variable \"a\" {\n  x {\n    type = list\n  }\n}\n",
        ),
    ]);
}

#[test]
fn labels_are_quoted_and_comments_between_them_removed() {
    check_lines(&[
        ("a /* 1 */ \"b\" /* 2 */ c /* 3 */ {\n}", "a \"b\" \"c\" /* 3 */ {\n}"),
        ("a /*x*/ {}", "a /*x*/ {}"),
        ("a \"\" b {}", "a \"\" \"b\" {}"),
        ("a e\u{301} {}", "a \"é\" {}"),
        ("a \"$\" b {}", "a \"$\" \"b\" {}"),
        ("a \"$${\" b {}", "a \"$${\" \"b\" {}"),
        ("a \"\\u0041\\u0000\\u00ad\\U0001F600\" {}", "a \"A\\u0000\\u00ad😀\" {}"),
        ("a \"\\t\\n\\r\\\"\\\\\" {}", "a \"\\t\\n\\r\\\"\\\\\" {}"),
        ("a \"\u{a0}\u{2028}\u{e0001}\" {}", "a \"\\u00a0\\u2028\\U000e0001\" {}"),
    ]);
}

#[test]
fn formatter_keeps_texts_that_opentofu_corrupts() {
    check_lines(&[
        // `terraform fmt` writes `b[]`.
        ("a = b[true]", "a = b[true]"),
        ("a=b[ null ].c", "a = b[null].c"),
        // `terraform fmt` drops the label.
        ("resource \"a$b\" \"c\" {}", "resource \"a$b\" \"c\" {}"),
        ("a \"100%\" b {}", "a \"100%\" b {}"),
        ("a \"x$${y}\" {}", "a \"x$${y}\" {}"),
        // `terraform fmt` removes the quotes, so that the value ends too early or too late.
        ("a = \"${(x) ?\n (y) : (z)}\"", "a = \"${(x) ?\n(y) : (z)}\""),
        ("a = \"${ # c\n x }\"", "a = \"${ # c\nx}\""),
        ("b { a = \"${ x # c\n }\" }", "b { a = \"${x # c\n}\" }"),
        ("a = \"${<<E\nq\nE\n}\" # c", "a = \"${<<E\nq\nE\n}\" # c"),
        ("a = \"${x ==\n<<E\nq\nE\n}\"", "a = \"${x ==\n  <<E\nq\nE\n}\""),
    ]);
    check(&[("a = \"${<<E\nq\nE\n}\"", "a = \"${<<E\nq\nE\n}\"")]);
}

#[test]
fn text_with_errors_is_not_formatted() {
    for text in
        ["a=(", "a=1 b=2\n", "a {\n", "a=\"${\n", "a=1\na=2\n", "/* x", "a=<<E\n", "a=1\rb=2"]
    {
        let errors = format(text).expect_err("is wrong");
        assert_eq!(errors, parse_file(text).errors(), "for {text:?}");
        assert!(format_range(text, TextRange::default()).is_err());
    }
}

#[test]
fn range_formatting_covers_whole_items() {
    let text = "a=1\n\nbb=[\n1]\n c=\"${x}\"\n";
    let touched = |start: u32, end: u32| {
        let edits = format_range(text, TextRange::new(start.into(), end.into()));
        let shown = edits.expect("is correct").into_iter().map(|it| {
            format!(
                "{}..{} {:?}",
                u32::from(it.range.start()),
                u32::from(it.range.end()),
                it.replacement
            )
        });
        shown.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(touched(0, 1), "1..1 \" \", 2..2 \" \"");
    assert_eq!(touched(4, 4), "");
    // A touched second line of an item makes the first line part of the edit.
    assert_eq!(touched(11, 11), "7..7 \" \", 8..8 \" \"");
    assert_eq!(touched(13, 14), "13..14 \"\", 15..15 \" \", 16..19 \" \", 20..22 \"\"");
    assert_eq!(touched(13, 9999), touched(13, 14));
}

#[test]
fn excessive_alignment_is_skipped() {
    let long = "x".repeat(60_000);
    let text = format!("a = \"{long}\" # c\n{}", "b {} # d\n".repeat(2_000));
    let formatted = format(&text).expect("is correct");
    assert!(formatted.len() < text.len() + 100, "{}", formatted.len());
    assert_eq!(format(&formatted).as_deref(), Ok(&*formatted));
    let text = format!("a = \"{long}\" # c\n{}", "b {} # d\n".repeat(1_000));
    assert!(format(&text).expect("is correct").len() > 60_000_000);
}

#[test]
fn deep_nesting_is_formatted() {
    let depth = 150;
    let text = format!("a = {}1{}\n", "[\n".repeat(depth), "\n]".repeat(depth));
    let formatted = format(&text).expect("is correct");
    assert!(formatted.contains(&format!("\n{}1\n", "  ".repeat(depth))));
}

/// `terraform fmt` writes `b.4.3`. The lexer reads `4.3` as one number there, which does not parse.
#[test]
fn adjacent_legacy_indexes_keep_a_space() {
    check_lines(&[
        ("a=b.4 . 3", "a = b.4 .3"),
        ("a = -b / 4 . 3 . 2", "a = -b / 4 .3 .2"),
        ("a = b.4 . c . 5", "a = b.4.c.5"),
        ("a = b.35 . E2", "a = b.35 .E2"),
        ("a = b.35 . e-2", "a = b.35 .e-2"),
        ("a = b.35 . each", "a = b.35.each"),
    ]);
}
