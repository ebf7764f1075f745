// SPDX-License-Identifier: Apache-2.0
//! The kernels with 52-bit multiply-add, eight coefficients at a time, for moduli below 2^50.

use core::arch::x86_64::*;
use zq::{Modulus, Word};

/// The modulus, if these kernels can be used with it for a sum of `terms` products over `n` coefficients.
///
/// The high halves of products below 2^(2b) are below 2^(2b-52); their sum and the carries from the low halves must stay
/// below 2^52: terms·(2^(2b-52) + 1) <= 2^52.
pub(super) fn modulus_for<W: Word>(modulus: &Modulus<W>, terms: usize, n: usize) -> Option<u64> {
    let bits = modulus.bits();
    let fits = W::BITS == 64
        && bits <= 50
        && n.is_multiple_of(8)
        && terms < 1 << (104 - 2 * bits.max(46)).min(12);
    (fits && zq::simd::level() == zq::simd::Level::Ifma).then(|| modulus.value().low_u64())
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

/// Where the permutation takes lanes i..i+8 from: the start of the block, and lanes within it (low three bits count).
///
/// # Safety
/// `sources` has entries i..i+8.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn block(sources: Option<&[u32]>, i: usize) -> Option<(usize, __m512i)> {
    let sources = sources?;
    let lanes = &sources[i..i + 8];
    debug_assert!(lanes.iter().all(|l| l / 8 == lanes[0] / 8));
    // SAFETY: eight entries were sliced.
    let lanes256 = unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) };
    Some((lanes[0] as usize & !7, _mm512_cvtepu32_epi64(lanes256)))
}

/// See [`super::kernels::dot_pair`].
///
/// # Safety
/// The processor has IFMA; every row has as many words as the outputs, a multiple of eight; a permutation maps aligned
/// blocks of eight to such blocks; `modulus_for` accepted q and the number of rows.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) unsafe fn dot_pair(
    q: u64,
    digits: &[*const u64],
    keys: [&[*const u64]; 2],
    sources: Option<&[u32]>,
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

/// See [`super::kernels::finish`].
///
/// # Safety
/// As [`dot_pair`].
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) unsafe fn finish(
    q: u64,
    sum: &[u64],
    correction: &[u64],
    factor: u64,
    add: Option<&[u64]>,
    sources: Option<&[u32]>,
    out: &mut [u64],
) {
    let c = constants(q);
    let w = _mm512_set1_epi64(factor as i64);
    let quotient = _mm512_set1_epi64((((factor as u128) << 52) / q as u128) as i64);
    for i in (0..out.len()).step_by(8) {
        // SAFETY: i..i+8 lies within every slice, and blocks of the permutation within `add`.
        unsafe {
            let (x, y) = (
                load(sum.as_ptr(), i, None),
                load(correction.as_ptr(), i, None),
            );
            // x - y + q is below 2q < 2^51.
            let difference = _mm512_add_epi64(_mm512_sub_epi64(x, y), c.q);
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
