// SPDX-License-Identifier: Apache-2.0
//! What becomes of sums of products modulo a prime: the trait, and its form in doubles.

use super::float50::FloatFactor;
use super::{Float50, Multiply52, NearestDoubles, Vector};

/// A modulus `2 < q < 2^50` with what takes divisions to compute: `2^52 mod q` and its quotient by `q` times 2^52.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // integers use all, doubles the modulus
pub struct Modulus52 {
    pub(super) q: u64,
    pub(super) carry: u64,
    pub(super) quotient: u64,
}

impl Modulus52 {
    /// The modulus `2 < q < 2^50`.
    #[inline(always)]
    pub fn new(q: u64) -> Self {
        let carry = (1u64 << 52) % q;
        let quotient = ((u128::from(carry) << 52) / u128::from(q)) as u64;
        Self { q, carry, quotient }
    }

    /// The modulus.
    #[inline(always)]
    pub fn value(self) -> u64 {
        self.q
    }
}

/// Sums of products, and single words, times a factor modulo `2 < q < 2^50`.
///
/// # Safety
/// As [`Multiply52`].
// The safety section above holds for each method.
#[allow(clippy::missing_safety_doc)]
pub trait Modular52: Multiply52 {
    /// Constants of a modulus.
    type Constants: Copy;
    /// A fixed factor.
    type Factor: Copy;

    /// The constants of a modulus.
    unsafe fn constants(m: Modulus52) -> Self::Constants;
    /// A factor below `q` for [`Modular52::product`].
    unsafe fn product_factor(q: u64, w: u64) -> Self::Factor;
    /// A factor below `q` for [`Modular52::scaled_sum`]; `q` is odd.
    unsafe fn sum_factor(q: u64, w: u64) -> Self::Factor;
    /// `x w mod q` for the low 52 bits of `x`.
    unsafe fn product(c: &Self::Constants, x: Self::V, f: Self::Factor) -> Self::V;
    /// The sum of products times the factor, modulo `q`. The high sum was started from `q`, and the whole is below
    /// 2^104.
    unsafe fn scaled_sum(c: &Self::Constants, sum: (Self::V, Self::V), f: Self::Factor) -> Self::V;
    /// The sum of products, below 2^104, modulo any `q`.
    unsafe fn reduced_sum(c: &Self::Constants, sum: (Self::V, Self::V)) -> Self::V;
}

const MASK: u64 = (1 << 52) - 1;

// Bodies call operations of V, whose instructions the caller guarantees.
impl<V: Vector> Modular52 for NearestDoubles<V> {
    type Constants = Float50<V>;
    type Factor = FloatFactor<V>;

    #[inline(always)]
    unsafe fn constants(m: Modulus52) -> Self::Constants {
        // SAFETY: the caller enabled the features of V.
        unsafe { Float50::new(m.q) }
    }
    #[inline(always)]
    unsafe fn product_factor(q: u64, w: u64) -> Self::Factor {
        // SAFETY: the caller enabled the features of V.
        unsafe { Float50::factor(q, w) }
    }
    #[inline(always)]
    unsafe fn sum_factor(q: u64, w: u64) -> Self::Factor {
        // SAFETY: the caller enabled the features of V.
        unsafe { Float50::factor(q, w) }
    }
    #[inline(always)]
    unsafe fn product(c: &Self::Constants, x: V, f: Self::Factor) -> V {
        // SAFETY: the caller enabled the features of V; registers only.
        unsafe { c.mul_word(x.and(V::splat(MASK)), f) }
    }
    #[inline(always)]
    unsafe fn scaled_sum(c: &Self::Constants, sum: (V, V), f: Self::Factor) -> V {
        // SAFETY: the caller enabled the features of V; registers only.
        unsafe {
            let (low, high) = Self::carried(sum);
            c.scale_sum(low, high, f)
        }
    }
    #[inline(always)]
    unsafe fn reduced_sum(c: &Self::Constants, sum: (V, V)) -> V {
        // SAFETY: the caller enabled the features of V; registers only.
        unsafe {
            let (low, high) = Self::carried(sum);
            c.reduce_sum(low, high)
        }
    }
}
