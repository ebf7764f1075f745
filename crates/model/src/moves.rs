// SPDX-License-Identifier: Apache-2.0
//! Moves between words and lanes: automorphisms of values, digits.

use zq::Modulus;

use crate::polynomial::Polynomial;

/// One lane of a digit: word x of the source lane, or x + offset mod 2^W if x reaches the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Source lane.
    pub from: u8,
    /// The first x that stands for a negative number.
    pub bound: u128,
    /// Added to x to give its residue, modulo 2^W.
    pub offset: u128,
}

/// The lane-wise operation of DECOMP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digit {
    shares: Vec<Share>,
}

impl Digit {
    /// In each lane the residue, modulo the second prime, of the centred representative of the source lane's residue
    /// modulo the first: the same as [`crate::Conversion::lift`] of one prime, also at the rounding boundary.
    ///
    /// # Errors
    /// A source prime that is not below twice the lane's, or of more than 64 bits.
    pub fn new(shares: &[(u8, Modulus<u128>, Modulus<u128>)]) -> Result<Self, DigitError> {
        let wide = shares
            .iter()
            .find(|(_, q, p)| !Self::suits(q.value(), p.value()));
        match wide {
            Some((_, q, p)) => Err(DigitError {
                q: q.value(),
                p: p.value(),
            }),
            None => Self::unreduced(shares),
        }
    }

    /// The same for source primes of any size up to 64 bits: words of the result are congruent to the residues but
    /// below 2^W only. A product with a constant (CMODMUL), which takes any word, reduces them; nothing else may read
    /// them.
    ///
    /// # Errors
    /// A source prime of more than 64 bits.
    pub fn unreduced(shares: &[(u8, Modulus<u128>, Modulus<u128>)]) -> Result<Self, DigitError> {
        let share = |&(from, q, p): &(u8, Modulus<u128>, Modulus<u128>)| {
            let (q_value, p_value) = (q.value(), p.value());
            if q.bits() > 64 {
                let (q, p) = (q_value, p_value);
                return Err(DigitError { q, p });
            }
            let bound = seam(q_value);
            // x - q + k p, k the least that leaves nothing negative, is below q / 2 + p if k > 1, else below p; modulo
            // 2^W for any W that holds both.
            let multiple = (q_value - bound).div_ceil(p_value) * p_value;
            Ok(Share {
                from,
                bound,
                offset: multiple.wrapping_sub(q_value),
            })
        };
        let shares: Result<_, _> = shares.iter().map(share).collect();
        Ok(Self { shares: shares? })
    }

    /// Whether one addition converts residues modulo `q`, which is not 0, to reduced ones modulo `p`.
    pub fn suits(q: u128, p: u128) -> bool {
        q >> 64 == 0 && seam(q) <= p && q - seam(q) <= p
    }

    /// The shares by lane.
    pub fn shares(&self) -> &[Share] {
        &self.shares
    }

    /// The digit of a polynomial, words of `word_bits` bits.
    pub fn apply(&self, source: &Polynomial, word_bits: u32) -> Polynomial {
        let mask = u128::MAX >> (128 - word_bits);
        let lane = |share: &Share| {
            let moved = |&x: &u128| match x < share.bound {
                true => x,
                false => x.wrapping_add(share.offset) & mask,
            };
            source[usize::from(share.from)].iter().map(moved).collect()
        };
        self.shares.iter().map(lane).collect()
    }
}

/// A digit whose residues would not be reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "residues modulo {q} become none modulo {p} by an addition: {q} must be below 2 * {p} and 2^64"
)]
pub struct DigitError {
    /// The source prime.
    pub q: u128,
    /// The lane's.
    pub p: u128,
}

/// The least x with round(x C / 2^F) = 1, C = round(2^F / q) and F = 51 + bits of q: about q / 2.
fn seam(q: u128) -> u128 {
    let scale = 51 + u128::BITS - q.leading_zeros();
    let reciprocal = ((1 << scale) + q / 2) / q;
    (1u128 << (scale - 1)).div_ceil(reciprocal)
}

/// The image of values, in the transform's order, under x -> x^g, g odd: value i stands at the exponent 2 rev(i) + 1.
pub fn automorphism(source: &Polynomial, g: usize) -> Polynomial {
    let n = source[0].len();
    let bits = n.trailing_zeros();
    let from = |i: usize| {
        let exponent = (2 * ntt::bit_reverse(i, bits) + 1) * g % (2 * n);
        ntt::bit_reverse(exponent / 2, bits)
    };
    let places: Vec<usize> = (0..n).map(from).collect();
    let moved = |lane: &Vec<u128>| places.iter().map(|&place| lane[place]).collect();
    source.iter().map(moved).collect()
}
