//! See `json_configuration` in `hostile::TARGETS`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (hostile::named("json_configuration").check)(bytes));
