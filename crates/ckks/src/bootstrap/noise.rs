// SPDX-License-Identifier: Apache-2.0
//! Bound on the error of a refreshed message: approximation, key switches, rounding, from public facts alone.
//!
//! An error of a slot before the first transform is one of a coefficient behind it; what the reduction is given wrong
//! in its argument T is wrong in x by no more, since its slope is at most 1 (that of the sine, and of the arcsine's
//! series after it). So errors are followed to the coefficients of the raised ciphertext or to T, and added there:
//! what operations draw in squares, all else linearly ([`Spread`]).
//!
//! Both transforms are products of stages that are 2^(1/2) or 2^(-1/2) times a unitary matrix, and back from the slots
//! no stage makes the largest value larger. Draws are white: their values at different roots are uncorrelated, so that
//! r stages back from the slots make the deviation 2^(r/2) times smaller. The overflow, which the uniform component
//! masks, is such a draw. Matrices are rounded once and for all: what that does to a message, which may be chosen
//! against it, is bounded in the largest value and in the Euclidean norm, and the smaller bound counts.
//!
//! A second pass refreshes what the first one errs by, made larger by a power of two: the first one's error is taken
//! back whole, and the second one's counts as many times less.
//!
//! The bound fails as seldom as the set's [`Estimator`](crate::noise::Estimator) says, and where an overflow does
//! ([`BootstrapParams::log2_failure`]).

use super::dft::Direction;
use super::diagonals::MatrixFacts;
use super::outline::Outline;
use super::{BootstrapParams, Message, SCALE_ROOM};
use crate::noise::{Curve, Spread};
use crate::{Encoder, Error};
use rlwe::noise::{Noise, NoiseModel};
use std::f64::consts::TAU;

/// What takes time to find out and is the same, or nearly so, for many chains.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// Of the factors of both transforms, in the order of a refresh.
    pub facts: [Vec<MatrixFacts>; 2],
    /// What the evaluation of the reduction makes itself: of x.
    pub reduction: Spread,
}

impl BootstrapParams {
    /// Bound on the error of every slot after a refresh, for messages within their bound with errors of at most
    /// `input`. The matrices are rounded as they will be, their plaintexts are not made.
    ///
    /// # Errors
    /// Those of [`Estimator::polynomial`](crate::noise::Estimator::polynomial) and of [`Encoder::encode`].
    pub fn error_bound(&self, input: f64) -> Result<f64, Error> {
        self.outline().error_bound(input, &self.known()?)
    }

    /// [`BootstrapParams::error_bound`] of one pass.
    pub(super) fn error_of_pass(&self, input: f64) -> Result<f64, Error> {
        self.outline().error_of_pass(input, &self.known()?)
    }

    fn known(&self) -> Result<Known, Error> {
        let encoder = Encoder::new(self.main());
        let facts = |direction| -> Result<Vec<MatrixFacts>, Error> {
            let factors = self.scaled_factors(direction)?;
            let facts = factors
                .iter()
                .map(|own| own.factor.facts(&encoder, own.steps, own.level, own.scale));
            facts.collect()
        };
        Ok(Known {
            facts: [
                facts(Direction::SlotsToCoeffs)?,
                facts(Direction::CoeffsToSlots)?,
            ],
            reduction: self.outline().reduction_error()?,
        })
    }
}

impl Outline {
    /// [`BootstrapParams::error_bound`] by what is known.
    pub fn error_bound(&self, input: f64, known: &Known) -> Result<f64, Error> {
        if self.literal.passes == 1 {
            return self.error_of_pass(input, known);
        }
        let once = self.error_of_pass(0.0, known)?;
        let corrected = once / self.correction(once)? as f64;
        let last = self.output_level() + 1;
        let rounding = self.estimator.log2_rounding(2).exp2() / self.scale;
        // The first pass is brought to the scale of what is refreshed, and conjugated; then both are multiplied by
        // constants that are rounded, and divided.
        let divided = (1.0 + SCALE_ROOM.exp2()) * rounding;
        let conjugated = self.switched(last, self.scale) / 2.0;
        let constants = 2.0 * self.literal.bound / self.prime(last);
        Ok(input + corrected + divided + conjugated + constants)
    }

    /// The power of two that makes the error of a first pass a message within its bound, with a bit to spare for the
    /// scale of what is refreshed ([`SCALE_ROOM`]) and for rounding; `once`: the bound on that error.
    ///
    /// # Errors
    /// [`Error::Bootstrap`] where the first pass errs by too much for a second one.
    pub fn correction(&self, once: f64) -> Result<i64, Error> {
        let bits = (self.literal.bound / once).log2().floor() - 1.0;
        match bits {
            1.0..=40.0 => Ok(1 << bits as u32),
            _ => Err(Error::Bootstrap {
                what: "the number of passes",
                got: format!("2, the first of which errs by 2^{:.1}", once.log2()),
                allowed: "1 for errors above a quarter of the bound on messages".into(),
            }),
        }
    }

    /// [`BootstrapParams::error_bound`] of one pass.
    pub fn error_of_pass(&self, input: f64, known: &Known) -> Result<f64, Error> {
        let bound = self.literal.bound;
        let before = Spread::tied(input)
            .plus(self.lowering_error(&known.facts[0])?)
            .plus(self.raising_error())
            .plus(
                self.argument_error(&known.facts[1])?
                    .times(bound / self.reduction.ratio()),
            );
        // The message that is reduced has these errors.
        let within = 1.0 + before.total() / bound;
        let own = known.reduction.times(bound / self.reduction.ratio());
        let approximation = self.reduction.error_within(within) / self.reduction.ratio();
        let after = own.plus(Spread::tied(approximation * bound));
        let parts = match self.literal.message {
            Message::Real => 1.0,
            Message::Complex => 2.0,
        };
        Ok(before.plus(after).times(parts).total())
    }

    /// Of slots to coefficients: of a coefficient, in units of the message.
    fn lowering_error(&self, facts: &[MatrixFacts]) -> Result<Spread, Error> {
        let [stages, _] = self.splits();
        let largest = self.literal.bound * parts_norm(self.literal.message);
        let euclidean = (self.literal.slots as f64).sqrt() * largest;
        let (mut level, mut scale) = (self.input_level(), self.scale);
        let (mut done, mut sum) = (0, Spread::default());
        for (facts, stages) in facts.iter().zip(stages) {
            let drawn = self.drawn(facts, level, scale)?;
            let rounded = (facts.rounding_sum * largest * root(2 * done))
                .min(facts.rounding_norm * euclidean / root(stages));
            done += stages;
            sum = sum
                .plus(Spread::drawn(drawn / root(done)))
                .plus(Spread::tied(rounded));
            (level, scale) = self.after(facts, level, scale)?;
        }
        Ok(sum)
    }

    /// Of T.
    fn argument_error(&self, facts: &[MatrixFacts]) -> Result<Spread, Error> {
        let literal = &self.literal;
        // The slots of T: white for the overflow, a sum of `weight` uniform terms, and the message.
        let variance = f64::from(literal.weight + 1) / 12.0;
        let overflow = self.models[1]
            .log2_embedding_bound(Noise::of_variance(variance, 0))
            .exp2();
        let message = self.reduction.ratio() * (self.n as f64).sqrt();
        let (mut level, mut scale) = (self.max_level(), self.raised_scale());
        // The raised ciphertext holds T at the scale q[0], and the transform brings B to its scale.
        let unit = 2.0 * self.reduction.reach();
        let mut left = literal.slots.trailing_zeros();
        // Each step of the trace adds noise of its own and doubles what is there.
        let copies = (self.slots() / literal.slots) as f64;
        let traced = (copies - 1.0) * self.switched(level, scale) / root(left);
        let mut sum = Spread::drawn(traced * unit);
        let ([_, stages], mut done) = (self.splits(), 0);
        for (facts, stages) in facts.iter().zip(stages) {
            left -= stages;
            let drawn = self.drawn(facts, level, scale)? * unit / root(left);
            let rounded = facts.rounding_row * overflow / root(done + left);
            sum = sum
                .plus(Spread::drawn(drawn.hypot(rounded)))
                .plus(Spread::tied(facts.rounding_norm * message * root(stages)));
            done += stages;
            (level, scale) = self.after(facts, level, scale)?;
        }
        // Real parts are sums with the conjugate, which is switched once.
        let conjugated = self.switched(level, scale) * self.reduction.reach();
        Ok(sum.plus(Spread::drawn(conjugated)))
    }
}

/// 2^(stages/2): what stages do to the deviation of a draw.
fn root(stages: u32) -> f64 {
    (f64::from(stages) / 2.0).exp2()
}

/// The absolute value of a number whose parts are at most 1.
fn parts_norm(message: Message) -> f64 {
    match message {
        Message::Real => 1.0,
        Message::Complex => 2f64.sqrt(),
    }
}

impl Outline {
    /// Of a key switch, in units of the slots.
    fn switched(&self, level: usize, scale: f64) -> f64 {
        let estimator = &self.estimator;
        let products = estimator.log2_key_products(level).exp2();
        products.hypot(estimator.log2_rounding(2).exp2()) / scale
    }

    /// What a product with a factor and its rescale draw, in units of the slots: each baby step a switch whose noise is
    /// multiplied by the matrix, each giant step another, two divisions.
    fn drawn(&self, facts: &MatrixFacts, level: usize, scale: f64) -> Result<f64, Error> {
        let estimator = &self.estimator;
        let product = scale * facts.scale;
        let products = estimator.log2_key_products(level).exp2();
        let rounding = estimator.log2_rounding(2).exp2();
        let babies = products * facts.row * facts.scale;
        let giants = products.hypot(rounding) * (facts.giants as f64).sqrt();
        let (_, rescaled) = self.after(facts, level, scale)?;
        let wide = babies.hypot(giants).hypot(rounding) / product;
        Ok(wide.hypot(rounding / rescaled))
    }

    /// Level and scale after a factor.
    fn after(&self, facts: &MatrixFacts, level: usize, scale: f64) -> Result<(usize, f64), Error> {
        let divisor = self.estimator.log2_divisor(level)?.exp2();
        Ok((level - 1, scale * facts.scale / divisor))
    }

    /// Of the two key switches around the raise: of a coefficient, in units of the message.
    fn raising_error(&self) -> Spread {
        let digit = [self.prime(0).log2()];
        let bound = |model: &NoiseModel, special: f64| {
            let switched = model.key_switch(&digit, special);
            model.log2_bound(switched).exp2()
        };
        let [to, from] = [0, 1].map(|i| bound(&self.models[i], self.log2_special[i]));
        Spread::drawn(to.hypot(from) / self.lowered_scale())
    }

    /// What the evaluation of the reduction makes itself: of x.
    pub fn reduction_error(&self) -> Result<Spread, Error> {
        let estimator = &self.estimator;
        let reduction = &self.reduction;
        let start = self.max_level() - self.literal.coeffs_to_slots;
        let degree = reduction.cosine().degree() << reduction.doublings();
        let curve = Curve::new(estimator, degree, 1.0);
        let argument = curve.argument(start, self.reduction_scale());
        let (top, last) = self.reduction_end(1.0);
        let scales = self.doubling_scales(top, last);
        let cosine = curve.polynomial(&argument, reduction.cosine(), scales[0])?;
        let sine = scales[1..]
            .iter()
            .try_fold(cosine, |c, scale| curve.double_angle(&c, *scale))?;
        let sine = curve.spread(&sine);
        let Some(series) = reduction.arcsine() else {
            return Ok(sine.times(TAU.recip()));
        };
        let largest = (TAU * reduction.ratio()).sin() + sine.total() + reduction.error() * TAU;
        let curve = Curve::new(estimator, series.degree(), largest);
        let argument = curve.argument(top - reduction.doublings() as usize, last);
        let own = curve.polynomial(&argument, series, self.sine_scale())?;
        let slope = (1.0 - largest * largest).sqrt().recip();
        let sum = sine.times(slope).plus(curve.spread(&own));
        Ok(sum.times(TAU.recip()))
    }
}
