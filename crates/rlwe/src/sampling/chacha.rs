// SPDX-License-Identifier: Apache-2.0
//! The ChaCha20 keystream (Bernstein, 2008) in batches of sixteen blocks: 20 rounds, 64-bit block counter from 0, nonce
//! 0.
//!
//! With AVX-512 a register holds the same word of sixteen blocks; elsewhere `rand_chacha` makes the same bytes.
//! Constant time.

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

/// Blocks made together.
const LANES: usize = 16;
/// Bytes made together.
pub(crate) const BATCH: usize = 64 * LANES;

/// A keystream.
pub(crate) enum ChaCha20 {
    /// Sixteen lanes.
    #[cfg(target_arch = "x86_64")]
    Wide(wide::Stream),
    /// The portable generator. (Boxed: it buffers four blocks of its own.)
    Plain(Box<ChaCha20Rng>),
}

impl ChaCha20 {
    /// The stream of a key.
    pub fn new(key: [u8; 32]) -> Self {
        #[cfg(target_arch = "x86_64")]
        if zq::simd::level() >= zq::simd::Level::Avx512 {
            return Self::Wide(wide::Stream::new(key));
        }
        Self::Plain(Box::new(ChaCha20Rng::from_seed(key)))
    }

    /// The next [`BATCH`] bytes.
    pub fn next(&mut self, out: &mut [u8; BATCH]) {
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this variant is only made on processors with AVX-512 F.
            Self::Wide(stream) => unsafe { stream.next(out) },
            Self::Plain(rng) => rng.fill_bytes(out),
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{BATCH, LANES};
    use core::arch::x86_64::*;
    use zeroize::{Zeroize, ZeroizeOnDrop};

    /// "expand 32-byte k" as four words.
    const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

    #[derive(Zeroize, ZeroizeOnDrop)]
    pub(crate) struct Stream {
        key: [u32; 8],
        pub(super) counter: u64,
    }

    impl Stream {
        pub fn new(key: [u8; 32]) -> Self {
            let (bytes, _) = key.as_chunks::<4>();
            let mut words = [0; 8];
            for (word, bytes) in words.iter_mut().zip(bytes) {
                *word = u32::from_le_bytes(*bytes);
            }
            Self {
                key: words,
                counter: 0,
            }
        }

        #[target_feature(enable = "avx512f")]
        pub fn next(&mut self, out: &mut [u8; BATCH]) {
            let start = self.start();
            self.counter = self.counter.wrapping_add(LANES as u64);
            let mut x = start;
            for _ in 0..10 {
                quarter::<0, 4, 8, 12>(&mut x);
                quarter::<1, 5, 9, 13>(&mut x);
                quarter::<2, 6, 10, 14>(&mut x);
                quarter::<3, 7, 11, 15>(&mut x);
                quarter::<0, 5, 10, 15>(&mut x);
                quarter::<1, 6, 11, 12>(&mut x);
                quarter::<2, 7, 8, 13>(&mut x);
                quarter::<3, 4, 9, 14>(&mut x);
            }
            for (x, start) in x.iter_mut().zip(start) {
                *x = _mm512_add_epi32(*x, start);
            }
            for group in 0..4 {
                write_words(
                    [
                        x[4 * group],
                        x[4 * group + 1],
                        x[4 * group + 2],
                        x[4 * group + 3],
                    ],
                    group,
                    out,
                );
            }
        }

        /// Word w of sixteen blocks in register w.
        #[inline]
        #[target_feature(enable = "avx512f")]
        fn start(&self) -> [__m512i; 16] {
            let mut x = [_mm512_setzero_si512(); 16];
            for (x, word) in x.iter_mut().zip(CONSTANTS.iter().chain(&self.key)) {
                *x = _mm512_set1_epi32(*word as i32);
            }
            let (mut low, mut high) = ([0u32; LANES], [0u32; LANES]);
            for lane in 0..LANES {
                let counter = self.counter.wrapping_add(lane as u64);
                (low[lane], high[lane]) = (counter as u32, (counter >> 32) as u32);
            }
            // SAFETY: both arrays are 64 bytes long; the loads need no alignment.
            unsafe {
                x[12] = _mm512_loadu_si512(low.as_ptr().cast());
                x[13] = _mm512_loadu_si512(high.as_ptr().cast());
            }
            x
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn quarter<const A: usize, const B: usize, const C: usize, const D: usize>(
        x: &mut [__m512i; 16],
    ) {
        x[A] = _mm512_add_epi32(x[A], x[B]);
        x[D] = _mm512_rol_epi32::<16>(_mm512_xor_si512(x[D], x[A]));
        x[C] = _mm512_add_epi32(x[C], x[D]);
        x[B] = _mm512_rol_epi32::<12>(_mm512_xor_si512(x[B], x[C]));
        x[A] = _mm512_add_epi32(x[A], x[B]);
        x[D] = _mm512_rol_epi32::<8>(_mm512_xor_si512(x[D], x[A]));
        x[C] = _mm512_add_epi32(x[C], x[D]);
        x[B] = _mm512_rol_epi32::<7>(_mm512_xor_si512(x[B], x[C]));
    }

    /// Words 4·group .. 4·group+4 of all blocks to their places, by transposing 4×4 words in each 128 bits.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn write_words(rows: [__m512i; 4], group: usize, out: &mut [u8; BATCH]) {
        let (a, b) = (
            _mm512_unpacklo_epi32(rows[0], rows[1]),
            _mm512_unpackhi_epi32(rows[0], rows[1]),
        );
        let (c, d) = (
            _mm512_unpacklo_epi32(rows[2], rows[3]),
            _mm512_unpackhi_epi32(rows[2], rows[3]),
        );
        // In lane k of four, register j holds the words of block 4k + j.
        let blocks = [
            _mm512_unpacklo_epi64(a, c),
            _mm512_unpackhi_epi64(a, c),
            _mm512_unpacklo_epi64(b, d),
            _mm512_unpackhi_epi64(b, d),
        ];
        for (j, block) in blocks.into_iter().enumerate() {
            let mut lanes = [0u8; 64];
            // SAFETY: 64 bytes are written, without alignment.
            unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), block) };
            for (k, lane) in lanes.as_chunks::<16>().0.iter().enumerate() {
                let at = 64 * (4 * k + j) + 16 * group;
                out[at..at + 16].copy_from_slice(lane);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(key: [u8; 32]) -> (ChaCha20, ChaCha20) {
        (
            ChaCha20::new(key),
            ChaCha20::Plain(Box::new(ChaCha20Rng::from_seed(key))),
        )
    }

    #[test]
    fn lanes_agree_with_an_independent_implementation() {
        let (mut ours, mut theirs) = both(std::array::from_fn(|i| (i * 7 + 3) as u8));
        for batch in 0..5 {
            let (mut a, mut b) = ([0; BATCH], [0; BATCH]);
            ours.next(&mut a);
            theirs.next(&mut b);
            assert_eq!(a, b, "batch {batch}");
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_counter_carries_into_its_high_word() {
        let (mut ours, theirs) = both([9; 32]);
        let ChaCha20::Wide(stream) = &mut ours else {
            return;
        };
        stream.counter = (1 << 32) - 8;
        let ChaCha20::Plain(mut theirs) = theirs else {
            return;
        };
        theirs.set_word_pos(((1 << 32) - 8) * 16);
        let (mut a, mut b) = ([0; BATCH], [0; BATCH]);
        ours.next(&mut a);
        theirs.fill_bytes(&mut b);
        assert_eq!(a, b);
    }
}
