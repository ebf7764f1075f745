// SPDX-License-Identifier: Apache-2.0
//! Linear transforms and key switches with a rescale against their definitions, bit for bit.

use super::*;
use crate::keyswitch::tests::{narrow_shapes, params, random, wide_shapes};
use crate::{
    GaloisKeys, HoistedDigits, KeyGenerator, KeySwitchLevel, RlweContext, Seed, Source,
    SwitchRequest, Threads,
};
use num_bigint::BigInt;
use rns::{Coeff, RnsBasis};

/// P·x over Q·P.
fn times_special<W: Word>(level: &KeySwitchLevel<W>, x: &[W]) -> RnsPoly<W, Eval> {
    let (n, l) = (level.q().n(), level.q().len());
    let mut out = RnsPoly::zeros(level.qp());
    for (j, m) in level.q().moduli().iter().enumerate() {
        let special = level.qp().moduli()[l..].iter();
        let p = special.fold(m.reduce(W::ONE), |acc, p| m.mul(acc, m.reduce(p.value())));
        m.shoup_mul_into(out.limb_mut(j), &x[j * n..][..n], m.shoup(p));
    }
    out
}

/// (K_0 + P·σ(c_0), K_1) over Q·P, where K_0 + K_1·s is close to P·σ(c_1)·σ(s).
fn rotated<W: Word>(
    params: &RlweContext<W>,
    c1: &RnsPoly<W, Coeff>,
    c0: &RnsPoly<W, Eval>,
    (auto, key): Rotation<'_, W>,
) -> [RnsPoly<W, Eval>; 2] {
    let level = params.level(c1.limb_count()).unwrap();
    let digits = HoistedDigits::new(&level, c1);
    let [mut k0, k1] = digits.automorphism(auto).inner_product(key).unwrap();
    k0.add_assign(&c0.automorphism(auto));
    [k0, k1]
}

/// The transform step by step from the portable blocks, over Q·P.
fn plain<W: Word>(
    params: &RlweContext<W>,
    source: TransformSource<'_, W>,
    giants: &[GiantStep<'_, W>],
) -> [RnsPoly<W, Eval>; 2] {
    let limbs = source.coefficients.len() / params.n();
    let level = params.level(limbs).unwrap();
    let c1 = RnsPoly::from_limbs(level.q(), source.coefficients).unwrap();
    let parts = source.values.map(|values| times_special(&level, values));
    let zero = || [0, 1].map(|_| RnsPoly::zeros(level.qp()));
    // The last one is the sum of all.
    let mut sums: Vec<[RnsPoly<W, Eval>; 2]> = (0..=giants.len()).map(|_| zero()).collect();
    for (i, giant) in giants.iter().enumerate() {
        let mut sum = std::mem::replace(&mut sums[i], zero());
        for term in &giant.terms {
            let x = match term.rotation {
                Some(rotation) => rotated(params, &c1, &parts[0], rotation),
                None => parts.clone(),
            };
            for (sum, x) in sum.iter_mut().zip(&x) {
                match term.factor {
                    Some(factor) => sum.mul_add_assign(x, factor),
                    None => sum.add_assign(x),
                }
            }
        }
        if let Some(rotation) = giant.rotation {
            let [s0, s1] = sum;
            sum = rotated(params, &level.mod_down(s1.to_coeff()), &s0, rotation);
        }
        let onto = &mut sums[giant.onto.unwrap_or(giants.len())];
        onto.iter_mut().zip(&sum).for_each(|(t, s)| t.add_assign(s));
    }
    sums.swap_remove(giants.len())
}

/// Steps as numbers: for each giant step an index into the keys' elements, and for each of its terms one, with a factor
/// or without; 9 stands for no rotation.
type Shape<'a> = &'a [(usize, &'a [usize])];

const SHAPES: [Shape<'_>; 6] = [
    &[(9, &[9])],
    &[(9, &[0])],
    &[(1, &[9])],
    &[(9, &[0, 1, 2, 0, 9, 9])],
    &[(9, &[9, 0, 1]), (2, &[0, 9, 2, 0]), (9, &[2])],
    &[(0, &[1, 2]), (0, &[2, 9]), (2, &[9, 9, 0]), (1, &[0])],
];

fn steps<'a, W: Word>(
    shape: Shape<'_>,
    keys: &'a GaloisKeys<W>,
    factors: &'a [RnsPoly<W, Eval>],
) -> Vec<GiantStep<'a, W>> {
    let elements: Vec<u64> = keys.elements().collect();
    let rotation = |k: usize| Some(keys.get(*elements.get(k)?).unwrap());
    let mut next = factors.iter().cycle();
    let mut giant = |(k, terms): &(usize, &[usize])| GiantStep {
        rotation: rotation(*k),
        terms: terms
            .iter()
            .map(|k| BabyStep {
                rotation: rotation(*k),
                factor: next.next(),
            })
            .collect(),
        onto: None,
    };
    shape.iter().map(&mut giant).collect()
}

/// For each number of giant steps the steps that rotated sums are added to: a chain, two chains, a tree.
fn chains(count: usize) -> Vec<Vec<Option<usize>>> {
    let next = |by: usize| (0..count).map(move |i| Some(i + by).filter(|next| *next < count));
    let tree = (0..count)
        .map(|i| Some(usize::midpoint(i, count)).filter(|next| (i + 1..count).contains(next)));
    vec![
        vec![None; count],
        next(1).collect(),
        next(2).collect(),
        tree.collect(),
    ]
}

fn check<W: Word>(params: &RlweContext<W>) {
    let generator = KeyGenerator::new(params, Seed::from_text("keys"));
    let secret = generator.secret_key().unwrap();
    let top = params.data_primes();
    let elements = [5, 9, 2 * params.n() as u64 - 1];
    let keys = generator.galois_keys(&secret, &elements, top).unwrap();
    for limbs in 1..=top {
        let level = params.level(limbs).unwrap();
        let values = [random(level.q(), 1), random(level.q(), 2)];
        let c1 = values[1].coefficients();
        let source = TransformSource {
            values: [values[0].data(), values[1].data()],
            coefficients: c1.data(),
        };
        let factors: Vec<_> = (0..5).map(|k| random(level.qp(), 10 + k)).collect();
        for (shape, factors) in SHAPES
            .iter()
            .flat_map(|shape| [(shape, &factors[..]), (shape, &[][..])])
        {
            for chain in chains(shape.len()) {
                let giants = steps(shape, &keys, factors).into_iter().zip(&chain);
                let giants: Vec<_> = giants
                    .map(|(giant, onto)| {
                        let onto = onto.filter(|_| giant.rotation.is_some());
                        giant.with_onto(onto)
                    })
                    .collect();
                let want = plain(params, source, &giants);
                let what = format!(
                    "{limbs} limbs, {shape:?}, {chain:?}, {} factors",
                    factors.len()
                );
                for threads in [Threads::ONE, Threads::new(3).unwrap()] {
                    let got = level
                        .linear_transform_eval(source, &giants, &threads)
                        .unwrap();
                    let divided = want.clone().map(|x| level.mod_down_eval(x));
                    assert_eq!(got, divided, "{what}");
                    let got = level
                        .linear_transform_coeff(source, &giants, &threads)
                        .unwrap();
                    let divided = want.clone().map(|x| level.mod_down(x.to_coeff()));
                    assert_eq!(got, divided, "{what}");
                }
            }
        }
        if limbs > 1 {
            check_rescaled(params, &keys, limbs, &values);
        }
    }
}

/// (sum + P·c)/(P·q) against rounding with big integers.
fn check_rescaled<W: Word>(
    params: &RlweContext<W>,
    keys: &GaloisKeys<W>,
    limbs: usize,
    values: &[RnsPoly<W, Eval>; 2],
) {
    let level = params.level(limbs).unwrap();
    let c = values[1].coefficients();
    let sources = [Source {
        coefficients: c.data(),
        values: Some(values[1].data()),
    }];
    let elements: Vec<u64> = keys.elements().collect();
    let rotations: Vec<_> = elements.iter().map(|g| keys.get(*g).unwrap()).collect();
    let request = |(auto, key)| SwitchRequest {
        source: 0,
        key,
        automorphism: Some(auto),
        add: [Some(values[0].data()), None],
    };
    let requests: Vec<_> = rotations.iter().copied().map(request).collect();
    let got = level
        .switch_eval_rescaled(&sources, &requests, &Threads::ONE)
        .unwrap();
    let threads = Threads::new(3).unwrap();
    assert_eq!(
        got,
        level
            .switch_eval_rescaled(&sources, &requests, &threads)
            .unwrap()
    );
    let kept = level.q().prefix(limbs - 1).unwrap();
    let c0 = times_special(&level, values[0].data());
    for (rotation, got) in rotations.into_iter().zip(got) {
        for (sum, got) in rotated(params, &c, &c0, rotation).into_iter().zip(got) {
            assert_eq!(
                got,
                divided_exactly(&sum.to_coeff(), &kept).to_eval(),
                "{limbs} limbs"
            );
        }
    }
}

/// round(x/D) over `kept`, D the product of the other primes, through big integers.
fn divided_exactly<W: Word>(x: &RnsPoly<W, Coeff>, kept: &RnsBasis<W>) -> RnsPoly<W, Coeff> {
    let divisor = BigInt::from(x.basis().product() / kept.product());
    let rounded = |x: &BigInt| {
        let twice: BigInt = x * 2 + &divisor;
        let (quotient, modulus) = (&twice / (&divisor * 2), &twice % (&divisor * 2));
        if modulus < BigInt::ZERO {
            quotient - 1
        } else {
            quotient
        }
    };
    let quotients: Vec<BigInt> = x.compose_centered().iter().map(rounded).collect();
    RnsPoly::from_bigints(kept, &quotients).unwrap()
}

#[test]
fn equals_the_definition_for_every_shape() {
    check(&params::<u64>(64, &[46, 45, 45], &[46], 0));
    narrow_shapes().iter().for_each(check);
    wide_shapes().iter().for_each(check);
}

#[test]
fn sums_longer_than_a_kernel_takes_are_cut() {
    let params = params::<u64>(64, &[50, 49], &[50], 0);
    let generator = KeyGenerator::new(&params, Seed::from_text("keys"));
    let secret = generator.secret_key().unwrap();
    let keys = generator.galois_keys(&secret, &[5], 2).unwrap();
    let level = params.level(2).unwrap();
    let values = [random(level.q(), 1), random(level.q(), 2)];
    let c1 = values[1].coefficients();
    let source = TransformSource {
        values: [values[0].data(), values[1].data()],
        coefficients: c1.data(),
    };
    let factors: Vec<_> = (0..7).map(|k| random(level.qp(), k)).collect();
    let terms = [0, 9].repeat(40);
    let giants = steps(&[(9, &terms)], &keys, &factors);
    let got = level
        .linear_transform_eval(source, &giants, &Threads::ONE)
        .unwrap();
    let want = plain(&params, source, &giants).map(|x| level.mod_down_eval(x));
    assert_eq!(got, want);
}

#[test]
fn wrong_shapes_are_refused() {
    let params = params::<u64>(16, &[40, 40], &[40], 0);
    let generator = KeyGenerator::new(&params, Seed::from_text("keys"));
    let secret = generator.secret_key().unwrap();
    let low = generator.galois_keys(&secret, &[5], 1).unwrap();
    let level = params.level(2).unwrap();
    let words = vec![0u64; 32];
    let run = |values: [&[u64]; 2], coefficients: &[u64], giants: &[GiantStep<'_, u64>]| {
        let source = TransformSource {
            values,
            coefficients,
        };
        level
            .linear_transform_eval(source, giants, &Threads::ONE)
            .map(|_| ())
    };
    let giant = |rotation, term, factor| {
        let terms = vec![BabyStep {
            rotation: term,
            factor,
        }];
        [GiantStep {
            rotation,
            terms,
            onto: None,
        }]
    };
    let rotation = Some(low.get(5).unwrap());
    let shorter = RnsPoly::zeros(level.q());
    run([&words; 2], &words, &giant(None, None, None)).unwrap();
    assert!(run([&words[1..], &words], &words, &giant(None, None, None)).is_err());
    assert!(run([&words, &words[1..]], &words, &giant(None, None, None)).is_err());
    assert!(run([&words; 2], &words[1..], &giant(None, None, None)).is_err());
    assert!(
        run([&words; 2], &words, &giant(rotation, None, None)).is_err(),
        "truncated key"
    );
    assert!(
        run([&words; 2], &words, &giant(None, rotation, None)).is_err(),
        "truncated key"
    );
    assert!(run([&words; 2], &words, &giant(None, None, Some(&shorter))).is_err());
    let whole = generator.galois_keys(&secret, &[5], 2).unwrap();
    let rotation = Some(whole.get(5).unwrap());
    for (rotation, onto) in [(rotation, 0), (rotation, 2), (None, 1)] {
        let [first] = giant(rotation, None, None).map(|giant| giant.with_onto(Some(onto)));
        let [second] = giant(None, None, None);
        let pair = [first, second];
        assert!(run([&words; 2], &words, &pair).is_err(), "{onto}");
    }
    let bottom = params.level(1).unwrap();
    assert!(
        bottom
            .switch_eval_rescaled(&[], &[], &Threads::ONE)
            .is_err(),
        "one data prime"
    );
}
