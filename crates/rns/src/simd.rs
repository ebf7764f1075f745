// SPDX-License-Identifier: Apache-2.0
//! The loops of [`crate::kernel`] on 52-bit multiplication, for moduli below 2^50.
//!
//! Sums of products are kept as the sum of their low and the sum of their high 52 bits, in two lanes, and reduced once.
//! All sums are integers, so the results are those of the portable loops.

#[cfg(target_arch = "aarch64")]
use zq::simd::Neon;
#[cfg(target_arch = "x86_64")]
use zq::simd::{Avx2, Avx512, Doubles, Integers};
use zq::simd::{
    Float50, Lanes, Level, MAX_LANES, Modular52, Modulus52, NearestDoubles, Vector, level, sum_fits,
};

/// Vectors at a time: eight chains of additions hide the latency of four cycles on two ports.
const TILE: usize = 4;
/// Whole steps of every vector: block lengths that are no multiple take the portable loop.
pub(crate) const STEP: usize = TILE * MAX_LANES;
/// Largest modulus, in bits.
const MAX_BITS: u32 = 50;

/// Whether sums of `terms` products of values below `2^bits` and residues below `2^bits` run here.
pub(crate) fn available(bits: u32, terms: usize) -> bool {
    level() > Level::Portable && bits <= MAX_BITS && sum_fits(terms, 2 * bits)
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
    // SAFETY: rows are as long as the caller says; `available` means a level with vectors, which has its features.
    unsafe {
        match level() {
            #[cfg(target_arch = "x86_64")]
            Level::Ifma | Level::IfmaAmd => {
                with_integers::quotients(y, stride, reciprocals, fraction_bits, v)
            }
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => with_doubles::quotients(y, stride, reciprocals, fraction_bits, v),
            _ => with_nearest::quotients(y, stride, reciprocals, fraction_bits, v),
        }
    }
}

/// `out = own a + Σ_i y_i m_i mod p`.
///
/// # Safety
/// As [`quotients`] with `row` for the reciprocals and `out` for `v`; `own`, if given, is as long as `out`;
/// [`available`] for the terms.
pub(crate) unsafe fn output(
    p: Modulus52,
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
    // SAFETY: the caller vouches for rows and `own`; `available` means a level with vectors, which has its features.
    unsafe {
        match level() {
            #[cfg(target_arch = "x86_64")]
            Level::Ifma | Level::IfmaAmd => with_integers::output(p, y, stride, row, own, out),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => with_doubles::output(p, y, stride, row, own, out),
            _ => with_nearest::output(p, y, stride, row, own, out),
        }
    }
}

/// The loops compiled for one multiplication.
macro_rules! loops {
    ($name:ident, $multiply:ty, $features:literal, $output:expr) => {
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
                p: Modulus52,
                y: &[u64],
                stride: usize,
                row: &[u64],
                own: Option<(&[u64], u64)>,
                out: &mut [u64],
            ) {
                // SAFETY: this function enables the features of the multiplication; lengths by the caller.
                unsafe { $output(p, y, stride, row, own, out) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
loops!(
    with_integers,
    Integers,
    "avx512f,avx512dq,avx512ifma",
    output_of::<Integers>
);
#[cfg(target_arch = "x86_64")]
loops!(
    with_doubles,
    Doubles,
    "avx512f,avx512dq",
    output_of::<Doubles>
);
#[cfg(target_arch = "x86_64")]
loops!(
    with_nearest,
    NearestDoubles<Avx2>,
    "avx2,fma",
    nearest_output_of::<Avx2>
);
#[cfg(target_arch = "aarch64")]
loops!(
    with_nearest,
    NearestDoubles<Neon>,
    "neon",
    nearest_output_of::<Neon>
);

/// [`quotients`] with the features of `M` enabled.
#[inline(always)]
unsafe fn quotients_of<M: Modular52>(
    y: &[u64],
    stride: usize,
    reciprocals: &[u64],
    fraction_bits: u32,
    v: &mut [u64],
) {
    let lanes = <M::V as Lanes>::LANES;
    // SAFETY: features by the caller's; rows are long enough.
    unsafe {
        let half = M::V::splat(1 << (fraction_bits - 53));
        for c in (0..v.len()).step_by(TILE * lanes) {
            let sums = sums::<M>(y.as_ptr().add(c), stride, reciprocals, None);
            for (t, sum) in sums.into_iter().enumerate() {
                // 2^(F-1) is a whole number of high halves.
                let (_, high) = M::carried(sum);
                let v = v.as_mut_ptr().add(c + t * lanes);
                high.add(half).shr_by(fraction_bits - 52).store(v);
            }
        }
    }
}

/// [`output`] with the features of `M` enabled.
#[inline(always)]
unsafe fn output_of<M: Modular52>(
    p: Modulus52,
    y: &[u64],
    stride: usize,
    row: &[u64],
    own: Option<(&[u64], u64)>,
    out: &mut [u64],
) {
    let lanes = <M::V as Lanes>::LANES;
    // SAFETY: features by the caller; `out`, `own` and the rows of `y` have a step's words from column `c` on.
    unsafe {
        let m = M::constants(p);
        for c in (0..out.len()).step_by(TILE * lanes) {
            let own = own.map(|(o, a)| (o.as_ptr().add(c), a));
            let sums = sums::<M>(y.as_ptr().add(c), stride, row, own);
            for (t, sum) in sums.into_iter().enumerate() {
                M::reduced_sum(&m, sum).store(out.as_mut_ptr().add(c + t * lanes));
            }
        }
    }
}

/// Most terms of a sum of reduced products: below 8p < 2^53. A product is seven operations and the sum's reduction
/// six, where those of halves are five and thirty.
const MOST_REDUCED: usize = 8;

/// [`output`] with the features of `V` enabled.
#[inline(always)]
unsafe fn nearest_output_of<V: Vector>(
    p: Modulus52,
    y: &[u64],
    stride: usize,
    row: &[u64],
    own: Option<(&[u64], u64)>,
    out: &mut [u64],
) {
    // SAFETY: features by the caller; `out`, `own` and the rows of `y` have a step's words from column `c` on.
    unsafe {
        if row.len() + usize::from(own.is_some()) > MOST_REDUCED {
            return output_of::<NearestDoubles<V>>(p, y, stride, row, own, out);
        }
        let m = NearestDoubles::<V>::constants(p);
        let mut terms = [(y.as_ptr(), Float50::<V>::factor(p.value(), 0)); MOST_REDUCED];
        let rows = row
            .iter()
            .enumerate()
            .map(|(i, &w)| (y.as_ptr().add(i * stride), w));
        let all = own
            .map(|(own, w)| (own.as_ptr(), w))
            .into_iter()
            .chain(rows);
        let mut count = 0;
        for (term, (x, w)) in terms.iter_mut().zip(all) {
            *term = (x, Float50::factor(p.value(), w));
            count += 1;
        }
        for c in (0..out.len()).step_by(TILE * V::LANES) {
            let mut sums = [V::splat(0); TILE];
            for &(x, f) in &terms[..count] {
                for (t, sum) in sums.iter_mut().enumerate() {
                    let x = Float50::residue(V::load(x.add(c + t * V::LANES)));
                    *sum = m.add_factor_product(*sum, x, f);
                }
            }
            for (t, sum) in sums.into_iter().enumerate() {
                m.residue_of(sum)
                    .store(out.as_mut_ptr().add(c + t * V::LANES));
            }
        }
    }
}

/// The low and high sums of `own a + Σ_i y_i f_i` for [`TILE`] vectors.
#[inline(always)]
unsafe fn sums<M: Modular52>(
    y: *const u64,
    stride: usize,
    factors: &[u64],
    own: Option<(*const u64, u64)>,
) -> [(M::V, M::V); TILE] {
    // SAFETY: features by the caller, who gives a step's words at `own` and for each factor, `stride` apart, at `y`.
    unsafe {
        let terms = factors.len() as u64 + u64::from(own.is_some());
        let less = |excess: u64| M::V::splat(terms.wrapping_mul(excess).wrapping_neg());
        let mut sums = [(less(M::EXCESS_LOW), less(M::EXCESS_HIGH)); TILE];
        if let Some((own, a)) = own {
            add_products::<M>(own, a, &mut sums);
        }
        for (i, &f) in factors.iter().enumerate() {
            add_products::<M>(y.add(i * stride), f, &mut sums);
        }
        sums
    }
}

#[inline(always)]
unsafe fn add_products<M: Modular52>(x: *const u64, f: u64, sums: &mut [(M::V, M::V); TILE]) {
    // SAFETY: features by the caller, who gives a step's words at `x`.
    unsafe {
        let f = M::factor(M::V::splat(f));
        for (t, sums) in sums.iter_mut().enumerate() {
            let x = M::residue(M::V::load(x.add(t * <M::V as Lanes>::LANES)));
            *sums = M::add(*sums, x, f);
        }
    }
}

/// `out[j] = input[sources[j]]` where neighbouring outputs, as many as a vector has lanes, come from one aligned group
/// of inputs, as the values of an automorphism do: their exponents differ in the top bits only, and so do their
/// sources'.
///
/// # Safety
/// The level is AVX2 or higher; all slices have the same length, a multiple of 8; sources are below it and grouped as
/// said.
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe fn permute_groups(input: &[u64], sources: &[u32], out: &mut [u64]) {
    debug_assert!(
        input.len() == out.len() && sources.len() == out.len() && out.len().is_multiple_of(8)
    );
    // SAFETY: lengths and sources by the caller; each level has the features of its name.
    unsafe {
        match level() {
            Level::Avx512 | Level::Ifma | Level::IfmaAmd => permute_eights(input, sources, out),
            _ => permute_fours(input, sources, out),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn permute_eights(input: &[u64], sources: &[u32], out: &mut [u64]) {
    // SAFETY: this function enables the features of the vector; the rest by the caller.
    unsafe { permute::<Avx512>(input, sources, out) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn permute_fours(input: &[u64], sources: &[u32], out: &mut [u64]) {
    // SAFETY: this function enables the features of the vector; the rest by the caller.
    unsafe { permute::<Avx2>(input, sources, out) }
}

/// [`permute_groups`] with the features of `V` enabled.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn permute<V: Vector>(input: &[u64], sources: &[u32], out: &mut [u64]) {
    for (j, group) in sources.chunks_exact(V::LANES).enumerate() {
        let first = group[0] as usize & !(V::LANES - 1);
        debug_assert!(group.iter().all(|&s| s as usize & !(V::LANES - 1) == first));
        // SAFETY: a vector of indices, of inputs from `first` on, of outputs; the permutation uses the low bits.
        unsafe {
            V::load(input.as_ptr().add(first))
                .permute(V::lane_indices(group.as_ptr()))
                .store(out.as_mut_ptr().add(V::LANES * j));
        }
    }
}
