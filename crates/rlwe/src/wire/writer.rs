// SPDX-License-Identifier: Apache-2.0
//! Writes payload fields.

use super::envelope::{CHECKSUM_LEN, Fingerprint, HEADER_LEN, Tag, checksum, header};
use super::packing::pack;
use rns::{Domain, RnsPoly};
use zeroize::Zeroize;
use zq::memory::reserved;
use zq::{Modulus, Word};

/// Wraps a payload into an object. [`Writer::seal`] does so without a copy.
pub fn seal(tag: Tag, params: Fingerprint, payload: &[u8]) -> Vec<u8> {
    let mut out = Writer::new();
    out.bytes(payload);
    out.seal(tag, params)
}

/// A payload under construction, behind room for its envelope's header; its buffer is wiped on drop unless all that it
/// takes is public.
pub struct Writer {
    bytes: Vec<u8>,
    is_public: bool,
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}

impl Writer {
    /// An empty payload, whatever it will hold.
    pub fn new() -> Self {
        Self {
            bytes: vec![0; HEADER_LEN],
            is_public: false,
        }
    }

    /// An empty payload with room for `payload_len` bytes, so that its buffer never grows.
    pub fn with_room(payload_len: usize) -> Self {
        let mut bytes = reserved(HEADER_LEN + payload_len + CHECKSUM_LEN);
        bytes.resize(HEADER_LEN, 0);
        Self {
            bytes,
            is_public: false,
        }
    }

    /// An empty payload that nothing secret will pass through: wiping takes longer than writing.
    pub fn public() -> Self {
        let mut out = Self::new();
        out.is_public = true;
        out
    }

    /// The payload so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[HEADER_LEN..]
    }

    /// The payload as an object of the byte format.
    pub fn seal(mut self, tag: Tag, params: Fingerprint) -> Vec<u8> {
        self.make_room(CHECKSUM_LEN);
        let mut out = std::mem::take(&mut self.bytes);
        let payload_len = out.len() - HEADER_LEN;
        out[..HEADER_LEN].copy_from_slice(&header(tag, params, payload_len));
        let sum = checksum(&out);
        out.extend_from_slice(&sum);
        out
    }

    fn wipe(&mut self) {
        if !self.is_public {
            self.bytes.zeroize();
        }
    }

    /// Makes room for `more` bytes, by hand: a reallocation would leave an unwiped copy behind.
    fn make_room(&mut self, more: usize) {
        let needed = self.bytes.len() + more;
        if needed > self.bytes.capacity() {
            // Room for the checksum too, or sealing would move it all once more.
            let mut larger = reserved((needed + CHECKSUM_LEN).max(2 * self.bytes.len()));
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
    #[inline(never)]
    pub fn residues<W: Word>(&mut self, values: &[W], modulus: &Modulus<W>) {
        self.make_room((values.len() * modulus.bits() as usize).div_ceil(8));
        pack(values, modulus.bits(), &mut self.bytes);
    }

    /// All limbs of a polynomial.
    #[inline(never)]
    pub fn poly<W: Word, D: Domain>(&mut self, x: &RnsPoly<W, D>) {
        let bits: usize = x.basis().moduli().iter().map(|q| q.bits() as usize).sum();
        self.make_room((x.n() * bits).div_ceil(8) + x.limb_count());
        x.limbs()
            .zip(x.basis().moduli())
            .for_each(|(limb, modulus)| self.residues(limb, modulus));
    }
}
