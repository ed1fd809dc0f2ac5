//! Tests of the positions at which files are split, and of the chunks after an edit.

use expect_test::{Expect, expect};

use super::{Chunks, split};

/// Compares the chunks of a text, with `¦` between them.
#[track_caller]
fn check(text: &str, expect: Expect) {
    let chunks: Vec<_> =
        split(text).into_iter().map(|range| text[range].replace('\n', "⏎")).collect();
    expect.assert_eq(&chunks.join("¦"));
}

#[test]
fn chunk_includes_the_trivia_before_its_item() {
    check(
        "# a\n\nb = 1 # c\n\n# d\ne {\n  f = 1\n}\n# g\n",
        expect!["# a⏎⏎b = 1 # c⏎¦⏎# d⏎e {⏎  f = 1⏎}⏎¦# g⏎"],
    );
    check("", expect![[r#""#]]);
    check("\n# a", expect!["⏎# a"]);
}

#[test]
fn invalid_text_belongs_to_the_chunk_before_it() {
    check("a = 1\n} = 2\n\nb = 3\n", expect!["a = 1⏎} = 2⏎¦⏎b = 3⏎"]);
    check("{\n\na = 1\n", expect!["{⏎⏎a = 1⏎"]);
    check("a \"b\"\n{\n c = 1\n}\nd {}\n", expect![[r#"a "b"⏎{⏎ c = 1⏎}⏎¦d {}⏎"#]]);
}

#[test]
fn chunks_end_outside_brackets_and_templates() {
    check(
        "a = [\nb\n]\nc = <<E\nd {\nE\ne = \"${\nf\n}\"\ng = (\n/*\nh {\n*/)\n",
        expect![[r#"a = [⏎b⏎]⏎¦c = <<E⏎d {⏎E⏎¦e = "${⏎f⏎}"⏎¦g = (⏎/*⏎h {⏎*/)⏎"#]],
    );
}

#[test]
fn unclosed_block_ends_at_the_next_unindented_header() {
    check("a {\n  b {\n  }\n\n# c\nc {\n}\nd {\n", expect!["a {⏎  b {⏎  }⏎¦⏎# c⏎c {⏎}⏎¦d {⏎"]);
    check(
        "a {\n  b = [1,\n  c = {\nd \"e\" {\n}\n",
        expect![[r#"a {⏎  b = [1,⏎  c = {⏎¦d "e" {⏎}⏎"#]],
    );
    check("a = <<E\nb\nc {\n}\n", expect!["a = <<E⏎b⏎¦c {⏎}⏎"]);
}

#[test]
fn closed_block_may_contain_unindented_headers() {
    check("a {\nb {\nc {\n}\n}\n}\nd {}\n", expect!["a {⏎b {⏎c {⏎}⏎}⏎}⏎¦d {}⏎"]);
    check("a /* x */ \"b\" {\nb {\n}\n}\n", expect![[r#"a /* x */ "b" {⏎b {⏎}⏎}⏎"#]]);
}

#[test]
fn edited_chunks_equal_freshly_cut_ones() {
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

/// Applies many edits in a row to texts that lack closing brackets or have too many, and compares the chunks each
/// time.
#[test]
fn many_edits_give_the_chunks_of_a_fresh_cut() {
    const PIECES: &[&str] = &[
        "x",
        "{",
        "}",
        "\n",
        "\"",
        "/*",
        "<<E\n",
        "\nE\n",
        "\nr {\n",
        "[",
        "]",
        "(",
        ")",
        "${",
        "x = [\n",
        "\n}\n",
        "y = {\n",
        "\n  s \"t\" {\n",
        "r \"s\" {\n",
    ];
    let text = "a {\n  b = 1\n}\n\nc {}\nd = 1\n# e\ne \"f\" {\n  g = { h = [1] }\ni {\n}\n}\nj = \
                \"${k}\"\n  l {\n  }\nm {\n}\n";
    let mut seed = 1_u64;
    let mut below = |bound: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % bound
    };
    for _ in 0..1_000 {
        let mut old = text.to_owned();
        let mut chunks = Chunks::of(&old);
        for _ in 0..4 {
            let start = below(old.len());
            let end = (start + below(4) * below(4)).min(old.len());
            let new = format!("{}{}{}", &old[..start], PIECES[below(PIECES.len())], &old[end..]);
            chunks = chunks.after_edit(&old, &new);
            assert_eq!(chunks, Chunks::of(&new), "{old:?} became {new:?}");
            old = new;
        }
    }
}

/// Checks which texts are plain, and that both ways of splitting give the same chunks.
#[test]
fn plain_texts_are_recognized_and_cut_equally() {
    let is_plain = |text: &str| {
        let plain = super::plain::cut(text);
        let tokens = Chunks::of_tokens(text);
        assert!(plain.as_ref().is_none_or(|it| it == tokens.ranges()), "{text:?}");
        plain.is_some()
    };
    let plain = [
        "",
        "\n# only a comment\n",
        "a = \"${b.c[\"d\"]}-${~ e ~}-$${f}%%{g}\\\"\"\n\n# é\nlocals {\r\n  x = { a = [1, (2)] } \
         // )\r\n}\r\n/* } */ b = 1",
        "a \"b\" {\n  c = 1 # {\n}\n\n\nd \"e\" {}\n# the end\n",
    ];
    assert!(plain.into_iter().all(is_plain));
    let others = [
        "a {\n",
        "a = ]\n",
        "a = (]\n",
        "a = <<E\nE\n",
        "a = \"${\n1}\"\n",
        "a = [\nb {\n}\n]\n",
        "= 1\n",
        "a = 1\n]\n",
        "a = \"\n\"\n",
        "/* a",
        "é = 1\n",
        "a = b ~\n",
        "\u{feff}a = 1\n",
    ];
    assert!(!others.into_iter().any(is_plain));
}
