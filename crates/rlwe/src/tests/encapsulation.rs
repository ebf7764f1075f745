// SPDX-License-Identifier: Apache-2.0
//! Secrets of fixed weight, from the set to the raised ciphertext.

use super::*;
use num_bigint::BigInt;

const N: usize = 64;
const WEIGHT: u32 = 8;

fn sparse_of(main: &RlweParams<u64>, p: u64, weight: u32) -> RlweContext<u64> {
    let literal = RlweParamsLiteral {
        n: N,
        q: vec![main.q().values()[0]],
        p: vec![p],
        dnum: 1,
        secret: SecretDistribution::FixedWeight { weight },
        ..Default::default()
    };
    RlweContext::new(RlweParams::new(&literal, SecurityPolicy::insecure()).unwrap())
}

#[test]
fn a_secret_of_fixed_weight_survives_bytes_and_another_weight_is_refused() {
    let main = params::<u64>(N, &[50, 45], &[50], 0);
    let set = sparse_of(&main, main.p().unwrap().values()[0], WEIGHT);
    assert_eq!(
        *set.params(),
        RlweParams::from_bytes(&set.to_bytes(), SecurityPolicy::insecure()).unwrap()
    );
    assert!(RlweParams::<u64>::from_bytes(&set.to_bytes(), SecurityPolicy::default()).is_err());
    let secret = KeyGenerator::new(set.params(), Seed::from_text("w"))
        .secret_key()
        .unwrap();
    let count = |s: &SecretKey<u64>| s.coefficients().iter().filter(|c| **c != 0).count();
    assert_eq!(count(&secret), WEIGHT as usize);
    assert!(!format!("{secret:?}").contains("coefficients"));
    let bytes = secret.to_bytes();
    let again = SecretKey::from_bytes(&set, &bytes).unwrap();
    assert_eq!(again.coefficients(), secret.coefficients());
    // A coefficient more: the envelope's checksum is made anew by encoding the wrong secret.
    let place = secret.coefficients().iter().position(|c| *c == 0).unwrap();
    let mut heavier = secret.coefficients().to_vec();
    heavier[place] = 1;
    let heavier = SecretKey {
        params: secret.params,
        id: secret.id,
        eval: secret.eval.clone(),
        coefficients: zeroize::Zeroizing::new(heavier),
    };
    let error = SecretKey::from_bytes(&set, &heavier.to_bytes()).unwrap_err();
    assert!(error.to_string().contains("weight"), "{error}");
}

#[test]
fn a_weight_that_the_ring_cannot_hold_is_refused() {
    let main = params::<u64>(N, &[50], &[], 0);
    for weight in [0, N as u32 + 1, u32::MAX] {
        let literal = RlweParamsLiteral {
            secret: SecretDistribution::FixedWeight { weight },
            ..main.literal()
        };
        let error = RlweParams::new(&literal, SecurityPolicy::insecure()).unwrap_err();
        assert!(error.to_string().contains("weight"), "{error}");
    }
}

/// (|m + e|, |I|) at their largest, for a raised encryption of zero.
fn raise(
    main: &RlweContext<u64>,
    sparse: &RlweContext<u64>,
    threads: &Threads,
) -> (f64, i64, Vec<u64>) {
    let generator = KeyGenerator::new(main.params(), Seed::from_text("k"));
    let secret = generator.secret_key().unwrap();
    let keys = generator
        .encapsulation_keys(&secret, sparse.params())
        .unwrap();
    let low = main.q_prefix(1).unwrap();
    let c1 = random_poly(main, 1, "c1");
    // c0 = −c1·s: an encryption of 0 without noise of its own.
    let s = RnsPoly::<u64, Eval>::from_limbs(&low, secret.eval().limb(0)).unwrap();
    let mut c0 = c1.clone().to_eval();
    c0.mul_assign(&s);
    let c0 = c0.neg().to_coeff();
    let [k0, k1] = sparse.key_switch(&c1, keys.to_sparse(), threads).unwrap();
    let level = main.level(main.data_primes()).unwrap();
    let low_parts = [&c0.add(&k0), &k1];
    let raised = level.raise(low_parts, keys.to_dense(), threads).unwrap();
    let words = raised.iter().flat_map(|p| p.data().to_vec()).collect();
    let value = phase(&raised.map(RnsPoly::to_coeff), secret.eval()).unwrap();
    let q = BigInt::from(low.values()[0]);
    let half = &q / 2;
    let (mut noise, mut overflow) = (0f64, 0);
    for x in value.compose_centered() {
        let i: BigInt = num_integer_floor(&(&x + &half), &q);
        let rest: BigInt = &x - &i * &q;
        noise = noise.max(rest.to_string().parse::<f64>().unwrap().abs());
        overflow = overflow.max(i.to_string().parse::<i64>().unwrap().abs());
    }
    (noise, overflow, words)
}

fn num_integer_floor(a: &BigInt, b: &BigInt) -> BigInt {
    let (quotient, rest) = (a / b, a % b);
    if rest.sign() == num_bigint::Sign::Minus {
        quotient - 1
    } else {
        quotient
    }
}

#[test]
fn a_raised_ciphertext_is_the_message_and_few_multiples_of_the_lowest_prime() {
    let main = params::<u64>(N, &[50, 45, 45], &[50, 50], 2);
    let sparse = sparse_of(&main, main.p().unwrap().values()[0], WEIGHT);
    let (noise, overflow, words) = raise(&main, &sparse, &Threads::ONE);
    assert!(noise < 2f64.powi(12), "{noise}");
    assert!(
        (1..=i64::from(WEIGHT) / 2).contains(&overflow),
        "{overflow}"
    );
    // A dense secret wraps further than the bound on sparse ones.
    let dense = sparse_of(&main, main.p().unwrap().values()[0], N as u32);
    assert!(raise(&main, &dense, &Threads::ONE).1 > overflow);
    assert_eq!(words, raise(&main, &sparse, &Threads::new(2).unwrap()).2);
}

#[test]
fn a_foreign_sparse_set_or_key_is_refused() {
    let main = params::<u64>(N, &[50, 45], &[50], 0);
    let generator = KeyGenerator::new(main.params(), Seed::from_text("k"));
    let secret = generator.secret_key().unwrap();
    let other = params::<u64>(N, &[45], &[50], 1);
    let error = generator
        .encapsulation_keys(&secret, other.params())
        .unwrap_err();
    assert!(error.to_string().contains("lowest primes"), "{error}");
    let level = main.level(2).unwrap();
    let c = random_poly(&main, 1, "c");
    let relin = generator.relin_key(&secret, 2).unwrap();
    assert!(level.raise([&c, &c], relin.key(), &Threads::ONE).is_err());
    let sparse = sparse_of(&main, main.p().unwrap().values()[0], WEIGHT);
    let keys = generator
        .encapsulation_keys(&secret, sparse.params())
        .unwrap();
    let long = random_poly(&main, 2, "c");
    assert!(
        level
            .raise([&long, &long], keys.to_dense(), &Threads::ONE)
            .is_err()
    );
}

#[test]
fn keys_survive_bytes_and_damage_or_other_sets_are_refused() {
    let main = params::<u64>(N, &[50, 45], &[50], 0);
    let sparse = sparse_of(&main, main.p().unwrap().values()[0], WEIGHT);
    let generator = KeyGenerator::new(main.params(), Seed::from_text("k"));
    let secret = generator.secret_key().unwrap();
    let keys = generator
        .encapsulation_keys(&secret, sparse.params())
        .unwrap();
    let bytes = keys.to_bytes();
    let read = |bytes: &[u8]| EncapsulationKeys::from_bytes(main.params(), sparse.params(), bytes);
    assert_eq!(read(&bytes).unwrap().to_bytes(), bytes);
    for len in 0..bytes.len() {
        assert!(read(&bytes[..len]).is_err(), "{len}");
    }
    let other = sparse_of(&main, main.p().unwrap().values()[0], WEIGHT + 1);
    let error = EncapsulationKeys::from_bytes(main.params(), other.params(), &bytes).unwrap_err();
    assert!(matches!(error, Error::ParameterMismatch { .. }), "{error}");
    assert!(EncapsulationKeys::from_bytes(sparse.params(), sparse.params(), &bytes).is_err());
}
