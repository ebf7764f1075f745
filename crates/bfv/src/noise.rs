// SPDX-License-Identifier: Apache-2.0
//! Noise of BFV ciphertexts: upper estimates without the secret key.
//!
//! With phase c_0 + c_1·s = (Q/t)·m + v over the reals, a product of two ciphertexts has the noise v' = t·(v_1·K_2 +
//! v_2·K_1) + m_1·v_2 + m_2·v_1 + (t/Q)·v_1·v_2 + (r_0 + r_1·s + r_2·s²), where K_i, the multiple of Q by which the
//! integer phase differs, has coefficients like ±1/2 + s·(±1/2) + s²·(±1/2) + …, a term for each part of the
//! ciphertext, and the product has a rounding r for each of its parts. (Q/t)·m being scaled exactly, no term in Q mod t
//! arises. Messages are taken as arbitrary: coefficients up to t/2.

mod own;

use crate::Error;
use crate::params::BfvParams;
use rlwe::RlweParamsLiteral;
use rlwe::noise::{Gain, GiantFacts, Noise, NoiseModel, log2_add};
use zq::Word;

/// log2(Q/2t): noise must stay below it.
///
/// # Errors
/// [`rlwe::Error::Shape`] unless 1 ≤ `limbs` ≤ L.
#[inline(never)]
pub fn log2_limit<W: Word>(params: &BfvParams<W>, limbs: usize) -> Result<f64, Error> {
    Estimator::new(params).log2_limit(limbs)
}

/// The estimates for one parameter set, made of plain numbers so that a parameter search needs no keys or tables.
#[derive(Clone, Debug)]
pub struct Estimator {
    model: NoiseModel,
    log2_q: Vec<f64>,
    log2_p: f64,
    digit_limbs: usize,
    plain_modulus: u64,
}

impl Estimator {
    /// Estimates for a set.
    pub fn new<W: Word>(params: &BfvParams<W>) -> Self {
        Self::made(&params.rlwe().literal(), params.plain_modulus())
    }

    /// Estimates for numbers that no set is made of yet: nothing but what the estimates need is checked.
    ///
    /// # Errors
    /// [`rlwe::Error::Parameter`] for no data primes or `dnum` beyond them, [`Error::PlainModulus`] below 2.
    pub fn of_numbers<W: Word>(
        literal: &RlweParamsLiteral<W>,
        plain_modulus: u64,
    ) -> Result<Self, Error> {
        let limbs = literal.q.len();
        let refuse = |what, got: usize, allowed: String| {
            let got = got.to_string();
            Err(rlwe::Error::Parameter { what, got, allowed }.into())
        };
        if limbs == 0 {
            return refuse("the number of data primes", limbs, "1 or more".into());
        }
        if literal.dnum > limbs {
            return refuse(
                "dnum",
                literal.dnum,
                format!("1..={limbs}, or 0 for {limbs}"),
            );
        }
        if plain_modulus < 2 {
            return Err(Error::PlainModulus {
                t: plain_modulus,
                reason: "below 2".into(),
            });
        }
        Ok(Self::made(literal, plain_modulus))
    }

    fn made<W: Word>(literal: &RlweParamsLiteral<W>, plain_modulus: u64) -> Self {
        let log2 = |q: &W| (q.to_u128() as f64).log2();
        let limbs = literal.q.len();
        let dnum = match literal.dnum {
            0 => limbs,
            dnum => dnum,
        };
        Self {
            model: NoiseModel::new(literal.n, literal.secret, &literal.error),
            log2_q: literal.q.iter().map(log2).collect(),
            log2_p: literal.p.iter().map(log2).sum(),
            digit_limbs: limbs.div_ceil(dnum),
            plain_modulus,
        }
    }

    /// Data primes of the set.
    pub fn data_primes(&self) -> usize {
        self.log2_q.len()
    }

    /// log2(Q/2t): noise must stay below it.
    ///
    /// # Errors
    /// [`rlwe::Error::Shape`] unless 1 ≤ `limbs` ≤ L.
    #[inline(never)]
    pub fn log2_limit(&self, limbs: usize) -> Result<f64, Error> {
        Ok(self.log2_q(limbs)? - (self.plain_modulus as f64).log2() - 1.0)
    }

    /// Sizes in bits of the first `limbs` data primes.
    fn primes(&self, limbs: usize) -> Result<&[f64], Error> {
        let primes = (limbs > 0).then(|| self.log2_q.get(..limbs)).flatten();
        Ok(primes.ok_or(rlwe::Error::Shape {
            what: "data primes",
            got: limbs,
            expected: self.data_primes(),
        })?)
    }

    fn log2_q(&self, limbs: usize) -> Result<f64, Error> {
        Ok(self.primes(limbs)?.iter().sum())
    }

    /// Sizes in bits of the digits of `limbs` data primes.
    fn log2_digits(&self, limbs: usize) -> Result<Vec<f64>, Error> {
        let digits = self.primes(limbs)?.chunks(self.digit_limbs);
        Ok(digits.map(|digit| digit.iter().sum()).collect())
    }

    /// t/2: the largest coefficient of a plaintext.
    pub fn half_plain_modulus(&self) -> f64 {
        self.plain_modulus as f64 / 2.0
    }

    /// The estimates whose bounds fail with probability below 2^-bits; 2^-128 unless asked.
    #[must_use]
    pub fn with_failure_bits(self, bits: u32) -> Self {
        Self {
            model: self.model.with_failure_bits(bits),
            ..self
        }
    }

    /// Rounding Q·m/t to an integer.
    fn scaling(&self) -> Noise {
        Noise::of_variance(1.0 / 12.0, 0)
    }

    /// Encryption under the public key.
    pub fn fresh_public(&self) -> Noise {
        self.model.fresh_public().plus_independent(self.scaling())
    }

    /// Encryption under an extended public key.
    ///
    /// # Errors
    /// [`rlwe::Error::NoSpecialPrimes`].
    pub fn fresh_extended(&self) -> Result<Noise, Error> {
        if self.log2_p <= 0.0 {
            let what = "encryption under an extended public key";
            return Err(rlwe::Error::NoSpecialPrimes { what }.into());
        }
        let noise = self.model.fresh_extended(self.log2_p);
        Ok(noise.plus_independent(self.scaling()))
    }

    /// Encryption under the secret key.
    pub fn fresh_symmetric(&self) -> Noise {
        self.model
            .fresh_symmetric()
            .plus_independent(self.scaling())
    }

    /// Addition or subtraction of ciphertexts.
    pub fn add(&self, a: Noise, b: Noise) -> Noise {
        a.plus(b)
    }

    /// Addition or subtraction of a plaintext.
    pub fn add_plain(&self, a: Noise) -> Noise {
        a.plus(self.scaling())
    }

    /// The gain of multiplying by any plaintext.
    pub fn any_plaintext(&self) -> Gain {
        Gain::worst_case(self.model.n(), self.half_plain_modulus())
    }

    /// Bound on the gain of a batch encoding of unstructured values; a contrived one may exceed it.
    pub fn random_plaintext(&self) -> Gain {
        Gain::random(self.model.n(), self.half_plain_modulus())
    }

    /// Multiplication by a plaintext of known gain.
    pub fn multiply_plain(&self, a: Noise, gain: Gain) -> Noise {
        a.through(gain)
    }

    /// Multiplication of ciphertexts of `sizes` parts over `limbs` data primes, before relinearisation, by either
    /// algorithm.
    ///
    /// # Errors
    /// [`rlwe::Error::Shape`] unless 1 ≤ `limbs` ≤ L.
    pub fn multiply(
        &self,
        a: Noise,
        b: Noise,
        sizes: [usize; 2],
        limbs: usize,
    ) -> Result<Noise, Error> {
        // HPSPOVERQ rounds the second operand at modulus P; with P ≥ Q that adds at most the rounding at modulus Q.
        let b = b.plus_independent(self.model.rounding(sizes[1]));
        let cross = self.spread(a, sizes[1]).plus(self.spread(b, sizes[0]));
        let both = a.through(self.second_order_gain(b, limbs)?);
        let rounding = self.model.rounding(sizes[0] + sizes[1] - 1);
        Ok(cross.plus(both).plus_independent(rounding))
    }

    /// Noise `v` times t·K + m of a ciphertext of `size` parts.
    fn spread(&self, v: Noise, size: usize) -> Noise {
        let (n, t) = (self.model.n() as f64, self.plain_modulus as f64);
        // The uniform components may be the same as in an earlier factor, hence the factors once more.
        let k = n / 12.0 * self.model.powers_gain(v.factors, size) * f64::from(v.factors.max(1));
        let gain = Gain {
            log2: log2_add(k.log2() + 2.0 * t.log2(), self.any_plaintext().log2),
        };
        Noise {
            factors: v.factors + size as u32 - 1,
            ..v.through(gain)
        }
    }

    /// Relinearisation or a rotation over `limbs` data primes.
    ///
    /// # Errors
    /// [`rlwe::Error::Shape`] unless 1 ≤ `limbs` ≤ L.
    pub fn key_switch(&self, a: Noise, limbs: usize) -> Result<Noise, Error> {
        let digits = self.log2_digits(limbs)?;
        Ok(a.plus(self.model.key_switch(&digits, self.log2_p)))
    }

    /// A linear transform over `limbs` data primes: for each giant step whether it rotates, and for each of its terms
    /// whether it rotates and its plaintext's gain, if it has a plaintext.
    ///
    /// # Errors
    /// [`rlwe::Error::Shape`] unless 1 ≤ `limbs` ≤ L.
    pub fn linear_transform(
        &self,
        value: Noise,
        giants: &[GiantFacts<Gain>],
        limbs: usize,
    ) -> Result<Noise, Error> {
        let (digits, special) = (self.log2_digits(limbs)?, self.log2_p);
        // Inner rotations are not divided by P, hence not rounded.
        let rotated = value.plus(self.model.key_products(&digits, special));
        let term = |(rotates, gain): &(bool, Option<Gain>)| {
            let x = if *rotates { rotated } else { value };
            gain.map_or(x, |gain| x.through(gain))
        };
        let switch = self.model.key_switch(&digits, special);
        let giant = |(rotates, terms): &GiantFacts<Gain>| {
            let sum = terms.iter().map(term).fold(Noise::NONE, Noise::plus);
            // One part of the sum is divided and rounded, which is no more than for both.
            if *rotates { sum.plus(switch) } else { sum }
        };
        let sum = giants.iter().map(giant).fold(Noise::NONE, Noise::plus);
        Ok(if special > 0.0 {
            sum.plus_independent(self.model.rounding(2))
        } else {
            sum
        })
    }

    /// Modulus switching of a ciphertext of `size` polynomials from `limbs` to `limbs − 1` data primes.
    ///
    /// # Errors
    /// [`rlwe::Error::Shape`] unless 2 ≤ `limbs` ≤ L.
    pub fn mod_switch(&self, a: Noise, limbs: usize, size: usize) -> Result<Noise, Error> {
        let dropped = self.log2_q(limbs)? - self.log2_q(limbs.saturating_sub(1))?;
        Ok(self.model.mod_switch(a, dropped, size))
    }

    /// log2 of the bound on the largest noise coefficient.
    pub fn log2_bound(&self, a: Noise) -> f64 {
        self.model.log2_bound(a)
    }

    /// Bits of budget left but for the failure probability; negative when decryption may fail.
    ///
    /// # Errors
    /// [`rlwe::Error::Shape`] unless 1 ≤ `limbs` ≤ L.
    pub fn budget(&self, a: Noise, limbs: usize) -> Result<f64, Error> {
        Ok(self.log2_limit(limbs)? - self.log2_bound(a))
    }
}
