// SPDX-License-Identifier: Apache-2.0
//! A whole set for a wanted bootstrapping: reduction, levels of both transforms, lengths of all primes.
//!
//! Reductions that reach half of the error, one for each largest ratio that is allowed, are joined with every number of
//! levels of the transforms. For each the shortest primes are estimated ([`Finder`]), then as many special primes and
//! levels as the policy has room for, one by one. What is left is tried in the order of its price for each level, the
//! number of residue polynomials that all key switches read. The first whose exact bound reaches the goal is taken.

use super::dft::{Direction, diagonal_numbers, even_split};
use super::goal::DIGITS;
use super::lengths::{Finder, LONGEST, Lengths};
use super::steps::Steps;
use super::{BootstrapGoal, BootstrapLiteral, BootstrapParams, Message, ReductionGoal};
use crate::{CkksParams, CkksParamsLiteral, Error};
use rlwe::security::{Drawn, Security};
use rlwe::{RlweParamsLiteral, SecretDistribution, SecurityPolicy};
use zq::primes::{Direction as Search, ntt_primes};

/// Most levels of a transform, and of a reduction.
const MOST_FACTORS: usize = 5;
const MOST_LEVELS: usize = 14;
/// Most stages of a factor: one more and it has 511 diagonals, which no refresh is faster with.
const MOST_STAGES: usize = 7;
/// log2 of the smallest ratio of message to modulus that is looked at.
const SMALLEST_RATIO: i32 = 15;
/// Bits of modulus that are left free.
const SPARE: f64 = 0.5;
/// Sets that are made before the goal is given up, and how often the lengths of one are mended.
const MOST_TRIED: usize = 6;
const MOST_MENDED: usize = 4;
/// By how much lengths are mended beyond what is missing, in bits.
const MENDED: f64 = 0.02;

/// A reduction and levels of the transforms, with primes, special primes and levels between two refreshes.
#[derive(Clone, Debug)]
struct Candidate {
    literal: BootstrapLiteral,
    lengths: Lengths,
    special: usize,
    levels: usize,
    /// Of a level.
    price: f64,
}

/// What the products with all factors cost in key switches, by direction and number of factors.
type Costs = [Vec<Vec<usize>>; 2];

impl BootstrapGoal {
    /// The cheapest set and bootstrapping that reach the goal by their bounds, secure by the policy.
    ///
    /// # Errors
    /// [`Error::Bootstrap`] for numbers out of range, and where no set reaches the goal, with what is missing.
    pub fn plan(&self, policy: SecurityPolicy) -> Result<BootstrapParams, Error> {
        self.check()?;
        let sparse = SecretDistribution::FixedWeight {
            weight: self.weight,
        };
        // Its set has the first prime and a special one as long.
        let longest = (self.room(sparse, policy)? / 2.0)
            .floor()
            .min(LONGEST.into());
        let mut finder = Finder::new(self, longest as i32)?;
        let mut last = format!(
            "no reduction reaches it with primes of {LONGEST} bits, the first of {} at most",
            longest.max(0.0)
        );
        let mut all: Vec<Candidate> = Vec::new();
        let room = self.room(SecretDistribution::default(), policy)?;
        let costs = self.costs();
        for literal in self.literals()? {
            let Some(lengths) = finder.shortest_for(&literal, self.log2_error)? else {
                continue;
            };
            match self.cheapest(&literal, lengths, room, &costs) {
                Some(found) => all.push(found),
                None => last = self.too_long(&literal, lengths, room),
            }
        }
        all.sort_by(|a, b| a.price.total_cmp(&b.price));
        for candidate in all.into_iter().take(MOST_TRIED) {
            match self.made(candidate, &mut finder, (policy, room), &costs) {
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

    /// Bits of modulus that the policy has room for with such a secret.
    fn room(&self, secret: SecretDistribution, policy: SecurityPolicy) -> Result<f64, Error> {
        if policy.allow_insecure {
            return Ok(f64::INFINITY);
        }
        let error = RlweParamsLiteral::<u64>::default().error;
        let asked = SecurityPolicy {
            allow_insecure: true,
            ..policy
        };
        let judged = Security::judge(Drawn { secret, error }, self.n, 1.0, asked)?;
        // Primes found near a length may be a little longer.
        Ok(judged.max_log2_qp.map_or(0.0, f64::from) - SPARE)
    }

    fn too_long(&self, literal: &BootstrapLiteral, lengths: Lengths, room: f64) -> String {
        let bits = lengths.bits(literal, self.levels) + lengths.special();
        format!("its primes take {bits} bits, secure are {room}")
    }

    /// Reductions, joined with levels of the transforms.
    fn literals(&self) -> Result<Vec<BootstrapLiteral>, Error> {
        let own = BootstrapLiteral {
            slots: self.slots,
            message: self.message,
            bound: self.bound,
            log2_failure: self.log2_failure,
            weight: self.weight,
            passes: self.passes,
            ..BootstrapLiteral::default()
        };
        let mut reductions: Vec<BootstrapLiteral> = Vec::new();
        for ratio in (4..=SMALLEST_RATIO).rev().step_by(2) {
            let goal = ReductionGoal {
                log2_error: self.log2_error_of_pass() - self.bound.log2() - 1.0,
                levels: MOST_LEVELS,
                log2_ratio: f64::from(ratio),
            };
            match own.clone().with_reduction(self.n, goal) {
                Ok(found) if !reductions.contains(&found) => reductions.push(found),
                Ok(_) | Err(Error::Bootstrap { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let factors = self.factors();
        let all = reductions.iter().flat_map(|reduction| {
            let pairs = factors
                .clone()
                .flat_map(|first| factors.clone().map(move |second| (first, second)));
            pairs.map(|(slots_to_coeffs, coeffs_to_slots)| BootstrapLiteral {
                slots_to_coeffs,
                coeffs_to_slots,
                ..reduction.clone()
            })
        });
        Ok(all.collect())
    }

    /// Numbers of factors of a transform.
    fn factors(&self) -> std::ops::RangeInclusive<usize> {
        let stages = self.slots.trailing_zeros() as usize;
        stages.div_ceil(MOST_STAGES)..=MOST_FACTORS.min(stages)
    }

    fn costs(&self) -> Costs {
        Direction::ALL.map(|direction| {
            let counts = (0..=*self.factors().end()).map(|count| self.costs_of(direction, count));
            counts.collect::<Vec<_>>()
        })
    }

    /// What the products with the factors of a transform cost, in key switches.
    fn costs_of(&self, direction: Direction, count: usize) -> Vec<usize> {
        if !self.factors().contains(&count) {
            return Vec::new();
        }
        let factors = diagonal_numbers(direction, self.slots, &even_split(self.slots, count));
        let cheapest = factors.iter().map(|diagonals| {
            let steps = Steps::candidates(diagonals, self.slots);
            steps.first().map_or(0, Steps::cost)
        });
        cheapest.collect()
    }

    /// The number of special primes and levels that make a level cheapest, within `room` bits; none where there is no
    /// room.
    fn cheapest(
        &self,
        literal: &BootstrapLiteral,
        lengths: Lengths,
        room: f64,
        costs: &Costs,
    ) -> Option<Candidate> {
        let least = lengths.bits(literal, self.levels);
        let primes = |levels| {
            lengths
                .runs(literal, levels)
                .iter()
                .map(|(_, count)| count)
                .sum::<usize>()
        };
        let most = primes(self.most_levels).div_ceil(DIGITS);
        let all = (1..=most).filter_map(|special| {
            let left = room - f64::from(least + special as i32 * lengths.special());
            let more = (left / f64::from(lengths.scale)).floor();
            let levels = (more >= 0.0).then_some((self.levels as f64 + more) as usize)?;
            let levels = levels.min(self.most_levels);
            let price = self.price(literal, primes(levels), special, costs) / levels as f64;
            Some(Candidate {
                literal: literal.clone(),
                lengths,
                special,
                levels,
                price,
            })
        });
        all.min_by(|a, b| a.price.total_cmp(&b.price))
    }

    /// Residue polynomials that the key switches of a refresh read, with `top` data and `special` special primes.
    fn price(&self, literal: &BootstrapLiteral, top: usize, special: usize, costs: &Costs) -> f64 {
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
        let middle = top - literal.coeffs_to_slots - literal.reduction_levels() / 2;
        let once = transforms.sum::<f64>() + parts * products * read(middle);
        f64::from(literal.passes) * once
    }

    /// The bootstrapping of a candidate, its primes longer where the exact bound misses the goal.
    fn made(
        &self,
        candidate: Candidate,
        finder: &mut Finder<'_>,
        (policy, room): (SecurityPolicy, f64),
        costs: &Costs,
    ) -> Result<BootstrapParams, Error> {
        let (mut own, mut wanted) = (candidate, self.log2_error);
        let mut missing = f64::INFINITY;
        for _ in 0..MOST_MENDED {
            let made = BootstrapParams::new(&self.main_set(&own, policy)?, &own.literal, policy)?;
            missing = made.error_bound(0.0)?.log2() - self.log2_error;
            if missing <= 0.0 {
                return Ok(made);
            }
            wanted -= missing + MENDED;
            let longer = finder.shortest_for(&own.literal, wanted)?;
            let mended = longer.and_then(|longer| self.cheapest(&own.literal, longer, room, costs));
            let Some(mended) = mended else {
                break;
            };
            own = mended;
        }
        Err(Error::Bootstrap {
            what: "the error of the longest primes there is room for",
            got: format!("2^{:.1}", missing + self.log2_error),
            allowed: format!("2^{:.1}", self.log2_error),
        })
    }

    /// The set of a candidate.
    fn main_set(&self, own: &Candidate, policy: SecurityPolicy) -> Result<CkksParams, Error> {
        let runs = own.lengths.runs(&own.literal, own.levels);
        let special = (own.lengths.special().min(LONGEST), own.special);
        let mut primes: Vec<u64> = Vec::new();
        for (bits, count) in runs.into_iter().chain([special]) {
            let order = 2 * self.n as u64;
            let more = ntt_primes(bits as u32, order, count, Search::Down, &primes);
            primes.extend(more.map_err(|e| Error::Rns(e.into()))?);
        }
        let p = primes.split_off(primes.len() - own.special);
        let main = CkksParamsLiteral {
            rlwe: RlweParamsLiteral {
                n: self.n,
                dnum: primes.len().div_ceil(own.special),
                q: primes,
                p,
                ..Default::default()
            },
            scale: f64::from(own.lengths.scale).exp2(),
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
                most_levels: levels,
                log2_error,
                log2_failure: -128.0,
                weight: WEIGHT,
                passes: 1,
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
            most_levels: 2,
            log2_error: -50.0,
            log2_failure: -128.0,
            weight: WEIGHT,
            passes: 1,
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
