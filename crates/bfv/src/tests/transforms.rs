// SPDX-License-Identifier: Apache-2.0
//! Linear transforms against clear arithmetic, single operations and the estimate.

use super::*;
use crate::linear_transform::{ExtendedPlaintext, Giant, LinearTransform, Term};
use crate::noise::Estimator;
use rlwe::noise::{Gain, GiantFacts};

/// Rotations of giant steps, and of each of their terms.
type Steps<'a> = &'a [(i64, &'a [i64])];

const STEPS: [Steps<'_>; 6] = [
    &[(0, &[0])],
    &[(0, &[1])],
    &[(2, &[0])],
    &[(0, &[0, 1, 2, 3, -1, 1])],
    &[(0, &[0, 1, 2]), (3, &[0, 1, 2]), (-1, &[2])],
    &[(4, &[1]), (4, &[1, 0]), (0, &[0]), (0, &[0, 3])],
];

/// Both rows rotated left.
fn rotated(slots: &[u64], steps: i64) -> Vec<u64> {
    let half = slots.len() / 2;
    let mut out = slots.to_vec();
    for row in out.chunks_exact_mut(half) {
        row.rotate_left(steps.rem_euclid(half as i64) as usize);
    }
    out
}

fn transform<'a, W: Word>(
    steps: Steps<'_>,
    factors: &'a [ExtendedPlaintext<W>],
) -> LinearTransform<'a, W> {
    let mut next = factors.iter();
    let mut giant = |(rotation, terms): &(i64, &[i64])| Giant {
        rotation: *rotation,
        terms: terms
            .iter()
            .map(|rotation| Term {
                rotation: *rotation,
                plaintext: next.next(),
            })
            .collect(),
    };
    LinearTransform {
        giants: steps.iter().map(&mut giant).collect(),
    }
}

fn clear(steps: Steps<'_>, x: &[u64], factors: &[Vec<u64>], t: u64) -> Vec<u64> {
    let zip = |a: &[u64], b: &[u64], f: fn(u128, u128) -> u128| -> Vec<u64> {
        let op = |(a, b): (&u64, &u64)| (f(u128::from(*a), u128::from(*b)) % u128::from(t)) as u64;
        a.iter().zip(b).map(op).collect()
    };
    let mut next = factors.iter();
    let mut total = vec![0; x.len()];
    for (giant, terms) in steps {
        let mut sum = vec![0; x.len()];
        for term in *terms {
            let mut y = rotated(x, *term);
            if let Some(factor) = next.next() {
                y = zip(&y, factor, |a, b| a * b);
            }
            sum = zip(&sum, &y, |a, b| a + b);
        }
        total = zip(&total, &rotated(&sum, *giant), |a, b| a + b);
    }
    total
}

fn check<W: Word>(kit: &Kit<W>) {
    let (n, t) = (kit.params.n(), kit.params.plain_modulus());
    let encoder = BatchEncoder::new(&kit.params).unwrap();
    let x = values("x", n, t);
    let top = kit.encryptor.encrypt(&encoder.encode(&x).unwrap()).unwrap();
    let estimator = Estimator::new(&kit.params);
    for steps in STEPS {
        let count = steps.iter().map(|(_, terms)| terms.len()).sum();
        let factors: Vec<_> = (0..count).map(|k| values(&format!("f{k}"), n, t)).collect();
        for limbs in [top.limbs(), top.limbs() - 1] {
            let ct = kit.evaluator.mod_switch_to(&top, limbs).unwrap();
            let mut fresh = estimator.fresh_public();
            if limbs < top.limbs() {
                fresh = estimator.mod_switch(fresh, top.limbs(), 2).unwrap();
            }
            for factors in [&[][..], &factors[..]] {
                let plain: Vec<_> = factors.iter().map(|f| encoder.encode(f).unwrap()).collect();
                let extended: Vec<_> = factors
                    .iter()
                    .map(|f| encoder.encode_extended(f, limbs).unwrap())
                    .collect();
                let t_steps = transform(steps, &extended);
                let got = kit
                    .evaluator
                    .linear_transform(&ct, &t_steps, &kit.galois)
                    .unwrap();
                let mut gains = plain.iter().map(Plaintext::gain);
                let mut giant = |(rotation, terms): &(i64, &[i64])| -> GiantFacts<Gain> {
                    let term = |k: &i64| (*k != 0, gains.next());
                    (*rotation != 0, terms.iter().map(term).collect())
                };
                let giants: Vec<_> = steps.iter().map(&mut giant).collect();
                let noise = estimator.linear_transform(fresh, &giants, limbs).unwrap();
                let what = format!(
                    "n = {n}, {limbs} primes, {steps:?}, {} factors",
                    factors.len()
                );
                let (measured, bound) = (
                    kit.decryptor.noise_bits(&got).unwrap(),
                    estimator.log2_bound(noise),
                );
                if estimator.budget(noise, limbs).unwrap() > 0.0 {
                    assert!(
                        measured <= bound,
                        "{what}: 2^{measured:.1} above 2^{bound:.1}"
                    );
                    let slots = encoder
                        .decode(&kit.decryptor.decrypt(&got).unwrap())
                        .unwrap();
                    assert_eq!(slots, clear(steps, &x, factors, t), "{what}");
                } else {
                    assert_eq!(kit.params.rlwe().special_primes(), 0, "{what}: no room");
                }
                for count in [2, 3] {
                    let threads = rlwe::Threads::new(count).unwrap();
                    let ev = kit.evaluator.clone().with_threads(threads);
                    assert_eq!(
                        ev.linear_transform(&ct, &t_steps, &kit.galois).unwrap(),
                        got
                    );
                }
            }
        }
    }
}

#[test]
fn transforms_equal_their_definition_within_the_estimate() {
    check(&Kit::new(params::<u64>(32, &[40, 40, 41], &[42], 193)));
    check(&Kit::new(params::<u64>(16, &[36; 4], &[], 97)));
    check(&Kit::new(params::<u64>(1024, &[50, 50], &[51], 12289)));
    check(&Kit::new(params::<u128>(16, &[107, 90], &[108], 97)));
    let mut wide = params::<u64>(64, &[50, 50, 50], &[51, 52], 257).literal();
    wide.rlwe.dnum = 2;
    check(&Kit::new(
        BfvParams::new(&wide, SecurityPolicy::insecure()).unwrap(),
    ));
}

#[test]
fn steps_that_do_not_go_together_are_refused() {
    let kit = Kit::new(params::<u64>(16, &[40, 41], &[42], 97));
    let encoder = BatchEncoder::new(&kit.params).unwrap();
    let ct = kit.encrypt(&[1, 2]);
    let run = |ct: &Ciphertext<u64>, giants| {
        let t = LinearTransform { giants };
        kit.evaluator
            .linear_transform(ct, &t, &kit.galois)
            .unwrap_err()
    };
    let giant = |rotation, terms: &[(i64, Option<_>)]| Giant {
        rotation,
        terms: terms
            .iter()
            .map(|&(rotation, plaintext)| Term {
                rotation,
                plaintext,
            })
            .collect(),
    };
    let good = encoder.encode_extended(&[1], 2).unwrap();
    let low = encoder.encode_signed_extended(&[-1], 1).unwrap();
    assert_eq!((good.limbs(), low.limbs()), (2, 1));
    let says = |error: Error, parts: &[&str]| {
        let text = error.to_string();
        assert!(
            !text.contains('\n') && parts.iter().all(|p| text.contains(p)),
            "{text}"
        );
    };
    says(run(&ct, vec![]), &["term 0 of giant step 0", "missing"]);
    says(
        run(&ct, vec![giant(0, &[(0, None)]), giant(1, &[])]),
        &["giant step 1", "missing"],
    );
    let mixed = vec![giant(0, &[(0, Some(&good)), (1, None)])];
    says(run(&ct, mixed), &["term 1 of giant step 0", "all or none"]);
    let lower = vec![giant(0, &[(0, Some(&good))]), giant(1, &[(0, Some(&low))])];
    says(
        run(&ct, lower),
        &["term 0 of giant step 1", "for 1 data primes", "has 2"],
    );
    let missing = run(&ct, vec![giant(0, &[(0, None), (5, None)])]);
    assert!(matches!(
        missing,
        Error::Rlwe(rlwe::Error::MissingGaloisKey { .. })
    ));
    let product = kit.evaluator.multiply(&ct, &ct).unwrap();
    assert!(matches!(
        run(&product, vec![giant(0, &[(0, None)])]),
        Error::Size { .. }
    ));
    assert!(
        encoder.encode_extended(&[1], 3).is_err(),
        "more primes than there are"
    );
    assert!(
        encoder.encode_extended(&[97], 2).is_err(),
        "a value beyond t"
    );
}
