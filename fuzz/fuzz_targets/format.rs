//! What is formatted is correct, means the same and has the same comments, stays as it is when formatted again, and edits of a part agree.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| syntax::fuzz::check_format(text));
