// SPDX-License-Identifier: Apache-2.0
//! Seeds, the ChaCha20 streams grown from them, and the samplers, as docs/format.md has them.

use crate::modulus::Modulus;
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, Zeroizing};

/// η of every error.
pub(crate) const ETA: u32 = 21;

/// 32 random bytes, wiped when dropped.
#[derive(Clone)]
pub(crate) struct Seed(pub Zeroizing<[u8; 32]>);

impl Seed {
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The seed of a role under a parameter set, for the objects that `about` names.
    pub fn bind(&self, role: &str, set: &[u8; 16], about: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"ringsmith.bind.2");
        hash.update(*self.0);
        hash.update([role.len() as u8]);
        hash.update(role.as_bytes());
        hash.update(set);
        about.iter().for_each(|part| hash.update(part));
        Self::new(hash.finalize().into())
    }

    /// The stream of (label, index).
    pub fn stream(&self, label: &str, index: u64) -> Stream {
        let mut hash = Sha256::new();
        hash.update(b"ringsmith.xof.2");
        hash.update(*self.0);
        hash.update([label.len() as u8]);
        hash.update(label.as_bytes());
        hash.update(index.to_le_bytes());
        Stream::new(hash.finalize().into())
    }

    /// The child seed of (label, index).
    pub fn derive(&self, label: &str, index: u64) -> Self {
        let mut bytes = Zeroizing::new([0; 32]);
        self.stream(label, index).fill(&mut *bytes);
        Self(bytes)
    }
}

/// ChaCha20 with a 64-bit block counter and nonce 0 (Bernstein, 2008).
pub(crate) struct Stream {
    key: [u32; 8],
    counter: u64,
    block: [u8; 64],
    used: usize,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.key.zeroize();
        self.block.zeroize();
    }
}

impl Stream {
    fn new(bytes: [u8; 32]) -> Self {
        let (words, _) = bytes.as_chunks::<4>();
        let mut key = [0; 8];
        key.iter_mut()
            .zip(words)
            .for_each(|(word, bytes)| *word = u32::from_le_bytes(*bytes));
        Self {
            key,
            counter: 0,
            block: [0; 64],
            used: 64,
        }
    }

    /// The next bytes.
    pub fn fill(&mut self, out: &mut [u8]) {
        let mut rest = out;
        while !rest.is_empty() {
            if self.used == 64 {
                self.next_block();
            }
            let ready = &self.block[self.used..];
            let (now, later) = rest.split_at_mut(ready.len().min(rest.len()));
            now.copy_from_slice(&ready[..now.len()]);
            self.used += now.len();
            rest = later;
        }
    }

    /// The next 8 bytes as a number.
    fn word(&mut self) -> u64 {
        if self.used == 64 {
            self.next_block();
        }
        if let Some(bytes) = self.block[self.used..].first_chunk() {
            self.used += 8;
            return u64::from_le_bytes(*bytes);
        }
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    fn next_block(&mut self) {
        let mut start = [0; 16];
        start[..4].copy_from_slice(&[0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574]);
        start[4..12].copy_from_slice(&self.key);
        (start[12], start[13]) = (self.counter as u32, (self.counter >> 32) as u32);
        let mut x = start;
        for _ in 0..10 {
            for i in 0..4 {
                quarter(&mut x, [i, 4 + i, 8 + i, 12 + i]);
            }
            for i in 0..4 {
                quarter(
                    &mut x,
                    [i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4],
                );
            }
        }
        for (bytes, (x, start)) in self
            .block
            .as_chunks_mut::<4>()
            .0
            .iter_mut()
            .zip(x.iter().zip(start))
        {
            *bytes = x.wrapping_add(start).to_le_bytes();
        }
        x.zeroize();
        start.zeroize();
        (self.counter, self.used) = (self.counter + 1, 0);
    }
}

fn quarter(x: &mut [u32; 16], [a, b, c, d]: [usize; 4]) {
    for (to, by, turned, bits) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
        x[to] = x[to].wrapping_add(x[by]);
        x[turned] = (x[turned] ^ x[to]).rotate_left(bits);
    }
}

/// Residues uniform modulo q, by rejection: public data only.
pub(crate) fn uniform(mut stream: Stream, q: &Modulus, out: &mut [u64]) {
    let mask = u64::MAX >> (64 - q.bits());
    for value in out {
        *value = loop {
            let word = stream.word() & mask;
            if word < q.value {
                break word;
            }
        };
    }
}

/// Uniform in {−1, 0, 1}: the first 16 digits in base 3 of each 128-bit fraction, minus 1. Constant time.
pub(crate) fn ternary(mut stream: Stream, out: &mut [i8]) {
    let mut bytes = Zeroizing::new([0; 16]);
    for values in out.chunks_mut(16) {
        stream.fill(&mut *bytes);
        let mut fraction = u128::from_le_bytes(*bytes);
        for value in values {
            let low = u128::from(fraction as u64) * 3;
            let high = (fraction >> 64) * 3 + (low >> 64);
            *value = (high >> 64) as i8 - 1;
            fraction = (high << 64) | u128::from(low as u64);
        }
        fraction.zeroize();
    }
}

/// Differences of two sums of η = 21 bits. Constant time.
pub(crate) fn binomial(mut stream: Stream, out: &mut [i8]) {
    let mut bytes = Zeroizing::new([0; 8]);
    for value in out {
        stream.fill(&mut bytes[..6]);
        let word = u64::from_le_bytes(*bytes);
        *value = ones(word) - ones(word >> 24);
    }
}

/// Ones among the lowest η bits, by sums of neighbours: no table, no early end.
fn ones(word: u64) -> i8 {
    let mut x = word & ((1 << ETA) - 1);
    x -= (x >> 1) & 0x5555_5555;
    x = (x & 0x3333_3333) + ((x >> 2) & 0x3333_3333);
    x = (x + (x >> 4)) & 0x0f0f_0f0f;
    ((x * 0x0101_0101) >> 24) as u8 as i8
}
