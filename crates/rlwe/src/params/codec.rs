// SPDX-License-Identifier: Apache-2.0
//! A parameter set as bytes.

use super::literal_codec::{decode, encode};
use super::{Limits, RlweParams, RlweParamsLiteral};
use crate::Error;
use crate::security::SecurityPolicy;
use crate::wire::{self, Fingerprint, Reader, Tag, WireError, Writer};
use zq::Word;

impl<W: Word> RlweParamsLiteral<W> {
    /// Writes the payload of the set that this literal gives, for formats that contain it.
    #[inline(never)]
    pub fn write(&self, out: &mut Writer) {
        out.bytes(encode(self).as_bytes());
    }

    /// Reads what [`RlweParamsLiteral::write`] wrote: the form of the bytes is checked here, the set by
    /// [`RlweParams::new`].
    ///
    /// # Errors
    /// [`Error::Wire`] for bytes no writer produces.
    #[inline(never)]
    pub fn read(input: &mut Reader<'_>) -> Result<Self, Error> {
        decode(input)
    }

    #[inline(never)]
    fn to_bytes(&self) -> Vec<u8> {
        encode(self).seal(Tag::RlweParams, Fingerprint::default())
    }
}

impl<W: Word> RlweParams<W> {
    /// The set as an object of the byte format.
    #[inline(never)]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.literal().to_bytes()
    }

    /// Reads [`RlweParams::to_bytes`]; the reader's own policy applies, and the default [`Limits`].
    ///
    /// # Errors
    /// [`Error::Wire`] for bytes no writer produces, [`Error::Limit`], and everything [`RlweParams::new`] refuses.
    #[inline(never)]
    pub fn from_bytes(bytes: &[u8], policy: SecurityPolicy) -> Result<Self, Error> {
        Self::from_bytes_within(bytes, policy, &Limits::default())
    }

    /// [`RlweParams::from_bytes`] with other limits.
    ///
    /// # Errors
    /// As [`RlweParams::from_bytes`].
    #[inline(never)]
    pub fn from_bytes_within(
        bytes: &[u8],
        policy: SecurityPolicy,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let payload = wire::open_params(Tag::RlweParams, bytes)?;
        let mut input = Reader::new(payload);
        let literal = RlweParamsLiteral::read(&mut input)?;
        input.finish()?;
        limits.check(&literal, 0)?;
        literal.check_ring(policy)?;
        wire::check_canonical(bytes, &literal.to_bytes())?;
        Self::new(&literal, policy)
    }
}

/// The word size a set of parameter bytes is for: 64 or 128 (of an [`RlweParams`] object or a scheme's, which starts
/// alike).
///
/// # Errors
/// [`WireError`] when the bytes are no parameter object.
pub fn word_bits_of(bytes: &[u8]) -> Result<u32, WireError> {
    let (header, payload) = wire::open(bytes)?;
    if !matches!(
        header.tag,
        Tag::RlweParams | Tag::BfvParams | Tag::CkksParams
    ) {
        return Err(WireError::Tag {
            got: format!("{:?}", header.tag),
            expected: Tag::RlweParams,
        });
    }
    match Reader::new(payload).u8("the word size")? {
        bits @ (64 | 128) => Ok(u32::from(bits)),
        got => Err(WireError::Value {
            what: "the word size",
            got: u64::from(got),
            allowed: "64, 128".into(),
        }),
    }
}
