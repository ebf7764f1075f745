// SPDX-License-Identifier: Apache-2.0
//! A self-test on a bare-metal Arm Cortex-M4 (QEMU's `mps2-an386`): makes a key, encrypts and decrypts, prints the
//! SHA-256 of every object and what it held in memory at most. `tests/arm.rs` runs it.
#![no_std]
#![no_main]

mod start;

extern crate alloc;

use alloc::vec::Vec;
use client::{Client, Params, Scheme, encrypt_public, memory};
use core::fmt::Write;
use sha2::{Digest, Sha256};
use start::{Console, HEAP};

/// The set of SEAL's default at n = 4096, and one of n = 8192 for CKKS.
const BFV: [u64; 2] = [68719403009, 68719230977];
const BFV_SPECIAL: [u64; 1] = [137438822401];
const CKKS: [u64; 3] = [1152921504606830593, 1099511480321, 1099510890497];

fn show(name: &str, bytes: &[u8]) {
    let _ = write!(Console, "{name} {} ", bytes.len());
    for byte in Sha256::digest(bytes) {
        let _ = write!(Console, "{byte:02x}");
    }
    let _ = writeln!(Console);
}

/// Runs an operation; what it holds beside its result of `size` bytes, and the secret, has to stay within the bound.
fn held<T>(n: usize, size: impl Fn(&T) -> usize, operation: impl FnOnce() -> T) -> T {
    let before = HEAP.used();
    HEAP.reset_peak();
    let result = operation();
    let most = HEAP.peak() - before - size(&result) + n;
    assert!(most <= memory(n), "{most} bytes held");
    let _ = writeln!(Console, "held {most} of {}", memory(n));
    result
}

fn run(name: &str, params: &Params, message: &[i64]) {
    let n = message.len();
    let (keys, messages) = ([7; 32], [9; 32]);
    let client = Client::new(params, &keys);
    let _ = writeln!(Console, "{name}");
    let public = held(n, Vec::len, || client.public_key(&keys));
    let secret = held(n, Vec::len, || {
        client
            .encrypt_secret(message, &messages, 0)
            .expect("a message")
    });
    let encrypted = held(n, Vec::len, || {
        encrypt_public(params, &public, message, &messages, 0).expect("a message")
    });
    let found = held(
        n,
        |m: &zeroize::Zeroizing<Vec<i64>>| m.len() * size_of::<i64>(),
        || client.decrypt(&encrypted).expect("our own"),
    );
    show("secret-key", &client.to_bytes());
    show("public-key", &public);
    show("secret", &secret);
    show("public", &encrypted);
    let worst = found.iter().zip(message).map(|(a, b)| (a - b).abs()).max();
    let _ = writeln!(Console, "error {}", worst.unwrap_or(0));
}

#[unsafe(no_mangle)]
fn main() {
    let t = 65537;
    let params =
        Params::new(4096, &BFV, &BFV_SPECIAL, 2, Scheme::Bfv { t: t as u64 }).expect("a set");
    let message: Vec<i64> = (0..4096).map(|i| i * 31 % t).collect();
    run("bfv", &params, &message);
    let scale = (1u64 << 40) as f64;
    let params = Params::new(8192, &CKKS, &[], 3, Scheme::Ckks { scale }).expect("a set");
    let message: Vec<i64> = (0..8192).map(|i| i * 1_000_003 - (1 << 32)).collect();
    run("ckks", &params, &message);
    let _ = writeln!(Console, "done");
}
