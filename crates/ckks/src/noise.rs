// SPDX-License-Identifier: Apache-2.0
//! Static error estimates: bounds on the slot error of a ciphertext, from public facts alone.
//!
//! Every ciphertext is described by a bound on its slots, its scale, level, size, and a bound on its error polynomial e
//! in the canonical embedding: |e(ζ)| at every root ζ (Gentry, Halevi, Smart, ePrint 2012/099, appendix; Costache,
//! Curtis, Hales, Murphy, Ogilvie, Player, ePrint 2022/162 for CKKS). [`rlwe::noise`] has the bounds of fresh errors,
//! key switching and rounding and their failure probability.
//!
//! - Products: `(m₁+e₁)(m₂+e₂) - m₁m₂ = m₁e₂ + m₂e₁ + e₁e₂`, where |m(ζ)| is at most scale times the slot bound.
//! - Sums add bounds, since the summands may be the same. Randomness drawn for the operation itself is independent of
//!   what came before: there squares add.
//! - Encoding rounds each coefficient by up to 1/2. Values can be chosen so that all roundings add up in one slot,
//!   hence the worst case of n/π; a plaintext that is at hand brings the error that it really has.

mod curve;
mod own;

pub(crate) use curve::{Curve, Spread};

use crate::Error;
use crate::poly::{Arithmetic, Plan, Polynomial, evaluate};
use crate::scale::SCALE_TOLERANCE;
use rlwe::noise::{GiantFacts, Noise, NoiseModel, REFUSED_BITS, log2_add};
use rlwe::{ErrorDistribution, SecretDistribution};
use std::f64::consts::{LN_2, PI};

/// Relative error of one pass through the slot transform.
pub(crate) const EMBEDDING_ERROR: f64 = 1.0 / (1u64 << 49) as f64;

/// Noise estimate of a plaintext or ciphertext, made without any key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Bound on the absolute value of every slot.
    pub message: f64,
    /// log2 of the bound on the error polynomial at every root (−∞: no error).
    pub log2_error: f64,
    /// Scale.
    pub scale: f64,
    /// Rescales left.
    pub level: usize,
    /// Components: 1 for a plaintext, 2 for a ciphertext, 3 for a product.
    pub size: usize,
}

/// Error arithmetic for one parameter set, made of plain numbers so that a parameter search needs no keys or tables.
#[derive(Clone, Debug)]
pub struct Estimator {
    model: NoiseModel,
    log2_q: Vec<f64>,
    log2_p: f64,
    digit_limbs: usize,
}

impl Estimator {
    /// The estimator of ring degree `n`, a chain `moduli` (first prime first), special primes (may be empty) and `dnum`
    /// key-switching digits.
    ///
    /// # Errors
    /// [`Error::Chain`] for an empty chain, or `dnum` outside 1..=moduli.
    pub fn new(
        n: usize,
        secret: SecretDistribution,
        error: &ErrorDistribution,
        moduli: &[u64],
        special: &[u64],
        dnum: usize,
    ) -> Result<Self, Error> {
        if moduli.is_empty() || dnum == 0 || dnum > moduli.len() {
            return Err(Error::Chain(format!(
                "dnum {dnum} for a chain of {} primes",
                moduli.len()
            )));
        }
        Ok(Self {
            model: NoiseModel::new(n, secret, error),
            log2_q: moduli.iter().map(|q| (*q as f64).log2()).collect(),
            log2_p: special.iter().map(|p| (*p as f64).log2()).sum(),
            digit_limbs: moduli.len().div_ceil(dnum),
        })
    }

    /// Top level of the chain.
    pub fn max_level(&self) -> usize {
        self.log2_q.len() - 1
    }

    /// The estimator whose bounds fail with probability below 2^-bits; 2^-128 unless asked.
    #[must_use]
    pub fn with_failure_bits(self, bits: u32) -> Self {
        Self {
            model: self.model.with_failure_bits(bits),
            ..self
        }
    }

    /// log2 of the inverse failure probability.
    pub fn failure_bits(&self) -> u32 {
        self.model.failure_bits()
    }

    /// Ring degree.
    pub fn n(&self) -> usize {
        self.model.n()
    }

    /// log2 of the modulus at `level`.
    pub fn log2_modulus(&self, level: usize) -> f64 {
        self.log2_q[..=level].iter().sum()
    }

    /// log2 of what rounding the coefficients of any plaintext can do to a slot: half of max |Σ ±ζ^j| = 1/sin(π/2n).
    pub fn log2_worst_rounding(&self) -> f64 {
        -1.0 - (PI / (2.0 * self.n() as f64)).sin().log2()
    }

    /// log2 of what rounding stays below for values that have nothing to do with the ring, but for one in 2^40
    /// plaintexts. Contrived or few small values exceed it: only for plaintexts whose own rounding is checked.
    pub fn log2_random_rounding(&self) -> f64 {
        let tail = (self.n() as f64).ln() + f64::from(REFUSED_BITS) * LN_2;
        0.5 * (self.n() as f64 / 12.0 * tail).log2()
    }

    /// log2 of what rounding can do to a slot of a plaintext whose slots all hold the same real number.
    ///
    /// Its polynomial is a constant, rounded by up to 1/2, plus the error δ of the slot transform: |δ(ζ)| ≤ E at every
    /// root, hence ‖δ‖₂ ≤ E and Σ|δ_k| ≤ √n E. Rounding makes of a δ_k at most 2|δ_k|.
    pub fn log2_uniform_rounding(&self, bound: f64, scale: f64) -> f64 {
        let embedding = bound * scale * EMBEDDING_ERROR;
        (0.5 + 2.0 * (self.n() as f64).sqrt() * embedding).log2()
    }

    /// Any plaintext with slots of at most `bound` encoded at `level` and `scale`.
    pub fn encode(&self, bound: f64, level: usize, scale: f64) -> Estimate {
        self.encode_rounded(bound, level, scale, self.log2_worst_rounding())
    }

    /// A plaintext with slots of at most `bound` whose rounding is known to change none by more than
    /// `2^log2_rounding / scale`.
    pub fn encode_rounded(
        &self,
        bound: f64,
        level: usize,
        scale: f64,
        log2_rounding: f64,
    ) -> Estimate {
        Estimate {
            message: bound,
            log2_error: log2_add(log2_rounding, (bound * scale * EMBEDDING_ERROR).log2()),
            scale,
            level,
            size: 1,
        }
    }

    /// The bound with randomness of the operation's own added.
    fn with_own(&self, log2_error: f64, own: Noise) -> f64 {
        0.5 * log2_add(2.0 * log2_error, 2.0 * self.model.log2_embedding_bound(own))
    }

    /// Encryption of a plaintext under the public key.
    pub fn encrypt_public(&self, plaintext: &Estimate) -> Estimate {
        self.encrypt(plaintext, self.model.fresh_public())
    }

    /// Encryption of a plaintext under an extended public key.
    ///
    /// # Errors
    /// [`rlwe::Error::NoSpecialPrimes`].
    pub fn encrypt_extended(&self, plaintext: &Estimate) -> Result<Estimate, Error> {
        if self.log2_p <= 0.0 {
            let what = "encryption under an extended public key";
            return Err(rlwe::Error::NoSpecialPrimes { what }.into());
        }
        Ok(self.encrypt(plaintext, self.model.fresh_extended(self.log2_p)))
    }

    /// Encryption of a plaintext under the secret key.
    pub fn encrypt_secret(&self, plaintext: &Estimate) -> Estimate {
        self.encrypt(plaintext, self.model.fresh_symmetric())
    }

    /// The encoding error is not random: bounds add.
    fn encrypt(&self, plaintext: &Estimate, fresh: Noise) -> Estimate {
        let fresh = self.model.log2_embedding_bound(fresh);
        Estimate {
            log2_error: log2_add(plaintext.log2_error, fresh),
            size: 2,
            ..*plaintext
        }
    }

    /// Sum or difference of operands whose scales are equal up to [`SCALE_TOLERANCE`].
    pub fn add(&self, a: &Estimate, b: &Estimate) -> Estimate {
        let drift = (b.message * b.scale * SCALE_TOLERANCE).log2();
        Estimate {
            message: a.message + b.message,
            log2_error: log2_add(log2_add(a.log2_error, b.log2_error), drift),
            scale: a.scale,
            level: a.level.min(b.level),
            size: a.size.max(b.size),
        }
    }

    /// Product of two ciphertexts, or of a ciphertext and a plaintext; not relinearised.
    pub fn multiply(&self, a: &Estimate, b: &Estimate) -> Estimate {
        let value = |e: &Estimate| (e.message * e.scale).log2();
        let cross = log2_add(value(a) + b.log2_error, value(b) + a.log2_error);
        Estimate {
            message: a.message * b.message,
            log2_error: log2_add(cross, a.log2_error + b.log2_error),
            scale: a.scale * b.scale,
            level: a.level.min(b.level),
            size: a.size + b.size - 1,
        }
    }

    /// Product with a real constant, to the scale `scale`: the constant is rounded to a multiple of `e.scale/scale`.
    pub fn multiply_constant(&self, e: &Estimate, c: f64, scale: f64) -> Estimate {
        let factor = (c * scale / e.scale).abs() + 0.5;
        let rounding = (0.5 * e.message * e.scale).log2();
        Estimate {
            message: e.message * c.abs(),
            log2_error: log2_add(e.log2_error + factor.log2(), rounding),
            scale,
            ..*e
        }
    }

    /// Sum with a real constant.
    pub fn add_constant(&self, e: &Estimate, c: f64) -> Estimate {
        Estimate {
            message: e.message + c.abs(),
            log2_error: log2_add(e.log2_error, -1.0),
            ..*e
        }
    }

    /// Relinearisation of a product: one key switch. Of size 2: nothing.
    pub fn relinearize(&self, e: &Estimate) -> Estimate {
        if e.size < 3 {
            *e
        } else {
            Estimate {
                size: 2,
                ..self.key_switch(e)
            }
        }
    }

    /// Rotation or conjugation: one key switch.
    pub fn rotate(&self, e: &Estimate) -> Estimate {
        self.key_switch(e)
    }

    fn key_switch(&self, e: &Estimate) -> Estimate {
        let own = self
            .model
            .key_switch(&self.log2_digits(e.level), self.log2_p);
        Estimate {
            log2_error: self.with_own(e.log2_error, own),
            ..*e
        }
    }

    /// A key switch whose sums over Q·P stay as they are: no division, no rounding.
    fn switch_undivided(&self, e: &Estimate) -> Estimate {
        let own = self
            .model
            .key_products(&self.log2_digits(e.level), self.log2_p);
        Estimate {
            log2_error: self.with_own(e.log2_error, own),
            ..*e
        }
    }

    /// Sizes of the digits of a level in bits.
    fn log2_digits(&self, level: usize) -> Vec<f64> {
        let digits = self.log2_q[..=level].chunks(self.digit_limbs);
        digits.map(|d| d.iter().sum()).collect()
    }

    /// Relinearisation of a product and division by the last prime, rounded once. At level 0, where there is no such
    /// prime, no bound holds.
    pub fn relinearize_rescale(&self, e: &Estimate) -> Estimate {
        let switched = self.switch_undivided(e);
        match self.rescale(&Estimate {
            size: 2,
            ..switched
        }) {
            Ok(rescaled) => rescaled,
            Err(_) => Estimate {
                log2_error: f64::INFINITY,
                size: 2,
                ..*e
            },
        }
    }

    /// A linear transform of a ciphertext: for each giant step whether it rotates, and for each of its terms whether it
    /// rotates and the estimate of its encoded plaintext, if it has one. All plaintexts have one scale.
    pub fn linear_transform(&self, value: &Estimate, giants: &[GiantFacts<Estimate>]) -> Estimate {
        let rotated = self.switch_undivided(value);
        let term = |(rotates, plaintext): &(bool, Option<Estimate>)| {
            let x = if *rotates { &rotated } else { value };
            plaintext.map_or(*x, |plaintext| self.multiply(x, &plaintext))
        };
        let giant = |(rotates, terms): &GiantFacts<Estimate>| {
            let sum = terms.iter().map(term).reduce(|a, b| self.add(&a, &b))?;
            // One part of the sum is divided and rounded, which is no more than for both.
            Some(if *rotates { self.key_switch(&sum) } else { sum })
        };
        let sum = giants
            .iter()
            .filter_map(giant)
            .reduce(|a, b| self.add(&a, &b));
        let sum = sum.unwrap_or(Estimate {
            message: 0.0,
            log2_error: f64::NEG_INFINITY,
            ..*value
        });
        if self.log2_p > 0.0 {
            Estimate {
                log2_error: self.with_own(sum.log2_error, self.model.rounding(2)),
                ..sum
            }
        } else {
            sum
        }
    }

    /// Division by the last prime.
    ///
    /// # Errors
    /// [`Error::LevelsExhausted`] at level 0.
    pub fn rescale(&self, e: &Estimate) -> Result<Estimate, Error> {
        if e.level == 0 {
            return Err(exhausted("rescale", e.scale));
        }
        let divisor = self.log2_q[e.level];
        Ok(Estimate {
            log2_error: self.with_own(e.log2_error - divisor, self.model.rounding(e.size)),
            scale: e.scale / divisor.exp2(),
            level: e.level - 1,
            ..*e
        })
    }

    /// The same value at a lower level.
    pub fn drop_to(&self, e: &Estimate, level: usize) -> Estimate {
        Estimate {
            level: level.min(e.level),
            ..*e
        }
    }

    /// Polynomial of a ciphertext, to the scale `scale`, with the very plan the evaluator follows. A Chebyshev argument
    /// is taken to lie in [-1, 1].
    ///
    /// # Errors
    /// [`Error::LevelsExhausted`], [`Error::Scale`].
    pub fn polynomial(
        &self,
        e: &Estimate,
        polynomial: &Polynomial,
        scale: f64,
    ) -> Result<Estimate, Error> {
        evaluate(self, e, &Plan::new(polynomial), scale)
    }

    /// log2 of the bound on the error of a slot, in units of the message.
    pub fn log2_slot_error(&self, e: &Estimate) -> f64 {
        log2_add(
            e.log2_error - e.scale.log2(),
            (e.message * EMBEDDING_ERROR).log2(),
        )
    }

    /// The bound on the error of a slot, in units of the message.
    pub fn slot_error(&self, e: &Estimate) -> f64 {
        self.log2_slot_error(e).exp2()
    }

    /// Checks that message and error stay below half the modulus, so that decryption does not wrap.
    ///
    /// # Errors
    /// [`Error::Overflow`] with the bits needed and available.
    pub fn check_room(&self, operation: &'static str, e: &Estimate) -> Result<(), Error> {
        // A coefficient is at most the largest slot of its polynomial.
        let needed = ((e.message + self.slot_error(e)) * e.scale).log2();
        let available = self.log2_modulus(e.level) - 1.0;
        if needed < available {
            return Ok(());
        }
        Err(Error::Overflow {
            operation,
            needed,
            log2_scale: e.scale.log2(),
            level: e.level,
            available,
        })
    }
}

fn exhausted(operation: &'static str, scale: f64) -> Error {
    Error::LevelsExhausted {
        operation,
        needed: 1,
        levels_left: 0,
        log2_scale: scale.log2(),
        remedy: "use a longer modulus chain",
    }
}

impl Arithmetic for Estimator {
    type Value = Estimate;

    fn level(&self, v: &Estimate) -> usize {
        v.level
    }
    fn scale(&self, v: &Estimate) -> f64 {
        v.scale
    }
    fn divisor(&self, level: usize) -> f64 {
        self.log2_q[level].exp2()
    }
    fn drop_to(&self, v: &Estimate, level: usize) -> Result<Estimate, Error> {
        Ok(Estimator::drop_to(self, v, level))
    }
    fn set_scale(&self, v: &mut Estimate, scale: f64) {
        v.scale = scale;
    }
    fn limit(&self, v: &mut Estimate, bound: f64) {
        v.message = v.message.min(bound);
    }
    fn add(&self, a: &Estimate, b: &Estimate) -> Result<Estimate, Error> {
        Ok(Estimator::add(self, a, b))
    }
    fn sub(&self, a: &Estimate, b: &Estimate) -> Result<Estimate, Error> {
        Ok(Estimator::add(self, a, b))
    }
    fn multiply(&self, a: &Estimate, b: &Estimate) -> Result<Estimate, Error> {
        Ok(Estimator::multiply(self, a, b))
    }
    fn square(&self, v: &Estimate) -> Result<Estimate, Error> {
        Ok(Estimator::multiply(self, v, v))
    }
    fn multiply_constant(&self, v: &Estimate, c: f64, scale: f64) -> Result<Estimate, Error> {
        Ok(Estimator::multiply_constant(self, v, c, scale))
    }
    fn add_constant(&self, v: &Estimate, c: f64) -> Result<Estimate, Error> {
        Ok(Estimator::add_constant(self, v, c))
    }
    fn reduce(&self, v: &Estimate) -> Result<Estimate, Error> {
        self.rescale(&self.relinearize(v))
    }
}
