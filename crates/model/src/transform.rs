// SPDX-License-Identifier: Apache-2.0
//! The transforms as the hardware does them: from the twiddle table that was loaded, whatever it holds.
//!
//! In-place Cooley–Tukey and Gentleman–Sande; the constant-geometry order of the hardware gives the same residues in the same
//! places. The table holds T[m + i] for block i of the stage with m blocks; the cyclic form drops the `m +`.

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

    #[test]
    fn cyclic_products_wrap_without_a_sign() {
        let (n, q) = (16usize, 97u128);
        let modulus = Modulus::new(q).unwrap();
        let plan = NttPlan::new(modulus, n).unwrap();
        let (a, b) = (
            sample(q, n),
            sample(q, n).into_iter().rev().collect::<Vec<_>>(),
        );
        let mut expected = vec![0; n];
        for i in 0..n {
            for j in 0..n {
                expected[(i + j) % n] = (expected[(i + j) % n] + a[i] * b[j]) % q;
            }
        }
        let (mut x, mut y) = (a, b);
        forward(&barrett(modulus), plan.psi_rev(), &mut x, true);
        forward(&barrett(modulus), plan.psi_rev(), &mut y, true);
        modulus.mul_assign(&mut x, &y);
        inverse(&barrett(modulus), plan.psi_rev(), &mut x, true);
        assert_eq!(x, expected);
    }
}
