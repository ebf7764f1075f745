// SPDX-License-Identifier: Apache-2.0
//! The byte format (docs/format.md): envelopes, residues packed at the width of their prime.

use crate::modulus::Modulus;
use crate::params::Error;
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
        let mut out = self.0[place..place + length].iter_mut();
        let (mut held, mut count) = (0u128, 0);
        for residue in residues {
            held |= u128::from(*residue) << count;
            count += bits;
            while count >= 8 {
                if let Some(byte) = out.next() {
                    *byte = held as u8;
                }
                (held, count) = (held >> 8, count - 8);
            }
        }
        if let Some(byte) = out.next() {
            *byte = held as u8;
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
    let (bits, mut bytes) = (q.bits(), bytes.iter());
    let (mut held, mut count) = (0u128, 0);
    for value in out {
        while count < bits {
            let byte = bytes.next().ok_or(Error::Bytes("too short"))?;
            held |= u128::from(*byte) << count;
            count += 8;
        }
        *value = held as u64 & (u64::MAX >> (64 - bits));
        (held, count) = (held >> bits, count - bits);
        if *value >= q.value {
            return Err(Error::Bytes("a residue that is none"));
        }
    }
    match (held, bytes.next()) {
        (0, None) => Ok(()),
        _ => Err(Error::Bytes("a padding that is not zero")),
    }
}
