// SPDX-License-Identifier: Apache-2.0
//! Centred residues of one prime to residues of another.

use ntt::Shift;
use zq::{Modulus, Word};

/// From residues modulo `q` to the residues of their centred representatives modulo `m`.
///
/// The representative is negative from the threshold on where the fixed-point quotient of base conversion
/// ([`crate::BaseConverter`]) rounds up, so that all engines agree: with C = floor((2^F + floor(q/2))/q), F = 51 +
/// bits(q), that is x·C >= 2^(F-1).
#[derive(Clone, Copy, Debug)]
pub struct CentredLift<W: Word> {
    q: Modulus<W>,
    m: Modulus<W>,
    threshold: W,
}

impl<W: Word> CentredLift<W> {
    /// Prepares a pair of moduli.
    #[inline(never)]
    pub fn new(q: &Modulus<W>, m: &Modulus<W>) -> Self {
        Self {
            q: *q,
            m: *m,
            threshold: threshold(q),
        }
    }

    /// Whether -x has the negated representative for every x != 0, so that taking it commutes with automorphisms. So it
    /// is for primes below 2^52, and for those of large rings close to a power of two.
    pub fn is_odd(q: &Modulus<W>) -> bool {
        let threshold = threshold(q);
        q.value().wrapping_sub(threshold) == threshold.wrapping_sub(W::ONE)
    }

    /// `out[i] = centred(x[i]) mod m`, in constant time.
    ///
    /// # Panics
    /// If the lengths differ.
    #[inline(never)]
    pub fn apply(&self, x: &[W], out: &mut [W]) {
        assert_eq!(x.len(), out.len(), "slice lengths differ");
        match (W::as_u64s(x), W::as_u64s_mut(out)) {
            (Some(x), Some(out)) => self.as_u64().apply_u64(x, out),
            _ => self.apply_any(x, out),
        }
    }

    /// The lift as an addition to some of the residues, where that gives reduced residues.
    pub fn shift(&self) -> Option<Shift<W>> {
        let (q, m) = (self.q.value(), self.m.value());
        let largest = self.threshold.max(q.wrapping_sub(self.threshold));
        (largest < m).then(|| Shift {
            threshold: self.threshold,
            shift: m.wrapping_sub(q),
        })
    }

    fn apply_any(&self, x: &[W], out: &mut [W]) {
        let wrap = self.m.reduce(self.q.value());
        for (o, &x) in out.iter_mut().zip(x) {
            let below = W::opaque(x.lt_mask(self.threshold));
            *o = self.m.sub(self.m.reduce(x), wrap & !below);
        }
    }

    fn as_u64(&self) -> U64Lift {
        let (q, m) = (self.q.value().low_u64(), self.m.value().low_u64());
        let threshold = self.threshold.low_u64();
        U64Lift {
            q,
            m,
            threshold,
            narrow: self.shift().is_some(),
            inverse: 1.0 / m as f64,
        }
    }
}

/// Smallest x that counts as negative.
#[inline(never)]
pub(crate) fn threshold<W: Word>(q: &Modulus<W>) -> W {
    // C < 2^53, and the quotient 2^(F-1)/C is close to q/2. F can exceed 128 bits: divide in two steps of the same
    // value.
    let bits = q.bits();
    let q = q.value().to_u128();
    if 51 + bits < 127 {
        let f = 51 + bits;
        let c = ((1u128 << f) + (q >> 1)) / q;
        return W::from_u128_lossy((1u128 << (f - 1)).div_ceil(c));
    }
    let (one, q) = (
        num_bigint::BigUint::from(1u32),
        num_bigint::BigUint::from(q),
    );
    let f = 51 + bits;
    let c = ((&one << f) + (&q >> 1u32)) / &q;
    let t: num_bigint::BigUint = ((&one << (f - 1)) + &c - &one) / c;
    W::from_u128_lossy(u128::try_from(t).expect("below the modulus"))
}

/// The constants as 64-bit words.
#[derive(Clone, Copy)]
struct U64Lift {
    q: u64,
    m: u64,
    threshold: u64,
    /// Centred representatives lie in (-m, m).
    narrow: bool,
    inverse: f64,
}

impl U64Lift {
    fn apply_u64(&self, x: &[u64], out: &mut [u64]) {
        #[cfg(target_arch = "x86_64")]
        {
            use zq::simd::Level;
            match zq::simd::level() {
                Level::IfmaAmd | Level::Ifma | Level::Avx512 => {
                    // SAFETY: a level is in use only on processors that have its features.
                    return unsafe { self.avx512(x, out) };
                }
                // SAFETY: a level is in use only on processors that have its features.
                Level::Avx2 => return unsafe { self.avx2(x, out) },
                Level::Portable | Level::Neon => {}
            }
        }
        self.run(x, out);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn avx512(&self, x: &[u64], out: &mut [u64]) {
        self.run(x, out);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn avx2(&self, x: &[u64], out: &mut [u64]) {
        let done = if self.narrow || (self.q | self.m) >> 50 > 0 {
            0
        } else {
            // SAFETY: this function enables the features of the vector.
            unsafe { self.in_doubles::<zq::simd::Avx2>(x, out) }
        };
        self.run(&x[done..], &mut out[done..]);
    }

    /// Whole vectors, for moduli below 2^50; returns how many elements they are. The compiler converts words to doubles
    /// one by one.
    ///
    /// # Safety
    /// As [`zq::simd::Vector`].
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn in_doubles<V: zq::simd::Vector>(&self, x: &[u64], out: &mut [u64]) -> usize {
        use zq::simd::Float50;
        let Self {
            q, m, threshold, ..
        } = *self;
        let len = x.len().min(out.len()) / V::LANES * V::LANES;
        // SAFETY: the caller enabled the features of V; a vector's words from `i` on are in both slices.
        unsafe {
            let c = Float50::<V>::new(m);
            // Negative ones become x - q and the next multiple of m, not negative and below q + m.
            let (threshold, shift) = (V::splat(threshold), V::splat(q.div_ceil(m) * m - q));
            for i in (0..len).step_by(V::LANES) {
                let x = V::load(x.as_ptr().add(i)).add_unless_below(threshold, shift);
                c.residue_of(Float50::residue(x))
                    .store(out.as_mut_ptr().add(i));
            }
        }
        len
    }

    #[inline(always)]
    fn run(&self, x: &[u64], out: &mut [u64]) {
        let Self {
            q, m, threshold, ..
        } = *self;
        if self.narrow {
            // 0..threshold stays; the negative ones, at least threshold - q > -m, become x - q + m.
            let shift = m.wrapping_sub(q);
            for (o, &x) in out.iter_mut().zip(x) {
                *o = x.wrapping_add(if x < threshold { 0 } else { shift });
            }
        } else {
            for (o, &x) in out.iter_mut().zip(x) {
                *o = self.reduce(x.wrapping_sub(if x < threshold { 0 } else { q }) as i64);
            }
        }
    }

    /// A signed word below 2^61 in size modulo `m`. With m >= 2^12 the quotient is below 2^49 and exact to far less
    /// than one half, so rounding it to the nearest integer (by adding 1.5·2^52) leaves a remainder in (-m, m).
    #[inline(always)]
    fn reduce(&self, x: i64) -> u64 {
        const MAGIC: f64 = 6_755_399_441_055_744.0;
        let quotient = (x as f64 * self.inverse + MAGIC)
            .to_bits()
            .wrapping_sub(MAGIC.to_bits());
        let r = (x as u64).wrapping_sub(quotient.wrapping_mul(self.m)) as i64;
        (r + (self.m as i64 & (r >> 63))) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BaseConverter, RnsBasis, Scratch};
    use zq::primes::{Direction, ntt_primes};

    #[test]
    fn agrees_with_base_conversion_at_the_seam_and_elsewhere() {
        let prime = |bits, direction| ntt_primes::<u64>(bits, 16, 1, direction, &[]).unwrap()[0];
        let widths = [14u32, 20, 30, 36, 45, 46, 50, 59, 61, 62];
        let mut primes: Vec<u64> = widths.iter().map(|b| prime(*b, Direction::Down)).collect();
        primes.push(prime(46, Direction::Up));
        for (i, &q) in primes.iter().enumerate() {
            for &m in primes
                .iter()
                .enumerate()
                .filter(|(k, _)| *k != i)
                .map(|(_, m)| m)
            {
                let (from, to) = (
                    RnsBasis::new(8, &[q]).unwrap(),
                    RnsBasis::new(8, &[m]).unwrap(),
                );
                let mut x: Vec<u64> =
                    [0, 1, q / 2 - 1, q / 2, q / 2 + 1, q / 2 + 2, q - 2, q - 1].to_vec();
                x.extend((1..57u64).map(|k| k.wrapping_mul(0x9e37_79b9_7f4a_7c15) % q));
                let (mut want, mut got) = (vec![0; x.len()], vec![0; x.len()]);
                BaseConverter::new(&from, &to).unwrap().convert_into(
                    &x,
                    &mut want,
                    &mut Scratch::new(),
                );
                let lift = CentredLift::new(from.modulus(0), to.modulus(0));
                lift.apply(&x, &mut got);
                assert_eq!(got, want, "{q} -> {m}");
                lift.apply_any(&x, &mut got);
                assert_eq!(got, want, "{q} -> {m}, any word");
                lift.as_u64().run(&x, &mut got);
                assert_eq!(got, want, "{q} -> {m}, portable");
            }
        }
    }

    #[test]
    fn representatives_are_odd_functions_of_residues_but_for_some_wide_primes() {
        let odd = |q: u64| CentredLift::is_odd(&Modulus::new(q).unwrap());
        for bits in [14, 20, 30, 45, 50, 52] {
            for direction in [Direction::Up, Direction::Down] {
                assert!(odd(ntt_primes(bits, 16, 1, direction, &[]).unwrap()[0]));
            }
        }
        // As sets have them: 1 modulo 2n.
        assert!(odd(
            ntt_primes(60, 1 << 14, 1, Direction::Down, &[]).unwrap()[0]
        ));
        // Half way between two powers of two the reciprocal is far from whole.
        let wide = (1..).map(|k| (3 << 59) / 2 + 16 * k + 1);
        let wide = wide.filter(|&q| zq::primes::is_prime_vt::<u64>(q)).take(8);
        let lifts: Vec<bool> = wide.map(odd).collect();
        assert!(lifts.iter().any(|odd| !odd), "{lifts:?}");
    }

    #[test]
    fn wide_words_agree_with_base_conversion() {
        let primes = ntt_primes::<u128>(109, 16, 2, Direction::Down, &[]).unwrap();
        let (from, to) = (
            RnsBasis::new(8, &primes[..1]).unwrap(),
            RnsBasis::new(8, &primes[1..]).unwrap(),
        );
        let q = primes[0];
        let x = [0, 1, q / 2 - 1, q / 2, q / 2 + 1, q / 2 + 2, q - 1, q / 3];
        let (mut want, mut got) = (vec![0; 8], vec![0; 8]);
        BaseConverter::new(&from, &to)
            .unwrap()
            .convert_into(&x, &mut want, &mut Scratch::new());
        CentredLift::new(from.modulus(0), to.modulus(0)).apply(&x, &mut got);
        assert_eq!(got, want);
    }
}
