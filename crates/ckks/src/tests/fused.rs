// SPDX-License-Identifier: Apache-2.0
//! Linear transforms and relinearisation with a rescale, against clear arithmetic, single operations and the estimate.

use super::{Bench, SMALL, Shape, reals, rotated, values, zip};
use crate::linear_transform::{ExtendedPlaintext, Giant, LinearTransform, Term};
use crate::noise::Estimate;
use crate::{Ciphertext, Error, Evaluator};
use num_complex::Complex64;
use rlwe::Threads;

/// Bits that a bound may be above what is measured.
const SLACK: f64 = 14.0;

fn shapes() -> Vec<Shape> {
    let more = |levels, special, dnum| Shape {
        levels,
        special,
        dnum,
        ..SMALL
    };
    let log_n = |log_n| Shape { log_n, ..SMALL };
    vec![
        SMALL,
        log_n(3),
        log_n(10),
        more(5, 2, 3),
        more(4, 3, 2),
        more(2, 3, 1),
    ]
}

/// Rotations of giant steps, and of each of their terms.
type Steps<'a> = &'a [(i64, &'a [i64])];

const STEPS: [Steps<'_>; 6] = [
    &[(0, &[0])],
    &[(0, &[1])],
    &[(-3, &[0])],
    &[(0, &[0, 1, 2, 3, -1, -3, 1])],
    &[(0, &[0, 1, 2]), (3, &[0, 1, 2]), (-1, &[2, 5])],
    &[(4, &[1]), (4, &[1, 8]), (0, &[0]), (0, &[0, 3])],
];

/// Plain factors, one after another for the terms in order, and their encodings.
struct Factors {
    clear: Vec<Vec<Complex64>>,
    encoded: Vec<ExtendedPlaintext>,
}

impl Factors {
    fn new(b: &Bench, steps: Steps<'_>, level: usize) -> Self {
        let count = steps.iter().map(|(_, terms)| terms.len()).sum();
        let clear: Vec<_> = (0..count)
            .map(|k| reals(b.params.slots(), 50 + k as u64))
            .collect();
        let encode = |v: &Vec<Complex64>| {
            let v: Vec<f64> = v.iter().map(|z| z.re).collect();
            b.encoder
                .encode_real_extended(&v, level, b.params.scale())
                .unwrap()
        };
        Self {
            encoded: clear.iter().map(encode).collect(),
            clear,
        }
    }
}

fn transform<'a>(steps: Steps<'_>, factors: Option<&'a Factors>) -> LinearTransform<'a> {
    let mut next = factors.map(|f| f.encoded.iter());
    let mut giant = |(rotation, terms): &(i64, &[i64])| {
        let mut term = |rotation: &i64| Term {
            rotation: *rotation,
            plaintext: next.as_mut().and_then(Iterator::next),
        };
        Giant {
            rotation: *rotation,
            terms: terms.iter().map(&mut term).collect(),
        }
    };
    LinearTransform {
        giants: steps.iter().map(&mut giant).collect(),
    }
}

fn clear(steps: Steps<'_>, x: &[Complex64], factors: Option<&Factors>) -> Vec<Complex64> {
    let mut next = factors.map(|f| f.clear.iter());
    let mut total = vec![Complex64::ZERO; x.len()];
    for (giant, terms) in steps {
        let mut sum = vec![Complex64::ZERO; x.len()];
        for term in *terms {
            let mut y = rotated(x, *term);
            if let Some(factor) = next.as_mut().and_then(Iterator::next) {
                y = zip(&y, factor, |a, b| a * b);
            }
            sum = zip(&sum, &y, |a, b| a + b);
        }
        total = zip(&total, &rotated(&sum, *giant), |a, b| a + b);
    }
    total
}

fn estimate(b: &Bench, steps: Steps<'_>, x: &Estimate, factors: bool) -> Estimate {
    let e = b.params.estimator();
    let plaintext = factors.then(|| e.encode(1.0, x.level, b.params.scale()));
    let giant = |(rotation, terms): &(i64, &[i64])| {
        let terms = terms.iter().map(|k| (*k != 0, plaintext));
        (*rotation != 0, terms.collect())
    };
    e.linear_transform(x, &steps.iter().map(giant).collect::<Vec<_>>())
}

fn fresh(b: &Bench) -> Estimate {
    let e = b.params.estimator();
    e.encrypt_public(&e.encode(1.0, b.params.max_level(), b.params.scale()))
}

/// Asserts that the slots are `want` up to the bound, and the bound not far off where it is said to be tight.
fn within(
    b: &Bench,
    what: &str,
    ct: &Ciphertext,
    want: &[Complex64],
    bound: &Estimate,
    tight: bool,
) {
    let (error, bound) = (b.error(ct, want), b.params.estimator().slot_error(bound));
    assert!(error <= bound, "{what}: {error:e} above {bound:e}");
    let slack = (bound / error).log2();
    assert!(
        !tight || slack < SLACK,
        "{what}: {error:e} is {slack:.1} bits below {bound:e}"
    );
}

#[test]
fn transforms_equal_their_definition_within_the_estimate() {
    for shape in shapes() {
        let b = Bench::new(shape);
        let x = values(b.params.slots(), 3);
        let ct = b.encrypt(&x, 0);
        for steps in STEPS {
            for with in [false, true] {
                let factors = with.then(|| Factors::new(&b, steps, ct.level()));
                let t = transform(steps, factors.as_ref());
                let got = b.evaluator.linear_transform(&ct, &t, &b.galois).unwrap();
                let want = clear(steps, &x, factors.as_ref());
                let bound = estimate(&b, steps, &fresh(&b), with);
                let what = format!("n = 2^{}, {steps:?}, factors {with}", shape.log_n);
                within(&b, &what, &got, &want, &bound, shape.log_n > 8 && !with);
                assert_eq!((got.level(), got.size()), (ct.level(), 2));
                assert_eq!(got.scale(), bound.scale);
            }
        }
    }
}

#[test]
fn lower_levels_keys_for_them_and_no_special_primes() {
    let b = Bench::new(Shape {
        special: 0,
        ..SMALL
    });
    let x = values(b.params.slots(), 3);
    let ct = b.encrypt(&x, 0);
    for steps in STEPS {
        let factors = Factors::new(&b, steps, ct.level());
        let t = transform(steps, Some(&factors));
        let got = b.evaluator.linear_transform(&ct, &t, &b.galois).unwrap();
        let bound = estimate(&b, steps, &fresh(&b), true);
        within(
            &b,
            "no special primes",
            &got,
            &clear(steps, &x, Some(&factors)),
            &bound,
            false,
        );
    }
    for special in [1, 2] {
        let b = Bench::new(Shape { special, ..SMALL });
        let x = reals(b.params.slots(), 3);
        let top = b.encrypt(&x, 0);
        for level in 0..b.params.max_level() {
            let ct = b.evaluator.drop_to(&top, level).unwrap();
            let steps: Steps<'_> = &[(0, &[0, 1]), (3, &[0, 2])];
            let scale = 2f64.powi(8);
            let encode = |k| {
                let v: Vec<f64> = reals(b.params.slots(), k).iter().map(|z| z.re).collect();
                b.encoder.encode_real_extended(&v, level, scale).unwrap()
            };
            let factors = Factors {
                clear: (0..4).map(|k| reals(b.params.slots(), k)).collect(),
                encoded: (0..4).map(encode).collect(),
            };
            let t = transform(steps, Some(&factors));
            let got = b.evaluator.linear_transform(&ct, &t, &b.galois).unwrap();
            b.expect("lower level", &got, &clear(steps, &x, Some(&factors)), 0.5);
            assert_eq!(got.scale(), ct.scale() * scale);
        }
    }
}

#[test]
fn a_sum_of_rotations_is_as_good_as_one_by_one() {
    let b = Bench::new(Shape { log_n: 9, ..SMALL });
    let x = values(b.params.slots(), 3);
    let ct = b.encrypt(&x, 0);
    let steps: Steps<'_> = &[(0, &[1, 2, 3, 4, 5, 8, -1, -3])];
    let at_once = b
        .evaluator
        .linear_transform(&ct, &transform(steps, None), &b.galois)
        .unwrap();
    let each = b.evaluator.rotate_many(&ct, steps[0].1, &b.galois).unwrap();
    let sum = each[1..].iter().fold(each[0].clone(), |sum, ct| {
        b.evaluator.add(&sum, ct).unwrap()
    });
    let want = clear(steps, &x, None);
    // One rounding instead of eight.
    assert!(b.error(&at_once, &want) < 1.5 * b.error(&sum, &want));
}

#[test]
fn sparse_messages_keep_their_slots() {
    let b = Bench::new(SMALL);
    let x = values(4, 3);
    let plain = b.encoder.encode_sparse(&x, 4, 3, b.params.scale()).unwrap();
    let ct = b.encryptor.encrypt(&plain, &b.public, 0).unwrap();
    let steps: Steps<'_> = &[(0, &[1, 2])];
    let got = b
        .evaluator
        .linear_transform(&ct, &transform(steps, None), &b.galois)
        .unwrap();
    assert_eq!(got.slots(), 4);
    b.expect("sparse", &got, &clear(steps, &x, None), 1e-7);
}

#[test]
fn relinearisation_with_a_rescale_is_both_within_the_estimate() {
    for shape in shapes() {
        let b = Bench::new(shape);
        let (x, y) = (values(b.params.slots(), 3), values(b.params.slots(), 4));
        let (e, ev) = (b.params.estimator(), &b.evaluator);
        let mut ct = ev.multiply(&b.encrypt(&x, 0), &b.encrypt(&y, 1)).unwrap();
        let mut bound = e.multiply(&fresh(&b), &fresh(&b));
        let want = zip(&x, &y, |a, b| a * b);
        while ct.level() > 0 && ct.scale() / b.params.prime(ct.level()) as f64 > 100.0 {
            let both = ev.relinearize_rescale(&ct, &b.relin).unwrap();
            let single = ev.rescale(&ev.relinearize(&ct, &b.relin).unwrap()).unwrap();
            assert_eq!(
                (both.level(), both.scale()),
                (single.level(), single.scale())
            );
            let once = e.relinearize_rescale(&bound);
            let twice = e.rescale(&e.relinearize(&bound)).unwrap();
            assert!(once.log2_error <= twice.log2_error + 1e-9);
            assert_eq!(
                (once.level, once.size, once.scale),
                (twice.level, 2, twice.scale)
            );
            within(&b, "rescaled", &both, &want, &once, shape.log_n > 8);
            // The same from one level down.
            ct = ev.drop_to(&ct, ct.level() - 1).unwrap();
            bound = e.drop_to(&bound, bound.level - 1);
        }
    }
    let b = Bench::new(SMALL);
    let bottom = b.params.estimator().drop_to(&fresh(&b), 0);
    assert_eq!(
        b.params.estimator().relinearize_rescale(&bottom).log2_error,
        f64::INFINITY
    );
}

#[test]
fn threads_change_nothing() {
    let b = Bench::new(Shape {
        log_n: 9,
        special: 2,
        dnum: 2,
        ..SMALL
    });
    let ct = b.encrypt(&values(b.params.slots(), 3), 0);
    let wide = b.evaluator.square(&ct).unwrap();
    let factors = Factors::new(&b, STEPS[4], ct.level());
    let all = |e: &Evaluator| {
        let t = transform(STEPS[4], Some(&factors));
        let sum = transform(STEPS[3], None);
        [
            e.linear_transform(&ct, &t, &b.galois)
                .unwrap()
                .parts()
                .to_vec(),
            e.linear_transform(&ct, &sum, &b.galois)
                .unwrap()
                .parts()
                .to_vec(),
            e.relinearize_rescale(&wide, &b.relin)
                .unwrap()
                .parts()
                .to_vec(),
        ]
    };
    let one = all(&b.evaluator);
    for count in [2, 3] {
        let threads = Threads::new(count).unwrap();
        assert_eq!(
            all(&Evaluator::new(&b.params).with_threads(threads.clone())),
            one,
            "{count} threads"
        );
    }
}

#[test]
fn steps_that_do_not_go_together_are_refused() {
    let b = Bench::new(SMALL);
    let ct = b.encrypt(&values(8, 1), 0);
    let run = |ct: &Ciphertext, giants| {
        let t = LinearTransform { giants };
        b.evaluator.linear_transform(ct, &t, &b.galois).unwrap_err()
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
    let encode = |level, scale| {
        b.encoder
            .encode_real_extended(&[1.0], level, scale)
            .unwrap()
    };
    let (good, low, other) = (encode(3, 1e6), encode(2, 1e6), encode(3, 2e6));
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
        &["term 0 of giant step 1", "level 2", "level 3"],
    );
    let scales = vec![giant(0, &[(0, Some(&good)), (1, Some(&other))])];
    assert!(matches!(run(&ct, scales), Error::ScaleMismatch { .. }));
    for missing in [giant(7, &[(0, None)]), giant(0, &[(0, None), (7, None)])] {
        let error = run(&ct, vec![missing]);
        assert!(
            matches!(error, Error::Rlwe(rlwe::Error::MissingGaloisKey { .. })),
            "{error}"
        );
    }
    let wide = encode(3, 2f64.powi(140));
    let error = run(&ct, vec![giant(0, &[(0, Some(&wide))])]);
    assert!(
        matches!(
            error,
            Error::Overflow {
                operation: "linear_transform",
                ..
            }
        ),
        "{error}"
    );
    let product = b.evaluator.square(&ct).unwrap();
    let error = run(&product, vec![giant(0, &[(0, None)])]);
    assert!(matches!(error, Error::Size { .. }), "{error}");
    let stranger = Bench::new(Shape { levels: 2, ..SMALL });
    let foreign = stranger
        .encoder
        .encode_real_extended(&[1.0], 2, 1e6)
        .unwrap();
    let error = run(&ct, vec![giant(0, &[(0, Some(&foreign))])]);
    assert!(
        matches!(error, Error::Rlwe(rlwe::Error::ParameterMismatch { .. })),
        "{error}"
    );
    let rescale = |ct: &Ciphertext| b.evaluator.relinearize_rescale(ct, &b.relin).unwrap_err();
    assert!(matches!(rescale(&ct), Error::Size { needed: "3", .. }));
    let bottom = b.evaluator.drop_to(&product, 0).unwrap();
    assert!(matches!(rescale(&bottom), Error::LevelsExhausted { .. }));
    let strange = b.evaluator.relinearize_rescale(&product, &stranger.relin);
    assert!(matches!(
        strange,
        Err(Error::Rlwe(rlwe::Error::ParameterMismatch { .. }))
    ));
    assert!(
        b.encoder.encode_real_extended(&[1.0], 4, 1e6).is_err(),
        "above the top level"
    );
    assert!(b.encoder.encode_real_extended(&[f64::NAN], 3, 1e6).is_err());
    assert!(
        b.encoder.encode_real_extended(&[1e30], 0, 1e6).is_err(),
        "beyond the level's modulus"
    );
}
