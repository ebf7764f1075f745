// SPDX-License-Identifier: Apache-2.0
//! A self-test on a bare-metal Arm Cortex-M4 (QEMU's `mps2-an386`): makes a key, encrypts and decrypts, prints the
//! SHA-256 of every object and what it held in memory at most. `tests/arm.rs` runs it.
#![no_std]
#![no_main]

mod counter;
mod start;

extern crate alloc;

use alloc::vec::Vec;
use client::{Client, Params, ParamsLiteral, Scheme, encrypt_public, memory};
use core::fmt::Write;
use counter::counted;
use sha2::{Digest, Sha256};
use start::{Console, HEAP};

/// The set of SEAL's default at n = 4096; for CKKS, three primes as short as they may be, at n = 4096 as
/// SEAL-Embedded has them, and one set of n = 8192.
const BFV: [u64; 2] = [68719403009, 68719230977];
const BFV_SPECIAL: [u64; 1] = [137438822401];
const CKKS_SMALL: [u64; 3] = [4294828033, 4294729729, 4294483969];
const CKKS: [u64; 3] = [1152921504606830593, 1099511480321, 1099510890497];

fn show(name: &str, bytes: &[u8]) {
    let _ = write!(Console, "{name} {} ", bytes.len());
    for byte in Sha256::digest(bytes) {
        let _ = write!(Console, "{byte:02x}");
    }
    let _ = writeln!(Console);
}

/// Rounds of the loop that the counter is held against.
const SPIN: u32 = 1_000_000;

/// Runs an operation and prints its instructions; what it holds beside its result of `size` bytes, and the secret, has
/// to stay within the bound.
fn held<T>(name: &str, n: usize, size: impl Fn(&T) -> usize, operation: impl FnOnce() -> T) -> T {
    let before = HEAP.used();
    HEAP.reset_peak();
    let (result, instructions) = counted(operation);
    let _ = writeln!(Console, "instructions {name} {instructions}");
    let most = HEAP.peak() - before - size(&result) + n;
    assert!(most <= memory(n), "{most} bytes held");
    let _ = writeln!(Console, "held {most} of {}", memory(n));
    result
}

fn run(name: &str, params: &Params, message: &[i64]) {
    let n = message.len();
    let (keys, messages) = ([7; 32], [9; 32]);
    let _ = writeln!(Console, "set {name}");
    let (client, instructions) = counted(|| Client::new(params, &keys));
    let _ = writeln!(Console, "instructions secret-key {instructions}");
    let public = held("public-key", n, Vec::len, || client.public_key(&keys));
    let secret = held("encrypt-secret", n, Vec::len, || {
        client
            .encrypt_secret(message, &messages, 0)
            .expect("a message")
    });
    let encrypted = held("encrypt-public", n, Vec::len, || {
        encrypt_public(params, &public, message, &messages, 0).expect("a message")
    });
    let found = held(
        "decrypt",
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

/// A CKKS set of degree `n` over `primes`; the message's coefficients are multiples of `step` around zero.
fn run_ckks(name: &str, n: usize, primes: &[u64], scale: u64, step: i64) {
    let scheme = Scheme::Ckks {
        scale: scale as f64,
    };
    let params = Params::new(&ParamsLiteral {
        n,
        data: primes,
        special: &[],
        dnum: 3,
        scheme,
    })
    .expect("a set");
    let middle = n as i64 / 2;
    let message: Vec<i64> = (0..n as i64).map(|i| (i - middle) * step).collect();
    run(name, &params, &message);
}

#[unsafe(no_mangle)]
fn main() {
    counter::start();
    let ((), instructions) = counted(|| counter::spin(SPIN));
    let _ = writeln!(Console, "instructions spin {instructions}");
    let t = 65537;
    let (params, instructions) = counted(|| {
        // 109 bits, as SEAL has them: 3 above what the 2024 guidelines allow at 128 bits.
        Params::insecure(&ParamsLiteral {
            n: 4096,
            data: &BFV,
            special: &BFV_SPECIAL,
            dnum: 2,
            scheme: Scheme::Bfv { t: t as u64 },
        })
        .expect("a set")
    });
    let _ = writeln!(Console, "instructions parameters {instructions}");
    let message: Vec<i64> = (0..4096).map(|i| i * 31 % t).collect();
    run("bfv", &params, &message);
    run_ckks("ckks-small", 4096, &CKKS_SMALL, 1 << 25, 10_007);
    run_ckks("ckks", 8192, &CKKS, 1 << 40, 1_000_003);
    let _ = writeln!(Console, "done");
}
