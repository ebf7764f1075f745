// SPDX-License-Identifier: Apache-2.0
//! The reference transforms for any word: in-place Cooley–Tukey forward, Gentleman–Sande inverse.
//!
//! With room for `4q` the butterflies are Harvey's ("Faster arithmetic for number-theoretic transforms", 2014): values
//! stay below `4q` (forward) or `2q` (inverse) between stages.
//! Wider moduli take the same loops with reduced butterflies.

use core::sync::atomic::{Ordering, compiler_fence};

use zq::{Modulus, Shoup, Word};

use crate::tables::{Tables, Twiddles};

/// One stage's arithmetic; `u`, `v` are a butterfly's two values.
trait Butterfly<W: Word>: Copy {
    /// `(u + w v, u - w v)`.
    fn forward(self, u: W, v: W, w: Shoup<W>) -> (W, W);
    /// `(u + v, (u - v) w)`.
    fn inverse(self, u: W, v: W, w: Shoup<W>) -> (W, W);
    /// Any value of a forward chain to `0..q`.
    fn finish(self, u: W) -> W;
}

/// Harvey's lazy butterflies.
#[derive(Clone, Copy)]
struct Lazy<'a, W>(&'a Modulus<W>, W);

impl<W: Word> Butterfly<W> for Lazy<'_, W> {
    /// In `0..4q`, out `0..4q`: `u` is brought below `2q`, `wv` is below `2q` for any word `v`.
    #[inline(always)]
    fn forward(self, u: W, v: W, w: Shoup<W>) -> (W, W) {
        let u = W::csub(u, self.1);
        let t = self.0.mul_shoup_lazy(v, w);
        (u.wrapping_add(t), u.wrapping_add(self.1.wrapping_sub(t)))
    }
    /// In `0..2q`, out `0..2q`.
    #[inline(always)]
    fn inverse(self, u: W, v: W, w: Shoup<W>) -> (W, W) {
        let sum = W::csub(u.wrapping_add(v), self.1);
        (
            sum,
            self.0
                .mul_shoup_lazy(u.wrapping_add(self.1.wrapping_sub(v)), w),
        )
    }
    #[inline(always)]
    fn finish(self, u: W) -> W {
        self.0.reduce_2q(W::csub(u, self.1))
    }
}

/// Reduced butterflies for moduli without lazy room.
#[derive(Clone, Copy)]
struct Strict<'a, W>(&'a Modulus<W>);

impl<W: Word> Butterfly<W> for Strict<'_, W> {
    #[inline(always)]
    fn forward(self, u: W, v: W, w: Shoup<W>) -> (W, W) {
        let t = self.0.mul(v, w.w);
        (self.0.add(u, t), self.0.sub(u, t))
    }
    #[inline(always)]
    fn inverse(self, u: W, v: W, w: Shoup<W>) -> (W, W) {
        (self.0.add(u, v), self.0.mul(self.0.sub(u, v), w.w))
    }
    #[inline(always)]
    fn finish(self, u: W) -> W {
        u
    }
}

/// Both halves of a block through `f`.
#[inline(always)]
fn zip_halves<W: Word>(block: &mut [W], half: usize, f: impl Fn(W, W) -> (W, W)) {
    let (lo, hi) = block.split_at_mut(half);
    for (u, v) in lo.iter_mut().zip(hi) {
        // No instruction, but it keeps the loop scalar: baseline vectors have no 64-bit product, and a loop split
        // between both takes twice as long.
        compiler_fence(Ordering::AcqRel);
        (*u, *v) = f(*u, *v);
    }
}

/// The forward transform; reduced in, reduced out.
pub(crate) fn forward<W: Word>(tables: &Tables<W>, a: &mut [W]) {
    let m = &tables.modulus;
    if m.has_lazy_room() {
        forward_with(Lazy(m, m.value() << 1), &tables.forward, a);
    } else {
        forward_with(Strict(m), &tables.forward, a);
    }
}

/// The inverse transform; reduced in, reduced out.
pub(crate) fn inverse<W: Word>(tables: &Tables<W>, a: &mut [W]) {
    let m = &tables.modulus;
    if m.has_lazy_room() {
        inverse_with(Lazy(m, m.value() << 1), tables, a);
    } else {
        inverse_with(Strict(m), tables, a);
    }
}

fn forward_with<W: Word>(b: impl Butterfly<W>, tw: &Twiddles<W>, a: &mut [W]) {
    let n = a.len();
    let mut half = n / 2;
    while half > 1 {
        let blocks = n / (2 * half);
        for (block, w) in a.chunks_exact_mut(2 * half).zip(tw.range(blocks)) {
            zip_halves(block, half, |u, v| b.forward(u, v, w));
        }
        half /= 2;
    }
    for (pair, w) in a.chunks_exact_mut(2).zip(tw.range(n / 2)) {
        let (u, v) = b.forward(pair[0], pair[1], w);
        (pair[0], pair[1]) = (b.finish(u), b.finish(v));
    }
}

fn inverse_with<W: Word>(b: impl Butterfly<W>, tables: &Tables<W>, a: &mut [W]) {
    let n = a.len();
    for (pair, w) in a.chunks_exact_mut(2).zip(tables.inverse.range(n / 2)) {
        (pair[0], pair[1]) = b.inverse(pair[0], pair[1], w);
    }
    let mut half = 2;
    while half < n / 2 {
        let blocks = n / (2 * half);
        for (block, w) in a
            .chunks_exact_mut(2 * half)
            .zip(tables.inverse.range(blocks))
        {
            zip_halves(block, half, |u, v| b.inverse(u, v, w));
        }
        half *= 2;
    }
    // The last stage multiplies both halves, so n^-1 costs one product more per butterfly and no pass. `mul_shoup`
    // accepts any word, and u + v < 4q fits the word when values are lazy.
    let (lo, hi) = a.split_at_mut(n / 2);
    for (u, v) in lo.iter_mut().zip(hi) {
        let (sum, difference) = b.inverse(*u, *v, tables.n_inv_last);
        *u = tables.modulus.mul_shoup(sum, tables.n_inv);
        *v = b.finish(difference);
    }
}
