//! See `crates/fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hayase_fuzz::check("nlm", bytes));
