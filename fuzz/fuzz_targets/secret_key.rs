// SPDX-License-Identifier: Apache-2.0
//! The decoder of secret keys.
#![no_main]

use ringsmith_fuzz::{check, params};
use rlwe::SecretKey;
use rlwe::wire::Tag;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    check(
        data,
        Tag::SecretKey,
        params().rlwe().fingerprint(),
        |bytes| SecretKey::from_bytes(params().rlwe(), bytes).map(|x| x.to_bytes().to_vec()),
    );
});
