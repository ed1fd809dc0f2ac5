//! Tests of the tokens, mainly at changes between modes.

use expect_test::{Expect, expect};

use super::{Mode, is_block_header, lex};

/// Checks the tokens of a text, one per line.
#[track_caller]
fn check(text: &str, expect: Expect) {
    let lexed = lex(text, Mode::File);
    let tokens = lexed.as_tokens(text);
    let lines =
        (0..tokens.len()).map(|at| format!("{:?} {:?}\n", tokens.kinds[at], tokens.text_of(at)));
    expect.assert_eq(&lines.collect::<String>());
}

#[test]
fn number_token_backs_off_to_a_valid_end() {
    check(
        "1.5.. 1e 0x1 2...",
        expect![[r#"
        NUMBER "1.5"
        DOT "."
        DOT "."
        WHITESPACE " "
        NUMBER "1"
        IDENT "e"
        WHITESPACE " "
        NUMBER "0"
        IDENT "x1"
        WHITESPACE " "
        NUMBER "2"
        DOT3 "..."
    "#]],
    );
}

#[test]
fn line_comment_excludes_its_line_ending() {
    check(
        "# a\r\n// b\n/* c\n*/#\r",
        expect![[r##"
        COMMENT "# a"
        NEWLINE "\r\n"
        COMMENT "// b"
        NEWLINE "\n"
        COMMENT "/* c\n*/"
        COMMENT "#\r"
    "##]],
    );
}

#[test]
fn closing_brace_ends_an_interpolation_only_at_its_depth() {
    check(
        "\"${{}}${~a~}\"}",
        expect![[r#"
        OPEN_QUOTE "\""
        INTERP_OPEN "${"
        L_BRACE "{"
        R_BRACE "}"
        SEQ_END "}"
        INTERP_OPEN "${~"
        IDENT "a"
        SEQ_END "~}"
        CLOSE_QUOTE "\""
        R_BRACE "}"
    "#]],
    );
}

#[test]
fn newline_ends_all_enclosing_strings() {
    check(
        "\"a${\"b\n}",
        expect![[r#"
        OPEN_QUOTE "\""
        QUOTED_LIT "a"
        INTERP_OPEN "${"
        OPEN_QUOTE "\""
        QUOTED_LIT "b"
        NEWLINE "\n"
        R_BRACE "}"
    "#]],
    );
}

#[test]
fn newline_in_a_nested_string_does_not_end_the_heredoc() {
    check(
        "<<A\n${\"b\n}\nA\n",
        expect![[r#"
        HEREDOC_OPEN "<<A\n"
        INTERP_OPEN "${"
        OPEN_QUOTE "\""
        QUOTED_LIT "b"
        NEWLINE "\n"
        SEQ_END "}"
        STRING_LIT "\n"
        HEREDOC_CLOSE "A"
        NEWLINE "\n"
    "#]],
    );
}

#[test]
fn heredoc_marker_must_be_followed_by_a_newline() {
    check(
        "<<A b\n<<-A\n A\n",
        expect![[r#"
        LT "<"
        LT "<"
        IDENT "A"
        WHITESPACE " "
        IDENT "b"
        NEWLINE "\n"
        HEREDOC_OPEN "<<-A\n"
        HEREDOC_CLOSE " A"
        NEWLINE "\n"
    "#]],
    );
}

#[test]
fn invalid_characters_are_separate_tokens() {
    check(
        "$@\u{a0}\r😀",
        expect![[r#"
        INVALID "$"
        INVALID "@"
        INVALID "\u{a0}"
        INVALID "\r"
        INVALID "😀"
    "#]],
    );
}

#[test]
fn block_headers_are_distinguished_from_expressions() {
    let headers = ["a {", "a \"b\" c {", "resource \"a\\\"{\" \"b\"{x", "é-1{"];
    assert!(headers.iter().all(|text| is_block_header(text)));
    let others = [
        " a {",
        "a = {",
        "for x in {",
        "x if {",
        "in {",
        "a \"b${c}\" {",
        "a \"b {",
        "a\n{",
        "1 {",
        "a.b {",
        "a (",
        "{",
    ];
    assert!(others.iter().all(|text| !is_block_header(text)), "{others:?}");
}
