// SPDX-License-Identifier: Apache-2.0
//! The decoder of BFV ciphertexts.
#![no_main]

use bfv::Ciphertext;
use ringsmith_fuzz::{check, params};
use rlwe::wire::Tag;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    check(data, Tag::BfvCiphertext, params().fingerprint(), |bytes| {
        Ciphertext::from_bytes(params(), bytes).map(|x| x.to_bytes())
    });
});
