// SPDX-License-Identifier: Apache-2.0
//! Vectors to plaintexts and back.

use crate::embedding::{Width, centred_to_f64, integers_to_residues};
use crate::linear_transform::ExtendedPlaintext;
use crate::{CkksParams, Error, Plaintext};
use num_complex::Complex64;
use rlwe::{ParameterSet, reveal};
use rns::{Eval, RnsBasis, RnsPoly};
use zeroize::Zeroizing;
use zq::{AlignedVec, Modulus};

/// Encodes vectors into plaintexts and back.
#[derive(Clone, Debug)]
pub struct Encoder {
    params: CkksParams,
}

impl Encoder {
    /// The encoder of a parameter set.
    pub fn new(params: &CkksParams) -> Self {
        Self {
            params: params.clone(),
        }
    }

    /// Encodes up to n/2 complex values; missing ones are 0.
    ///
    /// # Errors
    /// [`Error::TooManyValues`], [`Error::NotFinite`], [`Error::Level`], [`Error::Scale`], and [`Error::Overflow`] when
    /// the scaled values do not fit below half the modulus of `level`.
    pub fn encode(
        &self,
        values: &[Complex64],
        level: usize,
        scale: f64,
    ) -> Result<Plaintext, Error> {
        self.encode_sparse(values, self.params.slots(), level, scale)
    }

    /// Encodes real values, as [`Encoder::encode`].
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn encode_real(
        &self,
        values: &[f64],
        level: usize,
        scale: f64,
    ) -> Result<Plaintext, Error> {
        self.encode_any(values, self.params.slots(), level, scale)
    }

    /// Encodes up to n/2 real values for a linear transform of ciphertexts of `level`: over Q_l·P.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn encode_real_extended(
        &self,
        values: &[f64],
        level: usize,
        scale: f64,
    ) -> Result<ExtendedPlaintext, Error> {
        self.encode_any_extended(values, self.params.slots(), level, scale)
    }

    /// Encodes complex values into `slots` slots, as [`Encoder::encode_sparse`], for a linear transform of ciphertexts
    /// of `level`: over Q_l·P.
    ///
    /// # Errors
    /// As [`Encoder::encode_sparse`].
    pub fn encode_extended(
        &self,
        values: &[Complex64],
        slots: usize,
        level: usize,
        scale: f64,
    ) -> Result<ExtendedPlaintext, Error> {
        self.encode_any_extended(values, slots, level, scale)
    }

    fn encode_any_extended<V: Copy + Into<Complex64>>(
        &self,
        values: &[V],
        slots: usize,
        level: usize,
        scale: f64,
    ) -> Result<ExtendedPlaintext, Error> {
        self.params.check_level("encode", level)?;
        let basis = self.params.rlwe().level(level + 1)?.qp().clone();
        let poly = self.encode_over(&basis, values, slots, level, scale)?;
        Ok(ExtendedPlaintext {
            poly: poly.into(),
            level,
            scale,
            slots,
            params: self.params.fingerprint(),
        })
    }

    /// Encodes into `slots` slots (a power of two up to n/2), which the ciphertext repeats n/2 / `slots` times.
    ///
    /// # Errors
    /// As [`Encoder::encode`], and [`Error::Slots`].
    pub fn encode_sparse(
        &self,
        values: &[Complex64],
        slots: usize,
        level: usize,
        scale: f64,
    ) -> Result<Plaintext, Error> {
        self.encode_any(values, slots, level, scale)
    }

    /// Rounding error of an encoding at `scale`: the largest change of a slot, times the scale.
    ///
    /// # Errors
    /// As [`Encoder::encode`] but for the level.
    pub fn rounding(&self, values: &[f64], scale: f64) -> Result<f64, Error> {
        let values: Vec<Complex64> = values.iter().map(|&v| v.into()).collect();
        self.rounding_sparse(&values, self.params.slots(), scale)
    }

    /// As [`Encoder::rounding`], of complex values in `slots` slots.
    ///
    /// # Errors
    /// As [`Encoder::encode_sparse`] but for the level.
    pub fn rounding_sparse(
        &self,
        values: &[Complex64],
        slots: usize,
        scale: f64,
    ) -> Result<f64, Error> {
        let changes = self.roundings(values, slots, scale)?;
        Ok(changes.into_iter().fold(0.0, f64::max) * scale)
    }

    /// By how much an encoding at `scale` changes each slot, as absolute values.
    pub(crate) fn roundings(
        &self,
        values: &[Complex64],
        slots: usize,
        scale: f64,
    ) -> Result<Vec<f64>, Error> {
        let embedding = self.params.embedding();
        let rounded = embedding.to_coefficients(values, slots, scale)?;
        let back = embedding.to_slots(&rounded, slots, scale)?;
        let given = values.iter().chain(std::iter::repeat(&Complex64::ZERO));
        Ok(back
            .iter()
            .zip(given)
            .map(|(a, b)| (a - b).norm())
            .collect())
    }

    fn encode_any<V: Copy + Into<Complex64>>(
        &self,
        values: &[V],
        slots: usize,
        level: usize,
        scale: f64,
    ) -> Result<Plaintext, Error> {
        self.params.check_level("encode", level)?;
        let basis = self.params.basis(level)?;
        let poly = self.encode_over(&basis, values, slots, level, scale)?;
        Ok(Plaintext {
            poly: poly.into(),
            scale,
            slots,
            params: self.params.fingerprint(),
        })
    }

    /// The encoding over `basis`, which holds the primes of `level`.
    fn encode_over<V: Copy + Into<Complex64>>(
        &self,
        basis: &RnsBasis<u64>,
        values: &[V],
        slots: usize,
        level: usize,
        scale: f64,
    ) -> Result<RnsPoly<u64, Eval>, Error> {
        let embedding = self.params.embedding();
        embedding.with_coefficients(values, slots, scale, |x, largest| {
            self.check_room(largest, level, scale)?;
            Ok(integers_to_eval(basis, x, largest))
        })?
    }

    /// Refuses scaled values that reach half the modulus of a level; `largest` of them.
    pub(crate) fn check_room(&self, largest: f64, level: usize, scale: f64) -> Result<(), Error> {
        let available = self.params.log2_modulus(level) - 1.0;
        if reveal(largest >= available.exp2()) {
            return Err(Error::Overflow {
                operation: "encode",
                // Whole bits: enough to mend the scale, and no more about the message.
                needed: largest.log2().floor() + 1.0,
                log2_scale: scale.log2(),
                level,
                available,
            });
        }
        Ok(())
    }

    /// The slots of a plaintext.
    ///
    /// # Errors
    /// [`Error::Rlwe`] for a plaintext of another parameter set.
    pub fn decode(&self, plaintext: &Plaintext) -> Result<Vec<Complex64>, Error> {
        self.params
            .check_fingerprint("plaintext", plaintext.params)?;
        let coefficients = Zeroizing::new(self.coefficients(plaintext));
        self.params
            .embedding()
            .to_slots(&coefficients, plaintext.slots, plaintext.scale)
    }

    /// The real parts of the slots.
    ///
    /// # Errors
    /// As [`Encoder::decode`].
    pub fn decode_real(&self, plaintext: &Plaintext) -> Result<Vec<f64>, Error> {
        Ok(self.decode(plaintext)?.iter().map(|z| z.re).collect())
    }

    /// The centred coefficients, each within 2^-52 of its value.
    pub fn coefficients(&self, plaintext: &Plaintext) -> Vec<f64> {
        let poly = Zeroizing::new(plaintext.poly.coefficients());
        let limbs: Vec<&[u64]> = poly.limbs().collect();
        let moduli: &[Modulus<u64>] = poly.basis().moduli();
        centred_to_f64(moduli, &limbs)
    }
}

/// Integers held in doubles, `largest` the largest of their magnitudes, as a polynomial over `basis`.
fn integers_to_eval(basis: &RnsBasis<u64>, x: &[f64], largest: f64) -> RnsPoly<u64, Eval> {
    let mut limbs = AlignedVec::for_overwrite(basis.len() * basis.n());
    let width = Width::of(largest);
    // Each limb is transformed while it is in the caches.
    for (limb, plan) in limbs.chunks_exact_mut(basis.n()).zip(basis.plans()) {
        integers_to_residues(x, width, plan.modulus(), limb);
        plan.forward(limb);
    }
    RnsPoly::from_data(basis, limbs)
}
