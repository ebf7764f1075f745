// SPDX-License-Identifier: Apache-2.0
//! Parameters: an unchecked literal becomes a checked, immutable set.
//!
//! A set is what both parties agree on: ring, bases, distributions, security, identity. The tables and the work space
//! of key switching belong to [`RlweContext`](crate::RlweContext).

mod codec;
mod limits;
mod literal;
mod literal_codec;

pub use codec::word_bits_of;
pub use limits::Limits;
pub(crate) use literal::log2_product;
pub use literal::{MAX_PRIMES, RlweParamsLiteral};

use crate::Error;
use crate::noise::NoiseModel;
use crate::sampling::{ErrorDistribution, Sampler, SecretDistribution};
use crate::security::{Security, SecurityPolicy};
use crate::wire::{self, Fingerprint, Reader, Tag};
use rns::RnsBasis;
use std::sync::{Arc, OnceLock};
use zq::Word;

/// The bases of ciphertexts over fewer data primes.
#[derive(Clone)]
struct Prefix<W: Word> {
    q: RnsBasis<W>,
    /// The data primes, then the special ones.
    qp: RnsBasis<W>,
}

struct Inner<W: Word> {
    n: usize,
    q: RnsBasis<W>,
    p: Option<RnsBasis<W>>,
    qp: RnsBasis<W>,
    dnum: usize,
    secret: SecretDistribution,
    error: ErrorDistribution,
    secret_sampler: Sampler,
    error_sampler: Sampler,
    security: Security,
    fingerprint: Fingerprint,
    /// Entry l: the bases of the first l + 1 data primes.
    prefixes: Vec<OnceLock<Prefix<W>>>,
}

/// A ring-LWE set, or one of a scheme over it. Its fingerprint goes into all that is derived from a seed under it.
pub trait ParameterSet {
    /// The word of its residues.
    type Word: Word;
    /// The ring-LWE set.
    fn rlwe(&self) -> &RlweParams<Self::Word>;
    /// Identity of the whole set.
    fn fingerprint(&self) -> Fingerprint;

    /// Fails unless `got` is this set's fingerprint; `what` names the object in the error.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`].
    fn check_fingerprint(&self, what: &'static str, got: Fingerprint) -> Result<(), Error> {
        let expected = self.fingerprint();
        if got == expected {
            return Ok(());
        }
        Err(Error::ParameterMismatch {
            what,
            got: got.to_string(),
            expected: expected.to_string(),
        })
    }

    /// The payload of an object of this set.
    ///
    /// # Errors
    /// [`Error::Wire`] for a bad envelope, [`Error::ParameterMismatch`] for another set's object.
    fn open<'a>(&self, tag: Tag, what: &'static str, bytes: &'a [u8]) -> Result<Reader<'a>, Error> {
        let (header, payload) = wire::open_as(tag, bytes)?;
        self.check_fingerprint(what, header.params)?;
        Ok(Reader::new(payload))
    }
}

impl<W: Word> ParameterSet for RlweParams<W> {
    type Word = W;
    fn rlwe(&self) -> &Self {
        self
    }
    fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint
    }
}

/// A checked parameter set. Clones share one allocation.
pub struct RlweParams<W: Word>(Arc<Inner<W>>);

impl<W: Word> Clone for RlweParams<W> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<W: Word> PartialEq for RlweParams<W> {
    fn eq(&self, other: &Self) -> bool {
        self.0.fingerprint == other.0.fingerprint
    }
}

impl<W: Word> std::fmt::Debug for RlweParams<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bits = |b: &RnsBasis<W>| b.moduli().iter().map(|m| m.bits()).collect::<Vec<_>>();
        f.debug_struct("RlweParams")
            .field("n", &self.0.n)
            .field("q_bits", &bits(&self.0.q))
            .field("p_bits", &self.0.p.as_ref().map(bits).unwrap_or_default())
            .field("dnum", &self.0.dnum)
            .finish_non_exhaustive()
    }
}

impl<W: Word> RlweParams<W> {
    /// Checks a literal.
    ///
    /// # Errors
    /// [`Error::Parameter`] and [`Error::Rns`] for values out of range, [`Error::Insecure`] when the policy's level is
    /// not reached and it has no opt-in.
    #[inline(never)]
    pub fn new(literal: &RlweParamsLiteral<W>, policy: SecurityPolicy) -> Result<Self, Error> {
        let judged = literal.judge(policy)?;
        let qp = RnsBasis::new(literal.n, &literal.primes())?;
        let l = literal.q.len();
        Ok(Self(Arc::new(Inner {
            n: literal.n,
            q: qp.range(0..l)?,
            p: if literal.p.is_empty() {
                None
            } else {
                Some(qp.range(l..qp.len())?)
            },
            dnum: literal.digits(),
            secret: literal.secret,
            error: literal.error,
            secret_sampler: judged.secret_sampler,
            error_sampler: judged.error_sampler,
            security: judged.security,
            fingerprint: Fingerprint::of(literal_codec::encode(literal).as_bytes()),
            prefixes: (0..l).map(|_| OnceLock::new()).collect(),
            qp,
        })))
    }

    /// Ring degree.
    pub fn n(&self) -> usize {
        self.0.n
    }

    /// The data basis Q.
    pub fn q(&self) -> &RnsBasis<W> {
        &self.0.q
    }

    /// The special basis P, if there is one.
    pub fn p(&self) -> Option<&RnsBasis<W>> {
        self.0.p.as_ref()
    }

    /// Q then P.
    pub fn qp(&self) -> &RnsBasis<W> {
        &self.0.qp
    }

    /// Number L of data primes.
    pub fn data_primes(&self) -> usize {
        self.0.q.len()
    }

    /// Number K of special primes.
    pub fn special_primes(&self) -> usize {
        self.0.p.as_ref().map_or(0, RnsBasis::len)
    }

    /// Digits of a key over all data primes.
    pub fn dnum(&self) -> usize {
        self.0.dnum
    }

    /// Data primes per digit, ⌈L/dnum⌉.
    pub fn digit_len(&self) -> usize {
        self.data_primes().div_ceil(self.0.dnum)
    }

    /// The secret's distribution.
    pub fn secret(&self) -> SecretDistribution {
        self.0.secret
    }

    /// The errors' distribution.
    pub fn error(&self) -> ErrorDistribution {
        self.0.error
    }

    /// Sampler of secrets.
    pub fn secret_sampler(&self) -> &Sampler {
        &self.0.secret_sampler
    }

    /// Sampler of errors.
    pub fn error_sampler(&self) -> &Sampler {
        &self.0.error_sampler
    }

    /// The security estimate of the set.
    pub fn security(&self) -> &Security {
        &self.0.security
    }

    /// Identity of the set: degree, primes, dnum and distributions. The policy is not part of it.
    pub fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint
    }

    /// The noise model of the set.
    pub fn noise_model(&self) -> NoiseModel {
        NoiseModel::new(self.n(), self.secret(), &self.error())
    }

    /// The basis of the first `limbs` data primes.
    ///
    /// # Errors
    /// [`Error::Shape`] unless 1 ≤ `limbs` ≤ L.
    #[inline(never)]
    pub fn q_prefix(&self, limbs: usize) -> Result<RnsBasis<W>, Error> {
        Ok(self.prefix(limbs)?.q.clone())
    }

    /// The basis of the first `limbs` data primes, then the special ones.
    ///
    /// # Errors
    /// [`Error::Shape`] unless 1 ≤ `limbs` ≤ L.
    #[inline(never)]
    pub fn qp_prefix(&self, limbs: usize) -> Result<RnsBasis<W>, Error> {
        Ok(self.prefix(limbs)?.qp.clone())
    }

    /// The bases of the first `limbs` data primes; made on first use.
    fn prefix(&self, limbs: usize) -> Result<&Prefix<W>, Error> {
        let slot = limbs.checked_sub(1).and_then(|i| self.0.prefixes.get(i));
        let slot = slot.ok_or(Error::Shape {
            what: "data primes",
            got: limbs,
            expected: self.data_primes(),
        })?;
        if let Some(made) = slot.get() {
            return Ok(made);
        }
        let q = self.q().prefix(limbs)?;
        let qp = match self.p() {
            Some(p) => q.concat(p)?,
            None => q.clone(),
        };
        Ok(zq::fork::once(slot, || Prefix { q, qp }))
    }

    /// Digits of a key over the first `limbs` data primes.
    pub fn digits_at(&self, limbs: usize) -> usize {
        limbs.div_ceil(self.digit_len())
    }

    /// The literal these parameters came from (dnum resolved).
    #[inline(never)]
    pub fn literal(&self) -> RlweParamsLiteral<W> {
        RlweParamsLiteral {
            n: self.n(),
            q: self.q().values(),
            p: self.p().map(RnsBasis::values).unwrap_or_default(),
            dnum: self.dnum(),
            secret: self.secret(),
            error: self.error(),
        }
    }
}
