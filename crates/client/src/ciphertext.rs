// SPDX-License-Identifier: Apache-2.0
//! Ciphertexts as bytes: what stands before, between and behind their residues.

use crate::error::Error;
use crate::params::Params;
use crate::rules::Scheme;
use crate::stream::Seed;
use crate::wire::{Reader, Tag, Writer, packed};

/// A ciphertext's bytes, checked but for its residues.
pub(crate) struct Parts<'b> {
    pub limbs: usize,
    pub first: &'b [u8],
    pub second: Second<'b>,
}

pub(crate) enum Second<'b> {
    Bytes(&'b [u8]),
    Seed(Seed),
}

impl<'b> Parts<'b> {
    pub fn read(params: &Params, id: &[u8; 16], bytes: &'b [u8]) -> Result<Self, Error> {
        let bfv = matches!(params.scheme, Scheme::Bfv { .. });
        let tag = if bfv {
            Tag::BfvCiphertext
        } else {
            Tag::CkksCiphertext
        };
        let mut input = Reader::open(tag, &params.set, bytes)?;
        let key = input.array::<16>()?;
        if key != *id && key != [0; 16] {
            return Err(Error::OtherKey);
        }
        if !bfv {
            input.take(9)?; // Scale and slots are the decoder's.
        }
        let limbs = input.u32()? as usize;
        let count = if bfv {
            input.u32()?
        } else {
            u32::from(input.array::<1>()?[0])
        };
        let [seeded] = input.array()?;
        if !(1..=params.limbs).contains(&limbs) || count != 2 || seeded > 1 {
            return Err(Error::Bytes("a ciphertext that is not of two polynomials"));
        }
        let first = input.take(polynomial(params, limbs))?;
        let second = match seeded {
            0 => Second::Bytes(input.take(polynomial(params, limbs))?),
            _ => Second::Seed(Seed::new(input.array()?)),
        };
        input.finish()?;
        Ok(Self {
            limbs,
            first,
            second,
        })
    }
}

/// The start of a ciphertext over all data primes: `polynomials` of them, a seed instead of the second.
pub(crate) fn begin(params: &Params, id: &[u8; 16], polynomials: usize) -> Writer {
    let seed = 32 * (2 - polynomials);
    let body = polynomials * polynomial(params, params.limbs) + seed;
    let limbs = (params.limbs as u32).to_le_bytes();
    let seeded = [u8::from(seed > 0)];
    match params.scheme {
        Scheme::Bfv { .. } => {
            let mut out = Writer::new(Tag::BfvCiphertext, &params.set, 25 + body);
            [&id[..], &limbs, &2u32.to_le_bytes(), &seeded]
                .iter()
                .for_each(|part| out.bytes(part));
            out
        }
        Scheme::Ckks { scale } => {
            let mut out = Writer::new(Tag::CkksCiphertext, &params.set, 31 + body);
            let slots = [params.n.trailing_zeros() as u8 - 1];
            let scale = scale.to_bits().to_le_bytes();
            [&id[..], &scale, &slots, &limbs, &[2], &seeded]
                .iter()
                .for_each(|part| out.bytes(part));
            out
        }
    }
}

/// Bytes of a polynomial over the first `limbs` data primes.
pub(crate) fn polynomial(params: &Params, limbs: usize) -> usize {
    params.data()[..limbs]
        .iter()
        .map(|q| packed(params.n, q.bits()))
        .sum()
}
