// SPDX-License-Identifier: Apache-2.0
//! What a bootstrapping is made of, checked: which levels each part takes, at which scales, and what it promises.

use super::dft::even_split;
use super::modular::ModularReduction;
use super::steps::Steps;
use crate::noise::Estimator;
use crate::{CkksParams, Error};
use rlwe::noise::{least_overflow, log2_overflow};
use rlwe::{RlweContext, RlweParams, RlweParamsLiteral, SecretDistribution, SecurityPolicy};
use std::f64::consts::TAU;
use std::sync::Arc;
use zq::primes::{Direction, ntt_primes};

/// log2 of the largest factor between the scale of a ciphertext that is refreshed and the set's.
pub const SCALE_ROOM: f64 = 0.25;

/// Least −log2 of the ratio of message to modulus.
pub(super) const MIN_LOG2_RATIO: f64 = 3.0;

/// What the slots hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Message {
    /// Real numbers: one reduction for all of them.
    #[default]
    Real,
    /// Complex numbers: real and imaginary parts are reduced apart, at twice the price.
    Complex,
}

/// Unchecked input of [`BootstrapParams`]; any field may be wrong.
///
/// The chain of the main set is, from below: q[0], at which the modulus is raised; `slots_to_coeffs` primes; the
/// levels of the application; those of the reduction; `coeffs_to_slots` primes at the top.
#[derive(Clone, Debug, PartialEq)]
pub struct BootstrapLiteral {
    /// Slots of the ciphertexts, a power of two from 2 to n/2.
    pub slots: usize,
    /// Real or complex messages.
    pub message: Message,
    /// Bound on the absolute value of every slot (of real and imaginary part apart).
    pub bound: f64,
    /// Levels, and factors, of the transform before the modulus is raised.
    pub slots_to_coeffs: usize,
    /// Levels, and factors, of the transform after it.
    pub coeffs_to_slots: usize,
    /// −log2 of the largest message, as a coefficient, to q[0]. A larger one bends less and is rounded more.
    pub log2_ratio: f64,
    /// Coefficients ±1 of the sparse secret.
    pub weight: u32,
    /// log2 of the probability, for each refresh, that an overflow exceeds what the reduction covers.
    pub log2_failure: f64,
    /// Degree of the cosine, even.
    pub degree: usize,
    /// Double angles.
    pub doublings: u32,
    /// Degree of the arcsine, 1, 3, 5 or 7; 1 for none.
    pub arcsine: u32,
    /// 1, or 2 for a second refresh, of the first one's error, which takes one level more and twice the time.
    pub passes: u32,
    /// Bytes that the keys may take as they are sent; none for as many as the fastest refresh takes. Fewer keys mean
    /// more key switches, and other keys: both sides have to name the same limit.
    pub key_bytes: Option<usize>,
}

impl Default for BootstrapLiteral {
    /// Degree 30 with three double angles for a sparse secret of weight 32, failing with probability below 2^-128.
    fn default() -> Self {
        Self {
            slots: 0,
            message: Message::Real,
            bound: 1.0,
            slots_to_coeffs: 3,
            coeffs_to_slots: 4,
            log2_ratio: 10.0,
            weight: 32,
            log2_failure: -128.0,
            degree: 30,
            doublings: 3,
            arcsine: 1,
            passes: 1,
            key_bytes: None,
        }
    }
}

/// A checked bootstrapping of a CKKS set.
#[derive(Clone, Debug)]
pub struct BootstrapParams {
    literal: BootstrapLiteral,
    main: CkksParams,
    sparse: RlweContext<u64>,
    reduction: ModularReduction,
    estimator: Estimator,
    /// Of both transforms.
    pub(super) steps: Arc<[Vec<Steps>; 2]>,
}

impl BootstrapParams {
    /// Checks a literal against the set it is for.
    ///
    /// # Errors
    /// [`Error::Bootstrap`] for values out of range, chains too short, and reductions that err too much;
    /// [`rlwe::Error::Insecure`] when the sparse secret's set is below the policy's level without its opt-in.
    pub fn new(
        main: &CkksParams,
        literal: &BootstrapLiteral,
        policy: SecurityPolicy,
    ) -> Result<Self, Error> {
        literal.check(main)?;
        let sparse = sparse_set(main, literal.weight, policy)?;
        let ratio = (-literal.log2_ratio).exp2();
        let secret = SecretDistribution::FixedWeight {
            weight: literal.weight,
        };
        let overflow = least_overflow(main.n(), secret, ratio, literal.log2_failure)?;
        let reduction = ModularReduction::new(
            overflow.max(1),
            ratio,
            literal.degree,
            literal.doublings,
            literal.arcsine,
        )?;
        let mut made = Self {
            literal: literal.clone(),
            main: main.clone(),
            sparse,
            reduction,
            estimator: main.estimator().clone(),
            steps: Arc::default(),
        };
        let (needed, given) = (made.levels(), main.max_level());
        if given < needed {
            return Err(Error::Bootstrap {
                what: "the number of levels of the chain",
                got: given.to_string(),
                allowed: format!(
                    "{needed} or more: {} before the modulus is raised, {}, {} and {} after it",
                    literal.slots_to_coeffs,
                    literal.coeffs_to_slots,
                    made.reduction.depth(),
                    literal.passes - 1
                ),
            });
        }
        made.steps = Arc::new(made.chosen_steps()?);
        Ok(made)
    }

    /// The same, where each of the noises in a refresh exceeds what is reckoned with probability 2^-bits; 2^-128 unless
    /// asked.
    #[must_use]
    pub fn with_failure_bits(self, bits: u32) -> Self {
        Self {
            estimator: self.estimator.with_failure_bits(bits),
            ..self
        }
    }

    pub(super) fn estimator(&self) -> &Estimator {
        &self.estimator
    }

    pub(super) fn failure_bits(&self) -> u32 {
        self.estimator.failure_bits()
    }

    /// The set it is for.
    pub fn main(&self) -> &CkksParams {
        &self.main
    }

    /// The set of the sparse secret.
    pub fn sparse(&self) -> &RlweContext<u64> {
        &self.sparse
    }

    /// The reduction modulo q[0].
    pub fn reduction(&self) -> &ModularReduction {
        &self.reduction
    }

    /// The literal these parameters came from.
    pub fn literal(&self) -> &BootstrapLiteral {
        &self.literal
    }

    /// Levels that a refresh itself takes, of which the lowest are those of [`BootstrapParams::input_level`].
    pub fn levels(&self) -> usize {
        let after = self.literal.coeffs_to_slots + self.reduction.depth();
        self.input_level() + after + self.correction_levels()
    }

    /// The level that a second pass is brought to the scale of the first one's error with.
    fn correction_levels(&self) -> usize {
        self.literal.passes as usize - 1
    }

    /// The level of what one pass gives.
    fn output_level_of_pass(&self) -> usize {
        self.main.max_level() - self.literal.coeffs_to_slots - self.reduction.depth()
    }

    /// The level a ciphertext has to have at least.
    pub fn input_level(&self) -> usize {
        self.literal.slots_to_coeffs
    }

    /// The level of the result.
    pub fn output_level(&self) -> usize {
        self.output_level_of_pass() - self.correction_levels()
    }

    /// Whether ciphertexts of a scale are refreshed: one that differs from the set's by a factor of 2^±[`SCALE_ROOM`]
    /// at most. Messages then count as larger by that factor.
    pub fn scale_is_near(&self, scale: f64) -> bool {
        (scale / self.main.scale()).log2().abs() <= SCALE_ROOM
    }

    /// log2 of a bound on the probability that a refresh fails: that a coefficient wraps further than the reduction
    /// covers. −∞ where none can.
    ///
    /// # Errors
    /// Those of [`log2_overflow`].
    pub fn log2_failure(&self) -> Result<f64, Error> {
        let secret = self.sparse.secret();
        Ok(log2_overflow(
            self.main.n(),
            secret,
            self.reduction.overflow(),
            self.reduction.ratio(),
        )?)
    }

    /// Bound on the error that the reduction adds to a slot, without the ciphertexts' noise: of every message within
    /// its bound, not on average. (Complex messages: of either part.)
    pub fn approximation_error(&self) -> f64 {
        self.reduction.error() / self.reduction.ratio() * self.literal.bound
    }

    /// The split of the stages before and after the modulus is raised.
    pub(super) fn splits(&self) -> [Vec<u32>; 2] {
        let literal = &self.literal;
        [literal.slots_to_coeffs, literal.coeffs_to_slots]
            .map(|count| even_split(literal.slots, count))
    }

    /// q[0], as a number.
    fn lowest(&self) -> f64 {
        self.main.prime(0) as f64
    }

    /// Scale of the ciphertext whose modulus is raised: the bound on messages is q[0]·2^-log2_ratio.
    pub(super) fn lowered_scale(&self) -> f64 {
        self.lowest() * self.reduction.ratio() / self.literal.bound
    }

    /// Scale declared for the raised ciphertext, so that what the transform moves to the slots, plus its conjugate, is
    /// T/B: coefficients q·T are read at scale 2·q·B; the trace onto fewer slots multiplies them once more.
    pub(super) fn raised_scale(&self) -> f64 {
        let traced = self.main.slots() / self.literal.slots;
        2.0 * self.lowest() * self.reduction.reach() * traced as f64
    }

    /// Scale at which the reduction starts: the prime it is divided by first, so that squares keep it.
    pub(super) fn reduction_scale(&self) -> f64 {
        self.main
            .prime(self.main.max_level() - self.literal.coeffs_to_slots) as f64
    }

    /// Scale of the sine (or of the arcsine) for which the result, read as slots, has the set's scale: the sine is 2π
    /// times the message over q[0].
    pub(super) fn sine_scale(&self) -> f64 {
        self.main.scale() * self.lowest() / (TAU * self.lowered_scale())
    }

    /// The level the cosine's sum stands on, and the scale after the double angles: the one that the result asks for,
    /// or where an arcsine follows the prime it is divided by. `off`: factor of the messages that is to be taken back.
    pub(super) fn reduction_end(&self, off: f64) -> (usize, f64) {
        let reduction = &self.reduction;
        let start = self.main.max_level() - self.literal.coeffs_to_slots;
        let top = start - reduction.cosine().depth();
        let last = match reduction.arcsine() {
            Some(_) => self.main.prime(top - reduction.doublings() as usize) as f64,
            None => self.sine_scale() / off,
        };
        (top, last)
    }

    /// Scales of the cosine's sum and of each double angle's result, the last one's `last`; each is the square of the
    /// one before divided by the prime of the level `top` the sum stands on, the next one's, and so on.
    pub(super) fn doubling_scales(&self, top: usize, last: f64) -> Vec<f64> {
        let mut scales = vec![last];
        for i in (0..self.literal.doublings as usize).rev() {
            let below = (scales[scales.len() - 1] * self.main.prime(top - i) as f64).sqrt();
            scales.push(below);
        }
        scales.reverse();
        scales
    }
}

impl BootstrapLiteral {
    fn check(&self, main: &CkksParams) -> Result<(), Error> {
        let refuse =
            |what, got: String, allowed: String| Err(Error::Bootstrap { what, got, allowed });
        let slots = self.slots;
        if !slots.is_power_of_two() || !(2..=main.slots()).contains(&slots) {
            let allowed = format!("a power of two, 2..={}", main.slots());
            return refuse("the number of slots", slots.to_string(), allowed);
        }
        let log = slots.trailing_zeros() as usize;
        for (what, count) in [
            (
                "the number of levels of slots to coefficients",
                self.slots_to_coeffs,
            ),
            (
                "the number of levels of coefficients to slots",
                self.coeffs_to_slots,
            ),
        ] {
            if !(1..=log).contains(&count) {
                return refuse(
                    what,
                    count.to_string(),
                    format!("1..={log} for {slots} slots"),
                );
            }
        }
        if !(self.bound.is_finite() && self.bound > 0.0) {
            return refuse(
                "the bound on messages",
                self.bound.to_string(),
                "finite and above 0".into(),
            );
        }
        if !(MIN_LOG2_RATIO..=40.0).contains(&self.log2_ratio) {
            return refuse("log2_ratio", self.log2_ratio.to_string(), "3..=40".into());
        }
        if !(1..=2).contains(&self.passes) {
            return refuse(
                "the number of passes",
                self.passes.to_string(),
                "1 or 2".into(),
            );
        }
        if !(-1024.0..=-40.0).contains(&self.log2_failure) {
            return refuse(
                "log2_failure",
                self.log2_failure.to_string(),
                "-1024..=-40".into(),
            );
        }
        Ok(())
    }
}

/// q[0], a special prime of its size and a secret of that weight.
fn sparse_set(
    main: &CkksParams,
    weight: u32,
    policy: SecurityPolicy,
) -> Result<RlweContext<u64>, Error> {
    let set = main.rlwe();
    let q = set.q().values()[0];
    let order = 2 * main.n() as u64;
    let p = ntt_primes::<u64>(set.q().modulus(0).bits(), order, 1, Direction::Down, &[q])
        .map_err(|e| Error::Rns(e.into()))?;
    let literal = RlweParamsLiteral {
        n: main.n(),
        q: vec![q],
        p,
        dnum: 1,
        secret: SecretDistribution::FixedWeight { weight },
        error: set.error(),
    };
    Ok(RlweContext::new(RlweParams::new(&literal, policy)?))
}
