// SPDX-License-Identifier: Apache-2.0
//! Modular arithmetic against big integers, every width, both ends of the range.

use num_bigint::BigUint;
use proptest::prelude::*;

use crate::primes::{Direction, is_prime_vt, ntt_primes};
use crate::{Modulus, Word, ZqError};

fn big<W: Word>(x: W) -> BigUint {
    BigUint::from(x.to_u128())
}

/// Every scalar operation on one pair of words.
fn check_pair<W: Word>(m: &Modulus<W>, x: W, y: W) {
    let q = big(m.value());
    let (a, b) = (m.reduce(x), m.reduce(y));
    assert_eq!(big(a), big(x) % &q);
    assert_eq!(
        big(m.reduce_wide(x, y)),
        ((big(y) << W::BITS) + big(x)) % &q
    );
    assert_eq!(big(m.add(a, b)), (big(a) + big(b)) % &q);
    assert_eq!(big(m.sub(a, b)), (big(a) + &q - big(b)) % &q);
    assert_eq!(big(m.neg(a)), (&q - big(a)) % &q);
    let product = (big(a) * big(b)) % &q;
    assert_eq!(big(m.mul(a, b)), product);
    assert_eq!(big(m.mul_add(b, a, b)), (&product + big(b)) % &q);
    assert_eq!(big(m.mul_shoup(x, m.shoup(b))), (big(x) * big(b)) % &q);
    if m.has_lazy_room() {
        let lazy = big(m.mul_shoup_lazy(x, m.shoup(b)));
        assert!(lazy < &q * 2u32 && (lazy % &q) == (big(x) * big(b)) % &q);
    }
    let s = x.to_u128() as i64;
    let signed = BigUint::from(s.unsigned_abs()) % &q;
    assert_eq!(
        big(m.reduce_i64(s)),
        if s < 0 { (&q - signed) % &q } else { signed }
    );
    let c = m.centered(a);
    assert_eq!(m.reduce_i128(c), a);
    assert!(
        BigUint::from(c.unsigned_abs()) * 2u32 <= q,
        "{c} is not centred"
    );
    let digits = [x.low_u64(), y.low_u64(), 7];
    let value = digits
        .iter()
        .rev()
        .fold(BigUint::ZERO, |r, &d| (r << 64) + d);
    assert_eq!(big(m.reduce_digits(&digits)), value % &q);
    assert_eq!(big(m.pow(a, y)), big(a).modpow(&big(y), &q));
    match m.inv_vt(a) {
        Ok(i) => assert_eq!(big(i) * big(a) % &q, BigUint::from(1u32) % &q),
        Err(e) => assert_eq!(
            e,
            ZqError::NotInvertible {
                value: a.to_u128(),
                modulus: m.value().to_u128()
            }
        ),
    }
}

fn check_modulus<W: Word>(q: W, random: [W; 2]) {
    let m = Modulus::new(q).unwrap();
    let top = q.wrapping_sub(W::ONE);
    let words = [
        W::ZERO,
        W::ONE,
        top,
        q >> 1,
        q,
        W::MAX,
        random[0],
        random[1],
    ];
    for x in words {
        for y in words {
            check_pair(&m, x, y);
        }
    }
    // Long enough for whole vectors and a rest.
    let long: Vec<W> = (0..43)
        .map(|i| m.reduce(words[(i * i + i / 8) % 8]))
        .collect();
    check_slices(&m, &long);
}

fn check_slices<W: Word>(m: &Modulus<W>, a: &[W]) {
    let b: Vec<W> = a.iter().rev().copied().collect();
    let s = a[6];
    type Kernel<'a, W> = (&'a dyn Fn(&mut [W], &[W]), &'a dyn Fn(W, W) -> W);
    let cases: [Kernel<W>; 17] = [
        (&|x, y| m.add_assign(x, y), &|x, y| m.add(x, y)),
        (&|x, y| m.sub_assign(x, y), &|x, y| m.sub(x, y)),
        (&|x, y| m.sub_from_assign(x, y), &|x, y| m.sub(y, x)),
        (&|x, _| m.neg_assign(x), &|x, _| m.neg(x)),
        (&|x, y| m.mul_assign(x, y), &|x, y| m.mul(x, y)),
        (&|x, y| m.mul_into(x, y, a), &|x, y| m.mul(x, y)),
        (&|x, y| m.mul_add_assign(x, y, y), &|x, y| {
            m.mul_add(x, y, y)
        }),
        (&|x, _| m.scalar_add_assign(x, s), &|x, _| m.add(x, s)),
        (&|x, _| m.scalar_mul_assign(x, s), &|x, _| m.mul(x, s)),
        (&|x, y| m.shoup_mul_into(x, y, m.shoup(s)), &|_, y| {
            m.mul(y, s)
        }),
        (&|x, y| m.scalar_mul_add_assign(x, y, s), &|x, y| {
            m.mul_add(x, y, s)
        }),
        (&|x, y| m.shoup_mul_add_assign(x, y, m.shoup(s)), &|x, y| {
            m.mul_add(x, y, s)
        }),
        (
            &|x, y| m.shoup_mul_add_words_assign(x, y, m.shoup(s)),
            &|x, y| m.mul_add(x, y, s),
        ),
        (&|x, y| m.reduce_into(x, y), &|_, y| y),
        (&|x, _| m.reduce_assign(x), &|x, _| x),
        (&|x, y| m.dot_into(x, &[y, y], &[a, y]), &|x, y| {
            m.mul_add(m.mul(y, x), y, y)
        }),
        (&|x, y| m.sub_shoup_mul_assign(x, y, m.shoup(s)), &|x, y| {
            m.mul(m.sub(x, y), s)
        }),
    ];
    for (i, (kernel, scalar)) in cases.iter().enumerate() {
        let mut got = a.to_vec();
        kernel(&mut got, &b);
        let want: Vec<W> = a.iter().zip(&b).map(|(&x, &y)| scalar(x, y)).collect();
        assert_eq!(got, want, "kernel {i} modulo {}", m.value());
    }
    let signed = [0, 1, -1, 40, -40, i64::MAX, i64::MIN];
    for len in [2, 3, 5, 7] {
        let mut got = vec![W::ZERO; len];
        m.reduce_i64_into(&mut got, &signed[..len]);
        assert_eq!(
            got,
            signed[..len]
                .iter()
                .map(|&x| m.reduce_i64(x))
                .collect::<Vec<_>>()
        );
    }
    assert!(m.all_reduced(a) && !m.all_reduced(&[W::ZERO, m.value()]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn u64_matches_big_integers(bits in 2u32..=62, q in any::<u64>(), r in any::<[u64; 2]>()) {
        check_modulus((q >> (64 - bits)) | 1 << (bits - 1), r);
    }

    #[test]
    fn u128_matches_big_integers(bits in 2u32..=128, q in any::<u128>(), r in any::<[u128; 2]>()) {
        check_modulus((q >> (128 - bits)) | 1 << (bits - 1), r);
    }

    #[test]
    fn miller_rabin_agrees_with_trial_division(n in 0u64..1 << 22) {
        let prime = n > 1 && (2..).take_while(|d| d * d <= n).all(|d| n % d != 0);
        prop_assert_eq!(is_prime_vt(n), prime);
        prop_assert_eq!(is_prime_vt(n as u128), prime);
    }
}

#[test]
fn extreme_moduli() {
    for q in [2, 3, 4, 33, (1 << 62) - 1, 1 << 61, (1 << 61) + 1] {
        check_modulus::<u64>(q, [12345, !9]);
    }
    for q in [
        2,
        u128::MAX,
        u128::MAX - 158,
        1 << 127,
        (1 << 127) - 1,
        (1 << 126) - 137,
    ] {
        check_modulus::<u128>(q, [1 << 77 | 5, !9]);
    }
}

#[test]
fn moduli_out_of_range_are_refused_with_the_numbers() {
    assert_eq!(
        Modulus::new(1u64),
        Err(ZqError::ModulusOutOfRange {
            modulus: 1,
            max_bits: 62
        })
    );
    assert_eq!(
        Modulus::new(1u64 << 62),
        Err(ZqError::ModulusOutOfRange {
            modulus: 1 << 62,
            max_bits: 62
        })
    );
    assert!(Modulus::new(0u128).is_err());
}

#[test]
fn fermat_inverse_agrees_with_euclid_and_refuses_zero() {
    let m = Modulus::new(0xFFFF_FFFF_FFFF_FFFF_FFFF_FFFF_FFFF_FF61u128).unwrap();
    for a in [1, 2, m.value() - 1, 0x1234_5678_9ABC_DEF0_1111] {
        assert_eq!(m.inv(a), m.inv_vt(a));
    }
    assert!(m.inv(0).is_err() && m.inv_vt(0).is_err());
    assert!(Modulus::new(33u64).unwrap().inv_vt(11).is_err());
}

#[test]
fn known_primes_and_strong_pseudoprimes() {
    for p in [2u64, 3, 40961, 0xFFFF_FFFF_FFFF_FFC5, 1152921504606830593] {
        assert!(is_prime_vt(p), "{p}");
    }
    // 3825123056546413051 passes bases 2..23; 3317044064679887385961981 passes the first twelve but 41.
    assert!(!is_prime_vt(3825123056546413051u64) && !is_prime_vt(u64::MAX));
    assert!(!is_prime_vt(3317044064679887385961981u128));
    assert!(is_prime_vt((1u128 << 127) - 1) && is_prime_vt(u128::MAX - 158));
    assert!(!is_prime_vt(((1u128 << 61) - 1) * ((1 << 31) - 1)) && !is_prime_vt(u128::MAX));
}

#[test]
fn prime_search_is_exact_ordered_and_honours_the_exclusions() {
    for (bits, order) in [
        (14, 256),
        (30, 8192),
        (36, 8192),
        (50, 32768),
        (62, 1 << 18),
    ] {
        let down: Vec<u64> = ntt_primes(bits, order, 3, Direction::Down, &[]).unwrap();
        assert!(down.windows(2).all(|w| w[0] > w[1]));
        let up: Vec<u64> = ntt_primes(bits, order, 3, Direction::Up, &[]).unwrap();
        assert!(up.windows(2).all(|w| w[0] < w[1]));
        for q in down.iter().chain(&up) {
            assert!(is_prime_vt(*q) && q % order == 1 && q.bit_len() == bits);
        }
        let next: Vec<u64> = ntt_primes(bits, order, 1, Direction::Down, &down[..2]).unwrap();
        assert_eq!(next[0], down[2]);
    }
    let wide: Vec<u128> = ntt_primes(128, 16384, 2, Direction::Down, &[]).unwrap();
    assert!(wide.iter().all(|q| q.bit_len() == 128 && q % 16384 == 1));
    let fermat: Vec<u64> = ntt_primes(17, 65536, 1, Direction::Up, &[]).unwrap();
    assert_eq!(fermat, [65537]);
}

#[test]
fn impossible_searches_are_typed_errors() {
    let search = |bits, order, count| ntt_primes::<u64>(bits, order, count, Direction::Down, &[]);
    assert_eq!(
        search(14, 8192, 3),
        Err(ZqError::NoSuchPrime {
            bits: 14,
            order: 8192,
            wanted: 3,
            found: 0
        })
    );
    assert!(matches!(
        search(13, 8192, 1),
        Err(ZqError::NoSuchPrime { found: 0, .. })
    ));
    assert!(matches!(
        search(10, 8192, 1),
        Err(ZqError::NoSuchPrime { .. })
    ));
    assert!(matches!(
        search(63, 8192, 1),
        Err(ZqError::BadPrimeSearch { .. })
    ));
    assert!(matches!(
        search(30, 100, 1),
        Err(ZqError::BadPrimeSearch { .. })
    ));
}
