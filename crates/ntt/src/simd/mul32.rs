// SPDX-License-Identifier: Apache-2.0
//! Butterflies for moduli up to 62 bits on 32-bit vector multiplications.

use zq::simd::Vector;

use super::arith::{Arith, Factor, check_lanes};

/// Harvey's butterflies with a 64-bit quotient `w' = floor(w 2^64 / q)`.
///
/// **Exact** (`q < 2^62`): `h = floor(y w' / 2^64)`, the product `y w - h q` is below 2q for any `y`. Forward values
/// stay below 4q, inverse values below 2q.
///
/// **Short** (`q < 2^60`): of the four 32-bit partial products of `y w'` the lowest is dropped and two are cut off
/// before they are added. `y w / q - h` is the sum of four losses below 1: that of `w'`, the dropped product, the two
/// cuts. So the product is below 4q. Forward: `x` is brought below 8q in every even stage; values go 8q, 12q, 16q <=
/// 2^64. Inverse values stay below 4q, differences below 8q.
#[derive(Clone, Copy)]
pub(crate) struct Mul32<V, const EXACT: bool> {
    value: u64,
    q: V,
    q2: V,
    q4: V,
    q8: V,
    low: V,
}

impl<V: Vector, const EXACT: bool> Mul32<V, EXACT> {
    /// The high word of `y w'`, or up to 3 less.
    #[inline(always)]
    unsafe fn quotient(&self, y: V, w: V) -> V {
        // SAFETY: instructions of V by the contract of `Arith`.
        unsafe {
            let (y1, w1) = (y.high32(), w.high32());
            if EXACT {
                // No sum overflows: (2^32-1)^2 + (2^32-1) < 2^64.
                let mid = y1.mul32(w).add(y.mul32(w).shr::<32>());
                let mid2 = y.mul32(w1).add(mid.and(self.low));
                y1.mul32(w1).add(mid.shr::<32>()).add(mid2.shr::<32>())
            } else {
                let cross = y1.mul32(w).shr::<32>().add(y.mul32(w1).shr::<32>());
                y1.mul32(w1).add(cross)
            }
        }
    }

    /// `y w` below 2q (exact) or 4q (short), for any `y`.
    #[inline(always)]
    unsafe fn mul(&self, y: V, f: Factor<V>) -> V {
        // SAFETY: every caller is a method of `Arith` and has the instructions of V, as `quotient` and `check` ask.
        unsafe {
            let t = y.mullo(f.w).sub(self.quotient(y, f.quotient).mullo(self.q));
            self.check(t, if EXACT { 2 } else { 4 });
            t
        }
    }

    /// Checks, in debug builds, that every lane is below `bound` times `q`.
    #[inline(always)]
    unsafe fn check(&self, v: V, bound: u64) {
        let q = self.value;
        // SAFETY: the caller has the instructions of V, all that `check_lanes` needs: it stores to an array of its own.
        unsafe {
            check_lanes(
                v,
                |x| u128::from(x) < u128::from(bound) * u128::from(q),
                "below its multiple of q",
            )
        };
    }

    /// The bound of a product.
    #[inline(always)]
    fn bound(&self) -> V {
        if EXACT { self.q2 } else { self.q4 }
    }

    /// A product to a residue.
    #[inline(always)]
    unsafe fn finish(&self, v: V) -> V {
        // SAFETY: every caller is a method of `Arith` and has the instructions of V; subtractions of registers.
        unsafe { (if EXACT { v } else { v.csub(self.q2) }).csub(self.q) }
    }
}

impl<V: Vector, const EXACT: bool> Arith for Mul32<V, EXACT> {
    type V = V;

    fn twiddle(q: u64, w: u64) -> [u64; 2] {
        [w, ((u128::from(w) << 64) / u128::from(q)) as u64]
    }

    #[inline(always)]
    unsafe fn new(q: u64) -> Self {
        debug_assert!(q < 1 << if EXACT { 62 } else { 60 });
        // 8q is used by the short form only, where it fits.
        // SAFETY: the caller has the instructions of V (contract of `Arith`), all that a splat needs.
        unsafe {
            Self {
                value: q,
                q: V::splat(q),
                q2: V::splat(2 * q),
                q4: V::splat(q << 2),
                q8: V::splat(q << 3),
                low: V::splat(u32::MAX.into()),
            }
        }
    }

    #[inline(always)]
    unsafe fn enter(&self, v: V) -> V {
        v
    }

    #[inline(always)]
    unsafe fn forward(&self, stage: usize, x: V, y: V, f: Factor<V>) -> (V, V) {
        // SAFETY: the caller has the instructions of V (contract of `Arith`), all that `mul` and `check` need.
        unsafe {
            let x = if EXACT {
                x.csub(self.q2)
            } else if stage.is_multiple_of(2) {
                x.csub(self.q8)
            } else {
                x
            };
            self.check(x, if EXACT { 2 } else { 8 + 4 * (stage as u64 % 2) });
            let t = self.mul(y, f);
            (x.add(t), x.add(self.bound()).sub(t))
        }
    }

    #[inline(always)]
    unsafe fn leave(&self, v: V) -> V {
        // SAFETY: the caller has the instructions of V (contract of `Arith`), all that `finish` needs.
        unsafe {
            self.finish(if EXACT {
                v.csub(self.q2)
            } else {
                v.csub(self.q8).csub(self.q4)
            })
        }
    }

    #[inline(always)]
    unsafe fn inverse(&self, _stage: usize, x: V, y: V, f: Factor<V>) -> (V, V) {
        // SAFETY: the caller has the instructions of V (contract of `Arith`), which `check` and `mul` need.
        unsafe {
            self.check(x, if EXACT { 2 } else { 4 });
            let difference = x.add(self.bound()).sub(y);
            (x.add(y).csub(self.bound()), self.mul(difference, f))
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
            let difference = x.add(self.bound()).sub(y);
            (
                self.finish(self.mul(x.add(y), n_inv)),
                self.finish(self.mul(difference, last)),
            )
        }
    }
}
