// SPDX-License-Identifier: Apache-2.0
//! Arithmetic modulo an odd prime below 2^60 in Montgomery's form (1985), R = 2^64, without a branch on values.

/// A prime with what Montgomery's reduction needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Modulus {
    /// q.
    pub value: u64,
    /// -q^-1 modulo R.
    negated_inverse: u64,
    /// R^2 modulo q.
    r_squared: u64,
}

impl Modulus {
    /// Of an odd `value` with 1 < value < 2^60. Its own time may depend on it: moduli are public.
    pub fn new(value: u64) -> Self {
        let mut inverse = value; // q·q = 1 modulo 8; each step doubles the bits that are right.
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(value.wrapping_mul(inverse)));
        }
        let r = (1u128 << 64) % u128::from(value);
        Self {
            value,
            negated_inverse: inverse.wrapping_neg(),
            r_squared: (r * r % u128::from(value)) as u64,
        }
    }

    /// Length in bits.
    pub fn bits(&self) -> u32 {
        64 - self.value.leading_zeros()
    }

    /// x − q if x ≥ q, for x < 2q.
    pub fn once(&self, x: u64) -> u64 {
        below(x, self.value)
    }

    /// x − 2q if x ≥ 2q, for x < 4q.
    pub fn twice(&self, x: u64) -> u64 {
        below(x, 2 * self.value)
    }

    /// x·y/R modulo q, for x < 2^64 and y < q.
    pub fn montgomery(&self, x: u64, y: u64) -> u64 {
        self.once(self.montgomery_lazy(x, y))
    }

    /// The same, or q more: below 2q.
    #[cfg(not(target_pointer_width = "32"))]
    pub fn montgomery_lazy(&self, x: u64, y: u64) -> u64 {
        let product = u128::from(x) * u128::from(y);
        let m = (product as u64).wrapping_mul(self.negated_inverse);
        // product + m·q is a multiple of R, below R·q + R·q.
        ((product + u128::from(m) * u128::from(self.value)) >> 64) as u64
    }

    /// The same, or q more: below 2q.
    #[cfg(target_pointer_width = "32")]
    pub fn montgomery_lazy(&self, x: u64, y: u64) -> u64 {
        self.montgomery_by_words(x, y)
    }

    /// The same in words of 32 bits, divided by 2^32 after each word of x: fewer carries where products of 64 bits
    /// are sums of four.
    #[cfg(any(test, target_pointer_width = "32"))]
    fn montgomery_by_words(&self, x: u64, y: u64) -> u64 {
        let low = self.divided(0, x as u32, y);
        self.divided(low, (x >> 32) as u32, y)
    }

    /// (sum + word·y)/2^32 modulo q, below 2q if `sum` is and y < q.
    #[cfg(any(test, target_pointer_width = "32"))]
    #[inline(always)]
    fn divided(&self, sum: u64, word: u32, y: u64) -> u64 {
        let low = multiply_add(word, y as u32, sum as u32, 0);
        let high = multiply_add(
            word,
            (y >> 32) as u32,
            (sum >> 32) as u32,
            (low >> 32) as u32,
        );
        // Its product with q cancels the lowest word.
        let m = (low as u32).wrapping_mul(self.negated_inverse as u32);
        let gone = multiply_add(m, self.value as u32, low as u32, 0);
        let rest = multiply_add(
            m,
            (self.value >> 32) as u32,
            high as u32,
            (gone >> 32) as u32,
        );
        rest + (high >> 32 << 32)
    }

    /// x·R modulo q: the form in which one factor of [`Modulus::montgomery`] gives plain products.
    pub fn to_montgomery(self, x: u64) -> u64 {
        self.montgomery(x, self.r_squared)
    }

    /// x·y modulo q.
    pub fn mul(&self, x: u64, y: u64) -> u64 {
        self.montgomery(self.to_montgomery(x), y)
    }

    /// x + y, both below q.
    pub fn add(&self, x: u64, y: u64) -> u64 {
        self.once(x + y)
    }

    /// x − y, both below q.
    pub fn sub(&self, x: u64, y: u64) -> u64 {
        self.once(x + self.value - y)
    }

    /// Any signed number.
    pub fn signed(&self, x: i64) -> u64 {
        let magnitude = self.montgomery(1, self.to_montgomery(x.unsigned_abs()));
        let negative = mask(x as u64);
        (negative & self.once(self.value - magnitude)) | (!negative & magnitude)
    }

    /// A number of magnitude below q.
    pub fn small(&self, x: i8) -> u64 {
        let x = i64::from(x) as u64;
        x.wrapping_add(self.value & mask(x))
    }

    /// x, below q, as the number nearest to 0 that is x modulo q: q more than half of it is negative.
    pub fn centred(&self, x: u64) -> i64 {
        let large = mask((self.value / 2).wrapping_sub(x));
        x.wrapping_sub(self.value & large) as i64
    }

    /// x modulo q.
    pub fn reduce(&self, x: u64) -> u64 {
        self.montgomery(1, self.to_montgomery(x))
    }

    /// x^e; the time depends on e.
    pub fn power_vt(&self, x: u64, mut e: u64) -> u64 {
        let (mut base, mut result) = (x, 1);
        while e > 0 {
            if e & 1 == 1 {
                result = self.mul(result, base);
            }
            base = self.mul(base, base);
            e >>= 1;
        }
        result
    }

    /// 1/x modulo the prime q.
    pub fn inverse_vt(&self, x: u64) -> u64 {
        self.power_vt(x, self.value - 2)
    }

    /// Whether q is prime, by Miller and Rabin with bases that decide all below 3.3e24 (Sorenson and Webster, 2015).
    pub fn is_prime_vt(&self) -> bool {
        const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
        let last = self.value - 1;
        let twos = last.trailing_zeros();
        let passes = |base: &u64| {
            let first = self.power_vt(*base, last >> twos);
            let squares = core::iter::successors(Some(first), |x| Some(self.mul(*x, *x)));
            first == 1 || squares.take(twos as usize).any(|x| x == last)
        };
        BASES.contains(&self.value)
            || BASES
                .iter()
                .all(|b| !self.value.is_multiple_of(*b) && passes(b))
    }
}

/// All ones where the highest bit of x is set, else 0; a compiler that knew which would make a branch of it.
#[inline]
fn mask(x: u64) -> u64 {
    core::hint::black_box((x >> 63).wrapping_neg())
}

/// x − bound if x ≥ bound, for x < 2·bound. In the transforms' loops, where a mask through memory costs: without it
/// compilers take a conditional move or a predicated instruction, and `make constant-time` sees which.
pub(crate) fn below(x: u64, bound: u64) -> u64 {
    let less = x.wrapping_sub(bound);
    // The difference borrows exactly when x < bound: both are below 2^63.
    less.wrapping_add(bound & (less >> 63).wrapping_neg())
}

/// a·b + c + d, which fits.
#[cfg(any(test, target_pointer_width = "32"))]
#[inline(always)]
fn multiply_add(a: u32, b: u32, c: u32, d: u32) -> u64 {
    u64::from(a) * u64::from(b) + u64::from(c) + u64::from(d)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_are_told_from_products() {
        let divided = |q: u64| {
            (3..q)
                .step_by(2)
                .take_while(|d| d * d <= q)
                .any(|d| q.is_multiple_of(d))
        };
        for q in (3..20_000).step_by(2) {
            assert_eq!(Modulus::new(q).is_prime_vt(), !divided(q), "{q}");
        }
        // The first is a strong pseudoprime to the bases 2, 3, 5 and 7, the second has roots as a prime would.
        for product in [3_215_031_751, 79873 * 319489] {
            assert!(!Modulus::new(product).is_prime_vt(), "{product}");
        }
    }

    #[test]
    fn products_and_sums_are_those_of_wide_integers() {
        for q in [97, (1 << 36) - 16383, 1152921504606830593, (1 << 59) - 55] {
            let m = Modulus::new(q);
            let wide = |x: u128| (x % u128::from(q)) as u64;
            let mut x = 1u64;
            for _ in 0..500 {
                x = x
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                let (a, b) = (x % q, x.rotate_left(32) % q);
                assert_eq!(m.mul(a, b), wide(u128::from(a) * u128::from(b)));
                assert_eq!(m.once(m.montgomery_by_words(x, b)), m.montgomery(x, b));
                assert_eq!(m.add(a, b), wide(u128::from(a) + u128::from(b)));
                assert_eq!(m.sub(a, b), wide(u128::from(a) + u128::from(q - b)));
                assert_eq!(m.reduce(x), x % q);
                assert_eq!(m.signed(x as i64), (x as i64).rem_euclid(q as i64) as u64);
            }
            assert_eq!(m.signed(-1), q - 1);
            assert_eq!(
                (m.signed(0), m.signed(q as i64), m.signed(-(q as i64))),
                (0, 0, 0)
            );
        }
    }
}
