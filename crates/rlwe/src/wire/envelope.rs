// SPDX-License-Identifier: Apache-2.0
//! Header and checksum around a payload, and why bytes are refused.

use sha2::{Digest, Sha256};
use std::hash::Hasher as _;
use twox_hash::XxHash3_64;
use twox_hash::xxhash3_64::Hasher;

/// First bytes of every object.
pub const MAGIC: [u8; 4] = *b"RSMI";
/// The version this build writes and reads.
pub const VERSION: u16 = 3;
/// Bytes before the payload.
pub const HEADER_LEN: usize = 32;
/// Bytes after the payload.
pub const CHECKSUM_LEN: usize = 8;

/// Identifies a parameter set: the first 16 bytes of SHA-256 of its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Fingerprint(pub [u8; 16]);

impl Fingerprint {
    /// The fingerprint of an encoded parameter set.
    pub fn of(payload: &[u8]) -> Self {
        let digest = Sha256::digest(payload);
        Self(digest[..16].try_into().expect("16 of 32 bytes"))
    }
}

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0[..6].iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

/// The type of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Tag {
    /// Ring-LWE parameters.
    RlweParams = 1,
    /// BFV parameters.
    BfvParams = 2,
    /// CKKS parameters.
    CkksParams = 3,
    /// Secret key.
    SecretKey = 16,
    /// Public key.
    PublicKey = 17,
    /// Relinearisation key.
    RelinKey = 18,
    /// Galois keys.
    GaloisKeys = 19,
    /// Public key over Q·P.
    ExtendedPublicKey = 20,
    /// Keys to a sparse secret and back.
    EncapsulationKeys = 21,
    /// Relinearisation key with both halves.
    WholeRelinKey = 22,
    /// Galois keys with both halves.
    WholeGaloisKeys = 23,
    /// Public key with both halves.
    WholePublicKey = 24,
    /// Public key over Q·P with both halves.
    WholeExtendedPublicKey = 25,
    /// BFV plaintext.
    BfvPlaintext = 32,
    /// BFV ciphertext.
    BfvCiphertext = 33,
    /// CKKS plaintext.
    CkksPlaintext = 48,
    /// CKKS ciphertext.
    CkksCiphertext = 49,
    /// Keys of a bootstrapping.
    BootstrapKeys = 50,
    /// Homomorphic program.
    Program = 64,
    /// Labelled objects that travel beside a program.
    Message = 65,
}

impl Tag {
    /// Every tag.
    pub const ALL: [Self; 20] = [
        Self::RlweParams,
        Self::BfvParams,
        Self::CkksParams,
        Self::SecretKey,
        Self::PublicKey,
        Self::RelinKey,
        Self::GaloisKeys,
        Self::ExtendedPublicKey,
        Self::EncapsulationKeys,
        Self::WholeRelinKey,
        Self::WholeGaloisKeys,
        Self::WholePublicKey,
        Self::WholeExtendedPublicKey,
        Self::BfvPlaintext,
        Self::BfvCiphertext,
        Self::CkksPlaintext,
        Self::CkksCiphertext,
        Self::BootstrapKeys,
        Self::Program,
        Self::Message,
    ];

    fn from_u16(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|t| *t as u16 == code)
    }
}

/// Why bytes were refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// Too short to hold what it announces.
    #[error("truncated: {what} needs {needed} bytes, {left} are left")]
    Truncated {
        /// The field being read.
        what: &'static str,
        /// Bytes it needs.
        needed: u64,
        /// Bytes there are.
        left: usize,
    },
    /// Not one of our files.
    #[error("not a ringsmith object: it starts with {0:02x?}, not \"RSMI\"")]
    Magic([u8; 4]),
    /// Written by another version.
    #[error("format version {0}; this build reads version {VERSION}")]
    Version(u16),
    /// Another kind of object.
    #[error("the object is {got}, expected {expected:?}")]
    Tag {
        /// The tag found.
        got: String,
        /// The tag wanted.
        expected: Tag,
    },
    /// Bytes after the end.
    #[error("{0} bytes are left over after the end of the object")]
    Trailing(usize),
    /// Damaged.
    #[error("checksum mismatch: the object is damaged")]
    Checksum,
    /// A value that no writer produces.
    #[error("{what} is {got}; allowed: {allowed}")]
    Value {
        /// The field.
        what: &'static str,
        /// The value found.
        got: u64,
        /// The allowed values.
        allowed: String,
    },
    /// Bytes that stand for an object, but not the ones that writers produce.
    #[error("not the canonical encoding: the same object is written with another byte {at}")]
    NotCanonical {
        /// Offset in bytes of the first difference.
        at: usize,
    },
    /// A residue that is not reduced.
    #[error("a residue of modulus number {limb} is not below the modulus")]
    Residue {
        /// Index of the modulus in its chain.
        limb: usize,
    },
}

/// The envelope's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The object's type.
    pub tag: Tag,
    /// Its parameter set.
    pub params: Fingerprint,
    /// Payload length in bytes.
    pub payload_len: usize,
}

/// Header and checksum of an object whose payload lies in pieces: [`super::seal`] without a copy of them.
pub fn envelope(
    tag: Tag,
    params: Fingerprint,
    payload: &[&[u8]],
) -> ([u8; HEADER_LEN], [u8; CHECKSUM_LEN]) {
    let header = header(tag, params, payload.iter().map(|piece| piece.len()).sum());
    let mut hasher = Hasher::new();
    hasher.write(&header);
    payload.iter().for_each(|piece| hasher.write(piece));
    (header, hasher.finish().to_le_bytes())
}

/// The bytes before a payload.
pub(super) fn header(tag: Tag, params: Fingerprint, payload_len: usize) -> [u8; HEADER_LEN] {
    let mut out = [0; HEADER_LEN];
    let mut rest = &mut out[..];
    for field in [
        &MAGIC[..],
        &VERSION.to_le_bytes(),
        &(tag as u16).to_le_bytes(),
        &params.0,
        &(payload_len as u64).to_le_bytes(),
    ] {
        let (place, behind) = rest.split_at_mut(field.len());
        place.copy_from_slice(field);
        rest = behind;
    }
    out
}

/// Checks an object's envelope, length and checksum; returns its header and payload.
///
/// # Errors
/// [`WireError`] naming the first thing that is wrong.
pub fn open(bytes: &[u8]) -> Result<(Header, &[u8]), WireError> {
    let header = inspect(bytes)?;
    let end = HEADER_LEN + header.payload_len;
    if checksum(&bytes[..end]) != bytes[end..] {
        return Err(WireError::Checksum);
    }
    Ok((header, &bytes[HEADER_LEN..end]))
}

/// Like [`open`], and the object must have this tag.
///
/// # Errors
/// [`WireError`] naming the first thing that is wrong.
pub fn open_as(tag: Tag, bytes: &[u8]) -> Result<(Header, &[u8]), WireError> {
    let header = inspect(bytes)?;
    if header.tag != tag {
        return Err(WireError::Tag {
            got: format!("{:?}", header.tag),
            expected: tag,
        });
    }
    open(bytes)
}

/// Like [`open_as`], for parameter sets, which belong to no other set: the fingerprint field is zero.
///
/// # Errors
/// [`WireError`] naming the first thing that is wrong.
pub fn open_params(tag: Tag, bytes: &[u8]) -> Result<&[u8], WireError> {
    let (header, payload) = open_as(tag, bytes)?;
    if header.params != Fingerprint::default() {
        let got = u64::from_le_bytes(header.params.0[..8].try_into().expect("8 bytes"));
        return Err(WireError::Value {
            what: "a parameter set's fingerprint field",
            got,
            allowed: "0".into(),
        });
    }
    Ok(payload)
}

/// Fails unless an object is `written` with the very bytes it was `read` from: one object has one encoding.
///
/// # Errors
/// [`WireError::NotCanonical`].
pub fn check_canonical(read: &[u8], written: &[u8]) -> Result<(), WireError> {
    if read == written {
        return Ok(());
    }
    let same = read.iter().zip(written).take_while(|(a, b)| a == b).count();
    Err(WireError::NotCanonical { at: same })
}

/// Reads the header of an object whose total length must fit; the checksum is not looked at.
///
/// # Errors
/// [`WireError`] naming the first thing that is wrong.
pub fn inspect(bytes: &[u8]) -> Result<Header, WireError> {
    let least = HEADER_LEN + CHECKSUM_LEN;
    if bytes.len() < least {
        return Err(WireError::Truncated {
            what: "the envelope",
            needed: least as u64,
            left: bytes.len(),
        });
    }
    let field = |at: usize, len: usize| &bytes[at..at + len];
    let magic: [u8; 4] = field(0, 4).try_into().expect("4 bytes");
    if magic != MAGIC {
        return Err(WireError::Magic(magic));
    }
    let version = u16::from_le_bytes(field(4, 2).try_into().expect("2 bytes"));
    if version != VERSION {
        return Err(WireError::Version(version));
    }
    let code = u16::from_le_bytes(field(6, 2).try_into().expect("2 bytes"));
    let tag = Tag::from_u16(code).ok_or(WireError::Value {
        what: "the type tag",
        got: u64::from(code),
        allowed: "a tag of the byte format (`ringsmith help format`)".into(),
    })?;
    let params = Fingerprint(field(8, 16).try_into().expect("16 bytes"));
    let length = u64::from_le_bytes(field(24, 8).try_into().expect("8 bytes"));
    let there = bytes.len() - least;
    match usize::try_from(length) {
        Ok(n) if n == there => Ok(Header {
            tag,
            params,
            payload_len: n,
        }),
        Ok(n) if n < there => Err(WireError::Trailing(there - n)),
        _ => Err(WireError::Truncated {
            what: "the payload",
            needed: length,
            left: there,
        }),
    }
}

/// It finds damage, not forgery, so it need not be a cryptographic hash: one took longer than all else of a
/// ciphertext's reading and writing.
pub(crate) fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_LEN] {
    XxHash3_64::oneshot(bytes).to_le_bytes()
}
