// SPDX-License-Identifier: Apache-2.0
//! Sources and requests of a key switch.

use super::level::KeySwitchLevel;
use crate::Error;
use crate::keys::KeySwitchKey;
use rns::Automorphism;
use zq::Word;

/// A polynomial to decompose, over the level's data primes.
#[derive(Clone, Copy)]
pub struct Source<'a, W: Word> {
    /// Its coefficients, limb-major.
    pub coefficients: &'a [W],
    /// Its evaluation form, if at hand: saves transforms.
    pub values: Option<&'a [W]>,
}

/// One use of a source: `(k0 + σ(add_0), k1 + σ(add_1))` with `k0 + k1·s ≈ σ(c)·s'`.
#[derive(Clone, Copy)]
pub struct SwitchRequest<'a, W: Word> {
    /// Index of the source c.
    pub source: usize,
    /// The key from s' to s.
    pub key: &'a KeySwitchKey<W>,
    /// σ, applied to the source before it is switched; `None` for the identity.
    pub automorphism: Option<&'a Automorphism>,
    /// Limbs over the data primes in evaluation form, added at the end after σ.
    pub add: [Option<&'a [W]>; 2],
}

impl<W: Word> KeySwitchLevel<W> {
    pub(super) fn check(
        &self,
        sources: &[Source<'_, W>],
        requests: &[SwitchRequest<'_, W>],
    ) -> Result<(), Error> {
        let expected = self.q().len() * self.q().n();
        let shape = |what, got| {
            if got == expected {
                Ok(())
            } else {
                Err(Error::Shape {
                    what,
                    got,
                    expected,
                })
            }
        };
        for source in sources {
            shape("words of a source", source.coefficients.len())?;
            source
                .values
                .map_or(Ok(()), |v| shape("words of a source's values", v.len()))?;
        }
        for request in requests {
            if request.source >= sources.len() {
                let (got, expected) = (request.source, sources.len());
                return Err(Error::Shape {
                    what: "source of a request",
                    got,
                    expected,
                });
            }
            request
                .key
                .check_covers(self.q().len(), self.digit_count())?;
            request
                .add
                .iter()
                .flatten()
                .try_for_each(|add| shape("words to add", add.len()))?;
        }
        Ok(())
    }
}
