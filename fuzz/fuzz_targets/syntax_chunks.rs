//! Checks that chunks cover a text and parse alone to the same trees as in the whole text.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    syntax::fuzz::check_chunks(text);
    syntax::fuzz::check_correct_text(text);
});
