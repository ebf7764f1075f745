// SPDX-License-Identifier: Apache-2.0
//! No sampler and no key generation branches on a secret or uses one as an address. Run by `make constant-time`.
#![cfg(target_arch = "x86_64")]

mod taint;

use rlwe::{
    ErrorDistribution, KeyGenerator, RlweParams, RlweParamsLiteral, Sampler, SecretDistribution,
    SecretKey, SecurityPolicy, Seed,
};
use std::hint::black_box;
use taint::{expect_clean, public_fields, secret, secret_bytes, verdict, watched};
use zq::primes::{Direction, ntt_primes};

const N: usize = 256;
/// Widths of data and special primes for each arithmetic.
const SETS: [[u32; 3]; 4] = [[36, 36, 37], [48, 47, 50], [50, 55, 58], [60, 61, 62]];

fn params(bits: [u32; 3]) -> RlweParams<u64> {
    let mut primes: Vec<u64> = Vec::new();
    for b in bits {
        primes.extend(ntt_primes::<u64>(b, 2 * N as u64, 1, Direction::Down, &primes).unwrap());
    }
    let literal = RlweParamsLiteral {
        n: N,
        q: primes[..2].to_vec(),
        p: primes[2..].to_vec(),
        dnum: 2,
        ..Default::default()
    };
    RlweParams::new(&literal, SecurityPolicy::insecure()).unwrap()
}

/// A secret key whose polynomial, but not its identity, counts as secret.
fn secret_key(params: &RlweParams<u64>) -> SecretKey<u64> {
    let key = KeyGenerator::new(params, Seed::from_text("key"))
        .secret_key()
        .unwrap();
    secret(key.coefficients());
    secret(key.eval().data());
    key
}

#[test]
#[ignore = "needs valgrind"]
fn samplers() {
    let error = |eta| Sampler::of_error(&ErrorDistribution::Binomial { eta }).unwrap();
    let gaussian = |sigma| Sampler::of_secret(&SecretDistribution::Gaussian { sigma }).unwrap();
    for (name, sampler) in [
        ("ternary", Sampler::Ternary),
        ("binary", Sampler::Binary),
        ("binomial 21", error(21)),
        ("binomial 2", error(2)),
        ("gaussian 3.2", gaussian(3.2)),
        ("weight 32", Sampler::FixedWeight(32)),
    ] {
        expect_clean(name, || {
            let mut out = [0; 1000];
            sampler.fill(
                &mut Seed::from_bytes(secret_bytes(name)).stream("s", 0),
                &mut out,
            );
            black_box(out);
        });
    }
    verdict();
}

#[test]
#[ignore = "needs valgrind"]
fn key_generation() {
    for bits in SETS {
        let params = params(bits);
        let generator = KeyGenerator::new(&params, Seed::from_bytes(secret_bytes("keys")));
        expect_clean(&format!("secret key {bits:?}"), || {
            let key = generator.secret_key().unwrap();
            public_fields(&key);
            black_box(key.to_bytes());
        });
        let key = secret_key(&params);
        let generator = KeyGenerator::new(&params, Seed::from_text("keys"));
        let element = rlwe::rotation_element(N, 1);
        let what = |kind: &str| format!("{kind} {bits:?}");
        expect_clean(&what("public key"), || {
            drop(generator.public_key(&key).unwrap())
        });
        expect_clean(&what("relinearisation key"), || {
            drop(generator.relin_key(&key, 2).unwrap())
        });
        expect_clean(&what("rotation key"), || {
            drop(generator.galois_keys(&key, &[element], 2).unwrap());
        });
        // The uniform half is published and drawn by rejection; the errors are not.
        let seeds = (Seed::from_text("a"), Seed::from_bytes(secret_bytes("e")));
        expect_clean(&what("switching key, secret errors"), || {
            drop(generator.switch_key(&key, key.eval(), 2, seeds).unwrap());
        });
    }
    verdict();
}

#[test]
#[ignore = "needs valgrind"]
fn planted_leaks_are_found() {
    let key = secret_key(&params(SETS[0]));
    let (_, branches) = watched(|| {
        for c in key.coefficients() {
            if *c > 0 {
                black_box(c);
            }
        }
    });
    let table: Vec<u64> = (0..3).collect();
    let lookup = || {
        key.coefficients()
            .iter()
            .map(|c| table[black_box((c + 1) as usize)])
            .sum::<u64>()
    };
    let (_, addresses) = watched(|| black_box(lookup()));
    println!("planted: {branches} branches, {addresses} addresses");
    assert!(branches > 0 && addresses > 0, "a planted leak was not seen");
}
