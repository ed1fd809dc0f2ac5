//! Chunks cover a text and parse alone to what they are in it.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    syntax::fuzz::check_chunks(text);
    syntax::fuzz::check_correct_text(text);
});
