// SPDX-License-Identifier: Apache-2.0
//! BFV parameters: a ring-LWE set and a plaintext modulus.

use crate::Error;
use crate::level::Level;
use ntt::NttPlan;
use rlwe::wire::{self, Fingerprint, Reader, Tag, WireError, Writer};
use rlwe::{Limits, RlweContext, RlweParams, RlweParamsLiteral, SecurityPolicy};
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
    /// Everything [`RlweParams::new`] refuses; [`Error::PlainModulus`].
    pub fn new(literal: &BfvParamsLiteral<W>, policy: SecurityPolicy) -> Result<Self, Error> {
        Self::from_rlwe(
            RlweParams::new(&literal.rlwe, policy)?,
            literal.plain_modulus,
            literal.auxiliary.clone(),
        )
    }

    /// Adds a plaintext modulus to a ring-LWE set; see [`BfvParamsLiteral`].
    ///
    /// # Errors
    /// [`Error::PlainModulus`]; [`Error::Rlwe`] for auxiliary primes that are none.
    pub fn from_rlwe(
        rlwe: impl Into<RlweContext<W>>,
        t: u64,
        auxiliary: Vec<W>,
    ) -> Result<Self, Error> {
        let rlwe = rlwe.into();
        check_plain_modulus(&rlwe, t)?;
        let plain = Modulus::new(t).map_err(rns::RnsError::from)?;
        // Primes that are 1 modulo 2n give slots; for any other modulus there is no plan.
        let slots = t % (2 * rlwe.n() as u64) == 1 && zq::primes::is_prime_vt(t);
        let batching = if slots {
            Some(NttPlan::new(plain, rlwe.n()).map_err(rns::RnsError::from)?)
        } else {
            None
        };
        let levels = (0..rlwe.data_primes()).map(|_| OnceLock::new()).collect();
        let mut inner = Inner {
            rlwe,
            t,
            auxiliary,
            plain,
            batching,
            fingerprint: Fingerprint::default(),
            levels,
        };
        inner.fingerprint = Fingerprint::of(payload(&inner.rlwe, t, &inner.auxiliary).as_bytes());
        let params = Self(Arc::new(inner));
        if !params.0.auxiliary.is_empty() {
            params.level(params.rlwe().data_primes())?.hps()?;
        }
        Ok(params)
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

    /// The auxiliary basis of multiplication by HPS for ciphertexts over the first `limbs` data primes: the primes a
    /// tensor product has to be computed over besides them.
    ///
    /// # Errors
    /// [`Error::PlainModulus`] when the auxiliary primes given are too small.
    pub fn hps_basis(&self, limbs: usize) -> Result<rns::RnsBasis<W>, Error> {
        Ok(self.level(limbs)?.hps()?.auxiliary.clone())
    }

    /// The second basis of multiplication by HPSPOVERQ.
    ///
    /// # Errors
    /// [`Error::Rlwe`] when no primes are left to choose.
    pub fn over_q_basis(&self, limbs: usize) -> Result<rns::RnsBasis<W>, Error> {
        Ok(self.level(limbs)?.over_q()?.basis.clone())
    }

    /// The literal these parameters came from.
    pub fn literal(&self) -> BfvParamsLiteral<W> {
        BfvParamsLiteral {
            rlwe: self.0.rlwe.literal(),
            plain_modulus: self.0.t,
            auxiliary: self.0.auxiliary.clone(),
        }
    }

    /// The set as an object of the byte format.
    pub fn to_bytes(&self) -> Vec<u8> {
        let payload = payload(self.rlwe(), self.0.t, &self.0.auxiliary);
        payload.seal(Tag::BfvParams, Fingerprint::default())
    }

    /// Reads [`BfvParams::to_bytes`]; the reader's own policy applies, and the default [`Limits`].
    ///
    /// # Errors
    /// [`rlwe::Error::Wire`] for bytes no writer produces, [`rlwe::Error::Limit`], and everything [`BfvParams::new`]
    /// refuses.
    pub fn from_bytes(bytes: &[u8], policy: SecurityPolicy) -> Result<Self, Error> {
        Self::from_bytes_within(bytes, policy, &Limits::default())
    }

    /// [`BfvParams::from_bytes`] with other limits.
    ///
    /// # Errors
    /// As [`BfvParams::from_bytes`].
    pub fn from_bytes_within(
        bytes: &[u8],
        policy: SecurityPolicy,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let mut input = Reader::new(wire::open_params(Tag::BfvParams, bytes)?);
        let rlwe = RlweParams::read(&mut input, policy, limits)?;
        let t = input.u64("the plaintext modulus")?;
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
        limits.check(&rlwe.literal(), 1 + auxiliary.len())?;
        let params = Self::from_rlwe(rlwe, t, auxiliary)?;
        wire::check_canonical(bytes, &params.to_bytes())?;
        Ok(params)
    }
}

fn payload<W: Word>(rlwe: &RlweParams<W>, t: u64, auxiliary: &[W]) -> Writer {
    let mut out = Writer::new();
    rlwe.write(&mut out);
    out.u64(t);
    out.u32(auxiliary.len() as u32);
    auxiliary.iter().for_each(|m| out.u128(m.to_u128()));
    out
}

fn check_plain_modulus<W: Word>(rlwe: &RlweParams<W>, t: u64) -> Result<(), Error> {
    let refuse = |reason: String| Err(Error::PlainModulus { t, reason });
    if t < 2 || t >> MAX_PLAIN_BITS != 0 {
        return refuse(format!("allowed are 2 to 2^{MAX_PLAIN_BITS}-1"));
    }
    // A prime q_i shares a factor with t only if it divides it.
    if let Some(q) = rlwe
        .q()
        .moduli()
        .iter()
        .find(|q| u128::from(t) % q.value().to_u128() == 0)
    {
        return refuse(format!("it is a multiple of the data prime {}", q.value()));
    }
    let first = rlwe.q().moduli()[0].value().to_u128() as f64;
    if rlwe.data_primes() == 1 && (t as f64) * 4.0 > first {
        return refuse(format!(
            "it leaves no room for noise in a modulus of {:.1} bits",
            first.log2()
        ));
    }
    Ok(())
}
