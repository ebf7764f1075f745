// SPDX-License-Identifier: Apache-2.0
//! The decoder of CKKS plaintexts.
#![no_main]

use ckks::Plaintext;
use ringsmith_fuzz::{check, ckks_params};
use rlwe::wire::Tag;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    check(
        data,
        Tag::CkksPlaintext,
        ckks_params().fingerprint(),
        |bytes| Plaintext::from_bytes(ckks_params(), bytes).map(|x| x.to_bytes()),
    );
});
