// SPDX-License-Identifier: Apache-2.0
//! The transform against its definition and the schoolbook product.

use proptest::prelude::*;
use zq::primes::{Direction, ntt_primes};
use zq::{Modulus, Word};

use crate::{NttError, NttPlan, eval_exponent};

/// A plan for the largest prime of a width.
pub(crate) fn plan<W: Word>(bits: u32, n: usize) -> NttPlan<W> {
    let q = ntt_primes(bits, 2 * n as u64, 1, Direction::Down, &[]).unwrap()[0];
    NttPlan::new(Modulus::new(q).unwrap(), n).unwrap()
}

/// Pseudo-random residues from a linear congruential generator.
pub(crate) fn residues<W: Word>(m: &Modulus<W>, n: usize, seed: u64) -> Vec<W> {
    let mut x = seed as u128 | 1 << 100;
    let mut next = || {
        x = x
            .wrapping_mul(0xDA94_2042_E4DD_58B5_DA94_2042_E4DD_58B5)
            .wrapping_add(99);
        x >> 3 ^ x << 64
    };
    (0..n).map(|_| m.reduce_u128(next())).collect()
}

fn negacyclic<W: Word>(m: &Modulus<W>, a: &[W], b: &[W]) -> Vec<W> {
    let n = a.len();
    let mut out = vec![W::ZERO; n];
    for (i, &x) in a.iter().enumerate() {
        for (j, &y) in b.iter().enumerate() {
            let p = m.mul(x, y);
            let k = (i + j) % n;
            out[k] = if i + j < n {
                m.add(out[k], p)
            } else {
                m.sub(out[k], p)
            };
        }
    }
    out
}

fn check_product<W: Word>(p: &NttPlan<W>, a: &[W], b: &[W]) {
    let m = p.modulus();
    let (mut fa, mut fb) = (a.to_vec(), b.to_vec());
    p.forward(&mut fa);
    p.forward(&mut fb);
    assert!(m.all_reduced(&fa));
    m.mul_assign(&mut fa, &fb);
    p.inverse(&mut fa);
    assert_eq!(fa, negacyclic(m, a, b), "q = {}", m.value());
}

fn check_width<W: Word>(bits: u32, n: usize, seed: u64) {
    let p = plan::<W>(bits, n);
    let (a, b) = (
        residues(p.modulus(), n, seed),
        residues(p.modulus(), n, !seed),
    );
    check_product(&p, &a, &b);
    let top = vec![p.modulus().value().wrapping_sub(W::ONE); n];
    check_product(&p, &top, &a);
    check_product(&p, &top, &top);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn u64_product_is_the_schoolbook_product(bits in 14u32..=62, log_n in 3u32..=7, seed in any::<u64>()) {
        check_width::<u64>(bits, 1 << log_n, seed);
    }

    #[test]
    fn u128_product_is_the_schoolbook_product(bits in 65u32..=128, log_n in 3u32..=5, seed in any::<u64>()) {
        check_width::<u128>(bits, 1 << log_n, seed);
    }
}

#[test]
fn output_j_is_the_value_at_the_documented_power_of_psi() {
    let p = plan::<u64>(30, 32);
    let m = *p.modulus();
    let a = residues(&m, 32, 5);
    let mut f = a.clone();
    p.forward(&mut f);
    for (j, &value) in f.iter().enumerate() {
        let x = m.pow(p.psi(), eval_exponent(j, 5) as u64);
        assert_eq!(value, a.iter().rev().fold(0, |r, &c| m.mul_add(c, r, x)));
    }
}

#[test]
fn psi_is_the_smallest_primitive_root() {
    for (q, n) in [(257u64, 8usize), (7681, 16), (12289, 64), (65537, 128)] {
        let m = Modulus::new(q).unwrap();
        let p = NttPlan::new(m, n).unwrap();
        let first = (2..q).find(|&x| m.pow(x, n as u64) == q - 1).unwrap();
        assert_eq!(p.psi(), first);
        assert_eq!(m.mul(p.n_inv(), n as u64), 1);
        assert_eq!(m.mul(p.psi_rev()[5], p.psi_inv_rev()[5]), 1);
    }
}

#[test]
fn every_length_round_trips() {
    for log_n in 3..=17 {
        for bits in [36, 62] {
            let p = plan::<u64>(bits, 1 << log_n);
            let a = residues(p.modulus(), 1 << log_n, 77);
            let mut f = a.clone();
            p.forward(&mut f);
            assert_ne!(f, a);
            p.inverse(&mut f);
            assert_eq!(f, a, "n = 2^{log_n}, {bits} bits");
        }
    }
    for bits in [109, 126, 127, 128] {
        let p = plan::<u128>(bits, 4096);
        let a = residues(p.modulus(), 4096, 78);
        let mut f = a.clone();
        p.forward(&mut f);
        p.inverse(&mut f);
        assert_eq!(f, a, "{bits} bits");
        p.forward(&mut f);
        let mut out = vec![1u128; 4096];
        p.inverse_from(&f, &mut out);
        assert_eq!(out, a, "{bits} bits, from elsewhere");
    }
}

#[test]
fn impossible_plans_are_typed_errors() {
    let plan = |q: u64, n| NttPlan::new(Modulus::new(q).unwrap(), n).err();
    assert_eq!(
        plan(257, 12),
        Some(NttError::BadLength {
            n: 12,
            min: 8,
            max: 1 << 17
        })
    );
    assert_eq!(
        plan(257, 4),
        Some(NttError::BadLength {
            n: 4,
            min: 8,
            max: 1 << 17
        })
    );
    assert_eq!(
        plan(257, 256),
        Some(NttError::NotNttFriendly {
            modulus: 257,
            order: 512
        })
    );
    assert_eq!(plan(33, 16), Some(NttError::NotPrime { modulus: 33 }));
}
