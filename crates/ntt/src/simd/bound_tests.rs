// SPDX-License-Identifier: Apache-2.0
//! Every butterfly at the bounds that its proof allows: whole transforms of residues rarely come near them.
//!
//! Operands are 0, 1, q and the ends of the proved range; each result must be the exact one modulo q and stay inside
//! the range proved for it. Debug builds also run the assertions beside the proofs.

use core::ops::Range;

use zq::primes::{Direction, ntt_primes};
#[cfg(target_arch = "x86_64")]
use zq::simd::{Avx2, Avx512, Level};
use zq::simd::{Lanes, MAX_LANES};
#[cfg(target_arch = "aarch64")]
use zq::simd::{Neon, Pair};

use super::arith::{Arith, Factor};
use super::fma64::Fma64;
#[cfg(target_arch = "x86_64")]
use super::ifma52::{Ifma52, NEVER};
#[cfg(target_arch = "x86_64")]
use super::ifma52_amd::Ifma52Amd;
#[cfg(target_arch = "x86_64")]
use super::mont32::Mont32;
#[cfg(target_arch = "x86_64")]
use super::mul32::Mul32;
#[cfg(target_arch = "aarch64")]
use super::mul64::Mul64;

/// The ranges of an arithmetic modulo `q`: each limit is the largest size a value may have.
struct Proof {
    /// Widths of moduli: the widest it is used for, and a narrow one.
    bits: [u32; 2],
    signed: bool,
    /// Of a value before forward stage `s` of a pass: `x`, then `y`.
    forward: fn(q: i128, s: usize) -> [i128; 2],
    /// The least that such an `x` is, where it is not negative.
    forward_least: fn(q: i128, s: usize) -> i128,
    /// Of a value after the last forward stage.
    leave: fn(q: i128) -> i128,
    /// Of a value before inverse stage `s`.
    inverse: fn(q: i128, s: usize) -> i128,
    /// How far such a value is below zero at most, where that is less than its size.
    below: Option<fn(q: i128, s: usize) -> i128>,
    /// The inverse stages that there are, and those that may be the last of a transform.
    inverse_stages: [Range<usize>; 2],
    /// Of a fresh product.
    product: fn(q: i128) -> i128,
    put: fn(i128) -> u64,
    get: fn(u64) -> i128,
}

#[cfg(target_arch = "x86_64")]
const LOW: u64 = (1 << 52) - 1;

#[cfg(target_arch = "x86_64")]
fn ifma52(period: usize) -> Proof {
    let unsigned = Proof {
        bits: [46, 20],
        signed: false,
        forward: |q, s| [(1 + 2 * s as i128) * q - 1; 2],
        forward_least: |_, _| 0,
        leave: |q| 35 * q - 1,
        inverse: |q, s| (q << s) - 1,
        below: None,
        inverse_stages: [0..6, 0..6],
        product: |q| 2 * q - 1,
        // Bits above 51 are ignored.
        put: |v| v as u64 | 0xabc << 52,
        get: |word| (word & LOW).into(),
    };
    match period {
        NEVER => unsigned,
        3 => Proof {
            bits: [49, 47],
            forward: |q, s| {
                [
                    if s % 3 == 0 {
                        8
                    } else {
                        2 + 2 * (s as i128 % 3)
                    },
                    8,
                ]
                .map(|k| k * q - 1)
            },
            leave: |q| 8 * q - 1,
            inverse: |q, _| 2 * q - 1,
            ..unsigned
        },
        _ => Proof {
            bits: [50, 48],
            forward: |q, _| [4 * q - 1; 2],
            leave: |q| 4 * q - 1,
            inverse: |q, _| 2 * q - 1,
            ..unsigned
        },
    }
}

#[cfg(target_arch = "x86_64")]
fn ifma52_amd(period: usize) -> Proof {
    let common = ifma52(period);
    match period {
        NEVER => Proof {
            forward: |q, s| [(18 + s as i128) * q - 1, 35 * q - 1],
            forward_least: |q, s| (17 - s as i128) * q,
            ..common
        },
        3 => Proof {
            forward: |q, s| [[8, 6, 7][s % 3] * q - 1, 8 * q - 1],
            forward_least: |q, s| [0, 2, 1][s % 3] * q,
            ..common
        },
        _ => Proof {
            bits: [50, 50],
            ..common
        },
    }
}

fn fma64() -> Proof {
    Proof {
        bits: [48, 20],
        signed: true,
        forward: |q, _| [17 * q; 2],
        forward_least: |_, _| 0,
        leave: |q| 18 * q,
        // From q or less, doubling through three stages.
        inverse: |q, s| q << (s % 3),
        below: None,
        inverse_stages: [0..6, 0..6],
        product: |q| q / 2 + q / 2,
        put: |v| (v as f64).to_bits(),
        get: |word| f64::from_bits(word) as i128,
    }
}

fn fma64_wide() -> Proof {
    Proof {
        bits: [50, 48],
        forward: |q, s| [[72, 34, 51][s % 3] * q / 16; 2],
        leave: |q| 9 * q / 2,
        product: |q| 5 * q / 2,
        ..fma64()
    }
}

#[cfg(target_arch = "x86_64")]
fn mul32(exact: bool) -> Proof {
    let short = Proof {
        bits: [60, 51],
        signed: false,
        forward: |q, s| {
            [
                if s % 2 == 0 { 16 * q - 1 } else { 12 * q - 1 },
                (1 << 64) - 1,
            ]
        },
        forward_least: |_, _| 0,
        leave: |q| 16 * q - 1,
        inverse: |q, _| 4 * q - 1,
        below: None,
        inverse_stages: [0..6, 0..6],
        product: |q| 4 * q - 1,
        put: |v| v as u64,
        get: |word| word.into(),
    };
    if !exact {
        return short;
    }
    Proof {
        bits: [62, 61],
        forward: |q, _| [4 * q - 1, (1 << 64) - 1],
        leave: |q| 4 * q - 1,
        inverse: |q, _| 2 * q - 1,
        product: |q| 2 * q - 1,
        ..short
    }
}

#[cfg(target_arch = "x86_64")]
fn mont32() -> Proof {
    Proof {
        forward: |_, _| [(1 << 64) - 1; 2],
        leave: |_| (1 << 64) - 1,
        ..mul32(false)
    }
}

#[cfg(target_arch = "aarch64")]
fn mul64() -> Proof {
    /// Of values that are any word.
    const ALL: i128 = (1 << 63) - 1;
    Proof {
        bits: [60, 51],
        signed: true,
        forward: |q, s| [[ALL, 5 * q / 2, 15 * q / 4, 5 * q][s % 4], ALL],
        forward_least: |_, _| 0,
        leave: |q| 25 * q / 4,
        // Residues; what a pass starts with; its sums; the first pass's sums of four.
        inverse: |q, s| [q - 1, 5 * q / 2, 5 * q, 8 * q - 8][s],
        below: Some(|q, s| [0, q / 2, q, 0][s]),
        inverse_stages: [0..4, 1..3],
        product: |q| 5 * q / 4,
        put: |v| v as i64 as u64,
        get: |word| (word as i64).into(),
    }
}

/// The ends of a range and what lies between.
fn operands(q: i128, [least, limit]: [i128; 2]) -> Vec<i128> {
    let ends = |limit| [0, 1, q - 1, q, limit / 2, limit - 1, limit];
    let mut values = ends(limit).to_vec();
    values.extend(ends(-least).map(|v| -v));
    values.retain(|v| (least..=limit).contains(v));
    values
}

impl Proof {
    /// A range by its greatest size.
    fn range(&self, limit: i128) -> [i128; 2] {
        [if self.signed { -limit } else { 0 }, limit]
    }
}

/// The words of a register.
unsafe fn words<V: Lanes>(v: V) -> Vec<u64> {
    let mut out = [0; MAX_LANES];
    // SAFETY: no register has more than eight lanes.
    unsafe { v.store(out.as_mut_ptr()) };
    out[..V::LANES].to_vec()
}

unsafe fn factor_of<V: Lanes>([w, quotient]: [u64; 2]) -> Factor<V> {
    // SAFETY: the caller of `check` vouches for the instructions of `V`, all that a splat needs.
    unsafe {
        Factor {
            w: V::splat(w),
            quotient: V::splat(quotient),
        }
    }
}

/// One arithmetic at every stage number, all pairs of extreme operands, several factors.
///
/// # Safety
/// The processor has the instructions of `A::V`.
unsafe fn check<A: Arith>(proof: &Proof) {
    for bits in proof.bits {
        let q = i128::from(ntt_primes::<u64>(bits, 1 << 12, 1, Direction::Down, &[]).unwrap()[0]);
        // SAFETY: the caller vouches for the instructions of `A::V`, the contract of every method of `Arith`.
        unsafe {
            let a = A::new(q as u64);
            for w in [0, 1, 2, q / 2, q / 3, q - 2, q - 1] {
                (0..17).for_each(|s| forward(&a, proof, q, w, s));
                let stages = proof.inverse_stages[0].clone();
                stages.for_each(|s| inverse(&a, proof, q, w, s));
            }
        }
    }
}

fn reduced(x: i128, q: i128) -> i128 {
    x.rem_euclid(q)
}

unsafe fn forward<A: Arith>(a: &A, proof: &Proof, q: i128, w: i128, stage: usize) {
    let [x_limit, y_limit] = (proof.forward)(q, stage);
    let mut x_range = proof.range(x_limit);
    if !proof.signed {
        x_range[0] = (proof.forward_least)(q, stage);
    }
    for x in operands(q, x_range) {
        for y in operands(q, proof.range(y_limit)) {
            // SAFETY: the caller of `check` vouches for the instructions of `A::V`, which is the contract of `Arith`.
            let (sums, differences) = unsafe {
                let splat = |v| A::V::splat((proof.put)(v));
                let f = factor_of(A::twiddle(q as u64, w as u64));
                let (s, d) = a.forward(stage, splat(x), splat(y), f);
                // A result may be the last one, too.
                assert_eq!(
                    words(a.leave(s)),
                    vec![reduced(x + w * y, q) as u64; A::V::LANES]
                );
                assert_eq!(
                    words(a.leave(d)),
                    vec![reduced(x - w * y, q) as u64; A::V::LANES]
                );
                (words(s), words(d))
            };
            for (got, want) in sums
                .iter()
                .zip(differences)
                .flat_map(|(s, d)| [(*s, x + w * y), (d, x - w * y)])
            {
                let got = (proof.get)(got);
                assert!(
                    got.abs() <= (proof.leave)(q),
                    "stage {stage}: {x}, {y}, {w} mod {q}"
                );
                assert_eq!(
                    reduced(got - want, q),
                    0,
                    "stage {stage}: {x}, {y}, {w} mod {q}"
                );
            }
        }
    }
}

unsafe fn inverse<A: Arith>(a: &A, proof: &Proof, q: i128, w: i128, stage: usize) {
    let limit = (proof.inverse)(q, stage);
    let least = |below: fn(i128, usize) -> i128| [-below(q, stage), limit];
    let range = proof.below.map_or(proof.range(limit), least);
    for x in operands(q, range) {
        for y in operands(q, range) {
            // SAFETY: the caller of `check` vouches for the instructions of `A::V`; operands are splats.
            unsafe {
                let splat = |v| A::V::splat((proof.put)(v));
                let f = factor_of(A::twiddle(q as u64, w as u64));
                let (s, d) = a.inverse(stage, splat(x), splat(y), f);
                // Sums that leave the range of signed words are those of the words.
                let exact = |word| proof.below.map(|_| x + y).filter(|sum| *sum as u64 == word);
                let s = exact(words(s)[0]).unwrap_or((proof.get)(words(s)[0]));
                let d = (proof.get)(words(d)[0]);
                let context = format!("stage {stage}: {x}, {y}, {w} mod {q}");
                assert_eq!(reduced(s - x - y, q), 0, "{context}");
                assert_eq!(reduced(d - (x - y) * w, q), 0, "{context}");
                assert!(
                    s.abs() <= 2 * limit + 1 && d.abs() <= (proof.product)(q),
                    "{context}"
                );
                if !proof.inverse_stages[1].contains(&stage) {
                    continue;
                }
                let n_inv = (q - 1) - (q - 1) / 64;
                let last = a.inverse_last(
                    stage,
                    splat(x),
                    splat(y),
                    factor_of(A::last_twiddle(q as u64, n_inv as u64)),
                    factor_of(A::last_twiddle(q as u64, w as u64)),
                );
                assert_eq!(
                    words(last.0)[0],
                    reduced((x + y) * n_inv, q) as u64,
                    "{context}"
                );
                assert_eq!(
                    words(last.1)[0],
                    reduced((x - y) * w, q) as u64,
                    "{context}"
                );
            }
        }
    }
}

#[cfg(target_arch = "aarch64")]
#[test]
fn butterflies_are_exact_at_their_proved_bounds() {
    // SAFETY: every processor has NEON.
    unsafe {
        check::<Fma64<Neon, false>>(&fma64());
        check::<Fma64<Neon, true>>(&fma64_wide());
        check::<Mul64>(&mul64());
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn butterflies_are_exact_at_their_proved_bounds() {
    // SAFETY: each arithmetic runs only where the processor has its instructions.
    unsafe {
        if Level::Ifma.is_supported() {
            check::<Ifma52<NEVER>>(&ifma52(NEVER));
            check::<Ifma52<3>>(&ifma52(3));
            check::<Ifma52<1>>(&ifma52(1));
            check::<Ifma52Amd<NEVER>>(&ifma52_amd(NEVER));
            check::<Ifma52Amd<3>>(&ifma52_amd(3));
            check::<Ifma52Amd<1>>(&ifma52_amd(1));
        }
        if Level::Avx512.is_supported() {
            check::<Fma64<Avx512, false>>(&fma64());
            check::<Fma64<Avx512, true>>(&fma64_wide());
            check::<Mul32<Avx512, false>>(&mul32(false));
            check::<Mul32<Avx512, true>>(&mul32(true));
        }
        if Level::Avx2.is_supported() {
            check::<Fma64<Avx2, false>>(&fma64());
            check::<Fma64<Avx2, true>>(&fma64_wide());
            check::<Mont32<Avx2>>(&mont32());
            check::<Mul32<Avx2, true>>(&mul32(true));
        }
    }
}

/// What a pass leaves at the ends of its ranges: the words of sums of sums, which the butterflies' test has seen.
#[cfg(target_arch = "aarch64")]
#[test]
fn results_of_a_pass_settle_at_their_proved_bounds() {
    for bits in mul64().bits {
        let q = i128::from(ntt_primes::<u64>(bits, 1 << 12, 1, Direction::Down, &[]).unwrap()[0]);
        let (pass, product) = ([-2 * q, 10 * q], [-q / 4, 5 * q / 4]);
        let sums = |range: [i128; 2], doublings: u32| range.map(|end| end << doublings);
        // By radix and number: the ranges of both lanes. The first pass of eight has had a stage within the pair.
        for (radix, r, ranges) in [
            (2, 0, [[-q, 5 * q]; 2]),
            (4, 0, [pass; 2]),
            (4, 1, [sums(product, 1); 2]),
            (8, 0, [[0, 16 * (q - 1)], sums(product, 3)]),
            (8, 1, [sums(product, 2); 2]),
            (8, 2, [sums(product, 1); 2]),
            (8, 4, [product; 2]),
        ] {
            for (x, y) in operands(q, ranges[0])
                .into_iter()
                .zip(operands(q, ranges[1]))
            {
                // SAFETY: every processor has the instructions of pairs.
                let settled =
                    unsafe { Mul64::new(q as u64).settle(r, radix, Pair([x as u64, y as u64])) };
                for (got, want) in settled.0.into_iter().zip([x, y]) {
                    let got = i128::from(got as i64);
                    assert_eq!(reduced(got - want, q), 0, "{radix}, {r}: {want} mod {q}");
                    assert!(
                        (-q / 2..=5 * q / 2).contains(&got),
                        "{radix}, {r}: {want} mod {q}"
                    );
                }
            }
        }
    }
}
