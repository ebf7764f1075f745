// SPDX-License-Identifier: Apache-2.0
//! The transforms, one residue polynomial: first a table of every path against its arithmetic limit,
//! then divan's figures.
//!
//! The limit is the vector operations of the butterflies alone (no loads, stores, shuffles or final reduction) on two
//! ports at the clock measured by a chain of dependent multiplications. `RINGSMITH_SIMD` selects the level.

use std::hint::black_box;
use std::time::Instant;

use ntt::NttPlan;
use zq::primes::{Direction, ntt_primes};
use zq::simd::{Level, level};
use zq::{AlignedVec, Modulus};

const LENGTHS: [usize; 4] = [4096, 8192, 16384, 32768];
const WIDTHS: [u32; 4] = [36, 45, 50, 60];

fn plan(bits: u32, n: usize) -> NttPlan<u64> {
    let q = ntt_primes(bits, 2 * n as u64, 1, Direction::Down, &[]).expect("such primes exist")[0];
    NttPlan::new(Modulus::new(q).expect("in range"), n).expect("NTT-friendly")
}

fn residues(p: &NttPlan<u64>) -> AlignedVec<u64> {
    let values: Vec<u64> = (0..p.n() as u64)
        .map(|i| p.modulus().reduce(i.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
        .collect();
    AlignedVec::from_slice(&values)
}

/// Vector operations per butterfly of eight lanes, forward and inverse, where a limit is documented; where 52-bit
/// multiply-adds start one a cycle, those times two if that is more.
fn operations(bits: u32) -> Option<(f64, f64)> {
    match (level(), bits) {
        (Level::Ifma, ..=46) => Some((5.0, 6.0)),
        (Level::Ifma, ..=49) => Some((5.0 + 2.0 / 3.0, 8.0)),
        (Level::Ifma, ..=50) => Some((7.0, 8.0)),
        (Level::IfmaAmd, ..=46) => Some((6.0, 6.0)),
        (Level::IfmaAmd, ..=49) => Some((6.0 + 4.0 / 3.0, 10.0)),
        (Level::IfmaAmd, ..=50) => Some((8.0, 10.0)),
        (Level::Avx512, ..=48) => Some((8.0, 8.0)),
        (Level::Avx512 | Level::Ifma | Level::IfmaAmd, ..=60) => Some((19.0, 20.0)),
        _ => None,
    }
}

/// Cycles per microsecond now, from a chain of dependent multiplications of three cycles each.
fn cycles_per_us() -> f64 {
    const LINKS: u32 = 20_000;
    let chain = |x: u64| (0..LINKS).fold(x, |x, _| x.wrapping_mul(x));
    let best = (0..20).map(|_| {
        let start = Instant::now();
        black_box(chain(black_box(3)));
        start.elapsed().as_secs_f64() * 1e6
    });
    f64::from(3 * LINKS) / best.fold(f64::INFINITY, f64::min)
}

/// Best and median time of a call in µs.
fn time(mut f: impl FnMut()) -> (f64, f64) {
    let mut samples: Vec<f64> = (0..400)
        .map(|_| {
            let start = Instant::now();
            f();
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    (samples[0], samples[samples.len() / 2])
}

fn limits() {
    println!(
        "level {}; best (median) µs, fraction of the arithmetic limit at the clock of the row, MHz",
        level().name()
    );
    println!(
        "{:>6} {:>5} {:>18} {:>9} {:>18} {:>9} {:>6}",
        "n", "bits", "forward", "limit", "inverse", "limit", "clock"
    );
    for n in LENGTHS {
        for bits in WIDTHS {
            let p = plan(bits, n);
            let mut a = residues(&p);
            // The clock rises and falls within seconds.
            let before = cycles_per_us();
            let forward = time(|| p.forward(black_box(&mut a)));
            let inverse = time(|| p.inverse(black_box(&mut a)));
            let clock = before.max(cycles_per_us());
            let butterflies = (n / 16 * p.log_n() as usize) as f64;
            let fraction = |ops: f64, best: f64| {
                format!("{:.0} %", 100.0 * butterflies * ops / 2.0 / clock / best)
            };
            let (f, i) = operations(bits).map_or(("-".into(), "-".into()), |(f, i)| {
                (fraction(f, forward.0), fraction(i, inverse.0))
            });
            let show = |(best, median): (f64, f64)| format!("{best:.2} ({median:.2})");
            println!(
                "{n:>6} {bits:>5} {:>18} {f:>9} {:>18} {i:>9} {clock:>6.0}",
                show(forward),
                show(inverse)
            );
        }
    }
}

#[divan::bench(consts = [4096, 8192, 16384, 32768], args = WIDTHS)]
fn forward<const N: usize>(bencher: divan::Bencher, bits: u32) {
    let p = plan(bits, N);
    let mut a = residues(&p);
    bencher.bench_local(|| p.forward(black_box(&mut a)));
}

#[divan::bench(consts = [4096, 8192, 16384, 32768], args = WIDTHS)]
fn inverse<const N: usize>(bencher: divan::Bencher, bits: u32) {
    let p = plan(bits, N);
    let mut a = residues(&p);
    bencher.bench_local(|| p.inverse(black_box(&mut a)));
}

fn main() {
    limits();
    divan::main();
}
