// SPDX-License-Identifier: Apache-2.0
//! The kernels with 52-bit multiplication, a vector of coefficients at a time, for moduli below 2^50.

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
#[cfg(target_arch = "aarch64")]
use zq::simd::Neon;
#[cfg(target_arch = "x86_64")]
use zq::simd::{Avx2, Doubles, Integers};
use zq::simd::{
    Float50, Lanes, Level, MAX_LANES, Modular52, Modulus52, Multiply52, NearestDoubles, Vector,
    level,
};
use zq::{Modulus, Word};

/// The modulus, if these kernels can be used with it for a sum of `terms` products over `n` coefficients, one factor of
/// each below `bound` times the modulus.
///
/// The high halves of the products are at most bound·q²/2^52; their sum, the carries from the low halves and q must
/// stay below 2^52: terms·(bound·q²/2^52 + 1) + q <= 2^52. A difference with such a factor needs (bound + 1)·q <= 2^52.
pub(super) fn modulus_for<W: Word>(
    modulus: &Modulus<W>,
    bound: u64,
    terms: usize,
    n: usize,
) -> Option<u64> {
    if W::BITS != 64 || modulus.bits() > 50 || terms >= 1 << 11 || !n.is_multiple_of(BLOCK) {
        return None;
    }
    let q = modulus.value().low_u64();
    let fits = terms as u128 <= room(q) / high(q, bound)
        && (u128::from(bound) + 1) * u128::from(q) <= LIMIT;
    (fits && level() > Level::Portable).then_some(q)
}

/// Range of 52 bits.
const LIMIT: u128 = 1 << 52;

/// Largest sum of high halves.
fn room(q: u64) -> u128 {
    LIMIT - u128::from(q)
}

/// Largest contribution of one product to it, including the low half's carry.
fn high(q: u64, bound: u64) -> u128 {
    ((u128::from(bound) * u128::from(q) * u128::from(q)) >> 52) + 1
}

/// Most products of reduced residues in a sum that is left room for one more, where these kernels can be used.
pub(super) fn most_terms<W: Word>(modulus: &Modulus<W>) -> Option<usize> {
    let q = modulus_for(modulus, 1, 2, BLOCK)?;
    Some((room(q) / high(q, 1)).min((1 << 11) - 1) as usize - 1)
}

/// A vector at `row + i`, or its sources under the permutation: an aligned block, its lanes permuted.
///
/// # Safety
/// `row` holds the block read.
#[inline(always)]
unsafe fn load<V: Vector, const PERMUTED: bool>(
    row: *const u64,
    i: usize,
    (start, lanes): (usize, V),
) -> V {
    // SAFETY: `row` holds the words read (caller), at `start` or at `i`.
    unsafe {
        if PERMUTED {
            V::load(row.add(start)).permute(lanes)
        } else {
            V::load(row.add(i))
        }
    }
}

/// A permutation: the source of each coefficient, and what is to be subtracted from it.
type Sources<'a> = (Option<&'a [u32]>, usize);

/// How far ahead streamed digits are prefetched, in words: two blocks of as many rows as are summed, which takes longer
/// than memory does.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 32;

/// Source of the vector at `i` under the permutation: start of the block, and lanes within it.
///
/// # Safety
/// There is a permutation, with entries for the vector that name one aligned block of as many lanes.
#[inline(always)]
unsafe fn block<V: Vector>((sources, base): Sources<'_>, i: usize) -> (usize, V) {
    let sources = &sources.unwrap_or_default()[i..i + V::LANES];
    let start = sources[0] as usize & !(V::LANES - 1);
    debug_assert!(
        sources
            .iter()
            .all(|&l| l as usize & !(V::LANES - 1) == start)
    );
    // SAFETY: the slice has an index for each lane.
    unsafe { (start - base, V::lane_indices(sources.as_ptr())) }
}

/// Vectors of a sum that are made side by side.
const SIDE_BY_SIDE: usize = 2;

/// Rows are whole multiples of what [`dot_pair`] makes at a time with the widest vectors.
pub(super) const BLOCK: usize = MAX_LANES * SIDE_BY_SIDE;

/// Most rows of an unrolled sum. Each row has a load instruction of its own, or the processor's prefetcher would take
/// them for one row that jumps about.
const UNROLLED: usize = 8;

/// The sums of both outputs for the vectors side by side: four low halves, then four high ones.
type Sums<V> = [V; 4 * SIDE_BY_SIDE];

/// Number of the low half of output `h`'s sum for vector `v`; its high half is [`HIGH`] further.
const fn low_half(v: usize, h: usize) -> usize {
    2 * v + h
}

/// Distance from low to high halves.
const HIGH: usize = 2 * SIDE_BY_SIDE;

/// Adds `D` products, from row `d` on, to the sums of each coefficient of the block at `i`.
///
/// # Safety
/// The rows have the block at `i`, those of the digits its source under the permutation.
#[inline(always)]
unsafe fn add_products<M: Modular52, const D: usize, const PERMUTED: bool, const STREAMED: bool>(
    sums: &mut Sums<M::V>,
    (i, d): (usize, usize),
    (digits, keys): (&[&[u64]], [&[&[u64]]; 2]),
    blocks: [(usize, M::V); SIDE_BY_SIDE],
) {
    // SAFETY: rows d..d+D are there and hold the blocks read, by the caller, who enabled the instructions of M.
    unsafe {
        for d in d..d + D {
            for (v, &block) in blocks.iter().enumerate() {
                let (row, at) = (
                    digits.get_unchecked(d).as_ptr(),
                    i + v * <M::V as Lanes>::LANES,
                );
                // Elsewhere the processor's own prefetcher has to do.
                #[cfg(target_arch = "x86_64")]
                if STREAMED {
                    // Any address will do.
                    _mm_prefetch::<_MM_HINT_T0>(row.wrapping_add(at + AHEAD).cast());
                }
                let x = M::factor(load::<M::V, PERMUTED>(row, at, block));
                for (h, keys) in keys.iter().enumerate() {
                    let y = M::V::load(keys.get_unchecked(d).as_ptr().add(at));
                    let low = low_half(v, h);
                    (sums[low], sums[low + HIGH]) =
                        M::add((sums[low], sums[low + HIGH]), x, M::residue(y));
                }
            }
            // Without it the compiler loads all rows first, more than there are registers for, and makes one half of
            // the sums after the other.
            M::V::pin_loads(sums);
        }
    }
}

/// Post-processing of a sum: `(sum - correction)·factor`, or the sum itself, and `add[σ(i)]·factor`, or `add[σ(i)]`
/// itself, added.
#[derive(Clone, Copy)]
pub(super) struct PostProcessing<'a> {
    /// The correction, and the factor.
    pub division: Option<(&'a [u64], u64)>,
    /// The addend, and its factor.
    pub add: Option<(&'a [u64], Option<u64>)>,
    /// Whether the result is added to what the output holds.
    pub onto: bool,
}

/// The operands of [`dot_pair`].
pub(super) struct Call<'a, 'b> {
    pub q: u64,
    pub digits: &'a [&'a [u64]],
    pub keys: [&'a [&'a [u64]]; 2],
    /// How digits are permuted.
    pub sources: Sources<'a>,
    /// Whether lines of the digits ahead are prefetched.
    pub streamed: bool,
    /// Whether digits and corrections are residues.
    pub reduced: bool,
    pub finish: [PostProcessing<'a>; 2],
    pub out: [&'b mut [u64]; 2],
}

/// See [`super::dot_pair`].
///
/// # Safety
/// Every row has as many words as the outputs, a multiple of [`BLOCK`]; a permutation maps aligned blocks of two, four
/// and eight to such blocks; `modulus_for` accepted q, the larger bound of digits and corrections, and the number
/// of rows and one.
pub(super) unsafe fn dot_pair(call: Call<'_, '_>) {
    // SAFETY: the caller vouches for rows and permutation, `modulus_for` for vectors; a level in use has its features.
    unsafe {
        match level() {
            #[cfg(target_arch = "x86_64")]
            Level::Ifma | Level::IfmaAmd => with_integers::dot_pair(call),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => with_doubles::dot_pair(call),
            _ => with_nearest::dot_pair(call),
        }
    }
}

/// See [`super::Divide`].
///
/// # Safety
/// As [`dot_pair`].
pub(super) unsafe fn divide(modulus: (u64, u64), correction: &[u64], w: u64, out: &mut [u64]) {
    // SAFETY: the caller vouches for the lengths, `modulus_for` for a level with vectors, which has its features.
    unsafe {
        match level() {
            #[cfg(target_arch = "x86_64")]
            Level::Ifma | Level::IfmaAmd => with_integers::divide(modulus, correction, w, out),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => with_doubles::divide(modulus, correction, w, out),
            _ => with_nearest::divide(modulus, correction, w, out),
        }
    }
}

/// The kernels compiled for one multiplication.
macro_rules! kernels {
    ($name:ident, $multiply:ty, $features:literal, $sums:ident) => {
        mod $name {
            use super::*;

            /// # Safety
            /// As [`super::dot_pair`], and the processor has the features.
            pub unsafe fn dot_pair(call: Call<'_, '_>) {
                let (count, permuted) = (call.digits.len(), call.sources.0.is_some());
                // SAFETY: rows and features by the caller; sums of D > 0 rows are for D digits alone.
                unsafe {
                    if call.streamed && !permuted {
                        sums::<0, false, true>(call);
                    } else if permuted {
                        SUMS_PERMUTED[if count > 8 { 0 } else { count }](call);
                    } else {
                        SUMS[if count > 8 { 0 } else { count }](call);
                    }
                }
            }

            /// By number of rows; the first for any number.
            const SUMS: [unsafe fn(Call<'_, '_>); 9] = [
                sums::<0, false, false>,
                sums::<1, false, false>,
                sums::<2, false, false>,
                sums::<3, false, false>,
                sums::<4, false, false>,
                sums::<5, false, false>,
                sums::<6, false, false>,
                sums::<7, false, false>,
                sums::<8, false, false>,
            ];

            const SUMS_PERMUTED: [unsafe fn(Call<'_, '_>); 9] = [
                sums::<0, true, false>,
                sums::<1, true, false>,
                sums::<2, true, false>,
                sums::<3, true, false>,
                sums::<4, true, false>,
                sums::<5, true, false>,
                sums::<6, true, false>,
                sums::<7, true, false>,
                sums::<8, true, false>,
            ];

            #[target_feature(enable = $features)]
            unsafe fn sums<const D: usize, const PERMUTED: bool, const STREAMED: bool>(
                call: Call<'_, '_>,
            ) {
                // SAFETY: this function enables the features of the multiplication; rows as `dot_pair` asks.
                unsafe { $sums!($multiply, D, PERMUTED, STREAMED, call) }
            }

            /// # Safety
            /// As [`super::divide`], and the processor has the features.
            #[target_feature(enable = $features)]
            pub unsafe fn divide(modulus: (u64, u64), correction: &[u64], w: u64, out: &mut [u64]) {
                // SAFETY: this function enables the features of the multiplication; lengths as asked above.
                unsafe { divide_of::<$multiply>(modulus, correction, w, out) }
            }
        }
    };
}

/// Sums of any number of rows.
#[cfg(target_arch = "x86_64")]
macro_rules! sums_by_halves {
    ($multiply:ty, $D:ident, $permuted:ident, $streamed:ident, $call:ident) => {
        sums_of::<$multiply, $D, $permuted, $streamed>($call)
    };
}

/// Sums of up to eight rows of residues by reduced products. Factors that are not reduced, which no transform in
/// doubles leaves, take the code for any number of rows.
macro_rules! sums_by_products {
    ($multiply:ty, $D:ident, $permuted:ident, $streamed:ident, $call:ident) => {
        if const { $D > 0 } && $call.reduced {
            reduced_sums_of::<<$multiply as Multiply52>::V, $D, $permuted>($call)
        } else {
            sums_of::<$multiply, 0, $permuted, $streamed>($call)
        }
    };
}

#[cfg(target_arch = "x86_64")]
kernels!(
    with_integers,
    Integers,
    "avx512f,avx512dq,avx512ifma",
    sums_by_halves
);
#[cfg(target_arch = "x86_64")]
kernels!(with_doubles, Doubles, "avx512f,avx512dq", sums_by_halves);
#[cfg(target_arch = "x86_64")]
kernels!(
    with_nearest,
    NearestDoubles<Avx2>,
    "avx2,fma",
    sums_by_products
);
#[cfg(target_arch = "aarch64")]
kernels!(with_nearest, NearestDoubles<Neon>, "neon", sums_by_products);

/// [`dot_pair`] for `D` rows, or any number if that is 0.
///
/// # Safety
/// As [`dot_pair`], with the features of `M` enabled.
#[inline(always)]
unsafe fn sums_of<M: Modular52, const D: usize, const PERMUTED: bool, const STREAMED: bool>(
    call: Call<'_, '_>,
) {
    let Call {
        q,
        digits,
        keys,
        sources,
        finish,
        out: [first, second],
        ..
    } = call;
    let rows = (digits, keys);
    let lanes = <M::V as Lanes>::LANES;
    // SAFETY: the block lies within every row, and blocks of the permutation within the digits and what is added.
    unsafe {
        let c = M::constants(Modulus52::new(q));
        let zero = M::V::splat(0);
        let minus_one = M::factor(M::V::splat(q - 1));
        let mut factors = [M::sum_factor(q, 1); 2];
        let mut addends = [None; 2];
        let mut start = [zero; 4 * SIDE_BY_SIDE];
        for h in 0..2 {
            let products = rows.0.len() as u64 + u64::from(finish[h].division.is_some());
            for v in 0..SIDE_BY_SIDE {
                let low = low_half(v, h);
                start[low] = M::V::splat(0u64.wrapping_sub(products.wrapping_mul(M::EXCESS_LOW)));
                start[low + HIGH] =
                    M::V::splat(q.wrapping_sub(products.wrapping_mul(M::EXCESS_HIGH)));
            }
            if let Some((_, w)) = finish[h].division {
                factors[h] = M::sum_factor(q, w);
            }
            if let Some((_, Some(w))) = finish[h].add {
                addends[h] = Some(M::product_factor(q, w));
            }
        }
        let modulus = M::V::splat(q);
        for i in (0..first.len()).step_by(SIDE_BY_SIDE * lanes) {
            let mut sums = start;
            let mut blocks = [(0, zero); SIDE_BY_SIDE];
            if PERMUTED {
                blocks = [block(sources, i), block(sources, i + lanes)];
            }
            if D > 0 {
                add_products::<M, D, PERMUTED, STREAMED>(&mut sums, (i, 0), rows, blocks);
            } else {
                let count = rows.0.len();
                let whole = count / UNROLLED * UNROLLED;
                for d in (0..whole).step_by(UNROLLED) {
                    add_products::<M, UNROLLED, PERMUTED, STREAMED>(
                        &mut sums,
                        (i, d),
                        rows,
                        blocks,
                    );
                }
                for d in whole..count {
                    add_products::<M, 1, PERMUTED, STREAMED>(&mut sums, (i, d), rows, blocks);
                }
            }
            for (h, out) in [&mut *first, &mut *second].into_iter().enumerate() {
                for (v, &block) in blocks.iter().enumerate() {
                    let (at, low) = (i + v * lanes, low_half(v, h));
                    let mut sum = (sums[low], sums[low + HIGH]);
                    // The correction counts as a product.
                    if let Some((correction, _)) = finish[h].division {
                        let y = M::V::load(correction.as_ptr().add(at));
                        sum = M::add(sum, M::factor(y), minus_one);
                    }
                    let mut r = M::scaled_sum(&c, sum, factors[h]);
                    if let Some((add, _)) = finish[h].add {
                        let mut y = load::<M::V, PERMUTED>(add.as_ptr(), at, block);
                        if let Some(factor) = addends[h] {
                            y = M::product(&c, y, factor);
                        }
                        r = r.add(y).csub(modulus);
                    }
                    if finish[h].onto {
                        r = r.add(M::V::load(out.as_ptr().add(at))).csub(modulus);
                    }
                    r.store(out.as_mut_ptr().add(at));
                }
            }
        }
    }
}

/// [`dot_pair`] for `D` rows of residues, eight at most, on doubles: a reduced product is seven operations where the
/// halves of one take five, but the sum's reduction is six where that of halves is thirty.
///
/// # Safety
/// As [`dot_pair`], with the features of `V` enabled; digits and corrections are residues.
#[inline(always)]
unsafe fn reduced_sums_of<V: Vector, const D: usize, const PERMUTED: bool>(call: Call<'_, '_>) {
    let Call {
        q,
        digits,
        keys,
        sources,
        finish,
        out: [first, second],
        ..
    } = call;
    // SAFETY: the vectors at `i` lie within every row, those of the permutation within the digits and what is added.
    // Sums are of at most eight products and a residue: below 8q < 2^53 in size.
    unsafe {
        let c = Float50::<V>::new(q);
        let factors = finish.map(|f| f.division.map(|(_, w)| Float50::factor(q, w)));
        let addends = finish.map(|f| f.add.and_then(|(_, w)| Some(Float50::factor(q, w?))));
        let modulus = V::splat(q);
        for i in (0..first.len()).step_by(V::LANES) {
            let mut from = (0, V::splat(0));
            if PERMUTED {
                from = block(sources, i);
            }
            let mut sums = [V::splat(0); 2];
            for d in 0..D {
                let row = digits.get_unchecked(d).as_ptr();
                let x = Float50::residue(load::<V, PERMUTED>(row, i, from));
                for (sum, keys) in sums.iter_mut().zip(&keys) {
                    let y = Float50::residue(V::load(keys.get_unchecked(d).as_ptr().add(i)));
                    *sum = c.add_product(*sum, x, y);
                }
            }
            for (h, out) in [&mut *first, &mut *second].into_iter().enumerate() {
                let mut r = match (finish[h].division, factors[h]) {
                    (Some((correction, _)), Some(f)) => {
                        let y = Float50::residue(V::load(correction.as_ptr().add(i)));
                        c.scaled_residue_of(sums[h].f_sub(y), f)
                    }
                    _ => c.residue_of(sums[h]),
                };
                if let Some((add, _)) = finish[h].add {
                    let mut y = load::<V, PERMUTED>(add.as_ptr(), i, from);
                    if let Some(factor) = addends[h] {
                        y = c.mul_factor(y, factor);
                    }
                    r = r.add(y).csub(modulus);
                }
                if finish[h].onto {
                    r = r.add(V::load(out.as_ptr().add(i))).csub(modulus);
                }
                r.store(out.as_mut_ptr().add(i));
            }
        }
    }
}

/// [`divide`] with the features of `M` enabled.
///
/// # Safety
/// As [`dot_pair`].
#[inline(always)]
unsafe fn divide_of<M: Modular52>(
    (q, bound): (u64, u64),
    correction: &[u64],
    w: u64,
    out: &mut [u64],
) {
    let lanes = <M::V as Lanes>::LANES;
    // SAFETY: a vector from `i` on lies within every slice.
    unsafe {
        let c = M::constants(Modulus52::new(q));
        let bias = M::V::splat(bound * q);
        let f = M::product_factor(q, w);
        for i in (0..out.len()).step_by(lanes) {
            let x = M::V::load(out.as_ptr().add(i));
            let y = M::V::load(correction.as_ptr().add(i));
            // x - y + bound·q is below (bound + 1)·q <= 2^52 in the low 52 bits, which are those that count.
            let difference = x.sub(y).add(bias);
            M::product(&c, difference, f).store(out.as_mut_ptr().add(i));
        }
    }
}
