// SPDX-License-Identifier: Apache-2.0
//! Doubles that hold integers to residues, and residues back to centred doubles.

use super::kernels::for_each_level;
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
    // Above 2^51 there are no fractions worth keeping: round_ties_even is exact but slower.
    let small = largest(x) * factor < MAGIC_LIMIT;
    if small && gap == 1 {
        return round_small(x, factor, out);
    }
    for (o, x) in out.iter_mut().step_by(gap).zip(x) {
        let y = x * factor;
        *o = if small {
            (y + MAGIC) - MAGIC
        } else {
            y.round_ties_even()
        };
    }
}

for_each_level! {
    /// `out[k] = round(x[k] · factor)` for products below 2^51.
    round_small(x: &[f64], factor: f64, out: &mut [f64]) = round_small_body
}

#[inline(always)]
fn round_small_body(x: &[f64], factor: f64, out: &mut [f64]) {
    for (o, x) in out.iter_mut().zip(x) {
        *o = (x * factor + MAGIC) - MAGIC;
    }
}

/// Largest magnitude.
pub(crate) fn largest(x: &[f64]) -> f64 {
    // Eight running maxima: a single one would be a chain of dependent comparisons.
    let (chunks, rest) = x.as_chunks::<8>();
    let mut lanes = [0.0f64; 8];
    for chunk in chunks {
        for (m, c) in lanes.iter_mut().zip(chunk) {
            let c = c.abs();
            *m = if c > *m { c } else { *m };
        }
    }
    lanes.iter().chain(rest).fold(0.0, |m, c| m.max(c.abs()))
}

/// Residues of integers given as exact doubles of any size, for one modulus.
pub(crate) fn integers_to_residues(x: &[f64], largest: f64, q: &Modulus<u64>, out: &mut [u64]) {
    debug_assert_eq!(x.len(), out.len());
    if largest < MAGIC_LIMIT.min((q.value() >> 1) as f64) {
        wrap_negative(x, q.value(), out);
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

for_each_level! {
    /// Residues of integers below q and 2^51 in magnitude: one addition of q for the negative ones.
    wrap_negative(x: &[f64], q: u64, out: &mut [u64]) = wrap_negative_body
}

#[inline(always)]
fn wrap_negative_body(x: &[f64], q: u64, out: &mut [u64]) {
    for (o, x) in out.iter_mut().zip(x) {
        let v = ((x + MAGIC).to_bits() as i64).wrapping_sub(MAGIC.to_bits() as i64);
        *o = (v + ((v >> 63) & q as i64)) as u64;
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

/// Residues to centred doubles, each within 2^-51 of its integer.
///
/// Most integers are far below the modulus: the centred value modulo the first two primes is tried, and kept if all other
/// residues agree with it. The rest goes through [`garner`].
pub(crate) fn centred_to_f64(moduli: &[Modulus<u64>], limbs: &[&[u64]]) -> Vec<f64> {
    let [q0, q1, others @ ..] = moduli else {
        return limbs
            .iter()
            .flat_map(|l| l.iter().map(|x| moduli[0].centered(*x) as f64))
            .collect();
    };
    let inverses = garner_constants(moduli);
    let pair = u128::from(q0.value()) * u128::from(q1.value());
    let mut digits = vec![0u64; moduli.len()];
    (0..limbs[0].len())
        .map(|k| {
            let (low, residue) = (limbs[0][k], limbs[1][k]);
            let high = q1.mul_shoup(q1.sub(residue, q1.reduce(low)), inverses[1][0]);
            let x = u128::from(low) + u128::from(q0.value()) * u128::from(high);
            let x = if x > pair / 2 {
                x as i128 - pair as i128
            } else {
                x as i128
            };
            let agrees = |(q, limb): (&Modulus<u64>, &&[u64])| q.reduce_i128(x) == limb[k];
            if others.iter().zip(&limbs[2..]).all(agrees) {
                return x as f64;
            }
            garner(moduli, &inverses, limbs, k, &mut digits)
        })
        .collect()
}

/// Mixed-radix recombination of coefficient `k`.
///
/// Digits `d_i` with `x = d_0 + q_0 (d_1 + q_1 (d_2 + …))` are exact; a value above Q/2 is complemented digit by digit
/// (`Q - 1 - x` has digits `q_i - 1 - d_i`), so small negative numbers lose nothing to cancellation.
fn garner(
    moduli: &[Modulus<u64>],
    inverses: &[Vec<zq::Shoup<u64>>],
    limbs: &[&[u64]],
    k: usize,
    digits: &mut [u64],
) -> f64 {
    for (i, q) in moduli.iter().enumerate() {
        let mut v = limbs[i][k];
        for (j, inverse) in inverses[i].iter().enumerate() {
            v = q.mul_shoup(q.sub(v, q.reduce(digits[j])), *inverse);
        }
        digits[i] = v;
    }
    combine(moduli, digits)
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

fn combine(moduli: &[Modulus<u64>], digits: &mut [u64]) -> f64 {
    // (Q-1)/2 has the digits (q_i - 1)/2, the moduli being odd.
    let halves = moduli.iter().map(|q| q.value() / 2);
    let negative = digits.iter().copied().rev().gt(halves.rev());
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
        let inverses = garner_constants(moduli);
        for x in [
            total / 2,
            -(total / 2),
            total / 2 - 1,
            1 - total / 2,
            97 * 96,
            97 * 97,
            0,
            -1,
        ] {
            let limbs: Vec<[u64; 1]> = moduli
                .iter()
                .map(|q| [x.rem_euclid(i128::from(q.value())) as u64])
                .collect();
            let views: Vec<&[u64]> = limbs.iter().map(|l| &l[..]).collect();
            assert_eq!(centred_to_f64(moduli, &views), [x as f64]);
            assert_eq!(garner(moduli, &inverses, &views, 0, &mut [0; 3]), x as f64);
        }
    }
}
