// SPDX-License-Identifier: Apache-2.0
//! The slice kernels in vectors: one elementwise operation each, one loop, one entry point for each instruction set.

#[cfg(target_arch = "aarch64")]
use super::Neon;
use super::float50::MAX_BITS;
use super::ops::Op;
#[cfg(target_arch = "x86_64")]
use super::{Avx2, Avx512, Ifma, Ifma52, Integers};
use super::{Float50, Lanes, Level, Modular52, Modulus52, NearestDoubles, Vector, Wide64};

/// A factor with its quotient by 2^64; kernels that need none get 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scalar {
    pub w: u64,
    pub quotient: u64,
}

/// The operands of a call, of equal length; `y` may be the same as `x`.
struct Call<'a> {
    op: Op,
    q: u64,
    s: Scalar,
    out: &'a mut [u64],
    x: Option<&'a [u64]>,
    y: Option<&'a [u64]>,
}

/// Runs a kernel over the whole vectors of the slices;
/// returns how many elements it has done (0 if there is no vector form).
///
/// # Panics
/// If the slices differ in length.
pub(crate) fn run(
    level: Level,
    op: Op,
    q: u64,
    s: Scalar,
    out: &mut [u64],
    x: Option<&[u64]>,
    y: Option<&[u64]>,
) -> usize {
    assert!(
        x.is_none_or(|x| x.len() == out.len()),
        "slice lengths differ"
    );
    assert!(
        y.is_none_or(|y| y.len() == out.len()),
        "slice lengths differ"
    );
    let call = Call {
        op,
        q,
        s,
        out,
        x,
        y,
    };
    // SAFETY: `level` is supported by the processor (contract of `level()`), lengths are checked.
    unsafe {
        match level {
            _ if q <= 2 => 0,
            #[cfg(target_arch = "x86_64")]
            Level::Ifma | Level::IfmaAmd if q >> Ifma52::<Avx512>::MAX_BITS == 0 => ifma(call),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 | Level::Ifma | Level::IfmaAmd => avx512(call),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 if q >> MAX_BITS == 0 => avx2_float(call),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => avx2(call),
            // The processor's product of 64 bits takes fewer instructions than vectors' of 32.
            #[cfg(target_arch = "aarch64")]
            Level::Neon if matches!(op, Op::Reduce | Op::MulAddWords) => 0,
            #[cfg(target_arch = "aarch64")]
            Level::Neon if q >> MAX_BITS == 0 => float::<Neon>(call),
            _ => 0,
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn ifma(call: Call<'_>) -> usize {
    // SAFETY: this function enables AVX-512 F, DQ and IFMA, all that `Avx512` needs; `run` checked the lengths.
    unsafe { narrow::<Avx512>(call) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn avx512(call: Call<'_>) -> usize {
    // SAFETY: this function enables AVX-512 F and DQ, which `Avx512` needs as a `Vector`; `run` checked the lengths.
    unsafe { wide::<Avx512>(call) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2(call: Call<'_>) -> usize {
    // SAFETY: this function enables AVX2 and FMA, all that `Avx2` needs; `run` checked the lengths.
    unsafe { wide::<Avx2>(call) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2_float(call: Call<'_>) -> usize {
    // SAFETY: this function enables AVX2 and FMA, all that `Avx2` needs; `run` checked the lengths.
    unsafe { float::<Avx2>(call) }
}

/// The loop: `$o`, `$x`, `$y` are bound to the operands' vectors, loads that the expression does not use vanish.
macro_rules! each_vector {
    ($call:ident, $V:ty, |$o:ident, $x:ident, $y:ident| $e:expr) => {{
        let len = $call.out.len() / <$V>::LANES * <$V>::LANES;
        let out = $call.out.as_mut_ptr();
        let x = $call.x.map_or(out.cast_const(), <[u64]>::as_ptr);
        let y = $call.y.map_or(x, <[u64]>::as_ptr);
        for i in (0..len).step_by(<$V>::LANES) {
            let $o = <$V>::load(out.add(i));
            let $x = <$V>::load(x.add(i));
            let $y = <$V>::load(y.add(i));
            let _ = ($o, $x, $y);
            $e.store(out.add(i));
        }
        len
    }};
}

/// Kernels for any modulus of `u64`.
#[inline(always)]
unsafe fn wide<V: Vector>(call: Call<'_>) -> usize {
    // SAFETY: features by the caller; all slices have the length of `out`.
    unsafe {
        let divides = matches!(call.op, Op::Reduce | Op::Mul | Op::MulInto | Op::MulAdd);
        let m = Wide64::<V>::new(call.q, divides);
        let (w, quotient) = (V::splat(call.s.w), V::splat(call.s.quotient));
        let zero = V::splat(0);
        match call.op {
            Op::Add => each_vector!(call, V, |o, x, y| m.add(o, x)),
            Op::Sub => each_vector!(call, V, |o, x, y| m.sub(o, x)),
            Op::SubFrom => each_vector!(call, V, |o, x, y| m.sub(x, o)),
            Op::Neg => each_vector!(call, V, |o, x, y| m.sub(zero, o)),
            Op::AddScalar => each_vector!(call, V, |o, x, y| m.add(o, w)),
            Op::Reduce => each_vector!(call, V, |o, x, y| m.reduce(x)),
            Op::Mul => each_vector!(call, V, |o, x, y| m.mul(o, x)),
            Op::MulInto => each_vector!(call, V, |o, x, y| m.mul(x, y)),
            Op::MulAdd => each_vector!(call, V, |o, x, y| m.add(o, m.mul(x, y))),
            Op::MulFactor => each_vector!(call, V, |o, x, y| m.mul_shoup(o, w, quotient)),
            Op::MulFactorInto => each_vector!(call, V, |o, x, y| m.mul_shoup(x, w, quotient)),
            Op::MulAddFactor | Op::MulAddWords => {
                each_vector!(call, V, |o, x, y| m.add(o, m.mul_shoup(x, w, quotient)))
            }
            Op::SubMulFactor => {
                each_vector!(call, V, |o, x, y| m.mul_shoup(m.sub(o, x), w, quotient))
            }
        }
    }
}

/// Kernels for moduli below 2^50.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn narrow<V: Ifma>(call: Call<'_>) -> usize {
    // SAFETY: features by the caller; all slices have the length of `out`, of which only whole vectors are done.
    unsafe {
        let m = Ifma52::<V>::new(call.q);
        // floor(w 2^52 / q) is the top of floor(w 2^64 / q).
        let (w, quotient) = (V::splat(call.s.w), V::splat(call.s.quotient >> 12));
        let (q, zero) = (V::splat(call.q), V::splat(0));
        match call.op {
            Op::Mul => each_vector!(call, V, |o, x, y| m.mul(o, x)),
            Op::MulInto => each_vector!(call, V, |o, x, y| m.mul(x, y)),
            Op::MulAdd => each_vector!(call, V, |o, x, y| m.mul_add(o, x, y)),
            Op::MulFactor => each_vector!(call, V, |o, x, y| m.mul_shoup_add(zero, o, w, quotient)),
            Op::MulFactorInto => {
                each_vector!(call, V, |o, x, y| m.mul_shoup_add(zero, x, w, quotient))
            }
            Op::MulAddFactor => {
                each_vector!(call, V, |o, x, y| m.mul_shoup_add(o, x, w, quotient))
            }
            Op::SubMulFactor => {
                // o - x + q is below 2q < 2^52: the product takes it unreduced.
                each_vector!(call, V, |o, x, y| m.mul_shoup_add(
                    zero,
                    o.add(q).sub(x),
                    w,
                    quotient
                ))
            }
            _ => wide::<V>(call),
        }
    }
}

/// Kernels for moduli below 2^50, in doubles.
#[inline(always)]
unsafe fn float<V: Vector>(call: Call<'_>) -> usize {
    // SAFETY: features by the caller; all slices have the length of `out`, of which only whole vectors are done.
    unsafe {
        let m = Float50::<V>::new(call.q);
        let f = Float50::factor(call.q, call.s.w);
        match call.op {
            Op::Mul => each_vector!(call, V, |o, x, y| m.mul(o, x)),
            Op::MulInto => each_vector!(call, V, |o, x, y| m.mul(x, y)),
            Op::MulAdd => each_vector!(call, V, |o, x, y| m.mul_add(o, x, y)),
            Op::MulFactor => each_vector!(call, V, |o, x, y| m.mul_factor(o, f)),
            Op::MulFactorInto => each_vector!(call, V, |o, x, y| m.mul_factor(x, f)),
            Op::MulAddFactor => each_vector!(call, V, |o, x, y| m.mul_factor_add(o, x, f)),
            Op::SubMulFactor => each_vector!(call, V, |o, x, y| m.sub_mul_factor(o, x, f)),
            _ => wide::<V>(call),
        }
    }
}

/// `out[i] = Σ_k a[k][i] b[k][i] mod q` over the whole vectors; returns how many elements it has done, 0 if there is no
/// vector form or the sum of products might not fit. All slices have the length of `out`.
pub(crate) fn dot(level: Level, q: u64, out: &mut [u64], a: &[&[u64]], b: &[&[u64]]) -> usize {
    assert!(
        a.len() == b.len() && a.iter().chain(b).all(|s| s.len() == out.len()),
        "slice lengths differ"
    );
    let bits = u64::BITS - q.leading_zeros();
    if q <= 2 || bits > MAX_BITS || !sum_fits(a.len(), 2 * bits) {
        return 0;
    }
    // SAFETY: the level is supported, the lengths are equal, the modulus is in range.
    unsafe {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Ifma | Level::IfmaAmd => dot_ifma(q, out, a, b),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => dot_avx2(q, out, a, b),
            #[cfg(target_arch = "aarch64")]
            Level::Neon => dot_of::<NearestDoubles<Neon>>(q, out, a, b),
            _ => 0,
        }
    }
}

/// Whether `terms` products of `bits` bits keep the sum of their high halves (with the carry) below 2^52, and of their
/// low halves below 2^64: what [`Modular52::reduced_sum`] needs.
pub fn sum_fits(terms: usize, bits: u32) -> bool {
    // High halves are below 2^high, and the carry of the low halves is below `terms`: (2^k - 1) 2^high + 2^k <= 2^52
    // with k = 52 - high, as either 2^k <= 2^high or the sum is far below.
    let high = bits.max(53) - 52;
    terms < 1 << 11 && (terms as u64) < 1 << (52 - high)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
unsafe fn dot_ifma(q: u64, out: &mut [u64], a: &[&[u64]], b: &[&[u64]]) -> usize {
    // SAFETY: this function enables the features of the multiplication; all slices have the length of `out`.
    unsafe { dot_of::<Integers>(q, out, a, b) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn dot_avx2(q: u64, out: &mut [u64], a: &[&[u64]], b: &[&[u64]]) -> usize {
    // SAFETY: this function enables the features of the multiplication; all slices have the length of `out`.
    unsafe { dot_of::<NearestDoubles<Avx2>>(q, out, a, b) }
}

/// [`dot`] with the features of `M` enabled.
#[inline(always)]
unsafe fn dot_of<M: Modular52>(q: u64, out: &mut [u64], a: &[&[u64]], b: &[&[u64]]) -> usize {
    /// Vectors at a time: eight chains hide the latency of four cycles on two ports.
    const TILE: usize = 4;
    let lanes = <M::V as Lanes>::LANES;
    // SAFETY: features by the caller; all slices have the length of `out`.
    unsafe {
        let c = M::constants(Modulus52::new(q));
        let start =
            |excess: u64| M::V::splat(0u64.wrapping_sub(excess.wrapping_mul(a.len() as u64)));
        let (low, high) = (start(M::EXCESS_LOW), start(M::EXCESS_HIGH));
        let step = TILE * lanes;
        let len = out.len() / step * step;
        for i in (0..len).step_by(step) {
            let mut sums = [(low, high); TILE];
            for (a, b) in a.iter().zip(b) {
                for (t, sums) in sums.iter_mut().enumerate() {
                    let x = M::residue(M::V::load(a.as_ptr().add(i + t * lanes)));
                    let y = M::residue(M::V::load(b.as_ptr().add(i + t * lanes)));
                    *sums = M::add(*sums, x, y);
                }
            }
            for (t, sums) in sums.into_iter().enumerate() {
                M::reduced_sum(&c, sums).store(out.as_mut_ptr().add(i + t * lanes));
            }
        }
        len
    }
}
