// SPDX-License-Identifier: Apache-2.0
//! Parameters: an unchecked literal becomes a checked, immutable set.

use crate::{Error, Limits, Pool};
mod codec;

use crate::distribution::{ErrorDistribution, Sampler, SecretDistribution};
use crate::fused::SwitchScratch;
use crate::keyswitch::KeySwitchLevel;
use crate::noise::NoiseModel;
use crate::security::{self, Drawn, SecurityTable};
use crate::wire::{self, Fingerprint, Reader, Tag, WireError, Writer};
use rns::RnsBasis;
use std::sync::{Arc, OnceLock};
use zq::Word;

/// Most data primes, and most special primes, a set may have.
pub const MAX_PRIMES: u32 = 64;

/// How secure a set has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecurityPolicy {
    /// The table to judge by.
    pub table: SecurityTable,
    /// The level to reach: 128, 192 or 256.
    pub level: u32,
    /// Accept less. The estimate stays readable in [`RlweParams::security`].
    pub allow_insecure: bool,
}

impl Default for SecurityPolicy {
    fn default() -> Self {
        Self {
            table: SecurityTable::default(),
            level: security::DEFAULT_LEVEL,
            allow_insecure: false,
        }
    }
}

impl SecurityPolicy {
    /// The default policy with the opt-in to insecure sets.
    pub fn insecure() -> Self {
        Self {
            allow_insecure: true,
            ..Self::default()
        }
    }
}

/// What [`RlweParams`] are made from; any field may still be wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct RlweParamsLiteral<W> {
    /// Ring degree, a power of two from 8 to 2^17.
    pub n: usize,
    /// Data primes, each 1 modulo 2n.
    pub q: Vec<W>,
    /// Special primes; none means key switching by RNS digits alone.
    pub p: Vec<W>,
    /// Digits of key switching, 1..=L; 0 stands for L, one prime per digit.
    pub dnum: usize,
    /// The secret's distribution.
    pub secret: SecretDistribution,
    /// The errors' distribution.
    pub error: ErrorDistribution,
}

impl<W> Default for RlweParamsLiteral<W> {
    fn default() -> Self {
        Self {
            n: 0,
            q: Vec::new(),
            p: Vec::new(),
            dnum: 0,
            secret: SecretDistribution::default(),
            error: ErrorDistribution::default(),
        }
    }
}

/// What is known about a set's security.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Security {
    /// The policy the set was judged by.
    pub policy: SecurityPolicy,
    /// Size of the whole modulus, special primes included, in bits.
    pub log2_qp: f64,
    /// The highest of 128, 192, 256 that the table grants, if any.
    pub level: Option<u32>,
    /// The largest modulus of the policy's level for this degree, in bits, if any reaches it.
    pub max_log2_qp: Option<u32>,
    /// Estimated bits (see [`security::estimated_bits`]).
    pub estimated_bits: f64,
    /// The table's name.
    pub source: &'static str,
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
    levels: Vec<OnceLock<Arc<KeySwitchLevel<W>>>>,
    scratch: Arc<Pool<SwitchScratch<W>>>,
}

/// A ring-LWE set, or one of a scheme over it. Its fingerprint goes into all that is derived from a seed under it.
pub trait ParameterSet {
    /// The word of its residues.
    type Word: Word;
    /// The ring-LWE set.
    fn rlwe(&self) -> &RlweParams<Self::Word>;
    /// Identity of the whole set.
    fn fingerprint(&self) -> Fingerprint;
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

/// log2 of the product of a basis.
pub(crate) fn log2_product<W: Word>(basis: &RnsBasis<W>) -> f64 {
    basis
        .moduli()
        .iter()
        .map(|m| (m.value().to_u128() as f64).log2())
        .sum()
}

fn check_counts<W>(literal: &RlweParamsLiteral<W>) -> Result<(), Error> {
    let refuse = |what, got: usize, allowed: String| {
        Err(Error::Parameter {
            what,
            got: got.to_string(),
            allowed,
        })
    };
    let (l, k, max) = (literal.q.len(), literal.p.len(), MAX_PRIMES as usize);
    if l == 0 || l > max {
        return refuse("the number of data primes", l, format!("1..={max}"));
    }
    if k > max {
        return refuse("the number of special primes", k, format!("0..={max}"));
    }
    if literal.dnum > l {
        return refuse("dnum", literal.dnum, format!("1..={l}, or 0 for {l}"));
    }
    Ok(())
}

impl<W: Word> RlweParams<W> {
    /// Checks a literal.
    ///
    /// # Errors
    /// [`Error::Parameter`] and [`Error::Rns`] for values out of range, [`Error::Insecure`] when the policy's level is
    /// not reached and it has no opt-in.
    pub fn new(literal: &RlweParamsLiteral<W>, policy: SecurityPolicy) -> Result<Self, Error> {
        check_counts(literal)?;
        let all: Vec<W> = literal.q.iter().chain(&literal.p).copied().collect();
        let qp = RnsBasis::new(literal.n, &all)?;
        let l = literal.q.len();
        let alpha = l.div_ceil(if literal.dnum == 0 { l } else { literal.dnum });
        Ok(Self(Arc::new(Inner {
            n: literal.n,
            q: qp.range(0..l)?,
            p: if literal.p.is_empty() {
                None
            } else {
                Some(qp.range(l..all.len())?)
            },
            dnum: l.div_ceil(alpha),
            secret: literal.secret,
            error: literal.error,
            secret_sampler: Sampler::of_secret(&literal.secret)?,
            error_sampler: Sampler::of_error(&literal.error)?,
            security: judge(literal, log2_product(&qp), policy)?,
            fingerprint: Fingerprint::of(codec::encode(literal, l.div_ceil(alpha)).as_bytes()),
            levels: (0..l).map(|_| OnceLock::new()).collect(),
            scratch: Arc::default(),
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

    /// What is known about the set's security.
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
    pub fn q_prefix(&self, limbs: usize) -> Result<RnsBasis<W>, Error> {
        Ok(self.level(limbs)?.q().clone())
    }

    /// Everything key switching needs for ciphertexts over the first `limbs` data primes; made on first use.
    ///
    /// # Errors
    /// [`Error::Shape`] unless 1 ≤ `limbs` ≤ L.
    pub fn level(&self, limbs: usize) -> Result<Arc<KeySwitchLevel<W>>, Error> {
        let slot = limbs.checked_sub(1).and_then(|i| self.0.levels.get(i));
        let slot = slot.ok_or(Error::Shape {
            what: "data primes",
            got: limbs,
            expected: self.data_primes(),
        })?;
        if let Some(level) = slot.get() {
            return Ok(Arc::clone(level));
        }
        let made = Arc::new(KeySwitchLevel::new(self, limbs)?);
        Ok(Arc::clone(zq::fork::once(slot, || made)))
    }

    /// Work space of key switches at any level.
    pub(crate) fn switch_scratch(&self) -> &Arc<Pool<SwitchScratch<W>>> {
        &self.0.scratch
    }

    /// Fails unless `got` is this set's fingerprint; `what` names the object in the error.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`].
    pub fn check_fingerprint(&self, what: &'static str, got: Fingerprint) -> Result<(), Error> {
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

    /// The literal these parameters came from (dnum resolved).
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

    /// Writes the set's payload, for formats that contain it.
    pub fn write(&self, out: &mut Writer) {
        out.bytes(codec::encode(&self.literal(), self.dnum()).as_bytes());
    }

    /// Reads what [`RlweParams::write`] wrote; nothing is built for a set beyond the limits.
    ///
    /// # Errors
    /// [`Error::Wire`] for bytes no writer produces, [`Error::Limit`], and everything [`RlweParams::new`] refuses.
    pub fn read(
        input: &mut Reader<'_>,
        policy: SecurityPolicy,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let literal = codec::decode(input)?;
        limits.check(&literal, 0)?;
        Self::new(&literal, policy)
    }

    /// The set as an object of the byte format.
    pub fn to_bytes(&self) -> Vec<u8> {
        wire::seal(
            Tag::RlweParams,
            Fingerprint::default(),
            codec::encode(&self.literal(), self.dnum()).as_bytes(),
        )
    }

    /// Reads [`RlweParams::to_bytes`]; the reader's own policy applies, and the default [`Limits`].
    ///
    /// # Errors
    /// As [`RlweParams::read`].
    pub fn from_bytes(bytes: &[u8], policy: SecurityPolicy) -> Result<Self, Error> {
        Self::from_bytes_within(bytes, policy, &Limits::default())
    }

    /// [`RlweParams::from_bytes`] with other limits.
    ///
    /// # Errors
    /// As [`RlweParams::read`].
    pub fn from_bytes_within(
        bytes: &[u8],
        policy: SecurityPolicy,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let payload = wire::open_params(Tag::RlweParams, bytes)?;
        let mut input = Reader::new(payload);
        let params = Self::read(&mut input, policy, limits)?;
        input.finish()?;
        wire::check_canonical(bytes, &params.to_bytes())?;
        Ok(params)
    }
}

/// The word size a set of parameter bytes is for: 64 or 128 (of an [`RlweParams`] object or a scheme's, which starts alike).
///
/// # Errors
/// [`WireError`] when the bytes are no parameter object.
pub fn word_bits_of(bytes: &[u8]) -> Result<u32, WireError> {
    let (header, payload) = wire::open(bytes)?;
    if !matches!(
        header.tag,
        Tag::RlweParams | Tag::BfvParams | Tag::CkksParams
    ) {
        return Err(WireError::Tag {
            got: format!("{:?}", header.tag),
            expected: Tag::RlweParams,
        });
    }
    match Reader::new(payload).u8("the word size")? {
        bits @ (64 | 128) => Ok(u32::from(bits)),
        got => Err(WireError::Value {
            what: "the word size",
            got: u64::from(got),
            allowed: "64, 128".into(),
        }),
    }
}

/// Judges a set by a policy.
fn judge<W>(
    literal: &RlweParamsLiteral<W>,
    log2_qp: f64,
    policy: SecurityPolicy,
) -> Result<Security, Error> {
    let drawn = Drawn {
        secret: literal.secret,
        error: literal.error,
    };
    let known = Security::of(drawn, literal.n, log2_qp, policy)?;
    if known.level.is_some_and(|l| l >= policy.level) || policy.allow_insecure {
        return Ok(known);
    }
    let source = known.source;
    Err(Error::Insecure {
        n: literal.n,
        log2_qp,
        estimate: known.estimated_bits,
        required: policy.level,
        max_log2_qp: known.max_log2_qp.unwrap_or(0),
        source_name: match drawn.covered() {
            true => source.to_string(),
            false => format!("no table covers this secret and error; estimate from {source}"),
        },
    })
}

impl Security {
    /// What is known of a set of degree `n` and modulus size `log2_qp`; the policy's opt-in changes nothing.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a level without a table.
    pub fn of(drawn: Drawn, n: usize, log2_qp: f64, policy: SecurityPolicy) -> Result<Self, Error> {
        let max = |level| drawn.max_log2_qp(policy.table, n, level);
        let mut level = None;
        for candidate in security::LEVELS {
            if max(candidate)?.is_some_and(|max| log2_qp <= f64::from(max)) {
                level = Some(candidate);
            }
        }
        Ok(Self {
            policy,
            log2_qp,
            level,
            max_log2_qp: max(policy.level)?,
            estimated_bits: drawn.estimated_bits(policy.table, n, log2_qp),
            source: drawn.source_name(policy.table, n, log2_qp),
        })
    }
}
