//! Tests arbitrary bytes as an expression: the entry point of the fuzz target `expression`, and a replay of its
//! findings.

use hir::{
    Ref,
    expr::Expr,
    lower::{StandaloneExpression, lower_expression},
};

use crate::{generate::Generator, names::mentions, random::Sides, rng::Rng};

/// The maximum length of a text. Short texts find the same slow cases.
const LONGEST: usize = 400;

thread_local! {
    static SIDES: Sides = Sides::new();
}

/// Checks that both domains agree on the input: four bytes of a seed for the values, then the text of the
/// expression.
pub(crate) fn check_bytes(bytes: &[u8]) {
    let Some((seed, text)) = bytes.split_first_chunk() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    if text.len() > LONGEST || !has_values(text) {
        return;
    }
    let seed = u64::from(u32::from_le_bytes(*seed));
    if let Some(wrong) = SIDES.with(|sides| sides.check(text, seed)) {
        panic!("{text:?} with seed {seed}: {}", wrong.detail);
    }
}

/// Returns true if all references in the text have values here.
fn has_values(text: &str) -> bool {
    let StandaloneExpression { exprs, problems, .. } = lower_expression(text);
    let has_value = |expr: &Expr| match expr {
        Expr::Ref(Ref::Variable(name)) => {
            SIDES.with(|sides| sides.has(name)) && mentions(text, name)
        }
        Expr::Ref(_) => false,
        _ => true,
    };
    problems.is_empty() && exprs.iter().all(|(_, expr)| has_value(expr))
}

/// The corpus. Each line is a seed and an expression.
const CORPUS: &str = include_str!("corpus.txt");

#[test]
fn domains_agree_on_the_corpus_and_its_mutations() {
    let check = |seed: u32, text: &str| {
        check_bytes(&[&seed.to_le_bytes(), text.as_bytes()].concat());
    };
    let mut rng = Rng::new(5);
    for line in CORPUS.lines() {
        let (seed, text) = line.split_once(' ').expect("a seed and an expression");
        let seed = seed.parse().expect("a seed is a number");
        check(seed, text);
        for _ in 0..100 {
            let other = Generator::new(&mut Rng::new(rng.next())).expression().text();
            check(seed, &mixed(text, &other, &mut rng));
        }
    }
}

/// Replaces a random piece of one text by a random piece of the other.
fn mixed(text: &str, other: &str, rng: &mut Rng) -> String {
    let (from, to) = piece(text, rng);
    let (start, end) = piece(other, rng);
    [&text[..from], &other[start..end], &text[to..]].concat()
}

fn piece(text: &str, rng: &mut Rng) -> (usize, usize) {
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let (a, b) = (*rng.pick(&ends), *rng.pick(&ends));
    (a.min(b), a.max(b))
}
