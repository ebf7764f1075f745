// SPDX-License-Identifier: Apache-2.0
//! Bound on the error of a refreshed message: approximation, key switches, rounding, from public facts alone.
//!
//! An error of a slot before the first transform is one of a coefficient behind it; what the reduction is given wrong
//! in its argument T is wrong in x by no more, since its slope is at most 1 (that of the sine, and of the arcsine's
//! series after it). So errors are followed to the coefficients of the raised ciphertext or to T, and added there.
//!
//! Noise made within a transform passes through the stages that remain (or back through those done): a stage back from
//! the slots takes means of two values, so that nothing grows; of noise, whose values at different roots are
//! uncorrelated, 2^r of which are averaged by r stages, the deviation falls by 2^(r/2). The rounding of the matrices,
//! which is no noise, is taken without that gain.
//!
//! The bound fails as seldom as the set's [`Estimator`] says, and where an overflow does
//! ([`BootstrapParams::log2_failure`]).

use super::{BootstrapParams, Bootstrapper, EncodedMatrix, Message};
use crate::Error;
use crate::noise::{Estimate, Estimator};
use rlwe::noise::Noise;
use std::f64::consts::TAU;

impl Bootstrapper {
    /// Bound on the error of every slot after a refresh, for messages within their bound with errors of at most
    /// `input`.
    ///
    /// # Errors
    /// Those of [`Estimator::polynomial`].
    pub fn error_bound(&self, input: f64) -> Result<f64, Error> {
        let params = self.params();
        let before = input + self.lowering_error()? + raising_error(params);
        // Of T, in units of the message.
        let unit = params.literal().bound / params.reduction().ratio();
        let argument = self.argument_error()? * params.reduction().reach() * unit;
        let own = reduction_error(params)? * unit + params.approximation_error();
        let parts = match params.literal().message {
            Message::Real => 1.0,
            Message::Complex => 2.0,
        };
        Ok(before + parts * (argument + own))
    }

    /// Of slots to coefficients: of a coefficient, in units of the message.
    fn lowering_error(&self) -> Result<f64, Error> {
        let params = self.params();
        let start = Estimate {
            message: params.literal().bound * 2f64.sqrt(),
            ..value(params, params.input_level(), params.main().scale())
        };
        let mut done = 0;
        let [stages, _] = params.splits();
        self.walk(start, &self.slots_to_coeffs, &stages, |stages, message| {
            done += stages;
            (message * f64::from(stages).exp2(), done)
        })
    }

    /// Of the reduction's argument y = (T − 1/4)/B.
    fn argument_error(&self) -> Result<f64, Error> {
        let params = self.params();
        let (main, literal) = (params.main(), params.literal());
        let estimator = main.estimator();
        // The coefficients of T: a sum of `weight` uniform terms, and the message.
        let variance = f64::from(literal.weight + 1) / 12.0;
        let model = main.rlwe().noise_model();
        let peak = model
            .log2_embedding_bound(Noise::of_variance(variance, 0))
            .exp2();
        let raised = value(params, main.max_level(), params.raised_scale());
        let start = Estimate {
            message: peak / (2.0 * params.reduction().reach()),
            ..raised
        };
        let mut left = literal.slots.trailing_zeros();
        // Each step of the trace adds noise of its own and doubles what is there.
        let copies = (main.slots() / literal.slots) as f64;
        let traced =
            (copies - 1.0) * relative(&estimator.rotate(&raised)) * (-f64::from(left) / 2.0).exp2();
        let [_, stages] = params.splits();
        let moved = self.walk(start, &self.coeffs_to_slots, &stages, |stages, message| {
            left -= stages;
            (message, left)
        })?;
        let conjugated = value(
            params,
            main.max_level() - literal.coeffs_to_slots,
            params.reduction_scale(),
        );
        Ok(2.0 * (moved + traced) + relative(&estimator.rotate(&conjugated)))
    }

    /// The errors of a transform's factors, each from its own `start`. `next` gives, for the stages of a factor, the
    /// bound on what it yields and the stages over which its noise is averaged.
    fn walk(
        &self,
        start: Estimate,
        factors: &[EncodedMatrix],
        stages: &[u32],
        mut next: impl FnMut(u32, f64) -> (f64, u32),
    ) -> Result<f64, Error> {
        let estimator = self.params().main().estimator();
        let (mut ct, mut sum) = (start, 0.0);
        for (factor, stages) in factors.iter().zip(stages) {
            let after = |message: f64| {
                let given = Estimate { message, ..ct };
                estimator.rescale(&estimator.linear_transform(&given, factor.facts()))
            };
            let (noise, all) = (after(0.0)?, after(ct.message)?);
            let (message, averaged) = next(*stages, ct.message);
            sum += relative(&noise) * (-f64::from(averaged) / 2.0).exp2() + relative(&all)
                - relative(&noise);
            ct = Estimate {
                message,
                log2_error: f64::NEG_INFINITY,
                ..all
            };
        }
        Ok(sum)
    }
}

/// A ciphertext without error and message.
fn value(params: &BootstrapParams, level: usize, scale: f64) -> Estimate {
    let none = params
        .main()
        .estimator()
        .encode_rounded(0.0, level, scale, f64::NEG_INFINITY);
    Estimate { size: 2, ..none }
}

/// The error in units of the slots.
fn relative(e: &Estimate) -> f64 {
    e.log2_error.exp2() / e.scale
}

/// Of the two key switches around the raise: of a coefficient, in units of the message.
fn raising_error(params: &BootstrapParams) -> f64 {
    let digit = [(params.main().prime(0) as f64).log2()];
    let special = |set: &rlwe::RlweParams<u64>| {
        let primes = set.p().map(rns::RnsBasis::values).unwrap_or_default();
        primes.iter().map(|p| (*p as f64).log2()).sum::<f64>()
    };
    let sets: [&rlwe::RlweParams<u64>; 2] = [params.sparse(), params.main().rlwe()];
    let switches = sets.map(|set| {
        let model = set.noise_model();
        model
            .log2_bound(model.key_switch(&digit, special(set)))
            .exp2()
    });
    (switches[0] + switches[1]) / params.lowered_scale()
}

/// What the evaluation of the reduction makes itself: of x.
fn reduction_error(params: &BootstrapParams) -> Result<f64, Error> {
    let estimator: &Estimator = params.main().estimator();
    let reduction = params.reduction();
    let start = params.main().max_level() - params.literal().coeffs_to_slots;
    let argument = estimator.add_constant(&value(params, start, params.reduction_scale()), 1.0);
    let (top, last) = params.reduction_end();
    let scales = params.doubling_scales(top, last);
    let mut c = estimator.polynomial(&argument, reduction.cosine(), scales[0])?;
    for scale in &scales[1..] {
        c.message = 1.0;
        let square = estimator.relinearize_rescale(&estimator.multiply(&c, &c));
        c = estimator.add_constant(&estimator.add(&square, &square), 1.0);
        c.scale = *scale;
    }
    c.message = (TAU * reduction.ratio()).sin() * 1.01;
    if let Some(series) = reduction.arcsine() {
        c = estimator.polynomial(&c, series, params.sine_scale())?;
    }
    Ok(relative(&c) / TAU)
}
