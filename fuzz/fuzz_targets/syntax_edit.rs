//! Checks that an incremental edit gives the same result as a fresh parse. A control character, which neither text
//! contains, separates the two texts.
#![no_main]

libfuzzer_sys::fuzz_target!(|both: &str| {
    if let Some((old, new)) = both.split_once('\u{1}') {
        syntax::fuzz::check_edit(old, new);
    }
});
