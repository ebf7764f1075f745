// SPDX-License-Identifier: Apache-2.0
//! Primality and the search for NTT-friendly primes (`q = 1 mod 2n`). Moduli are public: all of it is variable time.

use crate::{Modulus, Word, ZqError};

/// The first twelve primes: as Miller–Rabin bases they decide every `n < 3.3e24` (Sorenson and Webster, 2015).
const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

/// Extra pseudo-random bases for larger candidates: each misses a composite with probability at most 1/4.
const EXTRA_BASES: u32 = 52;

/// Which end of the range a search starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From just below `2^bits` downwards: largest first.
    Down,
    /// From just above `2^(bits-1)` upwards: smallest first.
    Up,
}

/// Whether `n` is prime: certain below 2^81, beyond that wrong with probability below 2^-128 over the bases.
///
/// Bases past the first twelve come from a SplitMix64 stream keyed by `n`, so no fixed list of bases can be aimed at.
#[inline(never)]
pub fn is_prime_vt<W: Word>(n: W) -> bool {
    if n < W::from_u64(2) {
        return false;
    }
    for p in BASES.map(W::from_u64) {
        if n == p {
            return true;
        }
        if n.div_rem_vt(p).1 == W::ZERO {
            return false;
        }
    }
    // Words wider than the widest modulus (u64 above 62 bits) are tested in the next word.
    if n.bit_len() > W::MAX_MODULUS_BITS {
        return is_prime_vt(n.to_u128());
    }
    let Ok(m) = Modulus::new(n) else { return false };
    let mut state = n.to_u128() as u64 ^ (n.to_u128() >> 64) as u64;
    let extra = if n.bit_len() > 81 { EXTRA_BASES } else { 0 };
    BASES
        .iter()
        .all(|&b| passes_miller_rabin(&m, W::from_u64(b)))
        && (0..extra).all(|_| passes_miller_rabin(&m, W::from_u64(split_mix(&mut state) | 2)))
}

/// One strong-pseudoprime round of an odd modulus.
fn passes_miller_rabin<W: Word>(m: &Modulus<W>, base: W) -> bool {
    let minus_one = m.value().wrapping_sub(W::ONE);
    let twos = minus_one.trailing_zeros();
    let mut x = m.pow(m.reduce(base), minus_one >> twos);
    if x == W::ONE || x == minus_one || x == W::ZERO {
        return true;
    }
    for _ in 1..twos {
        x = m.mul(x, x);
        if x == minus_one {
            return true;
        }
    }
    false
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// `count` primes of exactly `bits` bits that are 1 modulo `order` (a power of two, normally `2n`), none in `exclude`.
///
/// # Errors
/// [`ZqError::BadPrimeSearch`] for impossible arguments, [`ZqError::NoSuchPrime`] with the number found.
#[inline(never)]
pub fn ntt_primes<W: Word>(
    bits: u32,
    order: u64,
    count: usize,
    direction: Direction,
    exclude: &[W],
) -> Result<Vec<W>, ZqError> {
    check_search::<W>(bits, order)?;
    let candidates = Candidates::new(bits, order, direction);
    let is_found = |q: &W| !exclude.contains(q) && is_prime_vt(*q);
    let found: Vec<W> = candidates.filter(is_found).take(count).collect();
    if found.len() == count {
        return Ok(found);
    }
    Err(ZqError::NoSuchPrime {
        bits,
        order,
        wanted: count,
        found: found.len(),
    })
}

fn check_search<W: Word>(bits: u32, order: u64) -> Result<(), ZqError> {
    let reason = if !order.is_power_of_two() {
        "the order is not a power of two"
    } else if bits > W::MAX_MODULUS_BITS {
        "more bits than the word supports"
    } else if bits < 2 {
        "fewer than 2 bits"
    } else {
        return Ok(());
    };
    Err(ZqError::BadPrimeSearch {
        bits,
        order,
        reason,
    })
}

/// The numbers k·order + 1 of exactly some bits, which lie strictly between 2^(bits-1) and 2^bits.
struct Candidates<W> {
    next: Option<W>,
    low: W,
    high: W,
    step: W,
    direction: Direction,
}

impl<W: Word> Candidates<W> {
    fn new(bits: u32, order: u64, direction: Direction) -> Self {
        let step = W::from_u64(order);
        let (low, high) = (W::ONE << (bits - 1), W::MAX >> (W::BITS - bits));
        let mask = !step.wrapping_sub(W::ONE);
        let multiple = |from: W| (from.wrapping_sub(W::ONE) & mask) | W::ONE;
        let first = match direction {
            Direction::Down => multiple(high),
            Direction::Up => multiple(low.wrapping_add(step)),
        };
        let has_room = u64::BITS - order.leading_zeros() <= bits;
        Self {
            next: has_room.then_some(first),
            low,
            high,
            step,
            direction,
        }
    }
}

impl<W: Word> Iterator for Candidates<W> {
    type Item = W;

    fn next(&mut self) -> Option<W> {
        let q = self.next.filter(|q| *q > self.low && *q <= self.high)?;
        let (left, next) = match self.direction {
            Direction::Down => (q.wrapping_sub(self.low), q.wrapping_sub(self.step)),
            Direction::Up => (self.high.wrapping_sub(q), q.wrapping_add(self.step)),
        };
        self.next = (left >= self.step).then_some(next);
        Some(q)
    }
}
