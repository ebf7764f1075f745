// SPDX-License-Identifier: Apache-2.0
//! Doubles that hold integers to residues, and residues back to centred doubles.

use zq::Modulus;

/// 1.5 · 2^52: adding it to a double of magnitude below 2^51 rounds to the nearest integer (ties to even) and leaves
/// that integer in the low bits of the mantissa.
const MAGIC: f64 = 6_755_399_441_055_744.0;
/// Below this magnitude the trick holds.
const MAGIC_LIMIT: f64 = (1u64 << 51) as f64;
/// Below this magnitude an `i64` holds the integer with room for a sign.
const WORD_LIMIT: f64 = (1u64 << 62) as f64;

/// `out[k·gap] = round(x[k] · factor)`, to nearest.
pub(super) fn scale_and_round(x: &[f64], factor: f64, out: &mut [f64], gap: usize) {
    for (o, x) in out.iter_mut().step_by(gap).zip(x) {
        let y = x * factor;
        // Above 2^51 there are no fractions worth keeping: round_ties_even is exact but slower.
        *o = if y.abs() < MAGIC_LIMIT {
            (y + MAGIC) - MAGIC
        } else {
            y.round_ties_even()
        };
    }
}

/// Largest magnitude.
pub(crate) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, c| m.max(c.abs()))
}

/// Residues of integers given as exact doubles of any size, for one modulus.
pub(crate) fn integers_to_residues(x: &[f64], largest: f64, q: &Modulus<u64>, out: &mut [u64]) {
    debug_assert_eq!(x.len(), out.len());
    if largest < MAGIC_LIMIT.min((q.value() >> 1) as f64) {
        // |x| < q: one addition of q for the negative ones.
        for (o, x) in out.iter_mut().zip(x) {
            let v = ((x + MAGIC).to_bits() as i64).wrapping_sub(MAGIC.to_bits() as i64);
            *o = (v + ((v >> 63) & q.value() as i64)) as u64;
        }
    } else if largest < WORD_LIMIT {
        for (o, x) in out.iter_mut().zip(x) {
            *o = q.reduce_i64(*x as i64);
        }
    } else {
        for (o, x) in out.iter_mut().zip(x) {
            *o = reduce_large(*x, q);
        }
    }
}

/// mantissa · 2^exponent modulo q; public data (plaintexts), variable time in the exponent.
fn reduce_large(x: f64, q: &Modulus<u64>) -> u64 {
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1075;
    if exponent <= 0 {
        return q.reduce_i64(x as i64);
    }
    let mantissa = q.reduce((bits & ((1 << 52) - 1)) | 1 << 52);
    let residue = q.mul(mantissa, q.pow(q.reduce(2), exponent as u64));
    if x < 0.0 { q.neg(residue) } else { residue }
}

/// Mixed-radix recombination (Garner) of residues to centred doubles.
///
/// Digits `d_i` with `x = d_0 + q_0 (d_1 + q_1 (d_2 + …))` are exact; a value above Q/2 is complemented digit by digit
/// (`Q - 1 - x` has digits `q_i - 1 - d_i`), so small negative numbers lose nothing to cancellation.
pub(crate) fn centred_to_f64(moduli: &[Modulus<u64>], limbs: &[&[u64]]) -> Vec<f64> {
    let inverses = garner_constants(moduli);
    let halves = half_digits(moduli);
    let n = limbs.first().map_or(0, |l| l.len());
    let mut digits = vec![0u64; moduli.len()];
    (0..n)
        .map(|k| {
            for (i, q) in moduli.iter().enumerate() {
                let mut v = limbs[i][k];
                for (j, inverse) in inverses[i].iter().enumerate() {
                    v = q.mul_shoup(q.sub(v, q.reduce(digits[j])), *inverse);
                }
                digits[i] = v;
            }
            combine(moduli, &mut digits, &halves)
        })
        .collect()
}

/// `inverses[i][j] = q_j^-1 mod q_i` for `j < i`.
fn garner_constants(moduli: &[Modulus<u64>]) -> Vec<Vec<zq::Shoup<u64>>> {
    moduli
        .iter()
        .enumerate()
        .map(|(i, q)| {
            let inverse = |p: &Modulus<u64>| q.inv(q.reduce(p.value())).expect("distinct primes");
            moduli[..i].iter().map(|p| q.shoup(inverse(p))).collect()
        })
        .collect()
}

/// Mixed-radix digits of (Q-1)/2 for odd moduli: every digit is (q_i - 1)/2.
fn half_digits(moduli: &[Modulus<u64>]) -> Vec<u64> {
    moduli.iter().map(|q| q.value() / 2).collect()
}

fn combine(moduli: &[Modulus<u64>], digits: &mut [u64], halves: &[u64]) -> f64 {
    let negative = digits.iter().rev().gt(halves.iter().rev());
    if negative {
        for (d, q) in digits.iter_mut().zip(moduli) {
            *d = q.value() - 1 - *d;
        }
    }
    let magnitude = digits
        .iter()
        .zip(moduli)
        .rev()
        .fold(0.0, |acc, (d, q)| acc * q.value() as f64 + *d as f64);
    if negative {
        -(magnitude + 1.0)
    } else {
        magnitude
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moduli() -> Vec<Modulus<u64>> {
        [97, 193, 257, (1 << 61) - 1]
            .map(|q| Modulus::new(q).unwrap())
            .to_vec()
    }

    #[test]
    fn small_integers_survive_residues_and_back() {
        let moduli = moduli();
        let x = [
            0.0,
            1.0,
            -1.0,
            48.0,
            -48.0,
            123_456.0,
            -4_000_000_000.0,
            2f64.powi(60),
            -2f64.powi(70),
        ];
        let limbs: Vec<Vec<u64>> = moduli
            .iter()
            .map(|q| {
                let mut out = vec![0; x.len()];
                integers_to_residues(&x, largest(&x), q, &mut out);
                out
            })
            .collect();
        let views: Vec<&[u64]> = limbs.iter().map(|l| &l[..]).collect();
        for (got, want) in centred_to_f64(&moduli, &views).into_iter().zip(x) {
            assert!(
                (got - want).abs() <= want.abs() * 2f64.powi(-51),
                "{got} {want}"
            );
        }
        assert_eq!(centred_to_f64(&moduli, &views)[..7], x[..7]);
    }

    #[test]
    fn the_three_ranges_agree() {
        let q = Modulus::new((1u64 << 61) - 1).unwrap();
        let x = [5.0, -7.0, 1e9, -1e15];
        let reduce = |largest| {
            let mut out = [0; 4];
            integers_to_residues(&x, largest, &q, &mut out);
            out
        };
        assert_eq!(reduce(1e15), reduce(2f64.powi(55)));
        assert_eq!(reduce(1e15), reduce(2f64.powi(90)));
    }

    #[test]
    fn large_doubles_reduce_exactly() {
        let q = Modulus::new(1_000_003).unwrap();
        for (mantissa, exponent) in [(3i128, 70), (-12_345_677, 90), (1, 100)] {
            let x = mantissa as f64 * 2f64.powi(exponent);
            let want = (mantissa << exponent).rem_euclid(1_000_003) as u64;
            assert_eq!(reduce_large(x, &q), want);
        }
    }

    #[test]
    fn the_extremes_of_the_centred_range() {
        let moduli = &moduli()[..3];
        let total: i128 = 97 * 193 * 257;
        for x in [total / 2, -(total / 2), total / 2 - 1, 1 - total / 2] {
            let limbs: Vec<[u64; 1]> = moduli
                .iter()
                .map(|q| [x.rem_euclid(i128::from(q.value())) as u64])
                .collect();
            let views: Vec<&[u64]> = limbs.iter().map(|l| &l[..]).collect();
            assert_eq!(centred_to_f64(moduli, &views), [x as f64]);
        }
    }
}
