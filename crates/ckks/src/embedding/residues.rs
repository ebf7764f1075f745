// SPDX-License-Identifier: Apache-2.0
//! Doubles that hold integers to residues, and residues back to centred doubles.
//!
//! Messages are secret: no number decides on a branch or an address. What may be known is one bit for each range check
//! over a whole message ([`reveal`]): whether all of it is finite, below half the modulus, below 2^51, below 2^62, and
//! on the way back within the first two primes.

use super::kernels::for_each_level;
use rlwe::reveal;
use zeroize::Zeroizing;
use zq::{AlignedVec, Modulus, Shoup, Word};

/// 1.5 · 2^52: adding it to a double of magnitude below 2^51 rounds to the nearest integer (ties to even) and leaves
/// that integer in the low bits of the mantissa.
const MAGIC: f64 = 6_755_399_441_055_744.0;
/// Below this magnitude the trick holds.
const MAGIC_LIMIT: f64 = (1u64 << 51) as f64;
/// Below this magnitude an `i64` holds the integer with room for a sign.
const WORD_LIMIT: f64 = (1u64 << 62) as f64;
/// From this magnitude on every double is an integer.
const WHOLE: f64 = (1u64 << 52) as f64;
/// Exponents of the integers that a double holds, its mantissa taken as an integer, stay below 2^10.
const EXPONENT_BITS: usize = 10;

/// `out[k·gap] = round(x[k] · factor)`, to nearest.
pub(super) fn scale_and_round(x: &[f64], factor: f64, out: &mut [f64], gap: usize) {
    if gap == 1 {
        return round_all(x, factor, out);
    }
    for (o, x) in out.iter_mut().step_by(gap).zip(x) {
        *o = round(x * factor);
    }
}

for_each_level! {
    /// `out[k] = round(x[k] · factor)`.
    round_all(x: &[f64], factor: f64, out: &mut [f64]) = round_all_body
}

#[inline(always)]
fn round_all_body(x: &[f64], factor: f64, out: &mut [f64]) {
    for (o, x) in out.iter_mut().zip(x) {
        *o = round(x * factor);
    }
}

/// To the nearest integer, ties to even; 0 without a sign. 2^52 added to a smaller magnitude leaves no place for a
/// fraction.
#[inline(always)]
fn round(y: f64) -> f64 {
    let magnitude = y.abs();
    let rounded = (magnitude + WHOLE) - WHOLE;
    let kept = if magnitude < WHOLE {
        rounded
    } else {
        magnitude
    };
    kept.copysign(y) + 0.0
}

/// Largest magnitude; NaN if a number is not finite.
pub(crate) fn largest(x: &[f64]) -> f64 {
    // Eight running maxima: a single one would be a chain of dependent comparisons. Zero times what is not finite is
    // NaN.
    let (mut maxima, mut zeros) = ([0.0f64; 8], [0.0f64; 8]);
    let (chunks, rest) = x.as_chunks::<8>();
    let mut take = |k: usize, c: f64| {
        let c = c.abs();
        maxima[k] = if c > maxima[k] { c } else { maxima[k] };
        zeros[k] += c * 0.0;
    };
    for chunk in chunks {
        chunk.iter().enumerate().for_each(|(k, c)| take(k, *c));
    }
    rest.iter().for_each(|c| take(0, *c));
    let largest = maxima.iter().fold(0.0, |m, c| if *c > m { *c } else { m });
    largest + zeros.iter().sum::<f64>()
}

/// Width of the integers of a message; their conversion may depend on nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// Below 2^51.
    Mantissa,
    /// Below 2^62.
    Word,
    /// Any.
    Wide,
}

impl Width {
    /// The width of numbers of this largest magnitude.
    pub(crate) fn of(largest: f64) -> Self {
        if reveal(largest < MAGIC_LIMIT) {
            Self::Mantissa
        } else if reveal(largest < WORD_LIMIT) {
            Self::Word
        } else {
            Self::Wide
        }
    }
}

/// Residues of integers given as exact doubles of this width, for one modulus.
pub(crate) fn integers_to_residues(x: &[f64], width: Width, q: &Modulus<u64>, out: &mut [u64]) {
    debug_assert_eq!(x.len(), out.len());
    match width {
        Width::Mantissa if (q.value() >> 1) as f64 >= MAGIC_LIMIT => {
            wrap_negative(x, q.value(), out);
        }
        Width::Mantissa => reduce_mantissa(x, q.value(), out),
        Width::Word => {
            for (o, x) in out.iter_mut().zip(x) {
                let (mantissa, exponent) = integer_parts(*x);
                *o = with_sign_of(*x, q, q.reduce(mantissa.wrapping_shl(exponent)));
            }
        }
        Width::Wide => {
            let powers = powers_of_two(q);
            for (o, x) in out.iter_mut().zip(x) {
                *o = reduce_wide(*x, q, &powers);
            }
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
        *o = wrap(*x, q);
    }
}

/// The residue of an integer below q and 2^51 in magnitude.
#[inline(always)]
fn wrap(x: f64, q: u64) -> u64 {
    let v = ((x + MAGIC).to_bits() as i64).wrapping_sub(MAGIC.to_bits() as i64);
    (v + ((v >> 63) & q as i64)) as u64
}

for_each_level! {
    /// Residues of integers below 2^51 in magnitude for q below 2^52.
    reduce_mantissa(x: &[f64], q: u64, out: &mut [u64]) = reduce_mantissa_body
}

/// x − kq with k = x/q rounded: the quotient is off by at most 2^-52 |x|/q < 1/2q before it is rounded, so the rest is
/// at most (q + 1)/2; kq is an integer below 2^51 + q < 2^53, hence exact, and so is the difference.
#[inline(always)]
fn reduce_mantissa_body(x: &[f64], q: u64, out: &mut [u64]) {
    let (divisor, inverse) = (q as f64, 1.0 / q as f64);
    for (o, x) in out.iter_mut().zip(x) {
        let quotient = (x * inverse + MAGIC) - MAGIC;
        *o = wrap(x - quotient * divisor, q);
    }
}

/// 2^(2^j) modulo q, for the bits j of an exponent.
fn powers_of_two(q: &Modulus<u64>) -> [Shoup<u64>; EXPONENT_BITS] {
    let mut power = q.reduce(2);
    [(); EXPONENT_BITS].map(|()| {
        let factor = q.shoup(power);
        power = q.mul(power, power);
        factor
    })
}

/// An integer's magnitude as mantissa · 2^exponent, without a branch (a conversion to `i64` has some: it saturates).
fn integer_parts(x: f64) -> (u64, u32) {
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1075;
    // A negative exponent shifts an integer's trailing zeros out; zero's, −1075, shifts out everything.
    let right = (-exponent).clamp(0, 63) as u32;
    let mantissa = ((bits & ((1 << 52) - 1)) | 1 << 52).wrapping_shr(right);
    (mantissa, exponent.max(0) as u32)
}

/// The residue of x, given that of its magnitude.
fn with_sign_of(x: f64, q: &Modulus<u64>, residue: u64) -> u64 {
    let negative = u64::opaque(0u64.wrapping_sub(x.to_bits() >> 63));
    u64::select(negative, q.neg(residue), residue)
}

/// The residue of any integer: every power of two is multiplied, those of the exponent are kept.
fn reduce_wide(x: f64, q: &Modulus<u64>, powers: &[Shoup<u64>; EXPONENT_BITS]) -> u64 {
    let (mantissa, exponent) = integer_parts(x);
    let mut residue = q.reduce(mantissa);
    for (j, power) in powers.iter().enumerate() {
        let mask = u64::opaque(0u64.wrapping_sub(u64::from(exponent >> j & 1)));
        residue = u64::select(mask, q.mul_shoup(residue, *power), residue);
    }
    with_sign_of(x, q, residue)
}

/// Residues to centred doubles, each within 2^-51 of its integer.
///
/// Most integers are far below the modulus: the centred value modulo the first two primes is right if all other
/// residues agree with it. Only when some do not, [`garner`] gives those.
pub(crate) fn centred_to_f64(moduli: &[Modulus<u64>], limbs: &[&[u64]]) -> Vec<f64> {
    let [q0, q1, others @ ..] = moduli else {
        let centred = |x: &u64| moduli[0].centered(*x) as i64 as f64;
        return limbs[0].iter().map(centred).collect();
    };
    let inverses = garner_constants(moduli);
    let pair = u128::from(q0.value()) * u128::from(q1.value());
    let mut agreeing = Zeroizing::new(AlignedVec::<u64>::for_overwrite(limbs[0].len()));
    let mut out: Vec<f64> = (0..limbs[0].len())
        .map(|k| {
            let low = limbs[0][k];
            let high = q1.mul_shoup(q1.sub(limbs[1][k], q1.reduce(low)), inverses[1][0]);
            let x = u128::from(low) + u128::from(q0.value()) * u128::from(high);
            // The sign bit of pair/2 − x selects.
            let above = ((pair / 2).wrapping_sub(x) as i128 >> 127) as u128;
            let x = x.wrapping_sub(pair & above) as i128;
            let differs = |(q, limb): (&Modulus<u64>, &&[u64])| q.reduce_i128(x) ^ limb[k];
            agreeing[k] = zero_mask(
                others
                    .iter()
                    .zip(&limbs[2..])
                    .map(differs)
                    .fold(0, |a, b| a | b),
            );
            x as f64
        })
        .collect();
    if !reveal(agreeing.iter().fold(u64::MAX, |a, b| a & b) == u64::MAX) {
        let mut digits = Zeroizing::new(vec![0u64; moduli.len()]);
        for (k, (o, agrees)) in out.iter_mut().zip(agreeing.iter()).enumerate() {
            let full = garner(moduli, &inverses, limbs, k, &mut digits);
            *o = f64::from_bits(u64::select(*agrees, o.to_bits(), full.to_bits()));
        }
    }
    out
}

/// All ones for 0, else 0.
#[inline(always)]
fn zero_mask(x: u64) -> u64 {
    u64::opaque(((x | x.wrapping_neg()) >> 63).wrapping_sub(1))
}

/// Mixed-radix recombination of coefficient `k`.
///
/// Digits `d_i` with `x = d_0 + q_0 (d_1 + q_1 (d_2 + …))` are exact; a value above Q/2 is complemented digit by digit
/// (`Q - 1 - x` has digits `q_i - 1 - d_i`), so small negative numbers lose nothing to cancellation.
fn garner(
    moduli: &[Modulus<u64>],
    inverses: &[Vec<Shoup<u64>>],
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
fn garner_constants(moduli: &[Modulus<u64>]) -> Vec<Vec<Shoup<u64>>> {
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
    let negative = above_half(moduli, digits);
    for (d, q) in digits.iter_mut().zip(moduli) {
        *d = u64::select(negative, q.value() - 1 - *d, *d);
    }
    let magnitude = digits
        .iter()
        .zip(moduli)
        .rev()
        .fold(0.0, |acc, (d, q)| acc * q.value() as f64 + *d as f64);
    // −(magnitude + 1), or the magnitude as it is.
    let size = magnitude + (negative & 1) as f64;
    f64::from_bits(size.to_bits() | (negative & (1 << 63)))
}

/// All ones if the number of these digits is above (Q-1)/2, whose digits are (q_i - 1)/2, the moduli being odd; else 0.
fn above_half(moduli: &[Modulus<u64>], digits: &[u64]) -> u64 {
    digits.iter().zip(moduli).fold(0, |above, (d, q)| {
        let half = q.value() / 2;
        // A higher digit decides unless it is equal.
        half.lt_mask(*d) | (zero_mask(half ^ d) & above)
    })
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
                integers_to_residues(&x, Width::of(largest(&x)), q, &mut out);
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
        let edge = 2f64.powi(51) - 1.0;
        let x = [5.0, -7.0, 1e9, -1e15, 0.0, edge, -edge, 65537.0, 96.5 * 2.0];
        for q in [
            3,
            97,
            65537,
            (1 << 36) - 5,
            (1 << 50) - 27,
            (1 << 51) - 9,
            (1 << 52) - 47,
            (1 << 61) - 1,
        ] {
            let modulus = Modulus::new(q).unwrap();
            let want = x.map(|x| (x as i128).rem_euclid(i128::from(q)) as u64);
            for width in [Width::Mantissa, Width::Word, Width::Wide] {
                let mut out = [0; 9];
                integers_to_residues(&x, width, &modulus, &mut out);
                assert_eq!(out, want, "{q} {width:?}");
            }
        }
    }

    #[test]
    fn rounding_is_to_nearest_with_ties_to_even_at_every_size() {
        let bases = [
            0.0,
            1.0,
            2.0,
            7.0,
            1e9,
            2f64.powi(50),
            2f64.powi(51),
            2f64.powi(52) - 1.0,
        ];
        let fractions = [0.0, 0.25, 0.5, 0.75, 1.5, 0.499_999_999_999_999_94];
        let numbers = bases.iter().flat_map(|b| fractions.map(|f| b + f));
        for y in numbers.chain([1e-300, 2f64.powi(53) + 2.0, 1e300]) {
            assert_eq!(round(y), y.round_ties_even(), "{y:e}");
            assert_eq!(round(-y), (-y).round_ties_even(), "{y:e}");
            assert!(round(-y).is_sign_positive() || round(-y) < 0.0, "{y:e}");
        }
    }

    #[test]
    fn what_is_not_finite_is_seen_wherever_it_stands() {
        for len in [4, 8, 13] {
            assert_eq!(largest(&vec![-3.0; len]), 3.0);
            for (bad, k) in [(f64::NAN, 0), (f64::INFINITY, len - 1), (-f64::INFINITY, 2)] {
                let mut x = vec![1.0; len];
                x[k] = bad;
                assert!(largest(&x).is_nan());
            }
        }
        assert!((f64::MAX - largest(&[f64::MAX; 16])).abs() < 1.0);
    }

    #[test]
    fn one_wide_number_changes_no_other() {
        let moduli = moduli();
        let numbers = |wide: f64| [3.0, -48.0, wide, 9_359.0, -9_360.0];
        let back = |x: [f64; 5]| {
            let residues = |q| {
                let mut out = vec![0; x.len()];
                integers_to_residues(&x, Width::of(largest(&x)), q, &mut out);
                out
            };
            let limbs: Vec<Vec<u64>> = moduli.iter().map(residues).collect();
            centred_to_f64(&moduli, &limbs.iter().map(|l| &l[..]).collect::<Vec<_>>())
        };
        assert_eq!(back(numbers(5.0)), numbers(5.0));
        assert_eq!(back(numbers(-2f64.powi(70))), numbers(-2f64.powi(70)));
    }

    #[test]
    fn large_doubles_reduce_exactly() {
        let q = Modulus::new(1_000_003).unwrap();
        for (mantissa, exponent) in [
            (3i128, 70),
            (-12_345_677, 90),
            (1, 100),
            (-7, 0),
            (1 << 52, 3),
            (0, 9),
        ] {
            let x = mantissa as f64 * 2f64.powi(exponent);
            let want = (mantissa << exponent).rem_euclid(1_000_003) as u64;
            assert_eq!(reduce_wide(x, &q, &powers_of_two(&q)), want);
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
