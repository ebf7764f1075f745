// SPDX-License-Identifier: Apache-2.0
//! The decoder of public keys, extended or not.
#![no_main]

use ringsmith_fuzz::{check, params};
use rlwe::PublicKey;
use rlwe::wire::Tag;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for tag in [Tag::PublicKey, Tag::ExtendedPublicKey] {
        check(data, tag, params().rlwe().fingerprint(), |bytes| {
            PublicKey::from_bytes(params().rlwe(), bytes).map(|x| x.to_bytes())
        });
    }
});
