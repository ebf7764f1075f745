// SPDX-License-Identifier: Apache-2.0
//! Sums of products of 52-bit integers on four lanes, with fused multiply-add of doubles rounded to nearest.

use super::{Avx2, Multiply52, Vector};

/// AVX2 and FMA: factors are doubles that hold the integers.
///
/// `h = 2^103 + x·y` is a multiple of 2^51, as the last bit of numbers from 2^103 to 2^104 counts 2^51: the low bits of
/// its mantissa are `x·y / 2^51` rounded to nearest. `x·y - (h - 2^103)` is between `-2^50` and `2^50`; 1.5·2^52 added
/// it is an integer below 2^53, hence exact. Sums take whole words; what the exponents add is subtracted beforehand,
/// and 2^51 of every product counted in its low part instead of its high one, so that no low part is negative.
#[derive(Clone, Copy)]
pub struct NearestDoubles;

const TWO_52: f64 = (1u64 << 52) as f64;
const TWO_103: f64 = TWO_52 * (1u64 << 51) as f64;
const MASK: u64 = (1 << 52) - 1;

// Bodies call intrinsics of AVX2 and FMA, which the caller guarantees.
impl Multiply52 for NearestDoubles {
    type V = Avx2;
    const EXCESS_LOW: u64 = (1.5 * TWO_52).to_bits() - (1 << 51);
    const EXCESS_HIGH: u64 = TWO_103.to_bits() + 1;
    const PRODUCT_BITS: u32 = 103;

    #[inline(always)]
    unsafe fn factor(x: Avx2) -> Avx2 {
        // SAFETY: the caller enabled AVX2; masks and a difference of registers.
        unsafe {
            let two = Avx2::splat(TWO_52.to_bits());
            x.and(Avx2::splat(MASK)).or(two).f_sub(two)
        }
    }
    #[inline(always)]
    unsafe fn residue(x: Avx2) -> Avx2 {
        // SAFETY: the caller enabled AVX2; a mask and a difference of registers.
        unsafe {
            let two = Avx2::splat(TWO_52.to_bits());
            x.or(two).f_sub(two)
        }
    }
    #[inline(always)]
    unsafe fn add((low, high): (Avx2, Avx2), x: Avx2, y: Avx2) -> (Avx2, Avx2) {
        // SAFETY: the caller enabled AVX2 and FMA; arithmetic on registers.
        unsafe {
            let h = x.f_mul_add(y, Avx2::splat(TWO_103.to_bits()));
            let rest = Avx2::splat((TWO_103 + 1.5 * TWO_52).to_bits()).f_sub(h);
            (low.add(x.f_mul_add(y, rest)), high.add(h))
        }
    }
    #[inline(always)]
    unsafe fn carried((low, high): (Avx2, Avx2)) -> (Avx2, Avx2) {
        // high 2^51 + low, the low sum below 2^11·1.5·2^52.
        // SAFETY: the caller enabled AVX2; shifts, masks and sums of registers.
        unsafe {
            let high = high.add(low.shr::<51>());
            let low = low.and(Avx2::splat(MASK >> 1));
            let odd = high.and(Avx2::splat(1)).shl::<51>();
            (low.or(odd), high.shr::<1>())
        }
    }
}
