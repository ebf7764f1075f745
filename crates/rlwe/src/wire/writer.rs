// SPDX-License-Identifier: Apache-2.0
//! Writes payload fields.

use super::packing::pack;
use rns::{Domain, RnsPoly};
use zeroize::Zeroizing;
use zq::memory::reserved;
use zq::{Modulus, Word};

/// A payload under construction; its buffer is wiped on drop, since secret keys pass through.
#[derive(Default)]
pub struct Writer(Zeroizing<Vec<u8>>);

impl Writer {
    /// An empty payload.
    pub fn new() -> Self {
        Self::default()
    }

    /// The bytes so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// One byte.
    pub fn u8(&mut self, x: u8) {
        self.0.push(x);
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
        // Grow by hand: a reallocation would leave an unwiped copy behind.
        if self.0.len() + x.len() > self.0.capacity() {
            let mut larger = Zeroizing::new(reserved(2 * (self.0.len() + x.len())));
            larger.extend_from_slice(&self.0);
            self.0 = larger;
        }
        self.0.extend_from_slice(x);
    }

    /// Residues of one modulus, bit-packed at its width.
    pub fn residues<W: Word>(&mut self, values: &[W], modulus: &Modulus<W>) {
        let mut packed = Zeroizing::new(reserved(values.len() * modulus.bits() as usize / 8 + 1));
        pack(values, modulus.bits(), &mut packed);
        self.bytes(&packed);
    }

    /// All limbs of a polynomial.
    pub fn poly<W: Word, D: Domain>(&mut self, x: &RnsPoly<W, D>) {
        x.limbs()
            .zip(x.basis().moduli())
            .for_each(|(limb, modulus)| self.residues(limb, modulus));
    }
}
