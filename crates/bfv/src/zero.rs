// SPDX-License-Identifier: Apache-2.0
//! Encryptions of zero: sampling, separate from the computation.

use crate::Error;
use rns::{Coeff, Eval, RnsPoly};
use zeroize::Zeroizing;
use zq::Word;

/// Random polynomials of an encryption of zero, and its key. Secret ones are wiped when dropped.
pub enum ZeroDraw<'k, W: Word> {
    /// For `(key_0·u + e_0, key_1·u + e_1)`, over Q·P with an extended key: the encryptor divides that by P.
    Public {
        /// The public key (b, a).
        key: [&'k RnsPoly<W, Eval>; 2],
        /// Ternary.
        u: Zeroizing<RnsPoly<W, Coeff>>,
        /// e_0 and e_1.
        errors: [Zeroizing<RnsPoly<W, Coeff>>; 2],
    },
    /// For `(e − a·key, a)`.
    Secret {
        /// The secret key.
        key: &'k RnsPoly<W, Eval>,
        /// Uniform, from a seed that is published.
        a: RnsPoly<W, Coeff>,
        /// e.
        error: Zeroizing<RnsPoly<W, Coeff>>,
    },
}

impl<W: Word> ZeroDraw<'_, W> {
    /// The two parts, computed by this processor.
    ///
    /// # Errors
    /// [`rlwe::Error::Shape`] when bases do not fit.
    #[inline(never)]
    pub fn parts(&self) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
        match self {
            Self::Public { key, u, errors } => {
                Ok(rlwe::encrypt_zero(*key, u, [&errors[0], &errors[1]])?)
            }
            Self::Secret { key, a, error } => {
                // e − a·s = −(−e + a·s)
                let summands = Zeroizing::new(vec![error.neg(), a.clone()]);
                let mut c0 = rlwe::phase(&summands, key)?;
                c0.neg_assign();
                Ok([c0, a.clone()])
            }
        }
    }
}
