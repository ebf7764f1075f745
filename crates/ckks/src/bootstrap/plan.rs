// SPDX-License-Identifier: Apache-2.0
//! Which reduction reaches a wanted error: degree of the cosine, double angles, arcsine, ratio of message to modulus.
//!
//! A level costs a prime, so the fewest levels come first. Of reductions with as many, the one with the largest ratio
//! is taken, which the noise of all else counts least against; then the one with the lowest degree.

use super::BootstrapLiteral;
use super::literal::MIN_LOG2_RATIO;
use super::modular::{MAX_COSINE_DEGREE, MAX_DOUBLINGS, Shape};
use crate::Error;
use rlwe::SecretDistribution;
use rlwe::noise::least_overflow;

/// Ratios that are tried, from the least −log2 on.
const RATIO_STEP: f64 = 0.25;
const ARCSINES: [u32; 4] = [1, 3, 5, 7];

/// What a reduction is wanted for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReductionGoal {
    /// log2 of the error that it may add to a slot, the bound on messages being 1.
    pub log2_error: f64,
    /// Most levels that it may take.
    pub levels: usize,
    /// Largest −log2 of the ratio of message to modulus: the first prime has room for no more.
    pub log2_ratio: f64,
}

impl BootstrapLiteral {
    /// The same in a ring of degree `n` with the cheapest reduction that reaches a goal, for the literal's own weight
    /// and failure: sets `degree`, `doublings`, `arcsine` and `log2_ratio`.
    ///
    /// # Errors
    /// [`Error::Bootstrap`] where none does, with the least error that the same levels and ratio reach.
    pub fn with_reduction(self, n: usize, goal: ReductionGoal) -> Result<Self, Error> {
        let ratios = ratios(n, &self, goal.log2_ratio)?;
        let (mut best, mut least): (Option<Candidate>, f64) = (None, 0.0);
        for arcsine in ARCSINES {
            for doublings in 0..=MAX_DOUBLINGS {
                let shape = |degree| Shape {
                    degree,
                    doublings,
                    arcsine,
                    ..Shape::default()
                };
                for degree in longest_degrees() {
                    let depth = shape(degree).depth();
                    if depth > goal.levels {
                        break;
                    }
                    let errors = ratios.iter().map(|ratio| ratio.log2_error(shape(degree)));
                    least = errors.fold(least, f64::min);
                    if let Some(found) = reached(&ratios, shape(degree), goal.log2_error)
                        && best.as_ref().is_none_or(|best| found.key() < best.key())
                    {
                        best = Some(found);
                    }
                }
            }
        }
        let found = best.ok_or_else(|| Error::Bootstrap {
            what: "the error wanted of the reduction",
            got: format!("2^{:.1}", goal.log2_error),
            allowed: format!(
                "2^{least:.1} or more with {} levels and ratios down to 2^-{}",
                goal.levels, goal.log2_ratio
            ),
        })?;
        Ok(Self {
            degree: found.shape.degree,
            doublings: found.shape.doublings,
            arcsine: found.shape.arcsine,
            log2_ratio: found.log2_ratio,
            ..self
        })
    }
}

impl BootstrapLiteral {
    /// Levels of the reduction.
    pub(super) fn reduction_levels(&self) -> usize {
        let shape = Shape {
            degree: self.degree,
            doublings: self.doublings,
            arcsine: self.arcsine,
            ..Shape::default()
        };
        shape.depth()
    }
}

/// A ratio of message to modulus and the overflow that goes with it.
struct Ratio {
    log2_ratio: f64,
    overflow: u32,
}

impl Ratio {
    /// log2 of the error of a reduction, the bound on messages being 1.
    fn log2_error(&self, shape: Shape) -> f64 {
        let shape = Shape {
            overflow: self.overflow,
            ratio: (-self.log2_ratio).exp2(),
            ..shape
        };
        shape.error_within(1.0).log2() + self.log2_ratio
    }
}

/// The ratios there are, the largest first.
fn ratios(n: usize, literal: &BootstrapLiteral, most: f64) -> Result<Vec<Ratio>, Error> {
    let secret = SecretDistribution::FixedWeight {
        weight: literal.weight,
    };
    let steps = (0..).map(|i| MIN_LOG2_RATIO + f64::from(i) * RATIO_STEP);
    let ratio = |log2_ratio: f64| {
        let overflow = least_overflow(n, secret, (-log2_ratio).exp2(), literal.log2_failure)?;
        Ok(Ratio {
            log2_ratio,
            overflow: overflow.max(1),
        })
    };
    steps.take_while(|step| *step <= most).map(ratio).collect()
}

/// The longest even degree of each depth.
fn longest_degrees() -> impl Iterator<Item = usize> {
    let all = (2..).map(|depth| (1 << depth) - 2);
    all.take_while(|degree| *degree <= MAX_COSINE_DEGREE)
}

/// A reduction that reaches the goal.
struct Candidate {
    shape: Shape,
    log2_ratio: f64,
}

impl Candidate {
    /// What candidates are compared by.
    fn key(&self) -> (usize, i64, usize) {
        let ratio = (self.log2_ratio / RATIO_STEP) as i64;
        (self.shape.depth(), ratio, self.shape.degree)
    }
}

/// The largest ratio at which a shape errs by no more than wanted, and the lowest degree there.
fn reached(ratios: &[Ratio], shape: Shape, log2_error: f64) -> Option<Candidate> {
    let ratio = (ratios.iter()).find(|ratio| ratio.log2_error(shape) <= log2_error)?;
    let shorter = (1..=shape.degree / 2).map(|half| Shape {
        degree: 2 * half,
        ..shape
    });
    let shape = shorter
        .into_iter()
        .find(|shape| ratio.log2_error(*shape) <= log2_error)?;
    Some(Candidate {
        shape,
        log2_ratio: ratio.log2_ratio,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::ModularReduction;

    const N: usize = 1 << 15;

    fn planned(log2_error: f64, levels: usize, log2_ratio: f64) -> Result<BootstrapLiteral, Error> {
        let goal = ReductionGoal {
            log2_error,
            levels,
            log2_ratio,
        };
        BootstrapLiteral::default().with_reduction(N, goal)
    }

    /// The reduction that a literal makes, whose error is measured against the goal by its own bound.
    fn made(l: &BootstrapLiteral) -> ModularReduction {
        let secret = SecretDistribution::FixedWeight { weight: l.weight };
        let ratio = (-l.log2_ratio).exp2();
        let overflow = least_overflow(N, secret, ratio, l.log2_failure).unwrap();
        ModularReduction::new(overflow, ratio, l.degree, l.doublings, l.arcsine).unwrap()
    }

    #[test]
    fn the_error_is_reached_with_as_few_levels_as_known_sets_take() {
        // (wanted, largest ratio, levels): the second is what published sets of 50-bit primes take.
        for (wanted, ratio, levels) in [
            (-8.0, 12.0, 8),
            (-15.0, 10.0, 8),
            (-17.0, 10.0, 8),
            (-30.0, 10.0, 11),
        ] {
            let literal = planned(wanted, 20, ratio).unwrap();
            let reduction = made(&literal);
            assert!(reduction.depth() <= levels, "{wanted}: {literal:?}");
            let error = reduction.error() / reduction.ratio();
            assert!(
                error.log2() <= wanted && literal.log2_ratio <= ratio,
                "{literal:?}"
            );
            // One level less does not do.
            let fewer = planned(wanted, reduction.depth() - 1, ratio).unwrap_err();
            assert!(fewer.to_string().contains("levels and ratios"), "{fewer}");
        }
    }

    #[test]
    fn what_a_refusal_names_is_reached() {
        let error = planned(-45.0, 9, 12.0).unwrap_err().to_string();
        let least = error.split("allowed: 2^").nth(1).unwrap();
        let least: f64 = least.split(' ').next().unwrap().parse().unwrap();
        assert!(least > -45.0, "{error}");
        planned(least + 0.1, 9, 12.0).unwrap();
        assert!(planned(least - 0.2, 9, 12.0).is_err());
    }
}
