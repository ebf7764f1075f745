// SPDX-License-Identifier: Apache-2.0
//! The byte format (docs/format.md): envelopes, residues packed at the width of their prime.

use crate::error::Error;
use crate::modulus::Modulus;
use alloc::vec::Vec;
use twox_hash::XxHash3_64;

const VERSION: u16 = 3;
/// Bytes before and after a payload.
pub(crate) const HEADER: usize = 32;
pub(crate) const CHECKSUM: usize = 8;

/// Type tags.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Tag {
    SecretKey = 16,
    PublicKey = 17,
    BfvCiphertext = 33,
    CkksCiphertext = 49,
}

/// An object under construction, of a length known beforehand: no byte of it is ever moved.
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    /// Of an object whose payload has `length` bytes.
    pub fn new(tag: Tag, set: &[u8; 16], length: usize) -> Self {
        let mut out = Vec::with_capacity(HEADER + length + CHECKSUM);
        out.extend_from_slice(b"RSMI");
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&(tag as u16).to_le_bytes());
        out.extend_from_slice(set);
        out.extend_from_slice(&(length as u64).to_le_bytes());
        Self(out)
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Room for `length` bytes, written later by [`Writer::pack_at`]; returns where it starts.
    pub fn room(&mut self, length: usize) -> usize {
        let start = self.0.len();
        self.0.resize(start + length, 0);
        start
    }

    /// Residues below 2^bits at a place that [`Writer::room`] gave. Public data only.
    pub fn pack_at(&mut self, place: usize, residues: &[u64], bits: u32) {
        let length = packed(residues.len(), bits);
        let mut out = self.0[place..place + length].chunks_mut(4);
        let (mut held, mut count) = (0u64, 0);
        for (part, width) in residues.iter().flat_map(|x| parts(*x, bits)) {
            held |= part << count;
            count += width;
            if count >= 32 {
                if let Some(word) = out.next() {
                    word.copy_from_slice(&(held as u32).to_le_bytes()[..word.len()]);
                }
                (held, count) = (held >> 32, count - 32);
            }
        }
        if let Some(word) = out.next() {
            word.copy_from_slice(&(held as u32).to_le_bytes()[..word.len()]);
        }
    }

    /// The object.
    pub fn seal(mut self) -> Vec<u8> {
        let sum = XxHash3_64::oneshot(&self.0);
        self.bytes(&sum.to_le_bytes());
        self.0
    }
}

/// Bytes of n residues.
pub(crate) fn packed(n: usize, bits: u32) -> usize {
    (n * bits as usize).div_ceil(8)
}

/// The lowest 32 bits of a residue and the rest, with their widths: two shifts of a word instead of one of four.
fn parts(x: u64, bits: u32) -> [(u64, u32); 2] {
    let low = bits.min(32);
    [(x & 0xffff_ffff, low), (x >> 32, bits - low)]
}

/// A payload that is read.
pub(crate) struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    /// The payload of an object of a kind, of the parameter set `set`.
    pub fn open(tag: Tag, set: &[u8; 16], object: &'b [u8]) -> Result<Self, Error> {
        let body = object
            .len()
            .checked_sub(CHECKSUM)
            .filter(|body| *body >= HEADER);
        let (whole, sum) = object.split_at(body.ok_or(Error::Bytes("too short"))?);
        let (head, payload) = whole.split_at(HEADER);
        if head[..4] != *b"RSMI" || head[4..6] != VERSION.to_le_bytes() {
            return Err(Error::Bytes("no object of this version"));
        }
        if head[6..8] != (tag as u16).to_le_bytes() {
            return Err(Error::Bytes("an object of another kind"));
        }
        if head[8..24] != *set {
            return Err(Error::OtherParameters);
        }
        if head[24..32] != (payload.len() as u64).to_le_bytes() {
            return Err(Error::Bytes("another length"));
        }
        if sum != XxHash3_64::oneshot(whole).to_le_bytes() {
            return Err(Error::Bytes("damaged"));
        }
        Ok(Self(payload))
    }

    pub fn take(&mut self, count: usize) -> Result<&'b [u8], Error> {
        let (taken, rest) = self
            .0
            .split_at_checked(count)
            .ok_or(Error::Bytes("too short"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let bytes = self.take(N)?;
        bytes.try_into().map_err(|_| Error::Bytes("too short"))
    }

    pub fn u32(&mut self) -> Result<u32, Error> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub fn finish(self) -> Result<(), Error> {
        match self.0 {
            [] => Ok(()),
            _ => Err(Error::Bytes("too long")),
        }
    }
}

/// Residues from their packed bytes. Public data only.
pub(crate) fn unpack(bytes: &[u8], q: &Modulus, out: &mut [u64]) -> Result<(), Error> {
    let bits = q.bits();
    let mut input = Bits {
        bytes,
        held: 0,
        count: 0,
    };
    for value in out {
        let low = input.take(bits.min(32))?;
        *value = low | input.take(bits.saturating_sub(32))? << 32;
        if *value >= q.value {
            return Err(Error::Bytes("a residue that is not below its prime"));
        }
    }
    match (input.held, input.bytes) {
        (0, []) => Ok(()),
        _ => Err(Error::Bytes("a padding that is not zero")),
    }
}

/// Bits of packed bytes, lowest first, read by words.
struct Bits<'b> {
    bytes: &'b [u8],
    held: u64,
    count: u32,
}

impl Bits<'_> {
    /// The next `width` bits, 32 at most.
    fn take(&mut self, width: u32) -> Result<u64, Error> {
        if self.count < width {
            self.load();
        }
        let value = self.held & ((1 << width) - 1);
        self.count = self
            .count
            .checked_sub(width)
            .ok_or(Error::Bytes("too short"))?;
        self.held >>= width;
        Ok(value)
    }

    /// Up to 4 bytes above the fewer than 32 bits that are held.
    fn load(&mut self) {
        if let Some((word, rest)) = self.bytes.split_first_chunk() {
            self.held |= u64::from(u32::from_le_bytes(*word)) << self.count;
            (self.bytes, self.count) = (rest, self.count + 32);
            return;
        }
        for byte in core::mem::take(&mut self.bytes) {
            self.held |= u64::from(*byte) << self.count;
            self.count += 8;
        }
    }
}
