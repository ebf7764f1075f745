// SPDX-License-Identifier: Apache-2.0
//! Everything against exact integers.

use num_bigint::{BigInt, BigUint};
use proptest::prelude::*;
use zq::primes::{Direction, ntt_primes};
use zq::{Modulus, Word, ZqError};

use crate::*;

/// A basis of the largest primes of each width, all distinct.
pub(crate) fn basis<W: Word>(n: usize, bits: &[u32], exclude: &[W]) -> RnsBasis<W> {
    let mut taken = exclude.to_vec();
    for &b in bits {
        let q = ntt_primes(b, 2 * n as u64, 1, Direction::Down, &taken).unwrap()[0];
        taken.push(q);
    }
    RnsBasis::new(n, &taken[exclude.len()..]).unwrap()
}

/// A polynomial with random coefficients; the first are extreme: 0, 1, -1, ±Q/2 and their neighbours.
pub(crate) fn poly<W: Word>(basis: &RnsBasis<W>, seed: u64) -> RnsPoly<W, Coeff> {
    let half = BigInt::from(basis.half_product().clone());
    let mut x = BigUint::from(seed | 1);
    let step =
        BigUint::from(0xDA94_2042_E4DD_58B5u64) << 64 | BigUint::from(0x1234_5678_9ABC_DEF1u64);
    let mut next = || {
        x = (&x * &step + 1u32) % (basis.product() << 70u32);
        BigInt::from(&x >> 35u32)
    };
    let mut c = vec![
        BigInt::ZERO,
        1.into(),
        (-1).into(),
        half.clone(),
        -half.clone(),
        half - 1,
    ];
    c.resize_with(basis.n(), &mut next);
    RnsPoly::from_bigints(basis, &c).unwrap()
}

fn signed(x: &BigUint) -> BigInt {
    BigInt::from(x.clone())
}

/// `x` in `-m/2 < x <= m/2`.
fn center(x: &BigInt, m: &BigUint) -> BigInt {
    let m = signed(m);
    let r = ((x % &m) + &m) % &m;
    if &r * 2 > m { r - m } else { r }
}

/// `floor((2a + b) / 2b)` for `b > 0`: `a/b` rounded.
fn round_div(a: &BigInt, b: &BigInt) -> BigInt {
    let (num, den) = (a * 2 + b, b * 2);
    let q = &num / &den;
    if &q * &den > num { q - 1 } else { q }
}

fn negacyclic(a: &[BigInt], b: &[BigInt], q: &BigUint) -> Vec<BigInt> {
    let n = a.len();
    let mut out = vec![BigInt::ZERO; n];
    for i in 0..n {
        for j in 0..n {
            let p = &a[i] * &b[j];
            if i + j < n {
                out[i + j] += p
            } else {
                out[i + j - n] -= p
            }
        }
    }
    out.iter().map(|x| center(x, q)).collect()
}

fn check_ring<W: Word>(bits: &[u32], seed: u64) {
    let q = basis::<W>(8, bits, &[]);
    let (a, b) = (poly(&q, seed), poly(&q, !seed));
    let (ia, ib) = (a.compose_centered(), b.compose_centered());
    assert_eq!(RnsPoly::from_bigints(&q, &ia).unwrap(), a);
    let map = |f: &dyn Fn(&BigInt, &BigInt) -> BigInt| -> Vec<BigInt> {
        ia.iter()
            .zip(&ib)
            .map(|(x, y)| center(&f(x, y), q.product()))
            .collect()
    };
    assert_eq!(a.add(&b).compose_centered(), map(&|x, y| x + y));
    assert_eq!(a.sub(&b).compose_centered(), map(&|x, y| x - y));
    assert_eq!(a.neg().compose_centered(), map(&|x, _| -x));
    let mut c = a.clone();
    c.scalar_mul_assign(-7);
    assert_eq!(c.compose_centered(), map(&|x, _| x * -7));
    let (ea, eb) = (a.clone().to_eval(), b.clone().to_eval());
    let product = negacyclic(&ia, &ib, q.product());
    assert_eq!(ea.mul(&eb).to_coeff().compose_centered(), product);
    let mut acc = ea.clone();
    acc.mul_add_assign(&ea, &eb);
    assert_eq!(acc.to_coeff(), ea.mul(&eb).to_coeff().add(&a));
    check_automorphisms(&q, &a, &ia);
}

fn check_automorphisms<W: Word>(q: &RnsBasis<W>, a: &RnsPoly<W, Coeff>, ia: &[BigInt]) {
    let n = q.n();
    for g in (1..2 * n).step_by(2) {
        let auto = Automorphism::new(n, g).unwrap();
        let mut want = vec![BigInt::ZERO; n];
        for (i, c) in ia.iter().enumerate() {
            let e = (i * g) % (2 * n);
            want[e % n] = if e < n { c.clone() } else { -c };
        }
        let want = RnsPoly::from_bigints(q, &want).unwrap();
        assert_eq!(a.automorphism(&auto), want, "coefficients, g = {g}");
        assert_eq!(
            a.clone().to_eval().automorphism(&auto).to_coeff(),
            want,
            "values, g = {g}"
        );
    }
}

/// Centred conversion equals the exact one except within 2^-40 of the seam, where it may be off by Q.
fn check_conversion<W: Word>(n: usize, from: &[u32], to: &[u32], seed: u64) {
    let q = basis::<W>(n, from, &[]);
    let p = basis::<W>(n, to, &q.values());
    let converter = BaseConverter::new(&q, &p).unwrap();
    let x = poly(&q, seed);
    let exact = BaseConverter::convert_exact_vt(&x, &p).unwrap();
    let got = converter.convert(&x, &p);
    for (c, value) in x.compose_centered().iter().enumerate() {
        let column = |x: &RnsPoly<W, Coeff>| x.limbs().map(|l| l[c]).collect::<Vec<_>>();
        let gap = signed(q.half_product()) - BigInt::from(value.magnitude().clone());
        if gap << 30 > signed(q.product()) {
            assert_eq!(column(&got), column(&exact), "coefficient {value}");
        } else {
            let flipped = if value.sign() == num_bigint::Sign::Minus {
                value + signed(q.product())
            } else {
                value - signed(q.product())
            };
            let (near, far) = (p.decompose(value), p.decompose(&flipped));
            assert!(
                column(&got) == near || column(&got) == far,
                "coefficient {value}"
            );
        }
    }
}

fn check_scaling<W: Word>(n: usize, drop: &[u32], keep: &[u32], t: u64, seed: u64) {
    let d = basis::<W>(n, drop, &[]);
    let k = basis::<W>(n, keep, &d.values());
    let scaler = ScaleRounder::new(&d, &k, t).unwrap();
    let head = d.concat(&k).unwrap();
    let x = poly(&head, seed);
    let got = scaler.scale_head(&x);
    let divisor = signed(d.product());
    for (c, value) in x.compose_centered().iter().enumerate() {
        let numerator = value * t;
        let exact = round_div(&numerator, &divisor);
        let column: Vec<W> = got.limbs().map(|l| l[c]).collect();
        let off = center(&(numerator - &exact * &divisor), d.product());
        let seam = signed(d.half_product()) - BigInt::from(off.magnitude().clone());
        let near = (-1..=1).any(|e| k.decompose(&(&exact + e)) == column);
        let exactly = k.decompose(&exact) == column;
        assert!(
            exactly || (near && seam << 30 <= divisor),
            "round({t} * {value} / D)"
        );
    }
    // Dropped limbs last, and the same in evaluation form.
    let tail = k.concat(&d).unwrap();
    let swapped = RnsPoly::from_bigints(&tail, &x.compose_centered()).unwrap();
    assert_eq!(scaler.scale_tail(&swapped), got);
    let (kept, dropped) = swapped.data().split_at(k.len() * n);
    // Some of the kept limbs.
    for first in 0..k.len() {
        let mut out = vec![W::ZERO; kept.len() - first * n];
        let some = (first, &mut out[..]);
        scaler.scale_some_into(dropped, &kept[first * n..], some, &mut Scratch::new());
        assert_eq!(out, got.data()[first * n..]);
    }
    let mut eval = RnsPoly::<W, Coeff>::from_limbs(&k, kept).unwrap().to_eval();
    let mut work = vec![W::ZERO; kept.len()];
    scaler.scale_eval_assign(dropped, eval.data_mut(), &mut work, &mut Scratch::new());
    assert_eq!(eval.to_coeff(), got);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn u64_ring_operations(bits in proptest::collection::vec(14u32..=62, 1..6), seed in any::<u64>()) {
        check_ring::<u64>(&bits, seed);
    }

    #[test]
    fn u128_ring_operations(bits in proptest::collection::vec(65u32..=128, 1..4), seed in any::<u64>()) {
        check_ring::<u128>(&bits, seed);
    }

    #[test]
    fn u64_conversion(
        from in proptest::collection::vec(14u32..=62, 1..8),
        to in proptest::collection::vec(14u32..=62, 1..4),
        seed in any::<u64>(),
    ) {
        // Near-equal widths: the bound of v is relative to the narrowest modulus.
        let base = from[0];
        let from: Vec<u32> = from.iter().map(|b| (base + b % 4).min(62)).collect();
        check_conversion::<u64>(8, &from, &to, seed);
        check_scaling::<u64>(8, &from, &to, 1, seed);
        check_scaling::<u64>(8, &from, &to, seed >> 4 | 1, seed);
    }

    #[test]
    fn u128_conversion(from in 65u32..=126, to in 65u32..=128, seed in any::<u64>()) {
        check_conversion::<u128>(8, &[from, from + 1, from + 2], &[to, to], seed);
        check_scaling::<u128>(8, &[from, from + 2], &[to, to], seed >> 4 | 1, seed);
    }
}

#[test]
fn longer_automorphisms_agree_in_both_domains() {
    for n in [16, 64, 512] {
        let q = basis::<u64>(n, &[40, 62], &[]);
        let a = poly(&q, 21);
        for g in [3, 5, n - 1, n + 1, 2 * n - 1, 2 * n - 3] {
            let auto = Automorphism::new(n, g).unwrap();
            let values = a.clone().to_eval().automorphism(&auto);
            assert_eq!(values.to_coeff(), a.automorphism(&auto), "n = {n}, g = {g}");
        }
    }
}

/// Long enough for the vector loops, in and out of their range.
#[test]
fn longer_conversions() {
    for (from, to) in [
        (&[30; 6][..], &[30; 7][..]),
        (&[46, 46, 45], &[50, 46]),
        (&[60, 60], &[50]),
        (&[50; 9], &[49]),
    ] {
        check_conversion::<u64>(64, from, to, 11);
        check_scaling::<u64>(64, from, to, 65537, 12);
    }
}

#[test]
fn many_wide_limbs_do_not_overflow_the_lazy_sums() {
    check_conversion::<u64>(8, &[62; 40], &[62; 3], 3);
    check_scaling::<u64>(8, &[62; 40], &[62; 3], (1 << 60) - 1, 4);
}

/// Decryption's scaling to a plaintext modulus, even ones included.
#[test]
fn scaling_to_a_plaintext_modulus_decodes_a_noisy_message() {
    let q = basis::<u64>(64, &[36, 36], &[]);
    for t in [2u64, 33, 65537, 1 << 20, (1 << 30) - 1] {
        let modulus = Modulus::new(t).unwrap();
        let scaler = ScaleRounder::to_modulus(&q, modulus, t).unwrap();
        let delta = signed(q.product()) / t;
        let messages: Vec<u64> = (0..64).map(|i| (i * 0x9E37_79B9 + t - 1) % t).collect();
        let noisy = |(i, &m): (usize, &u64)| &delta * m + (i as i64 * 1000 - 31_000);
        let x: Vec<BigInt> = messages.iter().enumerate().map(noisy).collect();
        let x = RnsPoly::from_bigints(&q, &x).unwrap();
        let mut out = vec![0; 64];
        scaler.scale_dropped_into(x.data(), &mut out, &mut Scratch::new());
        assert_eq!(out, messages, "t = {t}");
    }
    let t = Modulus::new(33).unwrap();
    assert!(matches!(
        ScaleRounder::to_modulus(&q, t, 32),
        Err(RnsError::MissingResidues { .. })
    ));
}

#[test]
fn bases_join_and_part_and_refuse_what_is_wrong() {
    let q = basis::<u64>(16, &[30, 31, 32, 33], &[]);
    assert_eq!(
        q.prefix(2)
            .unwrap()
            .concat(&q.range(2..4).unwrap())
            .unwrap(),
        q
    );
    assert_eq!(q.drop_last(1).unwrap(), q.prefix(3).unwrap());
    assert_eq!(
        q.prefix(0),
        Err(RnsError::BadRange {
            start: 0,
            end: 0,
            len: 4
        })
    );
    assert_eq!(
        q.prefix(5),
        Err(RnsError::BadRange {
            start: 0,
            end: 5,
            len: 4
        })
    );
    let first = q.modulus(0).value();
    let repeated = RnsError::RepeatedModulus {
        modulus: first.into(),
    };
    assert_eq!(q.concat(&q), Err(repeated));
    assert_eq!(RnsBasis::<u64>::new(16, &[]), Err(RnsError::EmptyBasis));
    let other = basis::<u64>(32, &[30], &[]);
    assert_eq!(
        q.concat(&other),
        Err(RnsError::DegreeMismatch {
            left: 16,
            right: 32
        })
    );
    assert_eq!(
        Automorphism::new(16, 4),
        Err(RnsError::BadGaloisElement { g: 4, n: 16 })
    );
    assert!(matches!(
        ScaleRounder::new(&q, &q, 1),
        Err(RnsError::NotCoprime { .. })
    ));
    let far = basis::<u64>(16, &[60, 20], &[]);
    let too_far = |error: RnsError| {
        assert!(matches!(
            error,
            RnsError::Modulus(ZqError::WidthsTooFarApart { most: 39, .. })
        ));
    };
    too_far(BaseConverter::new(&far, &q).unwrap_err());
    too_far(ScaleRounder::new(&far, &q, 1).unwrap_err());
    too_far(ScaleRounder::to_modulus(&far, Modulus::new(33).unwrap(), 33).unwrap_err());
    // Digits of a mixed radix take any widths.
    ScaleRounder::mixed_radix(&far, &q).unwrap();
    let mut limbs = vec![0; 64];
    limbs[17] = u64::MAX;
    let bad = RnsPoly::<u64, Coeff>::from_limbs(&q, &limbs);
    assert!(matches!(
        bad,
        Err(RnsError::NotReduced {
            limb: 1,
            index: 1,
            ..
        })
    ));
    let short = RnsPoly::<u64, Coeff>::from_limbs(&q, &limbs[1..]);
    assert_eq!(
        short,
        Err(RnsError::BadLength {
            got: 63,
            wanted: 64
        })
    );
}

#[test]
fn zeroize_wipes_and_debug_hides() {
    use zeroize::Zeroize;
    let q = basis::<u64>(8, &[30], &[]);
    let mut a = poly(&q, 9);
    assert_eq!(format!("{a:?}"), "RnsPoly<Coeff>(n = 8, 1 limbs)");
    a.zeroize();
    assert_eq!(a, RnsPoly::zeros(&q));
}

#[test]
fn blocks_are_converted_as_the_whole_is() {
    for bits in [&[45, 46, 45][..], &[60, 59], &[30, 50, 20, 40]] {
        for n in [8, 64, 512, 1024] {
            let from = basis::<u64>(n, bits, &[]);
            let to = basis::<u64>(n, &[46, 45, 61], &from.values());
            let converter = BaseConverter::new(&from, &to).unwrap();
            let x = poly(&from, 9);
            let want = converter.convert(&x, &to);
            for runs in [1usize, 2, 4, 8] {
                let run = n / runs;
                let columns = run.min(BaseConverter::<u64>::BLOCK / runs);
                let mut scratch = Scratch::new();
                for start in (0..run).step_by(columns) {
                    let block = converter.block(x.data(), (runs, columns), start, &mut scratch);
                    for j in 0..3 {
                        let mut out = vec![0; runs * columns];
                        block.output(j, &mut out);
                        for (r, out) in out.chunks_exact(columns).enumerate() {
                            let want = &want.limb(j)[r * run + start..][..columns];
                            assert_eq!(out, want, "{bits:?}, n = {n}, {runs} runs at {start}");
                        }
                    }
                }
            }
        }
    }
}
