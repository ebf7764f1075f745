// SPDX-License-Identifier: Apache-2.0
//! The transforms alone, at each prime width.

use crate::batch::Pools;
use crate::measure::{measure, report};
use ntt::NttPlan;
use rlwe::Threads;
use std::sync::Mutex;
use zq::primes::{Direction, ntt_primes};
use zq::{AlignedVec, Modulus};

/// Polynomials of a batch: a millisecond of work.
fn batch_len(n: usize) -> usize {
    ((1 << 20) / n).max(64)
}

/// Degrees and widths.
fn shapes() -> impl Iterator<Item = (usize, u32)> {
    let widths = |n| [36, 45, 50, 60].map(move |bits| (n, bits));
    [4096, 8192, 16384, 32768].into_iter().flat_map(widths)
}

/// NTT and inverse, one polynomial after another.
pub fn run() {
    shapes().for_each(|(n, bits)| one(n, bits));
}

/// The same on batches, on several threads.
pub fn run_batches(pools: &Pools) {
    for (n, bits) in shapes() {
        let (plan, original) = prepare(n, bits);
        let bits = [bits];
        let set = pools.of(n, &bits, batch_len(n));
        let polys: Vec<Mutex<AlignedVec<u64>>> = set
            .items()
            .iter()
            .map(|_| Mutex::new(AlignedVec::from_slice(&original)))
            .collect();
        let content = |i: usize| polys[i].lock().expect("no panic").to_vec();
        let batch = |threads: &Threads, transform: fn(&NttPlan<u64>, &mut [u64])| {
            let one = |poly: &Mutex<AlignedVec<u64>>| {
                transform(&plan, &mut poly.lock().expect("no panic"))
            };
            threads.for_each(polys.iter(), one);
            set.items()
        };
        // All are transformed equally often, so they stay equal; `one` checks what comes out.
        let right = |i: &usize| content(*i) == content(0);
        set.run("ntt", |threads| batch(threads, NttPlan::forward), right);
        set.run("intt", |threads| batch(threads, NttPlan::inverse), right);
    }
}

/// A plan and a polynomial.
fn prepare(n: usize, bits: u32) -> (NttPlan<u64>, Vec<u64>) {
    let prime = ntt_primes::<u64>(bits, 2 * n as u64, 1, Direction::Down, &[])
        .expect("such primes exist")[0];
    let plan = NttPlan::new(Modulus::new(prime).expect("a modulus"), n).expect("a plan");
    let values = (0..n as u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) % prime);
    (plan, values.collect())
}

fn one(n: usize, bits: u32) {
    let (plan, original) = prepare(n, bits);
    let mut values = AlignedVec::from_slice(&original);
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
