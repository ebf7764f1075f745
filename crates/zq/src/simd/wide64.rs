// SPDX-License-Identifier: Apache-2.0
//! Arithmetic modulo `q < 2^62` on 32-bit vector multiplications.

use super::Vector;

/// Constants of a modulus, one value in every lane. Operands are residues unless said otherwise.
#[derive(Clone, Copy)]
pub struct Wide64<V> {
    q: V,
    q2: V,
    /// `floor(2^64 / q)`.
    reciprocal: V,
    /// `2^(64-b)` for a modulus of `b` bits, as a factor.
    align: V,
    /// `floor(2^(63+b) / q)`, below 2^64.
    barrett: V,
    low: V,
}

impl<V: Vector> Wide64<V> {
    /// The constants for `2 < q < 2^62`. Without `divides` those of [`Self::mul`] and [`Self::reduce`] are left out:
    /// their two divisions take as long as 200 products.
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    pub unsafe fn new(q: u64, divides: bool) -> Self {
        let bits = u64::BITS - q.leading_zeros();
        let quotient = |shift: u32| match divides {
            true => ((1u128 << shift) / u128::from(q)).min(u64::MAX.into()) as u64,
            false => 0,
        };
        // SAFETY: the caller enabled the features of V, all that a splat needs.
        unsafe {
            Self {
                q: V::splat(q),
                q2: V::splat(2 * q),
                reciprocal: V::splat(quotient(64)),
                align: V::splat(1 << (64 - bits)),
                barrett: V::splat(quotient(63 + bits)),
                low: V::splat(u32::MAX.into()),
            }
        }
    }

    /// The high word of a product. No sum overflows: `(2^32-1)^2 + (2^32-1) < 2^64`.
    #[inline(always)]
    unsafe fn mul_hi(&self, a: V, b: V) -> V {
        // SAFETY: the caller enabled the features of V; products, shifts and sums of registers.
        unsafe {
            let (a1, b1) = (a.high32(), b.high32());
            let mid = a1.mul32(b).add(a.mul32(b).shr::<32>());
            let mid2 = a.mul32(b1).add(mid.and(self.low));
            a1.mul32(b1).add(mid.shr::<32>()).add(mid2.shr::<32>())
        }
    }

    /// `a b mod q`.
    ///
    /// With `c = floor(2^(64-b) a 2b / 2^64) = floor(a b / 2^(b-1)) < 2^63` and `h = floor(c m / 2^64)`,
    /// `m = floor(2^(63+b)/q)`: `a b / q - h` is below 1 (cut of `c`, as `m < 2^64`) + 1/2 (cut of `m`) + 1 (cut of
    /// `h`), so `a b - h q < 2.5 q < 2^64`.
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    pub unsafe fn mul(&self, a: V, b: V) -> V {
        // SAFETY: the caller enabled the features of V, which `mul_hi` needs too; all operands are registers.
        unsafe {
            let c = self.mul_hi(a.mullo(self.align), b.add(b));
            let h = self.mul_hi(c, self.barrett);
            a.mullo(b).sub(h.mullo(self.q)).csub(self.q2).csub(self.q)
        }
    }

    /// `a w mod q` for a factor with `quotient = floor(w 2^64 / q)` and any word `a`.
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    pub unsafe fn mul_shoup(&self, a: V, w: V, quotient: V) -> V {
        // SAFETY: the caller enabled the features of V, which `mul_hi` needs too; nothing is read from memory.
        unsafe {
            a.mullo(w)
                .sub(self.mul_hi(a, quotient).mullo(self.q))
                .csub(self.q)
        }
    }

    /// Any word modulo `q`: the product by 1.
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    pub unsafe fn reduce(&self, a: V) -> V {
        // SAFETY: the caller enabled the features of V, which `mul_hi` needs too; `a` is a register.
        unsafe {
            a.sub(self.mul_hi(a, self.reciprocal).mullo(self.q))
                .csub(self.q)
        }
    }

    /// `a + b mod q`.
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    pub unsafe fn add(&self, a: V, b: V) -> V {
        // SAFETY: the caller enabled the features of V; a sum and a subtraction of registers.
        unsafe { a.add(b).csub(self.q) }
    }

    /// `a - b mod q`.
    ///
    /// # Safety
    /// As [`Vector`].
    #[inline(always)]
    pub unsafe fn sub(&self, a: V, b: V) -> V {
        // SAFETY: the caller enabled the features of V; `a`, `b` and the modulus are registers.
        unsafe { a.add(self.q).sub(b).csub(self.q) }
    }
}
