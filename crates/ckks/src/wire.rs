// SPDX-License-Identifier: Apache-2.0
//! Plaintexts and ciphertexts as bytes, inside the envelope of [`rlwe::wire`].
//!
//! ```text
//! plaintext:  scale f64 · log2 slots u8 · limbs u32 · polynomial
//! ciphertext: key id 16 B · scale f64 · log2 slots u8 · limbs u32 · parts u8 · seeded u8 ·
//!             polynomial 0 · (seed 32 B if seeded, else polynomial 1) · (polynomial 2)
//! ```
//! A polynomial is its limbs in evaluation order, each residue packed at the width of its prime.

use crate::ciphertext::check_meta;
use crate::encryption::seeded_component;
use crate::{Ciphertext, CkksParams, Error, Plaintext};
use rlwe::wire::{self, Reader, Tag, WireError, Writer};
use rlwe::{KeyId, ParameterSet, Seed};
use rns::RnsBasis;

/// Scale, slots and limbs, common to both objects.
struct Meta {
    scale: f64,
    slots: usize,
    basis: RnsBasis<u64>,
}

fn write_meta(out: &mut Writer, scale: f64, slots: usize, limbs: usize) {
    out.f64(scale);
    out.u8(slots.trailing_zeros() as u8);
    out.u32(limbs as u32);
}

fn read_meta(params: &CkksParams, input: &mut Reader<'_>) -> Result<Meta, Error> {
    let scale = wired(input.f64("the scale"))?;
    let log_slots = small(
        input,
        "log2 of the slots",
        0,
        params.slots().trailing_zeros() as u8,
    )?;
    let limbs =
        wired(input.ranged("the number of limbs", 1..=params.max_level() as u32 + 1))? as usize;
    check_meta(params, 1 << log_slots, scale)?;
    Ok(Meta {
        scale,
        slots: 1 << log_slots,
        basis: params.basis(limbs - 1)?,
    })
}

fn small(input: &mut Reader<'_>, what: &'static str, low: u8, high: u8) -> Result<u8, Error> {
    let got = wired(input.u8(what))?;
    if (low..=high).contains(&got) {
        return Ok(got);
    }
    let refused = WireError::Value {
        what,
        got: u64::from(got),
        allowed: format!("{low}..={high}"),
    };
    wired(Err(refused))
}

fn wired<T>(result: Result<T, WireError>) -> Result<T, Error> {
    Ok(result.map_err(rlwe::Error::from)?)
}

impl Plaintext {
    /// The plaintext as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new();
        write_meta(&mut out, self.scale, self.slots, self.poly.limb_count());
        out.poly(&self.poly);
        out.seal(Tag::CkksPlaintext, self.params)
    }

    /// Reads [`Plaintext::to_bytes`].
    ///
    /// # Errors
    /// [`Error::Rlwe`] for damaged bytes or another parameter set, [`Error::Scale`], [`Error::Slots`].
    pub fn from_bytes(params: &CkksParams, bytes: &[u8]) -> Result<Self, Error> {
        let mut input = params.open(Tag::CkksPlaintext, "plaintext", bytes)?;
        let Meta {
            scale,
            slots,
            basis,
        } = read_meta(params, &mut input)?;
        let poly = zeroize::Zeroizing::new(wired(input.poly(&basis))?);
        wired(input.finish())?;
        Ok(Self {
            poly,
            scale,
            slots,
            params: params.fingerprint(),
        })
    }
}

impl Ciphertext {
    /// The ciphertext as bytes; a fresh secret-key encryption takes half the room.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::public();
        self.key.write(&mut out);
        write_meta(&mut out, self.scale, self.slots, self.parts[0].limb_count());
        out.u8(self.size() as u8);
        out.u8(u8::from(self.seed.is_some()));
        for (i, part) in self.parts.iter().enumerate() {
            match &self.seed {
                Some(seed) if i == 1 => out.bytes(seed.as_bytes()),
                _ => out.poly(part),
            }
        }
        out.seal(Tag::CkksCiphertext, self.params)
    }

    /// Length of [`Ciphertext::to_bytes`] without making it.
    pub fn byte_len(&self) -> usize {
        let part = |p: &rns::RnsPoly<u64, rns::Eval>| -> usize {
            p.basis()
                .moduli()
                .iter()
                .map(|q| (p.n() * q.bits() as usize).div_ceil(8))
                .sum()
        };
        let seeded = self.seed.as_ref().map_or(0, |_| part(&self.parts[1]) - 32);
        let body: usize = self.parts.iter().map(part).sum();
        wire::HEADER_LEN + 16 + 8 + 1 + 4 + 2 + body - seeded + wire::CHECKSUM_LEN
    }

    /// Reads [`Ciphertext::to_bytes`].
    ///
    /// # Errors
    /// [`Error::Rlwe`] for damaged bytes or another parameter set, [`Error::Scale`], [`Error::Slots`].
    pub fn from_bytes(params: &CkksParams, bytes: &[u8]) -> Result<Self, Error> {
        let mut input = params.open(Tag::CkksCiphertext, "ciphertext", bytes)?;
        let key = wired(KeyId::read(&mut input))?;
        let Meta {
            scale,
            slots,
            basis,
        } = read_meta(params, &mut input)?;
        let size = small(&mut input, "the number of parts", 2, 3)?;
        let seeded = small(&mut input, "the seeded flag", 0, u8::from(size == 2))? == 1;
        let mut parts = vec![wired(input.poly(&basis))?];
        let mut seed = None;
        for _ in 1..size {
            if seeded {
                let public = Seed::from_bytes(wired(input.array("the seed"))?);
                parts.push(seeded_component(params, &basis, &public));
                seed = Some(public);
            } else {
                parts.push(wired(input.poly(&basis))?);
            }
        }
        wired(input.finish())?;
        Ok(Self {
            parts,
            scale,
            slots,
            params: params.fingerprint(),
            key,
            seed,
        })
    }
}
