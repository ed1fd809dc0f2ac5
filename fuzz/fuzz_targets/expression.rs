//! Checks that the domains of `hir` agree on any expression. The functions belong to the tests of `hir`, so their
//! files are included from there.
#![no_main]
#![allow(dead_code)]

#[path = "../../crates/hir/tests/domains/bytes.rs"]
mod bytes;
#[path = "../../crates/hir/tests/domains/generate.rs"]
mod generate;
#[path = "../../crates/hir/tests/domains/names.rs"]
mod names;
#[path = "../../crates/hir/tests/domains/random.rs"]
mod random;
#[path = "../../crates/hir/tests/domains/relation.rs"]
mod relation;
#[path = "../../crates/hir/tests/domains/rng.rs"]
mod rng;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bytes::check_bytes(bytes));
