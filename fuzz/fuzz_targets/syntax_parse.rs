//! Checks that parsing any bytes reproduces the text and never panics.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (text, _) = syntax::decode(bytes);
    syntax::fuzz::check_parse(&text);
});
