// SPDX-License-Identifier: Apache-2.0
//! The decoder of BFV plaintexts.
#![no_main]

use bfv::Plaintext;
use ringsmith_fuzz::{check, params};
use rlwe::wire::Tag;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    check(data, Tag::BfvPlaintext, params().fingerprint(), |bytes| {
        Plaintext::from_bytes(params(), bytes).map(|x| x.to_bytes())
    });
});
