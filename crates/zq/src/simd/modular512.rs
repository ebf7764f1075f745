// SPDX-License-Identifier: Apache-2.0
//! What becomes of sums of products modulo a prime on eight lanes: integer arithmetic on halves of products.

use super::{Avx512, Doubles, Halves, Integers, Lanes, Modular52, Modulus52, Vector};

const MASK: u64 = (1 << 52) - 1;

/// Constants of a modulus for integer arithmetic, as factors but for the first two and the mask.
#[derive(Clone, Copy)]
pub struct Constants {
    q: Avx512,
    q2: Avx512,
    q_factor: Avx512,
    /// q^-1 modulo 2^52.
    inverse: Avx512,
    /// `floor(2^52 / q)`.
    reciprocal: Avx512,
    /// `2^52 mod q`, and its quotient.
    carry: Factor,
    mask: Avx512,
}

/// A factor below q and floor(factor·2^52 / q), in every lane.
#[derive(Clone, Copy)]
pub struct Factor {
    w: Avx512,
    quotient: Avx512,
}

/// # Safety
/// As [`Multiply52`], as all that follows.
#[inline(always)]
unsafe fn constants<M: Halves>(Modulus52 { q, carry, quotient }: Modulus52) -> Constants {
    // Newton: every step doubles the bits that are right, three at first.
    let step = |x: u64| x.wrapping_mul(2u64.wrapping_sub(q.wrapping_mul(x)));
    let inverse = step(step(step(step(step(q)))));
    // SAFETY: the caller enabled AVX-512 F and the instructions of M; words go to registers by value.
    unsafe {
        Constants {
            q: Avx512::splat(q),
            q2: Avx512::splat(2 * q),
            q_factor: M::factor(Avx512::splat(q)),
            inverse: M::factor(Avx512::splat(inverse)),
            reciprocal: M::factor(Avx512::splat((1 << 52) / q)),
            carry: Factor {
                w: M::factor(Avx512::splat(carry)),
                quotient: M::factor(Avx512::splat(quotient)),
            },
            mask: Avx512::splat(MASK),
        }
    }
}

#[inline(always)]
unsafe fn factor<M: Halves>(q: u64, w: u64) -> Factor {
    // SAFETY: the caller enabled AVX-512 F and the instructions of M, which a splat and a factor need.
    unsafe {
        Factor {
            w: M::factor(Avx512::splat(w)),
            quotient: M::factor(Avx512::splat(
                ((u128::from(w) << 52) / u128::from(q)) as u64,
            )),
        }
    }
}

/// `x·f mod q` for the low 52 bits of x: Shoup's product is below 2q.
#[inline(always)]
unsafe fn product<M: Halves>(c: &Constants, x: Avx512, f: Factor) -> Avx512 {
    // SAFETY: the caller enabled AVX-512 F and the instructions of M; `x` and the constants are registers.
    unsafe {
        let x = M::factor(x);
        let h = M::factor(M::high(x, f.quotient));
        let r = M::low(x, f.w).sub(M::low(h, c.q_factor));
        r.and(c.mask).csub(c.q)
    }
}

/// Montgomery's division by 2^52, then the product.
#[inline(always)]
unsafe fn scaled_sum<M: Halves>(c: &Constants, (low, high): (Avx512, Avx512), f: Factor) -> Avx512 {
    // SAFETY: the caller enabled AVX-512 F and the instructions of M; both sums and the constants are registers.
    unsafe {
        // m·q has the low half of the sum, so the difference is a multiple of 2^52; q in the high sum keeps it above 0.
        let m = M::low(M::factor(low), c.inverse);
        let high = high.add(low.shr::<52>());
        let t = high.sub(M::high(M::factor(m), c.q_factor));
        product::<M>(c, t, f)
    }
}

/// `high (2^52 mod q)` less its quotient times q is below 2q, and so are the low 52 bits less theirs; `4q <= 2^52`.
#[inline(always)]
unsafe fn reduced_sum<M: Halves>(c: &Constants, (low, high): (Avx512, Avx512)) -> Avx512 {
    // SAFETY: the caller enabled AVX-512 F and the instructions of M; the sums and the constants are registers.
    unsafe {
        let high = M::factor(high.add(low.shr::<52>()));
        let rest = low.and(c.mask);
        let h = M::factor(M::high(high, c.carry.quotient));
        let l = M::factor(M::high(M::factor(low), c.reciprocal));
        let more = rest.add(M::low(high, c.carry.w));
        let less = M::low(h, c.q_factor).add(M::low(l, c.q_factor));
        more.sub(less).and(c.mask).csub(c.q2).csub(c.q)
    }
}

macro_rules! integer_arithmetic {
    ($multiply:ty) => {
        // SAFETY: bodies need AVX-512 F and DQ and the instructions of the multiplication, as their caller vouches.
        impl Modular52 for $multiply {
            type Constants = Constants;
            type Factor = Factor;

            #[inline(always)]
            unsafe fn constants(m: Modulus52) -> Constants {
                // SAFETY: the caller enabled what the multiplication needs.
                unsafe { constants::<Self>(m) }
            }
            #[inline(always)]
            unsafe fn product_factor(q: u64, w: u64) -> Factor {
                // SAFETY: the caller enabled what the multiplication needs.
                unsafe { factor::<Self>(q, w) }
            }
            #[inline(always)]
            unsafe fn sum_factor(q: u64, w: u64) -> Factor {
                // The sum is made smaller by 2^52 on the way.
                let w = (u128::from(w) << 52) % u128::from(q);
                // SAFETY: the caller enabled what the multiplication needs.
                unsafe { factor::<Self>(q, w as u64) }
            }
            #[inline(always)]
            unsafe fn product(c: &Constants, x: Avx512, f: Factor) -> Avx512 {
                // SAFETY: the caller enabled what the multiplication needs.
                unsafe { product::<Self>(c, x, f) }
            }
            #[inline(always)]
            unsafe fn scaled_sum(c: &Constants, sum: (Avx512, Avx512), f: Factor) -> Avx512 {
                // SAFETY: the caller enabled what the multiplication needs.
                unsafe { scaled_sum::<Self>(c, sum, f) }
            }
            #[inline(always)]
            unsafe fn reduced_sum(c: &Constants, sum: (Avx512, Avx512)) -> Avx512 {
                // SAFETY: the caller enabled what the multiplication needs.
                unsafe { reduced_sum::<Self>(c, sum) }
            }
        }
    };
}

integer_arithmetic!(Integers);
integer_arithmetic!(Doubles);
