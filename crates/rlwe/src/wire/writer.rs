// SPDX-License-Identifier: Apache-2.0
//! Writes payload fields.

use super::packing::pack;
use rns::{Domain, RnsPoly};
use zeroize::Zeroize;
use zq::memory::reserved;
use zq::{Modulus, Word};

/// A payload under construction; its buffer is wiped on drop unless all that it takes is public.
#[derive(Default)]
pub struct Writer {
    bytes: Vec<u8>,
    is_public: bool,
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl Writer {
    /// An empty payload, whatever it will hold.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty payload that nothing secret will pass through: wiping takes longer than writing.
    pub fn public() -> Self {
        Self {
            bytes: Vec::new(),
            is_public: true,
        }
    }

    /// The bytes so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn wipe(&mut self) {
        if !self.is_public {
            self.bytes.zeroize();
        }
    }

    /// Makes room for so many bytes more, by hand: a reallocation would leave an unwiped copy behind.
    fn make_room(&mut self, more: usize) {
        let needed = self.bytes.len() + more;
        if needed > self.bytes.capacity() {
            let mut larger = reserved(needed.max(2 * self.bytes.len()));
            larger.extend_from_slice(&self.bytes);
            self.wipe();
            self.bytes = larger;
        }
    }

    /// One byte.
    pub fn u8(&mut self, x: u8) {
        self.bytes(&[x]);
    }

    /// A 16-bit integer.
    pub fn u16(&mut self, x: u16) {
        self.bytes(&x.to_le_bytes());
    }

    /// A 32-bit integer.
    pub fn u32(&mut self, x: u32) {
        self.bytes(&x.to_le_bytes());
    }

    /// A 64-bit integer.
    pub fn u64(&mut self, x: u64) {
        self.bytes(&x.to_le_bytes());
    }

    /// A 128-bit integer.
    pub fn u128(&mut self, x: u128) {
        self.bytes(&x.to_le_bytes());
    }

    /// A double, by its bits.
    pub fn f64(&mut self, x: f64) {
        self.u64(x.to_bits());
    }

    /// Raw bytes.
    pub fn bytes(&mut self, x: &[u8]) {
        self.make_room(x.len());
        self.bytes.extend_from_slice(x);
    }

    /// Residues of one modulus, bit-packed at its width.
    pub fn residues<W: Word>(&mut self, values: &[W], modulus: &Modulus<W>) {
        self.make_room((values.len() * modulus.bits() as usize).div_ceil(8));
        pack(values, modulus.bits(), &mut self.bytes);
    }

    /// All limbs of a polynomial.
    pub fn poly<W: Word, D: Domain>(&mut self, x: &RnsPoly<W, D>) {
        let bits: usize = x.basis().moduli().iter().map(|q| q.bits() as usize).sum();
        self.make_room((x.n() * bits).div_ceil(8) + x.limb_count());
        x.limbs()
            .zip(x.basis().moduli())
            .for_each(|(limb, modulus)| self.residues(limb, modulus));
    }
}
