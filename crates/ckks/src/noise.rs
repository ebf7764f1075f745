// SPDX-License-Identifier: Apache-2.0
//! Static error estimates: what the slots of a ciphertext can be off by, from public facts alone.
//!
//! Every ciphertext is described by a bound on its slots, its scale, level, size, and the variance of its error
//! polynomial e (see [`rlwe::noise`] for the fresh, key-switching and rounding terms). In the slots e shows as e(ζ); for a
//! polynomial that is a product of k independent ones with coefficient variance V in all, |e(ζ)|² has mean nV and the
//! tail of a product of k exponentials, so |e(ζ)| exceeds `(T/k)^(k/2) · sqrt(nV)` with probability about e^-T
//! (arithmetic-geometric mean: all k factors must be large at once). T = ln(n/2) + 40 ln 2 covers all slots with
//! failure probability 2^-40 (canonical-norm analysis of Gentry, Halevi, Smart, ePrint 2012/099, appendix; Costache,
//! Curtis, Hales, Murphy, Ogilvie, Player, ePrint 2022/162 for CKKS).
//!
//! Products: `(m₁+e₁)(m₂+e₂) - m₁m₂ = m₁e₂ + m₂e₁ + e₁e₂`, where |m(ζ)| is at most scale times the slot bound.

use crate::Error;
use crate::poly::{Arithmetic, Plan, Polynomial, evaluate};
use rlwe::noise::{Gain, Noise, NoiseModel, log2_add};
use rlwe::{ErrorDistribution, SecretDistribution};
use std::f64::consts::LN_2;

/// Exponent of the failure probability of a bound.
const TAIL_BITS: f64 = 40.0;

/// Relative error of one pass through the slot transform.
const EMBEDDING_ERROR: f64 = 1.0 / (1u64 << 49) as f64;

/// What is known of a plaintext or ciphertext without any key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Bound on the absolute value of every slot.
    pub message: f64,
    /// The error polynomial.
    pub noise: Noise,
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

    fn n(&self) -> f64 {
        self.model.n() as f64
    }

    /// Noise whose slots are all at most `bound`.
    fn bounded(&self, bound: f64) -> Noise {
        Noise::of_variance(bound * bound / self.n(), 0)
    }

    /// log2 of the modulus at `level`.
    pub fn log2_modulus(&self, level: usize) -> f64 {
        self.log2_q[..=level].iter().sum()
    }

    /// A plaintext with slots of at most `bound` encoded at `level` and `scale`: every coefficient is rounded.
    pub fn encode(&self, bound: f64, level: usize, scale: f64) -> Estimate {
        let rounding = Noise::of_variance(1.0 / 12.0, 0);
        let noise = rounding.plus(self.bounded(bound * scale * EMBEDDING_ERROR));
        Estimate {
            message: bound,
            noise,
            scale,
            level,
            size: 1,
        }
    }

    /// Encryption of a plaintext under the public key.
    pub fn encrypt_public(&self, plaintext: &Estimate) -> Estimate {
        let noise = plaintext.noise.plus_independent(self.model.fresh_public());
        Estimate {
            noise,
            size: 2,
            ..*plaintext
        }
    }

    /// Encryption of a plaintext under the secret key.
    pub fn encrypt_secret(&self, plaintext: &Estimate) -> Estimate {
        let noise = plaintext
            .noise
            .plus_independent(self.model.fresh_symmetric());
        Estimate {
            noise,
            size: 2,
            ..*plaintext
        }
    }

    /// Sum or difference of operands with equal scales.
    pub fn add(&self, a: &Estimate, b: &Estimate) -> Estimate {
        Estimate {
            message: a.message + b.message,
            noise: a.noise.plus(b.noise),
            scale: a.scale,
            level: a.level.min(b.level),
            size: a.size.max(b.size),
        }
    }

    /// Product of two ciphertexts, or of a ciphertext and a plaintext; not relinearised.
    pub fn multiply(&self, a: &Estimate, b: &Estimate) -> Estimate {
        let gain = |e: &Estimate| Gain {
            log2: 2.0 * (e.message * e.scale).log2(),
        };
        let cross = a.noise.through(gain(b)).plus(b.noise.through(gain(a)));
        let factors = a.noise.factors + b.noise.factors + 1;
        let both = Noise {
            log2_variance: a.noise.log2_variance
                + b.noise.log2_variance
                + (self.n() * f64::from(factors)).log2(),
            factors,
        };
        Estimate {
            message: a.message * b.message,
            noise: Noise {
                factors: cross.factors,
                ..cross.plus(both)
            },
            scale: a.scale * b.scale,
            level: a.level.min(b.level),
            size: a.size + b.size - 1,
        }
    }

    /// Product with a real constant, to the scale `scale`: the constant is rounded to a multiple of `e.scale/scale`.
    pub fn multiply_constant(&self, e: &Estimate, c: f64, scale: f64) -> Estimate {
        let factor = (c * scale / e.scale).abs();
        let rounding = self.bounded(0.5 * e.message * e.scale);
        Estimate {
            message: e.message * c.abs(),
            noise: e.noise.scaled(factor.max(0.5).log2()).plus(rounding),
            scale,
            ..*e
        }
    }

    /// Sum with a real constant.
    pub fn add_constant(&self, e: &Estimate, c: f64) -> Estimate {
        Estimate {
            message: e.message + c.abs(),
            noise: e.noise.plus(self.bounded(0.5)),
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
        let digits: Vec<f64> = self.log2_q[..=e.level]
            .chunks(self.digit_limbs)
            .map(|d| d.iter().sum())
            .collect();
        Estimate {
            noise: e
                .noise
                .plus_independent(self.model.key_switch(&digits, self.log2_p)),
            ..*e
        }
    }

    /// Division by the last prime.
    ///
    /// # Errors
    /// [`Error::LevelsExhausted`] at level 0.
    pub fn rescale(&self, e: &Estimate) -> Result<Estimate, Error> {
        if e.level == 0 {
            return Err(exhausted("rescale", e));
        }
        let divisor = self.log2_q[e.level];
        Ok(Estimate {
            noise: self.model.mod_switch(e.noise, divisor, e.size),
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
        let k = f64::from(e.noise.factors + 1);
        let tail = (self.n() / 2.0).ln() + TAIL_BITS * LN_2;
        let deviation = 0.5 * (e.noise.log2_variance + self.n().log2());
        let decode = (e.message * EMBEDDING_ERROR).log2();
        log2_add(
            0.5 * k * (tail / k).max(1.0).log2() + deviation - e.scale.log2(),
            decode,
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

fn exhausted(operation: &'static str, e: &Estimate) -> Error {
    Error::LevelsExhausted {
        operation,
        needed: 1,
        levels_left: 0,
        log2_scale: e.scale.log2(),
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
