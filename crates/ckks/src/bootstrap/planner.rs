// SPDX-License-Identifier: Apache-2.0
//! A whole set for a wanted bootstrapping: reduction, levels of both transforms, lengths of all primes.
//!
//! Reductions that reach half of the error, one for each largest ratio that is allowed, are joined with every number of
//! levels of the transforms. They are tried in the order of their price, which is the number of residue polynomials
//! that all key switches read: primes are made long enough for the error, by its bound, then each kind as short as it
//! may be. The first that the policy finds secure is taken.

use super::dft::{Direction, diagonal_numbers, even_split};
use super::steps::Steps;
use super::{BootstrapLiteral, BootstrapParams, Message, ReductionGoal};
use crate::{CkksParams, CkksParamsLiteral, Error};
use rlwe::{RlweParamsLiteral, SecurityPolicy};
use zq::primes::{Direction as Search, ntt_primes};

/// Digits of keys that planned sets have at least.
const DIGITS: usize = 3;
/// Longest primes in bits; shorter ones are found near the lengths that are asked for in every ring.
const LONGEST: i32 = 60;
/// Most levels of a transform, and of a reduction.
const MOST_FACTORS: usize = 5;
const MOST_LEVELS: usize = 14;
/// log2 of the smallest ratio of message to modulus that is looked at.
const SMALLEST_RATIO: i32 = 15;
/// Bits by which a kind of primes is made shorter at most.
const MOST_SHORTENED: i32 = 16;
/// Structures whose primes are looked for before the goal is given up.
const MOST_TRIED: usize = 24;

/// What a bootstrapping is wanted for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BootstrapGoal {
    /// Degree of the ring.
    pub n: usize,
    /// Slots of the ciphertexts, a power of two from 2 to n/2.
    pub slots: usize,
    /// Real or complex messages.
    pub message: Message,
    /// Bound on the absolute value of every slot.
    pub bound: f64,
    /// Levels of the application between two refreshes.
    pub levels: usize,
    /// log2 of the error that a refresh may add to a slot.
    pub log2_error: f64,
    /// log2 of the probability that a refresh fails.
    pub log2_failure: f64,
    /// Coefficients ±1 of the sparse secret.
    pub weight: u32,
}

/// Lengths of primes in bits.
#[derive(Clone, Copy, Debug)]
struct Lengths {
    /// Of the application and slots to coefficients: the scale.
    scale: i32,
    reduction: i32,
    coeffs_to_slots: i32,
}

/// A reduction, and levels of the transforms.
#[derive(Clone, Debug)]
struct Structure {
    literal: BootstrapLiteral,
    /// Levels of the reduction.
    depth: usize,
}

impl BootstrapGoal {
    /// The cheapest set and bootstrapping that reach the goal by their bounds, secure by the policy.
    ///
    /// # Errors
    /// [`Error::Bootstrap`] where no structure does, with what the last one lacked.
    pub fn plan(&self, policy: SecurityPolicy) -> Result<BootstrapParams, Error> {
        let mut last = String::from("no reduction reaches it");
        for structure in self.structures()?.into_iter().take(MOST_TRIED) {
            match self.solved(&structure, policy) {
                Ok(found) => return Ok(found),
                Err(error) => last = error.to_string(),
            }
        }
        Err(Error::Bootstrap {
            what: "the bootstrapping that is wanted",
            got: format!(
                "{} levels and an error of 2^{:.1} at n = {} ({last})",
                self.levels, self.log2_error, self.n
            ),
            allowed: "fewer levels, a larger error or a larger ring".into(),
        })
    }

    /// What there is to try, the cheapest first.
    fn structures(&self) -> Result<Vec<Structure>, Error> {
        let own = BootstrapLiteral {
            slots: self.slots,
            message: self.message,
            bound: self.bound,
            log2_failure: self.log2_failure,
            weight: self.weight,
            ..BootstrapLiteral::default()
        };
        let mut reductions: Vec<BootstrapLiteral> = Vec::new();
        for ratio in (4..=SMALLEST_RATIO).rev().step_by(2) {
            let goal = ReductionGoal {
                log2_error: self.log2_error - self.bound.log2() - 1.0,
                levels: MOST_LEVELS,
                log2_ratio: f64::from(ratio),
            };
            match own.clone().with_reduction(self.n, goal) {
                Ok(found) if !reductions.contains(&found) => reductions.push(found),
                Ok(_) | Err(Error::Bootstrap { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let most = MOST_FACTORS.min(self.slots.trailing_zeros() as usize);
        let levels = (1..=most).flat_map(|first| (1..=most).map(move |second| (first, second)));
        let levels: Vec<_> = levels.collect();
        let all = reductions.iter().flat_map(|reduction| {
            levels.iter().map(|&(slots_to_coeffs, coeffs_to_slots)| {
                let literal = BootstrapLiteral {
                    slots_to_coeffs,
                    coeffs_to_slots,
                    ..reduction.clone()
                };
                Structure {
                    depth: literal.reduction_levels(),
                    literal,
                }
            })
        });
        // What the products with all factors cost, by direction and number of factors.
        let costs = Direction::ALL.map(|direction| {
            let counts = (0..=most).map(|count| self.costs(direction, count));
            counts.collect::<Vec<_>>()
        });
        let priced = all.map(|own| (self.price(&own, &costs), own));
        let mut all: Vec<(f64, Structure)> = priced.collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(all.into_iter().map(|(_, own)| own).collect())
    }

    /// What the products with the factors of a transform cost, in key switches.
    fn costs(&self, direction: Direction, count: usize) -> Vec<usize> {
        if count == 0 {
            return Vec::new();
        }
        let factors = diagonal_numbers(direction, self.slots, &even_split(self.slots, count));
        let cheapest = factors.iter().map(|diagonals| {
            let steps = Steps::candidates(diagonals, self.slots);
            steps.first().map_or(0, Steps::cost)
        });
        cheapest.collect()
    }

    /// Residue polynomials that the key switches of a refresh read.
    fn price(&self, own: &Structure, costs: &[Vec<Vec<usize>>; 2]) -> f64 {
        let (literal, top) = (&own.literal, self.primes(own));
        let special = top.div_ceil(DIGITS);
        let read = |limbs: usize| (limbs.div_ceil(special) * (limbs + special)) as f64;
        let transforms = [
            (
                &costs[0][literal.slots_to_coeffs],
                literal.slots_to_coeffs + 1,
            ),
            (&costs[1][literal.coeffs_to_slots], top),
        ];
        let transforms = transforms.into_iter().flat_map(|(costs, first)| {
            let numbered = costs.iter().enumerate();
            numbered.map(move |(i, cost)| *cost as f64 * read(first - i))
        });
        let own_products = f64::from(literal.doublings + literal.arcsine / 2);
        let products = 2.0 * (literal.degree as f64).sqrt() + own_products;
        let parts = match self.message {
            Message::Real => 1.0,
            Message::Complex => 2.0,
        };
        let middle = top - literal.coeffs_to_slots - own.depth / 2;
        transforms.sum::<f64>() + parts * products * read(middle)
    }

    /// Data primes.
    fn primes(&self, own: &Structure) -> usize {
        let literal = &own.literal;
        1 + literal.slots_to_coeffs + self.levels + own.depth + literal.coeffs_to_slots
    }

    /// The set of a structure with primes no longer than it takes, as secure as the policy wants.
    fn solved(&self, own: &Structure, policy: SecurityPolicy) -> Result<BootstrapParams, Error> {
        let few = self.primes(own).div_ceil(2 * DIGITS);
        // Of shorter primes rings have too few.
        let shortest = ((2.0 * self.n as f64).log2() as i32 + 5).max(20);
        // What is insecure with the shortest primes is with all others.
        let least = Lengths {
            scale: shortest,
            reduction: shortest,
            coeffs_to_slots: shortest,
        };
        if let Err(error @ Error::Rlwe(rlwe::Error::Insecure { .. })) =
            self.main_set(own, least, 1, policy)
        {
            return Err(error);
        }
        let beyond = |lengths: Lengths| -> Result<f64, Error> {
            let made = self.made(own, lengths, few, SecurityPolicy::insecure())?;
            Ok(made.error_bound(0.0)?.log2() - self.log2_error)
        };
        let found = Self::shortened(self.long_enough(own, shortest, &beyond)?, shortest, &beyond);
        // More special primes make fewer digits, as far as the policy has room for them.
        let most = self.primes(own).div_ceil(DIGITS);
        let mut last = None;
        for special in (1..=most).rev() {
            match self.made(own, found, special, policy) {
                Ok(made) if made.error_bound(0.0)?.log2() <= self.log2_error => return Ok(made),
                Ok(_) => {}
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or(Error::Bootstrap {
            what: "the number of special primes",
            got: format!("up to {most}"),
            allowed: "as many as keep the error".into(),
        }))
    }

    /// Primes that are long enough: by how many bits the error is `beyond` the goal, they are made longer.
    fn long_enough(
        &self,
        own: &Structure,
        shortest: i32,
        beyond: &impl Fn(Lengths) -> Result<f64, Error>,
    ) -> Result<Lengths, Error> {
        let ratio = own.literal.log2_ratio.ceil() as i32;
        let at = |scale: i32| Lengths {
            scale: scale.clamp(shortest, LONGEST - ratio),
            reduction: (scale + ratio).clamp(shortest, LONGEST),
            coeffs_to_slots: (scale + ratio).clamp(shortest, LONGEST),
        };
        // As a first guess the noise of a division is as large, in all slots, as the ring's degree and some bits.
        let noise = (self.n as f64).log2() as i32 + 6 - self.log2_error.floor() as i32;
        let mut found = at(noise);
        let mut missing = beyond(found)?;
        for _ in 0..4 {
            if missing <= 0.0 {
                return Ok(found);
            }
            found = at(found.scale + missing.ceil() as i32);
            missing = beyond(found)?;
        }
        if missing <= 0.0 {
            return Ok(found);
        }
        Err(Error::Bootstrap {
            what: "the error of primes up to 60 bits",
            got: format!("2^{:.1}", missing + self.log2_error),
            allowed: format!("2^{:.1}", self.log2_error),
        })
    }

    /// The same, each kind of primes in turn as short as the goal lets it be.
    fn shortened(
        mut found: Lengths,
        shortest: i32,
        beyond: &impl Fn(Lengths) -> Result<f64, Error>,
    ) -> Lengths {
        let fields: [fn(&mut Lengths) -> &mut i32; 3] = [
            |l| &mut l.reduction,
            |l| &mut l.scale,
            |l| &mut l.coeffs_to_slots,
        ];
        for field in fields {
            let mut high = *field(&mut found);
            let mut low = (high - MOST_SHORTENED).max(shortest - 1);
            while high - low > 1 {
                let mut trial = found;
                let middle = i32::midpoint(low, high);
                *field(&mut trial) = middle;
                match beyond(trial) {
                    Ok(missing) if missing <= 0.0 => (found, high) = (trial, middle),
                    _ => low = middle,
                }
            }
        }
        found
    }

    /// The bootstrapping with these primes.
    fn made(
        &self,
        own: &Structure,
        lengths: Lengths,
        special: usize,
        policy: SecurityPolicy,
    ) -> Result<BootstrapParams, Error> {
        let main = self.main_set(own, lengths, special, policy)?;
        BootstrapParams::new(&main, &own.literal, policy)
    }

    /// The set with these primes.
    fn main_set(
        &self,
        own: &Structure,
        lengths: Lengths,
        special: usize,
        policy: SecurityPolicy,
    ) -> Result<CkksParams, Error> {
        let literal = &own.literal;
        let first =
            lengths.scale + literal.log2_ratio.ceil() as i32 + self.bound.log2().ceil() as i32;
        let sizes = [
            (first.min(LONGEST), 1),
            (lengths.scale, literal.slots_to_coeffs + self.levels),
            (lengths.reduction, own.depth),
            (lengths.coeffs_to_slots, literal.coeffs_to_slots),
            (
                lengths
                    .reduction
                    .max(lengths.coeffs_to_slots)
                    .max(first.min(LONGEST)),
                special,
            ),
        ];
        let mut primes: Vec<u64> = Vec::new();
        for (bits, count) in sizes {
            let order = 2 * self.n as u64;
            let more = ntt_primes(bits as u32, order, count, Search::Down, &primes);
            primes.extend(more.map_err(|e| Error::Rns(e.into()))?);
        }
        let p = primes.split_off(primes.len() - special);
        let main = CkksParamsLiteral {
            rlwe: RlweParamsLiteral {
                n: self.n,
                dnum: primes.len().div_ceil(special),
                q: primes,
                p,
                ..Default::default()
            },
            scale: f64::from(lengths.scale).exp2(),
        };
        CkksParams::new(&main, policy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::tests::{Bench, WEIGHT, adversarial, fresh};
    use rlwe::Threads;

    /// Errors that are wanted are stated, and held by refreshes of messages chosen to hurt.
    #[test]
    fn planned_sets_reach_their_goals() {
        for (slots, message, bound, levels, log2_error) in [
            (64, Message::Real, 4.0, 2, -12.0),
            (32, Message::Complex, 1.0, 1, -16.0),
        ] {
            let goal = BootstrapGoal {
                n: 128,
                slots,
                message,
                bound,
                levels,
                log2_error,
                log2_failure: -128.0,
                weight: WEIGHT,
            };
            let params = goal.plan(SecurityPolicy::insecure()).unwrap();
            assert_eq!(params.output_level() - params.input_level(), levels);
            assert!(params.error_bound(0.0).unwrap().log2() <= log2_error);
            assert!(params.log2_failure().unwrap() <= -128.0);
            // No prime is longer than it has to be: far below the goal nothing is.
            assert!(
                params.error_bound(0.0).unwrap().log2() > log2_error - 2.0,
                "{goal:?}"
            );
            let bench = Bench::with(&params, Threads::ONE);
            let messages = adversarial(slots, bound);
            let worst = messages
                .iter()
                .map(|(_, message)| bench.refreshed(message, 0));
            let worst = worst.fold(0.0, f64::max);
            assert!(
                worst < log2_error.exp2() + bound * fresh(&bench),
                "{goal:?}: {worst:e}"
            );
        }
    }

    #[test]
    fn goals_beyond_every_set_are_refused() {
        let goal = BootstrapGoal {
            n: 128,
            slots: 64,
            message: Message::Real,
            bound: 1.0,
            levels: 2,
            log2_error: -50.0,
            log2_failure: -128.0,
            weight: WEIGHT,
        };
        let told = |goal: BootstrapGoal, policy| goal.plan(policy).unwrap_err().to_string();
        let far = told(goal, SecurityPolicy::insecure());
        assert!(
            far.contains("an error of 2^-50.0") && far.contains("a larger ring"),
            "{far}"
        );
        let insecure = BootstrapGoal {
            log2_error: -8.0,
            ..goal
        };
        let insecure = told(insecure, SecurityPolicy::default());
        assert!(insecure.contains("a larger ring"), "{insecure}");
    }
}
