// SPDX-License-Identifier: Apache-2.0
//! Seeds and the extendable-output streams grown from them.
//!
//! A stream is ChaCha20 (20 rounds, 64-bit block counter, zero nonce) under the key
//! `SHA-256("ringsmith.xof.1" ‖ seed ‖ len(label) as u8 ‖ label ‖ index as u64 LE)`; its bytes are consumed in order.

use crate::Error;
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Domain that separates these streams from any other use of SHA-256.
const DOMAIN: &[u8] = b"ringsmith.xof.1";

/// 32 secret or public random bytes. Wiped on drop; its content is never printed.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct Seed([u8; 32]);

impl std::fmt::Debug for Seed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seed(..)")
    }
}

impl Seed {
    /// Wraps 32 bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Draws a seed from the operating system.
    ///
    /// # Errors
    /// [`Error::Entropy`] when the system has no randomness to give.
    pub fn random() -> Result<Self, Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|e| Error::Entropy(e.to_string()))?;
        Ok(Self(bytes))
    }

    /// The reproducible seed of a text, `SHA-256(text)` (the command line's `--seed`).
    pub fn from_text(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// The child seed of `(label, index)`: the first 32 bytes of that stream.
    pub fn derive(&self, label: &str, index: u64) -> Self {
        let mut bytes = [0; 32];
        self.stream(label, index).fill(&mut bytes);
        Self(bytes)
    }

    /// The stream of `(label, index)`.
    pub fn stream(&self, label: &str, index: u64) -> Xof {
        debug_assert!(label.len() < 256);
        let mut hash = Sha256::new();
        hash.update(DOMAIN);
        hash.update(self.0);
        hash.update([label.len() as u8]);
        hash.update(label.as_bytes());
        hash.update(index.to_le_bytes());
        Xof::new(hash.finalize().into())
    }
}

/// A deterministic byte stream.
pub struct Xof {
    rng: ChaCha20Rng,
    /// Bytes of a 32-bit word already generated but not yet handed out, in its last `left` places.
    word: [u8; 4],
    left: usize,
}

impl Xof {
    fn new(key: [u8; 32]) -> Self {
        Self {
            rng: ChaCha20Rng::from_seed(key),
            word: [0; 4],
            left: 0,
        }
    }

    /// Fills `out` with the next bytes of the stream.
    pub fn fill(&mut self, mut out: &mut [u8]) {
        // The generator drops the rest of a 32-bit word; keep it, so that the stream is one of bytes.
        while self.left > 0 && !out.is_empty() {
            out[0] = self.word[4 - self.left];
            self.left -= 1;
            out = &mut out[1..];
        }
        let (body, tail) = out.split_at_mut(out.len() & !3);
        self.rng.fill_bytes(body);
        if !tail.is_empty() {
            self.rng.fill_bytes(&mut self.word);
            tail.copy_from_slice(&self.word[..tail.len()]);
            self.left = 4 - tail.len();
        }
    }
}

impl Drop for Xof {
    fn drop(&mut self) {
        self.word.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_reproducible_and_separated() {
        let seed = Seed::from_text("x");
        let take = |s: &Seed, label, index| {
            let mut b = [0; 16];
            s.stream(label, index).fill(&mut b);
            b
        };
        assert_eq!(take(&seed, "a", 0), take(&seed, "a", 0));
        assert_ne!(take(&seed, "a", 0), take(&seed, "a", 1));
        assert_ne!(take(&seed, "a", 0), take(&seed, "b", 0));
        assert_ne!(take(&seed, "a", 0), take(&Seed::from_text("y"), "a", 0));
    }

    #[test]
    fn a_stream_does_not_depend_on_how_it_is_read() {
        // Odd-sized reads must not skip bytes.
        let seed = Seed::from_text("chunks");
        let mut whole = [0; 300];
        seed.stream("a", 7).fill(&mut whole);
        for size in [1, 3, 4, 7, 64] {
            let (mut parts, mut stream) = ([0; 300], seed.stream("a", 7));
            parts.chunks_mut(size).for_each(|chunk| stream.fill(chunk));
            assert_eq!(whole, parts, "read {size} bytes at a time");
        }
    }

    #[test]
    fn debug_shows_nothing() {
        assert_eq!(format!("{:?}", Seed::from_bytes([7; 32])), "Seed(..)");
    }

    #[test]
    fn known_stream() {
        // Pinned so that a change of the construction cannot go unnoticed; recomputed by tests/oracle.
        let seed = Seed::from_bytes([0; 32]);
        let child = seed.derive("known", 1);
        let hex: String = child.as_bytes()[..8]
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        assert_eq!(hex, "e4f41b55742d7c98");
    }
}
