// SPDX-License-Identifier: Apache-2.0
//! The decoder of relinearisation keys.
#![no_main]

use ringsmith_fuzz::{check, params};
use rlwe::RelinKey;
use rlwe::wire::Tag;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    check(
        data,
        Tag::RelinKey,
        params().rlwe().fingerprint(),
        |bytes| RelinKey::from_bytes(params().rlwe(), bytes).map(|x| x.to_bytes()),
    );
});
