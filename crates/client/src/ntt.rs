// SPDX-License-Identifier: Apache-2.0
//! The negacyclic transform: output j is the value at ψ^(2·brv(j)+1), ψ the smallest primitive 2n-th root.

use crate::modulus::Modulus;

/// ψ of a prime that is 1 modulo 2n; None where there is none. Public data only.
pub(crate) fn smallest_root(q: &Modulus, n: usize) -> Option<u64> {
    let order = 2 * n as u64;
    let root = (2..1000).map(|x| q.power_vt(x, (q.value - 1) / order));
    let root = root
        .into_iter()
        .find(|r| q.power_vt(*r, n as u64) == q.value - 1)?;
    let square = q.mul(root, root);
    let (mut power, mut least) = (root, root);
    for _ in 1..n {
        power = q.mul(power, square);
        least = least.min(power);
    }
    Some(least)
}

/// Fills `roots` with the powers root^brv(i) in Montgomery's form.
pub(crate) fn fill_roots(q: &Modulus, root: u64, roots: &mut [u64]) {
    let bits = roots.len().trailing_zeros();
    let (step, mut power) = (q.to_montgomery(root), q.to_montgomery(1));
    for i in 0..roots.len() {
        roots[i.reverse_bits() >> (usize::BITS - bits)] = power;
        power = q.montgomery(power, step);
    }
}

/// Coefficients to values; `roots` of ψ. Constant time. Between stages values are below 4q, as Harvey has it (2014).
pub(crate) fn forward(q: &Modulus, roots: &[u64], x: &mut [u64]) {
    let (mut half, mut blocks) = (x.len() / 2, 1);
    while half > 0 {
        for (block, root) in x.chunks_exact_mut(2 * half).zip(&roots[blocks..]) {
            let (low, high) = block.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                let (kept, turned) = (q.twice(*a), q.montgomery_lazy(*b, *root));
                (*a, *b) = (kept + turned, kept + 2 * q.value - turned);
            }
        }
        (half, blocks) = (half / 2, 2 * blocks);
    }
    x.iter_mut().for_each(|v| *v = q.once(q.twice(*v)));
}

/// Values to coefficients; `roots` of ψ^-1. Constant time. Between stages values are below 2q.
pub(crate) fn inverse(q: &Modulus, roots: &[u64], x: &mut [u64]) {
    let (mut half, mut blocks) = (1, x.len() / 2);
    while blocks > 0 {
        for (block, root) in x.chunks_exact_mut(2 * half).zip(&roots[blocks..]) {
            let (low, high) = block.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                let difference = *a + 2 * q.value - *b;
                (*a, *b) = (q.twice(*a + *b), q.montgomery_lazy(difference, *root));
            }
        }
        (half, blocks) = (2 * half, blocks / 2);
    }
    let scale = q.to_montgomery(q.inverse_vt(x.len() as u64));
    x.iter_mut().for_each(|v| *v = q.montgomery(*v, scale));
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    #[test]
    fn values_are_those_of_the_definition_and_come_back() {
        let (n, q) = (16, Modulus::new(12289));
        let psi = smallest_root(&q, n).unwrap();
        assert!((1..psi).all(|x| q.power_vt(x, n as u64) != q.value - 1));
        let x: Vec<u64> = (0..n as u64).map(|i| i * i * 7 % q.value).collect();
        let (mut roots, mut y) = (vec![0; n], x.clone());
        fill_roots(&q, psi, &mut roots);
        forward(&q, &roots, &mut y);
        for (j, value) in y.iter().enumerate() {
            let at = q.power_vt(psi, 2 * (j.reverse_bits() >> (usize::BITS - 4)) as u64 + 1);
            let sum = x.iter().rev().fold(0, |sum, c| q.add(q.mul(sum, at), *c));
            assert_eq!(*value, sum, "{j}");
        }
        fill_roots(&q, q.inverse_vt(psi), &mut roots);
        inverse(&q, &roots, &mut y);
        assert_eq!(x, y);
    }
}
