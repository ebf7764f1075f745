// SPDX-License-Identifier: Apache-2.0
//! A forward transform in two steps, for work that goes on with one block of the results while it is in the caches.
//!
//! The outer stages read a polynomial and leave [`NttPlan::blocks`] blocks, runs of neighbouring results. Each block is
//! finished on its own, in any order. Residues may be of another prime and are lifted as they are read; results may be
//! left unreduced (lazy).

use zq::Word;

use crate::plan::NttPlan;

/// Words between two blocks: an odd number of cache lines.
const PADDING: usize = 24;

/// Lift of residues of another modulus as they are read, to residues of the same centred integer: `x` if
/// `x < threshold`, else `x + shift` in wrapping arithmetic. Words are below 2^63 (of 64 bits), results reduced
/// residues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift<W: Word> {
    /// Smallest word that is shifted.
    pub threshold: W,
    /// The addend.
    pub shift: W,
}

/// How [`NttPlan::forward_block`] leaves its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Reduced residues.
    Reduced,
    /// The low 52 bits are below [`NttPlan::lazy_bound`] times q and congruent to the residue; the bits above mean
    /// nothing.
    Lazy,
}

impl<W: Word> NttPlan<W> {
    /// The vector form, where it has outer stages.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn two_steps(&self) -> Option<&crate::simd::SimdPlan> {
        self.simd.as_ref().filter(|simd| simd.outer_blocks() > 1)
    }

    /// Blocks that the outer stages leave: 1, 2, 4 or 8, at least 64 results each unless it is 1.
    #[inline]
    pub fn blocks(&self) -> usize {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if let Some(simd) = self.two_steps() {
            return simd.outer_blocks();
        }
        1
    }

    /// Lazy results are below this multiple of q, at most 2^52; 1 where there are none and they are reduced.
    #[inline]
    pub fn lazy_bound(&self) -> u64 {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if let Some(simd) = self.two_steps() {
            return simd.lazy_bound();
        }
        1
    }

    /// Words from the start of one block to that of the next in what [`NttPlan::forward_outer`] leaves: more than a
    /// block where there are several. Operands and results of the outer stages stand a power of two apart, in one set
    /// of the first cache level, and more of them than it has ways, unless the blocks are moved.
    #[inline]
    pub fn block_stride(&self) -> usize {
        match self.blocks() {
            1 => self.n(),
            blocks => self.n() / blocks + PADDING,
        }
    }

    /// Words that [`NttPlan::forward_outer`] leaves.
    #[inline]
    pub fn outer_len(&self) -> usize {
        self.blocks() * self.block_stride()
    }

    /// The outer stages of the transform of `from`, lifted, into blocks that stand [`NttPlan::block_stride`] words
    /// apart in `out`.
    ///
    /// # Panics
    /// If `from` is not of length `n` or `out` not of length [`NttPlan::outer_len`].
    #[inline(never)]
    pub fn forward_outer(&self, from: &[W], lift: Option<Shift<W>>, out: &mut [W]) {
        assert!(
            from.len() == self.n() && out.len() == self.outer_len(),
            "slice length is not the transform's"
        );
        self.outer_stages(from, lift, (out, self.block_stride(), 0));
    }

    /// The outer stages of some columns. `from` holds as many neighbouring coefficients for each block, those from
    /// number `start` on of the first, the second, … run of n / blocks coefficients; the results go to the same places
    /// of the blocks, which stand [`NttPlan::block_stride`] words apart in `out`.
    ///
    /// # Panics
    /// If `from` is not of whole columns within the blocks, a multiple of 128 / blocks where there are several blocks,
    /// or `out` not of length [`NttPlan::outer_len`].
    #[inline(never)]
    pub fn forward_outer_columns(&self, from: &[W], start: usize, out: &mut [W]) {
        let columns = from.len() / self.blocks();
        assert!(
            columns * self.blocks() == from.len()
                && start + columns <= self.n() / self.blocks()
                && out.len() == self.outer_len(),
            "columns are not the transform's"
        );
        self.outer_stages(from, None, (out, self.block_stride(), start));
    }

    /// The transform of `from`, lifted, to `out`: reduced residues.
    ///
    /// # Panics
    /// If `from` or `out` is not of length `n`.
    #[inline(never)]
    pub fn forward_from(&self, from: &[W], lift: Option<Shift<W>>, out: &mut [W]) {
        assert!(
            from.len() == self.n() && out.len() == self.n(),
            "slice length is not the transform's"
        );
        let len = self.n() / self.blocks();
        self.outer_stages(from, lift, (out, len, 0));
        for (block, words) in out.chunks_exact_mut(len).enumerate() {
            self.forward_block(block, words, Form::Reduced, [&[]; 3]);
        }
    }

    /// The outer stages, or the lift alone where there are none, from word `start` on of blocks that stand `apart`
    /// words apart.
    fn outer_stages(
        &self,
        from: &[W],
        lift: Option<Shift<W>>,
        (out, apart, start): (&mut [W], usize, usize),
    ) {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if let (Some(simd), Some(from), Some(out)) =
            (self.two_steps(), W::as_u64s(from), W::as_u64s_mut(out))
        {
            let lift = lift.map(|l| [l.threshold.low_u64(), l.shift.low_u64()]);
            return simd.forward_outer(from, lift, &mut out[start..], apart);
        }
        debug_assert_eq!(apart, self.n(), "one block");
        let out = &mut out[start..start + from.len()];
        match lift {
            None => out.copy_from_slice(from),
            Some(Shift { threshold, shift }) => {
                for (o, &x) in out.iter_mut().zip(from) {
                    *o = x.wrapping_add(shift & W::opaque(!x.lt_mask(threshold)));
                }
            }
        }
    }

    /// The remaining stages of block `block`, in place, while the words of `prefetch` are prefetched, each row as long
    /// as the block.
    ///
    /// # Panics
    /// If `block` is not below [`NttPlan::blocks`] or `a` is not a block.
    #[inline(never)]
    pub fn forward_block(&self, block: usize, a: &mut [W], form: Form, prefetch: [&[W]; 3]) {
        let blocks = self.blocks();
        assert!(
            block < blocks && a.len() * blocks == self.n(),
            "slice length is not a block's"
        );
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if let (Some(simd), Some(a)) = (self.two_steps(), W::as_u64s_mut(a)) {
            let rows = prefetch.map(|row| row.as_ptr().cast::<u64>());
            let used = prefetch.iter().take_while(|row| !row.is_empty()).count();
            return simd.forward_block(block, a, form == Form::Lazy, &rows[..used]);
        }
        self.forward(a);
    }
}
