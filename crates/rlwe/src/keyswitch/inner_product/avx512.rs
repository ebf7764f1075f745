// SPDX-License-Identifier: Apache-2.0
//! The kernels with 52-bit multiplication, eight coefficients at a time, for moduli below 2^50.

use core::arch::x86_64::*;
use zq::simd::{Doubles, Integers, Level, Multiply52, level};
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
    if W::BITS != 64 || modulus.bits() > 50 || terms >= 1 << 12 || !n.is_multiple_of(BLOCK) {
        return None;
    }
    let q = modulus.value().low_u64();
    let fits = terms as u128 <= room(q) / high(q, bound)
        && (u128::from(bound) + 1) * u128::from(q) <= LIMIT;
    (fits && level() >= Level::Avx512).then_some(q)
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
    Some((room(q) / high(q, 1)).min((1 << 12) - 1) as usize - 1)
}

/// Constants in every lane.
#[derive(Clone, Copy)]
struct Constants {
    q: __m512i,
    /// As a factor, as the next two.
    q_factor: __m512i,
    /// -1 modulo q.
    minus_one: __m512i,
    /// q^-1 modulo 2^52.
    inverse: __m512i,
    low: __m512i,
}

/// A factor below q and floor(factor·2^52 / q), in every lane.
#[derive(Clone, Copy)]
struct Factor {
    w: __m512i,
    quotient: __m512i,
}

/// # Safety
/// As [`Multiply52`], as all that follows.
#[inline(always)]
unsafe fn splat(x: u64) -> __m512i {
    // SAFETY: the caller enabled AVX-512 F, all that a splat needs.
    unsafe { _mm512_set1_epi64(x as i64) }
}

#[inline(always)]
unsafe fn constants<M: Multiply52>(q: u64) -> Constants {
    // Newton: every step doubles the bits that are right, three at first.
    let step = |x: u64| x.wrapping_mul(2u64.wrapping_sub(q.wrapping_mul(x)));
    let inverse = step(step(step(step(step(q)))));
    // SAFETY: the caller enabled AVX-512 F and the instructions of M; words go to registers by value.
    unsafe {
        Constants {
            q: splat(q),
            q_factor: M::factor(splat(q)),
            minus_one: M::factor(splat(q - 1)),
            inverse: M::factor(splat(inverse)),
            low: splat((1 << 52) - 1),
        }
    }
}

#[inline(always)]
unsafe fn factor<M: Multiply52>(q: u64, w: u64) -> Factor {
    // SAFETY: the caller enabled AVX-512 F and the instructions of M, which `splat` and a factor need.
    unsafe {
        Factor {
            w: M::factor(splat(w)),
            quotient: M::factor(splat(((u128::from(w) << 52) / u128::from(q)) as u64)),
        }
    }
}

/// `x·f - floor(x·f.quotient / 2^52)·q` in 0..2q, for the low 52 bits of x (Shoup).
#[inline(always)]
unsafe fn mul_lazy<M: Multiply52>(c: &Constants, x: __m512i, f: Factor) -> __m512i {
    // SAFETY: the caller enabled AVX-512 F and the instructions of M; `x` and the constants are registers.
    unsafe {
        let x = M::factor(x);
        let h = M::factor(M::high(x, f.quotient));
        let r = _mm512_sub_epi64(M::low(x, f.w), M::low(h, c.q_factor));
        _mm512_and_si512(r, c.low)
    }
}

/// `x - m` where that is not negative.
#[inline(always)]
unsafe fn csub(x: __m512i, m: __m512i) -> __m512i {
    // SAFETY: the caller enabled AVX-512 F; a difference and a minimum of registers.
    unsafe { _mm512_min_epu64(x, _mm512_sub_epi64(x, m)) }
}

/// Eight words at `row + i`, or their sources under the permutation: an aligned block, its lanes permuted.
///
/// # Safety
/// `row` holds the block read.
#[inline(always)]
unsafe fn load<const PERMUTED: bool>(
    row: *const u64,
    i: usize,
    (start, lanes): (usize, __m512i),
) -> __m512i {
    // SAFETY: `row` holds the eight words read (caller), at `start` or at `i`; the load needs no alignment.
    unsafe {
        if PERMUTED {
            _mm512_permutexvar_epi64(lanes, _mm512_loadu_si512(row.add(start).cast()))
        } else {
            _mm512_loadu_si512(row.add(i).cast())
        }
    }
}

/// A permutation: the source of each coefficient, and what is to be subtracted from it.
type Sources<'a> = (Option<&'a [u32]>, usize);

/// How far ahead streamed digits are prefetched, in words: two blocks of as many rows as are summed, which takes longer
/// than memory does.
const AHEAD: usize = 32;

/// Source of lanes i..i+8 under the permutation: start of the block, and lanes within it (low three bits count).
///
/// # Safety
/// There is a permutation, with entries i..i+8 that name one aligned block of eight.
#[inline(always)]
unsafe fn block((sources, base): Sources<'_>, i: usize) -> (usize, __m512i) {
    let sources = sources.unwrap_or_default();
    debug_assert!(sources[i..i + 8].iter().all(|l| l / 8 == sources[i] / 8));
    // SAFETY: entries i..i+8 are there by the caller, eight indices of 32 bits; the load of them needs no alignment.
    unsafe {
        let lanes = sources.as_ptr().add(i);
        (
            (*lanes as usize & !7) - base,
            _mm512_cvtepu32_epi64(_mm256_loadu_si256(lanes.cast())),
        )
    }
}

/// Vectors of a sum that are made side by side.
const SIDE_BY_SIDE: usize = 2;

/// Coefficients that [`dot_pair`] makes at a time; rows are whole multiples of it.
pub(super) const BLOCK: usize = 8 * SIDE_BY_SIDE;

/// Most rows of an unrolled sum. Each row has a load instruction of its own, or the processor's prefetcher would take
/// them for one row that jumps about.
const UNROLLED: usize = 8;

/// Low and high halves of the sums of both outputs.
type Sums = [[[__m512i; 2]; SIDE_BY_SIDE]; 2];

/// An empty instruction that seems to read memory and to change all sums. Without it the compiler loads all rows first,
/// more than there are registers for, and makes one half of the sums after the other.
///
/// # Safety
/// The processor has AVX-512 F.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn pin(sums: &mut Sums) {
    let [[[a, b], [c, d]], [[e, f], [g, h]]] = sums;
    // SAFETY: no instruction.
    unsafe {
        core::arch::asm!(
            "/* {0} {1} {2} {3} {4} {5} {6} {7} */",
            inout(zmm_reg) * a,
            inout(zmm_reg) * b,
            inout(zmm_reg) * c,
            inout(zmm_reg) * d,
            inout(zmm_reg) * e,
            inout(zmm_reg) * f,
            inout(zmm_reg) * g,
            inout(zmm_reg) * h,
            options(nostack, preserves_flags)
        );
    }
}

/// Adds `D` products, from row `d` on, to the sums of each coefficient of the block at `i`.
///
/// # Safety
/// The rows have the block at `i`, those of the digits its source under the permutation.
#[inline(always)]
unsafe fn add_products<
    M: Multiply52,
    const D: usize,
    const PERMUTED: bool,
    const STREAMED: bool,
>(
    sums: &mut Sums,
    (i, d): (usize, usize),
    (digits, keys): (&[&[u64]], [&[&[u64]]; 2]),
    blocks: [(usize, __m512i); SIDE_BY_SIDE],
) {
    // SAFETY: rows d..d+D are there and hold the blocks read, by the caller, who enabled the instructions of M.
    unsafe {
        for d in d..d + D {
            for (v, &block) in blocks.iter().enumerate() {
                let row = digits.get_unchecked(d).as_ptr();
                if STREAMED {
                    // Any address will do.
                    _mm_prefetch::<_MM_HINT_T0>(row.wrapping_add(i + 8 * v + AHEAD).cast());
                }
                let x = load::<PERMUTED>(row, i + 8 * v, block);
                let x = M::factor(x);
                let [low, high] = &mut *sums;
                for h in 0..2 {
                    let y = load::<false>(keys[h].get_unchecked(d).as_ptr(), i + 8 * v, block);
                    (low[v][h], high[v][h]) = M::add((low[v][h], high[v][h]), x, M::factor(y));
                }
            }
            pin(sums);
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
    pub finish: [PostProcessing<'a>; 2],
    pub out: [&'b mut [u64]; 2],
}

/// See [`super::dot_pair`].
///
/// # Safety
/// Every row has as many words as the outputs, a multiple of [`BLOCK`]; a permutation maps aligned blocks of eight to
/// such blocks; `modulus_for` accepted q, the larger of the bounds of digits and corrections, and the number of rows
/// and one.
pub(super) unsafe fn dot_pair(call: Call<'_, '_>) {
    // SAFETY: the caller vouches for rows and permutation, `modulus_for` for AVX-512 F and DQ, level `Ifma` for IFMA.
    unsafe {
        match level() {
            Level::Ifma => with_integers::dot_pair(call),
            _ => with_doubles::dot_pair(call),
        }
    }
}

/// See [`super::Divide`].
///
/// # Safety
/// As [`dot_pair`].
pub(super) unsafe fn divide(modulus: (u64, u64), correction: &[u64], w: u64, out: &mut [u64]) {
    // SAFETY: the caller vouches for the lengths, `modulus_for` for AVX-512 F and DQ, level `Ifma` for IFMA.
    unsafe {
        match level() {
            Level::Ifma => with_integers::divide(modulus, correction, w, out),
            _ => with_doubles::divide(modulus, correction, w, out),
        }
    }
}

/// The kernels compiled for one multiplication.
macro_rules! kernels {
    ($name:ident, $multiply:ty, $features:literal) => {
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
                unsafe { sums_of::<$multiply, D, PERMUTED, STREAMED>(call) }
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

kernels!(with_integers, Integers, "avx512f,avx512dq,avx512ifma");
kernels!(with_doubles, Doubles, "avx512f,avx512dq");

/// [`dot_pair`] for `D` rows, or any number if that is 0.
///
/// # Safety
/// As [`dot_pair`], with the features of `M` enabled.
#[inline(always)]
unsafe fn sums_of<M: Multiply52, const D: usize, const PERMUTED: bool, const STREAMED: bool>(
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
    // SAFETY: the block lies within every row, and blocks of the permutation within the digits and what is added.
    unsafe {
        let c = constants::<M>(q);
        let zero = splat(0);
        let word = (1u64 << 52) % q;
        // The sum is made smaller by 2^52 on the way.
        let mut factors = [factor::<M>(q, word); 2];
        let mut addends = [None; 2];
        // q in the high halves keeps the differences below positive.
        let mut start = [[zero; 2]; 2];
        for h in 0..2 {
            let products = rows.0.len() as u64 + u64::from(finish[h].division.is_some());
            start[0][h] = splat(0u64.wrapping_sub(products.wrapping_mul(M::EXCESS_LOW)));
            start[1][h] = splat(q.wrapping_sub(products.wrapping_mul(M::EXCESS_HIGH)));
            if let Some((_, w)) = finish[h].division {
                let w = u128::from(w) * u128::from(word) % u128::from(q);
                factors[h] = factor::<M>(q, w as u64);
            }
            if let Some((_, Some(w))) = finish[h].add {
                addends[h] = Some(factor::<M>(q, w));
            }
        }
        for i in (0..first.len()).step_by(BLOCK) {
            let mut sums = [[start[0]; SIDE_BY_SIDE], [start[1]; SIDE_BY_SIDE]];
            let mut blocks = [(0, zero); SIDE_BY_SIDE];
            if PERMUTED {
                blocks = [block(sources, i), block(sources, i + 8)];
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
            let [low, high] = sums;
            for (h, out) in [&mut *first, &mut *second].into_iter().enumerate() {
                for (v, &block) in blocks.iter().enumerate() {
                    let at = i + 8 * v;
                    let mut sum = (low[v][h], high[v][h]);
                    // The correction counts as a product.
                    if let Some((correction, _)) = finish[h].division {
                        let y = load::<false>(correction.as_ptr(), at, block);
                        sum = M::add(sum, M::factor(y), c.minus_one);
                    }
                    let t = divide_by_word::<M>(&c, sum);
                    let mut r = csub(mul_lazy::<M>(&c, t, factors[h]), c.q);
                    if let Some((add, _)) = finish[h].add {
                        let mut y = load::<PERMUTED>(add.as_ptr(), at, block);
                        if let Some(factor) = addends[h] {
                            y = csub(mul_lazy::<M>(&c, y, factor), c.q);
                        }
                        r = csub(_mm512_add_epi64(r, y), c.q);
                    }
                    if finish[h].onto {
                        let y = _mm512_loadu_si512(out.as_ptr().add(at).cast());
                        r = csub(_mm512_add_epi64(r, y), c.q);
                    }
                    _mm512_storeu_si512(out.as_mut_ptr().add(at).cast(), r);
                }
            }
        }
    }
}

/// `(high·2^52 + low) / 2^52` modulo q, in 0..high + low/2^52 + 1, for `high` with q added to it (Montgomery).
#[inline(always)]
unsafe fn divide_by_word<M: Multiply52>(c: &Constants, (low, high): (__m512i, __m512i)) -> __m512i {
    // SAFETY: the caller enabled AVX-512 F and the instructions of M; both sums and the constants are registers.
    unsafe {
        // m·q has the low half of the sum, so the difference is a multiple of 2^52.
        let m = M::low(M::factor(low), c.inverse);
        let high = _mm512_add_epi64(high, _mm512_srli_epi64::<52>(low));
        _mm512_sub_epi64(high, M::high(M::factor(m), c.q_factor))
    }
}

/// [`divide`] with the features of `M` enabled.
///
/// # Safety
/// As [`dot_pair`].
#[inline(always)]
unsafe fn divide_of<M: Multiply52>(
    (q, bound): (u64, u64),
    correction: &[u64],
    w: u64,
    out: &mut [u64],
) {
    // SAFETY: i..i+8 lies within every slice.
    unsafe {
        let c = constants::<M>(q);
        let bias = splat(bound * q);
        let f = factor::<M>(q, w);
        for i in (0..out.len()).step_by(8) {
            let (x, y) = (
                _mm512_loadu_si512(out.as_ptr().add(i).cast()),
                _mm512_loadu_si512(correction.as_ptr().add(i).cast()),
            );
            // x - y + bound·q is below (bound + 1)·q <= 2^52 in the low 52 bits, which are those that count.
            let difference = _mm512_add_epi64(_mm512_sub_epi64(x, y), bias);
            let r = csub(mul_lazy::<M>(&c, difference, f), c.q);
            _mm512_storeu_si512(out.as_mut_ptr().add(i).cast(), r);
        }
    }
}
