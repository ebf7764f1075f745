// SPDX-License-Identifier: Apache-2.0
//! Every butterfly at the bounds that its proof allows: whole transforms of residues rarely come near them.
//!
//! Operands are 0, 1, q and the ends of the proved range; each result must be the exact one modulo q and stay inside
//! the range proved for it. Debug builds also run the assertions beside the proofs.

use zq::primes::{Direction, ntt_primes};
#[cfg(target_arch = "aarch64")]
use zq::simd::Neon;
#[cfg(target_arch = "x86_64")]
use zq::simd::{Avx2, Avx512, Level};
use zq::simd::{Lanes, MAX_LANES};

use super::arith::{Arith, Factor};
use super::fma64::Fma64;
#[cfg(target_arch = "x86_64")]
use super::ifma52::{Ifma52, NEVER};
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
    /// Of a value after the last forward stage.
    leave: fn(q: i128) -> i128,
    /// Of a value before inverse stage `s`.
    inverse: fn(q: i128, s: usize) -> i128,
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
        leave: |q| 35 * q - 1,
        inverse: |q, s| (q << s) - 1,
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

fn fma64() -> Proof {
    Proof {
        bits: [48, 20],
        signed: true,
        forward: |q, _| [17 * q; 2],
        leave: |q| 18 * q,
        // From q doubling within vectors; reduced to q/2 and a little, then doubling again.
        inverse: |q, s| {
            if s < 3 {
                q << s
            } else {
                (q / 2 + q / 16) << (s - 3)
            }
        },
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
        inverse: |q, s| {
            if s < 3 {
                q << s
            } else {
                (q / 2 + 2) << (s - 3)
            }
        },
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
        leave: |q| 16 * q - 1,
        inverse: |q, _| 4 * q - 1,
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

#[cfg(target_arch = "aarch64")]
fn mul64() -> Proof {
    /// Of values that are any word.
    const ALL: i128 = (1 << 63) - 1;
    Proof {
        bits: [60, 51],
        signed: true,
        forward: |q, s| [[ALL, 5 * q / 2, 15 * q / 4, 5 * q][s % 4], ALL],
        leave: |q| 25 * q / 4,
        inverse: |q, _| 5 * q / 2,
        product: |q| 5 * q / 4,
        put: |v| v as i64 as u64,
        get: |word| (word as i64).into(),
    }
}

/// The ends of a range and what lies between.
fn operands(proof: &Proof, q: i128, limit: i128) -> Vec<i128> {
    let mut values = vec![0, 1, q - 1, q, limit / 2, limit - 1, limit];
    values.retain(|v| *v <= limit);
    if proof.signed {
        values.extend(values.clone().iter().map(|v| -v));
    }
    values
}

/// The words of a register.
unsafe fn words<V: Lanes>(v: V) -> Vec<u64> {
    let mut out = [0; MAX_LANES];
    // SAFETY: no register has more than eight lanes.
    unsafe { v.store(out.as_mut_ptr()) };
    out[..V::LANES].to_vec()
}

unsafe fn factor<A: Arith>(q: i128, w: i128) -> Factor<A::V> {
    let [w, quotient] = A::twiddle(q as u64, w as u64);
    // SAFETY: the caller of `check` vouches for the instructions of `A::V`, all that a splat needs.
    unsafe {
        Factor {
            w: A::V::splat(w),
            quotient: A::V::splat(quotient),
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
                (0..6).for_each(|s| inverse(&a, proof, q, w, s));
            }
        }
    }
}

fn reduced(x: i128, q: i128) -> i128 {
    x.rem_euclid(q)
}

unsafe fn forward<A: Arith>(a: &A, proof: &Proof, q: i128, w: i128, stage: usize) {
    let [x_limit, y_limit] = (proof.forward)(q, stage);
    for x in operands(proof, q, x_limit) {
        for y in operands(proof, q, y_limit) {
            // SAFETY: the caller of `check` vouches for the instructions of `A::V`, which is the contract of `Arith`.
            let (sums, differences) = unsafe {
                let splat = |v| A::V::splat((proof.put)(v));
                let (s, d) = a.forward(stage, splat(x), splat(y), factor::<A>(q, w));
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
    for x in operands(proof, q, limit) {
        for y in operands(proof, q, limit) {
            // SAFETY: the caller of `check` vouches for the instructions of `A::V`; operands are splats.
            unsafe {
                let splat = |v| A::V::splat((proof.put)(v));
                let (s, d) = a.inverse(stage, splat(x), splat(y), factor::<A>(q, w));
                let [s, d] = [s, d].map(|v| (proof.get)(words(v)[0]));
                let context = format!("stage {stage}: {x}, {y}, {w} mod {q}");
                assert_eq!(reduced(s - x - y, q), 0, "{context}");
                assert_eq!(reduced(d - (x - y) * w, q), 0, "{context}");
                assert!(
                    s.abs() <= 2 * limit + 1 && d.abs() <= (proof.product)(q),
                    "{context}"
                );
                let n_inv = (q - 1) - (q - 1) / 64;
                let last = a.inverse_last(
                    stage,
                    splat(x),
                    splat(y),
                    factor::<A>(q, n_inv),
                    factor::<A>(q, w),
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
            check::<Mul32<Avx2, false>>(&mul32(false));
            check::<Mul32<Avx2, true>>(&mul32(true));
        }
    }
}
