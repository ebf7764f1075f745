// SPDX-License-Identifier: Apache-2.0
//! Key-switching keys and the two uses they have.

use super::{KeyId, uniform_limb, uniform_residues};
use crate::Error;
use crate::params::{ParameterSet, RlweParams};
use crate::sampling::Seed;
use crate::wire::Fingerprint;
use rns::{Automorphism, Eval, RnsPoly};
use std::collections::BTreeMap;
use zq::{Modulus, Word};

/// Where the uniform components of a key are: half of its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UniformHalf {
    /// In memory.
    #[default]
    Kept,
    /// Grown from their seed at every use: half the memory, and time for a stream cipher.
    Grown,
}

/// A key from some s' to s: per digit d a pair (b_d, a_d) with b_d = −a_d·s + e_d + g_d·s', over the first `limbs` data
/// primes and the special primes, in evaluation form.
#[derive(Clone, Debug)]
pub struct KeySwitchKey<W: Word> {
    pub(crate) params: Fingerprint,
    pub(crate) id: KeyId,
    /// Grows the uniform components; a key whose halves were given has none, and keeps both.
    pub(crate) seed: Option<Seed>,
    pub(crate) limbs: usize,
    /// b_d.
    pub(crate) masked: Vec<RnsPoly<W, Eval>>,
    /// a_d, where they are kept.
    pub(crate) uniform: Option<Vec<RnsPoly<W, Eval>>>,
}

impl<W: Word> KeySwitchKey<W> {
    /// The key set's identity.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The parameter set's identity.
    pub fn fingerprint(&self) -> Fingerprint {
        self.params
    }

    /// Data primes of the longest ciphertext it serves.
    pub fn limbs(&self) -> usize {
        self.limbs
    }

    /// Number of digits.
    pub fn digits(&self) -> usize {
        self.masked.len()
    }

    /// The components b_d, one for each digit.
    pub fn masked(&self) -> &[RnsPoly<W, Eval>] {
        &self.masked
    }

    /// The components a_d, where they are kept.
    pub fn uniform(&self) -> Option<&[RnsPoly<W, Eval>]> {
        self.uniform.as_deref()
    }

    /// Keeps the uniform components, or frees their memory. The key gives the same residues either way. Those of a
    /// key without a seed stay.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] for another set.
    #[inline(never)]
    pub fn set_uniform(&mut self, params: &RlweParams<W>, half: UniformHalf) -> Result<(), Error> {
        params.check_fingerprint("a switching key", self.params)?;
        let Some(seed) = &self.seed else {
            return Ok(());
        };
        self.uniform = match (half, self.uniform.take()) {
            (UniformHalf::Grown, _) => None,
            (UniformHalf::Kept, Some(kept)) => Some(kept),
            (UniformHalf::Kept, None) => {
                let grow = |d| Self::uniform_component(params, seed, d, self.limbs);
                Some((0..self.digits()).map(grow).collect::<Result<_, _>>()?)
            }
        };
        Ok(())
    }

    /// The uniform components modulo one prime, number `index` of the set's Q·P: a row of `out` for each digit.
    pub(crate) fn grow(&self, modulus: &Modulus<W>, index: usize, out: &mut [W], n: usize) {
        let seed = self
            .seed
            .as_ref()
            .expect("a key without a seed keeps its uniform components");
        for (d, row) in out.chunks_exact_mut(n).enumerate() {
            let seed = seed.derive("digit", d as u64);
            uniform_limb(&seed, self.params, (modulus, index), row);
        }
    }

    /// The limbs of component `part` (0: b, 1: a) of digit `d` for a ciphertext over `limbs` data primes: these, then
    /// the special ones.
    ///
    /// # Panics
    /// If the uniform component is asked for and not kept.
    pub fn limbs_at(&self, d: usize, part: usize, limbs: usize) -> impl Iterator<Item = &[W]> + '_ {
        let poly = match part {
            0 => &self.masked[d],
            _ => &self.uniform().expect("the uniform component is kept")[d],
        };
        (0..limbs)
            .chain(self.limbs..poly.limb_count())
            .map(|i| poly.limb(i))
    }

    /// Fails unless the key serves ciphertexts over `limbs` data primes cut in `digits` digits.
    ///
    /// # Errors
    /// [`Error::Shape`].
    #[inline(never)]
    pub fn check_covers(&self, limbs: usize, digits: usize) -> Result<(), Error> {
        if limbs > self.limbs {
            return Err(Error::Shape {
                what: "data primes for a truncated key",
                got: limbs,
                expected: self.limbs,
            });
        }
        if digits == 0 || digits > self.digits() {
            return Err(Error::Shape {
                what: "digits",
                got: digits,
                expected: self.digits(),
            });
        }
        Ok(())
    }

    /// Bytes of the residues in memory.
    pub fn memory(&self) -> usize {
        let all = self.masked.iter().chain(self.uniform.iter().flatten());
        let words: usize = all.map(|p| p.data().len()).sum();
        words * (W::BITS as usize / 8)
    }

    /// a_d, grown from the key's seed.
    #[inline(never)]
    pub(crate) fn uniform_component(
        params: &RlweParams<W>,
        seed: &Seed,
        d: usize,
        limbs: usize,
    ) -> Result<RnsPoly<W, Eval>, Error> {
        let mut a = RnsPoly::zeros(&params.qp_prefix(limbs)?);
        uniform_residues(
            params,
            &seed.derive("digit", d as u64),
            limbs,
            true,
            a.data_mut(),
        );
        Ok(a)
    }
}

/// The key from s² to s.
#[derive(Clone, Debug)]
pub struct RelinKey<W: Word>(pub(crate) KeySwitchKey<W>);

impl<W: Word> RelinKey<W> {
    /// The switching key, to say where its uniform half is.
    pub fn key_mut(&mut self) -> &mut KeySwitchKey<W> {
        &mut self.0
    }

    /// The switching key.
    pub fn key(&self) -> &KeySwitchKey<W> {
        &self.0
    }
}

/// Keys from s(x^g) to s for several g.
#[derive(Clone, Debug)]
pub struct GaloisKeys<W: Word> {
    pub(crate) params: Fingerprint,
    pub(crate) id: KeyId,
    pub(crate) limbs: usize,
    pub(crate) keys: BTreeMap<u64, (Automorphism, KeySwitchKey<W>)>,
}

impl<W: Word> GaloisKeys<W> {
    /// The key set's identity.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The parameter set's identity.
    pub fn fingerprint(&self) -> Fingerprint {
        self.params
    }

    /// Data primes of the longest ciphertext they serve.
    pub fn limbs(&self) -> usize {
        self.limbs
    }

    /// The keys, by rising elements.
    pub fn keys_mut(&mut self) -> impl Iterator<Item = &mut KeySwitchKey<W>> + '_ {
        self.keys.values_mut().map(|(_, key)| key)
    }

    /// The keys, by rising elements.
    pub fn keys(&self) -> impl Iterator<Item = &KeySwitchKey<W>> + '_ {
        self.keys.values().map(|(_, key)| key)
    }

    /// The elements there are keys for, rising.
    pub fn elements(&self) -> impl Iterator<Item = u64> + '_ {
        self.keys.keys().copied()
    }

    /// The automorphism and key of an element.
    ///
    /// # Errors
    /// [`Error::MissingGaloisKey`].
    pub fn get(&self, element: u64) -> Result<(&Automorphism, &KeySwitchKey<W>), Error> {
        match self.keys.get(&element) {
            Some((auto, key)) => Ok((auto, key)),
            None => Err(Error::MissingGaloisKey {
                element,
                available: self.elements().collect(),
            }),
        }
    }

    /// The keys of both sets; of an element that both have, this one's.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`], [`Error::KeyMismatch`] for keys of another secret, [`Error::Shape`] for another
    /// length.
    #[inline(never)]
    pub fn united(&self, other: &Self) -> Result<Self, Error> {
        let what = "a rotation key";
        if other.params != self.params {
            return Err(Error::ParameterMismatch {
                what,
                got: other.params.to_string(),
                expected: self.params.to_string(),
            });
        }
        if other.id != self.id {
            return Err(Error::KeyMismatch {
                what,
                got: other.id.to_string(),
                expected: self.id.to_string(),
            });
        }
        if other.limbs != self.limbs {
            return Err(Error::Shape {
                what: "data primes of a rotation key",
                got: other.limbs,
                expected: self.limbs,
            });
        }
        let mut all = other.clone();
        all.keys
            .extend(self.keys.iter().map(|(g, own)| (*g, own.clone())));
        all.seeds_of_one_kind()?;
        Ok(all)
    }

    /// Where one key has no seed, all go without theirs: their bytes then have both halves.
    fn seeds_of_one_kind(&mut self) -> Result<(), Error> {
        if self.keys().all(|key| key.seed.is_some()) {
            return Ok(());
        }
        for key in self.keys_mut() {
            if key.uniform.is_none() {
                return Err(Error::Shape {
                    what: "uniform halves in memory beside keys without seeds",
                    got: 0,
                    expected: key.digits(),
                });
            }
            key.seed = None;
        }
        Ok(())
    }

    /// Bytes of the residues in memory.
    pub fn memory(&self) -> usize {
        self.keys.values().map(|(_, k)| k.memory()).sum()
    }
}
