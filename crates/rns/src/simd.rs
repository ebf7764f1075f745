// SPDX-License-Identifier: Apache-2.0
//! The loops of [`crate::kernel`] on 52-bit multiplication, for moduli below 2^50.
//!
//! Sums of products are kept as the sum of their low and the sum of their high 52 bits, in two lanes, and reduced once.
//! All sums are integers, so the results are those of the portable loops.

use core::arch::x86_64::*;

use zq::simd::{Doubles, Integers, Level, Multiply52, level, sum_fits};

/// Vectors at a time: eight chains of additions hide the latency of four cycles on two ports.
const TILE: usize = 4;
/// Elements of a vector.
const LANES: usize = 8;
/// Elements at a time; block lengths that are no multiple take the portable loop.
pub(crate) const STEP: usize = TILE * LANES;
/// Largest modulus, in bits.
const MAX_BITS: u32 = 50;

/// Whether sums of `terms` products of values below `2^bits` and residues below `2^bits` run here.
pub(crate) fn available(bits: u32, terms: usize) -> bool {
    level() >= Level::Avx512 && bits <= MAX_BITS && sum_fits(terms, 2 * bits)
}

/// `rows` of equal stride to `v = floor((Σ_i y_i C_i + 2^(F-1)) / 2^F)`, for `C_i < 2^52` and `F > 52`.
///
/// # Safety
/// [`available`]; `y` holds `reciprocals.len()` rows of `stride >= v.len()` words below 2^52,
/// `v.len()` is a multiple of [`STEP`].
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
    // SAFETY: rows are as long as the caller says; `available` means AVX-512 F and DQ, and level `Ifma` IFMA as well.
    unsafe {
        match level() {
            Level::Ifma => with_integers::quotients(y, stride, reciprocals, fraction_bits, v),
            _ => with_doubles::quotients(y, stride, reciprocals, fraction_bits, v),
        }
    }
}

/// A modulus p below 2^50, with `2^52 mod p` and `floor((2^52 mod p) 2^52 / p)`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Narrow {
    p: u64,
    carry: u64,
    quotient: u64,
}

impl Narrow {
    pub(crate) fn new(p: u64) -> Self {
        let carry = (1u64 << 52) % p;
        let quotient = ((u128::from(carry) << 52) / u128::from(p)) as u64;
        Self { p, carry, quotient }
    }
}

/// `out = own a + Σ_i y_i m_i mod p`.
///
/// # Safety
/// As [`quotients`] with `row` for the reciprocals and `out` for `v`; `own`, if given, is as long as `out`;
/// [`available`] for the terms.
pub(crate) unsafe fn output(
    p: Narrow,
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
    // SAFETY: the caller vouches for rows and `own`; `available` means AVX-512 F and DQ, level `Ifma` also IFMA.
    unsafe {
        match level() {
            Level::Ifma => with_integers::output(p, y, stride, row, own, out),
            _ => with_doubles::output(p, y, stride, row, own, out),
        }
    }
}

/// The loops compiled for one multiplication.
macro_rules! loops {
    ($name:ident, $multiply:ty, $features:literal) => {
        mod $name {
            use super::*;

            /// # Safety
            /// As [`super::quotients`], and the processor has the features.
            #[target_feature(enable = $features)]
            pub unsafe fn quotients(
                y: &[u64],
                stride: usize,
                reciprocals: &[u64],
                fraction_bits: u32,
                v: &mut [u64],
            ) {
                // SAFETY: this function enables the features of the multiplication; `y` has its rows (caller).
                unsafe { quotients_of::<$multiply>(y, stride, reciprocals, fraction_bits, v) }
            }

            /// # Safety
            /// As [`super::output`], and the processor has the features.
            #[target_feature(enable = $features)]
            pub unsafe fn output(
                p: Narrow,
                y: &[u64],
                stride: usize,
                row: &[u64],
                own: Option<(&[u64], u64)>,
                out: &mut [u64],
            ) {
                // SAFETY: this function enables the features of the multiplication; lengths by the caller.
                unsafe { output_of::<$multiply>(p, y, stride, row, own, out) }
            }
        }
    };
}

loops!(with_integers, Integers, "avx512f,avx512dq,avx512ifma");
loops!(with_doubles, Doubles, "avx512f,avx512dq");

/// [`quotients`] with the features of `M` enabled.
#[inline(always)]
unsafe fn quotients_of<M: Multiply52>(
    y: &[u64],
    stride: usize,
    reciprocals: &[u64],
    fraction_bits: u32,
    v: &mut [u64],
) {
    // SAFETY: features by the caller's; rows are long enough.
    unsafe {
        let half = _mm512_set1_epi64(1 << (fraction_bits - 53));
        let shift = _mm_cvtsi32_si128(fraction_bits as i32 - 52);
        for c in (0..v.len()).step_by(STEP) {
            let (low, high) = sums::<M>(y.as_ptr().add(c), stride, reciprocals, None);
            for t in 0..TILE {
                // 2^(F-1) is a whole number of high halves.
                let carried = _mm512_add_epi64(high[t], _mm512_srli_epi64::<52>(low[t]));
                let sum = _mm512_add_epi64(carried, half);
                let v = v.as_mut_ptr().add(c + t * LANES);
                _mm512_storeu_si512(v.cast(), _mm512_srl_epi64(sum, shift));
            }
        }
    }
}

/// [`output`] with the features of `M` enabled.
#[inline(always)]
unsafe fn output_of<M: Multiply52>(
    p: Narrow,
    y: &[u64],
    stride: usize,
    row: &[u64],
    own: Option<(&[u64], u64)>,
    out: &mut [u64],
) {
    // SAFETY: features by the caller; `out`, `own` and the rows of `y` have the STEP words from column `c` on.
    unsafe {
        let m = Reduction::new::<M>(p);
        for c in (0..out.len()).step_by(STEP) {
            let own = own.map(|(o, a)| (o.as_ptr().add(c), a));
            let (low, high) = sums::<M>(y.as_ptr().add(c), stride, row, own);
            for t in 0..TILE {
                let out = out.as_mut_ptr().add(c + t * LANES);
                _mm512_storeu_si512(out.cast(), m.reduce::<M>(low[t], high[t]));
            }
        }
    }
}

/// The low and high sums of `own a + Σ_i y_i f_i` for [`STEP`] columns.
#[inline(always)]
unsafe fn sums<M: Multiply52>(
    y: *const u64,
    stride: usize,
    factors: &[u64],
    own: Option<(*const u64, u64)>,
) -> ([__m512i; TILE], [__m512i; TILE]) {
    // SAFETY: features by the caller, who gives STEP words at `own` and for each factor, `stride` apart, at `y`.
    unsafe {
        let terms = factors.len() as u64 + u64::from(own.is_some());
        let less =
            |excess: u64| _mm512_set1_epi64(terms.wrapping_mul(excess).wrapping_neg() as i64);
        let (mut low, mut high) = ([less(M::EXCESS_LOW); TILE], [less(M::EXCESS_HIGH); TILE]);
        if let Some((own, a)) = own {
            add_products::<M>(own, a, &mut low, &mut high);
        }
        for (i, &f) in factors.iter().enumerate() {
            add_products::<M>(y.add(i * stride), f, &mut low, &mut high);
        }
        (low, high)
    }
}

#[inline(always)]
unsafe fn add_products<M: Multiply52>(
    x: *const u64,
    f: u64,
    low: &mut [__m512i; TILE],
    high: &mut [__m512i; TILE],
) {
    // SAFETY: features by the caller, who gives STEP words at `x`; the loads need no alignment.
    unsafe {
        let f = M::factor(_mm512_set1_epi64(f as i64));
        for t in 0..TILE {
            let x = M::factor(_mm512_loadu_si512(x.add(t * LANES).cast()));
            (low[t], high[t]) = M::add((low[t], high[t]), x, f);
        }
    }
}

/// Reduction of sums modulo one prime.
#[derive(Clone, Copy)]
struct Reduction {
    p: __m512i,
    p2: __m512i,
    mask: __m512i,
    /// As a factor, as the next three.
    p_factor: __m512i,
    /// `floor(2^52 / p)`.
    reciprocal: __m512i,
    /// `2^52 mod p` and its quotient `floor(carry 2^52 / p)`.
    carry: __m512i,
    carry_quotient: __m512i,
}

impl Reduction {
    #[inline(always)]
    unsafe fn new<M: Multiply52>(Narrow { p, carry, quotient }: Narrow) -> Self {
        // SAFETY: features by the caller, all that splats and factors need.
        unsafe {
            Self {
                p: _mm512_set1_epi64(p as i64),
                p2: _mm512_set1_epi64(2 * p as i64),
                mask: _mm512_set1_epi64((1 << 52) - 1),
                p_factor: M::factor(_mm512_set1_epi64(p as i64)),
                reciprocal: M::factor(_mm512_set1_epi64(((1u64 << 52) / p) as i64)),
                carry: M::factor(_mm512_set1_epi64(carry as i64)),
                carry_quotient: M::factor(_mm512_set1_epi64(quotient as i64)),
            }
        }
    }

    /// `high 2^52 + low mod p` for `high + low / 2^52 < 2^52`.
    ///
    /// `high (2^52 mod p)` less its quotient times p is below 2p, and so are the low 52 bits less theirs; `4p <= 2^52`.
    #[inline(always)]
    unsafe fn reduce<M: Multiply52>(&self, low: __m512i, high: __m512i) -> __m512i {
        // SAFETY: features by the caller; the sums and the constants are registers.
        unsafe {
            let high = M::factor(_mm512_add_epi64(high, _mm512_srli_epi64::<52>(low)));
            let rest = _mm512_and_si512(low, self.mask);
            let h = M::factor(M::high(high, self.carry_quotient));
            let l = M::factor(M::high(M::factor(low), self.reciprocal));
            let more = _mm512_add_epi64(rest, M::low(high, self.carry));
            let less = _mm512_add_epi64(M::low(h, self.p_factor), M::low(l, self.p_factor));
            let r = _mm512_and_si512(_mm512_sub_epi64(more, less), self.mask);
            let r = _mm512_min_epu64(r, _mm512_sub_epi64(r, self.p2));
            _mm512_min_epu64(r, _mm512_sub_epi64(r, self.p))
        }
    }
}

/// `out[j] = input[sources[j]]` where eight neighbouring outputs come from one aligned group of eight inputs, as the
/// values of an automorphism do: their exponents differ in the top three bits only, and so do those of their sources.
///
/// # Safety
/// The processor has AVX-512 F; all slices have the same length, a multiple of 8;
/// sources are below it and grouped as said.
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
