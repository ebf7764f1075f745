// SPDX-License-Identifier: Apache-2.0
//! A parameter set with the tables and the work space of key switching.

use crate::keys::KeySwitchKey;
use crate::keyswitch::{KeySwitchLevel, SwitchScratch};
use crate::params::{ParameterSet, RlweParams};
use crate::wire::Fingerprint;
use crate::{Error, Threads};
use rns::{Coeff, RnsPoly};
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};
use zq::{Pool, Word};

/// A parameter set ready for work: derefs to [`RlweParams`], and holds for each level what key switching needs. Clones
/// share one allocation; two contexts of one set give the same residues.
pub struct RlweContext<W: Word>(Arc<Inner<W>>);

struct Inner<W: Word> {
    params: RlweParams<W>,
    /// Entry l: for ciphertexts over the first l + 1 data primes.
    levels: Vec<OnceLock<Arc<KeySwitchLevel<W>>>>,
    /// Work space of key switches, shared by all levels.
    scratch: Arc<Pool<SwitchScratch<W>>>,
}

impl<W: Word> RlweContext<W> {
    /// A context without tables: each level's are made on first use.
    pub fn new(params: RlweParams<W>) -> Self {
        Self(Arc::new(Inner {
            levels: (0..params.data_primes()).map(|_| OnceLock::new()).collect(),
            scratch: Arc::default(),
            params,
        }))
    }

    /// The set.
    pub fn params(&self) -> &RlweParams<W> {
        &self.0.params
    }

    /// Everything key switching needs for ciphertexts over the first `limbs` data primes; made on first use.
    ///
    /// # Errors
    /// [`Error::Shape`] unless 1 ≤ `limbs` ≤ L.
    #[inline(never)]
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
        let scratch = Arc::clone(&self.0.scratch);
        let made = Arc::new(KeySwitchLevel::new(self, limbs, scratch)?);
        Ok(Arc::clone(zq::fork::once(slot, || made)))
    }

    /// Switches `c` (coefficient form) to the key's target: returns (k0, k1) with k0 + k1·s ≈ c·s'.
    ///
    /// # Errors
    /// [`Error::Shape`] for levels that do not fit.
    #[inline(never)]
    pub fn key_switch(
        &self,
        c: &RnsPoly<W, Coeff>,
        key: &KeySwitchKey<W>,
        threads: &Threads,
    ) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
        self.level(c.limb_count())?.switch_coeff(c, key, threads)
    }
}

impl<W: Word> Deref for RlweContext<W> {
    type Target = RlweParams<W>;
    fn deref(&self) -> &RlweParams<W> {
        self.params()
    }
}

impl<W: Word> From<RlweParams<W>> for RlweContext<W> {
    fn from(params: RlweParams<W>) -> Self {
        Self::new(params)
    }
}

impl<W: Word> Clone for RlweContext<W> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<W: Word> fmt::Debug for RlweContext<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.params().fmt(f)
    }
}

impl<W: Word> ParameterSet for RlweContext<W> {
    type Word = W;
    fn rlwe(&self) -> &RlweParams<W> {
        self.params()
    }
    fn fingerprint(&self) -> Fingerprint {
        self.params().fingerprint()
    }
}
