// SPDX-License-Identifier: Apache-2.0
//! A whole set for a wanted bootstrapping: reduction, levels of both transforms, lengths of all primes.
//!
//! Reductions that reach half of the error, one for each largest ratio that is allowed, are joined with every number of
//! levels of the transforms and each secret. For each the shortest primes are estimated ([`Finder`]), then as many
//! special primes and levels as the policy has room for, one by one. What is left is tried in the order of its price
//! for each level, the residue polynomials that all key switches read, doubled at levels with long primes. The first
//! whose exact bound reaches the goal is taken.

use super::dft::{Direction, diagonal_numbers, even_split};
use super::goal::DIGITS;
use super::lengths::{Finder, LONGEST, Lengths, SHORT, Wanted};
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
/// Coefficients ±1 of the sparser secret that sets are planned for beside a ternary one: it makes every rounding some
/// bits smaller, and a modulus as secure a little shorter.
const SPARSER: u32 = 1024;
/// Bits that the special primes together are longer than a digit: the keys' noise then counts little beside roundings.
const ABOVE_DIGIT: i32 = 10;
/// What key switches take where a prime is above [`SHORT`] bits, 1 being what they take of short ones: sums of products
/// leave 52 bits, and doubles, for all primes of a level (docs/performance.md).
const LONG_EFFORT: f64 = 2.0;
/// Sets that are made before the goal is given up, and how often the lengths of one are mended.
const MOST_TRIED: usize = 6;
const MOST_MENDED: usize = 4;
/// By how much lengths are mended beyond what is missing, in bits.
const MENDED: f64 = 0.02;

/// A main secret and the bits of modulus that there is room for with it.
#[derive(Clone, Copy, Debug)]
struct Main {
    secret: SecretDistribution,
    room: f64,
}

/// A reduction and levels of the transforms, with primes, special primes and levels between two refreshes.
#[derive(Clone, Debug)]
struct Candidate {
    literal: BootstrapLiteral,
    main: Main,
    lengths: Lengths,
    chain: Chain,
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
        let mains = self.mains(policy)?;
        let costs = self.costs();
        for literal in self.literals()? {
            for main in &mains {
                let wanted = Wanted {
                    literal: &literal,
                    secret: main.secret,
                    log2_error: self.log2_error,
                };
                for lengths in finder.shortest_for(wanted)? {
                    match self.cheapest(&literal, *main, lengths, &costs) {
                        Some(found) => all.push(found),
                        None => last = self.too_long(&literal, lengths, main.room),
                    }
                }
            }
        }
        all.sort_by(|a, b| a.price.total_cmp(&b.price));
        for candidate in all.into_iter().take(MOST_TRIED) {
            match self.made(candidate, &mut finder, policy, &costs) {
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

    /// The secrets that sets are planned for: ternary, and the sparser one where the policy knows it.
    fn mains(&self, policy: SecurityPolicy) -> Result<Vec<Main>, Error> {
        let main = |secret| -> Result<Main, Error> {
            let room = self.room(secret, policy)?;
            Ok(Main { secret, room })
        };
        let mut mains = vec![main(SecretDistribution::default())?];
        if 2 * (SPARSER as usize) < self.n {
            let sparser = main(SecretDistribution::FixedWeight { weight: SPARSER })?;
            mains.extend(Some(sparser).filter(|sparser| sparser.room > 0.0));
        }
        Ok(mains)
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
        main: Main,
        lengths: Lengths,
        costs: &Costs,
    ) -> Option<Candidate> {
        let most = lengths.each(literal, self.most_levels).len();
        let all = (1..=most.div_ceil(DIGITS)).filter_map(|special| {
            let levels = (self.levels..=self.most_levels).rev();
            let mut chains = levels.map(|levels| Chain::new(&lengths, literal, levels, special));
            let chain = chains.find(|chain| f64::from(chain.bits()) <= main.room)?;
            let levels = chain.levels;
            let price = self.price(literal, &Read::new(&chain), costs) / levels as f64;
            Some(Candidate {
                literal: literal.clone(),
                main,
                lengths,
                chain,
                price,
            })
        });
        all.min_by(|a, b| a.price.total_cmp(&b.price))
    }

    /// What the key switches of a refresh read.
    fn price(&self, literal: &BootstrapLiteral, read: &Read, costs: &Costs) -> f64 {
        let top = read.top;
        let transforms = [
            (
                &costs[0][literal.slots_to_coeffs],
                literal.slots_to_coeffs + 1,
            ),
            (&costs[1][literal.coeffs_to_slots], top),
        ];
        let transforms = transforms.into_iter().flat_map(|(costs, first)| {
            let numbered = costs.iter().enumerate();
            numbered.map(move |(i, cost)| *cost as f64 * read.of(first - i))
        });
        let own_products = f64::from(literal.doublings + literal.arcsine / 2);
        let products = 2.0 * (literal.degree as f64).sqrt() + own_products;
        let parts = match self.message {
            Message::Real => 1.0,
            Message::Complex => 2.0,
        };
        let middle = top - literal.coeffs_to_slots - literal.reduction_levels() / 2;
        let once = transforms.sum::<f64>() + parts * products * read.of(middle);
        f64::from(literal.passes) * once
    }

    /// The bootstrapping of a candidate, its primes longer where the exact bound misses the goal.
    fn made(
        &self,
        candidate: Candidate,
        finder: &mut Finder<'_>,
        policy: SecurityPolicy,
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
            let longer = finder.shortest_for(Wanted {
                literal: &own.literal,
                secret: own.main.secret,
                log2_error: wanted,
            })?;
            let mended = longer
                .into_iter()
                .filter_map(|longer| self.cheapest(&own.literal, own.main, longer, costs));
            let Some(mended) = mended.min_by(|a, b| a.price.total_cmp(&b.price)) else {
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
        let mut primes: Vec<u64> = Vec::new();
        let all = own.chain.data.iter().chain(&own.chain.special);
        for bits in all {
            let order = 2 * self.n as u64;
            let more = ntt_primes(*bits as u32, order, 1, Search::Down, &primes);
            primes.extend(more.map_err(|e| Error::Rns(e.into()))?);
        }
        let p = primes.split_off(own.chain.data.len());
        let main = CkksParamsLiteral {
            rlwe: RlweParamsLiteral {
                n: self.n,
                dnum: own.chain.digits(),
                q: primes,
                p,
                secret: own.main.secret,
                ..Default::default()
            },
            scale: f64::from(own.lengths.scale).exp2(),
        };
        CkksParams::new(&main, policy)
    }
}

/// Lengths of all primes of a set in bits, data primes from below.
#[derive(Clone, Debug)]
struct Chain {
    levels: usize,
    data: Vec<i32>,
    special: Vec<i32>,
}

impl Chain {
    /// With that many special primes, each as long as the longest digit asks for, or as the longest prime.
    fn new(lengths: &Lengths, literal: &BootstrapLiteral, levels: usize, special: usize) -> Self {
        let data = lengths.each(literal, levels);
        let digit = data.len().div_ceil(data.len().div_ceil(special));
        let longest = data.chunks(digit).map(|own| own.iter().sum::<i32>()).max();
        let each = (longest.unwrap_or(0) + ABOVE_DIGIT).div_euclid(special as i32) + 1;
        Self {
            levels,
            data,
            special: vec![each.min(lengths.special()); special],
        }
    }

    fn bits(&self) -> i32 {
        self.data.iter().chain(&self.special).sum()
    }

    fn digits(&self) -> usize {
        self.data.len().div_ceil(self.special.len())
    }
}

/// What a key switch reads at each level, in residue polynomials of short primes.
struct Read {
    /// Data primes.
    top: usize,
    /// How many of them, from below, are short, all special primes being short too; else none.
    short: usize,
    /// Primes of a digit.
    digit: usize,
    special: usize,
}

impl Read {
    fn new(chain: &Chain) -> Self {
        let long = |bits: &i32| *bits > SHORT;
        let top = chain.data.len();
        let short = match chain.special.iter().any(long) {
            true => 0,
            false => chain.data.iter().position(long).unwrap_or(top),
        };
        Self {
            top,
            short,
            digit: top.div_ceil(chain.digits()),
            special: chain.special.len(),
        }
    }

    /// With that many data primes.
    fn of(&self, limbs: usize) -> f64 {
        let read = (limbs.div_ceil(self.digit) * (limbs + self.special)) as f64;
        if limbs <= self.short {
            read
        } else {
            LONG_EFFORT * read
        }
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
        let own = BootstrapGoal {
            n: 128,
            slots: 64,
            message: Message::Real,
            bound: 4.0,
            levels: 2,
            most_levels: 2,
            log2_error: -12.0,
            log2_failure: -128.0,
            weight: WEIGHT,
            passes: 1,
        };
        let complex = BootstrapGoal {
            slots: 32,
            message: Message::Complex,
            bound: 1.0,
            levels: 1,
            most_levels: 1,
            log2_error: -16.0,
            ..own
        };
        // The sparser secret makes short primes enough.
        let sparser = BootstrapGoal {
            n: 4096,
            slots: 16,
            bound: 1.0,
            log2_error: -21.0,
            weight: 32,
            ..own
        };
        for goal in [own, complex, sparser] {
            let BootstrapGoal {
                slots,
                bound,
                levels,
                log2_error,
                ..
            } = goal;
            let params = goal.plan(SecurityPolicy::insecure()).unwrap();
            assert_eq!(params.output_level() - params.input_level(), levels);
            assert!(params.error_bound(0.0).unwrap().log2() <= log2_error);
            assert!(params.log2_failure().unwrap() <= -128.0);
            // No prime is longer than it has to be: far below the goal nothing is.
            assert!(
                params.error_bound(0.0).unwrap().log2() > log2_error - 2.0,
                "{goal:?}"
            );
            assert_eq!(
                params.main().rlwe().params().secret() != SecretDistribution::default(),
                goal.n == 4096
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

    /// They take half of the time: longer ones are there for what they do not reach.
    #[test]
    fn short_primes_are_taken_where_they_reach_the_goal() {
        let goal = BootstrapGoal {
            n: 4096,
            slots: 16,
            message: Message::Real,
            bound: 1.0,
            levels: 2,
            most_levels: 2,
            log2_error: -20.0,
            log2_failure: -128.0,
            weight: 32,
            passes: 1,
        };
        let longest = |log2_error| {
            let goal = BootstrapGoal { log2_error, ..goal };
            let params = goal.plan(SecurityPolicy::insecure()).unwrap();
            let main = params.main();
            let longest = (0..=main.max_level()).map(|level| main.prime(level));
            u64::BITS - longest.max().unwrap().leading_zeros()
        };
        assert!(longest(-20.0) <= SHORT as u32);
        assert!(longest(-23.0) > SHORT as u32);
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
