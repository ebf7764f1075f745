// SPDX-License-Identifier: Apache-2.0
//! Kernels over slices of residues. All operands are reduced, all results are reduced.
//!
//! For `u64` they run in the vector instructions of [`crate::simd::level`], with the same results.
//!
//! # Panics
//! Every kernel panics if its slices differ in length: lengths are the caller's invariant, never user input.

use crate::simd::ops::Op;
use crate::{Modulus, Shoup, Word};

impl<W: Word> Modulus<W> {
    /// `a[i] += b[i]`.
    #[inline(never)]
    pub fn add_assign(&self, a: &mut [W], b: &[W]) {
        self.run1(Op::Add, Shoup::default(), a, b, |x, y| self.add(x, y));
    }

    /// `a[i] -= b[i]`.
    #[inline(never)]
    pub fn sub_assign(&self, a: &mut [W], b: &[W]) {
        self.run1(Op::Sub, Shoup::default(), a, b, |x, y| self.sub(x, y));
    }

    /// `a[i] = b[i] - a[i]`.
    #[inline(never)]
    pub fn sub_from_assign(&self, a: &mut [W], b: &[W]) {
        self.run1(Op::SubFrom, Shoup::default(), a, b, |x, y| self.sub(y, x));
    }

    /// `a[i] = -a[i]`.
    #[inline(never)]
    pub fn neg_assign(&self, a: &mut [W]) {
        self.run0(Op::Neg, Shoup::default(), a, |x| self.neg(x));
    }

    /// `a[i] *= b[i]`.
    #[inline(never)]
    pub fn mul_assign(&self, a: &mut [W], b: &[W]) {
        self.run1(Op::Mul, Shoup::default(), a, b, |x, y| self.mul(x, y));
    }

    /// `out[i] = a[i] * b[i]`.
    #[inline(never)]
    pub fn mul_into(&self, out: &mut [W], a: &[W], b: &[W]) {
        self.run2(Op::MulInto, out, a, b, |_, x, y| self.mul(x, y));
    }

    /// `acc[i] += a[i] * b[i]`.
    #[inline(never)]
    pub fn mul_add_assign(&self, acc: &mut [W], a: &[W], b: &[W]) {
        self.run2(Op::MulAdd, acc, a, b, |o, x, y| self.mul_add(o, x, y));
    }

    /// `out[i] = Σ_k a[k][i] * b[k][i]`, reduced once at the end where that is faster.
    #[inline(never)]
    pub fn dot_into(&self, out: &mut [W], a: &[&[W]], b: &[&[W]]) {
        assert_eq!(
            a.len(),
            b.len(),
            "as many factors on the left as on the right"
        );
        assert!(
            a.iter().chain(b).all(|s| s.len() == out.len()),
            "slice lengths differ"
        );
        let done = self.dot_vectors(out, a, b);
        let out = &mut out[done..];
        out.fill(W::ZERO);
        for (a, b) in a.iter().zip(b) {
            self.mul_add_assign(out, &a[done..], &b[done..]);
        }
    }

    /// `a[i] += s`, for a reduced `s`.
    #[inline(never)]
    pub fn scalar_add_assign(&self, a: &mut [W], s: W) {
        let factor = Shoup {
            w: s,
            quotient: W::ZERO,
        };
        self.run0(Op::AddScalar, factor, a, |x| self.add(x, s));
    }

    /// `a[i] *= s`, for a reduced `s`.
    #[inline(never)]
    pub fn scalar_mul_assign(&self, a: &mut [W], s: W) {
        self.shoup_mul_assign(a, self.shoup(s));
    }

    /// `a[i] *= s` for a prepared factor.
    #[inline(never)]
    pub fn shoup_mul_assign(&self, a: &mut [W], s: Shoup<W>) {
        self.run0(Op::MulFactor, s, a, |x| self.mul_shoup(x, s));
    }

    /// `out[i] = a[i] * s` for a prepared factor.
    #[inline(never)]
    pub fn shoup_mul_into(&self, out: &mut [W], a: &[W], s: Shoup<W>) {
        self.run1(Op::MulFactorInto, s, out, a, |_, x| self.mul_shoup(x, s));
    }

    /// `acc[i] += a[i] * s`, for a reduced `s`.
    #[inline(never)]
    pub fn scalar_mul_add_assign(&self, acc: &mut [W], a: &[W], s: W) {
        self.shoup_mul_add_assign(acc, a, self.shoup(s));
    }

    /// `acc[i] += a[i] * s` for a prepared factor.
    #[inline(never)]
    pub fn shoup_mul_add_assign(&self, acc: &mut [W], a: &[W], s: Shoup<W>) {
        self.run1(Op::MulAddFactor, s, acc, a, |o, x| {
            self.add(o, self.mul_shoup(x, s))
        });
    }

    /// As [`Modulus::shoup_mul_add_assign`] for arbitrary words `a`, such as residues of another modulus.
    #[inline(never)]
    pub fn shoup_mul_add_words_assign(&self, acc: &mut [W], a: &[W], s: Shoup<W>) {
        let f = |o, x| self.add(o, self.mul_shoup(x, s));
        self.run1(Op::MulAddWords, s, acc, a, f);
    }

    /// `a[i] = (a[i] - b[i]) * s` for a prepared factor: the step of a division by a dropped modulus.
    #[inline(never)]
    pub fn sub_shoup_mul_assign(&self, a: &mut [W], b: &[W], s: Shoup<W>) {
        self.run1(Op::SubMulFactor, s, a, b, |x, y| {
            self.mul_shoup(self.sub(x, y), s)
        });
    }

    /// `a[i] mod q` for arbitrary words.
    #[inline(never)]
    pub fn reduce_assign(&self, a: &mut [W]) {
        // Without operands, the vector form reads `x` from the output.
        self.run0(Op::Reduce, Shoup::default(), a, |x| self.reduce(x));
    }

    /// `out[i] = src[i] mod q` for arbitrary words, such as residues of another modulus.
    #[inline(never)]
    pub fn reduce_into(&self, out: &mut [W], src: &[W]) {
        self.run1(Op::Reduce, Shoup::default(), out, src, |_, x| {
            self.reduce(x)
        });
    }

    /// Signed small integers to residues.
    #[inline(never)]
    pub fn reduce_i64_into(&self, out: &mut [W], src: &[i64]) {
        assert_eq!(out.len(), src.len(), "slice lengths differ");
        let q = self.value();
        let in_range = |x: i64| W::from_u64(x.unsigned_abs()).lt_mask(q);
        let pairs = out.iter_mut().zip(src);
        // Samples and digits are smaller than any modulus: one addition. Whether all are is no secret.
        if src.iter().fold(W::MAX, |ok, &x| ok & in_range(x)) == W::MAX {
            pairs.for_each(|(o, &x)| {
                let magnitude = W::from_u64(x.unsigned_abs());
                let negative = W::ZERO.wrapping_sub(W::from_u64((x as u64) >> 63));
                *o = W::select(negative, self.neg(magnitude), magnitude);
            });
        } else {
            pairs.for_each(|(o, &x)| *o = self.reduce_i64(x));
        }
    }

    /// Whether every word is below the modulus; reads all of them.
    #[inline(never)]
    pub fn all_reduced(&self, a: &[W]) -> bool {
        a.iter().fold(W::MAX, |ok, x| ok & x.lt_mask(self.value())) == W::MAX
    }

    /// The vector form of an operation, then the elements it leaves.
    #[inline(always)]
    fn run0(&self, op: Op, s: Shoup<W>, out: &mut [W], f: impl Fn(W) -> W) {
        let done = self.vectors(op, s, out, None, None);
        out[done..].iter_mut().for_each(|o| *o = f(*o));
    }

    /// As `run0` with one operand.
    #[inline(always)]
    fn run1(&self, op: Op, s: Shoup<W>, out: &mut [W], x: &[W], f: impl Fn(W, W) -> W) {
        assert_eq!(out.len(), x.len(), "slice lengths differ");
        let done = self.vectors(op, s, out, Some(x), None);
        out[done..]
            .iter_mut()
            .zip(&x[done..])
            .for_each(|(o, &x)| *o = f(*o, x));
    }

    /// As `run0` with two operands.
    #[inline(always)]
    fn run2(&self, op: Op, out: &mut [W], x: &[W], y: &[W], f: impl Fn(W, W, W) -> W) {
        assert!(
            out.len() == x.len() && out.len() == y.len(),
            "slice lengths differ"
        );
        let done = self.vectors(op, Shoup::default(), out, Some(x), Some(y));
        let operands = x[done..].iter().zip(&y[done..]);
        out[done..]
            .iter_mut()
            .zip(operands)
            .for_each(|(o, (&x, &y))| *o = f(*o, x, y));
    }

    /// Number of leading elements that the vector form has done.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[inline]
    fn vectors(
        &self,
        op: Op,
        s: Shoup<W>,
        out: &mut [W],
        x: Option<&[W]>,
        y: Option<&[W]>,
    ) -> usize {
        let (x, y) = (x.and_then(W::as_u64s), y.and_then(W::as_u64s));
        let Some(out) = W::as_u64s_mut(out) else {
            return 0;
        };
        let s = crate::simd::kernels::Scalar {
            w: s.w.low_u64(),
            quotient: s.quotient.low_u64(),
        };
        crate::simd::kernels::run(
            crate::simd::level(),
            op,
            self.value().low_u64(),
            s,
            out,
            x,
            y,
        )
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    fn vectors(&self, _: Op, _: Shoup<W>, _: &mut [W], _: Option<&[W]>, _: Option<&[W]>) -> usize {
        0
    }

    /// Number of leading elements of a sum of products that the vector form has done.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn dot_vectors(&self, out: &mut [W], a: &[&[W]], b: &[&[W]]) -> usize {
        // Lists of slices cannot be viewed as another word's without a copy; they are short.
        if a.len() > MAX_DOT {
            return 0;
        }
        let (mut left, mut right) = ([&[][..]; MAX_DOT], [&[][..]; MAX_DOT]);
        for (k, (a, b)) in a.iter().zip(b).enumerate() {
            let (Some(a), Some(b)) = (W::as_u64s(a), W::as_u64s(b)) else {
                return 0;
            };
            (left[k], right[k]) = (a, b);
        }
        let Some(out) = W::as_u64s_mut(out) else {
            return 0;
        };
        let (left, right) = (&left[..a.len()], &right[..a.len()]);
        crate::simd::kernels::dot(
            crate::simd::level(),
            self.value().low_u64(),
            out,
            left,
            right,
        )
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    fn dot_vectors(&self, _: &mut [W], _: &[&[W]], _: &[&[W]]) -> usize {
        0
    }
}

/// Longest sum of products with a vector form.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const MAX_DOT: usize = 64;
