// SPDX-License-Identifier: Apache-2.0
//! A refresh, step by step.

use super::dft::Direction;
use super::{BootstrapKeys, BootstrapParams, EncodedMatrix, KeySource, Message};
use crate::scale::same_scale;
use crate::{Ciphertext, Encoder, Error, Evaluator};
use num_complex::Complex64;
use rlwe::{GaloisKeys, ParameterSet, Threads};
use std::sync::Arc;

/// A part of a refresh, see [`Bootstrapper`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Slots to coefficients.
    SlotsToCoeffs,
    /// Encapsulation, raise and trace.
    Raise,
    /// Coefficients to slots and the conjugation.
    CoeffsToSlots,
    /// The reductions.
    Reduction,
}

/// Refreshes ciphertexts: gives those of [`BootstrapParams::input_level`] the level
/// [`BootstrapParams::output_level`], at the set's scale. Needs no secret; the same keys and ciphertext always give the
/// same bytes, on any number of threads.
///
/// ```text
/// slots to coefficients     the values become coefficients, over few primes
/// encapsulation, raise      modulo q[0] to the sparse secret; m = T·q[0] modulo all primes, T = I + x, |I| small
/// trace                     onto the subring of fewer slots
/// coefficients to slots     the numbers T/B in the slots; real parts by conjugation
/// reduction                 x from T: cosine, double angles, arcsine
/// ```
///
/// With two passes (ePrint 2022/1167) all of it is done once more for what the first one errs by, made larger.
#[derive(Debug)]
pub struct Bootstrapper {
    params: BootstrapParams,
    evaluator: Evaluator,
    threads: Threads,
    /// What the error of a first pass is multiplied by for the second; none for one pass.
    correction: Option<i64>,
    pub(super) slots_to_coeffs: Arc<Vec<EncodedMatrix>>,
    pub(super) coeffs_to_slots: Arc<Vec<EncodedMatrix>>,
}

impl Bootstrapper {
    /// Makes the matrices.
    ///
    /// # Errors
    /// Those of [`Encoder::encode`], where a scale does not fit its level.
    pub fn new(params: &BootstrapParams, threads: Threads) -> Result<Self, Error> {
        let correction = match params.literal().passes {
            1 => None,
            _ => Some(params.outline().correction(params.error_of_pass(0.0)?)?),
        };
        Ok(Self {
            correction,
            slots_to_coeffs: Arc::new(encode(params, Direction::SlotsToCoeffs)?),
            coeffs_to_slots: Arc::new(encode(params, Direction::CoeffsToSlots)?),
            evaluator: Evaluator::new(params.main()).with_threads(threads.clone()),
            params: params.clone(),
            threads,
        })
    }

    /// What it is made of.
    pub fn params(&self) -> &BootstrapParams {
        &self.params
    }

    /// The same on other threads, with the same matrices.
    #[must_use]
    pub fn with_threads(&self, threads: Threads) -> Self {
        Self {
            params: self.params.clone(),
            evaluator: Evaluator::new(self.params.main()).with_threads(threads.clone()),
            threads,
            correction: self.correction,
            slots_to_coeffs: Arc::clone(&self.slots_to_coeffs),
            coeffs_to_slots: Arc::clone(&self.coeffs_to_slots),
        }
    }

    /// Bytes of the matrices in memory.
    pub fn memory(&self) -> usize {
        let matrices = self.slots_to_coeffs.iter().chain(&*self.coeffs_to_slots);
        matrices.map(EncodedMatrix::memory).sum()
    }

    /// The same message with new levels.
    ///
    /// # Errors
    /// [`Error::LevelsExhausted`] below the input level, [`Error::ScaleMismatch`] unless the scale is near the set's
    /// ([`BootstrapParams::scale_is_near`]), [`Error::Bootstrap`] for another number of slots, [`Error::Rlwe`] for keys
    /// of another set or secret.
    pub fn refresh<'a>(
        &self,
        ct: &Ciphertext,
        keys: impl Into<KeySource<'a>>,
    ) -> Result<Ciphertext, Error> {
        self.refreshed(ct, keys.into(), &mut |_| {}, &|| false)
    }

    /// [`Bootstrapper::refresh`] that calls `done` after each phase.
    ///
    /// # Errors
    /// As [`Bootstrapper::refresh`].
    pub fn refresh_observed<'a>(
        &self,
        ct: &Ciphertext,
        keys: impl Into<KeySource<'a>>,
        done: &mut dyn FnMut(Phase),
    ) -> Result<Ciphertext, Error> {
        self.refreshed(ct, keys.into(), done, &|| false)
    }

    /// [`Bootstrapper::refresh`] that asks `stopped` before each factor, reduction and double angle.
    ///
    /// # Errors
    /// As there, and [`Error::Stopped`].
    pub fn refresh_unless<'a>(
        &self,
        ct: &Ciphertext,
        keys: impl Into<KeySource<'a>>,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Ciphertext, Error> {
        self.refreshed(ct, keys.into(), &mut |_| {}, stopped)
    }

    fn refreshed(
        &self,
        ct: &Ciphertext,
        source: KeySource<'_>,
        done: &mut dyn FnMut(Phase),
        stopped: &dyn Fn() -> bool,
    ) -> Result<Ciphertext, Error> {
        self.check(ct)?;
        let first = self.pass(ct, source, done, stopped)?;
        let Some(factor) = self.correction else {
            return Ok(first);
        };
        let evaluator = &self.evaluator;
        let level = self.params.input_level();
        let same = evaluator.set_scale_by_constant(&first, ct.scale())?;
        let [given, got] = [ct, &same].map(|ct| evaluator.drop_to(ct, level));
        let error = evaluator.multiply_integer(&evaluator.sub(&given?, &got?)?, factor)?;
        let second = self.pass(&error, source, done, stopped)?;
        // The second pass knows nothing of imaginary parts that the first one's noise gave to real messages.
        let (first, share) = match self.params.literal().message {
            Message::Complex => (first, 1.0),
            Message::Real => {
                let turned = evaluator.conjugate(&first, &source.kept().conjugation)?;
                (evaluator.add(&first, &turned)?, 0.5)
            }
        };
        let first = evaluator.multiply_constant(&first, share.into())?;
        let second = evaluator.multiply_constant(&second, (1.0 / factor as f64).into())?;
        evaluator.rescale(&evaluator.add(&first, &second)?)
    }

    /// One pass: the message, or with two passes the error of the first, with new levels.
    fn pass(
        &self,
        ct: &Ciphertext,
        source: KeySource<'_>,
        done: &mut dyn FnMut(Phase),
        stopped: &dyn Fn() -> bool,
    ) -> Result<Ciphertext, Error> {
        let keys = source.kept();
        // Read at the set's scale the message is `off` times itself; the reduction's last scale takes that back.
        let off = ct.scale() / self.params.main().scale();
        let mut low = self.evaluator.drop_to(ct, self.params.input_level())?;
        low.scale = self.params.main().scale();
        let low = self.transform(low, Direction::SlotsToCoeffs, source, stopped)?;
        done(Phase::SlotsToCoeffs);
        let raised = self.trace(self.raise(&low, keys)?, &keys.trace)?;
        done(Phase::Raise);
        let moved = self.transform(raised, Direction::CoeffsToSlots, source, stopped)?;
        let conjugate = self.evaluator.conjugate(&moved, &keys.conjugation)?;
        done(Phase::CoeffsToSlots);
        let reduced = self.reduce_parts([&moved, &conjugate], off, keys, stopped)?;
        done(Phase::Reduction);
        Ok(reduced)
    }

    /// The reduction of real parts, and of imaginary ones where messages have them.
    fn reduce_parts(
        &self,
        [moved, conjugate]: [&Ciphertext; 2],
        off: f64,
        keys: &BootstrapKeys,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Ciphertext, Error> {
        let reduce = |ct: &Ciphertext| self.reduce(ct, off, keys, stopped);
        let real = reduce(&self.evaluator.add(moved, conjugate)?)?;
        if self.params.literal().message == Message::Real {
            return Ok(real);
        }
        let difference = self.evaluator.sub(moved, conjugate)?;
        let imaginary = reduce(&self.times(&difference, -Complex64::I)?)?;
        self.evaluator
            .add(&real, &self.times(&imaginary, Complex64::I)?)
    }

    fn check(&self, ct: &Ciphertext) -> Result<(), Error> {
        let (params, needed) = (&self.params, self.params.input_level());
        params.main().check_fingerprint("ciphertext", ct.params)?;
        if ct.slots() != params.literal().slots {
            return Err(Error::Bootstrap {
                what: "the number of slots of the ciphertext",
                got: ct.slots().to_string(),
                allowed: format!(
                    "{}, for which these keys and matrices are",
                    params.literal().slots
                ),
            });
        }
        if ct.level() < needed {
            return Err(Error::LevelsExhausted {
                operation: "refresh",
                needed,
                levels_left: ct.level(),
                log2_scale: ct.scale().log2(),
                remedy: "refresh before the last levels are used",
            });
        }
        match params.scale_is_near(ct.scale()) {
            true => Ok(()),
            false => same_scale("refresh", ct.scale(), params.main().scale(), ct.level()),
        }
    }

    /// The product with all factors, a level each.
    fn transform(
        &self,
        ct: Ciphertext,
        direction: Direction,
        source: KeySource<'_>,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Ciphertext, Error> {
        let factors = match direction {
            Direction::SlotsToCoeffs => &self.slots_to_coeffs,
            Direction::CoeffsToSlots => &self.coeffs_to_slots,
        };
        factors.iter().enumerate().try_fold(ct, |ct, (i, factor)| {
            go_on(stopped)?;
            let keys = source.rotations(direction, i)?;
            let (sums, onto) = factor.transform();
            let product = self.evaluator.chained_transform(&ct, &sums, &onto, &keys)?;
            self.evaluator.rescale(&product)
        })
    }

    /// From level 0 to the top: the coefficients gain multiples of q[0].
    fn raise(&self, ct: &Ciphertext, keys: &BootstrapKeys) -> Result<Ciphertext, Error> {
        let (main, keys) = (self.params.main(), &keys.encapsulation);
        let target = keys.to_dense();
        main.rlwe()
            .check_fingerprint("the encapsulation key", target.fingerprint())?;
        ct.key_id().join(target.id(), "the encapsulation key")?;
        let [c0, c1] = [0, 1].map(|i| ct.parts()[i].coefficients());
        let sparse = self.params.sparse();
        sparse.check_fingerprint("the encapsulation key", keys.to_sparse().fingerprint())?;
        let [k0, k1] = sparse.key_switch(&c1, keys.to_sparse(), &self.threads)?;
        let level = main.rlwe().level(main.max_level() + 1)?;
        let parts = level.raise([&c0.add(&k0), &k1], target, &self.threads)?;
        let mut raised = ct.with_parts(parts.into());
        raised.scale = self.params.outline().raised_scale();
        Ok(raised)
    }

    /// The sum over the copies of the slots: powers of x outside the subring vanish, the rest is multiplied by
    /// their number.
    fn trace(&self, ct: Ciphertext, keys: &GaloisKeys<u64>) -> Result<Ciphertext, Error> {
        self.params
            .trace_steps()
            .into_iter()
            .try_fold(ct, |ct, step| {
                let turned = self.evaluator.rotate(&ct, step, keys)?;
                self.evaluator.add(&ct, &turned)
            })
    }

    /// x/`off` from T/B in every slot, at the set's scale.
    fn reduce(
        &self,
        ct: &Ciphertext,
        off: f64,
        keys: &BootstrapKeys,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Ciphertext, Error> {
        go_on(stopped)?;
        let (params, evaluator, relin) = (&self.params, &self.evaluator, &keys.relin);
        let reduction = params.reduction();
        let shifted = evaluator.add_constant(ct, (-0.25 / reduction.reach()).into())?;
        let (top, last) = params.outline().reduction_end(off);
        let scales = params.outline().doubling_scales(top, last);
        let cosine =
            evaluator.polynomial_to_scale(&shifted, reduction.cosine(), scales[0], relin)?;
        let sine = scales[1..].iter().try_fold(cosine, |c, scale| {
            go_on(stopped)?;
            self.double_angle(&c, *scale, keys)
        })?;
        let mut out = match reduction.arcsine() {
            Some(series) => {
                let scale = params.outline().sine_scale() / off;
                evaluator.polynomial_to_scale(&sine, series, scale, relin)?
            }
            None => sine,
        };
        out.scale = params.main().scale();
        Ok(out)
    }

    /// 2c² − 1, of scale exactly `scale`.
    fn double_angle(
        &self,
        c: &Ciphertext,
        scale: f64,
        keys: &BootstrapKeys,
    ) -> Result<Ciphertext, Error> {
        let square = self.evaluator.square(c)?;
        let mut square = self.evaluator.relinearize_rescale(&square, &keys.relin)?;
        debug_assert!(same_scale("double angle", square.scale, scale, square.level()).is_ok());
        square.scale = scale;
        let place = (square.level(), scale);
        (self.evaluator).combination((&square, 2.0), &[], -1.0, place)
    }

    /// The product with ±i, exact: a monomial.
    fn times(&self, ct: &Ciphertext, unit: Complex64) -> Result<Ciphertext, Error> {
        self.evaluator
            .multiply_constant_to_scale(ct, unit, ct.scale())
    }
}

fn go_on(stopped: &dyn Fn() -> bool) -> Result<(), Error> {
    match stopped() {
        true => Err(Error::Stopped),
        false => Ok(()),
    }
}

/// The factors of a transform, encoded.
fn encode(params: &BootstrapParams, direction: Direction) -> Result<Vec<EncodedMatrix>, Error> {
    let (encoder, factors) = (
        Encoder::new(params.main()),
        params.scaled_factors(direction)?,
    );
    let encoded =
        (factors.iter()).map(|own| own.factor.encode(&encoder, own.steps, own.level, own.scale));
    encoded.collect()
}
