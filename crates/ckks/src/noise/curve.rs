// SPDX-License-Identifier: Apache-2.0
//! The error of a polynomial evaluated slot by slot, with the slope it has at each value of its argument.
//!
//! [`Estimator::polynomial`](super::Estimator::polynomial) multiplies bounds: what a rounding early in an evaluation
//! does is then the product of the largest values it meets, which no argument has all at once. Here errors of first
//! order are followed at every value of the argument: what a rounding adds to an intermediate value is multiplied by
//! the derivative of the result by that value. Roundings and key switches are draws, independent of each other, whose
//! squares add; all else adds linearly; terms of higher order are bounded as the estimator does.
//!
//! Arguments are Chebyshev points. Derivatives by intermediate values are polynomials in the argument, hence so are
//! sums of their squares, and of degree d at most; between M points such a polynomial exceeds the largest value at them
//! by 1/cos(πd/2M) at most (Ehlich and Zeller, Math. Zeitschrift 86, 1964).

use super::Estimator;
use crate::Error;
use crate::poly::{Arithmetic, Plan, Polynomial, evaluate};
use crate::scale::SCALE_TOLERANCE;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::rc::Rc;

/// Error bounds of a value, in its own units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// Of independent draws: to be added to others in squares.
    pub drawn: f64,
    /// Of all else.
    pub tied: f64,
}

impl Spread {
    /// Of a draw of its own.
    pub fn drawn(drawn: f64) -> Self {
        Self { drawn, tied: 0.0 }
    }

    /// Of what may depend on anything.
    pub fn tied(tied: f64) -> Self {
        Self { drawn: 0.0, tied }
    }

    /// Both, of draws that have nothing to do with each other.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            drawn: self.drawn.hypot(other.drawn),
            tied: self.tied + other.tied,
        }
    }

    /// Multiplied by a number.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self {
            drawn: self.drawn * factor.abs(),
            tied: self.tied * factor.abs(),
        }
    }

    /// The whole.
    pub fn total(self) -> f64 {
        self.drawn + self.tied
    }
}

/// Evaluations of polynomials of degree up to `degree` in an argument within ±`bound`.
pub struct Curve<'a> {
    estimator: &'a Estimator,
    points: Points,
    bound: f64,
    margin: f64,
    draws: Cell<u32>,
}

/// A number for every point; values that differ in others share it.
type Points = Rc<Vec<f64>>;

/// A value at every point, and what is known of its error.
#[derive(Clone, Debug)]
pub struct Tracked {
    level: usize,
    scale: f64,
    size: usize,
    /// Bound on the value between the points as well.
    most: f64,
    values: Points,
    /// For each draw its amplitude times the derivative by it.
    draws: BTreeMap<u32, Points>,
    tied: Points,
    /// Bound on the terms of second and higher order.
    higher: f64,
}

impl<'a> Curve<'a> {
    /// `degree` is that of everything that follows the argument, composed.
    pub fn new(estimator: &'a Estimator, degree: usize, bound: f64) -> Self {
        let count = (8 * degree).next_power_of_two().max(64);
        let angle = |k: usize| PI * (2 * k + 1) as f64 / (2 * count) as f64;
        Self {
            estimator,
            points: Rc::new((0..count).map(|k| bound * angle(k).cos()).collect()),
            bound,
            // Sums of squares have twice the degree.
            margin: (PI * degree as f64 / count as f64).cos().recip(),
            draws: Cell::new(0),
        }
    }

    /// The argument, to which a constant has been added: that is rounded.
    pub fn argument(&self, level: usize, scale: f64) -> Tracked {
        Tracked {
            level,
            scale,
            size: 2,
            most: self.bound,
            values: self.points.clone(),
            draws: BTreeMap::new(),
            tied: Rc::new(vec![0.5 / scale; self.points.len()]),
            higher: 0.0,
        }
    }

    /// A polynomial of a value, to the scale `scale`, with the very plan that the evaluator follows.
    ///
    /// # Errors
    /// Those of [`super::Estimator::polynomial`].
    pub fn polynomial(
        &self,
        x: &Tracked,
        polynomial: &Polynomial,
        scale: f64,
    ) -> Result<Tracked, Error> {
        evaluate(self, x, &Plan::new(polynomial), scale)
    }

    /// 2c² − 1 of a cosine c, to the scale `scale`.
    ///
    /// # Errors
    /// Those of [`super::Estimator::rescale`].
    pub fn double_angle(&self, c: &Tracked, scale: f64) -> Result<Tracked, Error> {
        let mut square = self.reduce(&self.square(c)?)?;
        square.scale = scale;
        let mut doubled = self.add_constant(&self.add(&square, &square)?, -1.0)?;
        doubled.most = 1.0;
        Ok(doubled)
    }

    /// The largest error at any argument.
    pub fn spread(&self, v: &Tracked) -> Spread {
        let largest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        let mut squares = vec![0.0; self.points.len()];
        for draw in v.draws.values() {
            for (sum, x) in squares.iter_mut().zip(draw.iter()) {
                *sum += x * x;
            }
        }
        Spread {
            drawn: (largest(&squares) * self.margin).sqrt(),
            tied: largest(&v.tied) * self.margin + v.higher,
        }
    }

    /// A draw of its own added; the amplitude is in units of the residues.
    fn draw(&self, v: &mut Tracked, log2_amplitude: f64) {
        let amplitude = (log2_amplitude - v.scale.log2()).exp2();
        let number = self.draws.replace(self.draws.get() + 1);
        v.draws
            .insert(number, Rc::new(vec![amplitude; v.values.len()]));
    }

    fn sum(&self, a: &Tracked, b: &Tracked, sign: f64) -> Tracked {
        let mut sum = a.clone();
        sum.level = a.level.min(b.level);
        sum.size = a.size.max(b.size);
        sum.most = a.most + b.most;
        sum.higher = a.higher + b.higher;
        pairwise(&mut sum.values, &b.values, |x, y| x + sign * y);
        pairwise(&mut sum.tied, &b.tied, |x, y| x + y);
        // Scales are equal up to rounding.
        pairwise(&mut sum.tied, &b.values, |x, y| {
            x + y.abs() * SCALE_TOLERANCE
        });
        for (draw, slope) in &b.draws {
            match sum.draws.get_mut(draw) {
                Some(own) => pairwise(own, slope, |x, y| x + sign * y),
                None => {
                    sum.draws.insert(*draw, scaled(slope, sign));
                }
            }
        }
        sum
    }

    fn product(&self, a: &Tracked, b: &Tracked) -> Tracked {
        let (all_a, all_b) = (self.spread(a).total(), self.spread(b).total());
        let mut product = Tracked {
            level: a.level.min(b.level),
            scale: a.scale * b.scale,
            size: a.size + b.size - 1,
            most: a.most * b.most,
            values: times(&a.values, &b.values),
            draws: BTreeMap::new(),
            tied: times(&a.tied, &magnitudes(&b.values)),
            higher: a.most * b.higher + b.most * a.higher + all_a * all_b,
        };
        let other = times(&b.tied, &magnitudes(&a.values));
        pairwise(&mut product.tied, &other, |x, y| x + y);
        for (of, values) in [(a, &b.values), (b, &a.values)] {
            for (draw, slope) in &of.draws {
                let slope = times(slope, values);
                match product.draws.get_mut(draw) {
                    Some(own) => pairwise(own, &slope, |x, y| x + y),
                    None => {
                        product.draws.insert(*draw, slope);
                    }
                }
            }
        }
        product
    }
}

fn pairwise(a: &mut Points, b: &[f64], f: impl Fn(f64, f64) -> f64) {
    let own = Rc::make_mut(a).iter_mut();
    own.zip(b).for_each(|(x, y)| *x = f(*x, *y));
}

fn times(a: &[f64], b: &[f64]) -> Points {
    Rc::new(a.iter().zip(b).map(|(x, y)| x * y).collect())
}

fn scaled(a: &[f64], factor: f64) -> Points {
    Rc::new(a.iter().map(|x| x * factor).collect())
}

fn magnitudes(a: &[f64]) -> Vec<f64> {
    a.iter().map(|x| x.abs()).collect()
}

impl Arithmetic for Curve<'_> {
    type Value = Tracked;

    fn level(&self, v: &Tracked) -> usize {
        v.level
    }
    fn scale(&self, v: &Tracked) -> f64 {
        v.scale
    }
    fn divisor(&self, level: usize) -> f64 {
        Arithmetic::divisor(self.estimator, level)
    }
    fn drop_to(&self, v: &Tracked, level: usize) -> Result<Tracked, Error> {
        Ok(Tracked {
            level: level.min(v.level),
            ..v.clone()
        })
    }
    fn set_scale(&self, v: &mut Tracked, scale: f64) {
        v.scale = scale;
    }
    fn limit(&self, v: &mut Tracked, bound: f64) {
        v.most = v.most.min(bound);
    }
    fn add(&self, a: &Tracked, b: &Tracked) -> Result<Tracked, Error> {
        Ok(self.sum(a, b, 1.0))
    }
    fn sub(&self, a: &Tracked, b: &Tracked) -> Result<Tracked, Error> {
        Ok(self.sum(a, b, -1.0))
    }
    fn multiply(&self, a: &Tracked, b: &Tracked) -> Result<Tracked, Error> {
        Ok(self.product(a, b))
    }
    fn square(&self, v: &Tracked) -> Result<Tracked, Error> {
        Ok(self.product(v, v))
    }
    /// The constant is rounded to a multiple of `v.scale/scale`.
    fn multiply_constant(&self, v: &Tracked, c: f64, scale: f64) -> Result<Tracked, Error> {
        let (mut out, step) = (v.clone(), 0.5 * v.scale / scale);
        out.values = scaled(&v.values, c);
        for slope in out.draws.values_mut() {
            *slope = scaled(slope, c);
        }
        out.tied = scaled(&v.tied, c.abs());
        pairwise(&mut out.tied, &v.values, |x, y| x + y.abs() * step);
        out.higher = v.higher * c.abs() + self.spread(v).total() * step;
        out.most = v.most * c.abs();
        out.scale = scale;
        Ok(out)
    }
    fn add_constant(&self, v: &Tracked, c: f64) -> Result<Tracked, Error> {
        let mut out = v.clone();
        for x in Rc::make_mut(&mut out.values) {
            *x += c;
        }
        for x in Rc::make_mut(&mut out.tied) {
            *x += 0.5 / v.scale;
        }
        out.most = v.most + c.abs();
        Ok(out)
    }
    fn reduce(&self, v: &Tracked) -> Result<Tracked, Error> {
        let mut out = v.clone();
        if v.size > 2 {
            self.draw(&mut out, self.estimator.log2_key_products(v.level));
            if self.estimator.divides() {
                self.draw(&mut out, self.estimator.log2_rounding(2));
            }
        }
        let divisor = self.estimator.log2_divisor(v.level)?;
        (out.scale, out.level, out.size) = (v.scale / divisor.exp2(), v.level - 1, 2);
        self.draw(&mut out, self.estimator.log2_rounding(2));
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Basis;
    use rlwe::{ErrorDistribution, SecretDistribution};
    use zq::primes::{Direction, ntt_primes};

    fn estimator() -> Estimator {
        let primes = ntt_primes::<u64>(40, 1 << 9, 12, Direction::Down, &[]).unwrap();
        let (q, p) = primes.split_at(10);
        let (secret, error) = (SecretDistribution::Ternary, ErrorDistribution::default());
        Estimator::new(1 << 8, secret, &error, q, p, 5).unwrap()
    }

    /// A value with errors that are drawn: all of their amplitude, with signs of their own.
    struct Simulated<'a>(&'a Estimator, Cell<u64>);

    #[derive(Clone)]
    struct Value {
        level: usize,
        scale: f64,
        size: usize,
        value: f64,
    }

    impl Simulated<'_> {
        fn draw(&self, log2_amplitude: f64, scale: f64) -> f64 {
            let state = self
                .1
                .get()
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            self.1.set(state);
            let sign = if state >> 63 == 0 { 1.0 } else { -1.0 };
            sign * log2_amplitude.exp2() / scale
        }
    }

    impl Arithmetic for Simulated<'_> {
        type Value = Value;

        fn level(&self, v: &Value) -> usize {
            v.level
        }
        fn scale(&self, v: &Value) -> f64 {
            v.scale
        }
        fn divisor(&self, level: usize) -> f64 {
            Arithmetic::divisor(self.0, level)
        }
        fn drop_to(&self, v: &Value, level: usize) -> Result<Value, Error> {
            Ok(Value { level, ..v.clone() })
        }
        fn set_scale(&self, v: &mut Value, scale: f64) {
            v.scale = scale;
        }
        fn limit(&self, _: &mut Value, _: f64) {}
        fn add(&self, a: &Value, b: &Value) -> Result<Value, Error> {
            let size = a.size.max(b.size);
            Ok(Value {
                value: a.value + b.value,
                size,
                ..*a
            })
        }
        fn sub(&self, a: &Value, b: &Value) -> Result<Value, Error> {
            let size = a.size.max(b.size);
            Ok(Value {
                value: a.value - b.value,
                size,
                ..*a
            })
        }
        fn multiply(&self, a: &Value, b: &Value) -> Result<Value, Error> {
            let (value, scale) = (a.value * b.value, a.scale * b.scale);
            Ok(Value {
                value,
                scale,
                size: 3,
                ..*a
            })
        }
        fn square(&self, v: &Value) -> Result<Value, Error> {
            self.multiply(v, v)
        }
        fn multiply_constant(&self, v: &Value, c: f64, scale: f64) -> Result<Value, Error> {
            let rounded = (c * scale / v.scale).round() * v.scale / scale;
            Ok(Value {
                value: v.value * rounded,
                scale,
                ..*v
            })
        }
        fn add_constant(&self, v: &Value, c: f64) -> Result<Value, Error> {
            Ok(Value {
                value: v.value + (c * v.scale).round() / v.scale,
                ..*v
            })
        }
        fn reduce(&self, v: &Value) -> Result<Value, Error> {
            let mut value = v.value;
            if v.size > 2 {
                value += self.draw(self.0.log2_key_products(v.level), v.scale);
                value += self.draw(self.0.log2_rounding(2), v.scale);
            }
            let scale = v.scale / self.0.log2_divisor(v.level)?.exp2();
            value += self.draw(self.0.log2_rounding(2), scale);
            Ok(Value {
                level: v.level - 1,
                scale,
                size: 2,
                value,
            })
        }
    }

    /// The cosine's sum and two double angles. A sum of independent signs exceeds four times the root of the squares
    /// with probability below 2^-10, at every argument anew.
    #[test]
    fn simulated_errors_stay_within_the_spread_and_come_close() {
        let estimator = estimator();
        let c: Vec<f64> = (0..=14)
            .map(|k| {
                if k % 2 == 0 {
                    0.4 / f64::from(k + 1)
                } else {
                    0.0
                }
            })
            .collect();
        for basis in [Basis::Chebyshev, Basis::Monomial] {
            let polynomial = Polynomial::new(basis, &c).unwrap();
            let curve = Curve::new(&estimator, 14 << 1, 1.0);
            let (level, scale) = (9, Arithmetic::divisor(&estimator, 9));
            let tracked = curve.argument(level, scale);
            let tracked = curve.polynomial(&tracked, &polynomial, scale).unwrap();
            let tracked = curve.double_angle(&tracked, scale).unwrap();
            let spread = curve.spread(&tracked);
            let simulated = Simulated(&estimator, Cell::new(7));
            let mut worst = 0f64;
            for k in 0..400 {
                let y = f64::from(k) / 200.0 - 1.0;
                let x = Value {
                    level,
                    scale,
                    size: 2,
                    value: y,
                };
                let value = evaluate(&simulated, &x, &Plan::new(&polynomial), scale).unwrap();
                let mut square = simulated
                    .reduce(&simulated.square(&value).unwrap())
                    .unwrap();
                square.scale = scale;
                let error = 2.0 * square.value - 1.0 - (2.0 * polynomial.eval(y).powi(2) - 1.0);
                worst = worst.max(error.abs());
            }
            assert!(
                worst < 4.0 * spread.drawn + spread.tied,
                "{basis:?} {worst:e} {spread:?}"
            );
            assert!(
                worst > 0.25 * spread.total(),
                "{basis:?} {worst:e} {spread:?}"
            );
            let e = estimator.encode_rounded(1.0, level, scale, f64::NEG_INFINITY);
            let e = crate::noise::Estimate { size: 2, ..e };
            let bound = estimator.polynomial(&e, &polynomial, scale).unwrap();
            let bound = bound.log2_error.exp2() / bound.scale;
            assert!(
                spread.total() < 4.0 * bound,
                "{basis:?} {spread:?} {bound:e}"
            );
        }
    }
}
