//! See `value_msgpack` in `hostile::TARGETS`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (hostile::named("value_msgpack").check)(bytes));
