// SPDX-License-Identifier: Apache-2.0
//! The decoder of programs. The input follows a fixed head (names and parameters), which a fuzzer could not guess.
#![no_main]

use program::{Limits, Program};
use ringsmith_fuzz::{check, params};
use rlwe::SecurityPolicy;
use rlwe::wire::{Tag, Writer};

fn head() -> Writer {
    let parameters = params().to_bytes();
    let mut out = Writer::new();
    out.u32(0);
    out.u32(0);
    out.u32(parameters.len() as u32);
    out.bytes(&parameters);
    out
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut payload = head();
    payload.bytes(data);
    check(payload.as_bytes(), Tag::Program, params().fingerprint(), |bytes| {
        Program::from_bytes(bytes, SecurityPolicy::insecure(), &Limits::default()).map(|p| p.to_bytes())
    });
});
