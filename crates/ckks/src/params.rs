// SPDX-License-Identifier: Apache-2.0
//! CKKS parameters: a ring-LWE set read as a chain of levels, and a default scale.

use crate::Error;
use crate::embedding::Embedding;
use crate::noise::Estimator;
use rlwe::wire::{self, Fingerprint, Reader, Tag, Writer};
use rlwe::{Limits, RlweContext, RlweParams, RlweParamsLiteral, SecurityPolicy};
use rns::{RnsBasis, RnsError};
use std::sync::{Arc, OnceLock};
use zq::primes::{Direction, ntt_primes};
use zq::{Modulus, Shoup};

/// Unchecked input of [`CkksParams`]; any field may be wrong.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CkksParamsLiteral {
    /// Degree, primes, dnum, distributions. `q[0]` stays to the end; `q[l]` is divided out by the rescale at level l.
    pub rlwe: RlweParamsLiteral<u64>,
    /// Default scale, usually near the primes `q[1..]`.
    pub scale: f64,
}

impl CkksParamsLiteral {
    /// Fails where [`CkksParams::new`] does, without making a table.
    fn check(&self, policy: SecurityPolicy) -> Result<(), Error> {
        self.rlwe.check_ring(policy)?;
        self.check_scale()
    }

    /// Fails unless the scale suits a ring-LWE set that keeps its own rules.
    fn check_scale(&self) -> Result<(), Error> {
        let top: f64 = self.rlwe.q.iter().map(|q| *q as f64).product();
        let scale = self.scale;
        match scale.is_finite() && scale >= 2.0 && scale < top / 2.0 {
            true => Ok(()),
            false => Err(Error::Scale {
                operation: "parameters",
                scale,
            }),
        }
    }

    /// The ring-LWE payload, then the scale.
    fn payload(&self) -> Writer {
        let mut out = Writer::new();
        self.rlwe.write(&mut out);
        out.f64(self.scale);
        out
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.payload().seal(Tag::CkksParams, Fingerprint::default())
    }
}

struct Inner {
    rlwe: RlweContext<u64>,
    scale: f64,
    embedding: Embedding,
    estimator: Estimator,
    /// Entry l: the inverses of `q[l]` modulo the primes before it.
    inverses: Vec<OnceLock<Arc<[Shoup<u64>]>>>,
    fingerprint: Fingerprint,
}

/// A checked parameter set with its tables. Clones share one allocation.
#[derive(Clone)]
pub struct CkksParams(Arc<Inner>);

impl PartialEq for CkksParams {
    fn eq(&self, other: &Self) -> bool {
        self.0.fingerprint == other.0.fingerprint
    }
}

impl std::fmt::Debug for CkksParams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CkksParams")
            .field("rlwe", &self.0.rlwe)
            .field("log2_scale", &self.0.scale.log2())
            .finish()
    }
}

impl rlwe::ParameterSet for CkksParams {
    type Word = u64;
    fn rlwe(&self) -> &RlweParams<u64> {
        self.rlwe()
    }
    fn fingerprint(&self) -> Fingerprint {
        self.fingerprint()
    }
}

impl CkksParams {
    /// Checks a literal.
    ///
    /// # Errors
    /// Everything [`RlweParams::new`] refuses, and [`Error::Scale`] for a scale that is not finite, below 2, or so
    /// large that 1 does not fit below half the first prime.
    pub fn new(literal: &CkksParamsLiteral, policy: SecurityPolicy) -> Result<Self, Error> {
        literal.check(policy)?;
        Self::from_rlwe(RlweParams::new(&literal.rlwe, policy)?, literal.scale)
    }

    /// A set over checked ring-LWE parameters.
    ///
    /// # Errors
    /// [`Error::Scale`] as for [`CkksParams::new`].
    pub fn from_rlwe(rlwe: impl Into<RlweContext<u64>>, scale: f64) -> Result<Self, Error> {
        let rlwe = rlwe.into();
        let literal = CkksParamsLiteral {
            rlwe: rlwe.literal(),
            scale,
        };
        literal.check_scale()?;
        let ring = &literal.rlwe;
        let estimator = Estimator::new(
            ring.n,
            ring.secret,
            &ring.error,
            &ring.q,
            &ring.p,
            ring.dnum,
        )?;
        Ok(Self(Arc::new(Inner {
            embedding: Embedding::new(rlwe.n())?,
            inverses: (0..rlwe.data_primes()).map(|_| OnceLock::new()).collect(),
            fingerprint: Fingerprint::of(literal.payload().as_bytes()),
            estimator,
            rlwe,
            scale,
        })))
    }

    /// The ring-LWE set, with its tables.
    pub fn rlwe(&self) -> &RlweContext<u64> {
        &self.0.rlwe
    }

    /// Ring degree.
    pub fn n(&self) -> usize {
        self.0.rlwe.n()
    }

    /// Most slots, n/2.
    pub fn slots(&self) -> usize {
        self.n() / 2
    }

    /// Default scale.
    pub fn scale(&self) -> f64 {
        self.0.scale
    }

    /// Level of a fresh ciphertext: data primes minus 1.
    pub fn max_level(&self) -> usize {
        self.0.rlwe.data_primes() - 1
    }

    /// The prime that a rescale at `level` divides by.
    ///
    /// # Panics
    /// If `level` is above [`CkksParams::max_level`].
    pub fn prime(&self, level: usize) -> u64 {
        self.0.rlwe.q().modulus(level).value()
    }

    /// The basis of a level.
    ///
    /// # Errors
    /// [`Error::Level`] above the top.
    pub fn basis(&self, level: usize) -> Result<RnsBasis<u64>, Error> {
        self.check_level("basis", level)?;
        Ok(self.0.rlwe.q_prefix(level + 1)?)
    }

    /// log2 of the modulus of a level.
    pub fn log2_modulus(&self, level: usize) -> f64 {
        self.0.estimator.log2_modulus(level.min(self.max_level()))
    }

    /// The canonical embedding.
    pub fn embedding(&self) -> &Embedding {
        &self.0.embedding
    }

    /// Static error estimates for this set.
    pub fn estimator(&self) -> &Estimator {
        &self.0.estimator
    }

    /// The literal these parameters came from (dnum resolved).
    pub fn literal(&self) -> CkksParamsLiteral {
        CkksParamsLiteral {
            rlwe: self.rlwe().literal(),
            scale: self.scale(),
        }
    }

    /// Identity of the set, scale included.
    pub fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint
    }

    /// Refuses a level above the top.
    pub(crate) fn check_level(&self, operation: &'static str, level: usize) -> Result<(), Error> {
        if level <= self.max_level() {
            return Ok(());
        }
        Err(Error::Level {
            operation,
            given: level,
            max: self.max_level(),
        })
    }

    /// Inverses of `q[level]` modulo the primes before it; made on first use.
    pub(crate) fn inverses(&self, level: usize) -> Result<Arc<[Shoup<u64>]>, Error> {
        let slot = &self.0.inverses[level];
        if let Some(inverses) = slot.get() {
            return Ok(Arc::clone(inverses));
        }
        let divisor = self.prime(level);
        let inverse =
            |q: &Modulus<u64>| Ok(q.shoup(q.inv(q.reduce(divisor)).map_err(RnsError::from)?));
        let moduli = &self.0.rlwe.q().moduli()[..level];
        let made: Arc<[Shoup<u64>]> = moduli
            .iter()
            .map(inverse)
            .collect::<Result<_, RnsError>>()?;
        Ok(Arc::clone(zq::fork::once(slot, || made)))
    }

    /// The set as an object of the byte format: the ring-LWE payload, then the scale.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.literal().to_bytes()
    }

    /// Reads [`CkksParams::to_bytes`]; the reader's own policy applies, and the default [`Limits`].
    ///
    /// # Errors
    /// Bytes no writer produces, a set beyond the limits, and everything [`CkksParams::new`] refuses.
    pub fn from_bytes(bytes: &[u8], policy: SecurityPolicy) -> Result<Self, Error> {
        Self::from_bytes_within(bytes, policy, &Limits::default())
    }

    /// [`CkksParams::from_bytes`] with other limits.
    ///
    /// # Errors
    /// As [`CkksParams::from_bytes`].
    pub fn from_bytes_within(
        bytes: &[u8],
        policy: SecurityPolicy,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let payload = wire::open_params(Tag::CkksParams, bytes).map_err(rlwe::Error::from)?;
        let mut input = Reader::new(payload);
        let rlwe = RlweParamsLiteral::read(&mut input)?;
        let scale = input.f64("the scale").map_err(rlwe::Error::from)?;
        input.finish().map_err(rlwe::Error::from)?;
        limits.check(&rlwe, 0)?;
        let literal = CkksParamsLiteral { rlwe, scale };
        literal.check(policy)?;
        wire::check_canonical(bytes, &literal.to_bytes()).map_err(rlwe::Error::from)?;
        Self::new(&literal, policy)
    }
}

/// A chain for scale 2^`scale_bits`: a first prime of `first_bits`, `levels` rescale primes as close to the scale as
/// the ring allows, alternately below and above so that scales do not drift, and special primes of `special_bits`.
///
/// Returns (data primes, special primes). A scale of 46 or 50 bits takes its primes from below only, so that none is
/// wider than the transforms' fast paths.
///
/// # Errors
/// [`Error::Rns`] when there are not enough primes of a size.
pub fn prime_chain(
    n: usize,
    first_bits: u32,
    scale_bits: u32,
    levels: usize,
    special_bits: u32,
    special: usize,
) -> Result<(Vec<u64>, Vec<u64>), Error> {
    let order = 2 * n as u64;
    let search = |bits, count, direction, exclude: &[u64]| {
        ntt_primes::<u64>(bits, order, count, direction, exclude)
            .map_err(|e| Error::from(RnsError::from(e)))
    };
    let first = search(first_bits, 1, Direction::Down, &[])?;
    let p = search(special_bits, special, Direction::Down, &first)?;
    let used: Vec<u64> = first.iter().chain(&p).copied().collect();
    let from_above = if matches!(scale_bits, 46 | 50) || scale_bits >= 62 {
        0
    } else {
        levels / 2
    };
    let below = search(scale_bits, levels - from_above, Direction::Down, &used)?;
    let above = search(scale_bits + 1, from_above, Direction::Up, &used)?;
    let mut q = first;
    for (i, prime) in below.iter().enumerate() {
        q.push(*prime);
        q.extend(above.get(i));
    }
    Ok((q, p))
}
