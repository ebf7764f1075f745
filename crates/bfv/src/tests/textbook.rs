// SPDX-License-Identifier: Apache-2.0
//! Residues against the textbook: big integers, schoolbook products, exact division.

use super::*;
use num_bigint::{BigInt, BigUint};
use num_traits::Zero;
use rns::{Coeff, RnsPoly};

/// Products modulo x^n + 1 over the integers.
fn schoolbook(a: &[BigInt], b: &[BigInt]) -> Vec<BigInt> {
    let n = a.len();
    let mut out = vec![BigInt::zero(); n];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            if i + j < n {
                out[i + j] += x * y
            } else {
                out[i + j - n] -= x * y
            }
        }
    }
    out
}

/// round(numerator·x/denominator), halves up.
fn round(x: &BigInt, numerator: &BigUint, denominator: &BigUint) -> BigInt {
    let denominator = BigInt::from(denominator.clone());
    let doubled = x * BigInt::from(numerator.clone()) * 2 + &denominator;
    num_integer_floor(&doubled, &(denominator * 2))
}

fn num_integer_floor(a: &BigInt, b: &BigInt) -> BigInt {
    let (quotient, remainder) = (a / b, a % b);
    if remainder < BigInt::zero() {
        quotient - 1
    } else {
        quotient
    }
}

fn exact<W: Word>(basis: &rns::RnsBasis<W>, x: &[BigInt]) -> RnsPoly<W, Coeff> {
    RnsPoly::from_bigints(basis, x).unwrap()
}

fn tensor(a: &[Vec<BigInt>], b: &[Vec<BigInt>]) -> Vec<Vec<BigInt>> {
    let add = |x: Vec<BigInt>, y: Vec<BigInt>| x.into_iter().zip(y).map(|(x, y)| x + y).collect();
    let middle: Vec<BigInt> = add(schoolbook(&a[0], &b[1]), schoolbook(&a[1], &b[0]));
    vec![schoolbook(&a[0], &b[0]), middle, schoolbook(&a[1], &b[1])]
}

fn check_products<W: Word>(params: BfvParams<W>) {
    let kit = Kit::new(params);
    let (n, t) = (kit.params.n(), BigUint::from(kit.params.plain_modulus()));
    let limbs = kit.params.rlwe().data_primes();
    let q = kit.params.rlwe().q().clone();
    let bound = kit.params.plain_modulus();
    let (a, b) = (
        kit.encrypt(&values("a", n, bound)),
        kit.encrypt(&values("b", n, bound)),
    );
    let centred = |ct: &Ciphertext<W>| {
        ct.parts()
            .iter()
            .map(|p| p.compose_centered())
            .collect::<Vec<_>>()
    };
    let expect = |parts: Vec<Vec<BigInt>>, over: &BigUint| -> Vec<RnsPoly<W, Coeff>> {
        let scaled = |x: &BigInt| round(x, &t, over);
        parts
            .iter()
            .map(|p| exact(&q, &p.iter().map(scaled).collect::<Vec<_>>()))
            .collect()
    };
    let hps = kit
        .evaluator
        .clone()
        .with_algorithm(MultiplyAlgorithm::Hps)
        .multiply(&a, &b)
        .unwrap();
    assert_eq!(
        hps.parts(),
        expect(tensor(&centred(&a), &centred(&b)), q.product())
    );
    // HPSPOVERQ: the second operand is rounded to modulus P first.
    let p = kit.params.over_q_basis(limbs).unwrap();
    let half = BigInt::from(p.half_product().clone());
    let modulus = BigInt::from(p.product().clone());
    let switch = |x: &BigInt| {
        let y = round(x, p.product(), q.product());
        if y > half { y - &modulus } else { y }
    };
    let switched: Vec<Vec<BigInt>> = centred(&b)
        .iter()
        .map(|x| x.iter().map(switch).collect())
        .collect();
    let over_q = kit
        .evaluator
        .clone()
        .with_algorithm(MultiplyAlgorithm::HpsOverQ)
        .multiply(&a, &b)
        .unwrap();
    assert_eq!(
        over_q.parts(),
        expect(tensor(&centred(&a), &switched), p.product())
    );
}

#[test]
fn products_have_the_textbook_residues() {
    for bits in [14, 20, 30, 36, 46, 50, 61, 62] {
        check_products(params::<u64>(
            16,
            &vec![bits; 120usize.div_ceil(bits as usize)],
            &[],
            97,
        ));
    }
    for bits in [64, 107, 128] {
        check_products(params::<u128>(8, &[bits, bits], &[], 65537));
    }
    check_products(params::<u64>(8, &[60, 60], &[], 2));
    check_products(params::<u64>(8, &[60, 60, 60, 60], &[], (1 << 60) - 1));
}

#[test]
fn scaling_and_decryption_round_exactly() {
    for t in [2, 33, 97, 1 << 20, (1 << 59) + 1] {
        let kit = Kit::new(params::<u64>(16, &[61, 61], &[], t));
        let m = values("m", 16, t);
        let plain = Plaintext::from_coefficients(&kit.params, &m).unwrap();
        let trivial = kit.evaluator.trivial(&plain).unwrap();
        let q = kit.params.rlwe().q().product().clone();
        let scaled: Vec<BigInt> = m
            .iter()
            .map(|x| round(&BigInt::from(*x), &q, &BigUint::from(t)))
            .collect();
        assert_eq!(
            trivial.parts()[0],
            exact(kit.params.rlwe().q(), &scaled),
            "t = {t}"
        );
        // Noise just inside the limit ±Q/2t does not change the message (the quotient's fraction has some 45 bits).
        let limit = BigInt::from(&q / (2 * t));
        let limit: BigInt = &limit - (&limit >> 40u32);
        let noisy = |sign: i32| scaled.iter().map(|x| x + &limit * sign).collect::<Vec<_>>();
        for sign in [1, -1] {
            let c0 = exact(kit.params.rlwe().q(), &noisy(sign));
            let zero = RnsPoly::zeros(kit.params.rlwe().q());
            let ct =
                Ciphertext::from_parts(&kit.params, rlwe::KeyId::NONE, vec![c0, zero]).unwrap();
            assert_eq!(kit.decrypt(&ct), m, "t = {t}");
        }
    }
}

#[test]
fn modulus_switching_rounds_exactly() {
    let kit = Kit::new(params::<u64>(16, &[40, 45, 50], &[], 97));
    let ct = kit.encrypt(&values("m", 16, 97));
    let last = BigUint::from(kit.params.rlwe().q().values()[2]);
    let lower = kit.evaluator.mod_switch(&ct).unwrap();
    for (part, low) in ct.parts().iter().zip(lower.parts()) {
        let one = BigUint::from(1u32);
        let rounded: Vec<BigInt> = part
            .compose_centered()
            .iter()
            .map(|x| round(x, &one, &last))
            .collect();
        assert_eq!(low, &exact(low.basis(), &rounded));
    }
}
