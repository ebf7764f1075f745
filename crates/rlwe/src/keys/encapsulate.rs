// SPDX-License-Identifier: Apache-2.0
//! Sparse-secret encapsulation (Bossuat, Troncoso-Pastoriza, Hubaux, ePrint 2022/024): a ciphertext at the lowest level
//! goes to a secret of small weight and, its modulus raised, back to the set's own.
//!
//! The sparse secret belongs to a set of its own: the lowest primes of the main set and one or two special primes. Its
//! modulus is all that is ever published about that secret besides the key back, which hides it under the main secret,
//! so that the ordinary judgement of that small set is the judgement of the encapsulation.

use super::{KeyGenerator, KeySwitchKey, MAX_SAMPLE, SecretKey};
use crate::Error;
use crate::params::{ParameterSet, RlweParams};
use crate::signed_poly::signed_poly;
use zeroize::Zeroize;
use zq::Word;

/// The keys of an encapsulation.
#[derive(Clone, Debug)]
pub struct EncapsulationKeys<W: Word> {
    pub(super) to_sparse: KeySwitchKey<W>,
    pub(super) to_dense: KeySwitchKey<W>,
}

impl<W: Word> EncapsulationKeys<W> {
    /// From the main secret to the sparse one, under the sparse set.
    pub fn to_sparse(&self) -> &KeySwitchKey<W> {
        &self.to_sparse
    }

    /// From the sparse secret to the main one, with a single digit: see
    /// [`KeySwitchLevel::raise`](crate::KeySwitchLevel::raise).
    pub fn to_dense(&self) -> &KeySwitchKey<W> {
        &self.to_dense
    }

    /// Bytes of the residues in memory.
    pub fn memory(&self) -> usize {
        self.to_sparse.memory() + self.to_dense.memory()
    }
}

impl<W: Word> KeyGenerator<W> {
    /// The keys to the sparse secret of the set `sparse` and back. The sparse secret is drawn from this generator's
    /// seed bound to `sparse` and to the identity of `secret`, and forgotten.
    ///
    /// # Errors
    /// [`Error::ParameterMismatch`] for another set's secret; [`Error::Parameter`] unless `sparse` has the degree and
    /// the lowest primes of the main set, special primes and a single digit.
    #[inline(never)]
    pub fn encapsulation_keys(
        &self,
        secret: &SecretKey<W>,
        sparse: &RlweParams<W>,
    ) -> Result<EncapsulationKeys<W>, Error> {
        self.params
            .check_fingerprint("the secret key", secret.params)?;
        self.check_sparse(sparse)?;
        let seed = self.seed("sparse secret", &secret.id.0)?;
        let ephemeral = KeyGenerator::new(sparse, seed);
        let light = ephemeral.secret_key()?;
        let mut source = signed_poly(sparse.qp(), &secret.coefficients, MAX_SAMPLE).to_eval();
        let seeds = ephemeral.component_seeds("key to the sparse secret", &light, 0)?;
        let to_sparse = ephemeral.switch_key(&light, &source, sparse.data_primes(), seeds);
        source.zeroize();
        let mut source = signed_poly(self.params.qp(), &light.coefficients, MAX_SAMPLE).to_eval();
        let seeds = self.component_seeds("key from the sparse secret", secret, 0)?;
        let to_dense = self.one_digit_key(secret, &source, seeds);
        source.zeroize();
        Ok(EncapsulationKeys {
            to_sparse: to_sparse?,
            to_dense: to_dense?,
        })
    }

    fn check_sparse(&self, sparse: &RlweParams<W>) -> Result<(), Error> {
        let (own, low) = (self.params.q().values(), sparse.q().values());
        let good = sparse.n() == self.params.n()
            && own.starts_with(&low)
            && sparse.dnum() == 1
            && sparse.special_primes() > 0;
        if good {
            return Ok(());
        }
        Err(Error::Parameter {
            what: "the sparse secret's set",
            got: format!("{sparse:?}"),
            allowed: "the degree and the lowest primes of the main set, special primes, one digit"
                .into(),
        })
    }
}
