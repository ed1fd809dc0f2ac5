//! See `journal_frames` in `hostile::TARGETS`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (hostile::named("journal_frames").check)(bytes));
