// SPDX-License-Identifier: Apache-2.0
//! The decoder of messages; what is accepted is written again as it was.
#![no_main]

use program::Message;
use ringsmith_fuzz::check;
use rlwe::wire::{Fingerprint, Tag};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    check(data, Tag::Message, Fingerprint::default(), |bytes| {
        Message::from_bytes(bytes)?.to_bytes()
    });
});
