// SPDX-License-Identifier: Apache-2.0
//! Butterflies for moduli of 51 to 60 bits on 32-bit vector multiplications, for vectors without 64-bit products.

use zq::simd::Vector;

use super::arith::{Arith, Factor, check_lanes};

/// Montgomery's reduction by one step of 31 bits: seven 32-bit products instead of nine for a quotient from above.
///
/// **Product.** A factor `w` is two residues, `a = w 2^31 mod q` and `b = w 2^63 mod q`, each as low 31 bits and the
/// rest in the halves of a word. With `y = y1 2^32 + y0` the sum `T = y0 a + y1 b` is `y w 2^31` modulo q; with
/// `m = T / q mod 2^31` the product is `(T - m q) / 2^31`. No part overflows: the sum of the low parts of T is below
/// `2 * 2^32 * 2^31`. The low 31 bits of T and m q agree, so their other bits are subtracted. Those of m q are the high
/// word of `2m q`, and `2m` are the low 32 bits of a product by `2 / q`. As `m q < 2^31 q` and
/// `T < 2^32 q + y q / 2^32`, the product is above -q and below `2q + 2q y / 2^64`.
///
/// **Forward.** Values are any words, so products are below 4q. With `u = 2^60 >= q`: before `x` meets a product, it is
/// brought between `u` and `12u` by a multiple of q that its top bit chooses. Sums then are between `u - q` and
/// `12u + 4q`, differences, 3q added, between `u - q` and `12u + 4q`: words again.
///
/// **Inverse.** Values are below 4q, differences below 8q, and their products above -q and below 3q.
#[derive(Clone, Copy)]
pub(crate) struct Mont32<V> {
    value: u64,
    q: V,
    q1: V,
    q2: V,
    q3: V,
    q4: V,
    /// `2 / q` modulo 2^32.
    inverse: V,
    /// What brings a word with its top bit clear, and set, between `u` and `12u`.
    shift: [V; 2],
    /// `floor(2^(bits + 31) / q)`, and `bits - 1`.
    reciprocal: (V, u32),
}

/// `1 / q` modulo 2^64, for odd `q`.
fn inverse(q: u64) -> u64 {
    // Right in the low three bits; each step doubles them.
    (0..5).fold(q, |x, _| {
        x.wrapping_mul(2u64.wrapping_sub(q.wrapping_mul(x)))
    })
}

impl<V: Vector> Mont32<V> {
    /// `y w` above -q and below `2q + 2q y / 2^64`, for any word `y`.
    #[inline(always)]
    unsafe fn product(&self, y: V, f: Factor<V>) -> V {
        // SAFETY: every caller is a method of `Arith` and has the instructions of V; arithmetic of registers.
        unsafe {
            let y1 = y.high32();
            let low = y.mul32(f.w).add(y1.mul32(f.quotient));
            let m2 = low.mul32(self.inverse).opaque();
            let high = y
                .mul32(f.w.high32())
                .add(y1.mul32(f.quotient.high32()))
                .add(low.shr::<31>());
            let less = m2.mul32(self.q1).add(m2.mul32(self.q).shr::<32>());
            high.sub(less)
        }
    }

    /// `y w` below 4q, for `y` below 8q.
    #[inline(always)]
    unsafe fn mul(&self, y: V, f: Factor<V>) -> V {
        // SAFETY: every caller is a method of `Arith` and has the instructions of V.
        unsafe {
            self.check(y, [0, 8]);
            let t = self.product(y, f).add(self.q);
            self.check(t, [0, 4]);
            t
        }
    }

    /// Checks, in debug builds, that every lane is between two multiples of `q`.
    #[inline(always)]
    unsafe fn check(&self, v: V, [least, bound]: [u64; 2]) {
        let multiple = |k: u64| u128::from(k) * u128::from(self.value);
        let holds = |x: u64| (multiple(least)..multiple(bound)).contains(&x.into());
        // SAFETY: the caller has the instructions of V, all that `check_lanes` needs: it stores to an array of its own.
        unsafe { check_lanes(v, holds, "between its multiples of q") };
    }

    /// A value below 4q to a residue.
    #[inline(always)]
    unsafe fn finish(&self, v: V) -> V {
        // SAFETY: every caller is a method of `Arith` and has the instructions of V; subtractions of registers.
        unsafe { v.csub(self.q2).csub(self.q) }
    }
}

impl<V: Vector> Arith for Mont32<V> {
    type V = V;

    fn twiddle(q: u64, w: u64) -> [u64; 2] {
        [31, 63].map(|bits| {
            let residue = ((u128::from(w) << bits) % u128::from(q)) as u64;
            residue >> 31 << 32 | residue & 0x7fff_ffff
        })
    }

    #[inline(always)]
    unsafe fn new(q: u64) -> Self {
        debug_assert!(q % 2 == 1 && q >> 50 > 0 && q >> 60 == 0);
        let u = 1 << 60;
        let bits = u64::BITS - q.leading_zeros();
        let reciprocal = ((1u128 << (bits + 31)) / u128::from(q)) as u64;
        // SAFETY: the caller has the instructions of V (contract of `Arith`), all that a splat needs.
        unsafe {
            Self {
                value: q,
                q: V::splat(q),
                q1: V::splat(q >> 32),
                q2: V::splat(2 * q),
                q3: V::splat(3 * q),
                q4: V::splat(4 * q),
                inverse: V::splat(inverse(q) << 1 & u64::from(u32::MAX)),
                // From u to below 2u, and from -6u to above -7u the other way: words between u and 10u, 2u and 11u.
                shift: [
                    V::splat(q * u64::div_ceil(u, q)),
                    V::splat((q * (6 * u / q)).wrapping_neg()),
                ],
                reciprocal: (V::splat(reciprocal), bits - 1),
            }
        }
    }

    #[inline(always)]
    unsafe fn enter(&self, v: V) -> V {
        v
    }

    #[inline(always)]
    unsafe fn forward(&self, _stage: usize, x: V, y: V, f: Factor<V>) -> (V, V) {
        // SAFETY: the caller has the instructions of V (contract of `Arith`), all that `product` and checks need.
        unsafe {
            let x = x.add_by_sign(self.shift[1], self.shift[0]);
            let holds = |x| (1 << 60..12 << 60).contains(&x);
            check_lanes(x, holds, "between 2^60 and twelve times that");
            let t = self.product(y, f);
            self.check(t.add(self.q), [0, 5]);
            (x.add(t), x.add(self.q3).sub(t))
        }
    }

    /// The quotient of the high half of `v` is short by less than 2: by the cut of `v` and that of the reciprocal,
    /// 2^(33 - bits) each, and its own.
    #[inline(always)]
    unsafe fn leave(&self, v: V) -> V {
        // SAFETY: the caller has the instructions of V (contract of `Arith`); arithmetic of registers.
        unsafe {
            let (reciprocal, shift) = self.reciprocal;
            let h = v.high32().mul32(reciprocal).shr_by(shift);
            let multiple = h.mul32(self.q).add(h.mul32(self.q1).shl::<32>());
            let v = v.sub(multiple);
            self.check(v, [0, 2]);
            v.csub(self.q)
        }
    }

    #[inline(always)]
    unsafe fn inverse(&self, _stage: usize, x: V, y: V, f: Factor<V>) -> (V, V) {
        // SAFETY: the caller has the instructions of V (contract of `Arith`), which `check` and `mul` need.
        unsafe {
            self.check(x, [0, 4]);
            let difference = x.add(self.q4).sub(y);
            (x.add(y).csub(self.q4), self.mul(difference, f))
        }
    }

    #[inline(always)]
    unsafe fn inverse_last(
        &self,
        _stage: usize,
        x: V,
        y: V,
        n_inv: Factor<V>,
        last: Factor<V>,
    ) -> (V, V) {
        // SAFETY: the caller has the instructions of V (contract of `Arith`), all that `mul` and `finish` need.
        unsafe {
            let difference = x.add(self.q4).sub(y);
            (
                self.finish(self.mul(x.add(y), n_inv)),
                self.finish(self.mul(difference, last)),
            )
        }
    }
}
