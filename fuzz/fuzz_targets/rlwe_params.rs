// SPDX-License-Identifier: Apache-2.0
//! The decoder of ring-LWE parameters.
#![no_main]

use ringsmith_fuzz::check;
use rlwe::wire::{Fingerprint, Tag};
use rlwe::{RlweParams, SecurityPolicy};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    check(data, Tag::RlweParams, Fingerprint::default(), |bytes| {
        RlweParams::<u64>::from_bytes(bytes, SecurityPolicy::insecure()).map(|x| x.to_bytes())
    });
});
