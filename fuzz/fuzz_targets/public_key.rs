// SPDX-License-Identifier: Apache-2.0
//! The decoder of public keys.
#![no_main]

use ringsmith_fuzz::{check, params};
use rlwe::PublicKey;
use rlwe::wire::Tag;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    check(
        data,
        Tag::PublicKey,
        params().rlwe().fingerprint(),
        |bytes| PublicKey::from_bytes(params().rlwe(), bytes).map(|x| x.to_bytes()),
    );
});
