// SPDX-License-Identifier: Apache-2.0
//! The small polynomials of an encryption of zero under a public key, `(b·u + e_0, a·u + e_1)`.

use crate::params::RlweParams;
use crate::sampling::{MAX_ETA, Sampler, Seed};
use crate::signed_poly::SignedPoly;
use zq::Word;

/// One of them. Each has a stream of its own below the seed of the encryption, so one can be drawn without the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ZeroSample {
    /// u, ternary.
    U,
    /// e_0.
    E0,
    /// e_1.
    E1,
}

impl ZeroSample {
    /// Its stream.
    fn label(self) -> &'static str {
        match self {
            Self::U => "u",
            Self::E0 => "e0",
            Self::E1 => "e1",
        }
    }

    /// The polynomial, from the seed of the encryption.
    #[inline(never)]
    pub fn draw<W: Word>(self, params: &RlweParams<W>, seed: &Seed) -> SignedPoly {
        let sampler = match self {
            Self::U => &Sampler::Ternary,
            Self::E0 | Self::E1 => params.error_sampler(),
        };
        let stream = &mut seed.stream(self.label(), 0);
        SignedPoly::new(params.n(), u64::from(MAX_ETA), |out| {
            sampler.fill(stream, out);
        })
    }
}
