// SPDX-License-Identifier: Apache-2.0
//! How long the primes of a bootstrapping have to be for an error, without making a set.
//!
//! What takes time is found once: how the factors of a transform are rounded, which is in proportion to the inverse of
//! their scales, and what a reduction draws, which is the same in units of its scale where all scales grow alike. So
//! lengths are estimates, to a tenth of a bit; the set that they make has the exact bound.

use super::dft::{Direction, diagonal_numbers, even_split, factors};
use super::diagonals::MatrixFacts;
use super::goal::DIGITS;
use super::noise::Known;
use super::outline::{Outline, reduction_of};
use super::steps::Steps;
use super::{BootstrapGoal, BootstrapLiteral, ModularReduction};
use crate::noise::{Estimator, Spread};
use crate::{CkksParams, CkksParamsLiteral, Encoder, Error};
use rlwe::noise::NoiseModel;
use rlwe::{RlweParamsLiteral, SecretDistribution, SecurityPolicy};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use zq::primes::{Direction as Search, ntt_primes};

/// Longest primes in bits.
pub(super) const LONGEST: i32 = 60;
/// Longest primes that every engine's fastest code is for.
pub(super) const SHORT: i32 = 50;
/// log2 of the scale at which roundings of factors are measured.
const MEASURED_AT: i32 = 40;
/// Bits of scale above the least, and of the reduction's primes, that are tried to shorten others.
const MORE: i32 = 3;
/// Bits around the scale of a sine of full height within which primes of the reduction are looked for.
const AROUND: i32 = 8;

/// Lengths of primes in bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lengths {
    pub first: i32,
    /// Of the application and slots to coefficients: the scale.
    pub scale: i32,
    pub reduction: i32,
    pub coeffs_to_slots: i32,
}

impl Lengths {
    /// Of the longest prime, and of special primes at most.
    pub fn special(&self) -> i32 {
        self.first.max(self.reduction).max(self.coeffs_to_slots)
    }

    /// All data primes of a chain with these levels between two refreshes, from below, as (bits, how many).
    pub fn runs(&self, literal: &BootstrapLiteral, levels: usize) -> [(i32, usize); 4] {
        let application = literal.slots_to_coeffs + levels + literal.passes as usize - 1;
        [
            (self.first, 1),
            (self.scale, application),
            (self.reduction, literal.reduction_levels()),
            (self.coeffs_to_slots, literal.coeffs_to_slots),
        ]
    }

    /// The length of each data prime, from below.
    pub fn each(&self, literal: &BootstrapLiteral, levels: usize) -> Vec<i32> {
        let runs = self.runs(literal, levels).into_iter();
        runs.flat_map(|(bits, count)| std::iter::repeat_n(bits, count))
            .collect()
    }

    /// Bits of all data primes.
    pub fn bits(&self, literal: &BootstrapLiteral, levels: usize) -> i32 {
        self.each(literal, levels).iter().sum()
    }
}

/// Finds lengths for a goal, and remembers what candidates share.
pub(super) struct Finder<'a> {
    goal: &'a BootstrapGoal,
    /// Most bits of the first prime.
    longest_first: i32,
    encoder: Encoder,
    /// By direction and number of factors, measured at one scale.
    facts: BTreeMap<(bool, usize), Vec<MatrixFacts>>,
    reductions: BTreeMap<Shape, ModularReduction>,
    /// By reduction, by how many bits its primes are longer than the scale, by the secret's weight if it has one.
    drawn: BTreeMap<(Shape, i32, Option<u32>), Spread>,
}

/// What primes are looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    pub literal: &'a BootstrapLiteral,
    /// Of the main set.
    pub secret: SecretDistribution,
    pub log2_error: f64,
}

/// What a reduction is known by: degree, double angles, arcsine, quarters of bits of the ratio.
type Shape = (usize, u32, u32, i64);

fn shape(literal: &BootstrapLiteral) -> Shape {
    let ratio = (4.0 * literal.log2_ratio).round() as i64;
    (literal.degree, literal.doublings, literal.arcsine, ratio)
}

impl<'a> Finder<'a> {
    /// # Errors
    /// Those of [`CkksParams::new`] for the degree.
    pub fn new(goal: &'a BootstrapGoal, longest_first: i32) -> Result<Self, Error> {
        // The embedding is all that is taken of this set.
        let primes = ntt_primes(LONGEST as u32, 2 * goal.n as u64, 1, Search::Down, &[]);
        let ring = RlweParamsLiteral {
            n: goal.n,
            q: primes.map_err(|e| Error::Rns(e.into()))?,
            ..Default::default()
        };
        let scale = f64::from(MEASURED_AT).exp2();
        let literal = CkksParamsLiteral { rlwe: ring, scale };
        Ok(Self {
            goal,
            longest_first,
            encoder: Encoder::new(&CkksParams::new(&literal, SecurityPolicy::insecure())?),
            facts: BTreeMap::new(),
            reductions: BTreeMap::new(),
            drawn: BTreeMap::new(),
        })
    }

    /// Shortest primes of which every ring has some dozens.
    fn shortest(&self) -> i32 {
        self.goal.n.trailing_zeros() as i32 + 10
    }

    /// Lengths with the fewest bits whose error is at most the wanted one: with short primes alone, and with any; none
    /// where primes of 60 bits err by more.
    ///
    /// # Errors
    /// Those of [`BootstrapParams::error_bound`](super::BootstrapParams::error_bound).
    pub fn shortest_for(&mut self, wanted: Wanted<'_>) -> Result<Vec<Lengths>, Error> {
        let Some(any) = self.shortest_within(wanted, LONGEST)? else {
            return Ok(Vec::new());
        };
        let mut found = vec![any];
        if any.special() > SHORT {
            found.extend(self.shortest_within(wanted, SHORT)?);
        }
        Ok(found)
    }

    /// The lengths with the fewest bits, none of which is longer than `most`.
    fn shortest_within(&mut self, wanted: Wanted<'_>, most: i32) -> Result<Option<Lengths>, Error> {
        let literal = wanted.literal;
        let above =
            literal.log2_ratio.ceil() as i32 + self.goal.bound.log2().ceil().max(0.0) as i32;
        let longest = self.longest_first.min(most);
        let at = |scale: i32, reduction: i32, coeffs_to_slots: i32| Lengths {
            // A shorter one lowers the scale of what is raised.
            first: (scale + above).min(longest),
            scale,
            reduction,
            coeffs_to_slots,
        };
        if longest < self.shortest() {
            return Ok(None);
        }
        let own = |scale: i32| (scale + above + AROUND).min(most);
        let reached = |finder: &mut Self, lengths: Lengths| finder.reached(wanted, lengths);
        let (low, high) = (self.shortest(), most - above);
        let least = first_that(low, high, |scale| {
            reached(self, at(scale, own(scale), most))
        })?;
        let Some(least) = least else {
            return Ok(None);
        };
        let mut best: Option<Lengths> = None;
        for scale in least..=(least + MORE).min(high) {
            let lowest = match literal.passes {
                1 => (scale + above - AROUND).max(self.shortest()),
                _ => self.shortest(),
            };
            let Some(reduction) = first_that(lowest, own(scale), |bits| {
                reached(self, at(scale, bits, most))
            })?
            else {
                continue;
            };
            for reduction in reduction..=(reduction + MORE).min(own(scale)) {
                let last = first_that(self.shortest(), most, |bits| {
                    reached(self, at(scale, reduction, bits))
                })?;
                let found = last.map(|bits| at(scale, reduction, bits));
                let bits = |l: &Lengths| l.bits(literal, self.goal.levels);
                best = best.into_iter().chain(found).min_by_key(bits);
            }
        }
        Ok(best)
    }

    /// Whether the estimated error is at most the wanted one.
    fn reached(&mut self, wanted: Wanted<'_>, lengths: Lengths) -> Result<bool, Error> {
        let (literal, log2_error) = (wanted.literal, wanted.log2_error);
        let outline = self.outline(wanted, lengths)?;
        let facts = |finder: &mut Self, direction| -> Result<Vec<MatrixFacts>, Error> {
            let measured = finder.measured(literal, direction)?;
            let scales = outline.factor_scales(direction);
            let each = measured.iter().zip(scales);
            Ok(each.map(|(facts, (_, scale))| facts.at(scale)).collect())
        };
        let mut known = Known {
            facts: [
                facts(self, Direction::SlotsToCoeffs)?,
                facts(self, Direction::CoeffsToSlots)?,
            ],
            reduction: Spread::default(),
        };
        let within = |known: &Known| match outline.error_bound(0.0, known) {
            Ok(error) => Ok(error.log2() <= log2_error),
            // A first pass that errs by too much for a second one.
            Err(Error::Bootstrap { .. }) => Ok(false),
            Err(error) => Err(error),
        };
        // What a reduction draws takes longest to find, and is not asked for where all else errs by too much.
        if !within(&known)? {
            return Ok(false);
        }
        known.reduction = self.drawn(wanted, lengths, &outline)?;
        within(&known)
    }

    fn outline(&mut self, wanted: Wanted<'_>, lengths: Lengths) -> Result<Outline, Error> {
        let (n, literal) = (self.goal.n, wanted.literal);
        let key = shape(literal);
        let reduction = match self.reductions.entry(key) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(place) => place.insert(reduction_of(n, literal)?).clone(),
        };
        let each = lengths.each(literal, self.goal.levels);
        let primes: Vec<u64> = each.into_iter().map(|bits| 1u64 << bits).collect();
        // As many digits as the fewest special primes make: the keys' noise hardly counts.
        let special = vec![1u64 << lengths.special(); primes.len().div_ceil(2 * DIGITS)];
        let digits = primes.len().div_ceil(special.len());
        let error = RlweParamsLiteral::<u64>::default().error;
        let secrets = [
            SecretDistribution::FixedWeight {
                weight: literal.weight,
            },
            wanted.secret,
        ];
        Ok(Outline {
            literal: literal.clone(),
            n,
            scale: f64::from(lengths.scale).exp2(),
            reduction,
            estimator: Estimator::new(n, secrets[1], &error, &primes, &special, digits)?,
            models: secrets.map(|secret| NoiseModel::new(n, secret, &error)),
            log2_special: [
                f64::from(lengths.first),
                f64::from(lengths.special()) * special.len() as f64,
            ],
            primes: primes.into_iter().map(|prime| prime as f64).collect(),
        })
    }

    fn drawn(
        &mut self,
        wanted: Wanted<'_>,
        lengths: Lengths,
        outline: &Outline,
    ) -> Result<Spread, Error> {
        let longer = lengths.reduction - lengths.scale;
        let weight = match wanted.secret {
            SecretDistribution::FixedWeight { weight } => Some(weight),
            _ => None,
        };
        let key = (shape(wanted.literal), longer, weight);
        let in_units = f64::from(lengths.scale).exp2();
        if let Some(known) = self.drawn.get(&key) {
            return Ok(known.times(in_units.recip()));
        }
        let found = outline.reduction_error()?;
        self.drawn.insert(key, found.times(in_units));
        Ok(found)
    }

    /// What is known of the factors of a transform at one scale.
    fn measured(
        &mut self,
        literal: &BootstrapLiteral,
        direction: Direction,
    ) -> Result<&Vec<MatrixFacts>, Error> {
        let count = match direction {
            Direction::SlotsToCoeffs => literal.slots_to_coeffs,
            Direction::CoeffsToSlots => literal.coeffs_to_slots,
        };
        let key = (direction == Direction::CoeffsToSlots, count);
        if !self.facts.contains_key(&key) {
            let (slots, split) = (literal.slots, even_split(literal.slots, count));
            let numbers = diagonal_numbers(direction, slots, &split);
            let factors = factors(direction, slots, &split)?;
            let facts = factors.iter().zip(&numbers).map(|(factor, numbers)| {
                let steps = &Steps::candidates(numbers, slots)[0];
                factor.facts(&self.encoder, steps, 0, f64::from(MEASURED_AT).exp2())
            });
            let facts = facts.collect::<Result<_, Error>>()?;
            self.facts.insert(key, facts);
        }
        Ok(&self.facts[&key])
    }
}

/// The least of low..=high that has a property which all larger ones have; none where none has.
fn first_that(
    low: i32,
    high: i32,
    mut has: impl FnMut(i32) -> Result<bool, Error>,
) -> Result<Option<i32>, Error> {
    if low > high || !has(high)? {
        return Ok(None);
    }
    let (mut low, mut high) = (low - 1, high);
    while high - low > 1 {
        let middle = i32::midpoint(low, high);
        match has(middle)? {
            true => high = middle,
            false => low = middle,
        }
    }
    Ok(Some(high))
}
