// SPDX-License-Identifier: Apache-2.0
//! The numbers that levels, scales and errors of a refresh follow from: no table of a prime, so that a search for
//! primes tries thousands.

use super::BootstrapLiteral;
use super::dft::{Direction, even_split};
use super::modular::ModularReduction;
use crate::noise::Estimator;
use crate::{CkksParams, Error};
use rlwe::noise::{NoiseModel, least_overflow};
use rlwe::{RlweParams, SecretDistribution};
use std::f64::consts::TAU;

/// A bootstrapping and the chain it is for, as numbers.
#[derive(Clone, Debug)]
pub(super) struct Outline {
    pub literal: BootstrapLiteral,
    /// Degree of the ring.
    pub n: usize,
    /// Data primes from below.
    pub primes: Vec<f64>,
    /// The set's scale.
    pub scale: f64,
    pub reduction: ModularReduction,
    pub estimator: Estimator,
    /// Of the sparse secret's set, of the main set.
    pub models: [NoiseModel; 2],
    /// log2 of the product of the special primes, of both sets.
    pub log2_special: [f64; 2],
}

/// The reduction of a literal in a ring of degree `n`.
///
/// # Errors
/// Those of [`ModularReduction::new`] and of [`least_overflow`].
pub(super) fn reduction_of(
    n: usize,
    literal: &BootstrapLiteral,
) -> Result<ModularReduction, Error> {
    let ratio = (-literal.log2_ratio).exp2();
    let secret = SecretDistribution::FixedWeight {
        weight: literal.weight,
    };
    let overflow = least_overflow(n, secret, ratio, literal.log2_failure)?;
    ModularReduction::new(
        overflow.max(1),
        ratio,
        literal.degree,
        literal.doublings,
        literal.arcsine,
    )
}

impl Outline {
    /// Of a literal that has been checked against its set.
    ///
    /// # Errors
    /// Those of [`reduction_of`].
    pub fn of(
        main: &CkksParams,
        sparse: &RlweParams<u64>,
        literal: &BootstrapLiteral,
    ) -> Result<Self, Error> {
        let sets = [sparse, main.rlwe().params()];
        let special = |set: &RlweParams<u64>| {
            let primes = set.p().map(rns::RnsBasis::values).unwrap_or_default();
            primes.iter().map(|p| (*p as f64).log2()).sum::<f64>()
        };
        let levels = 0..=main.max_level();
        Ok(Self {
            literal: literal.clone(),
            n: main.n(),
            primes: levels.map(|level| main.prime(level) as f64).collect(),
            scale: main.scale(),
            reduction: reduction_of(main.n(), literal)?,
            estimator: main.estimator().clone(),
            models: sets.map(RlweParams::noise_model),
            log2_special: sets.map(special),
        })
    }

    /// The same, where noises exceed what is reckoned with probability 2^-bits.
    #[must_use]
    pub fn with_failure_bits(self, bits: u32) -> Self {
        Self {
            estimator: self.estimator.with_failure_bits(bits),
            models: self.models.map(|model| model.with_failure_bits(bits)),
            ..self
        }
    }

    /// The prime that a rescale at `level` divides by.
    pub fn prime(&self, level: usize) -> f64 {
        self.primes[level]
    }

    /// The level of the whole chain.
    pub fn max_level(&self) -> usize {
        self.primes.len() - 1
    }

    /// Most slots, n/2.
    pub fn slots(&self) -> usize {
        self.n / 2
    }

    /// Levels that a refresh itself takes.
    pub fn levels(&self) -> usize {
        let after = self.literal.coeffs_to_slots + self.reduction.depth();
        self.input_level() + after + self.correction_levels()
    }

    /// The level that a second pass is brought to the scale of the first one's error with.
    fn correction_levels(&self) -> usize {
        self.literal.passes as usize - 1
    }

    /// The level a ciphertext has to have at least.
    pub fn input_level(&self) -> usize {
        self.literal.slots_to_coeffs
    }

    /// The level of the result.
    pub fn output_level(&self) -> usize {
        let one_pass = self.max_level() - self.literal.coeffs_to_slots - self.reduction.depth();
        one_pass - self.correction_levels()
    }

    /// The split of the stages before and after the modulus is raised.
    pub fn splits(&self) -> [Vec<u32>; 2] {
        let literal = &self.literal;
        [literal.slots_to_coeffs, literal.coeffs_to_slots]
            .map(|count| even_split(literal.slots, count))
    }

    /// The level at which a transform begins.
    pub fn first_level(&self, direction: Direction) -> usize {
        match direction {
            Direction::SlotsToCoeffs => self.input_level(),
            Direction::CoeffsToSlots => self.max_level(),
        }
    }

    /// For each factor of a transform its level and what its plaintexts are multiplied by, so that together they take
    /// the ciphertext to where the next part of a refresh wants it.
    pub fn factor_scales(&self, direction: Direction) -> Vec<(usize, f64)> {
        let (from, to, count) = match direction {
            Direction::SlotsToCoeffs => (
                self.scale,
                self.lowered_scale(),
                self.literal.slots_to_coeffs,
            ),
            Direction::CoeffsToSlots => (
                self.raised_scale(),
                self.reduction_scale(),
                self.literal.coeffs_to_slots,
            ),
        };
        let share = (to / from).powf(1.0 / count as f64);
        let levels = (0..=self.first_level(direction)).rev().take(count);
        levels
            .map(|level| (level, self.prime(level) * share))
            .collect()
    }

    /// q[0].
    fn lowest(&self) -> f64 {
        self.prime(0)
    }

    /// Scale of the ciphertext whose modulus is raised: the bound on messages is q[0]·2^-log2_ratio.
    pub fn lowered_scale(&self) -> f64 {
        self.lowest() * self.reduction.ratio() / self.literal.bound
    }

    /// Scale declared for the raised ciphertext, so that what the transform moves to the slots, plus its conjugate, is
    /// T/B: coefficients q·T are read at scale 2·q·B; the trace onto fewer slots multiplies them once more.
    pub fn raised_scale(&self) -> f64 {
        let traced = self.slots() / self.literal.slots;
        2.0 * self.lowest() * self.reduction.reach() * traced as f64
    }

    /// Scale at which the reduction starts: the prime it is divided by first, so that squares keep it.
    pub fn reduction_scale(&self) -> f64 {
        self.prime(self.max_level() - self.literal.coeffs_to_slots)
    }

    /// Scale of the sine (or of the arcsine) for which the result, read as slots, has the set's scale: the sine is 2π
    /// times the message over q[0].
    pub fn sine_scale(&self) -> f64 {
        self.scale * self.lowest() / (TAU * self.lowered_scale())
    }

    /// The level the cosine's sum stands on, and the scale after the double angles: the one that the result asks for,
    /// or where an arcsine follows the prime it is divided by. `off`: factor of the messages that is to be taken back.
    pub fn reduction_end(&self, off: f64) -> (usize, f64) {
        let reduction = &self.reduction;
        let start = self.max_level() - self.literal.coeffs_to_slots;
        let top = start - reduction.cosine().depth();
        let last = match reduction.arcsine() {
            Some(_) => self.prime(top - reduction.doublings() as usize),
            None => self.sine_scale() / off,
        };
        (top, last)
    }

    /// Scales of the cosine's sum and of each double angle's result, the last one's `last`; each is the square of the
    /// one before divided by the prime of the level `top` the sum stands on, the next one's, and so on.
    pub fn doubling_scales(&self, top: usize, last: f64) -> Vec<f64> {
        let mut scales = vec![last];
        for i in (0..self.literal.doublings as usize).rev() {
            let below = (scales[scales.len() - 1] * self.prime(top - i)).sqrt();
            scales.push(below);
        }
        scales.reverse();
        scales
    }
}
