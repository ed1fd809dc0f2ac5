//! See `profiles` in `hostile::TARGETS`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (hostile::named("profiles").check)(bytes));
