// SPDX-License-Identifier: Apache-2.0
//! The core of the byte format: envelope, bounded reader, writer, bit-packed residues. `docs/format.md` describes it.
//!
//! ```text
//! offset size  field (little-endian)
//!  0      4    magic "RSMI"
//!  4      2    format version (3)
//!  6      2    type tag
//!  8     16    fingerprint of the parameter set (zero in a parameter set itself)
//! 24      8    payload length N
//! 32      N    payload
//! 32+N    8    checksum: XXH3 of 64 bits over everything before
//! ```
//! A decoder never trusts a length: each is checked against the bytes that are there before anything is allocated.

pub(crate) mod envelope;
mod packing;
mod reader;
mod writer;

pub use envelope::{
    CHECKSUM_LEN, Fingerprint, HEADER_LEN, Header, MAGIC, Tag, VERSION, WireError, check_canonical,
    envelope, inspect, open, open_as, open_params,
};
pub use packing::packed_len;
pub use reader::Reader;
pub use writer::{Writer, seal};

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        seal(Tag::RelinKey, Fingerprint([3; 16]), b"payload")
    }

    #[test]
    fn round_trip() {
        let bytes = sample();
        let (header, payload) = open(&bytes).unwrap();
        assert_eq!(
            (header.tag, header.params),
            (Tag::RelinKey, Fingerprint([3; 16]))
        );
        assert_eq!(payload, b"payload");
    }

    #[test]
    fn every_bit_flip_and_every_cut_is_noticed() {
        let bytes = sample();
        for bit in 0..8 * bytes.len() {
            let mut bad = bytes.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(open(&bad).is_err(), "bit {bit}");
        }
        for len in 0..bytes.len() {
            assert!(
                matches!(open(&bytes[..len]), Err(WireError::Truncated { .. })),
                "length {len}"
            );
        }
        let longer = [bytes, vec![0]].concat();
        assert_eq!(open(&longer), Err(WireError::Trailing(1)));
    }

    #[test]
    fn version_magic_length_and_tag_have_their_own_errors() {
        let set = |at: usize, b: &[u8]| {
            let mut bytes = sample();
            bytes[at..at + b.len()].copy_from_slice(b);
            open(&bytes).unwrap_err()
        };
        assert_eq!(set(4, &[1, 0]), WireError::Version(1));
        assert_eq!(set(4, &[2, 0]), WireError::Version(2));
        assert_eq!(set(0, b"ZIP!"), WireError::Magic(*b"ZIP!"));
        assert!(matches!(
            set(24, &[0xff; 8]),
            WireError::Truncated {
                needed: u64::MAX,
                ..
            }
        ));
        assert!(matches!(
            set(6, &[0, 9]),
            WireError::Value { got: 0x900, .. }
        ));
        assert!(matches!(
            open_as(Tag::SecretKey, &sample()),
            Err(WireError::Tag {
                expected: Tag::SecretKey,
                ..
            })
        ));
    }
}
