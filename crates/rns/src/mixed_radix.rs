// SPDX-License-Identifier: Apache-2.0
//! The digits of a balanced mixed radix (Garner's algorithm), by which an engine that takes off one prime at a time
//! gets the same representative.
//!
//! For primes q_0, …, q_(L-1), the last one first, with centred digits as of [`crate::CentredLift`]:
//!
//! ```text
//! d_(L-1) = [x]_{q_(L-1)},   d_i = [(… ((x - d_(L-1)) / q_(L-1) - d_(L-2)) / q_(L-2) …) / q_(i+1)]_{q_i}
//! x = Σ d_i w_i,   w_i = Π_(l > i) q_l
//! ```
//!
//! With o_i = q_i - threshold, the count of negative values of d_i, all e_i = d_i + o_i are in 0..q_i: they are the
//! digits, not centred, of x + h with h = Σ o_i w_i. So no digit has to be lifted: x = Σ e_i w_i - h.

use num_bigint::BigUint;
use zq::{Modulus, Word};

use crate::RnsBasis;
use crate::centred_lift::threshold;

/// The constants that make digits.
#[derive(Clone, Debug)]
pub(crate) struct MixedRadix<W: Word> {
    /// Per prime 1/w_i, the factor of its residues.
    over_weights: Vec<W>,
    /// Per prime the factors of the digits of later primes, then h/w_i.
    steps: Vec<Vec<W>>,
    /// w_i.
    weights: Vec<BigUint>,
    /// h.
    offset: BigUint,
}

impl<W: Word> MixedRadix<W> {
    /// For the primes of a basis.
    #[inline(never)]
    pub fn new(basis: &RnsBasis<W>) -> Self {
        let moduli = basis.moduli();
        let integer = |w: W| BigUint::from(w.to_u128());
        let weight = |i: usize| moduli[i + 1..].iter().map(|q| integer(q.value())).product();
        let weights: Vec<BigUint> = (0..moduli.len()).map(weight).collect();
        let parts = moduli.iter().zip(&weights);
        let offset: BigUint = parts
            .map(|(q, w)| integer(q.value().wrapping_sub(threshold(q))) * w)
            .sum();
        let inverse = |(q, w): (&Modulus<W>, &BigUint)| {
            q.inv_vt(residue(q, w))
                .expect("no prime of a basis divides the others")
        };
        let over_weights: Vec<W> = moduli.iter().zip(&weights).map(inverse).collect();
        let steps = |(i, q): (usize, &Modulus<W>)| {
            let over = over_weights[i];
            let later = weights[i + 1..].iter();
            let steps = later.map(|w| q.neg(q.mul(residue(q, w), over)));
            steps.chain([q.mul(residue(q, &offset), over)]).collect()
        };
        Self {
            steps: moduli.iter().enumerate().map(steps).collect(),
            over_weights,
            weights,
            offset,
        }
    }

    /// Digit i is [x_i times a factor + later digits times factors + 1 times the last factor] modulo q_i.
    pub fn step(&self, i: usize) -> (W, &[W]) {
        (self.over_weights[i], &self.steps[i])
    }

    /// The factors of all digits, then -h, modulo another prime.
    pub fn row(&self, m: &Modulus<W>) -> impl Iterator<Item = W> {
        let offset = m.neg(residue(m, &self.offset));
        self.weights.iter().map(|w| residue(m, w)).chain([offset])
    }
}

fn residue<W: Word>(q: &Modulus<W>, x: &BigUint) -> W {
    q.reduce_digits(&x.to_u64_digits())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{basis, poly};
    use crate::{BaseConverter, Coeff, RnsPoly, ScaleRounder};

    /// The first coefficients of these are the ends of the centred range.
    const N: usize = 64;

    #[test]
    fn equals_the_exact_conversion_where_thresholds_are_exact() {
        for bits in [
            &[46, 36][..],
            &[30, 31],
            &[50, 20, 46],
            &[36, 36, 36, 36],
            &[45],
            &[50; 9],
        ] {
            let from = basis::<u64>(N, bits, &[]);
            let to = basis::<u64>(N, &[46, 30, 50, 61], &from.values());
            let x = poly(&from, 7);
            let want = BaseConverter::convert_exact_vt(&x, &to).unwrap();
            assert_eq!(
                BaseConverter::mixed_radix(&from, &to).convert(&x, &to),
                want,
                "{bits:?}"
            );
        }
    }

    #[test]
    fn wide_primes_agree_away_from_the_ends() {
        fn check<W: Word>(bits: &[u32], to: &[u32]) {
            let from = basis::<W>(N, bits, &[]);
            let to = basis::<W>(N, to, &from.values());
            let x = poly(&from, 3);
            let want = BaseConverter::convert_exact_vt(&x, &to).unwrap();
            let got = BaseConverter::mixed_radix(&from, &to).convert(&x, &to);
            for (got, want) in got.limbs().zip(want.limbs()) {
                assert_eq!(got[6..], want[6..], "{bits:?}");
            }
        }
        check::<u64>(&[60, 59, 61], &[60, 46, 30]);
        check::<u64>(&[20, 61], &[60, 46, 30]);
        check::<u128>(&[109, 100], &[110]);
    }

    /// One prime after another, each time rounded, at the ends too.
    #[test]
    fn divides_by_one_prime_after_another() {
        for bits in [&[46, 36][..], &[60, 59], &[61, 60, 50], &[62, 62], &[30; 5]] {
            let dropped = basis::<u64>(N, bits, &[]);
            let kept = basis::<u64>(N, &[60, 46, 24], &dropped.values());
            let all = kept.concat(&dropped).unwrap();
            let mut x = poly(&all, 5);
            for (tail, end) in x.data_mut()[3 * N..]
                .chunks_exact_mut(N)
                .zip(poly(&dropped, 9).limbs())
            {
                tail[..6].copy_from_slice(&end[..6]);
            }
            let at_once = ScaleRounder::mixed_radix(&dropped, &kept)
                .unwrap()
                .scale_tail(&x);
            let fix = RnsPoly::<u64, Coeff>::from_data(
                &dropped,
                zq::AlignedVec::from_slice(&x.data()[3 * N..]),
            );
            let fix = BaseConverter::mixed_radix(&dropped, &kept).convert(&fix, &kept);
            let mut by_remainder = x.data()[..3 * N].to_vec();
            for (j, m) in kept.moduli().iter().enumerate() {
                let inverse = m.shoup(m.inv_vt(residue(m, dropped.product())).unwrap());
                m.sub_shoup_mul_assign(&mut by_remainder[j * N..][..N], fix.limb(j), inverse);
            }
            for last in (3..all.len()).rev() {
                let (rest, one) = (
                    all.prefix(last).unwrap(),
                    all.range(last..last + 1).unwrap(),
                );
                x = ScaleRounder::new(&one, &rest, 1).unwrap().scale_tail(&x);
            }
            assert_eq!(x.data(), by_remainder, "{bits:?}");
            assert_eq!(x.data(), at_once.data(), "{bits:?}");
        }
    }
}
