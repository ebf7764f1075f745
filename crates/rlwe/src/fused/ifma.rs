// SPDX-License-Identifier: Apache-2.0
//! The kernels with 52-bit multiply-add, eight coefficients at a time, for moduli below 2^50.

use core::arch::x86_64::*;
use zq::{Modulus, Word};

/// The modulus, if these kernels can be used with it for a sum of `terms` products over `n` coefficients, one factor of
/// each below `bound` times the modulus.
///
/// The high halves of the products are at most bound·q²/2^52; their sum, the carries from the low halves and q must stay
/// below 2^52: terms·(bound·q²/2^52 + 1) + q <= 2^52. A difference with such a factor needs (bound + 1)·q <= 2^52.
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
    let (wide, limit) = (u128::from(q), 1u128 << 52);
    let high = ((u128::from(bound) * wide * wide) >> 52) + 1;
    let fits = terms as u128 * high + wide <= limit && (u128::from(bound) + 1) * wide <= limit;
    (fits && zq::simd::level() == zq::simd::Level::Ifma).then_some(q)
}

/// Most products of reduced residues in a sum, and one more, where these kernels can be used.
pub(super) fn most_terms<W: Word>(modulus: &Modulus<W>) -> Option<usize> {
    modulus_for(modulus, 1, 1, BLOCK)?;
    let fits = |terms: &usize| modulus_for(modulus, 1, terms + 1, BLOCK).is_some();
    (1..1 << 12).rev().find(fits)
}

/// Constants in every lane.
#[derive(Clone, Copy)]
struct Constants {
    q: __m512i,
    /// -1 modulo q.
    minus_one: __m512i,
    low: __m512i,
    /// q^-1 mod 2^52.
    inverse: __m512i,
}

/// A factor below q and floor(factor·2^52 / q), in every lane.
#[derive(Clone, Copy)]
struct Factor {
    w: __m512i,
    quotient: __m512i,
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn splat(x: u64) -> __m512i {
    _mm512_set1_epi64(x as i64)
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn constants(q: u64) -> Constants {
    // Newton: every step doubles the bits that are right, three at first.
    let inverse = (0..5).fold(q, |x, _| {
        x.wrapping_mul(2u64.wrapping_sub(q.wrapping_mul(x)))
    });
    Constants {
        q: splat(q),
        minus_one: splat(q - 1),
        low: splat((1 << 52) - 1),
        inverse: splat(inverse),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn factor(q: u64, w: u64) -> Factor {
    Factor {
        w: splat(w),
        quotient: splat(((u128::from(w) << 52) / u128::from(q)) as u64),
    }
}

/// `x·f - floor(x·f.quotient / 2^52)·q` in 0..2q, for x below 2^52 (Shoup).
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn mul_lazy(c: &Constants, x: __m512i, f: Factor) -> __m512i {
    let zero = _mm512_setzero_si512();
    let h = _mm512_madd52hi_epu64(zero, x, f.quotient);
    let r = _mm512_sub_epi64(
        _mm512_madd52lo_epu64(zero, x, f.w),
        _mm512_madd52lo_epu64(zero, h, c.q),
    );
    _mm512_and_si512(r, c.low)
}

/// `x - m` where that is not negative.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn csub(x: __m512i, m: __m512i) -> __m512i {
    _mm512_min_epu64(x, _mm512_sub_epi64(x, m))
}

/// Eight words at `row + i`, or those that the permutation brings there: an aligned block, its lanes permuted.
///
/// # Safety
/// `row` holds the block read.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn load<const PERMUTED: bool>(
    row: *const u64,
    i: usize,
    (start, lanes): (usize, __m512i),
) -> __m512i {
    // SAFETY: the caller's.
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

/// Where the permutation takes lanes i..i+8 from: the start of the block, and lanes within it (low three bits count).
///
/// # Safety
/// There is a permutation, with entries i..i+8 that name one aligned block of eight.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn block((sources, base): Sources<'_>, i: usize) -> (usize, __m512i) {
    let sources = sources.unwrap_or_default();
    debug_assert!(sources[i..i + 8].iter().all(|l| l / 8 == sources[i] / 8));
    // SAFETY: the caller's.
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

/// Most rows of an unrolled sum. Each row has a load instruction of its own, or the processor's prefetcher would take them for
/// one row that jumps about.
const UNROLLED: usize = 8;

/// Low and high halves of the sums of both outputs.
type Sums = [[[__m512i; 2]; SIDE_BY_SIDE]; 2];

/// An empty instruction that seems to read memory and to change all sums. Without it the compiler loads all rows first, more
/// than there are registers for, and makes one half of the sums after the other.
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
/// The rows have the block at `i` and, of the digits, the blocks that the permutation brings there.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn add_products<const D: usize, const PERMUTED: bool>(
    sums: &mut Sums,
    (i, d): (usize, usize),
    (digits, keys): (&[&[u64]], [&[&[u64]]; 2]),
    blocks: [(usize, __m512i); SIDE_BY_SIDE],
) {
    // SAFETY: the caller's.
    unsafe {
        for d in d..d + D {
            for (v, &block) in blocks.iter().enumerate() {
                let x = load::<PERMUTED>(digits.get_unchecked(d).as_ptr(), i + 8 * v, block);
                let [low, high] = &mut *sums;
                for h in 0..2 {
                    let y = load::<false>(keys[h].get_unchecked(d).as_ptr(), i + 8 * v, block);
                    low[v][h] = _mm512_madd52lo_epu64(low[v][h], x, y);
                    high[v][h] = _mm512_madd52hi_epu64(high[v][h], x, y);
                }
            }
            pin(sums);
        }
    }
}

/// What becomes of a sum: `(sum - correction)·factor`, or the sum itself, and `add[σ(i)]·factor`, or `add[σ(i)]` itself, added.
#[derive(Clone, Copy)]
pub(super) struct Finish<'a> {
    /// The correction, and the factor.
    pub division: Option<(&'a [u64], u64)>,
    /// What is added, and its factor.
    pub add: Option<(&'a [u64], Option<u64>)>,
    /// Whether the result is added to what the output holds.
    pub onto: bool,
}

/// See [`super::kernels::dot_pair`].
///
/// # Safety
/// The processor has IFMA; every row has as many words as the outputs, a multiple of [`BLOCK`]; a permutation maps aligned
/// blocks of eight to such blocks; `modulus_for` accepted q, the larger of the bounds of digits and corrections, and the number of
/// rows and one.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) unsafe fn dot_pair(
    q: u64,
    rows: (&[&[u64]], [&[&[u64]]; 2]),
    sources: Sources<'_>,
    finish: [Finish<'_>; 2],
    out: [&mut [u64]; 2],
) {
    macro_rules! with_rows {
        ($($d:literal)*) => {
            match (rows.0.len(), sources.0) {
                // SAFETY: the caller's.
                $(($d, None) => unsafe { sums::<$d, false>(q, rows, sources, finish, out) },)*
                $(($d, _) => unsafe { sums::<$d, true>(q, rows, sources, finish, out) },)*
                (_, None) => unsafe { sums::<0, false>(q, rows, sources, finish, out) },
                (_, _) => unsafe { sums::<0, true>(q, rows, sources, finish, out) },
            }
        };
    }
    with_rows!(1 2 3 4 5 6 7 8)
}

/// [`dot_pair`] for `D` rows, or any number if that is 0.
///
/// # Safety
/// As [`dot_pair`].
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn sums<const D: usize, const PERMUTED: bool>(
    q: u64,
    rows: (&[&[u64]], [&[&[u64]]; 2]),
    sources: Sources<'_>,
    finish: [Finish<'_>; 2],
    [first, second]: [&mut [u64]; 2],
) {
    let c = constants(q);
    let zero = _mm512_setzero_si512();
    let word = (1u64 << 52) % q;
    // The sum is made smaller by 2^52 on the way.
    let factors = finish.map(|f| {
        let w = u128::from(f.division.map_or(1, |(_, w)| w));
        factor(q, (w * u128::from(word) % u128::from(q)) as u64)
    });
    let addends = finish.map(|f| Some(factor(q, f.add?.1?)));
    for i in (0..first.len()).step_by(BLOCK) {
        // q in the high halves keeps the differences below positive.
        let mut sums = [[[zero; 2]; SIDE_BY_SIDE], [[c.q; 2]; SIDE_BY_SIDE]];
        // SAFETY: the block lies within every row, and blocks of the permutation within the digits and what is added.
        unsafe {
            let mut blocks = [(0, zero); SIDE_BY_SIDE];
            if PERMUTED {
                blocks = [block(sources, i), block(sources, i + 8)];
            }
            if D > 0 {
                add_products::<D, PERMUTED>(&mut sums, (i, 0), rows, blocks);
            } else {
                let count = rows.0.len();
                let whole = count / UNROLLED * UNROLLED;
                for d in (0..whole).step_by(UNROLLED) {
                    add_products::<UNROLLED, PERMUTED>(&mut sums, (i, d), rows, blocks);
                }
                for d in whole..count {
                    add_products::<1, PERMUTED>(&mut sums, (i, d), rows, blocks);
                }
            }
            let [mut low, mut high] = sums;
            for (h, out) in [&mut *first, &mut *second].into_iter().enumerate() {
                for (v, &block) in blocks.iter().enumerate() {
                    let at = i + 8 * v;
                    // What is subtracted is one product more.
                    if let Some((correction, _)) = finish[h].division {
                        let y = load::<false>(correction.as_ptr(), at, block);
                        low[v][h] = _mm512_madd52lo_epu64(low[v][h], y, c.minus_one);
                        high[v][h] = _mm512_madd52hi_epu64(high[v][h], y, c.minus_one);
                    }
                    let t = divide_by_word(&c, low[v][h], high[v][h]);
                    let mut r = csub(mul_lazy(&c, t, factors[h]), c.q);
                    if let Some((add, _)) = finish[h].add {
                        let mut y = load::<PERMUTED>(add.as_ptr(), at, block);
                        if let Some(factor) = addends[h] {
                            y = csub(mul_lazy(&c, y, factor), c.q);
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
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn divide_by_word(c: &Constants, low: __m512i, high: __m512i) -> __m512i {
    let zero = _mm512_setzero_si512();
    // m·q has the low half of the sum, so the difference is a multiple of 2^52.
    let m = _mm512_madd52lo_epu64(zero, low, c.inverse);
    let high = _mm512_add_epi64(high, _mm512_srli_epi64::<52>(low));
    _mm512_sub_epi64(high, _mm512_madd52hi_epu64(zero, m, c.q))
}

/// See [`super::kernels::Divide`].
///
/// # Safety
/// As [`dot_pair`].
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) unsafe fn divide((q, bound): (u64, u64), correction: &[u64], w: u64, out: &mut [u64]) {
    let c = constants(q);
    let bias = splat(bound * q);
    let f = factor(q, w);
    for i in (0..out.len()).step_by(8) {
        // SAFETY: i..i+8 lies within every slice.
        unsafe {
            let (x, y) = (
                _mm512_loadu_si512(out.as_ptr().add(i).cast()),
                _mm512_loadu_si512(correction.as_ptr().add(i).cast()),
            );
            // x - y + bound·q is below (bound + 1)·q <= 2^52 in the low 52 bits, which are those that count.
            let difference = _mm512_add_epi64(_mm512_sub_epi64(x, y), bias);
            let r = csub(mul_lazy(&c, difference, f), c.q);
            _mm512_storeu_si512(out.as_mut_ptr().add(i).cast(), r);
        }
    }
}
