//! Where files are cut, and what an edit moves.

use expect_test::{Expect, expect};

use super::{Chunks, split};

/// The chunks of a text, with `¦` between them.
#[track_caller]
fn check(text: &str, expect: Expect) {
    let chunks: Vec<_> =
        split(text).into_iter().map(|range| text[range].replace('\n', "⏎")).collect();
    expect.assert_eq(&chunks.join("¦"));
}

#[test]
fn items_take_the_trivia_before_them() {
    check(
        "# a\n\nb = 1 # c\n\n# d\ne {\n  f = 1\n}\n# g\n",
        expect!["# a⏎⏎b = 1 # c⏎¦⏎# d⏎e {⏎  f = 1⏎}⏎¦# g⏎"],
    );
    check("", expect![[r#""#]]);
    check("\n# a", expect!["⏎# a"]);
}

#[test]
fn garbage_belongs_to_the_item_before_it() {
    check("a = 1\n} = 2\n\nb = 3\n", expect!["a = 1⏎} = 2⏎¦⏎b = 3⏎"]);
    check("{\n\na = 1\n", expect!["{⏎⏎a = 1⏎"]);
    check("a \"b\"\n{\n c = 1\n}\nd {}\n", expect![[r#"a "b"⏎{⏎ c = 1⏎}⏎¦d {}⏎"#]]);
}

#[test]
fn items_end_outside_brackets_and_templates() {
    check(
        "a = [\nb\n]\nc = <<E\nd {\nE\ne = \"${\nf\n}\"\ng = (\n/*\nh {\n*/)\n",
        expect![[r#"a = [⏎b⏎]⏎¦c = <<E⏎d {⏎E⏎¦e = "${⏎f⏎}"⏎¦g = (⏎/*⏎h {⏎*/)⏎"#]],
    );
}

#[test]
fn an_unclosed_block_ends_at_the_next_header_at_the_left() {
    check("a {\n  b {\n  }\n\n# c\nc {\n}\nd {\n", expect!["a {⏎  b {⏎  }⏎¦⏎# c⏎c {⏎}⏎¦d {⏎"]);
    check(
        "a {\n  b = [1,\n  c = {\nd \"e\" {\n}\n",
        expect![[r#"a {⏎  b = [1,⏎  c = {⏎¦d "e" {⏎}⏎"#]],
    );
    check("a = <<E\nb\nc {\n}\n", expect!["a = <<E⏎b⏎¦c {⏎}⏎"]);
}

#[test]
fn a_closed_block_may_hold_headers_at_the_left() {
    check("a {\nb {\nc {\n}\n}\n}\nd {}\n", expect!["a {⏎b {⏎c {⏎}⏎}⏎}⏎¦d {}⏎"]);
}

#[test]
fn an_edit_inside_a_block_moves_only_what_follows() {
    let old = "a {\n  b = 1\n}\n\nc {}\nd = 1\n# e\n";
    for (at, _) in old.char_indices() {
        for piece in ["x", "{", "}", "\n", "\"", "/*", "<<E\n", "\nr {\n"] {
            let new = format!("{}{piece}{}", &old[..at], &old[at..]);
            assert_eq!(Chunks::of(old).after_edit(old, &new), Chunks::of(&new), "{new:?}");
            assert_eq!(
                Chunks::of(&new).after_edit(&new, old),
                Chunks::of(old),
                "back from {new:?}"
            );
        }
    }
}
