//! See `object_list` in `hostile::TARGETS`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (hostile::named("object_list").check)(bytes));
