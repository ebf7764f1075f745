// SPDX-License-Identifier: Apache-2.0
//! Keys as bytes; `docs/format.md` lays them out.

use super::{
    EncapsulationKeys, GaloisKeys, KeyId, KeySwitchKey, PublicKey, RelinKey, SecretKey,
    UniformHalf, generate, uniform_residues,
};
use crate::Error;
use crate::params::{ParameterSet, RlweParams};
use crate::sampling::{SecretDistribution, Seed};
use crate::wire::{self, Fingerprint, Reader, Tag, WireError, Writer};
use rns::{RnsBasis, RnsPoly};
use std::collections::BTreeMap;
use zeroize::Zeroizing;
use zq::Word;

impl KeyId {
    /// Appends the identity.
    pub fn write(self, out: &mut Writer) {
        out.bytes(&self.0);
    }

    /// Reads an identity.
    ///
    /// # Errors
    /// [`WireError::Truncated`].
    pub fn read(input: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(Self(input.array("the key identity")?))
    }

    /// Reads the identity of a key, which belongs to someone: one that goes with every ciphertext is refused.
    ///
    /// # Errors
    /// [`WireError::Truncated`], [`WireError::Value`].
    fn read_owner(input: &mut Reader<'_>) -> Result<Self, WireError> {
        Self::read(input)?.owner()
    }
}

impl<W: Word> SecretKey<W> {
    /// The key as bytes. Secret.
    #[inline(never)]
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut out = Writer::new();
        self.id.write(&mut out);
        // Every distribution on offer stays within ±20808.
        self.coefficients
            .iter()
            .for_each(|c| out.u16(*c as i16 as u16));
        Zeroizing::new(out.seal(Tag::SecretKey, self.params))
    }

    /// Reads [`SecretKey::to_bytes`].
    ///
    /// # Errors
    /// [`Error::Wire`], [`Error::ParameterMismatch`].
    #[inline(never)]
    pub fn from_bytes(params: &RlweParams<W>, bytes: &[u8]) -> Result<Self, Error> {
        let mut input = params.open(Tag::SecretKey, "the secret key", bytes)?;
        let id = KeyId::read_owner(&mut input)?;
        let raw = input.bytes(2 * params.n(), "the secret's coefficients")?;
        input.finish()?;
        let value = |b: &[u8]| i64::from(i16::from_le_bytes([b[0], b[1]]));
        let coefficients = Zeroizing::new(raw.chunks_exact(2).map(value).collect::<Vec<_>>());
        check_weight(params.secret(), &coefficients)?;
        let (low, high) = secret_range(params.secret());
        if coefficients.iter().any(|c| !(low..=high).contains(c)) {
            let allowed = format!("{low}..={high}");
            return Err(WireError::Value {
                what: "a coefficient of the secret",
                got: 0,
                allowed,
            }
            .into());
        }
        Self::from_coefficients(params, id, coefficients)
    }
}

/// Fails for a secret of another weight than its set's, without telling which it has.
fn check_weight(distribution: SecretDistribution, coefficients: &[i64]) -> Result<(), WireError> {
    let SecretDistribution::FixedWeight { weight } = distribution else {
        return Ok(());
    };
    let other = coefficients.iter().map(|c| u64::from(*c != 0)).sum::<u64>() ^ u64::from(weight);
    if crate::reveal(other != 0) {
        return Err(WireError::Value {
            what: "the weight of the secret",
            got: 0,
            allowed: weight.to_string(),
        });
    }
    Ok(())
}

/// The range of a secret's coefficients.
fn secret_range(distribution: SecretDistribution) -> (i64, i64) {
    match distribution {
        SecretDistribution::Ternary | SecretDistribution::FixedWeight { .. } => (-1, 1),
        SecretDistribution::Binary => (0, 1),
        SecretDistribution::Binomial { eta } => (-i64::from(eta), i64::from(eta)),
        SecretDistribution::Gaussian { sigma } => ((-14.0 * sigma) as i64, (14.0 * sigma) as i64),
    }
}

fn read_seed(input: &mut Reader<'_>) -> Result<Seed, WireError> {
    Ok(Seed::from_bytes(input.array("a seed")?))
}

impl<W: Word> PublicKey<W> {
    /// The basis of a public key, extended or not.
    pub(super) fn basis(params: &RlweParams<W>, extended: bool) -> Result<&RnsBasis<W>, Error> {
        match extended {
            false => Ok(params.q()),
            true if params.special_primes() > 0 => Ok(params.qp()),
            true => Err(Error::NoSpecialPrimes {
                what: "an extended public key",
            }),
        }
    }

    fn tag(extended: bool, seeded: bool) -> Tag {
        match (extended, seeded) {
            (false, true) => Tag::PublicKey,
            (true, true) => Tag::ExtendedPublicKey,
            (false, false) => Tag::WholePublicKey,
            (true, false) => Tag::WholeExtendedPublicKey,
        }
    }

    /// The key as bytes, of a kind of its own if it is extended; the uniform component as its seed, if it has one.
    #[inline(never)]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::public();
        self.id.write(&mut out);
        if self.seeded {
            out.bytes(self.seed.as_bytes());
        }
        out.poly(&self.b);
        if !self.seeded {
            out.poly(&self.a);
        }
        out.seal(Self::tag(self.is_extended(), self.seeded), self.params)
    }

    /// Reads [`PublicKey::to_bytes`], of either kind.
    ///
    /// # Errors
    /// [`Error::Wire`], [`Error::ParameterMismatch`]; [`Error::NoSpecialPrimes`] for an extended key of a set without
    /// them.
    #[inline(never)]
    pub fn from_bytes(params: &RlweParams<W>, bytes: &[u8]) -> Result<Self, Error> {
        let tag = wire::inspect(bytes)?.tag;
        let extended = matches!(tag, Tag::ExtendedPublicKey | Tag::WholeExtendedPublicKey);
        let seeded = !matches!(tag, Tag::WholePublicKey | Tag::WholeExtendedPublicKey);
        let mut input = params.open(Self::tag(extended, seeded), "the public key", bytes)?;
        let basis = Self::basis(params, extended)?;
        let id = KeyId::read_owner(&mut input)?;
        if !seeded {
            let halves = [input.poly(basis)?, input.poly(basis)?];
            input.finish()?;
            return Self::from_halves(params, id, halves);
        }
        let seed = read_seed(&mut input)?;
        let b = input.poly(basis)?;
        input.finish()?;
        let (mut a, limbs) = (RnsPoly::zeros(basis), params.data_primes());
        uniform_residues(params, &seed, limbs, extended, a.data_mut());
        Ok(Self {
            params: params.fingerprint(),
            id,
            seed,
            seeded,
            limbs,
            b,
            a,
        })
    }
}

impl<W: Word> KeySwitchKey<W> {
    fn write(&self, out: &mut Writer) {
        match &self.seed {
            Some(seed) => out.bytes(seed.as_bytes()),
            None => self.uniform.iter().flatten().for_each(|a| out.poly(a)),
        }
        self.masked.iter().for_each(|b| out.poly(b));
    }

    /// Reads a key of which both halves were written.
    fn read_whole(
        params: &RlweParams<W>,
        id: KeyId,
        limbs: usize,
        input: &mut Reader<'_>,
    ) -> Result<Self, Error> {
        let (basis, digits) = (params.qp_prefix(limbs)?, params.digits_at(limbs));
        let mut half =
            || -> Result<Vec<_>, WireError> { (0..digits).map(|_| input.poly(&basis)).collect() };
        let (uniform, masked) = (half()?, half()?);
        Self::from_halves(params, id, limbs, masked, uniform)
    }

    fn read(
        params: &RlweParams<W>,
        id: KeyId,
        limbs: usize,
        half: UniformHalf,
        input: &mut Reader<'_>,
    ) -> Result<Self, Error> {
        Self::read_digits(params, id, (limbs, params.digits_at(limbs)), half, input)
    }

    fn read_digits(
        params: &RlweParams<W>,
        id: KeyId,
        (limbs, digits): (usize, usize),
        half: UniformHalf,
        input: &mut Reader<'_>,
    ) -> Result<Self, Error> {
        let seed = read_seed(input)?;
        let basis = params.qp_prefix(limbs)?;
        let masked = (0..digits).map(|_| input.poly(&basis));
        let mut key = Self {
            params: params.fingerprint(),
            id,
            seed: Some(seed),
            limbs,
            masked: masked.collect::<Result<_, _>>()?,
            uniform: None,
        };
        key.set_uniform(params, half)?;
        Ok(key)
    }
}

type ReadKey<W> = fn(
    &RlweParams<W>,
    KeyId,
    usize,
    UniformHalf,
    &mut Reader<'_>,
) -> Result<KeySwitchKey<W>, Error>;

/// The tag that is expected of bytes which may have either, and what reads their keys.
fn reading<W: Word>(bytes: &[u8], seeded: Tag, whole: Tag) -> Result<(Tag, ReadKey<W>), Error> {
    match wire::inspect(bytes)?.tag == whole {
        true => Ok((whole, |params, id, limbs, _, input| {
            KeySwitchKey::read_whole(params, id, limbs, input)
        })),
        false => Ok((seeded, KeySwitchKey::read)),
    }
}

fn read_limbs<W: Word>(params: &RlweParams<W>, input: &mut Reader<'_>) -> Result<usize, Error> {
    Ok(input.ranged("the number of data primes", 1..=params.data_primes() as u32)? as usize)
}

impl<W: Word> EncapsulationKeys<W> {
    /// The keys as bytes; uniform components as one seed each.
    #[inline(never)]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::public();
        self.to_dense.id.write(&mut out);
        self.to_sparse.id.write(&mut out);
        out.bytes(&self.to_sparse.params.0);
        self.to_sparse.write(&mut out);
        self.to_dense.write(&mut out);
        out.seal(Tag::EncapsulationKeys, self.to_dense.params)
    }

    /// Reads [`EncapsulationKeys::to_bytes`], of the sets `main` and `sparse`.
    ///
    /// # Errors
    /// [`Error::Wire`], [`Error::ParameterMismatch`].
    #[inline(never)]
    pub fn from_bytes(
        main: &RlweParams<W>,
        sparse: &RlweParams<W>,
        bytes: &[u8],
    ) -> Result<Self, Error> {
        let (what, half) = ("the encapsulation keys", UniformHalf::Kept);
        let mut input = main.open(Tag::EncapsulationKeys, what, bytes)?;
        let (dense, light) = (
            KeyId::read_owner(&mut input)?,
            KeyId::read_owner(&mut input)?,
        );
        let set = Fingerprint(input.array("the sparse secret's set")?);
        sparse.check_fingerprint(what, set)?;
        let to_sparse = KeySwitchKey::read(sparse, light, sparse.data_primes(), half, &mut input)?;
        let to_dense =
            KeySwitchKey::read_digits(main, dense, (main.data_primes(), 1), half, &mut input)?;
        input.finish()?;
        Ok(Self {
            to_sparse,
            to_dense,
        })
    }
}

impl<W: Word> RelinKey<W> {
    /// The key as bytes; uniform components as one seed, if it has one.
    #[inline(never)]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::public();
        self.0.id.write(&mut out);
        out.u32(self.0.limbs as u32);
        self.0.write(&mut out);
        let tag = match self.0.seed {
            Some(_) => Tag::RelinKey,
            None => Tag::WholeRelinKey,
        };
        out.seal(tag, self.0.params)
    }

    /// Reads [`RelinKey::to_bytes`].
    ///
    /// # Errors
    /// [`Error::Wire`], [`Error::ParameterMismatch`].
    #[inline(never)]
    pub fn from_bytes(params: &RlweParams<W>, bytes: &[u8]) -> Result<Self, Error> {
        Self::from_bytes_with(params, bytes, UniformHalf::Kept)
    }

    /// [`RelinKey::from_bytes`], with the uniform half kept or not.
    ///
    /// # Errors
    /// As [`RelinKey::from_bytes`].
    #[inline(never)]
    pub fn from_bytes_with(
        params: &RlweParams<W>,
        bytes: &[u8],
        half: UniformHalf,
    ) -> Result<Self, Error> {
        let (tag, read) = reading(bytes, Tag::RelinKey, Tag::WholeRelinKey)?;
        let mut input = params.open(tag, "the relinearisation key", bytes)?;
        let id = KeyId::read_owner(&mut input)?;
        let limbs = read_limbs(params, &mut input)?;
        let key = read(params, id, limbs, half, &mut input)?;
        input.finish()?;
        Ok(Self(key))
    }
}

impl<W: Word> GaloisKeys<W> {
    /// The keys as bytes; uniform components as one seed each, if they have seeds.
    #[inline(never)]
    pub fn to_bytes(&self) -> Vec<u8> {
        let whole = self.keys().any(|key| key.seed.is_none());
        let mut out = Writer::public();
        self.id.write(&mut out);
        out.u32(self.limbs as u32);
        out.u32(self.keys.len() as u32);
        for (element, (_, key)) in &self.keys {
            out.u32(*element as u32);
            key.write(&mut out);
        }
        let tag = if whole {
            Tag::WholeGaloisKeys
        } else {
            Tag::GaloisKeys
        };
        out.seal(tag, self.params)
    }

    /// Reads [`GaloisKeys::to_bytes`].
    ///
    /// # Errors
    /// [`Error::Wire`], [`Error::ParameterMismatch`].
    #[inline(never)]
    pub fn from_bytes(params: &RlweParams<W>, bytes: &[u8]) -> Result<Self, Error> {
        Self::from_bytes_with(params, bytes, UniformHalf::Kept)
    }

    /// [`GaloisKeys::from_bytes`], with the uniform halves kept or not.
    ///
    /// # Errors
    /// As [`GaloisKeys::from_bytes`].
    #[inline(never)]
    pub fn from_bytes_with(
        params: &RlweParams<W>,
        bytes: &[u8],
        half: UniformHalf,
    ) -> Result<Self, Error> {
        let (tag, read) = reading(bytes, Tag::GaloisKeys, Tag::WholeGaloisKeys)?;
        let mut input = params.open(tag, "the Galois keys", bytes)?;
        let id = KeyId::read_owner(&mut input)?;
        let limbs = read_limbs(params, &mut input)?;
        // Without keys there are no halves.
        let least = u32::from(tag == Tag::WholeGaloisKeys);
        let count = input.ranged("the number of Galois keys", least..=params.n() as u32)?;
        let mut keys = BTreeMap::new();
        let mut last = 0;
        for _ in 0..count {
            let element = input.ranged("a Galois element", last + 1..=2 * params.n() as u32 - 1)?;
            let auto = generate::galois_automorphism(params.n(), u64::from(element))?;
            keys.insert(
                u64::from(element),
                (auto, read(params, id, limbs, half, &mut input)?),
            );
            last = element;
        }
        input.finish()?;
        Ok(Self {
            params: params.fingerprint(),
            id,
            limbs,
            keys,
        })
    }
}
