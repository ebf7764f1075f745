// SPDX-License-Identifier: Apache-2.0
//! The decoder of Galois keys.
#![no_main]

use ringsmith_fuzz::{check, params};
use rlwe::GaloisKeys;
use rlwe::wire::Tag;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    check(
        data,
        Tag::GaloisKeys,
        params().rlwe().fingerprint(),
        |bytes| GaloisKeys::from_bytes(params().rlwe(), bytes).map(|x| x.to_bytes()),
    );
});
