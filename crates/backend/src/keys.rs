// SPDX-License-Identifier: Apache-2.0
//! Evaluation keys, and whether they are all that a program needs.

use crate::Error;
use ckks::bootstrap::BootstrapKeys;
use program::{Encryption, Parameters, Program, RequiredKeys};
use rlwe::{GaloisKeys, KeyId, ParameterSet, PublicKey, RelinKey, RlweParams};
use std::sync::Arc;
use zq::Word;

/// Evaluation keys of either word width.
#[derive(Clone)]
pub enum Keys {
    /// Over `u64`: of CKKS and of BFV.
    Narrow(KeySet<u64>),
    /// Over `u128`: of BFV.
    Wide(KeySet<u128>),
}

/// Evaluation keys; those that no step needs may be missing.
#[derive(Clone)]
pub struct KeySet<W: Word> {
    /// For relinearisation.
    pub relinearization: Option<Arc<RelinKey<W>>>,
    /// For rotations.
    pub galois: Option<Arc<GaloisKeys<W>>>,
    /// For encryptions of zero.
    pub public: Option<Arc<PublicKey<W>>>,
    /// For refreshes, which CKKS has.
    pub bootstrapping: Option<Arc<BootstrapKeys>>,
}

impl<W: Word> Default for KeySet<W> {
    fn default() -> Self {
        Self {
            relinearization: None,
            galois: None,
            public: None,
            bootstrapping: None,
        }
    }
}

impl Keys {
    /// No keys, of the words of a parameter set.
    pub(crate) fn none(parameters: &Parameters) -> Self {
        match parameters {
            Parameters::BfvWide(_) => Self::Wide(KeySet::default()),
            _ => Self::Narrow(KeySet::default()),
        }
    }

    pub(crate) fn of_other_words() -> Error {
        Error::Keys("the evaluation keys and the program are of different word widths".into())
    }
}

/// Facts of one kind of key: owner, limbs, limbs needed.
struct Held {
    name: &'static str,
    owner: Option<KeyId>,
    limbs: Option<usize>,
    needed: Option<u32>,
}

impl<W: Word> KeySet<W> {
    /// The limbs of a digit's half of the relinearization key, or of an automorphism's,
    /// for ciphertexts of `limbs` limbs.
    pub(crate) fn limbs(
        &self,
        element: Option<u64>,
        digit: usize,
        half: usize,
        limbs: usize,
    ) -> Result<Vec<Vec<W>>, Error> {
        let key = match element {
            None => key(self.relinearization.as_deref(), "relinearization")?.key(),
            Some(element) => key(self.galois.as_deref(), "rotation")?.get(element)?.1,
        };
        let limbs = key.limbs_at(digit, half, limbs);
        Ok(limbs.map(<[_]>::to_vec).collect())
    }

    /// The limbs of half of the public key, for ciphertexts of `limbs` limbs.
    pub(crate) fn public_limbs(&self, half: usize, limbs: usize) -> Result<Vec<Vec<W>>, Error> {
        let key = key(self.public.as_deref(), "public")?;
        Ok(key
            .limbs_at(limbs)
            .map(|both| both[half].to_vec())
            .collect())
    }

    /// Fails unless the keys belong together and suffice; returns their owner, if there are any. `element`: the
    /// automorphism of a rotation.
    pub(crate) fn check(
        &self,
        program: &Program,
        params: &RlweParams<W>,
        element: impl Fn(usize, i64) -> u64,
    ) -> Result<Option<KeyId>, Error> {
        self.check_parameters(params)?;
        let needs = program.required_keys();
        let held = self.held(&needs);
        held.iter().try_for_each(Held::check)?;
        if needs.public {
            self.check_public(program.encryption)?;
        }
        let lacks = |by: &&i32| !self.holds(element(params.n(), i64::from(**by)));
        if let Some(missing) = needs.rotations.iter().find(lacks) {
            return Err(Error::Keys(format!(
                "the evaluation keys lack rotation {missing}; generate keys with program.client()"
            )));
        }
        if needs.swap_rows && !self.holds(rlwe::conjugation_element(params.n())) {
            return Err(Error::Keys(
                "the evaluation keys lack the row swap; generate keys with program.client()".into(),
            ));
        }
        if needs.bootstrapping {
            self.check_bootstrapping(program)?;
        }
        common_owner(&held)
    }

    /// Keys of another bootstrapping would give anything.
    fn check_bootstrapping(&self, program: &Program) -> Result<(), Error> {
        let (Some(keys), Some(own)) = (&self.bootstrapping, &program.bootstrapping) else {
            return Ok(());
        };
        if keys.serve(own.params()) {
            return Ok(());
        }
        Err(Error::Keys(
            "the bootstrapping keys are of other rotations or levels than this program's refreshes take; generate keys \
             with program.client()"
                .into(),
        ))
    }

    /// Whether there is a Galois key of that element.
    fn holds(&self, element: u64) -> bool {
        let galois = self.galois.as_ref();
        galois.is_some_and(|keys| keys.elements().any(|e| e == element))
    }

    /// A guarantee reckons with the zeros of one kind of public key.
    fn check_public(&self, encryption: Encryption) -> Result<(), Error> {
        let Some(key) = &self.public else {
            return Ok(());
        };
        let kind = |extended| match extended {
            true => Encryption::Extended.key(),
            false => Encryption::Public.key(),
        };
        let wanted = encryption == Encryption::Extended;
        if key.is_extended() == wanted {
            return Ok(());
        }
        let (got, wanted) = (kind(key.is_extended()), kind(wanted));
        Err(Error::Keys(format!(
            "the evaluation keys hold the {got}, the program needs the {wanted}; generate keys with program.client()"
        )))
    }

    fn check_parameters(&self, params: &RlweParams<W>) -> Result<(), Error> {
        if let Some(key) = &self.relinearization {
            params.check_fingerprint("the relinearization key", key.key().fingerprint())?;
        }
        if let Some(keys) = &self.galois {
            params.check_fingerprint("the rotation key", keys.fingerprint())?;
        }
        if let Some(key) = &self.public {
            params.check_fingerprint("the public key", key.fingerprint())?;
        }
        if let Some(keys) = &self.bootstrapping {
            params.check_fingerprint("the bootstrapping keys", keys.fingerprint())?;
        }
        Ok(())
    }

    fn held(&self, needs: &RequiredKeys) -> [Held; 4] {
        let (relin, turn) = (&self.relinearization, &self.galois);
        [
            Held {
                name: "relinearization",
                owner: relin.as_ref().map(|key| key.key().id()),
                limbs: relin.as_ref().map(|key| key.key().limbs()),
                needed: needs.relinearization,
            },
            Held {
                name: "rotation",
                owner: turn.as_ref().map(|keys| keys.id()),
                limbs: turn.as_ref().map(|keys| keys.limbs()),
                needed: needs.galois,
            },
            Held {
                name: "public",
                owner: self.public.as_ref().map(|key| key.id()),
                limbs: None,
                needed: needs.public.then_some(0),
            },
            Held {
                name: "bootstrapping",
                owner: self.bootstrapping.as_ref().map(|keys| keys.id()),
                limbs: None,
                needed: needs.bootstrapping.then_some(0),
            },
        ]
    }
}

impl Held {
    fn check(&self) -> Result<(), Error> {
        let (name, Some(needed)) = (self.name, self.needed) else {
            return Ok(());
        };
        if self.owner.is_none() {
            return Err(Error::Keys(format!(
                "the evaluation keys hold no {name} key, which this program needs"
            )));
        }
        match self.limbs {
            Some(limbs) if limbs <= needed as usize => Err(Error::Keys(format!(
                "the {name} key serves level {}, the program needs level {needed}; generate keys with program.client()",
                limbs.saturating_sub(1)
            ))),
            _ => Ok(()),
        }
    }
}

fn common_owner(held: &[Held]) -> Result<Option<KeyId>, Error> {
    let mut owned = held.iter().filter_map(|h| Some((h.name, h.owner?)));
    let Some((first, owner)) = owned.next() else {
        return Ok(None);
    };
    match owned.find(|(_, other)| *other != owner) {
        None => Ok(Some(owner)),
        Some((name, other)) => Err(Error::Keys(format!(
            "the {name} key is of key {other}, the {first} key of key {owner}"
        ))),
    }
}

/// A key that was checked to be there.
pub(crate) fn key<'k, K>(held: Option<&'k K>, name: &str) -> Result<&'k K, Error> {
    held.ok_or_else(|| {
        Error::Keys(format!(
            "the evaluation keys hold no {name} key, which this program needs"
        ))
    })
}
