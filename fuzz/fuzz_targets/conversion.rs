//! See `conversion` in `hostile::TARGETS`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (hostile::named("conversion").check)(bytes));
