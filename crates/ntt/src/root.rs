// SPDX-License-Identifier: Apache-2.0
//! ψ and the order of evaluation points: the one home of both.

use zq::primes::is_prime_vt;
use zq::{Modulus, Word};

use crate::NttError;

/// The `bits` low bits of `i` in reverse.
#[inline]
pub fn bit_reverse(i: usize, bits: u32) -> usize {
    if bits == 0 {
        0
    } else {
        i.reverse_bits() >> (usize::BITS - bits)
    }
}

/// The exponent `e` such that position `j` of an evaluation-domain polynomial is its value at `ψ^e`.
#[inline]
pub fn eval_exponent(j: usize, log_n: u32) -> usize {
    2 * bit_reverse(j, log_n) + 1
}

/// ψ: the smallest of the `order/2` primitive `order`-th roots of unity modulo a prime; `order` is a power of two.
///
/// # Errors
/// [`NttError::NotPrime`], or [`NttError::NotNttFriendly`] if `order` does not divide `q - 1`.
pub fn primitive_root<W: Word>(modulus: &Modulus<W>, order: u64) -> Result<W, NttError> {
    let cofactor = cofactor(modulus, order)?;
    let some = some_primitive_root(modulus, cofactor, order);
    Ok(smallest_odd_power(modulus, some, order))
}

/// (q − 1)/order of a prime q with roots of that order, a power of two.
///
/// # Errors
/// As [`primitive_root`].
pub(crate) fn cofactor<W: Word>(modulus: &Modulus<W>, order: u64) -> Result<W, NttError> {
    let q = modulus.value();
    if !is_prime_vt(q) {
        return Err(NttError::NotPrime {
            modulus: q.to_u128(),
        });
    }
    let minus_one = q.wrapping_sub(W::ONE);
    let (cofactor, rest) = minus_one.div_rem_vt(W::from_u64(order));
    if rest != W::ZERO || order < 2 {
        return Err(NttError::NotNttFriendly {
            modulus: q.to_u128(),
            order,
        });
    }
    Ok(cofactor)
}

/// `x^cofactor` for the first `x` that makes it primitive: half of all `x` do.
fn some_primitive_root<W: Word>(m: &Modulus<W>, cofactor: W, order: u64) -> W {
    let minus_one = m.value().wrapping_sub(W::ONE);
    let mut x = W::ONE;
    loop {
        let root = m.pow(x, cofactor);
        // Its order divides a power of two, so it is `order` exactly when its order/2-th power is not 1.
        if m.pow(root, W::from_u64(order / 2)) == minus_one {
            return root;
        }
        x = x.wrapping_add(W::ONE);
    }
}

/// The primitive roots are the odd powers of any one of them.
fn smallest_odd_power<W: Word>(m: &Modulus<W>, root: W, order: u64) -> W {
    let square = m.shoup(m.mul(root, root));
    let (mut power, mut smallest) = (root, root);
    for _ in 1..order / 2 {
        power = m.mul_shoup(power, square);
        smallest = smallest.min(power);
    }
    smallest
}
