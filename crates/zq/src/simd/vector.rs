// SPDX-License-Identifier: Apache-2.0
//! The operations of a register of 64-bit lanes.

/// A register of `LANES` 64-bit lanes. Lanes are unsigned integers unless an operation's name starts with `f_` (doubles).
///
/// # Safety
/// Every method may use instructions of its level: the caller runs inside a function with the target features of the
/// implementing type, on a processor that has them ([`crate::simd::Level::is_supported`]). Pointers are valid for the lanes they
/// read or write, without alignment.
// The names say it all; what they leave open is said below, and the trait's safety section holds for each of them.
#[allow(missing_docs, clippy::missing_safety_doc)]
pub trait Vector: Copy + 'static {
    /// Lanes.
    const LANES: usize;
    /// `log2` of the lanes.
    const LOG_LANES: usize;
    /// `FORWARD_LANES[s][l]`: which of two registers' elements (`0..2 LANES`) stands in lane `l` of `x` after `split::<s>`.
    const FORWARD_LANES: &'static [&'static [usize]];
    /// The same for the inverse order: after `unmerge` (`s = 0`) and after `join::<s>`.
    const INVERSE_LANES: &'static [&'static [usize]];

    unsafe fn load(p: *const u64) -> Self;
    unsafe fn store(self, p: *mut u64);
    unsafe fn splat(x: u64) -> Self;
    unsafe fn add(self, b: Self) -> Self;
    unsafe fn sub(self, b: Self) -> Self;
    unsafe fn and(self, b: Self) -> Self;
    unsafe fn or(self, b: Self) -> Self;
    unsafe fn shr<const N: u32>(self) -> Self;
    unsafe fn shl<const N: u32>(self) -> Self;
    /// Right by a number only known at run time.
    unsafe fn shr_by(self, n: u32) -> Self;
    /// The high 32 bits of each lane in its low bits; what the high bits then hold is unspecified.
    unsafe fn high32(self) -> Self;
    /// Product of the low 32 bits of each lane.
    unsafe fn mul32(self, b: Self) -> Self;
    /// Low 64 bits of the product.
    unsafe fn mullo(self, b: Self) -> Self;
    /// `x - m` if that is not negative, else `x`; needs `-2^63 <= x - m < 2^63`.
    unsafe fn csub(self, m: Self) -> Self;

    unsafe fn f_add(self, b: Self) -> Self;
    unsafe fn f_sub(self, b: Self) -> Self;
    unsafe fn f_mul(self, b: Self) -> Self;
    /// `a b + c`, rounded once.
    unsafe fn f_mul_add(self, b: Self, c: Self) -> Self;
    /// `c - a b`, rounded once.
    unsafe fn f_neg_mul_add(self, b: Self, c: Self) -> Self;
    /// To the nearest integer, ties to even.
    unsafe fn f_round(self) -> Self;
    /// `x` if `x >= 0`, else `x + m`.
    unsafe fn f_add_if_negative(self, m: Self) -> Self;

    /// Two neighbouring registers to the operands of the in-register forward stage `S` (0 = widest).
    unsafe fn split<const S: usize>(a: Self, b: Self) -> (Self, Self);
    /// The results of the last in-register forward stage to two neighbouring registers in order.
    unsafe fn merge(x: Self, y: Self) -> (Self, Self);
    /// Two neighbouring registers to the operands of the first in-register inverse stage.
    unsafe fn unmerge(a: Self, b: Self) -> (Self, Self);
    /// The results of in-register inverse stage `S - 1` to the operands of stage `S`.
    unsafe fn join<const S: usize>(x: Self, y: Self) -> (Self, Self);
    /// The results of the last in-register inverse stage to two neighbouring registers in order.
    unsafe fn unsplit(x: Self, y: Self) -> (Self, Self);
}

/// 52-bit multiply-add: operands are the low 52 bits of `b` and `c`, higher bits are ignored.
///
/// # Safety
/// As [`Vector`].
pub trait Ifma: Vector {
    /// `self + (b c mod 2^52)`.
    ///
    /// # Safety
    /// As [`Vector`].
    unsafe fn madd_lo(self, b: Self, c: Self) -> Self;
    /// `self + floor(b c / 2^52)`.
    ///
    /// # Safety
    /// As [`Vector`].
    unsafe fn madd_hi(self, b: Self, c: Self) -> Self;
}
