// SPDX-License-Identifier: Apache-2.0
//! One seed gives the same bytes under every instruction set, and one that cannot be had is refused.
//!
//! The level is fixed once per process, so each is forced in a child: this binary, running [`digests`] alone.

#[path = "../../rlwe/tests/levels/mod.rs"]
mod levels;

use bfv::linear_transform::{Giant, LinearTransform, Term};
use bfv::{BatchEncoder, BfvParams, BfvParamsLiteral, Encryptor, Evaluator};
use rlwe::{KeyGenerator, RlweParamsLiteral, SecurityPolicy, Seed};
use std::sync::Arc;
use zq::primes::{Direction, ntt_primes};

const N: usize = 2048;
/// One set for each arithmetic of the transforms and slices, one that mixes them, and two with digits of two primes.
const SETS: [&[u32]; 8] = [
    &[36, 36, 37],
    &[46, 46, 46],
    &[48, 49, 49],
    &[50, 50, 50],
    &[55, 60, 61],
    &[30, 47, 50, 51, 61],
    &[46, 45, 45, 45, 46, 46],
    &[30, 47, 50, 51, 61, 62],
];

/// Special primes at the end of a set.
fn special(bits: &[u32]) -> usize {
    if bits.len() < 6 { 1 } else { 2 }
}

fn params(bits: &[u32]) -> BfvParams<u64> {
    let mut primes: Vec<u64> = Vec::new();
    for &b in bits {
        primes.extend(ntt_primes::<u64>(b, 2 * N as u64, 1, Direction::Down, &primes).unwrap());
    }
    let data = bits.len() - special(bits);
    let rlwe = RlweParamsLiteral {
        n: N,
        q: primes[..data].to_vec(),
        p: primes[data..].to_vec(),
        dnum: data / special(bits),
        ..Default::default()
    };
    let literal = BfvParamsLiteral {
        rlwe,
        plain_modulus: 65537,
        auxiliary: vec![],
    };
    BfvParams::new(&literal, SecurityPolicy::insecure()).unwrap()
}

/// Everything a client and a server make from one seed, as bytes.
fn objects(bits: &[u32]) -> Vec<(&'static str, Vec<u8>)> {
    let params = params(bits);
    let limbs = bits.len() - special(bits);
    let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("every path"));
    let secret = Arc::new(generator.secret_key().unwrap());
    let public = Arc::new(generator.public_key(&secret).unwrap());
    let relin = generator.relin_key(&secret, limbs).unwrap();
    let element = rlwe::rotation_element(N, 1);
    let galois = generator.galois_keys(&secret, &[element], limbs).unwrap();
    let encryptor = Encryptor::new(&params, public.clone(), Seed::from_text("messages")).unwrap();
    let encoder = BatchEncoder::new(&params).unwrap();
    let values: Vec<u64> = (0..N as u64).map(|i| i * i % 65537).collect();
    let fresh = encryptor
        .encrypt(&encoder.encode(&values).unwrap())
        .unwrap();
    let evaluator = Evaluator::new(&params);
    let product = evaluator.multiply(&fresh, &fresh).unwrap();
    let short = evaluator.relinearize(&product, &relin).unwrap();
    let rotated = evaluator.rotate_rows(&short, 1, &galois).unwrap();
    let switched = evaluator.mod_switch(&rotated).unwrap();
    let factor = encoder.encode_extended(&values, limbs).unwrap();
    let terms = [0, 1].map(|rotation| Term {
        rotation,
        plaintext: Some(&factor),
    });
    let giants = [0, 1].map(|rotation| Giant {
        rotation,
        terms: terms.to_vec(),
    });
    let transform = LinearTransform {
        giants: giants.to_vec(),
    };
    let transformed = evaluator
        .linear_transform(&fresh, &transform, &galois)
        .unwrap();
    let hoisted = evaluator
        .rotate_rows_many(&fresh, &[1, 1], &galois)
        .unwrap();
    let decryptor = bfv::Decryptor::new(&params, secret.clone()).unwrap();
    let opened = encoder.decode(&decryptor.decrypt(&fresh).unwrap()).unwrap();
    assert_eq!(opened, values);
    vec![
        ("secret key", secret.to_bytes().to_vec()),
        ("public key", public.to_bytes()),
        ("relinearisation key", relin.to_bytes()),
        ("rotation key", galois.to_bytes()),
        ("ciphertext", fresh.to_bytes()),
        ("product", product.to_bytes()),
        ("relinearised product", short.to_bytes()),
        ("rotated product", rotated.to_bytes()),
        ("switched product", switched.to_bytes()),
        ("linear transform", transformed.to_bytes()),
        ("hoisted rotation", hoisted[1].to_bytes()),
    ]
}

#[test]
#[ignore = "run in children by the other tests"]
fn digests() {
    levels::print(&SETS, objects);
}

#[test]
fn one_seed_gives_the_same_bytes_under_every_level() {
    levels::assert_same_under_every_level(SETS.len() * 11);
}

#[test]
fn what_cannot_be_had_ends_with_a_message() {
    levels::assert_refused_with_a_message();
}
