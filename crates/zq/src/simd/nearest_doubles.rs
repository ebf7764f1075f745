// SPDX-License-Identifier: Apache-2.0
//! Sums of products of 52-bit integers with fused multiply-add of doubles rounded to nearest.

use core::marker::PhantomData;

use super::{Multiply52, Vector};

/// AVX2 and FMA, NEON: factors are doubles that hold the integers.
///
/// `h = 2^103 + x·y` is a multiple of 2^51, as the last bit of numbers from 2^103 to 2^104 counts 2^51: the low bits of
/// its mantissa are `x·y / 2^51` rounded to nearest. `x·y - (h - 2^103)` is between `-2^50` and `2^50`; 1.5·2^52 added
/// it is an integer below 2^53, hence exact. Sums take whole words; what the exponents add is subtracted beforehand,
/// and 2^51 of every product counted in its low part instead of its high one, so that no low part is negative.
#[derive(Clone, Copy)]
pub struct NearestDoubles<V>(PhantomData<V>);

const TWO_52: f64 = (1u64 << 52) as f64;
const TWO_103: f64 = TWO_52 * (1u64 << 51) as f64;
const MASK: u64 = (1 << 52) - 1;

// Bodies call operations of V, whose instructions the caller guarantees.
impl<V: Vector> Multiply52 for NearestDoubles<V> {
    type V = V;
    const EXCESS_LOW: u64 = (1.5 * TWO_52).to_bits() - (1 << 51);
    const EXCESS_HIGH: u64 = TWO_103.to_bits() + 1;
    const PRODUCT_BITS: u32 = 103;

    #[inline(always)]
    unsafe fn factor(x: V) -> V {
        // SAFETY: the caller enabled the features of V; masks and a difference of registers.
        unsafe { x.and(V::splat(MASK)).f_from() }
    }
    #[inline(always)]
    unsafe fn residue(x: V) -> V {
        // SAFETY: the caller enabled the features of V; a mask and a difference of registers.
        unsafe { x.f_from() }
    }
    #[inline(always)]
    unsafe fn add((low, high): (V, V), x: V, y: V) -> (V, V) {
        // SAFETY: the caller enabled the features of V; arithmetic on registers.
        unsafe {
            let h = x.f_mul_add(y, V::splat(TWO_103.to_bits()));
            let rest = V::splat((TWO_103 + 1.5 * TWO_52).to_bits()).f_sub(h);
            (low.add(x.f_mul_add(y, rest)), high.add(h))
        }
    }
    #[inline(always)]
    unsafe fn carried((low, high): (V, V)) -> (V, V) {
        // high 2^51 + low, the low sum below 2^11·1.5·2^52.
        // SAFETY: the caller enabled the features of V; shifts, masks and sums of registers.
        unsafe {
            let high = high.add(low.shr::<51>());
            let low = low.and(V::splat(MASK >> 1));
            let odd = high.and(V::splat(1)).shl::<51>();
            (low.or(odd), high.shr::<1>())
        }
    }
}
