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
fn numbers_back_off_to_what_can_end_one() {
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
fn comments_leave_their_line_ending() {
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
fn a_brace_in_a_sequence_ends_it_only_at_its_own_depth() {
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
fn a_newline_ends_all_strings_around_it() {
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
fn a_string_in_a_heredoc_does_not_end_the_heredoc() {
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
fn a_marker_must_be_followed_by_its_newline() {
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
fn characters_outside_the_language_are_tokens_of_their_own() {
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
fn headers_of_blocks_are_told_from_expressions() {
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
