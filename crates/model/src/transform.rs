// SPDX-License-Identifier: Apache-2.0
//! The transforms as the hardware does them: from the twiddle table that was loaded, whatever it holds.
//!
//! In-place Cooley–Tukey and Gentleman–Sande; the constant-geometry order of the hardware gives the same residues in
//! the same places. The table holds T[m + i] for block i of the stage with m blocks; the cyclic form drops the `m +`.

use zq::Modulus;

use crate::lane::Lane;

/// Forward transform of `a` in place: natural order in, bit-reversed evaluation order out.
pub fn forward(lane: &Lane, table: &[u128], a: &mut [u128], cyclic: bool) {
    let q = &lane.modulus;
    let mut m = 1;
    while m < a.len() {
        let half = a.len() / (2 * m);
        for (i, block) in a.chunks_exact_mut(2 * half).enumerate() {
            let w = q.shoup(lane.mul(table[if cyclic { i } else { m + i }], 1));
            let (low, high) = block.split_at_mut(half);
            for (x, y) in low.iter_mut().zip(high) {
                let (u, v) = (*x, q.mul_shoup(*y, w));
                (*x, *y) = (q.add(u, v), q.sub(u, v));
            }
        }
        m *= 2;
    }
}

/// Inverse transform of `a` in place, the factor 1/n included as a halving per stage.
pub fn inverse(lane: &Lane, table: &[u128], a: &mut [u128], cyclic: bool) {
    let q = &lane.modulus;
    let mut m = a.len() / 2;
    while m >= 1 {
        let half = a.len() / (2 * m);
        for (i, block) in a.chunks_exact_mut(2 * half).enumerate() {
            let w = q.shoup(lane.mul(inverse_twiddle(q, table, m, i, cyclic), 1));
            let (low, high) = block.split_at_mut(half);
            for (x, y) in low.iter_mut().zip(high) {
                let (u, v) = (*x, *y);
                (*x, *y) = (halve(q, q.add(u, v)), halve(q, q.mul_shoup(q.sub(u, v), w)));
            }
        }
        m /= 2;
    }
}

/// The inverse of the twiddle of block `i`: minus the mirrored entry, as psi^n = -1.
fn inverse_twiddle(q: &Modulus<u128>, table: &[u128], m: usize, i: usize, cyclic: bool) -> u128 {
    match (cyclic, i) {
        (false, _) => q.neg(table[2 * m - 1 - i]),
        (true, 0) => table[0],
        // Entry i = top + j of the same table; its inverse is minus entry 2 top - 1 - j.
        (true, _) => q.neg(table[3 * (1 << i.ilog2()) - 1 - i]),
    }
}

/// x / 2 modulo an odd modulus, for x < modulus.
fn halve(q: &Modulus<u128>, x: u128) -> u128 {
    // (x + m) / 2 without the carry: both are odd, so their halves add up with one left over.
    if x & 1 == 0 {
        x >> 1
    } else {
        (x >> 1) + (q.value() >> 1) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ntt::NttPlan;

    fn barrett(modulus: Modulus<u128>) -> Lane {
        let word_bits = 128;
        Lane::new(&crate::tests::build(word_bits), modulus)
    }

    fn sample(q: u128, n: usize) -> Vec<u128> {
        (0..n as u128)
            .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835) % q)
            .collect()
    }

    #[test]
    fn agrees_with_the_production_transform() {
        for (bits, log2_n) in [(14, 3), (30, 6), (60, 10), (109, 12), (128, 5)] {
            let n = 1usize << log2_n;
            let q = zq::primes::ntt_primes::<u128>(
                bits,
                2 * n as u64,
                1,
                zq::primes::Direction::Down,
                &[],
            )
            .unwrap()[0];
            let modulus = Modulus::new(q).unwrap();
            let plan = NttPlan::new(modulus, n).unwrap();
            let a = sample(q, n);
            let (mut ours, mut theirs) = (a.clone(), a.clone());
            forward(&barrett(modulus), plan.psi_rev(), &mut ours, false);
            plan.forward(&mut theirs);
            assert_eq!(ours, theirs, "forward, {bits} bits, n = {n}");
            inverse(&barrett(modulus), plan.psi_rev(), &mut ours, false);
            assert_eq!(ours, a, "inverse, {bits} bits, n = {n}");
        }
    }

    /// a b modulo x^n - 1 (cyclic) or x^n + 1, term by term.
    fn schoolbook(a: &[u128], b: &[u128], q: u128, cyclic: bool) -> Vec<u128> {
        let n = a.len();
        let mut out = vec![0; n];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                let term = x * y % q;
                let wraps = i + j >= n && !cyclic;
                out[(i + j) % n] = (out[(i + j) % n] + if wraps { q - term } else { term }) % q;
            }
        }
        out
    }

    #[test]
    fn products_wrap_as_their_ring_says_on_both_reductions() {
        let (n, q) = (16usize, 97u128);
        let modulus = Modulus::new(q).unwrap();
        let montgomery = isa::BuildInfo {
            reduction: isa::Reduction::Montgomery,
            montgomery_bits: 5,
            ..crate::tests::build(14)
        };
        let a = sample(q, n);
        let b: Vec<u128> = a.iter().rev().copied().collect();
        for lane in [barrett(modulus), Lane::new(&montgomery, modulus)] {
            let carried = |x: &[u128]| -> Vec<u128> {
                x.iter().map(|&x| modulus.mul(x, lane.factor())).collect()
            };
            let table = carried(NttPlan::new(modulus, n).unwrap().psi_rev());
            for cyclic in [false, true] {
                let (mut x, mut y) = (a.clone(), carried(&b));
                forward(&lane, &table, &mut x, cyclic);
                forward(&lane, &table, &mut y, cyclic);
                let mut z: Vec<u128> = x.iter().zip(&y).map(|(&x, &y)| lane.mul(x, y)).collect();
                inverse(&lane, &table, &mut z, cyclic);
                assert_eq!(z, schoolbook(&a, &b, q, cyclic), "{lane:?}, {cyclic}");
            }
        }
    }
}
