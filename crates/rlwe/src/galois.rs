// SPDX-License-Identifier: Apache-2.0
//! Galois automorphisms and their action on the slots.

/// The Galois element 3^k mod 2n that rotates both rows of n/2 slots left by `steps` (negative: right).
///
/// Steps count modulo n/2.
pub fn rotation_element(n: usize, steps: i64) -> u64 {
    let k = steps.rem_euclid(n as i64 / 2) as u64;
    let modulus = 2 * n as u64;
    let (mut result, mut power) = (1, 3 % modulus);
    for bit in 0..64 - k.leading_zeros() {
        if k >> bit & 1 == 1 {
            result = result * power % modulus;
        }
        power = power * power % modulus;
    }
    result
}

/// The Galois element 2n − 1: exchanges the two rows (BFV), conjugates (CKKS).
pub fn conjugation_element(n: usize) -> u64 {
    2 * n as u64 - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_compose_and_wrap() {
        let n = 64;
        assert_eq!(rotation_element(n, 0), 1);
        assert_eq!(rotation_element(n, 1), 3);
        assert_eq!(rotation_element(n, 32), 1);
        assert_eq!(rotation_element(n, -1) * 3 % 128, 1);
        assert_eq!(rotation_element(n, 5), rotation_element(n, 5 - 32));
        assert_eq!(conjugation_element(n), 127);
    }
}
