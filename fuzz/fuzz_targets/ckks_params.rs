// SPDX-License-Identifier: Apache-2.0
//! The decoder of CKKS parameters.
#![no_main]

use ckks::CkksParams;
use ringsmith_fuzz::check;
use rlwe::SecurityPolicy;
use rlwe::wire::{Fingerprint, Tag};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    check(data, Tag::CkksParams, Fingerprint::default(), |bytes| {
        CkksParams::from_bytes(bytes, SecurityPolicy::insecure()).map(|x| x.to_bytes())
    });
});
