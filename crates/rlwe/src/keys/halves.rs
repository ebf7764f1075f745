// SPDX-License-Identifier: Apache-2.0
//! Keys from both of their halves, such as those of another library: no seed grows their uniform components.

use super::{GaloisKeys, KeyId, KeySwitchKey, PublicKey, RelinKey, generate};
use crate::Error;
use crate::params::RlweParams;
use crate::sampling::Seed;
use crate::wire::WireError;
use rns::{Eval, RnsBasis, RnsPoly};
use sha2::{Digest, Sha256};
use zq::Word;

impl KeyId {
    /// The identity of a key, which belongs to someone: one that goes with every ciphertext is refused.
    ///
    /// # Errors
    /// [`WireError::Value`].
    pub(super) fn owner(self) -> Result<Self, WireError> {
        match self {
            Self::NONE => Err(WireError::Value {
                what: "a key's identity",
                got: 0,
                allowed: "any but 0, which belongs to no key".into(),
            }),
            id => Ok(id),
        }
    }
}

/// Fails unless all polynomials are over this basis.
fn check_basis<W: Word>(basis: &RnsBasis<W>, polys: &[RnsPoly<W, Eval>]) -> Result<(), Error> {
    match polys.iter().find(|poly| poly.basis() != basis) {
        Some(poly) => Err(Error::Shape {
            what: "primes of a key's half",
            got: poly.limb_count(),
            expected: basis.len(),
        }),
        None => Ok(()),
    }
}

impl<W: Word> PublicKey<W> {
    /// The key of the halves (b, a), over Q or, extended, over Q·P.
    ///
    /// # Errors
    /// [`Error::Shape`] for halves over other primes; [`Error::Wire`] for the identity that belongs to no key.
    pub fn from_halves(
        params: &RlweParams<W>,
        id: KeyId,
        halves: [RnsPoly<W, Eval>; 2],
    ) -> Result<Self, Error> {
        let limbs = params.data_primes();
        let basis = Self::basis(params, halves[0].limb_count() > limbs)?;
        check_basis(basis, &halves)?;
        let [b, a] = halves;
        let mut digest = Sha256::new();
        a.data()
            .iter()
            .for_each(|x| digest.update(x.to_u128().to_le_bytes()));
        Ok(Self {
            params: params.fingerprint(),
            id: id.owner()?,
            seed: Seed::from_bytes(digest.finalize().into()),
            seeded: false,
            limbs,
            b,
            a,
        })
    }
}

impl<W: Word> KeySwitchKey<W> {
    /// The key of the halves b_d and a_d of each digit d, for ciphertexts over `limbs` data primes or fewer.
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of digits or other primes; [`Error::Wire`] for the identity that belongs to
    /// no key.
    pub fn from_halves(
        params: &RlweParams<W>,
        id: KeyId,
        limbs: usize,
        masked: Vec<RnsPoly<W, Eval>>,
        uniform: Vec<RnsPoly<W, Eval>>,
    ) -> Result<Self, Error> {
        let (basis, digits) = (params.qp_prefix(limbs)?, params.digits_at(limbs));
        for half in [&masked, &uniform] {
            if half.len() != digits {
                return Err(Error::Shape {
                    what: "digits of a key's half",
                    got: half.len(),
                    expected: digits,
                });
            }
            check_basis(&basis, half)?;
        }
        Ok(Self {
            params: params.fingerprint(),
            id: id.owner()?,
            seed: None,
            limbs,
            masked,
            uniform: Some(uniform),
        })
    }
}

impl<W: Word> From<KeySwitchKey<W>> for RelinKey<W> {
    fn from(key: KeySwitchKey<W>) -> Self {
        Self(key)
    }
}

impl<W: Word> GaloisKeys<W> {
    /// The keys by their elements; each serves ciphertexts over `limbs` data primes or fewer.
    ///
    /// # Errors
    /// [`Error::Rns`] for an element that is even or not below 2n; [`Error::Shape`] for a key of another length;
    /// [`Error::Wire`] for the identity that belongs to no key.
    pub fn from_keys(
        params: &RlweParams<W>,
        id: KeyId,
        limbs: usize,
        keys: impl IntoIterator<Item = (u64, KeySwitchKey<W>)>,
    ) -> Result<Self, Error> {
        let entry = |(element, key): (u64, KeySwitchKey<W>)| {
            if key.limbs != limbs {
                return Err(Error::Shape {
                    what: "data primes of a rotation key",
                    got: key.limbs,
                    expected: limbs,
                });
            }
            let auto = generate::galois_automorphism(params.n(), element)?;
            Ok((element, (auto, key)))
        };
        Ok(Self {
            params: params.fingerprint(),
            id: id.owner()?,
            limbs,
            keys: keys.into_iter().map(entry).collect::<Result<_, Error>>()?,
        })
    }
}
