// SPDX-License-Identifier: Apache-2.0
//! The loops of [`crate::kernel`] on 52-bit multiply-add, for moduli below 2^50.
//!
//! Sums of products are kept as the sum of their low and the sum of their high 52 bits, in two lanes, and reduced once:
//! two multiplications per term and no other work. All sums are integers, so the results are those of the portable loops.

use core::arch::x86_64::*;

use zq::simd::{Avx512, Ifma, Ifma52, Level, Vector, level, sum_fits};

type V = Avx512;

/// Vectors at a time: eight chains of additions hide the latency of four cycles on two ports.
const TILE: usize = 4;
/// Elements at a time; block lengths that are no multiple take the portable loop.
pub(crate) const STEP: usize = TILE * V::LANES;

/// Whether sums of `terms` products of values below `2^bits` and residues below `2^bits` run here.
pub(crate) fn available(bits: u32, terms: usize) -> bool {
    level() == Level::Ifma && bits <= Ifma52::<V>::MAX_BITS && sum_fits(terms, 2 * bits)
}

/// `rows` of equal stride to `v = floor((Σ_i y_i C_i + 2^(F-1)) / 2^F)`, for `C_i < 2^52` and `F > 52`.
///
/// # Safety
/// The level is IFMA, `y` holds `reciprocals.len()` rows of `stride >= v.len()` words below 2^52, `v.len()` is a multiple of
/// [`STEP`].
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(crate) unsafe fn quotients(
    y: &[u64],
    stride: usize,
    reciprocals: &[u64],
    fraction_bits: u32,
    v: &mut [u64],
) {
    debug_assert!(
        v.len().is_multiple_of(STEP) && y.len() >= reciprocals.len() * stride && fraction_bits > 52
    );
    // SAFETY: features by this function's own; rows are long enough.
    unsafe {
        let half = V::splat(1 << (fraction_bits - 53));
        for c in (0..v.len()).step_by(STEP) {
            let (lo, hi) = sums(y.as_ptr().add(c), stride, reciprocals, None);
            for t in 0..TILE {
                // 2^(F-1) is a whole number of high halves.
                let sum = hi[t].add(lo[t].shr::<52>()).add(half);
                sum.shr_by(fraction_bits - 52)
                    .store(v.as_mut_ptr().add(c + t * V::LANES));
            }
        }
    }
}

/// `out = own a + Σ_i y_i m_i mod p`.
///
/// # Safety
/// As [`quotients`] with `row` for the reciprocals and `out` for `v`; `own`, if given, is as long as `out`; [`available`] for
/// the terms.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(crate) unsafe fn output(
    p: u64,
    y: &[u64],
    stride: usize,
    row: &[u64],
    own: Option<(&[u64], u64)>,
    out: &mut [u64],
) {
    debug_assert!(
        out.len().is_multiple_of(STEP) && y.len() >= (row.len() - 1) * stride + out.len()
    );
    debug_assert!(own.is_none_or(|(o, _)| o.len() == out.len()));
    // SAFETY: as `quotients`.
    unsafe {
        let m = Ifma52::<V>::new(p);
        for c in (0..out.len()).step_by(STEP) {
            let own = own.map(|(o, a)| (o.as_ptr().add(c), a));
            let (lo, hi) = sums(y.as_ptr().add(c), stride, row, own);
            for t in 0..TILE {
                m.reduce_sum(lo[t], hi[t])
                    .store(out.as_mut_ptr().add(c + t * V::LANES));
            }
        }
    }
}

/// The low and high sums of `own a + Σ_i y_i f_i` for [`STEP`] columns.
#[inline(always)]
unsafe fn sums(
    y: *const u64,
    stride: usize,
    factors: &[u64],
    own: Option<(*const u64, u64)>,
) -> ([V; TILE], [V; TILE]) {
    // SAFETY: as `quotients`.
    unsafe {
        let zero = V::splat(0);
        let (mut lo, mut hi) = ([zero; TILE], [zero; TILE]);
        if let Some((own, a)) = own {
            add_products(own, V::splat(a), &mut lo, &mut hi);
        }
        for (i, &f) in factors.iter().enumerate() {
            add_products(y.add(i * stride), V::splat(f), &mut lo, &mut hi);
        }
        (lo, hi)
    }
}

#[inline(always)]
unsafe fn add_products(x: *const u64, f: V, lo: &mut [V; TILE], hi: &mut [V; TILE]) {
    for t in 0..TILE {
        // SAFETY: as `quotients`.
        unsafe {
            let x = V::load(x.add(t * V::LANES));
            lo[t] = lo[t].madd_lo(x, f);
            hi[t] = hi[t].madd_hi(x, f);
        }
    }
}

/// `out[j] = input[sources[j]]` where eight neighbouring outputs come from one aligned group of eight inputs, as the values of
/// an automorphism do: their exponents differ in the top three bits only, and so do those of their sources.
///
/// # Safety
/// The processor has AVX-512 F; all slices have the same length, a multiple of 8; sources are below it and grouped as said.
#[target_feature(enable = "avx512f")]
pub(crate) unsafe fn permute_groups(input: &[u64], sources: &[u32], out: &mut [u64]) {
    debug_assert!(
        input.len() == out.len() && sources.len() == out.len() && out.len().is_multiple_of(8)
    );
    for (j, group) in sources.chunks_exact(8).enumerate() {
        let first = (group[0] & !7) as usize;
        debug_assert!(group.iter().all(|&s| (s & !7) as usize == first));
        // SAFETY: eight indices, eight inputs from `first` on, eight outputs; the permutation uses the low three bits.
        unsafe {
            let lanes = _mm512_cvtepu32_epi64(_mm256_loadu_si256(group.as_ptr().cast()));
            let x = _mm512_loadu_si512(input.as_ptr().add(first).cast());
            _mm512_storeu_si512(
                out.as_mut_ptr().add(8 * j).cast(),
                _mm512_permutexvar_epi64(lanes, x),
            );
        }
    }
}
