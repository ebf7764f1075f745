// SPDX-License-Identifier: Apache-2.0
//! Polynomials of ciphertexts: levels, exact scales, values.

use super::{Bench, SMALL, Shape, reals};
use crate::{Basis, Error, Plan, Polynomial};
use num_complex::Complex64;

const DEEP: Shape = Shape {
    log_n: 5,
    levels: 5,
    scale_bits: 45,
    special: 1,
    dnum: 0,
};

fn coefficients(degree: usize) -> Vec<f64> {
    (0..=degree)
        .map(|k| ((k * k + 3) as f64 * 0.41).sin())
        .collect()
}

#[test]
fn every_degree_takes_the_logarithm_in_levels_and_keeps_the_scale() {
    let b = Bench::new(DEEP);
    let x = reals(b.params.slots(), 1);
    let ct = b.encrypt(&x, 0);
    for basis in [Basis::Monomial, Basis::Chebyshev] {
        for degree in (0..=18).chain([27, 31]) {
            let p = Polynomial::new(basis, &coefficients(degree)).unwrap();
            let out = b.evaluator.polynomial(&ct, &p, &b.relin).unwrap();
            assert_eq!(
                ct.level() - out.level(),
                p.depth(),
                "{basis:?} degree {degree}"
            );
            assert_eq!(out.scale(), ct.scale());
            assert_eq!(out.size(), 2);
            let want: Vec<Complex64> = x.iter().map(|z| p.eval(z.re).into()).collect();
            b.expect(&format!("{basis:?} degree {degree}"), &out, &want, 2e-8);
        }
    }
}

#[test]
fn odd_functions_and_special_shapes() {
    let b = Bench::new(DEEP);
    let x = reals(b.params.slots(), 2);
    let ct = b.encrypt(&x, 0);
    let shapes: [&[f64]; 6] = [
        &[0.5, 0.197, 0.0, -0.004],
        &[0.0, 0.0, 0.0, 0.0, 1.0],
        &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0],
        &[1.0, 0.0, 0.0, 0.0, 0.0, -0.5],
        &[-0.25],
        &[0.0, 3.0],
    ];
    for basis in [Basis::Monomial, Basis::Chebyshev] {
        for c in shapes {
            let p = Polynomial::new(basis, c).unwrap();
            let out = b.evaluator.polynomial(&ct, &p, &b.relin).unwrap();
            let want: Vec<Complex64> = x.iter().map(|z| p.eval(z.re).into()).collect();
            b.expect(&format!("{basis:?} {c:?}"), &out, &want, 1e-8);
        }
    }
}

#[test]
fn results_can_be_added_to_other_polynomials_and_inputs_of_drifted_scale() {
    let b = Bench::new(DEEP);
    let x = reals(b.params.slots(), 3);
    let ct = b.encrypt(&x, 0);
    let square = b
        .evaluator
        .relinearize(&b.evaluator.square(&ct).unwrap(), &b.relin)
        .unwrap();
    let drifted = b.evaluator.rescale(&square).unwrap();
    assert_ne!(drifted.scale(), ct.scale());
    let p = Polynomial::new(Basis::Monomial, &coefficients(7)).unwrap();
    let q = Polynomial::new(Basis::Chebyshev, &coefficients(5)).unwrap();
    let scale = b.params.scale();
    let left = b
        .evaluator
        .polynomial_to_scale(&drifted, &p, scale, &b.relin)
        .unwrap();
    let right = b
        .evaluator
        .polynomial_to_scale(&ct, &q, scale, &b.relin)
        .unwrap();
    let sum = b.evaluator.add(&left, &right).unwrap();
    let want: Vec<Complex64> = x
        .iter()
        .map(|z| (p.eval(z.re * z.re) + q.eval(z.re)).into())
        .collect();
    b.expect("sum", &sum, &want, 1e-8);
}

#[test]
fn too_few_levels_are_named() {
    let b = Bench::new(SMALL);
    let ct = b.encrypt(&reals(4, 1), 0);
    let p = Polynomial::new(Basis::Monomial, &coefficients(8)).unwrap();
    let error = b.evaluator.polynomial(&ct, &p, &b.relin).unwrap_err();
    assert!(
        matches!(
            error,
            Error::LevelsExhausted {
                needed: 4,
                levels_left: 3,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_plan_counts_what_is_done() {
    let plan = Plan::new(&Polynomial::new(Basis::Chebyshev, &coefficients(15)).unwrap());
    let counts = plan.counts();
    assert_eq!(counts["multiply"], plan.products);
    assert!(counts["relinearize"] <= counts["multiply"]);
    assert!(
        plan.products <= 8,
        "{} products for degree 15",
        plan.products
    );
}
