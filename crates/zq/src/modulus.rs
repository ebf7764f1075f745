// SPDX-License-Identifier: Apache-2.0
//! A modulus and scalar arithmetic by it.

use crate::{Word, ZqError};

/// A fixed factor `w` with Shoup's quotient `floor(w * 2^BITS / q)`: a product by it costs no division.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shoup<W> {
    /// The factor, in `0..q`.
    pub w: W,
    /// `floor(w * 2^BITS / q)`.
    pub quotient: W,
}

/// A modulus `q >= 2` with the constants to reduce by it.
///
/// Reduction is Barrett's in the form of Möller and Granlund ("Improved division by invariant integers", 2011,
/// Algorithm 4): `q` is shifted left until its top bit is set, `reciprocal = floor((B^2-1)/d) - B` with `B = 2^BITS`,
/// and one double-width product estimates the quotient to within one, whatever the modulus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Modulus<W> {
    q: W,
    normalised: W,
    reciprocal: W,
    shift: u32,
}

impl<W: Word> Modulus<W> {
    /// A modulus in `2..2^MAX_MODULUS_BITS`; any parity, prime or not.
    pub fn new(q: W) -> Result<Self, ZqError> {
        if q < W::from_u64(2) || q.bit_len() > W::MAX_MODULUS_BITS {
            return Err(ZqError::ModulusOutOfRange {
                modulus: q.to_u128(),
                max_bits: W::MAX_MODULUS_BITS,
            });
        }
        let shift = q.leading_zeros();
        let normalised = q << shift;
        Ok(Self {
            q,
            normalised,
            reciprocal: reciprocal(normalised),
            shift,
        })
    }

    /// The modulus as a word.
    #[inline(always)]
    pub fn value(&self) -> W {
        self.q
    }

    /// The same modulus as one of `u64`, if that is the word.
    #[inline(always)]
    pub fn as_u64(&self) -> Option<Modulus<u64>> {
        (W::BITS == u64::BITS).then(|| Modulus {
            q: self.q.low_u64(),
            normalised: self.normalised.low_u64(),
            reciprocal: self.reciprocal.low_u64(),
            shift: self.shift,
        })
    }

    /// Bits of the modulus.
    #[inline(always)]
    pub fn bits(&self) -> u32 {
        W::BITS - self.shift
    }

    /// Whether `4q` fits the word, which the lazy forms need. Always true for `u64`.
    #[inline(always)]
    pub fn has_lazy_room(&self) -> bool {
        self.shift >= 2
    }

    /// `a + b mod q`; operands reduced.
    #[inline(always)]
    pub fn add(&self, a: W, b: W) -> W {
        debug_assert!(a < self.q && b < self.q);
        // a - (q - b) never needs a bit above the word, unlike a + b.
        self.sub(a, self.q.wrapping_sub(b))
    }

    /// `a - b mod q`; `a` reduced, `b <= q`.
    #[inline(always)]
    pub fn sub(&self, a: W, b: W) -> W {
        debug_assert!(a < self.q && b <= self.q);
        a.wrapping_sub(b)
            .wrapping_add(self.q & W::opaque(a.lt_mask(b)))
    }

    /// `-a mod q`; operand reduced.
    #[inline(always)]
    pub fn neg(&self, a: W) -> W {
        self.sub(W::ZERO, a)
    }

    /// `a * b mod q`; operands reduced.
    #[inline(always)]
    pub fn mul(&self, a: W, b: W) -> W {
        debug_assert!(a < self.q && b < self.q);
        let (lo, hi) = (a << self.shift).mul_wide(b);
        // a * 2^shift < d and b < B, so hi < d.
        self.div_normalised(hi, lo).1 >> self.shift
    }

    /// `acc + a * b mod q`; operands reduced.
    #[inline(always)]
    pub fn mul_add(&self, acc: W, a: W, b: W) -> W {
        self.add(acc, self.mul(a, b))
    }

    /// `base^exponent mod q`, square and multiply. Constant time in the base; the exponent is public.
    #[inline(never)]
    pub fn pow(&self, base: W, exponent: W) -> W {
        let mut result = self.reduce(W::ONE);
        for i in (0..exponent.bit_len()).rev() {
            result = self.mul(result, result);
            if (exponent >> i) & W::ONE == W::ONE {
                result = self.mul(result, base);
            }
        }
        result
    }

    /// The inverse modulo a prime `q` by Fermat, in constant time. For a composite modulus use [`Modulus::inv_vt`].
    pub fn inv(&self, a: W) -> Result<W, ZqError> {
        let r = self.pow(a, self.q.wrapping_sub(W::from_u64(2)));
        if self.mul(r, a) == self.reduce(W::ONE) {
            Ok(r)
        } else {
            Err(self.not_invertible(a))
        }
    }

    /// The inverse modulo any `q` by the extended Euclidean algorithm; variable time.
    #[inline(never)]
    pub fn inv_vt(&self, a: W) -> Result<W, ZqError> {
        let (mut r0, mut r1) = (self.q, self.reduce(a));
        let (mut t0, mut t1) = (W::ZERO, self.reduce(W::ONE));
        while r1 != W::ZERO {
            let (quotient, rest) = r0.div_rem_vt(r1);
            (r0, r1) = (r1, rest);
            (t0, t1) = (t1, self.sub(t0, self.mul(self.reduce(quotient), t1)));
        }
        if r0 == W::ONE {
            Ok(t0)
        } else {
            Err(self.not_invertible(a))
        }
    }

    /// Any word modulo `q`.
    #[inline(always)]
    pub fn reduce(&self, x: W) -> W {
        self.reduce_below(W::ZERO, x)
    }

    /// `hi * 2^BITS + lo` modulo `q`, for any two words.
    #[inline(always)]
    pub fn reduce_wide(&self, lo: W, hi: W) -> W {
        self.reduce_below(self.reduce(hi), lo)
    }

    /// Any `u64` modulo `q`.
    #[inline(always)]
    pub fn reduce_u64(&self, x: u64) -> W {
        self.reduce(W::from_u64(x))
    }

    /// Any `u128` modulo `q`.
    #[inline(always)]
    pub fn reduce_u128(&self, x: u128) -> W {
        if W::BITS == 128 {
            self.reduce(W::from_u128_lossy(x))
        } else {
            self.reduce_wide(W::from_u64(x as u64), W::from_u64((x >> 64) as u64))
        }
    }

    /// A signed integer modulo `q`.
    #[inline(always)]
    pub fn reduce_i64(&self, x: i64) -> W {
        let r = self.reduce_u64(x.unsigned_abs());
        let negative = W::ZERO.wrapping_sub(W::from_u64((x as u64) >> 63));
        W::select(negative, self.neg(r), r)
    }

    /// A signed integer modulo `q`.
    #[inline(always)]
    pub fn reduce_i128(&self, x: i128) -> W {
        let r = self.reduce_u128(x.unsigned_abs());
        let negative = W::ZERO.wrapping_sub(W::from_u64((x as u128 >> 127) as u64));
        W::select(negative, self.neg(r), r)
    }

    /// A multi-precision integer, little-endian 64-bit digits, modulo `q`. Time depends on the length only.
    pub fn reduce_digits(&self, digits: &[u64]) -> W {
        let base = self.reduce_u128(1 << 64);
        digits
            .iter()
            .rev()
            .fold(W::ZERO, |r, &d| self.mul_add(self.reduce_u64(d), r, base))
    }

    /// The representative in `-q/2 < x <= q/2` of a residue.
    #[inline(always)]
    pub fn centered(&self, a: W) -> i128 {
        debug_assert!(a < self.q);
        let above = W::opaque((self.q >> 1).lt_mask(a));
        a.to_u128().wrapping_sub((self.q & above).to_u128()) as i128
    }

    /// Precomputes a product by `w` (reduced).
    #[inline]
    pub fn shoup(&self, w: W) -> Shoup<W> {
        debug_assert!(w < self.q);
        Shoup {
            w,
            quotient: self.div_normalised(w << self.shift, W::ZERO).0,
        }
    }

    /// `a * w mod q` for any word `a`.
    #[inline(always)]
    pub fn mul_shoup(&self, a: W, w: Shoup<W>) -> W {
        if self.has_lazy_room() {
            W::csub(self.mul_shoup_lazy(a, w), self.q)
        } else {
            self.mul(self.reduce(a), w.w)
        }
    }

    /// `a * w mod q` as a value in `0..2q`, for any word `a`. Needs [`Modulus::has_lazy_room`].
    ///
    /// With `w' = floor(w B / q)` and `h = floor(a w' / B)`: `0 <= a w - h q < q + a q / B < 2q`.
    #[inline(always)]
    pub fn mul_shoup_lazy(&self, a: W, w: Shoup<W>) -> W {
        debug_assert!(self.has_lazy_room());
        let h = a.mul_hi(w.quotient);
        let r = a.wrapping_mul(w.w).wrapping_sub(h.wrapping_mul(self.q));
        debug_assert!(r < self.q << 1);
        r
    }

    /// A value in `0..2q` to `0..q`. Needs [`Modulus::has_lazy_room`].
    #[inline(always)]
    pub fn reduce_2q(&self, a: W) -> W {
        W::csub(a, self.q)
    }

    /// `hi * B + lo` modulo `q` for `hi < q`.
    #[inline(always)]
    fn reduce_below(&self, hi: W, lo: W) -> W {
        // (lo >> 1) >> (BITS-1-shift) is lo >> (BITS-shift) also for shift = 0.
        let top = (hi << self.shift) | ((lo >> 1) >> (W::BITS - 1 - self.shift));
        self.div_normalised(top, lo << self.shift).1 >> self.shift
    }

    /// Quotient and remainder of `hi * B + lo` by the normalised modulus, for `hi` below it.
    #[inline(always)]
    fn div_normalised(&self, hi: W, lo: W) -> (W, W) {
        let d = self.normalised;
        debug_assert!(hi < d);
        let (p_lo, p_hi) = self.reciprocal.mul_wide(hi);
        let q0 = p_lo.wrapping_add(lo);
        let carry = q0.lt_mask(lo) & W::ONE;
        let q1 = p_hi
            .wrapping_add(hi)
            .wrapping_add(carry)
            .wrapping_add(W::ONE);
        let r = lo.wrapping_sub(q1.wrapping_mul(d));
        let too_big = W::opaque(q0.lt_mask(r));
        let (q1, r) = (q1.wrapping_add(too_big), r.wrapping_add(d & too_big));
        let too_small = W::opaque(!r.lt_mask(d));
        (q1.wrapping_sub(too_small), r.wrapping_sub(d & too_small))
    }

    fn not_invertible(&self, a: W) -> ZqError {
        ZqError::NotInvertible {
            value: a.to_u128(),
            modulus: self.q.to_u128(),
        }
    }
}

/// `floor((B^2 - 1) / d) - B` for `d >= B/2`: long division of `(B-1-d) B + (B-1)`, one quotient bit a step.
fn reciprocal<W: Word>(d: W) -> W {
    let (mut rest, mut quotient) = (W::MAX.wrapping_sub(d), W::ZERO);
    for _ in 0..W::BITS {
        let carry = rest >> (W::BITS - 1) == W::ONE;
        rest = (rest << 1) | W::ONE;
        let bit = carry || rest >= d;
        if bit {
            rest = rest.wrapping_sub(d);
        }
        quotient = (quotient << 1) | W::from_u64(u64::from(bit));
    }
    quotient
}
