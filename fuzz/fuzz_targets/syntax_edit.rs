//! Following an edit gives what a fresh look gives. The two texts are told apart by a byte that no text of either kind needs.
#![no_main]

libfuzzer_sys::fuzz_target!(|both: &str| {
    if let Some((old, new)) = both.split_once('\u{1}') {
        syntax::fuzz::check_edit(old, new);
    }
});
