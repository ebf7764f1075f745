// SPDX-License-Identifier: Apache-2.0
//! The decoder of BFV parameters.
#![no_main]

use bfv::BfvParams;
use ringsmith_fuzz::check;
use rlwe::SecurityPolicy;
use rlwe::wire::{Fingerprint, Tag};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    check(data, Tag::BfvParams, Fingerprint::default(), |bytes| {
        BfvParams::<u64>::from_bytes(bytes, SecurityPolicy::insecure()).map(|x| x.to_bytes())
    });
});
