// SPDX-License-Identifier: Apache-2.0
//! The kernels with 52-bit multiply-add, eight coefficients at a time, for moduli below 2^50.

use core::arch::x86_64::*;
use zq::{Modulus, Word};

/// The modulus, if these kernels can be used with it for a sum of `terms` products over `n` coefficients, one factor of
/// each below `bound` times the modulus.
///
/// The high halves of the products are at most bound·q²/2^52; their sum and the carries from the low halves must stay
/// below 2^52: terms·(bound·q²/2^52 + 1) <= 2^52. A difference with such a factor needs (bound + 1)·q <= 2^52.
pub(super) fn modulus_for<W: Word>(
    modulus: &Modulus<W>,
    bound: u64,
    terms: usize,
    n: usize,
) -> Option<u64> {
    if W::BITS != 64 || modulus.bits() > 50 || terms >= 1 << 12 || !n.is_multiple_of(8) {
        return None;
    }
    let q = modulus.value().low_u64();
    let (wide, limit) = (u128::from(q), 1u128 << 52);
    let high = ((u128::from(bound) * wide * wide) >> 52) + 1;
    let fits = terms as u128 * high <= limit && (u128::from(bound) + 1) * wide <= limit;
    (fits && zq::simd::level() == zq::simd::Level::Ifma).then_some(q)
}

/// Constants in every lane.
#[derive(Clone, Copy)]
struct Constants {
    q: __m512i,
    two_q: __m512i,
    low: __m512i,
    /// floor(2^52 / q).
    one_quotient: __m512i,
    /// 2^52 mod q and its quotient.
    word: __m512i,
    word_quotient: __m512i,
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn constants(q: u64) -> Constants {
    let word = (1u64 << 52) % q;
    let splat = |x: u64| _mm512_set1_epi64(x as i64);
    Constants {
        q: splat(q),
        two_q: splat(2 * q),
        low: splat((1 << 52) - 1),
        one_quotient: splat((1 << 52) / q),
        word: splat(word),
        word_quotient: splat((((word as u128) << 52) / q as u128) as u64),
    }
}

/// `x·w - floor(x·quotient / 2^52)·q` in 0..2q, for x below 2^52 (Shoup).
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn mul_lazy(c: &Constants, x: __m512i, w: __m512i, quotient: __m512i) -> __m512i {
    let zero = _mm512_setzero_si512();
    let h = _mm512_madd52hi_epu64(zero, x, quotient);
    let r = _mm512_sub_epi64(
        _mm512_madd52lo_epu64(zero, x, w),
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
/// `row` holds the block read; `sources`, if any, has 8 entries at `i` that name one aligned block of eight.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn load(row: *const u64, i: usize, block: Option<(usize, __m512i)>) -> __m512i {
    // SAFETY: the caller's.
    unsafe {
        match block {
            None => _mm512_loadu_si512(row.add(i).cast()),
            Some((start, lanes)) => {
                _mm512_permutexvar_epi64(lanes, _mm512_loadu_si512(row.add(start).cast()))
            }
        }
    }
}

/// A permutation: the source of each coefficient, and what is to be subtracted from it.
type Sources<'a> = (Option<&'a [u32]>, usize);

/// Where the permutation takes lanes i..i+8 from: the start of the block, and lanes within it (low three bits count).
///
/// # Safety
/// `sources` has entries i..i+8.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn block((sources, base): Sources<'_>, i: usize) -> Option<(usize, __m512i)> {
    let sources = sources?;
    let lanes = &sources[i..i + 8];
    debug_assert!(lanes.iter().all(|l| l / 8 == lanes[0] / 8));
    // SAFETY: eight entries were sliced.
    let lanes256 = unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) };
    Some((
        (lanes[0] as usize & !7) - base,
        _mm512_cvtepu32_epi64(lanes256),
    ))
}

/// See [`super::kernels::dot_pair`].
///
/// # Safety
/// The processor has IFMA; every row has as many words as the outputs, a multiple of eight; a permutation maps aligned
/// blocks of eight to such blocks; `modulus_for` accepted q, the number of rows and the bound of the digits.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) unsafe fn dot_pair(
    q: u64,
    digits: &[*const u64],
    keys: [&[*const u64]; 2],
    sources: Sources<'_>,
    out: [&mut [u64]; 2],
) {
    let c = constants(q);
    let zero = _mm512_setzero_si512();
    let [first, second] = out;
    for i in (0..first.len()).step_by(8) {
        let mut low = [zero; 2];
        let mut high = [zero; 2];
        // SAFETY: i..i+8 lies within every row, and blocks of the permutation within the digits.
        unsafe {
            let block = block(sources, i);
            for (d, &digit) in digits.iter().enumerate() {
                let x = load(digit, i, block);
                for h in 0..2 {
                    let y = _mm512_loadu_si512((*keys[h].get_unchecked(d)).add(i).cast());
                    low[h] = _mm512_madd52lo_epu64(low[h], x, y);
                    high[h] = _mm512_madd52hi_epu64(high[h], x, y);
                }
            }
            for (h, out) in [&mut *first, &mut *second].into_iter().enumerate() {
                _mm512_storeu_si512(out.as_mut_ptr().add(i).cast(), reduce(&c, low[h], high[h]));
            }
        }
    }
}

/// `high·2^52 + low` modulo q, reduced.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn reduce(c: &Constants, low: __m512i, high: __m512i) -> __m512i {
    let high = _mm512_add_epi64(high, _mm512_srli_epi64::<52>(low));
    let low = _mm512_and_si512(low, c.low);
    let zero = _mm512_setzero_si512();
    let quotient = _mm512_madd52hi_epu64(zero, low, c.one_quotient);
    let low = _mm512_sub_epi64(low, _mm512_madd52lo_epu64(zero, quotient, c.q));
    // Both summands are below 2q.
    let sum = _mm512_add_epi64(low, mul_lazy(c, high, c.word, c.word_quotient));
    csub(csub(sum, c.two_q), c.q)
}

/// See [`super::kernels::Divide`].
///
/// # Safety
/// As [`dot_pair`].
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) unsafe fn divide(
    (q, bound): (u64, u64),
    correction: &[u64],
    factor: u64,
    (add, sources): (Option<&[u64]>, Sources<'_>),
    out: &mut [u64],
) {
    let c = constants(q);
    let bias = _mm512_set1_epi64((bound * q) as i64);
    let w = _mm512_set1_epi64(factor as i64);
    let quotient = _mm512_set1_epi64((((factor as u128) << 52) / q as u128) as i64);
    for i in (0..out.len()).step_by(8) {
        // SAFETY: i..i+8 lies within every slice, and blocks of the permutation within `add`.
        unsafe {
            let (x, y) = (
                load(out.as_ptr(), i, None),
                load(correction.as_ptr(), i, None),
            );
            // x - y + bound·q is below (bound + 1)·q <= 2^52 in the low 52 bits, which are those that count.
            let difference = _mm512_add_epi64(_mm512_sub_epi64(x, y), bias);
            let mut r = csub(mul_lazy(&c, difference, w, quotient), c.q);
            if let Some(add) = add {
                r = csub(
                    _mm512_add_epi64(r, load(add.as_ptr(), i, block(sources, i))),
                    c.q,
                );
            }
            _mm512_storeu_si512(out.as_mut_ptr().add(i).cast(), r);
        }
    }
}
