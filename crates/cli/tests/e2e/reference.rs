//! The real `tofu`, for tests that compare with it: `MAYFLY_TOFU` names the executable.

use std::io::Write;

/// The executable; `None`, with a line on stderr, where it is not named.
pub(crate) fn tofu(test: &str) -> Option<String> {
    let named = std::env::var("MAYFLY_TOFU").ok().filter(|it| !it.is_empty());
    if named.is_none() {
        // Not by a macro whose output the test harness keeps: the person who runs the tests has to see it.
        let _ = writeln!(std::io::stderr(), "skipped: {test}, because MAYFLY_TOFU is not set");
    }
    named
}
