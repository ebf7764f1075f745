// SPDX-License-Identifier: Apache-2.0
//! The transforms alone, at each prime width.

use crate::measure::{measure, report};
use ntt::NttPlan;
use zq::Modulus;
use zq::primes::{Direction, ntt_primes};

/// NTT and inverse at four degrees and four widths.
pub fn run() {
    for n in [4096usize, 8192, 16384, 32768] {
        for bits in [36, 45, 50, 60] {
            one(n, bits);
        }
    }
}

fn one(n: usize, bits: u32) {
    let prime = ntt_primes::<u64>(bits, 2 * n as u64, 1, Direction::Down, &[])
        .expect("such primes exist")[0];
    let plan = NttPlan::new(Modulus::new(prime).expect("a modulus"), n).expect("a plan");
    let original: Vec<u64> = (0..n as u64)
        .map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) % prime)
        .collect();
    let mut values = zq::AlignedVec::from_slice(&original);
    plan.forward(&mut values);
    plan.inverse(&mut values);
    let correct = *values == original[..];
    report(
        "ntt",
        n,
        &[bits],
        measure(|| plan.forward(&mut values)),
        correct,
    );
    report(
        "intt",
        n,
        &[bits],
        measure(|| plan.inverse(&mut values)),
        correct,
    );
}
