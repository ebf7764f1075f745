// SPDX-License-Identifier: Apache-2.0
//! Polynomials of an encrypted argument: division, evaluation plan, evaluation.
//!
//! The plan is the baby-step giant-step scheme of Paterson and Stockmeyer (1973), for Chebyshev bases as in Chen,
//! Chillotti and Song (ePrint 2018/1043); the scales are fixed from the root downwards so that every addition matches
//! exactly, as in Bossuat, Mouchet, Troncoso-Pastoriza and Hubaux (ePrint 2020/1203).

mod eval;
mod plan;

pub(crate) use eval::{Arithmetic, evaluate};
pub use plan::{Node, Plan};

use crate::Error;

/// Basis that the coefficients of a [`Polynomial`] refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Basis {
    /// 1, x, x², …
    Monomial,
    /// T_0, T_1, T_2, … on [-1, 1].
    Chebyshev,
}

/// Largest degree accepted; the bound keeps hostile input from asking for an endless plan.
pub const MAX_DEGREE: usize = 1 << 14;

/// A polynomial with real coefficients, lowest degree first.
#[derive(Clone, Debug, PartialEq)]
pub struct Polynomial {
    basis: Basis,
    coefficients: Vec<f64>,
}

impl Polynomial {
    /// Checks and takes the coefficients; trailing zeros are dropped.
    ///
    /// # Errors
    /// [`Error::NotFinite`] for NaN or infinity, [`Error::Polynomial`] when there are none or more than
    /// [`MAX_DEGREE`] + 1.
    pub fn new(basis: Basis, coefficients: &[f64]) -> Result<Self, Error> {
        if let Some(index) = coefficients.iter().position(|c| !c.is_finite()) {
            return Err(Error::NotFinite {
                what: "coefficient",
                index,
                value: coefficients[index],
            });
        }
        let len = coefficients
            .iter()
            .rposition(|c| *c != 0.0)
            .map_or(1, |last| last + 1);
        if coefficients.is_empty() || len > MAX_DEGREE + 1 {
            return Err(Error::Polynomial {
                given: coefficients.len(),
                max_degree: MAX_DEGREE,
            });
        }
        Ok(Self {
            basis,
            coefficients: coefficients[..len].to_vec(),
        })
    }

    /// The Chebyshev interpolant of `f` on [-1, 1] through the `degree + 1` roots of T_(degree+1).
    ///
    /// For another interval, substitute `x -> (2x - a - b)/(b - a)` before evaluating.
    ///
    /// # Errors
    /// As [`Polynomial::new`], when `f` is not finite at a node.
    pub fn interpolate(degree: usize, f: impl Fn(f64) -> f64) -> Result<Self, Error> {
        let count = degree.min(MAX_DEGREE) + 1;
        let node = |k: usize| std::f64::consts::PI * (k as f64 + 0.5) / count as f64;
        let values: Vec<f64> = (0..count).map(|k| f(node(k).cos())).collect();
        let coefficients: Vec<f64> = (0..count)
            .map(|j| {
                let sum: f64 = values
                    .iter()
                    .enumerate()
                    .map(|(k, v)| v * (j as f64 * node(k)).cos())
                    .sum();
                sum * if j == 0 { 1.0 } else { 2.0 } / count as f64
            })
            .collect();
        Self::new(Basis::Chebyshev, &coefficients)
    }

    /// The basis.
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// Coefficients, lowest degree first; the last is not 0 unless there is only one.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// Degree (0 for a constant).
    pub fn degree(&self) -> usize {
        self.coefficients.len() - 1
    }

    /// Levels that [`crate::Evaluator::polynomial`] takes: ceil(log2(degree + 1)), and 0 for a constant.
    pub fn depth(&self) -> usize {
        ceil_log2(self.coefficients.len())
    }

    /// The value at a real point (Horner, or Clenshaw's recurrence).
    pub fn eval(&self, x: f64) -> f64 {
        let c = &self.coefficients;
        match self.basis {
            Basis::Monomial => c.iter().rev().fold(0.0, |acc, c| acc * x + c),
            Basis::Chebyshev => {
                let (b1, b2) = c[1..]
                    .iter()
                    .rev()
                    .fold((0.0, 0.0), |(b1, b2), c| (2.0 * x * b1 - b2 + c, b1));
                x * b1 - b2 + c[0]
            }
        }
    }
}

/// ceil(log2(x)) for `x >= 1`.
pub(crate) fn ceil_log2(x: usize) -> usize {
    x.next_power_of_two().trailing_zeros() as usize
}

/// Quotient and remainder by the basis element of degree `m`, for `m <= degree < 2m`.
///
/// Chebyshev: `T_i = 2 T_m T_(i-m) - T_(2m-i)` for `m < i < 2m`.
pub(crate) fn divide(basis: Basis, c: &[f64], m: usize) -> (Vec<f64>, Vec<f64>) {
    debug_assert!(m < c.len() && c.len() <= 2 * m);
    let (mut quotient, mut remainder) = (c[m..].to_vec(), c[..m].to_vec());
    if basis == Basis::Chebyshev {
        for (k, q) in quotient.iter_mut().enumerate().skip(1) {
            remainder[m - k] -= *q;
            *q *= 2.0;
        }
    }
    (quotient, remainder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_recombines() {
        let c: Vec<f64> = (0..13).map(|k| (k as f64 * 1.7).sin()).collect();
        for basis in [Basis::Monomial, Basis::Chebyshev] {
            let (q, r) = divide(basis, &c, 8);
            let (p, q, r) = (
                Polynomial::new(basis, &c).unwrap(),
                Polynomial::new(basis, &q).unwrap(),
                Polynomial::new(basis, &r).unwrap(),
            );
            let mut unit = vec![0.0; 9];
            unit[8] = 1.0;
            let giant = Polynomial::new(basis, &unit).unwrap();
            for x in [-0.9, -0.3, 0.0, 0.4, 1.0] {
                assert!((q.eval(x) * giant.eval(x) + r.eval(x) - p.eval(x)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn interpolation_reproduces_smooth_functions() {
        let p = Polynomial::interpolate(15, f64::exp).unwrap();
        for k in -10..=10 {
            let x = f64::from(k) / 10.0;
            assert!((p.eval(x) - x.exp()).abs() < 1e-13);
        }
    }

    #[test]
    fn bad_coefficients_are_refused() {
        let new = |c: &[f64]| Polynomial::new(Basis::Monomial, c);
        assert!(matches!(
            new(&[1.0, f64::NAN]),
            Err(Error::NotFinite { index: 1, .. })
        ));
        assert!(matches!(new(&[]), Err(Error::Polynomial { given: 0, .. })));
        assert!(matches!(
            new(&vec![1.0; MAX_DEGREE + 2]),
            Err(Error::Polynomial { .. })
        ));
        assert_eq!(new(&[0.0, 0.0]).unwrap().degree(), 0);
        assert_eq!(new(&[0.0, 2.0, 0.0]).unwrap().degree(), 1);
    }

    #[test]
    fn depth_is_the_logarithm() {
        let depth = |d: usize| {
            Polynomial::new(Basis::Monomial, &vec![1.0; d + 1])
                .unwrap()
                .depth()
        };
        assert_eq!(
            [0, 1, 2, 3, 4, 7, 8, 15, 16, 31].map(depth),
            [0, 1, 2, 2, 3, 3, 4, 4, 5, 5]
        );
    }
}
