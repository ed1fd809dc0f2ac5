//! Tests the formatter on generated configurations: its invariants, and a comparison with `terraform fmt`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "the corpus lies in files, the reference is a program, and what is skipped is said"
)]

mod generate;
mod reference;

use fastrand::Rng;

use self::generate::Content;

/// Returns a number from the environment: the number of configurations, or the seed.
fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn random() -> Rng {
    Rng::with_seed(number("FORMAT_SEED").unwrap_or(17))
}

#[test]
fn formatter_invariants_hold_for_generated_configurations() {
    let mut random = random();
    for _ in 0..number("FORMAT_COUNT").unwrap_or(1_500) {
        let text = generate::file(&mut random, Content::Lost);
        assert!(
            syntax::format(&text).is_ok(),
            "{text:?} is not correct: {:?}",
            syntax::format(&text)
        );
        syntax::fuzz::check_format(&text);
    }
}
