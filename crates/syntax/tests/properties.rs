//! Checks the invariants of [`syntax::fuzz`] on the corpus and on thousands of mutations of it, with a fixed seed.

#![expect(clippy::disallowed_methods, reason = "the corpus lies in files")]

use std::path::Path;

use fastrand::Rng;

/// Fragments that are significant to the lexer, most of them incomplete.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "\"",
    "\n",
    "\r\n",
    "\r",
    "${",
    "${~",
    "%{",
    "~}",
    "$",
    "%",
    "\\",
    "=",
    "==",
    "=>",
    "?",
    ":",
    "::",
    ".",
    "...",
    ",",
    "*",
    ".*",
    "[*]",
    "-",
    "!",
    "&&",
    "&",
    "'",
    "`",
    ";",
    "#",
    "//",
    "/*",
    "*/",
    "<<E\n",
    "<<-E\n",
    "E\n",
    " E \n",
    "<<",
    " ",
    "\t",
    "a",
    "a = ",
    "b {\n",
    "\nresource \"x\" \"y\" {\n",
    "x \"y\" {",
    "1",
    "1.5e",
    "0.0",
    "for ",
    "for x in y : ",
    " in ",
    " if ",
    "if x",
    "else",
    "endif",
    "endfor",
    "null",
    "true",
    "é",
    "\u{feff}",
    "\u{0301}",
    "\u{a0}",
    "\\u00e9",
    "\\q",
    "// c\n",
    "f(",
    "a.b",
    "a[0]",
    "\0",
];

fn corpus() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/corpus");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the corpus is there")
        .map(|it| it.expect("readable").path())
        .collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("the corpus is UTF-8")).collect()
}

fn boundary(text: &str, random: &mut Rng) -> usize {
    let mut at = random.usize(..text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn mutated(text: &str, random: &mut Rng) -> String {
    let (a, b) = (boundary(text, random), boundary(text, random));
    let (from, to) = (a.min(b), a.max(b));
    let piece = PIECES[random.usize(..PIECES.len())];
    match random.usize(..5) {
        0 | 1 => format!("{}{piece}{}", &text[..a], &text[a..]),
        2 => {
            let to = text[from..]
                .char_indices()
                .nth(1 + random.usize(..8))
                .map_or(text.len(), |(at, _)| from + at);
            format!("{}{}", &text[..from], &text[to..])
        }
        3 => format!("{}{piece}{}", &text[..from], &text[to..]),
        _ => format!("{}{}", &text[..to], &text[from..]),
    }
}

fn check(text: &str) {
    syntax::fuzz::check_parse(text);
    syntax::fuzz::check_chunks(text);
    syntax::fuzz::check_correct_text(text);
    syntax::fuzz::check_format(text);
}

#[test]
fn parser_invariants_hold_for_the_corpus() {
    for text in corpus() {
        check(&text);
        for (at, _) in text.char_indices() {
            syntax::fuzz::check_chunks(&text[..at]);
        }
    }
}

#[test]
fn parser_invariants_hold_for_mutated_corpus() {
    let rounds = std::env::var("SYNTAX_FUZZ_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(120);
    let mut random = Rng::with_seed(7);
    for text in corpus() {
        for _ in 0..rounds {
            let mut mutant = text.clone();
            for _ in 0..=random.usize(..4) {
                let next = mutated(&mutant, &mut random);
                syntax::fuzz::check_edit(&mutant, &next);
                mutant = next;
            }
            check(&mutant);
        }
    }
}

#[test]
fn parser_invariants_hold_for_random_tokens() {
    let rounds = std::env::var("SYNTAX_FUZZ_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(3000);
    let mut random = Rng::with_seed(11);
    let mut before = String::new();
    for _ in 0..rounds {
        let soup: String =
            (0..random.usize(..30)).map(|_| PIECES[random.usize(..PIECES.len())]).collect();
        check(&soup);
        syntax::fuzz::check_edit(&before, &soup);
        before = soup;
    }
}

/// Checks that an error in one block does not affect the next: a correct block after it has no error, and the
/// error of a broken one is found. A heredoc with an open interpolation is exempt, because its end cannot be
/// recognized.
#[test]
fn syntax_error_does_not_affect_the_next_block() {
    const SOUND: &str = "\nlocals {\n  a = [1, \"${var.b}\"]\n  c {\n    d = 1\n  }\n}\n";
    const BROKEN: &str = "\nlocals {\n  a = = 1\n}\n";
    let mut random = Rng::with_seed(13);
    let (mut broken, mut spreading) = (0, 0);
    for text in corpus().iter().filter(|it| syntax::parse_file(it).errors().is_empty()) {
        for _ in 0..400 {
            let mutant = mutated(text, &mut random);
            if syntax::parse_file(&mutant).errors().is_empty() {
                continue;
            }
            broken += 1;
            let at = mutant.len() + BROKEN.find("= 1").expect("is there");
            let keeps =
                errors_behind(&mutant, SOUND) == [0; 0] && errors_behind(&mutant, BROKEN) == [at];
            assert!(keeps || mutant.contains("<<"), "{mutant:?}");
            spreading += usize::from(!keeps);
        }
    }
    assert!(broken > 1000, "{broken}");
    assert!(spreading * 40 < broken, "{spreading} of {broken}");
}

/// Returns the start of each error in a text that is appended to another one. A construct without an end may be
/// reported at the very start of the text, so errors at that position are left out.
fn errors_behind(before: &str, text: &str) -> Vec<usize> {
    let parse = syntax::parse_file(&format!("{before}{text}"));
    let starts = parse.errors().iter().map(|it| usize::from(it.range.start()));
    starts.filter(|it| *it > before.len() + 1).collect()
}
