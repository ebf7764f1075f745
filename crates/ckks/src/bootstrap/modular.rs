// SPDX-License-Identifier: Apache-2.0
//! The reduction modulo 1 as a polynomial: T = I + x, |I| ≤ k, |x| ≤ ratio, to x.
//!
//! cos(2π(T − 1/4)) = sin(2πT) = sin(2πx) ≈ 2πx. With B = k + ratio + 1/4 the argument y = (T − 1/4)/B lies in [-1,
//! 1]; a Chebyshev sum approximates cos(2πB·y/2^r), an even function, and r times c → 2c² − 1 gives the cosine. A
//! power series of arcsin takes the sine's curvature away where that is wanted.
//!
//! The sum is the Chebyshev series cut off, on the whole interval. Nodes near the integers alone (Han and Ki, ePrint
//! 2019/688) do not help an even polynomial of degree 30: in |T − 1/4| there are 2k + 1 intervals and 16 coefficients,
//! and the best approximation there is 1.4 bits better for k = 16, r = 3.

use crate::embedding::{cosine_of_turns, root_of_unity};
use crate::{Basis, Error, Polynomial};
use std::f64::consts::TAU;

/// Largest degree of the cosine's sum.
pub const MAX_COSINE_DEGREE: usize = 254;
/// Most double angles.
pub const MAX_DOUBLINGS: u32 = 8;

/// What the reduction is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct ModularReduction {
    overflow: u32,
    ratio: f64,
    doublings: u32,
    cosine: Polynomial,
    arcsine: Option<Polynomial>,
}

impl ModularReduction {
    /// For |I| ≤ `overflow` and |x| ≤ `ratio`: a cosine of even degree `degree`, `doublings` double angles and the
    /// power series of arcsin up to degree `arcsine` (1, 3, 5 or 7; 1 for none).
    ///
    /// # Errors
    /// [`Error::Bootstrap`] for values out of range, and a degree that leaves an error above the ratio itself.
    pub fn new(
        overflow: u32,
        ratio: f64,
        degree: usize,
        doublings: u32,
        arcsine: u32,
    ) -> Result<Self, Error> {
        let refuse = |what, got: String, allowed: &str| {
            Err(Error::Bootstrap {
                what,
                got,
                allowed: allowed.into(),
            })
        };
        if !(1..=1 << 12).contains(&overflow) {
            return refuse("the bound on overflows", overflow.to_string(), "1..=4096");
        }
        if !(ratio > 0.0 && ratio <= 0.125) {
            return refuse(
                "the ratio of message to modulus",
                ratio.to_string(),
                "above 0, up to 2^-3",
            );
        }
        if degree < 2 || !degree.is_multiple_of(2) || degree > MAX_COSINE_DEGREE {
            return refuse("the cosine's degree", degree.to_string(), "even, 2..=254");
        }
        if doublings > MAX_DOUBLINGS {
            return refuse(
                "the number of double angles",
                doublings.to_string(),
                "0..=8",
            );
        }
        let arcsine = match arcsine {
            1 => None,
            3 | 5 | 7 => Some(arcsine_series(arcsine as usize)?),
            _ => return refuse("the arcsine's degree", arcsine.to_string(), "1, 3, 5, 7"),
        };
        let made = Self {
            overflow,
            ratio,
            doublings,
            cosine: cosine_series(reach(overflow, ratio), doublings, degree)?,
            arcsine,
        };
        if made.error() > ratio {
            return refuse(
                "the cosine's degree",
                format!("{degree}, which errs by 2^{:.1}", made.error().log2()),
                "one that errs by less than the ratio: raise it or the number of double angles",
            );
        }
        Ok(made)
    }

    /// B: what T − 1/4 is divided by to lie in [-1, 1].
    pub fn reach(&self) -> f64 {
        reach(self.overflow, self.ratio)
    }

    /// The bound on |I|.
    pub fn overflow(&self) -> u32 {
        self.overflow
    }

    /// The bound on |x|.
    pub fn ratio(&self) -> f64 {
        self.ratio
    }

    /// Double angles after the cosine.
    pub fn doublings(&self) -> u32 {
        self.doublings
    }

    /// The Chebyshev sum of the cosine, in y.
    pub fn cosine(&self) -> &Polynomial {
        &self.cosine
    }

    /// The power series of arcsin, if one is used.
    pub fn arcsine(&self) -> Option<&Polynomial> {
        self.arcsine.as_ref()
    }

    /// Levels it takes.
    pub fn depth(&self) -> usize {
        self.cosine.depth()
            + self.doublings as usize
            + self.arcsine.as_ref().map_or(0, Polynomial::depth)
    }

    /// Bound on |result − x| for every I and x within their bounds, in exact arithmetic.
    ///
    /// The sum's error is that of the terms left out, 2|J_j(z)| ≤ 2(z/2)^j/j!, z = 2πB/2^r. A double angle takes an
    /// error δ to 4δ + 2δ² at most. The sine lacks s³/6 at most, s = 2π·ratio; a power series of arcsin lacks its next
    /// term at most 1/(1 − s²) times, and takes an error of its argument to 1/√(1 − s²) times that.
    pub fn error(&self) -> f64 {
        self.error_within(1.0)
    }

    /// [`ModularReduction::error`] for |x| up to `factor` times its bound, 1 or a little more.
    pub(super) fn error_within(&self, factor: f64) -> f64 {
        self.shape().error_within(factor)
    }

    fn shape(&self) -> Shape {
        Shape {
            overflow: self.overflow,
            ratio: self.ratio,
            degree: self.cosine.degree(),
            doublings: self.doublings,
            arcsine: self
                .arcsine
                .as_ref()
                .map_or(1, |series| series.degree() as u32),
        }
    }

    /// The polynomial's value in the clear, at T.
    pub fn eval(&self, t: f64) -> f64 {
        let start = self.cosine.eval((t - 0.25) / self.reach());
        let sine = (0..self.doublings).fold(start, |c, _| 2.0 * c * c - 1.0);
        self.arcsine
            .as_ref()
            .map_or(sine, |series| series.eval(sine))
            / TAU
    }
}

/// The numbers that a reduction's error and levels follow from.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape {
    pub overflow: u32,
    pub ratio: f64,
    pub degree: usize,
    pub doublings: u32,
    /// 1 for none.
    pub arcsine: u32,
}

impl Shape {
    /// Levels it takes.
    pub fn depth(&self) -> usize {
        let of = |degree: usize| (degree + 1).next_power_of_two().trailing_zeros() as usize;
        let arcsine = if self.arcsine > 1 {
            of(self.arcsine as usize)
        } else {
            0
        };
        of(self.degree) + self.doublings as usize + arcsine
    }

    /// [`ModularReduction::error`] for |x| up to `factor` times its bound.
    pub fn error_within(&self, factor: f64) -> f64 {
        let mut error = (0..self.doublings).fold(self.cosine_error(), |e, _| 4.0 * e + 2.0 * e * e);
        let s = TAU * self.ratio * factor;
        error += match self.arcsine {
            0 | 1 => s.powi(3) / 6.0,
            degree => {
                let (next, room) = (degree as usize + 2, 1.0 - (s + error).powi(2));
                let slope = if room > 0.0 {
                    room.sqrt().recip()
                } else {
                    f64::INFINITY
                };
                arcsine_term(next) * s.powi(next as i32) * slope * slope + error * (slope - 1.0)
            }
        };
        error / TAU
    }

    fn cosine_error(&self) -> f64 {
        let reach = reach(self.overflow, self.ratio);
        let half = TAU * reach / f64::from(self.doublings).exp2() / 2.0;
        let first = self.degree + 2;
        let mut term = (1..=first).map(|j| half / j as f64).product::<f64>();
        let mut sum = 0.0;
        for j in (first..first + 400).step_by(2) {
            sum += 2.0 * term;
            term *= half * half / ((j + 1) * (j + 2)) as f64;
        }
        // Coefficients and evaluation in doubles.
        sum + 2f64.powi(-48)
    }
}

fn reach(overflow: u32, ratio: f64) -> f64 {
    f64::from(overflow) + ratio + 0.25
}

/// The Chebyshev series of cos(2π·reach·y/2^doublings), cut off after `degree`: coefficients by the sum over the nodes
/// of T_1024, whose aliases are below doubles' precision for every argument allowed here. The same bits on every
/// machine.
fn cosine_series(reach: f64, doublings: u32, degree: usize) -> Result<Polynomial, Error> {
    const NODES: u64 = 1024;
    let log_order = (4 * NODES).trailing_zeros();
    let turns = reach / f64::from(doublings).exp2();
    let node = |k: u64, j: u64| root_of_unity(j * (2 * k + 1), log_order).0;
    let values: Vec<f64> = (0..NODES)
        .map(|k| cosine_of_turns(turns * node(k, 1)))
        .collect();
    let coefficient = |j: usize| {
        if j % 2 == 1 {
            return 0.0;
        }
        let sum: f64 = (0..NODES)
            .zip(&values)
            .map(|(k, v)| v * node(k, j as u64))
            .sum();
        sum * if j == 0 { 1.0 } else { 2.0 } / NODES as f64
    };
    let coefficients: Vec<f64> = (0..=degree).map(coefficient).collect();
    Polynomial::new(Basis::Chebyshev, &coefficients)
}

/// The coefficient of s^i in the power series of arcsin, i odd.
fn arcsine_term(i: usize) -> f64 {
    let ratio = |j: usize| (j * j) as f64 / ((j + 1) * (j + 2)) as f64;
    (1..i).step_by(2).map(ratio).product()
}

fn arcsine_series(degree: usize) -> Result<Polynomial, Error> {
    let coefficient = |i: usize| if i % 2 == 1 { arcsine_term(i) } else { 0.0 };
    Polynomial::new(
        Basis::Monomial,
        &(0..=degree).map(coefficient).collect::<Vec<_>>(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest error at integers, and around them.
    fn measured(m: &ModularReduction) -> f64 {
        let k = m.overflow() as i32;
        let mut worst = 0f64;
        for i in -k..=k {
            for step in -16..=16 {
                let x = m.ratio() * f64::from(step) / 16.0;
                worst = worst.max((m.eval(f64::from(i) + x) - x).abs());
            }
        }
        worst
    }

    #[test]
    fn the_bound_holds_and_is_close() {
        for (overflow, log2_ratio, degree, doublings, arcsine) in [
            (16, -10.0, 30, 3, 1),
            (16, -10.0, 62, 3, 1),
            (16, -8.0, 62, 3, 5),
            (16, -6.0, 62, 3, 7),
            (16, -10.0, 26, 4, 1),
            (12, -10.0, 30, 3, 3),
            (4, -6.0, 22, 2, 3),
            (2, -10.0, 30, 0, 1),
            (28, -12.0, 46, 4, 1),
        ] {
            let ratio = f64::exp2(log2_ratio);
            let m = ModularReduction::new(overflow, ratio, degree, doublings, arcsine).unwrap();
            let (bound, got) = (m.error(), measured(&m));
            assert!(got <= bound, "{m:?}: {} above {}", got.log2(), bound.log2());
            assert!(
                bound.log2() < got.log2() + 12.0,
                "{} far above {}",
                bound.log2(),
                got.log2()
            );
        }
    }

    #[test]
    fn the_usual_choice_errs_by_little() {
        // Ratio 2^-10: the sine's curvature, 2^-10·2^-17.3, and the cosine.
        let m = ModularReduction::new(16, 2f64.powi(-10), 30, 3, 1).unwrap();
        assert_eq!(m.depth(), 8);
        assert!(m.error().log2() < -24.0, "{}", m.error().log2());
        let m = ModularReduction::new(16, 2f64.powi(-8), 62, 3, 7).unwrap();
        assert_eq!(m.depth(), 12);
        assert!(m.error().log2() < -38.0, "{}", m.error().log2());
    }

    #[test]
    fn degrees_that_do_not_reach_are_refused() {
        let new = ModularReduction::new;
        let r = 2f64.powi(-10);
        for bad in [
            new(0, r, 30, 3, 1),
            new(5000, r, 30, 3, 1),
            new(16, 0.2, 30, 3, 1),
            new(16, f64::NAN, 30, 3, 1),
            new(16, r, 31, 3, 1),
            new(16, r, 0, 3, 1),
            new(16, r, 300, 3, 1),
            new(16, r, 30, 9, 1),
            new(16, r, 30, 3, 2),
            new(16, r, 30, 3, 9),
            new(28, r, 30, 2, 1),
            new(192, r, 30, 3, 1),
        ] {
            assert!(matches!(bad, Err(Error::Bootstrap { .. })), "{bad:?}");
        }
    }
}
