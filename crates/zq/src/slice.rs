// SPDX-License-Identifier: Apache-2.0
//! Kernels over slices of residues. All operands are reduced, all results are reduced.
//!
//! # Panics
//! Every kernel panics if its slices differ in length: lengths are the caller's invariant, never user input.

use crate::{Modulus, Shoup, Word};

/// Applies `f(&mut a[i], b[i])` over equal-length slices.
#[inline(always)]
fn zip2<W: Word>(a: &mut [W], b: &[W], mut f: impl FnMut(&mut W, W)) {
    assert_eq!(a.len(), b.len(), "slice lengths differ");
    a.iter_mut().zip(b).for_each(|(x, &y)| f(x, y));
}

/// Applies `f(&mut a[i], b[i], c[i])` over equal-length slices.
#[inline(always)]
fn zip3<W: Word>(a: &mut [W], b: &[W], c: &[W], mut f: impl FnMut(&mut W, W, W)) {
    assert!(
        a.len() == b.len() && a.len() == c.len(),
        "slice lengths differ"
    );
    a.iter_mut()
        .zip(b)
        .zip(c)
        .for_each(|((x, &y), &z)| f(x, y, z));
}

impl<W: Word> Modulus<W> {
    /// `a[i] += b[i]`.
    pub fn add_assign(&self, a: &mut [W], b: &[W]) {
        zip2(a, b, |x, y| *x = self.add(*x, y));
    }

    /// `a[i] -= b[i]`.
    pub fn sub_assign(&self, a: &mut [W], b: &[W]) {
        zip2(a, b, |x, y| *x = self.sub(*x, y));
    }

    /// `a[i] = b[i] - a[i]`.
    pub fn sub_from_assign(&self, a: &mut [W], b: &[W]) {
        zip2(a, b, |x, y| *x = self.sub(y, *x));
    }

    /// `a[i] = -a[i]`.
    pub fn neg_assign(&self, a: &mut [W]) {
        a.iter_mut().for_each(|x| *x = self.neg(*x));
    }

    /// `a[i] *= b[i]`.
    pub fn mul_assign(&self, a: &mut [W], b: &[W]) {
        zip2(a, b, |x, y| *x = self.mul(*x, y));
    }

    /// `out[i] = a[i] * b[i]`.
    pub fn mul_into(&self, out: &mut [W], a: &[W], b: &[W]) {
        zip3(out, a, b, |o, x, y| *o = self.mul(x, y));
    }

    /// `acc[i] += a[i] * b[i]`.
    pub fn mul_add_assign(&self, acc: &mut [W], a: &[W], b: &[W]) {
        zip3(acc, a, b, |o, x, y| *o = self.mul_add(*o, x, y));
    }

    /// `a[i] += s`, for a reduced `s`.
    pub fn scalar_add_assign(&self, a: &mut [W], s: W) {
        a.iter_mut().for_each(|x| *x = self.add(*x, s));
    }

    /// `a[i] *= s`, for a reduced `s`.
    pub fn scalar_mul_assign(&self, a: &mut [W], s: W) {
        self.shoup_mul_assign(a, self.shoup(s));
    }

    /// `a[i] *= s` for a prepared factor.
    pub fn shoup_mul_assign(&self, a: &mut [W], s: Shoup<W>) {
        a.iter_mut().for_each(|x| *x = self.mul_shoup(*x, s));
    }

    /// `out[i] = a[i] * s` for a prepared factor.
    pub fn shoup_mul_into(&self, out: &mut [W], a: &[W], s: Shoup<W>) {
        zip2(out, a, |o, x| *o = self.mul_shoup(x, s));
    }

    /// `acc[i] += a[i] * s`, for a reduced `s`.
    pub fn scalar_mul_add_assign(&self, acc: &mut [W], a: &[W], s: W) {
        let s = self.shoup(s);
        zip2(acc, a, |o, x| *o = self.add(*o, self.mul_shoup(x, s)));
    }

    /// `a[i] = (a[i] - b[i]) * s` for a prepared factor: the step of a division by a dropped modulus.
    pub fn sub_shoup_mul_assign(&self, a: &mut [W], b: &[W], s: Shoup<W>) {
        zip2(a, b, |x, y| *x = self.mul_shoup(self.sub(*x, y), s));
    }

    /// `a[i] mod q` for arbitrary words.
    pub fn reduce_assign(&self, a: &mut [W]) {
        a.iter_mut().for_each(|x| *x = self.reduce(*x));
    }

    /// `out[i] = src[i] mod q` for arbitrary words, such as residues of another modulus.
    pub fn reduce_into(&self, out: &mut [W], src: &[W]) {
        zip2(out, src, |o, x| *o = self.reduce(x));
    }

    /// Signed small integers to residues.
    pub fn reduce_i64_into(&self, out: &mut [W], src: &[i64]) {
        assert_eq!(out.len(), src.len(), "slice lengths differ");
        out.iter_mut()
            .zip(src)
            .for_each(|(o, &x)| *o = self.reduce_i64(x));
    }

    /// Whether every word is below the modulus; reads all of them.
    pub fn all_reduced(&self, a: &[W]) -> bool {
        a.iter().fold(W::MAX, |ok, x| ok & x.lt_mask(self.value())) == W::MAX
    }
}
