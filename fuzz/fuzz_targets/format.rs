//! Checks the formatter: its result is valid, has the same meaning and comments, does not change when it is
//! formatted again, and agrees with the edits for a part of the text.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| syntax::fuzz::check_format(text));
