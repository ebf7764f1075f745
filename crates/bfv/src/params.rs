// SPDX-License-Identifier: Apache-2.0
//! BFV parameters: a ring-LWE set and a plaintext modulus.

use crate::Error;
use crate::level::{Level, product, second_basis_least};
use ntt::NttPlan;
use rlwe::wire::{self, Fingerprint, Reader, Tag, WireError, Writer};
use rlwe::{Limits, RlweContext, RlweParams, RlweParamsLiteral, SecurityPolicy};
use rns::RnsBasis;
use std::sync::{Arc, OnceLock};
use zq::{Modulus, Word};

/// Bits of the largest plaintext modulus.
pub const MAX_PLAIN_BITS: u32 = 60;

/// Unchecked input of [`BfvParams`]; any field may be wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct BfvParamsLiteral<W> {
    /// Degree, primes, digits, distributions.
    pub rlwe: RlweParamsLiteral<W>,
    /// Plaintext modulus t, 2..2^60, coprime to the data primes and well below Q.
    pub plain_modulus: u64,
    /// Primes of the second basis of multiplication: all of them by HPS, as many of the first as exceed Q by HPSPOVERQ;
    /// empty: chosen automatically, 46 bits long.
    pub auxiliary: Vec<W>,
}

impl<W: Word> BfvParamsLiteral<W> {
    /// Fails where [`BfvParams::new`] does, without making a table.
    fn check(&self, policy: SecurityPolicy) -> Result<(), Error> {
        self.rlwe.check_ring(policy)?;
        self.check_moduli()
    }

    /// Fails unless plaintext modulus and auxiliary primes suit a ring-LWE set that keeps its own rules.
    fn check_moduli(&self) -> Result<(), Error> {
        self.check_plain_modulus()?;
        check_widths(&self.rlwe.q)?;
        check_widths(&self.auxiliary)?;
        match self.auxiliary.is_empty() {
            true => Ok(()),
            false => self.check_auxiliary(),
        }
    }

    fn check_plain_modulus(&self) -> Result<(), Error> {
        let (t, q) = (self.plain_modulus, &self.rlwe.q);
        let refuse = |reason: String| Err(Error::PlainModulus { t, reason });
        if t < 2 || t >> MAX_PLAIN_BITS != 0 {
            return refuse(format!("allowed are 2 to 2^{MAX_PLAIN_BITS}-1"));
        }
        // A prime q_i shares a factor with t only if it divides it.
        if let Some(q) = q.iter().find(|q| u128::from(t) % q.to_u128() == 0) {
            return refuse(format!("it is a multiple of the data prime {q}"));
        }
        let first = q[0].to_u128() as f64;
        if q.len() == 1 && (t as f64) * 4.0 > first {
            let bits = first.log2();
            return refuse(format!(
                "it leaves no room for noise in a modulus of {bits:.1} bits"
            ));
        }
        Ok(())
    }

    fn check_auxiliary(&self) -> Result<(), Error> {
        let (given, t) = (product(&self.auxiliary), self.plain_modulus);
        let least = second_basis_least(&product(&self.rlwe.q), t, self.rlwe.n);
        if &given * 4u32 < least {
            let (got, needed) = (given.bits(), least.bits() - 2);
            let reason =
                format!("auxiliary primes of {got} bits are too small, {needed} bits are needed");
            return Err(Error::PlainModulus { t, reason });
        }
        // They are primes of the ring's degree, none of them a data prime.
        let joint = [&self.rlwe.q[..], &self.auxiliary].concat();
        Ok(RnsBasis::check(self.rlwe.n, &joint)?)
    }

    fn payload(&self) -> Writer {
        let mut out = Writer::new();
        self.rlwe.write(&mut out);
        out.u64(self.plain_modulus);
        out.u32(self.auxiliary.len() as u32);
        self.auxiliary.iter().for_each(|m| out.u128(m.to_u128()));
        out
    }

    #[inline(never)]
    fn to_bytes(&self) -> Vec<u8> {
        self.payload().seal(Tag::BfvParams, Fingerprint::default())
    }
}

/// Primes whose residues multiplication and decryption convert together.
fn check_widths<W: Word>(primes: &[W]) -> Result<(), Error> {
    let moduli: Result<Vec<_>, _> = primes.iter().map(|&q| Modulus::new(q)).collect();
    Ok(moduli
        .and_then(|moduli| zq::check_quotient(&moduli))
        .map_err(rns::RnsError::from)?)
}

struct Inner<W: Word> {
    rlwe: RlweContext<W>,
    t: u64,
    auxiliary: Vec<W>,
    plain: Modulus<u64>,
    batching: Option<NttPlan<u64>>,
    fingerprint: Fingerprint,
    levels: Vec<OnceLock<Arc<Level<W>>>>,
}

/// A checked BFV parameter set. Clones share one allocation.
pub struct BfvParams<W: Word>(Arc<Inner<W>>);

impl<W: Word> Clone for BfvParams<W> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<W: Word> PartialEq for BfvParams<W> {
    fn eq(&self, other: &Self) -> bool {
        self.0.fingerprint == other.0.fingerprint
    }
}

impl<W: Word> std::fmt::Debug for BfvParams<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BfvParams")
            .field("rlwe", &self.0.rlwe)
            .field("t", &self.0.t)
            .finish_non_exhaustive()
    }
}

impl<W: Word> rlwe::ParameterSet for BfvParams<W> {
    type Word = W;
    fn rlwe(&self) -> &RlweParams<W> {
        self.rlwe()
    }
    fn fingerprint(&self) -> Fingerprint {
        self.fingerprint()
    }
}

impl<W: Word> BfvParams<W> {
    /// Checks a literal.
    ///
    /// # Errors
    /// Everything [`RlweParams::new`] refuses; [`Error::PlainModulus`]; data primes, or auxiliary ones, whose widths
    /// are too far apart ([`zq::check_quotient`]).
    #[inline(never)]
    pub fn new(literal: &BfvParamsLiteral<W>, policy: SecurityPolicy) -> Result<Self, Error> {
        literal.check(policy)?;
        Self::from_rlwe(
            RlweParams::new(&literal.rlwe, policy)?,
            literal.plain_modulus,
            literal.auxiliary.clone(),
        )
    }

    /// Adds a plaintext modulus to a ring-LWE set; see [`BfvParamsLiteral`].
    ///
    /// # Errors
    /// [`Error::PlainModulus`]; [`Error::Rlwe`] for auxiliary primes that are none, or primes whose widths are too far
    /// apart.
    #[inline(never)]
    pub fn from_rlwe(
        rlwe: impl Into<RlweContext<W>>,
        t: u64,
        auxiliary: Vec<W>,
    ) -> Result<Self, Error> {
        let rlwe = rlwe.into();
        let literal = BfvParamsLiteral {
            rlwe: rlwe.literal(),
            plain_modulus: t,
            auxiliary,
        };
        literal.check_moduli()?;
        let plain = Modulus::new(t).map_err(rns::RnsError::from)?;
        // Primes that are 1 modulo 2n give slots; for any other modulus there is no plan.
        let slots = t % (2 * rlwe.n() as u64) == 1 && zq::primes::is_prime_vt(t);
        let batching = if slots {
            Some(NttPlan::new(plain, rlwe.n()).map_err(rns::RnsError::from)?)
        } else {
            None
        };
        let levels = (0..rlwe.data_primes()).map(|_| OnceLock::new()).collect();
        Ok(Self(Arc::new(Inner {
            rlwe,
            t,
            fingerprint: Fingerprint::of(literal.payload().as_bytes()),
            auxiliary: literal.auxiliary,
            plain,
            batching,
            levels,
        })))
    }

    /// The ring-LWE set, with its tables.
    pub fn rlwe(&self) -> &RlweContext<W> {
        &self.0.rlwe
    }

    /// Ring degree.
    pub fn n(&self) -> usize {
        self.0.rlwe.n()
    }

    /// The plaintext modulus t.
    pub fn plain_modulus(&self) -> u64 {
        self.0.t
    }

    /// Arithmetic modulo t.
    pub fn plain(&self) -> &Modulus<u64> {
        &self.0.plain
    }

    /// The transform modulo t, if t has slots.
    pub fn batching(&self) -> Option<&NttPlan<u64>> {
        self.0.batching.as_ref()
    }

    /// The auxiliary primes given, empty when chosen automatically.
    pub fn auxiliary(&self) -> &[W] {
        &self.0.auxiliary
    }

    /// Identity of the set.
    pub fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint
    }

    /// Constants for ciphertexts over the first `limbs` data primes; made on first use.
    #[inline(never)]
    pub(crate) fn level(&self, limbs: usize) -> Result<Arc<Level<W>>, Error> {
        let slot = limbs.checked_sub(1).and_then(|i| self.0.levels.get(i));
        let expected = self.0.rlwe.data_primes();
        let slot = slot.ok_or(rlwe::Error::Shape {
            what: "data primes",
            got: limbs,
            expected,
        })?;
        if let Some(level) = slot.get() {
            return Ok(Arc::clone(level));
        }
        let made = Arc::new(Level::new(
            self.rlwe(),
            self.plain(),
            self.auxiliary(),
            limbs,
        )?);
        Ok(Arc::clone(zq::fork::once(slot, || made)))
    }

    /// The second basis of multiplication by HPSPOVERQ.
    ///
    /// # Errors
    /// [`Error::Rlwe`] when no primes are left to choose.
    #[inline(never)]
    pub fn over_q_basis(&self, limbs: usize) -> Result<rns::RnsBasis<W>, Error> {
        Ok(self.level(limbs)?.over_q()?.basis.clone())
    }

    /// The literal these parameters came from.
    #[inline(never)]
    pub fn literal(&self) -> BfvParamsLiteral<W> {
        BfvParamsLiteral {
            rlwe: self.0.rlwe.literal(),
            plain_modulus: self.0.t,
            auxiliary: self.0.auxiliary.clone(),
        }
    }

    /// The set as an object of the byte format.
    #[inline(never)]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.literal().to_bytes()
    }

    /// Reads [`BfvParams::to_bytes`]; the reader's own policy applies, and the default [`Limits`].
    ///
    /// # Errors
    /// [`rlwe::Error::Wire`] for bytes no writer produces, [`rlwe::Error::Limit`], and everything [`BfvParams::new`]
    /// refuses.
    #[inline(never)]
    pub fn from_bytes(bytes: &[u8], policy: SecurityPolicy) -> Result<Self, Error> {
        Self::from_bytes_within(bytes, policy, &Limits::default())
    }

    /// [`BfvParams::from_bytes`] with other limits.
    ///
    /// # Errors
    /// As [`BfvParams::from_bytes`].
    #[inline(never)]
    pub fn from_bytes_within(
        bytes: &[u8],
        policy: SecurityPolicy,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let mut input = Reader::new(wire::open_params(Tag::BfvParams, bytes)?);
        let rlwe = RlweParamsLiteral::read(&mut input)?;
        limits.check(&rlwe, 0)?;
        let plain_modulus = input.u64("the plaintext modulus")?;
        let count = input.ranged("the number of auxiliary primes", 0..=2 * rlwe::MAX_PRIMES)?;
        let mut auxiliary = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let wide = input.u128("an auxiliary prime")?;
            let prime = W::from_u128_lossy(wide);
            if prime.to_u128() != wide {
                let allowed = format!("below 2^{}", W::MAX_MODULUS_BITS);
                return Err(WireError::Value {
                    what: "an auxiliary prime",
                    got: u64::MAX,
                    allowed,
                }
                .into());
            }
            auxiliary.push(prime);
        }
        input.finish()?;
        // The transform modulo t and the auxiliary primes' count as well.
        limits.check(&rlwe, 1 + auxiliary.len())?;
        let literal = BfvParamsLiteral {
            rlwe,
            plain_modulus,
            auxiliary,
        };
        literal.check(policy)?;
        wire::check_canonical(bytes, &literal.to_bytes())?;
        Self::new(&literal, policy)
    }
}
