// SPDX-License-Identifier: Apache-2.0
//! Plaintexts and ciphertexts as bytes, inside the envelope of [`rlwe::wire`].
//!
//! ```text
//! plaintext:  n coefficients modulo t
//! ciphertext: key id 16 B · limbs u32 · parts u32 · seeded u8 · polynomial 0
//!             · (seed 32 B if seeded, else the other polynomials)
//! ```
//! A polynomial is its limbs in coefficient order, each residue packed at the width of its prime.

use crate::ciphertext::MAX_PARTS;
use crate::{BfvParams, Ciphertext, Error, Plaintext};
use rlwe::wire::{self, Tag, Writer};
use rlwe::{KeyId, ParameterSet, Seed, uniform_residues};
use rns::RnsPoly;
use zq::Word;

impl Plaintext {
    /// The plaintext as an object of the byte format.
    #[inline(never)]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new();
        let modulus = zq::Modulus::new(self.plain_modulus()).expect("checked by the parameters");
        out.residues(self.coefficients(), &modulus);
        out.seal(Tag::BfvPlaintext, self.params)
    }

    /// Reads [`Plaintext::to_bytes`].
    ///
    /// # Errors
    /// [`rlwe::Error::Wire`], [`rlwe::Error::ParameterMismatch`].
    #[inline(never)]
    pub fn from_bytes<W: Word>(params: &BfvParams<W>, bytes: &[u8]) -> Result<Self, Error> {
        let mut input = params.open(Tag::BfvPlaintext, "the plaintext", bytes)?;
        input.has_residues(params.plain(), params.n())?;
        let mut coefficients = vec![0; params.n()];
        input.residues(params.plain(), 0, &mut coefficients)?;
        input.finish()?;
        Ok(Self::from_reduced(params, coefficients))
    }
}

impl<W: Word> Ciphertext<W> {
    /// The ciphertext as an object of the byte format; c_1 as a seed where it has one.
    #[inline(never)]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::public();
        self.key.write(&mut out);
        out.u32(self.limbs() as u32);
        out.u32(self.size() as u32);
        out.u8(u8::from(self.seed.is_some()));
        out.poly(&self.parts[0]);
        match &self.seed {
            Some(seed) => out.bytes(seed.as_bytes()),
            None => self.parts[1..].iter().for_each(|p| out.poly(p)),
        }
        out.seal(Tag::BfvCiphertext, self.params)
    }

    /// Reads [`Ciphertext::to_bytes`].
    ///
    /// # Errors
    /// [`rlwe::Error::Wire`], [`rlwe::Error::ParameterMismatch`].
    #[inline(never)]
    pub fn from_bytes(params: &BfvParams<W>, bytes: &[u8]) -> Result<Self, Error> {
        let mut input = params.open(Tag::BfvCiphertext, "the ciphertext", bytes)?;
        let key = KeyId::read(&mut input)?;
        let limbs = input.ranged(
            "the number of data primes",
            1..=params.rlwe().data_primes() as u32,
        )? as usize;
        let size = input.ranged("the number of parts", 2..=MAX_PARTS)? as usize;
        let seeded = match (input.u8("the seed flag")?, size) {
            (0, _) => false,
            (1, 2) => true,
            (got, _) => {
                let allowed = "0, or 1 for two parts".into();
                return Err(wire::WireError::Value {
                    what: "the seed flag",
                    got: u64::from(got),
                    allowed,
                }
                .into());
            }
        };
        let basis = params.rlwe().q_prefix(limbs)?;
        let mut parts = vec![input.poly(&basis)?];
        let mut seed = None;
        if seeded {
            let grown = Seed::from_bytes(input.array("a seed")?);
            let mut part = RnsPoly::zeros(&basis);
            uniform_residues(params.rlwe(), &grown, limbs, false, part.data_mut());
            parts.push(part);
            seed = Some(grown);
        } else {
            for _ in 1..size {
                parts.push(input.poly(&basis)?);
            }
        }
        input.finish()?;
        Ok(Self {
            params: params.fingerprint(),
            key,
            parts,
            seed,
        })
    }
}
