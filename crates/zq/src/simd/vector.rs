// SPDX-License-Identifier: Apache-2.0
//! The operations of a register of 64-bit lanes.

/// A register of `LANES` 64-bit lanes: how they get there and move.
///
/// # Safety
/// Every method may use instructions of its level: the caller runs inside a function with the target features of the
/// implementing type, on a processor that has them ([`crate::simd::Level::is_supported`]). Pointers are valid for the
/// lanes they read or write, without alignment.
// Names are self-explanatory, exceptions documented; the trait's safety section holds for each of them.
#[allow(missing_docs, clippy::missing_safety_doc)]
pub trait Lanes: Copy + 'static {
    /// Lanes, at most [`MAX_LANES`].
    const LANES: usize;
    /// `log2` of the lanes.
    const LOG_LANES: usize;
    /// `LANES_OF_STAGE[s][l]`: which of two neighbouring registers' elements (`0..2 LANES`) stands in lane `l` of `x`
    /// at the in-register stage whose operands are `LANES >> (s + 1)` elements apart. The blocks of the stage take
    /// turns over the first `2^(s+1)` lanes, and the pattern repeats.
    const LANES_OF_STAGE: &'static [&'static [usize]];
    /// Stages of butterflies of a pass: three, two where the operands of three leave no register for anything else.
    const STAGES: u32;
    /// Whether passes hold a pointer for each run: loads of two registers take no index beside a pointer.
    const WALKS: bool = false;

    unsafe fn load(p: *const u64) -> Self;
    unsafe fn store(self, p: *mut u64);
    /// The `D` words at `p`, repeated over the register.
    unsafe fn load_repeated<const D: usize>(p: *const u64) -> Self;
    unsafe fn splat(x: u64) -> Self;
    /// `x` if `x < threshold`, else `x + shift`; both operands of the comparison are below 2^63.
    unsafe fn add_unless_below(self, threshold: Self, shift: Self) -> Self;
    /// Asks for the cache line at `p` in the second level; any address will do.
    unsafe fn prefetch(p: *const u64);

    /// Keeps the compiler from computing pointers to the runs of a pass from each other, where passes hold them.
    fn walk<const R: usize>(_runs: &mut [*mut u64; R]) {}
    /// Scheduling barrier between earlier and later computations. Costs no instruction. Compilers schedule for few
    /// live registers, which strings dependent operations together; this keeps independent ones side by side.
    unsafe fn pin(v: &mut [Self; 8]);
    /// Scheduling barrier for loads as well: an empty instruction that seems to read memory and to change all eight.
    unsafe fn pin_loads(v: &mut [Self; 8]);
    /// Two neighbouring registers (`S` = 0) or the results of stage `S - 1` to the operands of forward stage `S`.
    unsafe fn split<const S: usize>(a: Self, b: Self) -> (Self, Self);
    /// The results of the last in-register forward stage to two neighbouring registers in order.
    unsafe fn merge(x: Self, y: Self) -> (Self, Self);
    /// Two neighbouring registers to the operands of the first in-register inverse stage.
    unsafe fn unmerge(a: Self, b: Self) -> (Self, Self);
    /// The results of inverse step `S - 1` to the operands of the next wider stage.
    unsafe fn join<const S: usize>(x: Self, y: Self) -> (Self, Self);
    /// The results of the last in-register inverse stage to two neighbouring registers in order.
    unsafe fn unsplit(x: Self, y: Self) -> (Self, Self);
}

/// Most lanes of any register.
pub const MAX_LANES: usize = 8;

/// Arithmetic of lanes. They are unsigned integers unless an operation's name starts with `f_` (doubles).
///
/// # Safety
/// As [`Lanes`].
// Names are self-explanatory, exceptions documented; the trait's safety section holds for each of them.
#[allow(missing_docs, clippy::missing_safety_doc)]
pub trait Vector: Lanes {
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
    /// The same lanes, without what the compiler knows of them: it clears high bits of a value that it sees used by
    /// several products of low ones.
    unsafe fn opaque(self) -> Self {
        self
    }
    /// Low 64 bits of the product.
    unsafe fn mullo(self, b: Self) -> Self;
    /// `x - m` if that is not negative, else `x`; needs `-2^63 <= x - m < 2^63`.
    unsafe fn csub(self, m: Self) -> Self;
    /// `x + other` if the top bit is clear, else `x + negative`.
    unsafe fn add_by_sign(self, negative: Self, other: Self) -> Self;

    /// An integer below 2^52 as a double.
    #[inline(always)]
    unsafe fn f_from(self) -> Self {
        /// 2^52: doubles from here to 2^53 are the integers, one apart, in their low 52 bits.
        const MAGIC: f64 = (1u64 << 52) as f64;
        // SAFETY: the caller enabled what the operations of this type need.
        unsafe {
            let magic = Self::splat(MAGIC.to_bits());
            self.or(magic).f_sub(magic)
        }
    }
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
    /// `x + other` if the sign bit is clear, else `x + negative`.
    unsafe fn f_add_by_sign(self, negative: Self, other: Self) -> Self;

    /// The `LANES` indices at `p` for [`Vector::permute`], which reads their low `LOG_LANES` bits.
    unsafe fn lane_indices(p: *const u32) -> Self;
    /// Lane `indices[l]` in lane `l`.
    unsafe fn permute(self, indices: Self) -> Self;
}

/// 52-bit multiply-add: operands are the low 52 bits of `b` and `c`, higher bits are ignored.
///
/// # Safety
/// As [`Vector`].
#[cfg(target_arch = "x86_64")]
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
