//! See `lsp_frames` in `hostile::TARGETS`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (hostile::named("lsp_frames").check)(bytes));
