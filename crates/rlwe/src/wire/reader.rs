// SPDX-License-Identifier: Apache-2.0
//! Reads payload fields and never past the end.

use super::envelope::WireError;
use super::packing::{packed_len, unpack};
use rns::{Domain, RnsBasis, RnsPoly};
use zq::{Modulus, Word};

/// A cursor over a payload. Nothing is allocated before the bytes for it were seen to be there.
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// A cursor at the start of `payload`.
    pub fn new(payload: &'a [u8]) -> Self {
        Self(payload)
    }

    /// Bytes not read yet.
    pub fn left(&self) -> usize {
        self.0.len()
    }

    /// The next `len` bytes; `what` names them in the error.
    ///
    /// # Errors
    /// [`WireError::Truncated`].
    pub fn bytes(&mut self, len: usize, what: &'static str) -> Result<&'a [u8], WireError> {
        let Some((head, rest)) = self.0.split_at_checked(len) else {
            return Err(WireError::Truncated {
                what,
                needed: len as u64,
                left: self.0.len(),
            });
        };
        self.0 = rest;
        Ok(head)
    }

    /// The next `N` bytes as an array.
    ///
    /// # Errors
    /// [`WireError::Truncated`].
    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], WireError> {
        Ok(self.bytes(N, what)?.try_into().expect("length is N"))
    }

    /// One byte.
    ///
    /// # Errors
    /// [`WireError::Truncated`].
    pub fn u8(&mut self, what: &'static str) -> Result<u8, WireError> {
        Ok(self.array::<1>(what)?[0])
    }

    /// A 16-bit integer.
    ///
    /// # Errors
    /// [`WireError::Truncated`].
    pub fn u16(&mut self, what: &'static str) -> Result<u16, WireError> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }

    /// A 32-bit integer.
    ///
    /// # Errors
    /// [`WireError::Truncated`].
    pub fn u32(&mut self, what: &'static str) -> Result<u32, WireError> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    /// A 64-bit integer.
    ///
    /// # Errors
    /// [`WireError::Truncated`].
    pub fn u64(&mut self, what: &'static str) -> Result<u64, WireError> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    /// A 128-bit integer.
    ///
    /// # Errors
    /// [`WireError::Truncated`].
    pub fn u128(&mut self, what: &'static str) -> Result<u128, WireError> {
        Ok(u128::from_le_bytes(self.array(what)?))
    }

    /// A double.
    ///
    /// # Errors
    /// [`WireError::Truncated`].
    pub fn f64(&mut self, what: &'static str) -> Result<f64, WireError> {
        Ok(f64::from_bits(self.u64(what)?))
    }

    /// An integer that must lie in `range`; the way to read every count and code.
    ///
    /// # Errors
    /// [`WireError::Truncated`] or [`WireError::Value`].
    pub fn ranged(
        &mut self,
        what: &'static str,
        range: std::ops::RangeInclusive<u32>,
    ) -> Result<u32, WireError> {
        let got = self.u32(what)?;
        if range.contains(&got) {
            return Ok(got);
        }
        let allowed = format!("{}..={}", range.start(), range.end());
        Err(WireError::Value {
            what,
            got: u64::from(got),
            allowed,
        })
    }

    /// Fills `out` with bit-packed residues of `modulus`, number `limb` of its chain; each must be reduced.
    ///
    /// # Errors
    /// [`WireError::Truncated`], [`WireError::Residue`] or dirty padding as [`WireError::Value`].
    #[inline(never)]
    pub fn residues<W: Word>(
        &mut self,
        modulus: &Modulus<W>,
        limb: usize,
        out: &mut [W],
    ) -> Result<(), WireError> {
        let len = self.has_residues(modulus, out.len())?;
        unpack(self.bytes(len, "residues")?, modulus, limb, out)
    }

    /// Whether the bytes of `count` residues of `modulus` are there, before memory for them is taken; their length.
    ///
    /// # Errors
    /// [`WireError::Truncated`].
    pub fn has_residues<W: Word>(
        &self,
        modulus: &Modulus<W>,
        count: usize,
    ) -> Result<usize, WireError> {
        match packed_len(count, modulus.bits()) {
            Some(len) if len <= self.0.len() => Ok(len),
            len => Err(WireError::Truncated {
                what: "residues",
                needed: len.map_or(u64::MAX, |l| l as u64),
                left: self.0.len(),
            }),
        }
    }

    /// A polynomial over a basis; memory is taken only when all its bytes are there.
    ///
    /// # Errors
    /// As [`Reader::residues`].
    #[inline(never)]
    pub fn poly<W: Word, D: Domain>(
        &mut self,
        basis: &RnsBasis<W>,
    ) -> Result<RnsPoly<W, D>, WireError> {
        let mut needed = 0;
        for modulus in basis.moduli() {
            needed += self.has_residues(modulus, basis.n())?;
        }
        if needed > self.left() {
            return Err(WireError::Truncated {
                what: "a polynomial",
                needed: needed as u64,
                left: self.left(),
            });
        }
        let mut out = RnsPoly::zeros(basis);
        for (i, (limb, modulus)) in out.limbs_mut().zip(basis.moduli()).enumerate() {
            self.residues(modulus, i, limb)?;
        }
        Ok(out)
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// [`WireError::Trailing`] when bytes are left.
    pub fn finish(self) -> Result<(), WireError> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(WireError::Trailing(self.0.len()))
        }
    }
}
