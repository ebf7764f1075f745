// SPDX-License-Identifier: Apache-2.0
//! Work that threads share, in a ring that is large enough for it to be shared.

use super::{Bench, SMALL, Shape, values};
use crate::{Basis, Ciphertext, Evaluator, Polynomial};
use num_complex::Complex64;
use rlwe::Threads;

/// Every operation, by name.
fn all(b: &Bench, e: &Evaluator, [x, y]: &[Ciphertext; 2]) -> Vec<(&'static str, Ciphertext)> {
    let (level, scale) = (b.params.max_level(), b.params.scale());
    let encoded = b.encoder.encode(&values(b.params.slots(), 7), level, scale);
    let (plain, constant) = (encoded.unwrap(), Complex64::new(0.75, -1.5));
    let product = e.multiply(x, y).unwrap();
    let short = e.relinearize(&product, &b.relin).unwrap();
    let coefficients: Vec<f64> = (0..=20).map(|i| 0.9f64.powi(i) - 0.5).collect();
    let series = Polynomial::new(Basis::Chebyshev, &coefficients).unwrap();
    vec![
        ("add", e.add(x, y).unwrap()),
        ("add three parts", e.add(&short, &product).unwrap()),
        ("sub", e.sub(&product, &short).unwrap()),
        ("square", e.square(x).unwrap()),
        ("drop_to", e.drop_to(x, level - 1).unwrap()),
        ("rescale", e.rescale(&short).unwrap()),
        ("rescale three parts", e.rescale(&product).unwrap()),
        ("both", e.relinearize_rescale(&product, &b.relin).unwrap()),
        ("add_plain", e.add_plain(x, &plain).unwrap()),
        ("sub_plain", e.sub_plain(x, &plain).unwrap()),
        ("multiply_plain", e.multiply_plain(x, &plain).unwrap()),
        ("add_constant", e.add_constant(x, constant).unwrap()),
        (
            "multiply_constant",
            e.multiply_constant(x, constant).unwrap(),
        ),
        ("rotate", e.rotate(x, 2, &b.galois).unwrap()),
        ("conjugate", e.conjugate(x, &b.galois).unwrap()),
        ("series", e.polynomial(x, &series, &b.relin).unwrap()),
        ("product", product),
        ("relinearize", short),
    ]
}

fn bench() -> (Bench, [Ciphertext; 2]) {
    let b = Bench::new(Shape {
        log_n: 12,
        levels: 17,
        special: 5,
        dnum: 4,
        ..SMALL
    });
    let fresh = [0, 1].map(|i| b.encrypt(&values(b.params.slots(), i), i));
    (b, fresh)
}

#[test]
fn shared_work_gives_the_same_bytes() {
    let (b, fresh) = bench();
    let alone = all(&b, &b.evaluator, &fresh);
    for count in [2, 3] {
        let threads = Threads::new(count).unwrap();
        let shared = Evaluator::new(&b.params).with_threads(threads);
        for ((what, want), (_, got)) in alone.iter().zip(all(&b, &shared, &fresh)) {
            assert_eq!(want.parts(), got.parts(), "{what} on {count} threads");
            assert_eq!(want.scale(), got.scale(), "{what}");
        }
    }
}

#[test]
fn combinations_are_what_products_and_sums_are() {
    let (b, [x, y]) = bench();
    let (e, level) = (&b.evaluator, b.params.max_level() - 2);
    let scale = b.params.scale() * 2f64.powi(30);
    let term = |ct: &Ciphertext, c: f64| {
        let low = e.drop_to(ct, level).unwrap();
        e.multiply_constant_to_scale(&low, c.into(), scale).unwrap()
    };
    for (others, constant) in [
        (vec![], 0.0),
        (vec![(&y, -1.25)], 0.0),
        (vec![(&y, 3.5), (&x, 1e-3)], -0.125),
    ] {
        let mut want = term(&x, 0.3);
        for (ct, c) in &others {
            want = e.add(&want, &term(ct, *c)).unwrap();
        }
        let want = e.add_constant(&want, constant.into()).unwrap();
        let got = e
            .combination((&x, 0.3), &others, constant, (level, scale))
            .unwrap();
        assert_eq!((got.parts(), got.scale()), (want.parts(), want.scale()));
    }
    let refused = |scale: f64| {
        let found = e.combination((&x, 0.3), &[], 0.0, (level, scale));
        found.unwrap_err().to_string()
    };
    assert!(refused(1.0).contains("scale"), "{}", refused(1.0));
    assert!(
        refused(2f64.powi(900)).contains("900.0 bits"),
        "{}",
        refused(2f64.powi(900))
    );
}
